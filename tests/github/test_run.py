"""What a run of the action refuses, and what it says where GitHub does not do something: plain values."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpsync.github.runner import ActionRun, CommandResult, Inputs, Log
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import FindingsDocument
from tests.github.runner import Step

PLACE = WorkflowRun("acme/docs", 7, 1, "push", "a" * 40, "a" * 40)


def action() -> tuple[ActionRun, io.StringIO]:
    stream = io.StringIO()
    return ActionRun(
        Inputs(), PLACE, Log(stream), lambda *_: CommandResult(0), None, Path("plan.json")
    ), stream


def test_refused_run_exits_with_code_4() -> None:
    """Otherwise, a run that has refused is told as one that did its work.

    Otherwise, the outcome of a run that has refused is that of its plan.
    Otherwise, a name in a plan puts a link into the summary.
    """
    run, stream = action()
    document = FindingsDocument(exit=0)
    refused = run.refuse(
        "not-approved", "[this](https://evil.example) was not approved", CommandResult(0, document)
    )
    assert run.result.refusal is refused
    assert refused == CommandResult(Exit.REFUSED, document)
    assert run.result.outputs == {"outcome": "refused", "failure-reason": "not-approved"}
    assert "`[this](https://evil.example`" in run.result.notes, "as text"
    [said] = Step().read(stream.getvalue()).commands
    assert said.name == "error"


@pytest.mark.parametrize(
    ("status", "quietly", "said"),
    [
        (
            403,
            False,
            "Not told: no. The GitHub token lacks a permission, or the run is for a fork.",
        ),
        (403, True, None),
        (500, False, "Not told: no."),
        (500, True, "Not told: no."),
    ],
)
def test_github_errors_become_notices_during_run(status: int, quietly: bool, said: str | None) -> None:
    """Otherwise, a comment that cannot be written ends an apply's run.

    Otherwise, a fork is told of a permission that it never has, in each run.
    Otherwise, that GitHub has failed is told by nobody.
    Otherwise, a missing permission is not told as one.
    """
    run, stream = action()
    with run.report_github_errors("Not told", quietly):
        raise GitHubError("no", status)
    assert [one.data for one in Step().read(stream.getvalue()).commands] == ([said] if said else [])


def test_internal_error_is_not_reported_as_github_error() -> None:
    """Otherwise, a mistake of dpsync's is passed over as one of GitHub's."""
    run, _ = action()
    with pytest.raises(KeyError), run.report_github_errors("Not told"):
        raise KeyError


def test_notice_escapes_encoded_line_breaks() -> None:
    """Otherwise, a text in a notice begins a new line in the log."""
    run, stream = action()
    run.log.notice("100%0A done%25")
    assert [one.data for one in Step().read(stream.getvalue()).commands] == ["100%0A done%25"]
