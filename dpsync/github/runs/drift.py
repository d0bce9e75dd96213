"""The command drift: dpsync drift, the issue of the drift, and the issue that nobody looks for drift."""

from __future__ import annotations

from dpsync.github.messages.drift_issue import DriftIssue
from dpsync.github.messages.issues import Issues
from dpsync.github.messages.marker import DriftMarker, WatchMarker
from dpsync.github.messages.watch_issue import Watch
from dpsync.github.permission.approvals import Approvals
from dpsync.github.requests.api import GitHub, GitHubText
from dpsync.github.runner.outputs import STOPPED, failure
from dpsync.github.runner.run import ActionRun, Ran
from dpsync.model.diagnostic import Exit
from dpsync.render.documents import DriftDocument


def drift(run: ActionRun) -> Ran:
    """Check for drift, and bring its issue up to date."""
    if run.github is not None:
        with run.asking("dpsync could not read which commit was applied last", quietly=True):
            approvals = Approvals(run.github, run.place, run.inputs.key, run.history())
            approvals.find()
            run.applied = approvals.applied()
    ran = run.dpsync("drift")
    if run.github is None or not run.inputs.drift_issue or ran.code in STOPPED:
        return ran
    if isinstance(ran.document, DriftDocument) and ran.code in (Exit.DONE, Exit.CHANGES):
        issue = _checked(run, run.github, ran.document)
    else:
        issue = _failed(run, run.github, ran)
    if issue is not None:
        run.result.outputs["issue-url"] = issue.url
    return ran


def _checked(run: ActionRun, github: GitHub, document: DriftDocument) -> GitHubText | None:
    """After a check that was made: the issue of the drift, if it says anything new."""
    with run.asking("dpsync could not record that the drift check succeeded"):
        _watch(run, github).works()
    with run.asking("dpsync could not update the drift issue"):
        issues = Issues(github, run.inputs.key, run.place, DriftMarker, run.inputs.labels)
        return DriftIssue(issues).checked(document, run.inputs.name)
    return None


def _failed(run: ActionRun, github: GitHub, ran: Ran) -> GitHubText | None:
    """After a check that has failed: the issue that says so, if too many have by now."""
    with run.asking("dpsync could not record that the drift check failed"):
        return _watch(run, github).failed(failure(ran.document, ran.code), ran.document, run.inputs.name)
    return None


def _watch(run: ActionRun, github: GitHub) -> Watch:
    return Watch(Issues(github, run.inputs.key, run.place, WatchMarker, run.inputs.labels))
