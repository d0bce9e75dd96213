"""The command apply: which plan was approved, dpsync apply of exactly that, and what became of it.

What was approved is the digest in the comment of the merged pull request, which plan.py has written there.
What becomes of it is told in the same comment, and the issue of the drift is closed by what converged.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsync.github.comments import Comments
from dpsync.github.compared import Compared, compare
from dpsync.github.drift_issue import APPLIED, DriftIssue
from dpsync.github.issues import Issues
from dpsync.github.marker import DriftMarker, State
from dpsync.github.plan_comment import Found, latest_reviewed, plan_body, plan_marker, status, with_status
from dpsync.github.run import ActionRun, Ran
from dpsync.github.transport import GitHubError
from dpsync.model.diagnostic import Exit
from dpsync.model.plan import DIGITS
from dpsync.render.documents import ApplyDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown_text import code
from dpsync.render.views import view


@dataclass(frozen=True)
class Reviewed:
    """The comment with the plan that was reviewed, among the comments of its pull request."""

    comments: Comments
    comment: Found


def apply(run: ActionRun) -> Ran:
    """Carry out what was approved, and tell it."""
    approval, reviewed = run.inputs.approval, None
    try:
        reviewed = _reviewed(run)
    except GitHubError as error:
        if approval == "digest":
            run.log.notice(f"Which plan was approved could not be read: {error.what}.", "error")
            return run.refuse("not-approved", "it is not known which plan was approved")
    if approval == "none":
        ran = run.dpsync("apply", "--yes")
    elif approval == "digest":
        ran = _apply_reviewed(run, reviewed)
    else:
        ran = run.dpsync("apply", "--approved", approval)
    run.after_apply()
    tell_applied(run, ran, reviewed)
    return ran


def _reviewed(run: ActionRun) -> Reviewed | None:
    """What was reviewed in the pull request whose merge is applied."""
    if run.github is None:
        return None
    number = run.place.number
    if number is None and run.place.tested:
        number = run.github.merged_request(run.place.tested)
    if number is None:
        return None
    comments = Comments(run.github, number, run.inputs.key)
    comment = latest_reviewed(comments.found())
    return Reviewed(comments, comment) if comment is not None else None


def _apply_reviewed(run: ActionRun, reviewed: Reviewed | None) -> Ran:
    """Apply the plan that was reviewed or what is left of it, and nothing else."""
    marker = reviewed.comment.marker if reviewed is not None else None
    if marker is not None and marker.digest:
        ran = run.dpsync("apply", "--approved", marker.digest)
        if not _is_other_plan(ran):
            return ran
    ran = run.dpsync("plan")
    if not isinstance(ran.document, PlanDocument) or ran.code != Exit.DONE:
        return ran
    digest = ran.document.plan.digest
    compared = compare(marker, ran.document.plan)
    if not compared.unreviewed:
        return run.dpsync("apply", "--approved", digest)
    if reviewed is not None and reviewed.comment.marker.digest:
        return _refuse_other_plan(run, reviewed, ran, ran.document, compared)
    return run.refuse(
        "not-approved",
        "no plan of this was reviewed in a merged pull request; look at what would be done, then run "
        f"this again with approval: {digest[:DIGITS]}",
        ran,
    )


def _is_other_plan(ran: Ran) -> bool:
    """Whether an apply has refused because the plan is not the approved one."""
    document = ran.document
    return isinstance(document, FindingsDocument) and any(
        one.code == "not-approved" for one in document.findings
    )


def _refuse_other_plan(
    run: ActionRun, reviewed: Reviewed, ran: Ran, document: PlanDocument, compared: Compared
) -> Ran:
    """Refuse the plan that `ran` has made, and show it in a comment of its own, which approves nothing."""
    digest = document.plan.digest[:DIGITS]
    refused = run.refuse(
        "plan-changed",
        f"this is not the reviewed plan: {compared}; look at the plan of now, then run this again with "
        f"approval: {digest}",
        ran,
        "> [!WARNING]\n> **Refused:** this is not the reviewed plan. Look at it, then run this again "
        f"with approval: {code(digest)}\n\n{compared.markdown()}",
    )
    if run.inputs.comment != "never":
        with run.asking("The comment was not written"):
            marker, content = plan_marker(run.inputs.key, run.place, document, "refused"), view(document)
            lines = [run.result.said]
            text = reviewed.comments.add(lambda size: plan_body(marker, content, run.place, lines, size))
            run.result.outputs["comment-url"] = text.url
    return refused


def tell_applied(run: ActionRun, ran: Ran, reviewed: Reviewed | None) -> None:
    """Say what became of the plan in its comment, and close the issue of the drift that is gone."""
    document = ran.document
    if not isinstance(document, ApplyDocument) or run.github is None:
        return
    if reviewed is not None and run.inputs.comment != "never" and ran.code != Exit.REFUSED:
        with run.asking("The comment was not written"):
            body = with_status(reviewed.comment, _state(document, reviewed), status(document, run.place))
            text = run.github.edit_comment(reviewed.comment.text.number, body)
            run.result.outputs["comment-url"] = text.url
    if document.converged and run.inputs.drift_issue:
        with run.asking("The issue of the drift was not closed", quietly=True):
            issues = Issues(run.github, run.inputs.key, run.place, DriftMarker)
            if (issue := DriftIssue(issues).close(APPLIED)) is not None:
                run.result.outputs["issue-url"] = issue.url


def _state(document: ApplyDocument, reviewed: Reviewed) -> State:
    """What the comment is from now on: frozen as soon as anything of its plan was done."""
    sent = document.report is not None and document.report.sent
    return "applied" if document.converged or sent else reviewed.comment.marker.state
