"""Which live object an entry of the git base is: for what it protected, and for what was removed since."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from dpsync.identity.match import match_earlier_entries
from dpsync.model.desired import Desired
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Identity, RecordedIds
from tests.planner.stages import ACME, Case

ENTRY = ACME.child("spaces", "s")


def remembered(
    base: dict[str, Any], live: dict[str, Any], now: str | None = None, then: str | None = None
) -> Identity | None:
    """Return the object of the base's removed space `s`; `now` and `then` are the ids of its lines."""
    sides = Case({"space": {}}, {"space": live}, base={"space": {"s": base}}).sides()
    lines = [{ENTRY: RecordedLine(ENTRY, id)} if id is not None else {} for id in (now, then)]
    snapshot = replace(sides.snapshot, recorded_ids=RecordedIds(*lines))
    before = sides.base.desired
    assert isinstance(before, Desired)
    return match_earlier_entries(sides.registry, before, sides.desired, snapshot).get(ENTRY)


LIVE = {"a": {"title": "A"}, "b": {"title": "B"}}


def test_base_entry_keeps_object_of_former_ids_line() -> None:
    """Else a change could take protection off one thing by editing the line, and put it onto another.

    Otherwise, whoever edits a line takes the protection of the base off its object.
    """
    assert remembered({"title": "A"}, LIVE, now="space-b", then="space-a") == ("space", "space-a")
    assert remembered({"title": "A"}, LIVE, now="space-b") == ("space", "space-b")


def test_base_entry_with_missing_object_matches_no_object() -> None:
    assert remembered({"title": "A"}, LIVE, then="gone") is None


def test_base_entry_matches_live_object_by_title() -> None:
    assert remembered({"title": "A"}, LIVE) == ("space", "space-a")


def test_removed_base_entry_does_not_match_reused_title() -> None:
    """An entry of the base was removed, and another one has its title now: it is that other one."""
    base = {"s": {"title": "A"}, "a": {"title": "Was"}}
    sides = Case(
        {"space": {"a": {"title": "A"}}}, {"space": {"a": {"title": "A"}}}, base={"space": base}
    ).sides()
    before = sides.base.desired
    assert isinstance(before, Desired)
    found = match_earlier_entries(sides.registry, before, sides.desired, sides.snapshot)
    assert found == {ACME: ("organization", "acme"), ACME.child("spaces", "a"): ("space", "space-a")}
