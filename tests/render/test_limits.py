"""How much each format tells of what is long: all of it up to its limit, and one more is cut and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dpsync.model.change import Difference
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.drift import Drift, Drifted, Renamed
from dpsync.model.nodes import Span
from dpsync.model.plan import Estimate, Plan, Unproven
from dpsync.model.question import Refusal
from dpsync.render.ci_reports import as_annotations, as_codequality, as_junit, as_sarif
from dpsync.render.formats import FormatOptions, render
from dpsync.render.html import as_page
from dpsync.render.json_conversion import drift_document, plan_document
from dpsync.render.markdown import render_markdown
from dpsync.render.paint import Paint
from dpsync.render.plan_words import base_text
from dpsync.render.report_words import estimate_text, unverifiable_text
from dpsync.render.selected_findings import select_findings
from dpsync.render.shown_values import diff_lines
from dpsync.render.view import Blocks, Sentence, View, ViewEntry, ViewField, ViewLine, clip_text
from dpsync.render.view_text import TextWriter
from dpsync.render.views import make_view

HOW = FormatOptions()


def of(*entries: ViewEntry) -> View:
    blocks = Blocks()
    blocks.add("late", "Late", "error", entries, fails=True)
    return View((ViewLine("A verdict."),), tuple(blocks.blocks))


def late(address: str, message: str = "late", **more: Any) -> ViewEntry:
    return ViewEntry(address, address, message=message, **more)


def worded(number: int) -> View:
    return of(late("acme", all_sentences=tuple(Sentence(f"word {n}") for n in range(number))))


def annotation(view: View) -> list[str]:
    return as_annotations(view, HOW).split("%0A")[1:]


def message(view: View) -> list[str]:
    (run,) = json.loads(as_sarif(view, HOW))["runs"]
    return str(run["results"][0]["message"]["text"]).split("\n")[1:]


def case(view: View) -> list[str]:
    return as_junit(view, HOW).partition("<failure")[2].partition(">")[2].partition("<")[0].split("\n")


@pytest.mark.parametrize(("written", "most"), [(annotation, 12), (message, 50), (case, 200)])
def test_long_entry_body_is_cut_at_format_limit(written: Callable[[View], list[str]], most: int) -> None:
    assert written(worded(most))[-1] == f"word {most - 1}"
    cut = written(worded(most + 1))
    assert (len(cut), cut[-2:]) == (most, [f"word {most - 2}", "… 2 more lines"])


def test_single_line_text_is_cut_at_300_characters() -> None:
    assert clip_text("x" * 300) == "x" * 300
    assert clip_text("x" * 301) == "x" * 299 + "…"


def title(view: View) -> str:
    return as_annotations(view, HOW).partition("title=")[2].partition("::")[0]


def test_annotation_title_is_cut_at_200_characters() -> None:
    assert title(of(late("x" * 200))) == "x" * 200
    assert title(of(late("x" * 201))) == "x" * 199 + "…"


def test_code_quality_description_is_cut_at_1000_characters() -> None:
    def said(length: int) -> str:
        entry = late("", all_sentences=(Sentence("x" * (length - len("late; "))),))
        (found,) = json.loads(as_codequality(of(entry), HOW))
        return str(found["description"]).removesuffix(" (not on a line in your files)")

    assert said(1000) == "late; " + "x" * 994
    assert said(1001) == "late; " + "x" * 993 + "…"


def test_github_annotations_are_limited_to_nine() -> None:
    def told(number: int) -> list[str]:
        return as_annotations(of(*(late(f"acme/{n}") for n in range(number))), HOW).split("\n")

    assert len(told(9)) == 9
    assert not any("more" in line for line in told(9))
    assert (len(told(10)), told(10)[-1].rpartition("::")[2][:18]) == (10, "1 more annotation ")


def test_html_titles_and_values_are_cut_after_1000() -> None:
    entry = late("acme", "g" * 1001, fields=(ViewField("a", "b" * 1001, "c" * 1000),))
    page = as_page(of(entry), HOW)
    for cut, whole in (("g" * 999 + "…", "g" * 1000), ("b" * 999 + "…", "b" * 1000)):
        assert cut in page
        assert whole not in page
    assert "c" * 1000 in page


def test_markdown_comment_is_cut_after_60000_units() -> None:
    def is_whole(length: int) -> bool:
        return "Shown:" not in render_markdown(View((ViewLine("x" * (length - len("### "))),)))

    assert (is_whole(60_000), is_whole(60_001)) == (True, False)


def test_tiny_markdown_comment_shows_only_counts() -> None:
    text = render_markdown(of(late("acme", "late" * 100)), limit=10)
    assert "\n- Late (1 item)\n" in text
    assert "Shown: 0 of 1 item, 1 hidden" in text


def test_markdown_without_bodies_has_one_line_per_entry() -> None:
    text = render_markdown(of(late("acme", all_sentences=(Sentence("be early"),))), bodies=False)
    assert "\n- acme: late\n" in text
    assert "early" not in text


@pytest.mark.parametrize(("number", "folded"), [(8, False), (9, True)])
def test_markdown_folds_bodies_over_eight_lines(number: int, folded: bool) -> None:
    assert ("<details>" in render_markdown(worded(number))) is folded


def test_oversized_markdown_cuts_bodies_to_twenty_lines() -> None:
    def told(number: int) -> list[str]:
        text = render_markdown(worded(number), limit=len(render_markdown(worded(number))) - 1)
        return [line.strip() for line in text.split("\n") if "word " in line or "more line" in line]

    cut = told(21)
    assert (len(cut), cut[-1]) == (20, "… 2 more lines")


def test_oversized_markdown_lists_only_first_fifty_entries() -> None:
    entries = tuple(late(f"acme/teams/{n:03}", "late" * 20) for n in range(60))
    text = render_markdown(of(*entries), limit=5_500, bodies=False)
    assert "\n50 of 60:\n" in text
    assert "\n- `acme/teams`: 60\n" in text
    assert text.count("\n- `acme/teams/0") == 50
    assert "Shown: 50 of 60 items, 10 hidden" in text


@pytest.mark.parametrize("format_", ["json", "sarif", "codequality"])
def test_json_output_is_indented_by_two_spaces(format_: str) -> None:
    text = render(plan_document(Plan(platform="http://x")), format_)
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False)


def test_value_difference_is_cut_to_twenty_lines() -> None:
    wide = Difference(field="x", after="\n".join(["a" * 100, "b" * 101, *"c" * 18]))
    first, second, *rest = diff_lines(wide)
    assert (first, second) == ("+ " + "a" * 100, "+ " + "b" * 99 + "…")
    assert rest == ["+ c"] * 18


def test_text_output_lists_five_candidates_of_question() -> None:
    words = tuple(Sentence(f"choice {n}", is_candidate=True) for n in range(6))
    text = TextWriter(Paint(on=False)).view(of(late("acme", "which", all_sentences=words)))
    assert "      - choice 4\n      - and 1 more (-v lists them)" in text
    assert "choice 5" not in text


@pytest.mark.parametrize(("number", "more"), [(5, []), (6, ["and 1 more candidate"])])
def test_drift_of_missing_entry_lists_five_rename_candidates(number: int, more: list[str]) -> None:
    could_be = tuple(Renamed(address=f"acme/teams/[T{n}]", id=f"t{n}", label=f"T{n}") for n in range(number))
    found = Drifted(address="acme/teams/t", kind="team", what="missing", renamed=could_be)
    (entry,) = make_view(drift_document(Drift(found=(found,))))
    assert [word.text for word in entry.all_sentences[1:-2]] == [*(f'"T{n}" (t{n})' for n in range(5)), *more]


def test_findings_are_limited_to_200_in_line_order() -> None:
    findings = [Diagnostic(f"DP{n % 7}", str(n), Span("a.yaml", n, 1, n, 2)) for n in range(202, 0, -1)]
    shown, left_out = select_findings([Diagnostic("DP9", "without a place"), *findings])
    assert [one.message for one in shown] == [str(n) for n in range(1, 201)]
    assert left_out == {"DP5": 1, "DP6": 1, "DP9": 1}


def test_base_commit_is_shown_with_twelve_digits() -> None:
    assert base_text(Plan(base="0123456789abcdef", base_from="HEAD")) == "base: HEAD (0123456789ab)"


def test_unverifiable_rehearsal_items_are_all_named() -> None:
    item = Unproven(what="public", message="not seen", about=tuple("abcd"))
    assert unverifiable_text(item) == "not seen: a, b, c, d"


def test_rehearsal_latency_is_shown_in_milliseconds() -> None:
    estimate = Estimate(seconds=9, reading=2, writing=5, latency=1, parallelism=4)
    assert "4 steps in parallel, 1000 ms per request" in estimate_text(estimate)


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "github", "sarif", "junit"])
def test_refusal_resolution_is_complete_in_every_format(format_: str) -> None:
    """Otherwise, the line that a person copies into the policy ends with "…"."""
    line = f"removed: [{', '.join(f'spaces/old-{number}' for number in range(150))}]"
    refusal = Refusal(code="content", address="acme", message="it would be deleted", way_out=f"add {line}")
    text = render(plan_document(Plan(refusals=(refusal,))), format_, FormatOptions())
    assert line.partition("[")[2].rstrip("]") in text.replace("`", "")
