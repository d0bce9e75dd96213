"""What is only partly known or done is told as such."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpsync.github.action import run_action_command
from dpsync.github.api import GitHub
from dpsync.github.issues import DriftIssue, Issues
from dpsync.github.plan_comment import DriftMarker, PlanMarker, marker_line, read_marker
from dpsync.github.runner import ActionRun, CommandResult, History, Inputs, Log
from dpsync.github.workspace import WorkflowRun, WorkingCopy, branch_key, plan_key
from dpsync.model.drift import Drift
from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import Plan
from dpsync.render.documents import ApplyDocument
from dpsync.render.json_conversion import drift_document, plan_document
from tests.github.fake_github import REPOSITORY, FakeGitHub

PLACE = WorkflowRun(REPOSITORY, 9, 1, "push", "a" * 40, "a" * 40, branch="main")


@pytest.mark.parametrize(("unread", "state"), [((), "closed"), (("acme/teams",), "open")])
def test_drift_issue_closes_only_after_complete_drift_run(
    unread: tuple[str, ...], state: str, github: FakeGitHub
) -> None:
    """Otherwise, drift that could not be looked for is told as gone."""
    issue = github.issue("Drift", marker_line(DriftMarker(key="12", run=1)))
    client = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql")
    DriftIssue(Issues(client, "12", PLACE, DriftMarker)).record_check(
        drift_document(Drift(unread=unread)), ()
    )
    client.close()
    assert issue["state"] == state


def step(result: Result, sent: bool) -> Outcome:
    return Outcome(step="a step", address="acme", verb="update", result=result, sent=sent)


@pytest.mark.parametrize("sent", [True, False])
def test_stopped_apply_finalizes_comment_but_keeps_approval(
    sent: bool, github: FakeGitHub, tmp_path: Path
) -> None:
    """Otherwise, an apply that was stopped uses the approval up, and the rest needs another review."""
    report = Report(plan="ab", outcomes=(step("done" if sent else "failed", sent), step("not-tried", False)))
    document = ApplyDocument(exit=3, converged=False, plan=plan_document(Plan()), report=report)
    client = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql")
    log = Log(io.StringIO())
    run = ActionRun(Inputs("apply"), PLACE, log, lambda *_: CommandResult(3, document), client, tmp_path)
    run.history = lambda: History((PLACE.github_sha,), (PLACE.github_sha,))
    name = run.inputs.key
    plan = PlanMarker(
        key=plan_key(name, Plan()), name=name, branch=branch_key("main"), run=5, sha=PLACE.sha, digest="ab"
    )
    github.comment(7, marker_line(plan) + "the plan")
    github.merge(PLACE.github_sha, 7)
    github.tips["main"] = PLACE.github_sha
    copy = WorkingCopy(lambda: None, lambda: PLACE.github_sha)
    assert run_action_command(run, copy) == CommandResult(3, document)
    client.close()
    (body,) = github.bodies(7)
    marker = read_marker(body, PlanMarker)
    assert marker is not None
    assert (marker.state, marker.digest, marker.applied) == ("applied", "ab", "")
    steps = "1 step not tried" if sent else "1 step failed, 1 not tried"
    assert f"Nothing was applied: {steps}." in body
    assert body.endswith("the plan")
