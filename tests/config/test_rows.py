"""A file of rows (CSV) gives entries: what it says, and what may be wrong with it, each in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsync.config.csv_rows import cell_text, column_names, is_formula, read_entries, row_format, split_rows
from dpsync.config.yaml_reader import FileLimits
from dpsync.kinds.registry import build_registry
from dpsync.model.nodes import Mapping, node_value
from dpsync.model.values import Ref
from tests.soak import examples

from .loading import loaded, marked

SITE = """\
dpsync: 1
organizations:
  acme:
    id: acme
    spaces: { en: { title: EN } }
    sites:
      docs:
        title: Docs
        structure:
          - type: section
            key: guides
            title: Guides
            children: [{ type: space, key: en, space: en }]
        redirects: {BODY}
"""
NAMED = SITE.replace("{BODY}", "{ file: redirects.csv }")
REDIRECTS = [kind for kind in build_registry().in_dependency_order if row_format(kind) is not None]


def said(directory: Path, table: str, body: str = "{ file: redirects.csv }") -> dict[str, dict[str, object]]:
    """Load a CSV file with its YAML and return the fields of the entries by key."""
    desired, found = loaded(directory, SITE.replace("{BODY}", body), {"redirects.csv": table})
    assert not found, found
    return {
        entry.key: {name: value for name, value in entry.fields.items() if name != "source"}
        for entry in desired.entries.values()
        if "redirects" in entry.address.segments
    }


def external(url: str) -> dict[str, object]:
    return {"destination": {"kind": "external", "url": url}}


GOOD = [
    ("source,destination\n/a,https://b.example\n", {"/a": external("https://b.example")}),
    ("source,destination\r\n/a,https://b.example\r\n", {"/a": external("https://b.example")}),
    ("source,destination\r/a,https://b.example", {"/a": external("https://b.example")}),
    ("\ufeffsource,destination\n/a,https://b.example", {"/a": external("https://b.example")}),
    ("destination,source\nhttps://b.example,/a\n", {"/a": external("https://b.example")}),
    ('source,destination\n"/a","https://b.example/?a=1,2"\n', {"/a": external("https://b.example/?a=1,2")}),
    ('source,destination\n"/a""b",https://b.example\n', {'/a"b': external("https://b.example")}),
    ("\n\nsource,destination\n\n/a,https://b.example\n,\n", {"/a": external("https://b.example")}),
    ("source,destination,permanent\n/a,https://b.example\n", {"/a": external("https://b.example")}),
    (
        "source,destination,permanent,draft\n/a,https://b.example,TRUE,false\n",
        {"/a": {**external("https://b.example"), "permanent": True, "draft": False}},
    ),
    ("source,destination\n/${HOME},https://b.example/$$\n", {"/${HOME}": external("https://b.example/$$")}),
]


@pytest.mark.parametrize(("table", "wanted"), GOOD)
def test_csv_row_becomes_an_entry(tmp_path: Path, table: str, wanted: dict[str, object]) -> None:
    assert said(tmp_path, table) == wanted


def test_csv_redirect_destination_resolves_section_and_space_keys(tmp_path: Path) -> None:
    found = said(tmp_path, "source,section,space,page\n/a,guides,,\n/b,,guides/en,\n/c,,guides/en,-M1\n")
    parts = {key: list(value["destination"].values()) for key, value in found.items()}  # type: ignore[attr-defined]
    assert [parts[key][0] for key in ("/a", "/b", "/c")] == ["site-section", "site-space", "site-page"]
    assert all(isinstance(value[1], Ref) for value in parts.values())
    assert parts["/c"][2] == "-M1"


def test_csv_entries_merge_with_inline_entries(tmp_path: Path) -> None:
    beside = '{ file: redirects.csv, /b: { destination: { kind: external, url: "https://b.example" } } }'
    assert set(said(tmp_path, "source,destination\n/a,https://a.example\n", beside)) == {"/a", "/b"}


def test_redirect_entry_may_be_called_file(tmp_path: Path) -> None:
    assert set(said(tmp_path, "", '{ file: { destination: { kind: external, url: "https://b.c" } } }')) == {
        "file"
    }


WRONG = [
    # the file with a mark at each place that is told, the code, the message or hint
    ("▸Source,destination\n", "DP119", '"Source" is not a column of redirects; did you mean "source"?'),
    ("▸source;destination\n", "DP119", "separate the columns by commas, not by ;"),
    ("▸source\tdestination\n", "DP119", "separate the columns by commas, not by a tab"),
    ("source,▸source\n", "DP119", 'the column "source" appears twice'),
    ("▸destination\n", "DP119", 'the column "source" is missing'),
    ("▸", "DP119", "the first line of the file must name the columns"),
    ("source,destination\n▸,https://a.example\n", "DP119", "the source is empty"),
    ("source,destination\n▸/a\n", "DP206", '"destination" is missing'),
    (
        "source,destination\n/a,https://b.example/?a,▸b\n",
        "DP119",
        "3 cells, but the first line names 2 columns",
    ),
    ("source,destination\n/a,▸ https://b.example\n", "DP119", "begins or ends with a space"),
    ("source,destination\n▸=1+1,https://b.example\n", "DP119", "would run this cell as a formula"),
    ("source,destination\n▸@SUM(1),https://b.example\n", "DP119", "would run this cell as a formula"),
    ("source,destination\n▸-1+cmd|x,https://b.example\n", "DP119", "would run this cell as a formula"),
    (
        'source,destination\n/a,▸"https://b.example\n/b,\n',
        "DP119",
        "the closing quote of this cell is missing",
    ),
    ('source,destination\n/a,▸"b"c\n', "DP119", 'the cell contains a quote (") next to other text'),
    ('source,destination\n/a,▸b"c\n', "DP119", 'the cell contains a quote (") next to other text'),
    ("source,destination\n/a,▸javascript:alert(1)\n", "DP204", "is not a URL that starts with http"),
    ("source,destination\n/a,▸/new\n", "DP204", "is not a URL that starts with http"),
    ("source,destination,permanent\n/a,https://b.c,▸yes\n", "DP202", "write true"),
    ("source,destination,section\n/a,https://b.c,▸guides\n", "DP119", "this combination is not valid"),
    ("source,page\n/a,▸p1\n", "DP119", "this combination is not valid"),
    ("source,section\n/a,▸nowhere\n", "DP220", 'your files contain no section "nowhere"'),
    ("source,destination\n/a,https://b.c\n▸/a,https://b.d\n", "DP213", '"/a" is declared twice'),
]


@pytest.mark.parametrize(("table", "code", "words"), WRONG)
def test_csv_errors_are_located_in_file(tmp_path: Path, table: str, code: str, words: str) -> None:
    text, places = marked(table)
    _, found = loaded(tmp_path, NAMED, {"redirects.csv": text})
    assert [(one.code, str(one.span)) for one in found] == [(code, f"redirects.csv:{at}") for at in places]
    assert words in f"{found[0].message}; {found[0].hint}"


def test_csv_line_numbers_match_editor_with_multiline_cells(tmp_path: Path) -> None:
    _, found = loaded(tmp_path, NAMED, {"redirects.csv": 'source,destination\r\n"/a\r\nb",x\r\n/c,x\r\n'})
    assert [str(one.span) for one in found] == ["redirects.csv:3:4", "redirects.csv:4:4"]


def test_csv_file_outside_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.csv").write_text("source,destination\n/a,https://b.example\n", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    for name in ("../elsewhere.csv", "link.csv", str(tmp_path / "elsewhere.csv")):
        _, found = loaded(project, SITE.replace("{BODY}", f"{{ file: {name} }}"))
        assert [one.code for one in found] == ["DP125"], name


@pytest.mark.parametrize(("content", "code"), [(b"source\xff", "DP102"), (b"source\n/a\x1b[2J", "DP103")])
def test_csv_file_with_invalid_characters_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "redirects.csv").write_bytes(content)
    assert [one.code for one in loaded(tmp_path, NAMED)[1]] == [code]


def test_csv_file_without_rows_is_an_empty_mapping(tmp_path: Path) -> None:
    _, found = loaded(tmp_path, NAMED, {"redirects.csv": "source,destination\n"})
    assert [one.code for one in found] == ["DP232"]


def test_csv_with_too_many_cells_is_refused() -> None:
    found, problems = split_rows("a,b\n" * 10, "x.csv", FileLimits(nodes=7))
    assert (len(found), [one.code for one in problems]) == (3, ["DP106"])


def test_csv_with_ten_thousand_rows_is_loaded(tmp_path: Path) -> None:
    table = "source,destination\n" + "".join(f"/old/{n},https://new.example/{n}\n" for n in range(10_000))
    assert len(said(tmp_path, table)) == 10_000


@pytest.mark.parametrize("kind", REDIRECTS, ids=lambda kind: kind.name)
def test_csv_column_names_are_unique(kind: object) -> None:
    format = row_format(kind)  # type: ignore[arg-type]
    assert format is not None
    known = column_names(kind, format)  # type: ignore[arg-type]
    assert known.count(known[0]) == 1
    assert len(set(known)) == len(known)


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\ufeff"))


@settings(max_examples=examples(100, 3000), suppress_health_check=list(HealthCheck), deadline=None)
@given(table=st.lists(st.lists(TEXTS.filter(bool), min_size=2, max_size=3), min_size=1, max_size=5))
def test_csv_cells_survive_write_and_read(table: list[list[str]]) -> None:
    text = "".join(",".join(map(cell_text, row)) + "\n" for row in table)
    found, problems = split_rows(text, "x.csv")
    assert not problems
    assert [[cell.text for cell in row] for row in found] == table


@settings(max_examples=examples(100, 3000), suppress_health_check=list(HealthCheck), deadline=None)
@given(text=st.text(st.sampled_from(',"\r\n ab=;')))
def test_csv_reader_never_raises_on_random_text(text: str) -> None:
    found, problems = split_rows(text, "x.csv")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for span in [cell.span for row in found for cell in row] + [one.span for one in problems if one.span]:
        assert 1 <= span.line <= len(lines)
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1


@pytest.mark.parametrize("text", ["=1", "+1", "@x", "-1+2", "\tx"])
def test_csv_formulas_are_detected(text: str) -> None:
    assert is_formula(text)
    assert not is_formula("-Mabc_1")


def test_csv_row_equals_handwritten_mapping() -> None:
    made, problems = read_entries(REDIRECTS[0], "source,destination,draft\n/a,https://b.c,true\n", "x.csv")
    assert not problems
    assert isinstance(made, Mapping)
    assert node_value(made) == {
        "/a": {"destination": {"kind": "external", "url": "https://b.c"}, "draft": True}
    }
