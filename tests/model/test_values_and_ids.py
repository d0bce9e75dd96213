"""What a value may hold besides JSON, and every way through it; identities and lines of an ids file."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.address import Address, Pattern
from dpsync.model.change import Change
from dpsync.model.cycles import find_simple_cycles, format_cycle, rotated_to
from dpsync.model.ids import IdsFile, RecordedLine, is_id
from dpsync.model.plan import DeleteCount, count_deletes
from dpsync.model.text import ProjectFlags, format_command
from dpsync.model.values import (
    LiveId,
    Ref,
    Secret,
    canonical_json,
    digest,
    fill_markers,
    leaves,
    live_ids,
    map_leaves,
    marker_names,
    references,
    to_plain,
)

TEAM = Address(("acme", "teams", "writers"))
VALUE = {"b": [Ref(TEAM), {"c": LiveId("l1")}], "a": (Secret("KEY"), 1)}


def test_value_leaves_are_visited_in_key_order() -> None:
    assert list(leaves(VALUE)) == [Ref(TEAM), LiveId("l1"), Secret("KEY"), 1]
    assert list(map_leaves(VALUE, lambda leaf: leaf)) == ["a", "b"]
    assert map_leaves(VALUE, str) == {
        "a": [str(Secret("KEY")), "1"],
        "b": [str(Ref(TEAM)), {"c": str(LiveId("l1"))}],
    }


@pytest.mark.parametrize(
    ("value", "names", "ids"),
    [
        (VALUE, {TEAM}, {"l1"}),
        (Ref(TEAM), {TEAM}, set()),
        (LiveId("l1"), set(), {"l1"}),
        ("l1", set(), set()),
        (None, set(), set()),
        ([1, "a", True, 1.5], set(), set()),
    ],
)
def test_references_and_ids_are_collected_from_value(value: Any, names: set[Address], ids: set[str]) -> None:
    assert (references(value), live_ids(value)) == (names, ids)


PLAIN = {
    "a": [{"dpsync:env": "KEY"}, 1],
    "b": [{"dpsync:ref": "acme/teams/writers"}, {"c": {"dpsync:id": "l1"}}],
}


def test_plan_json_marks_references_ids_and_secrets() -> None:
    assert to_plain(VALUE) == PLAIN
    assert marker_names(PLAIN, "dpsync:ref") == {"acme/teams/writers"}
    assert marker_names(PLAIN, "dpsync:id") == {"l1"}
    assert marker_names({"dpsync:ref": "a", "more": 1}, "dpsync:ref") == set()
    assert marker_names("dpsync:ref", "dpsync:ref") == set()


def test_filling_plan_json_replaces_every_marker() -> None:
    assert fill_markers(PLAIN, lambda marker, name: f"{marker}={name}") == {
        "a": ["dpsync:env=KEY", 1],
        "b": ["dpsync:ref=acme/teams/writers", {"c": "dpsync:id=l1"}],
    }
    assert fill_markers({"dpsync:env": "A", "x": 1}, lambda *_: "filled") == {"dpsync:env": "A", "x": 1}
    assert fill_markers({"other": "A"}, lambda *_: "filled") == {"other": "A"}


@pytest.mark.parametrize(
    "data",
    [
        {"dpsync:env": "KEY"},
        {"dpsync:ref": "acme/teams/a"},
        {"dpsync:id": "t1"},
        {"dpsync:data": {"dpsync:env": "KEY"}},
        {"dpsync:data": 5},
        {"a": [{"dpsync:env": "KEY"}]},
        {"dpsync:env": {"dpsync:env": "KEY"}},
        {"dpsync:env": ["KEY"]},
    ],
    ids=["env", "ref", "id", "wrapped", "wrapped number", "nested", "twice", "list"],
)
def test_plan_json_escapes_data_resembling_a_marker(data: Any) -> None:
    """A platform that holds such data would be sent a secret in its place."""
    plain = to_plain(data)
    for marker in ("dpsync:env", "dpsync:ref", "dpsync:id"):
        assert marker_names(plain, marker) == set()
    assert fill_markers(plain, lambda *_: "filled") == data


def test_plan_json_fills_marker_inside_escaped_data() -> None:
    plain = to_plain({"dpsync:env": Secret("KEY")})
    assert marker_names(plain, "dpsync:env") == {"KEY"}
    assert fill_markers(plain, lambda marker, name: f"{marker}={name}") == {"dpsync:env": "dpsync:env=KEY"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [{"d": None, "c": True}]}, b'{"a":[{"c":true,"d":null}],"b":1}'),
        ("a", b'"a"'),
        (True, b"true"),
        (1, b"1"),
        (LiveId("x"), b'{"dpsync:id":"x"}'),
    ],
)
def test_canonical_json_is_sorted_and_compact(value: Any, text: bytes) -> None:
    assert canonical_json(value) == text


def test_digest_ignores_key_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1, "b": 3})
    assert len(digest(1)) == 64


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a", True),
        ("x" * 500, True),
        ("x" * 501, False),
        ("", False),
        ("a b", False),
        ("a\u200bb", False),
        ("a\xa0b", False),
        ("é", True),
    ],
)
def test_ids_file_id_must_be_visible_and_short(text: str, fits: bool) -> None:
    assert is_id(text) is fits


def line(address: str, id: str) -> RecordedLine:
    return RecordedLine(Address.parse(address), id)


def file(*lines: RecordedLine, platform: str = "p", organization: str = "o") -> IdsFile:
    return IdsFile({platform: {organization: {one.address: one for one in lines}}})


ONE, TWO = line("acme/teams/a", "1"), line("acme/teams/b", "2")


def test_ids_lines_use_current_organization_key() -> None:
    ids = file(ONE)
    assert dict(ids.lines("p", "o")) == {ONE.address: ONE}
    assert dict(ids.lines("p", "other")) == dict(ids.lines("other", "o")) == {}
    renamed = line("globex/teams/a", "1")
    assert dict(ids.lines("p", "o", "globex")) == {renamed.address: renamed}


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ({("o", TWO.address): TWO}, file(ONE, TWO)),
        ({("o", ONE.address): line("acme/teams/a", "3")}, file(line("acme/teams/a", "3"))),
        ({("o", ONE.address): None}, IdsFile()),
        ({("o", TWO.address): None}, file(ONE)),
        # Under another key of the organization it is a line of the same entry; the rest takes that key over.
        ({("o", Address.parse("globex/teams/b")): line("globex/teams/b", "2")},
         file(line("globex/teams/a", "1"), line("globex/teams/b", "2"))),
        ({("o", Address.parse("globex/teams/a")): None, ("o", TWO.address): TWO}, file(TWO)),
    ],
)  # fmt: skip
def test_ids_file_edit_changes_only_given_addresses(edits: Any, after: IdsFile) -> None:
    assert file(ONE).with_edits("p", edits) == after


def test_ids_file_edit_keeps_other_organizations() -> None:
    both = IdsFile({"p": {"o": {ONE.address: ONE}, "q": {TWO.address: TWO}}, "r": {"o": {TWO.address: TWO}}})
    edited = both.with_edits("p", {("o", ONE.address): None})
    assert edited == IdsFile({"p": {"q": {TWO.address: TWO}}, "r": {"o": {TWO.address: TWO}}})
    assert both.with_edits("new", {("o", ONE.address): ONE}).sections["new"] == {"o": {ONE.address: ONE}}
    edits: dict[tuple[str, Address], RecordedLine | None] = {
        ("q", TWO.address): None,
        ("o", ONE.address): None,
    }
    assert both.with_edits("p", edits) == IdsFile({"r": {"o": {TWO.address: TWO}}})


def test_ids_file_replace_overwrites_whole_organization() -> None:
    assert file(ONE).with_section("p", "o", {TWO.address: TWO}) == file(TWO)
    assert file(ONE).with_section("p", "o", {}) == IdsFile()
    assert file(ONE).with_section("q", "o", {TWO.address: TWO}).sections.keys() == {"p", "q"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "single slashes"),
        ("a/b/", "single slashes"),
        ("/a", "single slashes"),
        ("#field", "single slashes"),
        ("a#", "the name of a field is missing"),
        ("a/b*", '"*" can only replace a whole name between slashes'),
    ],
)
def test_invalid_pattern_error_explains_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("*", r"\*")):
        Pattern.parse(text, ["teams"])


@pytest.mark.parametrize(
    ("pattern", "matches", "covers"),
    [
        ("acme/teams/writers", True, True),
        ("acme/teams", False, True),
        ("acme", False, True),
        ("teams/*", True, True),
        ("teams", False, True),
        ("acme/*/writers", True, True),
        ("*/writers", False, False),
        ("**", True, True),
        ("**/writers", True, True),
        ("acme/**/writers", True, True),
        ("acme/teams/**/writers", True, True),
        ("acme/teams/writers/**", True, True),
        ("acme/teams/writers/*", False, False),
        ("**/members", False, False),
        ("globex/**", False, False),
    ],
)
def test_address_pattern_matches_address_and_its_descendants(
    pattern: str, matches: bool, covers: bool
) -> None:
    found = Pattern.parse(pattern, ["teams"])
    assert (found.matches(TEAM), found.matches_or_contains(TEAM)) == (matches, covers)


def test_parsed_pattern_keeps_field_and_original_text() -> None:
    found = Pattern.parse("teams/*#title", ["teams"])
    assert (found.text, found.address_text, found.field) == ("teams/*#title", "teams/*", "title")
    assert found.segments == ("*", "teams", "*")
    assert Pattern.parse("acme", []).field is None


@pytest.mark.parametrize(
    ("around", "found"),
    [
        ({"a": "b", "b": None}, []),
        ({"a": "a"}, [("a",)]),
        ({"a": "b", "b": "c", "c": "a"}, [("a", "b", "c")]),
        ({"x": "a", "a": "b", "b": "a"}, [("a", "b")]),
        ({"a": "b", "b": "a", "c": "d", "d": "c", "e": "c"}, [("a", "b"), ("c", "d")]),
    ],
)
def test_each_cycle_is_found_once(around: dict[str, str | None], found: list[tuple[str, ...]]) -> None:
    assert list(find_simple_cycles(around, lambda name: around[name])) == found


def test_long_cycle_description_is_shortened() -> None:
    assert rotated_to("b", ("a", "b", "c")) == ("b", "c", "a")
    assert format_cycle("abcdefghij", ">") == "a>b>c>d>e>f>g>h>i>j"
    assert format_cycle("abcdefghijk", ">") == "a>b>c>d>e>f>g>h>i>… (1 more)>k"
    assert format_cycle("abcdefghijklm", ">") == "a>b>c>d>e>f>g>h>i>… (3 more)>m"


@pytest.mark.parametrize(
    ("own", "along", "number", "more"),
    [
        (0, 0, 0, ""),
        (2, 0, 2, ""),
        (1, 1, 2, "deleting this object also deletes 1 other object"),
        (3, 11, 14, "deleting this object also deletes 11 other objects"),
    ],
)
def test_delete_count_includes_cascaded_deletes(own: int, along: int, number: int, more: str) -> None:
    count = DeleteCount(own, along)
    assert (count.total, count.cascade_text) == (number, more)


def test_delete_count_without_changes_is_zero() -> None:
    none: list[Change] = []
    assert count_deletes(none) == DeleteCount(0, 0)


EVERYWHERE = ProjectFlags("d", ("f", "g"), "prod", "reference", "i", "main")
READING = "-C d -f f -f g --env prod --profile reference --ids i"
PLANNING = f"{READING} --base main"


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        *((word, f"dpsync {word} {PLANNING}") for word in ("plan", "apply", "drift")),
        *((word, f"dpsync {word} {READING}") for word in ("ids", "list", "doctor")),
        ("validate", "dpsync validate -C d -f f -f g --env prod --profile reference"),
        ("import", "dpsync import -C d --profile reference --ids i"),
        ("import --update", f"dpsync import {READING} --update"),
        ("import --add x", f"dpsync import {READING} --add x"),
        ("serve", "dpsync serve -C d"),
        ("plan --select 'a b'", f"dpsync plan {PLANNING} --select 'a b'"),
    ],
)
def test_printed_command_repeats_flags_of_run(written: str, typed: str) -> None:
    assert EVERYWHERE.add_flags_to_commands(f"run `dpsync {written}`") == f"run {typed}"


def test_printed_command_is_shell_quoted() -> None:
    assert format_command("ids", "--forget", "a b") == "`dpsync ids --forget 'a b'`"
    assert (
        ProjectFlags().add_flags_to_commands(format_command("plan", "it's")) == """dpsync plan 'it'"'"'s'"""
    )
    assert ProjectFlags().add_flags_to_commands("no command") == "no command"
    assert (
        ProjectFlags(directory="a\x1b'\\b").add_flags_to_commands("`dpsync plan`")
        == r"dpsync plan -C $'a\x1b\'\\b'"
    )
