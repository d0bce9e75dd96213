"""How values, URLs and foreign texts are put into words: to the character, at every limit."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest

from dpsync.model.change import Difference, UrlImpact
from dpsync.model.plan import Origin, Plan
from dpsync.render.markdown import code_html, code_span, escape_prose, fence, longest_run, prose_html
from dpsync.render.paint import ColorMode, Paint, wants_color
from dpsync.render.shown_values import diff_lines, format_value, is_long
from dpsync.render.url_words import old_url_outcomes, redirect_line, url_change_text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "(nothing)"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1.5, "1.5"),
        ("", '""'),
        ("a\nb", '"a\\nb"'),
        ("x" * 120, '"' + "x" * 120 + '"'),
        ("x" * 121, '"' + "x" * 119 + '…"'),
        ({"dpsync:ref": "acme/teams/a"}, "acme/teams/a"),
        ({"dpsync:id": "t1"}, "id t1"),
        ({"dpsync:env": "KEY"}, "(secret from KEY)"),
        ({"dpsync:env": "KEY", "more": 1}, '{ dpsync:env: "KEY", more: 1 }'),
        ({"dpsync:data": {"dpsync:env": "KEY"}}, '{ dpsync:env: "KEY" }'),
        ({"dpsync:ref": 5}, "{ dpsync:ref: 5 }"),
        ({"dpsync:id": ["a"]}, '{ dpsync:id: ["a"] }'),
        ({"a": 1}, "{ a: 1 }"),
        ({}, "{}"),
        ([], "[]"),
        ([1, ["a", None]], '[1, ["a", (nothing)]]'),
        (["x" * 118], '["' + "x" * 117 + "…"),
        ({"a\x1b": "b\x1b"}, '{ a\\x1b: "b\\x1b" }'),
    ],
)
def test_value_is_printed_on_one_line(value: Any, shown: str) -> None:
    assert format_value(value) == shown


@pytest.mark.parametrize(
    ("value", "is_big"),
    [
        ("a" * 1000, False),
        ("a\n", False),
        ("\na\n", False),
        ("a\nb", True),
        (["x" * 76], False),
        (["x" * 77], True),
        ({"a": "x" * 80}, True),
        (10**90, False),
        (None, False),
    ],
)
def test_multiline_or_nested_long_value_is_large(value: Any, is_big: bool) -> None:
    assert is_long(value) is is_big


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nx\nc", ["- b", "+ x"]),
        (None, "a\nb", ["+ a", "+ b"]),
        ("a\nb", "", ["- a", "- b"]),
        (None, {"a": 1, "b": [2]}, ["+ a: 1", "+ b: [2]"]),
        (None, [1, {"a": 2}], ["+ 1", "+ { a: 2 }"]),
        ({"a": 1, "b": 2}, {"a": 3, "b": 2}, ["~ a: 1 → 3"]),
        ({"a": 1, "c": [1, 2, 3]}, {"b": 1, "c": [1, 2, 3]}, ["- a: 1", "+ b: 1"]),
        ({"a": [1, 2]}, {"a": [1]}, ["- a.1: 2"]),
        ({"z": 1, "a": {"m": 1}}, {"z": 2, "a": {"m": 2}}, ["~ a.m: 1 → 2", "~ z: 1 → 2"]),
        ("a\nb", ["a"], ['~ (all): "a\\nb" → ["a"]']),
        (None, "a\x1b\nb", ["+ a\\x1b", "+ b"]),
    ],
)
def test_value_difference_is_printed_as_diff_lines(before: Any, after: Any, lines: list[str]) -> None:
    assert list(diff_lines(Difference(field="x", before=before, after=after))) == lines


def test_value_difference_counts_omitted_lines() -> None:
    text = Difference(field="x", after="\n".join(f"line {number}" for number in range(22)))
    assert list(diff_lines(text))[19:] == ["+ line 19", "… 2 more lines"]
    assert len(list(diff_lines(text, max_lines=None))) == 22
    assert list(diff_lines(text, max_lines=21))[20:] == ["+ line 20", "… 1 more line"]
    assert list(diff_lines(text, max_lines=22))[21:] == ["+ line 21"]
    wide = Difference(field="x", after="a" * 10 + "\n" + "b" * 11)
    assert list(diff_lines(wide, width=10)) == ["+ " + "a" * 10, "+ " + "b" * 9 + "…"]


def url(**words: Any) -> UrlImpact:
    return UrlImpact(
        **{
            "address": "acme/sites/d",
            "before": "https://a/x",
            "after": "https://a/y",
            **words,
        }
    )


REDIRECT = {"redirect": {"r": {"source": "/x"}}, "place": "acme/sites/d/redirects"}


@pytest.mark.parametrize(
    ("item", "change", "said"),
    [
        (url(), ("URL", "https://a/x → https://a/y"), [("The old URL will stop working.", ())]),
        (url(before=None), ("new URL", "https://a/y"), []),
        (url(after=None), ("old URL", "https://a/x"), [("The old URL will stop working.", ())]),
        (
            url(shows="acme/sites/e"),
            ("URL", "https://a/x → https://a/y"),
            [("https://a/x will show acme/sites/e.", ())],
        ),
        (
            url(redirected="acme/r"),
            ("URL", "https://a/x → https://a/y"),
            [("acme/r redirects https://a/x.", ())],
        ),
        (url(known=False, why="it is made"), ("URL", "https://a/x → not known yet: it is made"), []),
        (
            url(**REDIRECT),
            ("URL", "https://a/x → https://a/y"),
            [
                (
                    "The old URL will stop working. To redirect it, add to sites.yaml under redirects:",
                    ("r: { source: /x }",),
                )
            ],
        ),
    ],
)
def test_url_change_warns_about_broken_old_url(
    item: UrlImpact, change: tuple[str, str], said: list[tuple[str, tuple[str, ...]]]
) -> None:
    plan = Plan(origins={"acme/sites/d": Origin(file="sites.yaml", line=1, column=1)})
    assert (url_change_text(item), list(old_url_outcomes([item], plan))) == (change, said)


def test_redirect_hints_for_several_urls_are_grouped() -> None:
    assert list(old_url_outcomes([url(**REDIRECT), url(**REDIRECT)], Plan())) == [
        (
            "2 old URLs will stop working. To redirect them, add to acme/sites/d/redirects:",
            ("r: { source: /x }", "r: { source: /x }"),
        )
    ]


def test_url_change_without_suggested_redirect_prints_no_hint() -> None:
    assert redirect_line(url()) == ""


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a", "`a`"),
        ("", "` `"),
        (" ", "` `"),
        ("`", "`` ` ``"),
        ("a`b", "``a`b``"),
        ("a``b`", "``` a``b` ```"),
        (" a", "` a`"),
        (" a ", "`  a  `"),
        ("a\nb", "`a\\nb`"),
    ],
)
def test_markdown_code_span_escapes_backticks(text: str, span: str) -> None:
    assert code_span(text) == span


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("plain words, it's so: 5 → 6!", "plain words, it's so: 5 → 6!"),
        ("see #5 now", "see `#5` now"),
        ("see @ada.", "see `@ada`."),
        ("(@ada)", "(`@ada`)"),
        ("a @b @c d", "a `@b @c` d"),
        ("1. first", "`1.` first"),
        ("12) first", "`12)` first"),
        ("not 1. first", "not 1. first"),
        ("1234567", "`1234567`"),
        ("123456", "123456"),
        ("abcdefa", "`abcdefa`"),
        ("abcdef", "abcdef"),
        ("a  b", "a b"),
        ("", ""),
        ("*a*", "`*a*`"),
        ("a_b", "`a_b`"),
    ],
)
def test_markdown_prose_marks_special_words_as_code(text: str, markdown: str) -> None:
    assert escape_prose(text) == markdown


def test_html_prose_and_code_are_escaped() -> None:
    assert prose_html('see <b> "it"') == "see <code>&lt;b&gt;</code> &quot;it&quot;"
    assert code_html("<\n>") == "<code>&lt;\\n&gt;</code>"


def test_markdown_fence_is_longer_than_its_content() -> None:
    assert fence(["a"], "diff") == ["```diff", "a", "```"]
    assert fence(["``", "```"], "")[0] == "````"
    assert fence([], "x") == ["```x", "```"]
    assert (longest_run("a``b`"), longest_run("a")) == (2, 0)


@pytest.mark.parametrize(
    ("when", "terminal", "environment", "wanted"),
    [
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm"}, True),
    ],
)
def test_color_decision_by_option_terminal_and_environment(
    when: ColorMode, terminal: bool, environment: dict[str, str], wanted: bool
) -> None:
    class Stream(StringIO):
        def isatty(self) -> bool:
            return terminal

    assert wants_color(when, Stream(), environment) is wanted


@pytest.mark.parametrize(
    ("style", "painted"),
    [
        ("red", "\x1b[31ma\x1b[0m"),
        ("bold", "\x1b[1ma\x1b[0m"),
        ("dim", "\x1b[2ma\x1b[0m"),
        ("red bold", "\x1b[31m\x1b[1ma\x1b[0m"),
        ("", "a"),
    ],
)
def test_paint_applies_color_styles(style: str, painted: str) -> None:
    assert Paint(on=True)("a", style) == painted
    assert Paint(on=True)("", style) == ""
    assert Paint(on=False)("a", style) == "a"
