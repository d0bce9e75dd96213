"""Collections in each other: a circle is refused and named; one that is only on the way is avoided."""

from __future__ import annotations

import random
from typing import Any

import pytest

from .lab import Lab, group, section, site, spaces
from .test_guards import codes

Tree = dict[str, str | None]
"""By collection the one that it is in."""


def live(tree: Tree) -> list[dict[str, Any]]:
    return [{"id": name, "title": f"Title {name}", "parent": parent} for name, parent in tree.items()]


def declared(tree: Tree, *of: str) -> str:
    """Return collections with their parents; those that only `of` names do not declare one."""
    entries = {name: f"parent: {tree[name] or 'null'}" if name in tree else "" for name in {*tree, *of}}
    lines = [f"  {name}: {{ title: Title {name}, {said} }}" for name, said in sorted(entries.items())]
    return "\n".join(["collections:", *lines])


@pytest.mark.parametrize(
    ("before", "entries", "circle"),  # without the name of its first collection
    [
        # Of two, by the live place of the one that says nothing.
        (
            {"a": None, "b": "a"},
            declared({"a": "b"}, "b"),
            "b, which is in acme/collections/a",
        ),
        # Through one that nobody declares.
        (
            {"a": None, "u": "a", "b": "u"},
            declared({"a": "b"}, "b"),
            "b, which is in acme/collections/[Title u], which is in acme/collections/a",
        ),
        # By its raw id.
        (
            {"a": None, "u": "a"},
            "collections: { a: { title: Title a, parent: { id: u } } }",
            "[Title u], which is in acme/collections/a",
        ),
        # Two that move, each below the other's undeclared one.
        (
            {"a": None, "b": None, "u": "a", "v": "b"},
            "collections: { a: { title: Title a, parent: { id: v } }, "
            "b: { title: Title b, parent: { id: u } } }",
            "[Title v], which is in acme/collections/b, "
            "which is in acme/collections/[Title u], which is in acme/collections/a",
        ),
    ],
)
def test_collection_cycle_is_refused_and_described(lab: Lab, before: Tree, entries: str, circle: str) -> None:
    lab.holds(collections=live(before))
    plan = lab.plan(entries)
    assert codes(plan) == [("circle", "acme/collections/a#parent")]
    assert (
        "this collection would be inside itself, because this collection would be in "
        f"acme/collections/{circle}" == plan.refusals[0].message
    )


def test_collection_cycle_is_reported_at_changed_entry(lab: Lab) -> None:
    """Otherwise, the error about a circle names an entry that does not declare its parent.

    Otherwise, an entry that does not declare its parent ends the run in an internal error.

    Otherwise, an entry that leaves out where it is ends the run in an error of the program.
    """
    lab.holds(collections=live({"a": "b", "b": None}))
    assert codes(lab.plan(declared({"b": "a"}, "a"))) == [("circle", "acme/collections/b#parent")]


def test_deleted_parent_breaks_collection_cycle(lab: Lab) -> None:
    lab.holds(collections=live({"a": None, "u": "a", "b": "u"}))
    policy = "{ prune: [collections], limits: { percent: 100 } }"
    lab.converges(declared({"a": "b", "b": None}), policy)


def test_collection_move_waits_for_ancestor_move(lab: Lab) -> None:
    # a > b > u > c becomes b > u > c > a: it may not be placed before b has left it.
    lab.holds(collections=live({"a": None, "b": "a", "u": "b", "c": "u"}))
    lab.converges(declared({"a": "c", "b": None}, "c"))
    assert [call.split("/")[2] for call in lab.writes] == ["b", "a"]


def forest(draw: random.Random, names: str) -> Tree:
    """Every collection in one that was drawn before it, or in none."""
    order = draw.sample(names, len(names))
    return {name: draw.choice([None, *order[:index]]) for index, name in enumerate(order)}


def has_circle(tree: Tree) -> bool:
    def leads_back(name: str) -> bool:
        seen, at = set(), tree[name]
        while at is not None and at not in seen and at != name:
            seen.add(at)
            at = tree[at]
        return at == name

    return any(leads_back(name) for name in tree)


@pytest.mark.parametrize("seed", range(16))
def test_random_collection_trees_converge_unless_cyclic(lab: Lab, seed: int) -> None:
    """Some say where they are to be, some say nothing, and some nobody declares."""
    draw = random.Random(seed)
    before, wanted = forest(draw, "abcdef"), forest(draw, "abcdef")
    says = {name: wanted[name] for name in "abcdef" if draw.random() < 0.6}
    named = {parent for parent in says.values() if parent is not None}
    entries = declared(says, *named)
    lab.holds(collections=live(before))
    if has_circle({**before, **says}):
        assert {code for code, _ in codes(lab.plan(entries))} == {"circle"}
    else:
        lab.converges(entries)


def test_section_group_and_its_child_swap_nesting(lab: Lab) -> None:
    lab.holds(spaces=spaces("x"), sites=[site(group("g", group("h")), section("a", "x"))])
    lab.converges("""
        sites:
          docs:
            title: Docs
            structure:
              - { type: section-group, key: h, title: Group h,
                  children: [{ type: section-group, key: g, title: Group g }] }
              - { type: section, key: a, title: Section a, path: a,
                  children: [{ type: space, key: x, space: { id: x }, path: x }] }
    """)
