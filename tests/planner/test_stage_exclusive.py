"""Who has a flag that always one has, when another one goes: from plain values."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.planner.decide import decide
from dpsync.planner.exclusive_flags import ExclusiveFlags

from .stages import Case, Things

SITE: Things = {"site": {"docs": {"title": "Docs"}}}
X = ("section", "section-docs-x")
TRUE, FALSE, SILENT = {"default": True}, {"default": False}, {}


def sections(**fields: dict[str, Any]) -> Things:
    named = {f"docs/{key}": {"title": f"Title {key}", "path": key, **its} for key, its in fields.items()}
    return {**SITE, "section": named}


def case(*, live: str = "xyz", **wanted: dict[str, Any]) -> Case:
    """Return a case whose section x has the flag. Sections that `wanted` lacks are deleted."""
    there = sections(**{key: {"default": key == "x"} for key in live})
    return Case(sections(**wanted), there, prune=["sites/docs/structure"])


def unwilling(found: ExclusiveFlags) -> list[str]:
    return [resource.key for resource, _ in found.entries_forced_to_have_flag()]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"y": FALSE}, ["y"]),
        ({"y": SILENT}, []),
        ({"y": FALSE, "z": SILENT}, []),
        ({"y": FALSE, "z": FALSE}, ["y"]),
        ({"y": FALSE, "z": TRUE}, []),
        ({"x": SILENT, "y": FALSE}, []),
        ({"x": FALSE, "y": FALSE}, []),  # that it cannot be taken away from x is told of x
        ({"y": FALSE, "new": FALSE}, ["y"]),
        ({"y": FALSE, "new": SILENT}, []),
    ],
)
def test_plan_reports_entry_that_must_become_default(wanted: dict[str, Any], told: list[str]) -> None:
    """Otherwise, what goes counts as what may be the default, and nobody is told.

    Otherwise, where there is a default, another one is told to be it.
    Otherwise, where others may be the default, an entry that is none is told to be it.
    """
    assert unwilling(case(**wanted).decisions().exclusive) == told


def test_undeclared_section_can_become_default() -> None:
    kept = case(y=FALSE)
    kept.prune, kept.live = [], sections(y={"default": False}, z={"default": False})
    assert unwilling(kept.decisions().exclusive) == []


def platform_chooses(made: Case, selected: tuple[str, ...] | None = None) -> bool:
    """Whether another one is said to be chosen because x goes."""
    sides = made.sides()
    if selected is not None:
        chosen = {made.address("section", f"docs/{key}") for key in selected} | {sides.names.address(X)}
        sides = replace(sides, selected_addresses=frozenset(chosen))
    return bool(decide(sides).exclusive.platform_choice_effects([X]))


def test_declared_default_prevents_platform_choosing_default() -> None:
    """Otherwise, the platform is said to choose where an entry says which."""
    assert platform_chooses(case(y=SILENT))
    assert not platform_chooses(case(y=TRUE))


def test_platform_chooses_no_default_without_sections() -> None:
    """Otherwise, the platform is said to choose where nothing is left."""
    assert not platform_chooses(case(live="x"))
    assert platform_chooses(case(live="x", new=SILENT))


def test_unselected_or_blocked_entry_does_not_become_default() -> None:
    """It was not selected, or cannot be made: so the platform chooses.

    Otherwise, what is never made counts as the new default.
    Otherwise, what is not selected counts as the new default.
    """
    assert platform_chooses(case(y=TRUE), selected=())
    assert not platform_chooses(case(y=TRUE), selected=("y",))
    blocked = case(y=SILENT, new=TRUE)
    blocked.wanted = {**blocked.wanted, "section_group": {"docs/g": {"title": "Gee"}}}
    blocked.ignore = ["sites/docs/structure/g"]
    inside = {**blocked.wanted["section"]["docs/new"], "group": blocked.ref("section_group", "docs/g")}
    blocked.wanted = {**blocked.wanted, "section": {**blocked.wanted["section"], "docs/new": inside}}
    assert platform_chooses(blocked)
