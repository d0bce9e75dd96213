"""What is only partly known or done is told as such."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpsync.github.action import carry_out
from dpsync.github.api import GitHub
from dpsync.github.commands import Log
from dpsync.github.drift_issue import DriftIssue
from dpsync.github.inputs import Inputs
from dpsync.github.issues import Issues
from dpsync.github.marker import DriftMarker, PlanMarker, first_line, read_marker
from dpsync.github.place import Checkout, Place, WorkingCopy
from dpsync.github.run import ActionRun, Ran
from dpsync.model.drift import Drift
from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import Plan
from dpsync.render.documents import ApplyDocument
from dpsync.render.to_document import drift_document, plan_document
from tests.github.fake_github import REPOSITORY, FakeGitHub

PLACE = Place(REPOSITORY, 9, 1, "push", "a" * 40, "a" * 40)


@pytest.mark.parametrize(("unread", "state"), [((), "closed"), (("acme/teams",), "open")])
def test_a_check_that_could_not_read_everything_closes_nothing(
    unread: tuple[str, ...], state: str, github: FakeGitHub
) -> None:
    issue = github.issue("Drift", first_line(DriftMarker(key="12", run=1)))
    client = GitHub(github.url, "token", REPOSITORY)
    DriftIssue(Issues(client, "12", PLACE, DriftMarker)).checked(drift_document(Drift(unread=unread)), ())
    client.close()
    assert issue["state"] == state


def step(result: Result, sent: bool) -> Outcome:
    return Outcome(step="a step", address="acme", verb="update", result=result, sent=sent)


@pytest.mark.parametrize(("sent", "state"), [(True, "applied"), (False, "plan")])
def test_an_apply_that_was_stopped_freezes_the_comment_once_anything_was_sent(
    sent: bool, state: str, github: FakeGitHub, tmp_path: Path
) -> None:
    report = Report(plan="ab", outcomes=(step("done" if sent else "failed", sent), step("not-tried", False)))
    document = ApplyDocument(exit=3, converged=False, plan=plan_document(Plan()), report=report)
    client = GitHub(github.url, "token", REPOSITORY)
    log = Log(io.StringIO())
    run = ActionRun(Inputs("apply"), PLACE, log, lambda *_: Ran(3, document), client, tmp_path)
    github.merge(PLACE.tested, 7)
    github.comment(7, first_line(PlanMarker(key=run.inputs.key, run=5, digest="ab")) + "the plan")
    assert carry_out(run, WorkingCopy(lambda: None, lambda: None, Checkout)) == Ran(3, document)
    client.close()
    (body,) = github.bodies(7)
    marker = read_marker(body, PlanMarker)
    assert marker is not None
    assert (marker.state, marker.digest) == (state, "ab")
    assert f"Applied: {int(sent)} of 2 steps done" in body
    assert body.endswith("the plan")
