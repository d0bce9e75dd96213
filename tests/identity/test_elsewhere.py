"""What an entry is that was given to another parent: a pin, a line or an earlier name says so; no guess."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.identity.keys import NaturalKeys, match_below_other_parent
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import LiveObject

from .test_match import PLACE, kind, live, wanted

VIEW = NaturalKeys(kind("title"), lambda _: None)
EARLIER = wanted("news", title="News")
"""The same key in another organization, in the git base."""


def found(entry: Entry, *objects: LiveObject, line: str | None = None) -> str | None:
    """Return the id of the entry's object below another parent, or None if no object matches."""
    said = RecordedLine(PLACE.child("news"), line) if line is not None else None
    match = match_below_other_parent(VIEW, entry, objects, [EARLIER], said)
    return match.id if match is not None else None


def test_ambiguous_former_name_transfers_no_space_between_organizations() -> None:
    """Otherwise, of two spaces of one name the first is given to another organization."""
    entry = wanted("news", title="Bulletin")
    assert found(entry, live("a", title="News")) == "a"
    assert found(entry, live("a", title="News"), live("b", title="News")) is None
    named = replace(entry, previously=({"title": "Old"},))
    assert found(named, live("a", title="Old"), live("b", title="Old")) is None


def test_entry_marked_new_is_not_transferred() -> None:
    """Otherwise, what is said to be new takes a space from another organization."""
    assert found(wanted("news", title="News", new=True), live("a", title="News")) is None


def test_entry_with_pinned_id_transfers_only_that_object() -> None:
    """Otherwise, a pin means whatever lies elsewhere."""
    entry = wanted("news", title="News", pin="b")
    assert found(entry, live("a", title="News"), live("b", title="Other")) == "b"
    assert found(entry, live("a", title="News")) is None


def test_transfer_prefers_ids_line_over_name() -> None:
    """Otherwise, a line whose object is gone says that something is to be transferred."""
    entry = wanted("news", title="News")
    assert found(entry, live("a", title="News"), live("b", title="Other"), line="b") == "b"
    assert found(entry, live("a", title="News"), line="gone") == "a"
