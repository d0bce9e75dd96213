"""Whom a line of the ids file means when the key of an entry is new: one entry and one object, or nobody."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dpsync.identity.candidates import History
from dpsync.identity.ids import RecordedLines
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.match import MatchResult, match
from dpsync.kinds.kind import Patch
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span
from dpsync.model.snapshot import LiveObject

from .test_match import PLACE, kind, live, wanted

OLD = PLACE.child("old")


def matched(
    entries: list[Entry],
    objects: list[LiveObject],
    orphans: dict[str, Address],
    base: Sequence[Entry] = (),
    **lines: str,
) -> MatchResult:
    """With lines of entries that are gone, by id, with lines of entries, and with a git base."""
    own = {PLACE.child(key): RecordedLine(PLACE.child(key), id) for key, id in lines.items()}
    of = replace(kind("title"), update=Patch("{self}", repeat="safe"))
    past = History({entry.address: entry for entry in base}, recorded_lines=RecordedLines(own, orphans))
    return match(NaturalKeys(of, lambda _: None), entries, objects, past)


def codes(matching: MatchResult) -> list[str]:
    return [item.code for item in matching.diagnostics]


def found(matching: MatchResult) -> dict[str, tuple[str, str, str]]:
    """By key the id, and by what it is known."""
    return {str(at).rpartition("/")[2]: (one.id, one.by, one.detail) for at, one in matching.matches.items()}


def test_new_key_is_matched_by_former_ids_line() -> None:
    one = matched([wanted("new", title="News")], [live("1", title="News")], {"1": OLD})
    assert found(one) == {"new": ("1", "line of another entry", str(OLD))}


def test_entry_marked_new_ignores_former_ids_line() -> None:
    """It would take over what the removed entry was, with all that is in it.

    Otherwise, what is said to be new takes over what a removed entry was.
    """
    entry = wanted("new", title="News", new=True)
    one = matched([entry], [live("1", title="News")], {"1": OLD})
    assert "line of another entry" not in str(found(one))


def test_renamed_key_without_title_matches_no_ids_line() -> None:
    one = matched([wanted("new")], [live("1", title="News")], {"1": OLD})
    assert (found(one), codes(one)) == ({}, [])


def test_renamed_key_matching_two_ids_lines_is_ambiguous() -> None:
    """Otherwise, of two removed things of one name the first is taken."""
    objects = [live("1", title="News"), live("2", title="News")]
    one = matched([wanted("new", title="News")], objects, {"1": OLD, "2": PLACE.child("older")})
    assert found(one) == {}
    assert [item.code for item in one.diagnostics] == ["DP302"]


def test_two_keys_for_one_line_are_ambiguous() -> None:
    """Otherwise, one object becomes two entries."""
    entries = [wanted("a", title="News"), wanted("b", title="News")]
    one = matched(entries, [live("1", title="News")], {"1": OLD})
    assert found(one) == {}
    assert [item.code for item in one.diagnostics] == ["DP302", "DP302"]


def test_name_does_not_match_object_with_ids_line() -> None:
    entries = [wanted("a", title="Other"), wanted("b", title="News")]
    one = matched(entries, [live("1", title="News")], {}, a="1")
    assert found(one) == {"a": ("1", "line", "")}


def test_pin_overrides_ids_line_with_error() -> None:
    entries = [wanted("a", title="News", pin="1"), wanted("b", title="Other")]
    one = matched(entries, [live("1", title="News")], {}, b="1")
    assert found(one) == {"a": ("1", "pin", "")}
    assert [(item.code, str(item.address)) for item in one.diagnostics] == [("DP311", f"{PLACE}/b")]


def test_bound_object_ignores_ids_line_of_removed_entry() -> None:
    """It has two lines: that of an entry, or a pin, and one whose entry is gone.

    Otherwise, an object that is an entry by its line becomes another entry as well.
    Otherwise, an object that is an entry by its pin becomes another entry as well.
    """
    new = wanted("new", title="News")
    by_line = matched([wanted("a", title="Other"), new], [live("1", title="News")], {"1": OLD}, a="1")
    assert found(by_line) == {"a": ("1", "line", "")}
    by_pin = matched([wanted("a", title="Other", pin="1"), new], [live("1", title="News")], {"1": OLD})
    assert found(by_pin) == {"a": ("1", "pin", "")}


def test_former_name_contradicting_ids_line_is_ambiguous() -> None:
    """The object of its earlier name is live, too: one of the two would be lost by a guess.

    Otherwise, what has an earlier name takes another object by the line of a removed entry, and its own is
    lost.
    Otherwise, an entry of the base takes another object by the line of a removed entry, and its own is lost.
    """
    objects = [live("1", title="News"), live("2", title="Old")]
    named = replace(wanted("new", title="News"), previously=({"title": "Old"},))
    asked = matched([named], objects, {"1": OLD})
    assert (found(asked), codes(asked)) == ({}, ["DP305"])
    known = matched([wanted("new", title="News")], objects, {"1": OLD}, base=[wanted("new", title="Old")])
    assert (found(known), codes(known)) == ({}, ["DP305"])


def test_duplicate_ids_lines_error_calls_neither_line_right() -> None:
    """Otherwise, of two lines the first is said to be right, and the way out takes away the other entry.

    Otherwise, of two lines the first is said to be right, and the way out takes away the other entry, also by
    a name that both have.
    """
    entries = [wanted("a", title="A"), wanted("b", title="B")]
    for base in ((), entries):
        asked = matched(entries, [live("1", title="News")], {}, base, a="1", b="1")
        assert codes(asked) == ["DP311", "DP311"]
        assert not any("is right" in item.message for item in asked.diagnostics)
    both = [wanted("a", title="News"), wanted("b", title="News")]
    asked = matched(both, [live("1", title="News")], {}, a="1", b="1")
    assert not any("is right" in item.message for item in asked.diagnostics)


def test_ids_line_error_points_at_line_or_entry() -> None:
    entries = [wanted("a", title="A"), wanted("b", title="B")]
    there = Span("dpsync.ids", 3, 1, 3, 9)
    lines = {
        entry.address: RecordedLine(entry.address, "1", span=span)
        for entry, span in zip(entries, (there, None), strict=True)
    }
    of = NaturalKeys(replace(kind("title"), update=Patch("{self}", repeat="safe")), lambda _: None)
    asked = match(
        of, entries, [live("1", title="News")], History({}, recorded_lines=RecordedLines(lines, {}))
    )
    assert [item.span for item in asked.diagnostics] == [there, entries[1].span]
