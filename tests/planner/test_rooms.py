"""Which views of both sides each room of the planner asks for: what a room does not need it does not see."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dpsync import planner
from dpsync.planner.inputs.sides import Sides

ROOT = Path(planner.__file__).parent
BOTH = {
    "registry",
    "desired",
    "snapshot",
    "resources",
    "live",
    "kind",
    "names",
    "lineage",
    "values",
    "policy",
}
"""What is wanted and what is live, under one set of names."""
ROOMS = {
    "decide": BOTH | {"answers", "base", "chosen", "options", "synced"},
    "steps": BOTH,
    "effects": BOTH - {"lineage"},
    "questions": BOTH | {"answers", "base", "former"},
    "why": BOTH | {"base", "chosen", "former", "options"},
}
WITHOUT_SIDES = {"decide/cascade.py", "decide/escalation.py", "effects/tree.py", "questions/limits.py"}
"""Modules whose functions take single views, or nothing but what they are given."""


def asked(source: str) -> set[str]:
    """The attributes of sides that a module asks for."""
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        if ast.unparse(node.value).rpartition(".")[2] in ("sides", "_sides")
    }


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_asks_for_the_views_that_it_needs(room: str) -> None:
    found = set().union(*(asked(path.read_text(encoding="utf-8")) for path in (ROOT / room).glob("*.py")))
    assert found & {*dir(Sides), *Sides.__annotations__} == ROOMS[room]


@pytest.mark.parametrize("module", sorted(WITHOUT_SIDES))
def test_what_needs_one_view_takes_no_sides(module: str) -> None:
    assert "sides" not in (ROOT / module).read_text(encoding="utf-8").lower()
