"""Every change of a plan in one line: as a tree, and what is said behind an address.

Reads the plan and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.model.plans.cause import group
from dpsync.model.plans.change import Change
from dpsync.model.plans.plan import Plan
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.plan import SIGNS, gist, why_at_all
from dpsync.render.words.visible import visible

STYLES = {"create": "green", "update": "yellow", "delete": "red"}


def render_tree(plan: Plan, paint: Paint) -> str:
    """Every changed address, one line each, indented below what it belongs to."""
    tree = [(change.address.split("/"), change) for change in plan.changes]
    return "\n".join(_branch(plan, tree, 0, paint))


def _branch(plan: Plan, changes: list[tuple[list[str], Change]], depth: int, paint: Paint) -> Iterator[str]:
    """The lines of what has the same segments up to `depth`."""
    groups: dict[str, list[tuple[list[str], Change]]] = {}
    for path, change in changes:
        groups.setdefault(path[depth], []).append((path, change))
    for name in _siblings(groups):
        own = [change for path, change in groups[name] if len(path) == depth + 1]
        for change in own:
            why = "" if set(map(group, change.causes)) <= {"this change"} else why_at_all(plan, change)
            yield _line(change, visible(name), "  " * depth, why, paint)
        if not own:
            yield f"  {'  ' * depth}{visible(name)}"
        below = [(path, change) for path, change in groups[name] if len(path) > depth + 1]
        yield from _branch(plan, below, depth + 1, paint)


def _siblings(groups: dict[str, list[tuple[list[str], Change]]]) -> list[str]:
    """As the plan lists them. What goes has no order any more: it stands by its name, or last."""
    stay = [name for name, inside in groups.items() if any(one.action != "delete" for _, one in inside)]
    go = sorted(groups.keys() - stay)
    return sorted(groups) if stay == sorted(stay) else [*stay, *go]


def render_lines(plan: Plan, changes: Iterable[Change], paint: Paint) -> str:
    """One line for each change, with its whole address."""
    return "\n".join(
        _line(change, visible(change.address), "", why_at_all(plan, change), paint) for change in changes
    )


def _line(change: Change, name: str, indent: str, why: str, paint: Paint) -> str:
    head = paint(f"{SIGNS[change.action]} {name}", STYLES[change.action])
    words = "  ".join(filter(None, (gist(change), f"({why})" if why else "")))
    return f"{indent}{head}  {paint(words, 'dim')}".rstrip()
