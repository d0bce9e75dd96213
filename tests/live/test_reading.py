"""What a reading knows of the entries by itself: plain values."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from dpsync.live.reading_state import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Base
from dpsync.model.snapshot import Match, MatchedBy
from tests.planner.lab import REGISTRY
from tests.planner.stages import ACME, Things

from .test_records import OTHER, SPACE, A, at, declared

NOTHING: Things = {}
TEAM: Things = {"team": {"a": {"title": "A"}}}
COLLECTION: Things = {"collection": {"a": {"title": "A"}}}


def state(now: Things, there: Things, before: Things, there_before: Things) -> ReadingState:
    """Return the reading state of two organizations, with what they declare now and in the git base."""
    base = Base("the base", "0" * 40, declared(before, there_before))
    return ReadingState(cast(Any, None), REGISTRY, declared(now, there), 1, base)


def given(found: ReadingState, kind: str) -> dict[Address, Address]:
    """Return the earlier address of each entry that may have been transferred, by its present address."""
    return {here: was.address for here, was in found.base_entries_by_parent[kind, ACME].items()}


def test_undeclared_space_of_other_organization_may_be_transferred() -> None:
    assert given(state(SPACE, NOTHING, NOTHING, SPACE), "space") == {at(A): at("other/spaces/a")}


@pytest.mark.parametrize(
    ("found", "kind", "known"),
    [
        (state(SPACE, SPACE, NOTHING, SPACE), "space", {}),
        (state(SPACE, NOTHING, SPACE, SPACE), "space", {at(A): at(A)}),
        (state(TEAM, NOTHING, NOTHING, TEAM), "team", {}),
        (state(COLLECTION, NOTHING, NOTHING, SPACE), "collection", {}),
    ],
    ids=["is still declared there", "was here before", "cannot be given away", "is something else"],
)
def test_transfer_source_must_have_lost_its_entry(
    found: ReadingState, kind: str, known: dict[Address, Address]
) -> None:
    """Otherwise, what another organization still declares is taken for something that was given away.

    Otherwise, what was here all the time is known by the name that another organization's entry had.
    Otherwise, a team that another organization lost gives its earlier names to one here.
    """
    assert given(found, kind) == known


def test_transfer_origin_is_unknown_for_two_organizations() -> None:
    """Otherwise, of two organizations that have lost one of the key one is taken by chance."""
    third, base = Address.root("third"), declared(NOTHING, SPACE)
    there = {third: replace(base.entries[OTHER], address=third, key="third")}
    another = third.child("spaces").child("a")
    there[another] = replace(base.entries[at("other/spaces/a")], address=another, parent=third)
    base = replace(base, entries={**base.entries, **there})
    found = ReadingState(cast(Any, None), REGISTRY, declared(SPACE), 1, Base("the base", "0" * 40, base))
    assert given(found, "space") == {}


def test_matched_entry_is_live_unless_transferred_or_deleted() -> None:
    """Otherwise, lists below a transferred object are read, and lost objects count as live.

    Otherwise, lists below a deleted object that is created again are read, and end the plan.
    Otherwise, a list below a missing object is requested, and ends the plan.

    Otherwise, lists below what is deleted and comes back are read, and end the plan.
    Otherwise, a list below something that is not there is asked for, and ends the plan.
    """
    found = state(SPACE, NOTHING, NOTHING, NOTHING)
    assert not found.is_live(at(A))
    found.matches[at(A)] = Match("x", MatchedBy.PIN)
    assert found.is_live(at(A))
    for gone in (found.transferred_entries, found.deleted_entries):
        gone.add(at(A))
        assert not found.is_live(at(A))
        gone.clear()


def test_reference_to_missing_translation_output_has_no_id() -> None:
    """Otherwise, what refers to a translation's space gets the id of the translation."""
    found = state(SPACE, NOTHING, NOTHING, NOTHING)
    assert found.live_id(at(A)) is None
    found.matches[at(A)] = Match("x", MatchedBy.PIN)
    assert found.live_id(at(A)) == "x"
    found.outputs[at(A)] = None
    assert found.live_id(at(A)) is None
