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
    """Return the source line and the carets of a diagnostic, without margins."""
    lines = render_diagnostics([Diagnostic("DP1", "x", span)], {span.file: source}).split("\n")
    return lines[3].split("| ", 1)[1], lines[4].split("| ", 1)[1]


def test_diagnostic_shows_position_source_line_and_hint() -> None:
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


def test_diagnostic_without_source_text_shows_position() -> None:
    finding = Diagnostic("DP1", "gone", at(14, 5), address="acme/teams/writers")
    assert render_diagnostics([finding], {}) == (
        "error[DP1]: gone\n  --> a.yaml:14:5\n  |\n  = address: acme/teams/writers\n\n1 error in 1 file\n"
    )


def test_diagnostic_without_position_is_shown() -> None:
    finding = Diagnostic("DP120", "no dpsync.yaml", hint="create one")
    assert render_diagnostics([finding], {}) == "error[DP120]: no dpsync.yaml\n  = create one\n\n1 error\n"


def test_no_diagnostics_render_as_empty_text() -> None:
    assert render_diagnostics([], {}) == ""


def test_diagnostics_are_sorted_counted_and_deduplicated() -> None:
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
def test_carets_mark_the_diagnostic_range(source: str, span: Span, line: str, carets: str) -> None:
    assert excerpt(source, span) == (line, carets)


def test_empty_source_line_gets_a_caret() -> None:
    assert "1 |\n  | ^\n" in render_diagnostics([Diagnostic("DP1", "empty", at(1, 1, 0))], {"a.yaml": ""})


@pytest.mark.parametrize("column", [1, 50, 5000, 9_990])
def test_long_source_line_is_cut_around_caret(column: int) -> None:
    source = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    line, carets = excerpt(source, at(1, column, 3))
    assert len(line) <= 102
    start = carets.index("^")
    assert line[start : start + 3] == source[column - 1 : column + 2]


def test_source_line_is_cut_after_100_columns() -> None:
    assert excerpt("x" * 100, at(1, 90))[0] == "x" * 100
    source = "a" * 61 + "b" + "c" * 138
    for column, left in ((61, ""), (62, "…"), (63, "…")):
        line, carets = excerpt(source, at(1, column))
        assert (line[: len(left)], carets.index("^")) == (left, 60 + len(left))
        assert len(line) == 100 + len(left) + 1


def test_long_diagnostic_range_is_cut_with_line() -> None:
    line, carets = excerpt("a: " + "x" * 500, at(1, 4, 500))
    assert len(carets) <= len(line) == 101


def test_diagnostic_color_changes_only_escape_codes() -> None:
    findings = [Diagnostic("DP1", "x", at(14, 5), hint="y"), Diagnostic("DP2", "z", severity="warning")]
    texts = {"a.yaml": TEXT}
    coloured = render_diagnostics(findings, texts, color=True)
    assert coloured != render_diagnostics(findings, texts)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_diagnostics(findings, texts)


hostile = st.text(st.sampled_from("ab\x1b\n\r\t\u202e\u200b\ud800\U000e0041漢"), max_size=20)


@given(hostile, hostile, hostile, hostile, st.integers(0, 30), st.integers(0, 30))
def test_hostile_text_cannot_break_diagnostics(
    message: str, file: str, source: str, hint: str, column: int, end: int
) -> None:
    span = Span(file, 1, max(1, column), 1, end)
    finding = Diagnostic(message, message, span, address=hint, hint=hint, related=((hint, span),))
    shown = render_diagnostics([finding], {file: source})
    shown.encode()
    assert not set(shown) & set("\x1b\r\t\u202e\u200b\U000e0041")
    heads = [line for line in shown.split("\n") if line.startswith("error[")]
    assert len(heads) == 1


def test_diagnostics_are_limited_to_200() -> None:
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


def test_syntax_errors_are_listed_first() -> None:
    found = [Diagnostic("DP201", "unknown", Span("a.yaml", 1, 1, 1, 2)), Diagnostic("DP120", "no file"),
             Diagnostic("DP101", "not YAML", Span("z.yaml", 9, 1, 9, 2))]  # fmt: skip
    assert re.findall(r"error\[(\w+)\]", render_diagnostics(found, {})) == ["DP101", "DP201", "DP120"]
    assert [item.code for item in findings_document(found, 5).findings] == ["DP101", "DP201", "DP120"]


def test_diagnostics_show_related_places_and_environments() -> None:
    span = Span("a.yaml", 1, 1, 1, 2)
    found = Diagnostic("DP2", "wrong", span, related=(("the other", span),), environments=("prod", "try"))
    assert "  = with --env prod, try\n" in render_diagnostics([found], {})
    (finding,) = findings_document([found], 5).findings
    assert finding.environments == ("prod", "try")
    assert [(item.text, item.at.line) for item in finding.related] == [("the other", 1)]
