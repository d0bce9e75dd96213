"""The command apply: which plans were approved, dpsync apply of exactly that, and what became of it.

Only the last commit of an allowed branch is applied (head.py). What was approved is in the comments of the
pull requests that were merged since the last converged apply (approvals.py). What becomes of it is told
there, too, and the issue of the drift is closed by what converged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from dpsync.github.messages.drift_issue import APPLIED, DriftIssue
from dpsync.github.messages.issues import Issues
from dpsync.github.messages.marker import DriftMarker
from dpsync.github.messages.plan_comment import plan_body, plan_marker, status, with_status
from dpsync.github.permission.approvals import Approval, Approvals, approved
from dpsync.github.permission.comparison import ReviewComparison, compare
from dpsync.github.permission.head import not_the_head
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.run import ActionRun, Ran
from dpsync.model.diagnostic import Exit
from dpsync.model.plan import DIGITS
from dpsync.render.documents import ApplyDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import code
from dpsync.render.views import view

_NAMED: Final = 3
"""Comments that do not count and are named."""


def apply(run: ActionRun, head: Callable[[], str | None]) -> Ran:
    """Carry out what was approved, and tell it. `head` is the commit of the working copy."""
    approvals: Approvals | None = None
    commit = run.place.checked or head()
    stopped = not_the_head(run, commit)
    if stopped is not None or run.github is None:
        return stopped or run.refuse(
            "not-approved", 'dpsync applied nothing, because the input "github-token" is missing.'
        )
    try:
        approvals = Approvals(run.github, run.place, run.inputs.key, run.history())
        approvals.find()
        run.applied = approvals.applied()
    except GitHubError as error:
        trouble = run.trouble("dpsync could not read which plans were approved", error)
        run.log.notice(trouble, "error")
        if run.inputs.approval == "digest":
            return run.refuse(
                "not-approved", "dpsync applied nothing, because the approved plan is not known."
            )
        approvals = None
    ran = _Apply(run, commit or "", approvals).carry_out()
    run.after_apply()
    tell_applied(run, ran, approvals, commit or "")
    return ran


class _Apply(Struct, frozen=True):
    """One apply. `approvals` is None where they could not be read, and where none is needed."""

    run: ActionRun
    commit: str
    approvals: Approvals | None

    def carry_out(self) -> Ran:
        approval = self.run.inputs.approval
        if approval == "none":
            return self.run.dpsync("apply", "--yes")
        if approval != "digest":
            return self.run.dpsync("apply", "--approved", approval)
        assert self.approvals is not None
        return self._of_digest(self.approvals)

    def _of_digest(self, approvals: Approvals) -> Ran:
        """Apply what was reviewed or what is left of it, and nothing else."""
        if len(approvals.known) == len(unused := approvals.unused()) == 1:
            # The plan of one pull request, as a rule: then it need not be made first.
            ran = self.run.dpsync("apply", "--approved", unused[0].found.marker.digest)
            if not _is_other_plan(ran):
                return ran
        ran = self.run.dpsync("plan")
        if not isinstance(ran.document, PlanDocument) or ran.code != Exit.DONE:
            return ran
        plan = ran.document.plan
        compared = compare(approved(approvals.of(plan)), plan)
        if compared.unreviewed:
            for _ in approvals.again():
                compared = compare(approved(approvals.of(plan)), plan)
                if not compared.unreviewed:
                    break
        if not compared.unreviewed:
            stopped = not_the_head(self.run, self.commit)  # time has passed
            return stopped or self.run.dpsync("apply", "--approved", plan.digest)
        if latest := next(iter(approvals.of(plan)), None):
            return self._refuse_other_plan(latest, ran, ran.document, compared)
        why = "".join(f" {reason}." for reason in approvals.others[:_NAMED])
        return self.run.refuse(
            "not-approved",
            f"No merged pull request showed this plan.{why} Review the plan, then run this workflow with "
            f'this value of the input "approval": {plan.digest[:DIGITS]}',
            ran,
        )

    def _refuse_other_plan(
        self, latest: Approval, ran: Ran, document: PlanDocument, compared: ReviewComparison
    ) -> Ran:
        """Refuse the plan that `ran` has made, and show it in another comment, which approves nothing."""
        run, digest = self.run, document.plan.digest[:DIGITS]
        refused = run.refuse(
            "plan-changed",
            f"The plan differs from the reviewed plan: {compared}. Review the new plan, then run this "
            f'workflow with this value of the input "approval": {digest}',
            ran,
            "> [!WARNING]\n> **Refused:** The plan differs from the reviewed plan. Review this plan, then "
            f"run the workflow with this value of the input `approval`: {code(digest)}\n\n"
            f"{compared.markdown()}",
        )
        if run.inputs.comment != "never":
            with run.asking("dpsync could not write the comment"):
                marker, content = plan_marker(run.inputs.key, run.place, document, "refused"), view(document)
                lines = [run.result.notes]
                text = latest.comments.add(lambda size: plan_body(marker, content, run.place, lines, size))
                run.result.outputs["comment-url"] = text.url
        return refused


def _is_other_plan(ran: Ran) -> bool:
    """Whether an apply has refused because the plan is not the approved one."""
    document = ran.document
    return isinstance(document, FindingsDocument) and any(
        one.code == "not-approved" for one in document.findings
    )


def tell_applied(run: ActionRun, ran: Ran, approvals: Approvals | None, commit: str) -> None:
    """Say what became of the plans in their comments, and close the issue of the drift that is gone."""
    document = ran.document
    if not isinstance(document, ApplyDocument) or run.github is None:
        return
    if approvals is not None and run.inputs.comment != "never" and ran.code != Exit.REFUSED:
        for approval in reversed(approvals.of(document.plan.plan)):
            with run.asking("dpsync could not write the comment"):
                run.result.outputs["comment-url"] = _report(run, document, approval, commit)
    if document.converged and run.inputs.drift_issue:
        with run.asking("dpsync could not close the drift issue", quietly=True):
            issues = Issues(run.github, run.inputs.key, run.place, DriftMarker)
            if (issue := DriftIssue(issues).close(APPLIED)) is not None:
                run.result.outputs["issue-url"] = issue.url


def _report(run: ActionRun, document: ApplyDocument, approval: Approval, commit: str) -> str:
    """Freeze the comment of an approval, with how the apply ended. Converged: it is used up by that."""
    line = status(document, run.place)
    if document.converged:
        body = with_status(approval.found, "converged", line, commit)
    else:
        body = with_status(approval.found, "applied", line)
    return approval.comments.github.edit_comment(approval.found.text.number, body).url
