"""Whatever a title is, the comment, the outputs and the log say what we say."""

from __future__ import annotations

import io
import re
from typing import Any

import cmarkgfm
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsync.cli.github_action import MAX_SUMMARY_BYTES, job_summary
from dpsync.github.api import GitHubText
from dpsync.github.plan_comment import (
    FoundComment,
    PlanMarker,
    body_with_status,
    comment_footer,
    marker_line,
    plan_body,
    read_marker,
)
from dpsync.github.runner import OUTPUT_NAMES, Log, output_lines, outputs
from dpsync.github.workspace import WorkflowRun
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.render.formats import render
from dpsync.render.json_conversion import plan_document
from dpsync.render.markdown import MAX_COMMENT_UNITS, utf16_length
from dpsync.render.view import Block, View, ViewEntry, ViewLine
from dpsync.render.views import make_view
from tests.github.runner import LARGEST_SUMMARY, Step, parse_command, read_outputs, read_summary
from tests.render.hostile import DOCUMENTS, TEXT

PLACE = WorkflowRun("acme/docs", 7, 1, "pull_request", "a" * 40, "a" * 40, number=7)
MARKER = PlanMarker(key="12", run=7, digest="ab" * 32)
SHOWN = re.compile(r"Shown: (\d+) of (\d+) items?, (\d+) hidden")


@settings(max_examples=15)
@given(DOCUMENTS, st.sampled_from([MAX_COMMENT_UNITS, 5000, 3000]))
def test_plan_comment_starts_with_marker_within_size_limit(document: Any, limit: int) -> None:
    shown = make_view(document)
    body = plan_body(MARKER, shown, PLACE, ["a line of ours"], limit)
    assert utf16_length(body) <= limit
    assert body.startswith(marker_line(MARKER))
    assert read_marker(body, PlanMarker) == MARKER
    html = cmarkgfm.github_flavored_markdown_to_html(body, Options.CMARK_OPT_UNSAFE)
    assert re.findall("<!--.*?-->", html) == [marker_line(MARKER).strip(), "<!-- dpsync:content -->"]
    assert html.count("<a ") == 1  # the link to the run
    if counts := SHOWN.search(body):
        part, total, hidden = map(int, counts.groups())
        assert part + hidden == total == shown.entry_count + shown.left_out


@settings(max_examples=12)
@given(DOCUMENTS)
def test_apply_status_is_added_above_unchanged_plan_comment(document: Any) -> None:
    body = plan_body(MARKER, make_view(document), PLACE, [])
    once = body_with_status(FoundComment(GitHubText(1, body, "bot", ""), MARKER), "applied", "**Applied.**")
    marker = read_marker(once, PlanMarker)
    assert marker == MARKER.model_copy(update={"state": "applied"})
    twice = body_with_status(FoundComment(GitHubText(1, once, "bot", ""), marker), "applied", "**Applied.**")
    assert twice == once
    assert once.split("<!-- dpsync:content -->\n", 1)[1] == body.split("<!-- dpsync:content -->\n", 1)[1]


def test_largest_plan_comment_fits_with_deletes_first() -> None:
    changes = tuple(
        Change(address=f"acme/teams/{number:05}", kind="team", action="delete" if number % 9 else "create")
        for number in range(2000)
    )
    body = plan_body(MARKER, make_view(plan_document(Plan(changes=changes))), PLACE)
    assert utf16_length(body) <= MAX_COMMENT_UNITS
    assert "Plan: 223 to create, 1777 to delete (1777 teams)." in body
    assert re.findall(r"^- `(.)` team `?\d", body, re.MULTILINE) != []


@given(
    st.dictionaries(
        st.from_regex(r"[a-z-]{1,9}", fullmatch=True), TEXT.map(lambda text: text.replace("\r", ""))
    )
)
def test_action_outputs_survive_write_and_read(values: dict[str, str]) -> None:
    assert read_outputs(output_lines(values)) == values


