"""Carry out a run of the action: plan, apply, drift or validate.

`carry_out` checks whose change the run is about, and runs the command of the inputs.

- plan: plan, and write the plan to the comment of the pull request. If an existing comment cannot be updated,
  the job fails, because an old plan under a green check misleads.
- apply: only the last commit of an allowed branch (commits.py), and only what was approved in merged pull
  requests (approvals.py). The result goes into the comments.
- drift: check, and update the drift issue and the issue about failing checks.

A request that GitHub refuses is a notice and changes no exit code, except for reading approvals and authors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from dpsync.github.api import GitHub, GitHubText
from dpsync.github.approvals import Approval, Approvals, Comments, approved
from dpsync.github.commits import (
    NotThisChange,
    ReviewComparison,
    asked_for,
    checked_commit,
    compare,
    not_the_head,
)
from dpsync.github.issues import APPLIED, DriftIssue, Issues, Watch
from dpsync.github.plan_comment import (
    DriftMarker,
    FoundComment,
    WatchMarker,
    changed_since,
    heading,
    marker_values,
    of_key,
    plan_body,
    plan_marker,
    remembered,
    rewritable,
    shown_by,
    status,
    with_status,
    worth_telling,
)
from dpsync.github.runner import STOPPED, ActionRun, Ran, failure
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkingCopy
from dpsync.model.diagnostic import Exit
from dpsync.model.plan import DIGITS
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import code
from dpsync.render.views import view


def plan(run: ActionRun) -> Ran:
    """Save a plan, and show it in the pull request."""
    ran = run.dpsync("plan", "--out", str(run.plan_file.resolve()))
    if run.plan_file.exists():
        run.result.outputs["plan-file"] = str(run.plan_file)
    if ran.document is not None and run.inputs.comment != "never" and not _report_plan(run, ran.document):
        run.result.outputs["failure-reason"] = "comment"
        return Ran(Exit.FAILED if ran.code in (Exit.DONE, Exit.CHANGES) else ran.code, ran.document)
    return ran


def _report_plan(run: ActionRun, document: BaseModel) -> bool:
    """Write the plan to the pull request. Return False if a comment may still show an older plan."""
    if run.github is None or run.place.number is None:
        return True
    comments = Comments(run.github, run.place.number, run.inputs.key)
    found: list[FoundComment] | None = None
    try:
        found = comments.found()
        _write_comment(run, comments, found, document)
    except GitHubError as error:
        stale = not error.not_allowed if found is None else rewritable(found) is not None
        what = (
            "The comment in the pull request may show an older plan"
            if stale
            else "dpsync could not write the comment"
        )
        run.log.notice(run.trouble(what, error), "error" if stale else "notice")
        return not stale
    return True


def _write_comment(
    run: ActionRun, comments: Comments, found: list[FoundComment], document: BaseModel
) -> None:
    """Update the comment, and delete the other comments of earlier runs."""
    if not comments.github.pull_request(comments.number).open:
        run.log.notice("dpsync did not change the comment, because the pull request is merged or closed.")
        return
    marker = plan_marker(run.inputs.key, run.place, document)
    found = of_key(found, marker.key)
    present = _comment_to_rewrite(run, comments, found)
    approved = _approved(run, comments, present)
    key = marker.key or (present.marker.key if present is not None else "")
    marker = marker.model_copy(update={"approved": approved, "key": key})
    content = view(document)
    lines = [heading(run.inputs.name), changed_since(approved, marker.digest)]

    def body(size: int) -> str:
        return plan_body(marker, content, run.place, lines, size)

    worth_it = run.inputs.comment == "always" or worth_telling(document)
    decision, text = comments.write(present, marker, body, worth_it)
    if decision.why:
        run.log.notice(f"dpsync did not change the comment, because {decision.why}.")
    if text is None:
        return
    run.result.outputs["comment-url"] = text.url
    comments.drop_others(found, text, marker.age)
    rest = marker_values(shown_by(document.plan))[1:] if isinstance(document, PlanDocument) else []
    if not decision.why and (rest or (present is not None and present.marker.full)):
        comments.write_rest(marker, rest)


def _comment_to_rewrite(run: ActionRun, comments: Comments, found: list[FoundComment]) -> FoundComment | None:
    """Return the comment that the plan replaces; None without one.

    A comment that somebody else edited is deleted.
    """
    candidate = rewritable(found)
    if candidate is None:
        return None
    current = comments.ours(candidate)
    if current is None:
        run.log.notice(
            "Somebody else edited the comment. dpsync deletes the comment and writes a new comment.",
            "warning",
        )
        comments.github.delete_comment(candidate.text.number)
        found.remove(candidate)
        return _comment_to_rewrite(run, comments, found)
    return current


def _approved(run: ActionRun, comments: Comments, before: FoundComment | None) -> dict[str, str]:
    """Return the digest of the plan that each approver approved, for the marker."""
    with run.asking("dpsync could not read who approved the pull request", quietly=True):
        return remembered(before, comments.github.approvals(comments.number))
    return dict(before.marker.approved) if before is not None else {}


_NAMED: Final = 3
"""The largest number of rejected comments that are named."""


def apply(run: ActionRun, head: Callable[[], str | None]) -> Ran:
    """Apply what was approved, and report the result. `head` returns the commit of the working copy."""
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
    """One apply. `approvals` is None if no approvals are needed or they could not be read."""

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
        return self._apply_reviewed(self.approvals)

    def _apply_reviewed(self, approvals: Approvals) -> Ran:
        """Apply the reviewed plan, or what is left of it, and nothing else."""
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
        """Refuse the plan that `ran` printed, and show it in another comment, which approves nothing."""
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
    """Return whether an apply refused because the plan is not the approved one."""
    document = ran.document
    return isinstance(document, FindingsDocument) and any(
        one.code == "not-approved" for one in document.findings
    )


def tell_applied(run: ActionRun, ran: Ran, approvals: Approvals | None, commit: str) -> None:
    """Write the result of an apply to the comments of its plans. If it converged, close the drift issue."""
    document = ran.document
    if not isinstance(document, ApplyDocument) or run.github is None:
        return
    if approvals is not None and run.inputs.comment != "never" and ran.code != Exit.REFUSED:
        for approval in reversed(approvals.of(document.plan.plan)):
            with run.asking("dpsync could not write the comment"):
                run.result.outputs["comment-url"] = _report_apply(run, document, approval, commit)
    if document.converged and run.inputs.drift_issue:
        with run.asking("dpsync could not close the drift issue", quietly=True):
            issues = Issues(run.github, run.inputs.key, run.place, DriftMarker)
            if (issue := DriftIssue(issues).close(APPLIED)) is not None:
                run.result.outputs["issue-url"] = issue.url


def _report_apply(run: ActionRun, document: ApplyDocument, approval: Approval, commit: str) -> str:
    """Freeze the comment of an approval with the result of the apply.

    If it converged, the approval is used up.
    """
    line = status(document, run.place)
    if document.converged:
        body = with_status(approval.found, "converged", line, commit)
    else:
        body = with_status(approval.found, "applied", line)
    return approval.comments.github.edit_comment(approval.found.text.number, body).url


def drift(run: ActionRun) -> Ran:
    """Check for drift, and update the drift issue."""
    if run.github is not None:
        with run.asking("dpsync could not read which commit was applied last", quietly=True):
            approvals = Approvals(run.github, run.place, run.inputs.key, run.history())
            approvals.find()
            run.applied = approvals.applied()
    ran = run.dpsync("drift")
    if run.github is None or not run.inputs.drift_issue or ran.code in STOPPED:
        return ran
    if isinstance(ran.document, DriftDocument) and ran.code in (Exit.DONE, Exit.CHANGES):
        issue = _update_issue(run, run.github, ran.document)
    else:
        issue = _report_failure(run, run.github, ran)
    if issue is not None:
        run.result.outputs["issue-url"] = issue.url
    return ran


def _update_issue(run: ActionRun, github: GitHub, document: DriftDocument) -> GitHubText | None:
    """After a check that was made: the issue of the drift, if it says anything new."""
    with run.asking("dpsync could not record that the drift check succeeded"):
        _watch(run, github).works()
    with run.asking("dpsync could not update the drift issue"):
        issues = Issues(github, run.inputs.key, run.place, DriftMarker, run.inputs.labels)
        return DriftIssue(issues).checked(document, run.inputs.name)
    return None


def _report_failure(run: ActionRun, github: GitHub, ran: Ran) -> GitHubText | None:
    """Count a failed check. Return the issue about failing checks if it is open."""
    with run.asking("dpsync could not record that the drift check failed"):
        return _watch(run, github).failed(failure(ran.document, ran.code), ran.document, run.inputs.name)
    return None


def _watch(run: ActionRun, github: GitHub) -> Watch:
    return Watch(Issues(github, run.inputs.key, run.place, WatchMarker, run.inputs.labels))


_WITHOUT_SECRETS: Final = (
    "This run has no secrets, because the change comes from a fork or a bot. dpsync therefore makes no plan. "
    "dpsync only checks the files, and compares the files with the base branch."
)


def carry_out(run: ActionRun, copy: WorkingCopy) -> Ran:
    """Run the command of the inputs, and report to GitHub. Return the result of the last command."""
    try:
        _check_change(run, copy)
    except NotThisChange as wrong:
        return run.refuse(wrong.reason, wrong.why)
    command = run.inputs.command
    if command != "validate" and _has_no_secrets(run):
        run.log.notice(_WITHOUT_SECRETS)
        command = "validate"
    match command:
        case "plan":
            return plan(run)
        case "apply":
            return apply(run, copy.head)
        case "drift":
            return drift(run)
        case "validate":
            return run.dpsync("validate")


def stopped(run: ActionRun, last: Ran | None, code: int) -> Ran:
    """Return the result of a run that was stopped with an exit code.

    If an apply was requested and the last command was only a plan, the result of the plan does not count.
    """
    if last is not None and (run.inputs.command != "apply" or isinstance(last.document, ApplyDocument)):
        return last
    return run.result.refused or Ran(code)


def _check_change(run: ActionRun, copy: WorkingCopy) -> None:
    """Raise NotThisChange if the run must not use the working copy.

    GitHub says who wrote the files before any of them is read.
    """
    if run.place.asked:
        run.place = asked_for(run.place, run.github, copy)
    elif run.place.privileged:
        run.place = replace(run.place, checked=checked_commit(run.place, run.github, copy))
    if (link := copy.link()) is not None:
        raise NotThisChange(
            "untrusted",
            f"{link} is a symbolic link, and a pull request could change its target. In the inputs of the "
            "action, replace the link with the path of its target.",
        )
    if run.inputs.command == "apply" and _has_no_secrets(run):
        raise NotThisChange("untrusted", "dpsync cannot apply, because this run has no secrets.")


def _has_no_secrets(run: ActionRun) -> bool:
    return run.place.helpless and not run.inputs.token
