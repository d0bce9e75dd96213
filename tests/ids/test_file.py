"""The text of an ids file: what it says, what is wrong with it, and how it is written."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.config.ids_file import (
    HEADER,
    find_conflict_markers,
    parse,
    parse_conflict,
    render_ids_file,
    repeated_line_warnings,
)
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.address import Address
from dpsync.model.ids import IdsFile, RecordedLine, is_id
from tests.soak import examples

REGISTRY = load_registry()
HERE = "https://api.acme.example"


def section(*lines: str, platform: str = HERE, organization: str = "org-1") -> str:
    return f"{platform}:\n  {organization}:\n" + "".join(f"    {line}\n" for line in lines)


def said(text: str | bytes) -> dict[str, str]:
    """Return the lines of an ids file with one section; fail if the file has a problem."""
    ids, found = parse(text, "dpsync.ids.yaml", REGISTRY)
    assert list(found) == []
    (lines,) = [lines for platform in ids.sections.values() for lines in platform.values()]
    return {
        str(address): " ".join(filter(None, (line.id, line.second_id))) for address, line in lines.items()
    }


def wrong(text: str | bytes) -> list[tuple[str, str]]:
    """Code and place of everything that is wrong."""
    _, found = parse(text, "f", REGISTRY)
    return [(one.code, f"{one.span.line}:{one.span.column}" if one.span else "") for one in found]


def line(address: str, id: str, also: str | None = None) -> RecordedLine:
    return RecordedLine(Address.parse(address), id, also)


def kept(address: str, id: str, also: str | None = None) -> RecordedLine:
    return RecordedLine(Address.parse(address), id, also, kept=True)


def ids_of(*lines: RecordedLine, platform: str = HERE, organization: str = "org-1") -> IdsFile:
    return IdsFile({platform: {organization: {one.address: one for one in lines}}})


# What is right.


@pytest.mark.parametrize(
    "written",
    [
        "acme/teams/writers: team-1",
        "acme/sites/docs/structure/news: section-2 site-space-5",
        "acme/sites/docs/structure/news: section-2",
        "acme/translations/guides-fr: translation-1 space-9",
        "acme/sites/docs/structure/news/latest: site-space-5",
    ],
)
def test_ids_line_maps_address_to_id(written: str) -> None:
    address, _, id = written.partition(": ")

    assert said(section(written)) == {address: id}


def test_ids_values_are_always_read_as_text() -> None:
    found = said(section("acme/teams/a: 007", "acme/teams/b: true", "acme/teams/c: '1'"))

    assert found == {"acme/teams/a": "007", "acme/teams/b": "true", "acme/teams/c": "1"}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}", HEADER])
def test_ids_file_without_lines_is_empty(text: str) -> None:
    assert parse(text, "f", REGISTRY) == (IdsFile(), [])


def test_ids_line_keeps_its_file_position() -> None:
    ids, _ = parse(section("acme/teams/a: team-1"), "dpsync.ids.yaml", REGISTRY)

    assert str(ids.lines(HERE, "org-1")[Address.parse("acme/teams/a")].span) == "dpsync.ids.yaml:3:5"


@pytest.mark.parametrize("again", ["acme/teams/a: x", "old/teams/a: x"])
def test_identical_ids_line_twice_is_a_warning(again: str) -> None:
    ids, found = parse(section("acme/teams/a: x", again), "f", REGISTRY)
    assert list(found) == []
    assert ids.sections == ids_of(line("acme/teams/a", "x")).sections
    (warning,) = repeated_line_warnings(ids)
    assert (warning.code, warning.severity, warning.span and warning.span.line) == ("DP153", "warning", 4)


def test_repeated_ids_sections_are_merged() -> None:
    text = (
        section("acme/teams/a: x", "acme/teams/b: y") + "  org-1:\n    acme/teams/b: y\n    acme/teams/c: z\n"
    )
    assert said(text) == {"acme/teams/a": "x", "acme/teams/b": "y", "acme/teams/c": "z"}


def test_contradicting_ids_lines_are_dropped_as_disputed() -> None:
    text = section("acme/teams/a: x", "acme/teams/b: y", "acme/teams/a: z").encode()
    ids, disputed, found = parse_conflict(text, "f", REGISTRY)
    assert (list(found), ids) == ([], ids_of(line("acme/teams/b", "y")))
    assert disputed == {(HERE, "org-1", Address.parse("acme/teams/a"))}


# What is wrong.


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("acme/teams/a: x y", "write address: id, or delete"),
        ("acme/sites/docs/structure/a: x y z", "address: id (or two ids, separated by a space), or delete"),
        ("acme/teams/a:", "write address: id, or delete"),
    ],
)
def test_invalid_ids_line_hint_shows_allowed_form(written: str, form: str) -> None:
    (found,) = parse(section(written), "f", REGISTRY)[1]
    assert form in (found.hint or "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- a\n", [("DP150", "1:1")]),
        ("acme\n", [("DP150", "1:1")]),
        ("acme:\n  org: {}\n", [("DP150", "1:1")]),
        ("https://a.example/v1:\n  org: {}\n", [("DP150", "1:1")]),
        (f"{HERE}: org-1\n", [("DP150", "1:27")]),
        (f"{HERE}:\n", [("DP150", "1:26")]),
        (f"{HERE}:\n  org 1: {{}}\n", [("DP150", "2:3")]),
        (f"{HERE}:\n  org-1: [a]\n", [("DP150", "2:10")]),
        (section("acme/teams/a:"), [("DP152", "3:18")]),
        (section("acme/teams/a: ~"), [("DP152", "3:19")]),
        (section("acme/teams/a: ''"), [("DP152", "3:19")]),
        (section("acme/teams/a: [x]"), [("DP152", "3:19")]),
        (section("acme/teams/a: {id: x}"), [("DP152", "3:19")]),
        (section("acme/teams/a: The writers"), [("DP152", "3:19")]),
        (section("acme/sites/docs/structure/news: a b c"), [("DP152", "3:37")]),
        (section('acme/sites/docs/structure/news: "a  b"'), [("DP152", "3:37")]),
        (section(f"acme/teams/a: {'x' * 501}"), [("DP152", "3:19")]),
        (section("acme: org-1"), [("DP151", "3:5")]),
        (section("acme/team/a: x"), [("DP151", "3:5")]),
        (section("acme/teams: x"), [("DP151", "3:5")]),
        (section("acme/teams/[Sales]: x"), [("DP151", "3:5")]),
        (section("acme/teams/*: x"), [("DP151", "3:5")]),
        (section("acme/**: x"), [("DP151", "3:5")]),
        (section("/acme/teams/a: x"), [("DP151", "3:5")]),
        (section("acme/teams/a/: x"), [("DP151", "3:5")]),
        (section("acme/teams/A team: x"), [("DP151", "3:5")]),
        (section("acme/members/ada@acme.example: x"), [("DP151", "3:5")]),
        (section("acme/teams/a: x", "acmé/teams/b: x"), [("DP151", "4:5")]),
        (section("acme/teams/a: x", "old/teams/a: y"), [("DP153", "4:5")]),
        (section("acme/teams/a: x", "acme/teams/a: y"), [("DP153", "4:5")]),
        (section("acme/teams/a: x") + "  org-1:\n    acme/teams/a: y\n", [("DP153", "5:5")]),
        (section("acme/teams/a: *x"), [("DP109", "3:19")]),
        (section("acme/teams/a: !!str x"), [("DP113", "3:19")]),
        (section("<<: x"), [("DP112", "3:5")]),
        (f"{section('acme/teams/a: x')}---\n", [("DP115", "4:1")]),
        (b"\xff\xfe", [("DP102", "1:1")]),
        ("\x00", [("DP103", "1:1")]),
        ("a: [", [("DP101", "1:4")]),
    ],
)
def test_malformed_ids_file_error_is_located(text: str | bytes, found: list[tuple[str, str]]) -> None:
    assert wrong(text) == found


def test_ids_parser_reports_all_errors_and_keeps_rest() -> None:
    text = section("acme/teams/a: x", "acme/team/b: y", "acme/teams/c:", "acme/teams/d: z") + "nowhere: {}\n"
    ids, found = parse(text, "f", REGISTRY)

    assert [one.code for one in found] == ["DP151", "DP152", "DP150"]
    assert [str(address) for address in ids.lines(HERE, "org-1")] == ["acme/teams/a", "acme/teams/d"]


@settings(max_examples=150)
@given(st.text(max_size=200) | st.binary(max_size=200))
def test_random_ids_text_is_reported_or_survives_rewrite(text: str | bytes) -> None:
    ids, found = parse(text, "f", REGISTRY)
    assert found or parse(render_ids_file(ids), "f", REGISTRY)[0] == ids


# Merge conflicts.

CONFLICT = section(
    "acme/teams/a: x",
    "acme/teams/b: y",
).replace(
    "    acme/teams/b: y\n",
    dedent("""\
    <<<<<<< HEAD
        acme/teams/b: ours
        acme/teams/c: z
    =======
        acme/teams/b: theirs
        acme/teams/d: w
    >>>>>>> feature
    """),
)


def test_git_conflict_in_ids_file_is_one_finding() -> None:
    ids, found = parse(CONFLICT, "f", REGISTRY)

    assert [(one.code, one.span and one.span.line) for one in found] == [("DP154", 4)]
    assert "dpsync ids" in str(found[0].hint)
    assert ids == IdsFile()


@pytest.mark.parametrize("text", ["=======\n", ">>>>>>> a\n", "||||||| 1234\n", "<<<<<<< HEAD\r\n"])
def test_ids_file_detects_each_git_conflict_marker_type(text: str) -> None:
    assert [span.line for span in find_conflict_markers(f"a\n{text}", "f")] == [2]


@pytest.mark.parametrize("text", ["========\n", " =======\n", "=======x\n", "<<<<<< a\n", "# =======\n"])
def test_ids_file_ignores_lines_resembling_conflict_markers(text: str) -> None:
    assert find_conflict_markers(text, "f") == []


@pytest.mark.parametrize("ancestor", ["", "||||||| base\n    acme/teams/b: base\n    acme/teams/e: v\n"])
def test_git_conflict_in_ids_file_merges_both_sides(ancestor: str) -> None:
    text = CONFLICT.replace("=======\n", f"{ancestor}=======\n")
    ids, disputed, found = parse_conflict(text.encode(), "f", REGISTRY)

    assert list(found) == []
    assert {str(address): one.id for address, one in ids.lines(HERE, "org-1").items()} == {
        "acme/teams/a": "x", "acme/teams/c": "z", "acme/teams/d": "w",
    }  # fmt: skip
    assert disputed == {(HERE, "org-1", Address.parse("acme/teams/b"))}


def test_git_conflict_over_ids_sections_keeps_both() -> None:
    ours, theirs = section("acme/teams/a: x"), section("globex/teams/a: y", organization="org-2")
    text = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    ids, disputed, found = parse_conflict(text.encode(), "f", REGISTRY)

    assert (list(found), disputed) == ([], frozenset())
    assert set(ids.sections[HERE]) == {"org-1", "org-2"}


def test_ids_conflict_tolerates_different_organization_keys() -> None:
    ours, theirs = section("acme/teams/a: x"), section("old/teams/a: x", "old/teams/b: y")
    text = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    ids, disputed, _ = parse_conflict(text.encode(), "f", REGISTRY)

    assert sorted(map(str, ids.lines(HERE, "org-1"))) == ["acme/teams/a", "acme/teams/b"]
    assert disputed == frozenset()


@pytest.mark.parametrize(
    "text",
    ["=======\n", "<<<<<<< a\n", "<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n", "<<<<<<< a\n>>>>>>> b\n"],
)
def test_unbalanced_git_conflict_in_ids_file_is_refused(text: str) -> None:
    assert [one.code for one in parse_conflict(text.encode(), "f", REGISTRY)[2]][:1] == ["DP154"]


def test_invalid_line_inside_ids_conflict_is_located() -> None:
    text = CONFLICT.replace("theirs", "[]")

    assert [
        (one.code, one.span and one.span.line) for one in parse_conflict(text.encode(), "f", REGISTRY)[2]
    ] == [("DP152", 8)]


# Marks of lines whose object was kept without an entry.

MARKED = "acme/teams/a: { id: x, kept: true }"


def test_kept_object_mark_survives_ids_file_rewrite() -> None:
    ids, found = parse(section(MARKED), "f", REGISTRY)

    assert list(found) == []
    assert ids == ids_of(kept("acme/teams/a", "x"))
    assert render_ids_file(ids).decode() == HEADER + section(MARKED)


@pytest.mark.parametrize(
    "value",
    ["id: x", "kept: true", "id: x, kept: false", "id: x, kept: true, more: 1", "id: [x], kept: true"],
    ids=["no mark", "no id", "false mark", "unknown key", "list of ids"],
)
def test_malformed_kept_object_mark_is_an_error(value: str) -> None:
    assert [code for code, _ in wrong(section(f"acme/teams/a: {{ {value} }}"))] == ["DP152"]


def test_kept_object_mark_on_one_conflict_side_survives() -> None:
    """A lost mark would let a later `prune` delete the object without its name."""
    ours, theirs = section("acme/teams/a: x", "acme/teams/b: y"), section(MARKED, "acme/teams/b: z")
    text = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    ids, disputed, _ = parse_conflict(text.encode(), "f", REGISTRY)

    assert ids == ids_of(kept("acme/teams/a", "x"))
    assert disputed == {(HERE, "org-1", Address.parse("acme/teams/b"))}


def test_kept_object_mark_on_duplicate_line_survives() -> None:
    ids, found = parse(section("acme/teams/a: x", MARKED), "f", REGISTRY)

    assert list(found) == []
    assert ids.sections == ids_of(kept("acme/teams/a", "x")).sections


# Writing.


def test_ids_file_is_written_sorted() -> None:
    ids = (
        ids_of(line("b/teams/z", "1e3"), line("b/teams/a", "t"), organization="org-2")
        .with_section(HERE, "org-1", {line("a/teams/x", "x").address: line("a/teams/x", "x")})
        .with_section("world-1f", "acme", {line("a/teams/x", "no id").address: line("a/teams/x", "no id")})
    )

    assert render_ids_file(ids).decode() == HEADER + dedent(f"""\
        {HERE}:
          org-1:
            a/teams/x: x
          org-2:
            b/teams/a: t
            b/teams/z: "1e3"
        """)


_KEYS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
_IDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20).filter(is_id)
_ODD = st.sampled_from(["1e3", "0x1", "null", "true", "~", "-", "a:", "#", "[", "é", "\U0001f600", '"', "'"])


@st.composite
def _lines(draw: st.DrawFn) -> RecordedLine:
    place = draw(st.sampled_from(["teams", "spaces", "translations", "sites/docs/structure"]))
    address = Address.parse(f"acme/{place}/{draw(_KEYS)}")
    id = draw(_IDS | _ODD)
    two = place in ("translations", "sites/docs/structure") and draw(st.booleans())
    return RecordedLine(address, id, draw(_IDS | _ODD) if two else None, kept=draw(st.booleans()))


@settings(max_examples=examples(60, soak=2_000))
@given(
    st.dictionaries(
        st.sampled_from([HERE, "http://[::1]:8787", "world-0f"]),
        st.dictionaries(_IDS | _ODD, st.lists(_lines(), min_size=1, max_size=4), min_size=1, max_size=2),
        max_size=2,
    )
)
def test_ids_file_survives_write_and_read(sections: dict[str, dict[str, list[RecordedLine]]]) -> None:
    ids = IdsFile(
        {
            platform: {id: {one.address: one for one in lines} for id, lines in organizations.items()}
            for platform, organizations in sections.items()
        }
    )
    again, found = parse(render_ids_file(ids), "f", REGISTRY)

    assert list(found) == []
    assert again == ids
    assert render_ids_file(again) == render_ids_file(ids)


def test_long_address_survives_ids_file_rewrite() -> None:
    ids = ids_of(line(f"acme/sites/{'s' * 600}/structure/{'t' * 600}", "section-1", "site-space-1"))

    assert parse(render_ids_file(ids), "f", REGISTRY) == (ids, [])


def test_variation_selector_in_id_is_escaped() -> None:
    written = render_ids_file(ids_of(line("acme/teams/a", "a\ufe0f")))

    assert written.decode().isascii()
    assert parse(written, "f", REGISTRY) == (ids_of(line("acme/teams/a", "a\ufe0f")), [])


@pytest.mark.parametrize("id", ["a\u3164", "\U000e0100", "a\u034f", "{", "..", "a//b"])
def test_unsafe_id_is_omitted_from_ids_file(id: str) -> None:
    """An invisible character would hide which object a line is about; dots and braces would change a URL."""
    assert parse(render_ids_file(ids_of(line("acme/teams/a", id))), "f", REGISTRY)[0].sections == {}


def test_id_with_space_is_omitted_from_ids_file() -> None:
    ids = ids_of(line("acme/teams/a", "an id"), line("acme/teams/b", "x"))

    assert parse(render_ids_file(ids), "f", REGISTRY) == (ids_of(line("acme/teams/b", "x")), [])


# Sections.


def test_ids_lines_follow_changed_organization_key() -> None:
    ids = ids_of(line("old/teams/a", "x"))

    assert ids.lines(HERE, "org-1", "acme") == {Address.parse("acme/teams/a"): line("acme/teams/a", "x")}
    assert ids.lines("https://other.example", "org-1", "acme") == {}
    assert ids.lines(HERE, "org-2", "acme") == {}


def test_ids_edit_affects_only_its_organizations() -> None:
    ids = ids_of(line("acme/teams/a", "x"), line("acme/teams/b", "y"))
    other = ids.with_section(
        "world-1", "org-1", {line("acme/teams/a", "w").address: line("acme/teams/a", "w")}
    )
    edits = {
        ("org-1", Address.parse("acme/teams/a")): line("acme/teams/a", "new"),
        ("org-1", Address.parse("acme/teams/b")): None,
        ("org-2", Address.parse("globex/teams/a")): line("globex/teams/a", "z"),
    }

    assert other.with_edits(HERE, edits) == IdsFile(
        {
            HERE: {
                "org-1": {Address.parse("acme/teams/a"): line("acme/teams/a", "new")},
                "org-2": {Address.parse("globex/teams/a"): line("globex/teams/a", "z")},
            },
            "world-1": {"org-1": {Address.parse("acme/teams/a"): line("acme/teams/a", "w")}},
        }
    )


def test_ids_edit_after_key_change_keeps_one_line() -> None:
    ids = ids_of(line("old/teams/a", "x"), line("old/teams/b", "y"))
    edits = {("org-1", Address.parse("acme/teams/a")): line("acme/teams/a", "new")}

    assert ids.with_edits(HERE, edits) == ids_of(line("acme/teams/a", "new"), line("acme/teams/b", "y"))


def test_empty_ids_section_is_removed() -> None:
    edits = {("org-1", Address.parse("acme/teams/a")): None}

    assert ids_of(line("acme/teams/a", "x")).with_edits(HERE, edits) == IdsFile()
