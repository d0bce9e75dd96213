"""What has nothing to do with a change changes nothing about it: whatever is before, after or around it.

The cases are those of the other tests of the planner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from dpsync.model.plan import Plan
from dpsync.model.values import LiveId
from dpsync.planner.plan import make_plan

from . import (
    test_exposures,
    test_labels,
    test_stage_blocking,
    test_stage_decisions,
    test_stage_edges,
    test_stage_fields,
    test_stage_plan,
    test_stage_trees,
    test_stage_unclear,
    test_stage_urls,
)
from .stages import Case, Things

MODULES = (
    test_exposures,
    test_labels,
    test_stage_blocking,
    test_stage_decisions,
    test_stage_edges,
    test_stage_fields,
    test_stage_plan,
    test_stage_trees,
    test_stage_unclear,
    test_stage_urls,
)
BEFORE, AFTER = "!", "~"
"""Keys of what stands before everything else, and behind it."""


def cases(module: ModuleType) -> Iterator[Any]:
    """Every case in its tables."""
    for name, found in vars(module).items():
        for mark in getattr(found, "pytestmark", ()):
            for number, row in enumerate(mark.args[1]) if mark.name == "parametrize" else ():
                for case in within(
                    row.values if hasattr(row, "values") and not callable(row.values) else row
                ):
                    yield pytest.param(case, id=f"{module.__name__.rpartition('.')[2]}-{name}-{number}")
        for case in within(found) if name.isupper() else ():
            yield pytest.param(case, id=f"{module.__name__.rpartition('.')[2]}-{name}")


def rows(test: Any, number: int) -> Iterator[Any]:
    """Yield the first values of each row in a test's table."""
    for mark in test.pytestmark:
        for row in mark.args[1]:
            yield row[:number]


def within(value: object) -> Iterator[Case]:
    if isinstance(value, Case):
        yield value
    elif isinstance(value, Mapping):
        for inside in value.values():
            yield from within(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from within(inside)


ALL = [
    *(case for module in MODULES for case in cases(module)),
    *(
        test_stage_urls.case(*row)
        for row in rows(test_stage_urls.test_site_urls_follow_host_proxy_and_basename, 3)
    ),
    *(
        test_stage_urls.case(*row)
        for row in rows(test_stage_urls.test_url_change_lists_or_suggests_redirect, 2)
    ),
    *(Case(*row) for row in rows(test_exposures.test_adding_live_space_to_published_site_is_exposure, 2)),
]


def beside(key: str) -> tuple[Things, Things]:
    """Return what is declared and what is live: objects that change, objects that do not, and a new one."""

    def things(value: str, visibility: str) -> Things:
        found: Things = {
            "team": {f"{key}t": {"title": value}, f"{key}u": {"title": "U"}},
            "space": {f"{key}s": {"title": f"{key}s", "emoji": value}},
        }
        site = {"title": f"{key}d", "basename": f"{key}d", "published": True, "visibility": visibility}
        place = {"path": value, "space": LiveId(f"space-{key}s"), "draft": False}
        tree: Things = {
            "collection": {f"{key}c": {"title": value}},
            "site": {f"{key}d": site},
            "section": {f"{key}d/k": {"title": "K", "path": value, "draft": False}},
            "site_space": {f"{key}d/k/p": place},
        }
        return {**found, **tree} if key == BEFORE else found

    wanted, live = things("new", "unlisted"), things("old", "public")
    return {**wanted, "team": {**wanted["team"], f"{key}n": {"title": "New", "new": True}}}, live


def surrounded(case: Case) -> Case:
    """Return the case with unrelated objects before and after it."""
    wanted, live, base = case.wanted, case.live, case.base
    for key in (BEFORE, AFTER):
        new, old = beside(key)
        wanted, live = joined(new, wanted, key), joined(old, live, key)
        base = joined(old, base, key) if base is not None else None
    return replace(case, wanted=wanted, live=live, base=base)


def joined(other: Things, things: Things, key: str) -> Things:
    first, second = (other, things) if key == BEFORE else (things, other)
    return {kind: {**first.get(kind, {}), **second.get(kind, {})} for kind in {**first, **second}}


LISTS = ("changes", "exposures", "urls", "navigation", "refusals", "blocked", "notes")


def told(plan: Plan) -> dict[str, Any]:
    """Return the plan's content without the unrelated objects."""
    found: dict[str, Any] = {"kept": plan.kept}
    for name in LISTS:
        found[name] = [item for item in getattr(plan, name) if not _beside(item.address)]
    return found


def _beside(address: str) -> bool:
    if address.startswith("policy."):
        return True  # it is about everything
    return not {BEFORE, AFTER}.isdisjoint(segment[:1] for segment in address.split("/"))


@pytest.mark.parametrize("case", ALL)
def test_plan_of_case_ignores_unrelated_objects_and_entries(case: Case) -> None:
    assert told(make_plan(surrounded(case).sides())) == told(make_plan(case.sides()))