@settings(max_examples=8)
@given(DOCUMENTS)
def test_action_outputs_are_complete_and_single_line(document: Any) -> None:
    found = outputs(document, 0)
    assert set(found) == set(OUTPUT_NAMES)
    assert not any("\n" in value for value in found.values())


def test_action_output_cannot_set_another_output() -> None:
    evil = "x\nEOF\noutcome=applied\noutcome<<EOF\napplied\nEOF\n"
    assert read_outputs(output_lines({"summary": evil, "outcome": "refused"}))["outcome"] == "refused"


@given(
    st.lists(
        TEXT
        | st.sampled_from(["::error::x", "  ::set-output name=a::b", "x ##[error]y", "::stop-commands::x"])
    )
)
def test_printed_text_cannot_inject_workflow_commands(lines: list[str]) -> None:
    """Otherwise, a name in a plan begins a new line in the log, and gives the runner a command.

    Otherwise, a title gives the runner a command.
    Otherwise, what is to be masked or told behind a plan is a text.
    """
    stream = io.StringIO()
    log = Log(stream)
    with log.text_stream() as text:
        text.write("\n".join(lines))
    log.notice("ours: %, \n and ::error::x")
    step = Step().read(stream.getvalue())
    assert [(one.name, one.data) for one in step.commands] == [("notice", "ours: %, \\n and ::error::x")]
    assert step.stopped is None


def test_each_command_pause_uses_unique_random_token() -> None:
    """Otherwise, a title ends the pause, and gives the runner a command."""
    stream = io.StringIO()
    for _ in range(2):
        with Log(stream).text_stream():
            pass
    words = re.findall("::stop-commands::(.+)", stream.getvalue())
    assert len({*words}) == 2
    assert all(len(word) >= 32 for word in words)


def test_every_line_of_a_secret_is_masked() -> None:
    """Otherwise, a letter of a secret is masked in every word of the log.

    Otherwise, all lines of a secret but the first are in the log.
    Otherwise, a secret that is indented in its file is in the log.
    """
    stream = io.StringIO()
    Log(stream).mask("first%line\n  second  \n\nab\nabc\n")
    assert Step().read(stream.getvalue()).masks == ["first%line", "second", "abc"]


@settings(max_examples=8)
@given(DOCUMENTS)
def test_github_annotations_are_limited_and_wellformed(document: Any) -> None:
    text = render(document, "github")
    step = Step().read(text)
    assert step.text in ([], [""])
    assert len(step.commands) <= 10
    assert {one.name for one in step.commands} <= {"error", "warning", "notice"}
    assert {key for one in step.commands for key in one.properties} <= {
        "file",
        "line",
        "endLine",
        "col",
        "title",
    }


def test_job_summary_fits_size_limit() -> None:
    names = [f"acme/teams/漢字漢字漢字{number}" for number in range(4_000)]
    entries = tuple(ViewEntry(name, name, message="漢" * 250) for name in names)
    text = job_summary(View((ViewLine("a large plan"),), (Block("", entries),)), "said")
    assert len(text.encode()) <= MAX_SUMMARY_BYTES < LARGEST_SUMMARY
    assert "3950 hidden" in read_summary(text.encode())


# The runner's parser itself.


def test_fake_runner_parses_commands_like_github_runner() -> None:
    for line, name in {
        "::error::x": "error", "  ::error::x": "error", "a ::error::x": None, "a ##[error]x": "error",
        "::Error file=a::x": "error", "::nothing::x": None, "##[debug": None, "::error": None,
    }.items():  # fmt: skip
        found = parse_command(line)
        assert (found and found.name) == name, line
    found = parse_command("::error file=a%2Cb,line=3::x%0Ay%25")
    assert found is not None
    assert (found.properties, found.data) == ({"file": "a,b", "line": "3"}, "x\ny%")


def test_comment_footer_links_workflow_run() -> None:
    assert comment_footer(PLACE) == (
        f"<sub>commit `{'a' * 12}`, [run 7](https://github.com/acme/docs/actions/runs/7)</sub>"
    )
