"""Findings as people see them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span
from dpsync.render.diagnostics import render_diagnostics
from dpsync.render.json_conversion import findings_document

TEXT = "organizations:\n" + "\n" * 12 + "    titel: Onboarding\n"


def at(line: int, column: int, width: int = 1, file: str = "a.yaml") -> Span:
    return Span(file, line, column, line, column + width)


def excerpt(source: str, span: Span) -> tuple[str, str]:
    """The source line and the carets, without margins."""
    lines = render_diagnostics([Diagnostic("DP1", "x", span)], {span.file: source}).split("\n")
    return lines[3].split("| ", 1)[1], lines[4].split("| ", 1)[1]


def test_a_finding_has_its_place_its_line_and_what_to_do() -> None:
    finding = Diagnostic(
        "DP103",
        'unknown key "titel" in a site',
        at(14, 5, 5, "sites/docs.yaml"),
        hint='did you mean "title"?',
        related=(("the first one", at(3, 5, 5, "sites/docs.yaml")),),
    )
    assert render_diagnostics([finding], {"sites/docs.yaml": TEXT}) == (
        'error[DP103]: unknown key "titel" in a site\n'
        "   --> sites/docs.yaml:14:5\n"
        "   |\n"
        "14 |     titel: Onboarding\n"
        "   |     ^^^^^\n"
        "   |\n"
        '   = did you mean "title"?\n'
        "   = the first one at sites/docs.yaml:3:5\n"
        "\n"
        "1 error in 1 file\n"
    )


def test_without_the_text_of_a_file_the_rest_is_shown() -> None:
    finding = Diagnostic("DP1", "gone", at(14, 5), address="acme/teams/writers")
    assert render_diagnostics([finding], {}) == (
        "error[DP1]: gone\n  --> a.yaml:14:5\n  |\n  = address: acme/teams/writers\n\n1 error in 1 file\n"
    )


def test_a_finding_without_a_place_is_shown() -> None:
    finding = Diagnostic("DP120", "no dpsync.yaml", hint="create one")
    assert render_diagnostics([finding], {}) == "error[DP120]: no dpsync.yaml\n  = create one\n\n1 error\n"


def test_nothing_to_say_is_an_empty_text() -> None:
    assert render_diagnostics([], {}) == ""


def test_findings_are_sorted_counted_and_shown_once() -> None:
    findings = [
        Diagnostic("DP9", "no place"),
        Diagnostic("DP2", "b", at(1, 1, file="b.yaml")),
        Diagnostic("DP2", "third", at(10, 1)),
        Diagnostic("DP2", "second", at(9, 2), severity="warning"),
        Diagnostic("DP2", "first", at(9, 1)),
        Diagnostic("DP2", "first", at(9, 1)),
    ]
    shown = render_diagnostics(findings, {})
    assert re.findall(r"^\w+\[\w+\]: (.*)$", shown, re.MULTILINE) == [
        "first",
        "second",
        "third",
        "b",
        "no place",
    ]
    assert shown.endswith("\n\n4 errors, 1 warning in 2 files\n")
    assert render_diagnostics(reversed(findings), {}) == shown


@pytest.mark.parametrize(
    ("source", "span", "line", "carets"),
    [
        ("a: b", at(1, 4), "a: b", "   ^"),
        ("a:\tbc", at(1, 4, 2), "a:    bc", "      ^^"),
        ("\ta: b", at(1, 1), "    a: b", "^^^^"),
        ("漢字: x", at(1, 5), "漢字: x", "      ^"),
        ("a: 漢字", at(1, 4, 2), "a: 漢字", "   ^^^^"),
        ("e\u0301: x", at(1, 5), "e\u0301: x", "   ^"),
        ("a: \x1b[2J b", at(1, 9), "a: \\x1b[2J b", "           ^"),
        ("a: \u202eb", at(1, 4), "a: \\u202eb", "   ^^^^^^"),
        ("a:", at(1, 3, 0), "a:", "  ^"),
        ("a:", at(1, 99), "a:", "  ^"),
        ("a: |\n  x\n", Span("a.yaml", 1, 4, 3, 1), "a: |", "   ^"),
        ("a: 'x  \n  y'\n", Span("a.yaml", 1, 4, 2, 5), "a: 'x", "   ^^"),
        ("a: b\r\nc: d\re: f", at(3, 4), "e: f", "   ^"),
    ],
)
def test_the_carets_stand_under_the_range(source: str, span: Span, line: str, carets: str) -> None:
    assert excerpt(source, span) == (line, carets)


def test_an_empty_line_has_a_caret() -> None:
    assert "1 |\n  | ^\n" in render_diagnostics([Diagnostic("DP1", "empty", at(1, 1, 0))], {"a.yaml": ""})


@pytest.mark.parametrize("column", [1, 50, 5000, 9_990])
def test_a_wide_line_is_cut_around_the_caret(column: int) -> None:
    source = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    line, carets = excerpt(source, at(1, column, 3))
    assert len(line) <= 102
    start = carets.index("^")
    assert line[start : start + 3] == source[column - 1 : column + 2]


def test_a_line_of_a_hundred_columns_is_whole_and_of_a_longer_one_sixty_are_before_the_caret() -> None:
    assert excerpt("x" * 100, at(1, 90))[0] == "x" * 100
    source = "a" * 61 + "b" + "c" * 138
    for column, left in ((61, ""), (62, "…"), (63, "…")):
        line, carets = excerpt(source, at(1, column))
        assert (line[: len(left)], carets.index("^")) == (left, 60 + len(left))
        assert len(line) == 100 + len(left) + 1


def test_a_wide_range_is_cut_with_its_line() -> None:
    line, carets = excerpt("a: " + "x" * 500, at(1, 4, 500))
    assert len(carets) <= len(line) == 101


def test_colour_changes_only_colour() -> None:
    findings = [Diagnostic("DP1", "x", at(14, 5), hint="y"), Diagnostic("DP2", "z", severity="warning")]
    texts = {"a.yaml": TEXT}
    coloured = render_diagnostics(findings, texts, color=True)
    assert coloured != render_diagnostics(findings, texts)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_diagnostics(findings, texts)


hostile = st.text(st.sampled_from("ab\x1b\n\r\t\u202e\u200b\ud800\U000e0041漢"), max_size=20)


@given(hostile, hostile, hostile, hostile, st.integers(0, 30), st.integers(0, 30))
def test_no_text_breaks_out(message: str, file: str, source: str, hint: str, column: int, end: int) -> None:
    span = Span(file, 1, max(1, column), 1, end)
    finding = Diagnostic(message, message, span, address=hint, hint=hint, related=((hint, span),))
    shown = render_diagnostics([finding], {file: source})
    shown.encode()
    assert not set(shown) & set("\x1b\r\t\u202e\u200b\U000e0041")
    heads = [line for line in shown.split("\n") if line.startswith("error[")]
    assert len(heads) == 1


def test_of_very_many_the_first_are_shown_and_the_others_counted() -> None:
    found = [
        Diagnostic(f"DP2{code:02}", "wrong", Span("a.yaml", line, code + 1, line, code + 2))
        for code in range(5)
        for line in range(1, 61)
    ]
    text = render_diagnostics(found, {})
    assert text.count("error[") == 200
    assert (
        "\n\n100 more messages are not shown (DP200: 20, DP201: 20, DP202: 20, DP203: 20, DP204: 20)\n"
        in text
    )
    assert text.endswith("\n\n300 errors in 1 file\n")
    document = findings_document(found, 5)
    assert len(document.findings) == 200
    assert sum(document.left_out.values()) == 100


def test_what_could_not_be_parsed_comes_first() -> None:
    found = [Diagnostic("DP201", "unknown", Span("a.yaml", 1, 1, 1, 2)), Diagnostic("DP120", "no file"),
             Diagnostic("DP101", "not YAML", Span("z.yaml", 9, 1, 9, 2))]  # fmt: skip
    assert re.findall(r"error\[(\w+)\]", render_diagnostics(found, {})) == ["DP101", "DP201", "DP120"]
    assert [item.code for item in findings_document(found, 5).findings] == ["DP101", "DP201", "DP120"]


def test_further_places_and_environments_are_told() -> None:
    span = Span("a.yaml", 1, 1, 1, 2)
    found = Diagnostic("DP2", "wrong", span, related=(("the other", span),), environments=("prod", "try"))
    assert "  = with --env prod, try\n" in render_diagnostics([found], {})
    (finding,) = findings_document([found], 5).findings
    assert finding.environments == ("prod", "try")
    assert [(item.text, item.at.line) for item in finding.related] == [("the other", 1)]
