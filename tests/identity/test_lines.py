"""Whom a line of the ids file means when the key of an entry is new: one entry and one object, or nobody."""

from __future__ import annotations

from dpsync.identity.candidates import Past
from dpsync.identity.ids_lines import Recorded
from dpsync.identity.match import Matching, match
from dpsync.identity.natural_keys import NaturalKeys
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Resource
from dpsync.model.entries.ids import RecordedLine
from dpsync.model.entries.snapshot import LiveObject

from .test_match import PLACE, kind, live, wanted

OLD = PLACE.child("old")


def matched(
    entries: list[Resource], objects: list[LiveObject], orphans: dict[str, Address], **lines: str
) -> Matching:
    """With lines of entries that are gone, by id, and with lines of entries."""
    own = {PLACE.child(key): RecordedLine(PLACE.child(key), id) for key, id in lines.items()}
    return match(
        NaturalKeys(kind("title"), lambda _: None), entries, objects, Past(recorded=Recorded(own, orphans))
    )


def found(matching: Matching) -> dict[str, tuple[str, str, str]]:
    """By key the id, and by what it is known."""
    return {str(at).rpartition("/")[2]: (one.id, one.by, one.detail) for at, one in matching.matches.items()}


def test_a_new_key_is_known_by_the_line_of_the_old_one_and_the_name() -> None:
    one = matched([wanted("new", title="News")], [live("1", title="News")], {"1": OLD})
    assert found(one) == {"new": ("1", "line of another entry", str(OLD))}


def test_what_is_said_to_be_new_takes_no_line_of_an_entry_that_is_gone() -> None:
    """It would take over what the removed entry was, with all that is in it."""
    entry = wanted("new", title="News", new=True)
    one = matched([entry], [live("1", title="News")], {"1": OLD})
    assert "the line of" not in str(found(one))


def test_of_two_objects_whose_entries_are_gone_a_new_key_takes_neither_by_a_line() -> None:
    objects = [live("1", title="News"), live("2", title="News")]
    one = matched([wanted("new", title="News")], objects, {"1": OLD, "2": PLACE.child("older")})
    assert found(one) == {}
    assert [item.code for item in one.diagnostics] == ["DP302"]


def test_one_object_whose_entry_is_gone_is_not_given_to_two_new_keys() -> None:
    entries = [wanted("a", title="News"), wanted("b", title="News")]
    one = matched(entries, [live("1", title="News")], {"1": OLD})
    assert found(one) == {}
    assert [item.code for item in one.diagnostics] == ["DP302", "DP302"]


def test_the_object_of_a_line_is_given_to_nobody_else_by_its_name() -> None:
    entries = [wanted("a", title="Other"), wanted("b", title="News")]
    one = matched(entries, [live("1", title="News")], {}, a="1")
    assert found(one) == {"a": ("1", "line", "")}


def test_the_object_of_a_pin_is_given_to_no_line() -> None:
    entries = [wanted("a", title="News", pin="1"), wanted("b", title="Other")]
    one = matched(entries, [live("1", title="News")], {}, b="1")
    assert found(one) == {"a": ("1", "pin", "")}
    assert [(item.code, str(item.address)) for item in one.diagnostics] == [("DP311", f"{PLACE}/b")]
