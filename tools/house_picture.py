"""The picture of packages in docs/architecture.md, drawn from imports (`python -m tools.house_picture`).

An arrow goes from a package to one that it imports. An arrow that follows from others is left out: what `a`
imports by way of `b` it may import itself. The packages are drawn, and the rooms of the planner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product

import grimp

Arrows = Mapping[str, Collection[str]]


def arrows(graph: grimp.ImportGraph, package: str) -> dict[str, set[str]]:
    """By module or package directly inside of a package, those beside it that it imports."""
    inside = sorted(graph.find_children(package))
    found: dict[str, set[str]] = {one: set() for one in inside}
    for one, other in product(inside, inside):
        if one != other and graph.direct_import_exists(importer=one, imported=other, as_packages=True):
            found[one].add(other)
    return found


def reduced(arrows: Arrows) -> dict[str, list[str]]:
    """The same without each arrow that follows from others."""

    def reached(one: str) -> set[str]:
        return {other for next_ in arrows[one] for other in {next_, *reached(next_)}}

    return {
        one: sorted(set(direct) - {other for next_ in direct for other in reached(next_)})
        for one, direct in arrows.items()
    }


def picture() -> str:
    """A flowchart in mermaid, without its fence."""
    graph = grimp.build_graph("dpsync", cache_dir=None)
    packages = {
        one: to for one, to in arrows(graph, "dpsync").items() if not one.endswith(("__main__", ".testing"))
    }
    rooms = arrows(graph, "dpsync.planner")
    lines = ["flowchart TD", *_arrows(packages), "  subgraph planner_rooms [the rooms of planner]"]
    lines += [f"  {line}" for line in _arrows(rooms)]
    return "\n".join([*lines, "  end", ""])


def _arrows(found: Arrows) -> list[str]:
    kept = reduced(found)
    return [f"  {_name(one)} --> {' & '.join(map(_name, kept[one]))}" for one in sorted(kept) if kept[one]]


def _name(module: str) -> str:
    """A node with its label: `planner.why` is the node of a room."""
    short = module.removeprefix("dpsync.")
    return f"{short.replace('.', '_')}[{short.rpartition('.')[2]}]"


if __name__ == "__main__":
    print(picture(), end="")
