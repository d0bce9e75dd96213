"""Carry out a run of the GitHub Action: plan, apply, drift or validate.

`run_action_command` checks whose change the run is about. `plan` writes the plan to the comment of the pull
request; if an existing comment cannot be updated, the job fails, because an old plan under a green check
misleads. `apply` takes only the last commit of an allowed branch, and only what was approved in merged pull
requests. `drift` updates the drift issue. A request that GitHub refuses is a notice and changes no exit code,
except for reading approvals and authors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from dpsync.github.api import GitHubText
from dpsync.github.approvals import Approval, Approvals, PlanComments, approved_changes
from dpsync.github.commits import (
    ReviewComparison,
    UnusableCheckoutError,
    compare,
    refuse_outdated_commit,
    verify_checked_out_commit,
    with_current_pull_request,
)
from dpsync.github.issues import DRIFT_APPLIED_TEXT, DriftIssue, FailingChecksIssue, Issues
from dpsync.github.plan_comment import (
    DriftMarker,
    FailingChecksMarker,
    FoundComment,
    apply_status_line,
    body_with_status,
    changed_plan_warning,
    configuration_heading,
    find_rewritable_comment,
    is_worth_comment,
    merge_approvals,
    plan_body,
    plan_comments_with_key,
    plan_marker,
    shown_changes,
    split_into_marker_values,
)
from dpsync.github.runner import STOPPED_EXIT_CODES, ActionRun, CommandResult, failure_reason
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkingCopy
from dpsync.model.diagnostic import Exit
from dpsync.model.plan import APPROVED_DIGEST_DIGITS
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import code_span
from dpsync.render.views import make_view


def plan(run: ActionRun) -> CommandResult:
    """Run `dpsync plan`, save the plan to a file, and show it in a comment of the pull request.

    The run fails if the comment may still show an older plan, even if planning succeeded.
    """
    result = run.run_command("plan", "--out", str(run.plan_file.resolve()))
    if run.plan_file.exists():
        run.result.outputs["plan-file"] = str(run.plan_file)
    if (
        result.document is not None
        and run.inputs.comment != "never"
        and not _report_plan(run, result.document)
    ):
        run.result.outputs["failure-reason"] = "comment"
        return CommandResult(
            Exit.FAILED if result.code in (Exit.DONE, Exit.CHANGES) else result.code, result.document
        )
    return result


def _report_plan(run: ActionRun, document: BaseModel) -> bool:
    """Write the plan to the comment of the pull request, if the run belongs to one.

    Return False if a comment may still show an older plan, because GitHub refused a request.
    """
    if run.github is None or run.workflow_run.number is None:
        return True
    comments = PlanComments(run.github, run.workflow_run.number, run.inputs.key)
    plan_comments: list[FoundComment] | None = None
    try:
        plan_comments = comments.find()
        _write_comment(run, comments, plan_comments, document)
    except GitHubError as error:
        if plan_comments is None:  # a token without permission has written no comment before
            stale = not error.not_allowed
        else:
            stale = find_rewritable_comment(plan_comments) is not None
        message = (
            "The comment in the pull request may show an older plan"
            if stale
            else "dpsync could not write the comment"
        )
        run.log.notice(run.problem_text(message, error), "error" if stale else "notice")
        return not stale
    return True


def _write_comment(
    run: ActionRun, comments: PlanComments, plan_comments: list[FoundComment], document: BaseModel
) -> None:
    """Write or update the comment with the plan, and delete the other comments of earlier runs.

    The marker (the invisible first line of the comment) records what the plan shows and who approved which
    plan. What does not fit into one marker goes into further comments. `plan_comments` are the comments that
    exist already.
    """
    if not comments.github.pull_request(comments.number).open:
        run.log.notice("dpsync did not change the comment, because the pull request is merged or closed.")
        return
    marker = plan_marker(run.inputs.key, run.workflow_run, document)
    plan_comments = plan_comments_with_key(plan_comments, marker.key)
    present = _find_replaced_comment(run, comments, plan_comments)
    approved = dict(present.marker.approved) if present is not None else {}
    with run.report_github_errors("dpsync could not read who approved the pull request", quietly=True):
        approved = merge_approvals(present, comments.github.approvals(comments.number))
    key = marker.key or (present.marker.key if present is not None else "")
    marker = marker.model_copy(update={"approved": approved, "key": key})
    content = make_view(document)
    lines = [configuration_heading(run.inputs.name), changed_plan_warning(approved, marker.digest)]

    def body(size: int) -> str:
        return plan_body(marker, content, run.workflow_run, lines, size)

    worth_it = run.inputs.comment == "always" or is_worth_comment(document)
    decision, text = comments.write(present, marker, body, worth_it)
    if decision.reason:
        run.log.notice(f"dpsync did not change the comment, because {decision.reason}.")
    if text is None:
        return
    run.result.outputs["comment-url"] = text.url
    comments.delete_others(plan_comments, text, marker.age)
    further_values = (
        split_into_marker_values(shown_changes(document.plan))[1:]
        if isinstance(document, PlanDocument)
        else []
    )
    if not decision.reason and (further_values or (present is not None and present.marker.is_full)):
        comments.write_further(marker, further_values)


def _find_replaced_comment(
    run: ActionRun, comments: PlanComments, plan_comments: list[FoundComment]
) -> FoundComment | None:
    """Return the comment of an earlier plan that the new plan replaces; None without one.

    A comment that somebody else edited is deleted and removed from `plan_comments`, because approvals depend
    on comments that only dpsync wrote.
    """
    candidate = find_rewritable_comment(plan_comments)
    if candidate is None:
        return None
    current = comments.find_unedited(candidate)
    if current is None:
        run.log.notice(
            "Somebody else edited the comment. dpsync deletes the comment and writes a new comment.",
            "warning",
        )
        comments.github.delete_comment(candidate.text.number)
        plan_comments.remove(candidate)
        return _find_replaced_comment(run, comments, plan_comments)
    return current


_MAX_NAMED_COMMENTS: Final = 3
"""The largest number of rejected comments that are named."""


def apply(run: ActionRun, head: Callable[[], str | None]) -> CommandResult:
    """Apply the approved plan, and write the result to the pull requests that showed the plan.

    Nothing is applied if the checked-out commit is not the last commit of an allowed branch, or if the
    approvals are needed and cannot be read. `head` returns the checked-out commit.
    """
    approvals: Approvals | None = None
    commit = run.workflow_run.verified_commit or head()
    refusal = refuse_outdated_commit(run, commit)
    if refusal is not None or run.github is None:
        return refusal or run.refuse(
            "not-approved", 'dpsync applied nothing, because the input "github-token" is missing.'
        )
    try:
        approvals = Approvals(run.github, run.workflow_run, run.inputs.key, run.history())
        approvals.find()
        run.applied = approvals.applied_commits()
    except GitHubError as error:
        trouble = run.problem_text("dpsync could not read which plans were approved", error)
        run.log.notice(trouble, "error")
        if run.inputs.approval == "digest":
            return run.refuse(
                "not-approved", "dpsync applied nothing, because the approved plan is not known."
            )
        approvals = None
    result = _Apply(run, commit or "", approvals).carry_out()
    run.after_apply()
    report_applied(run, result, approvals, commit or "")
    return result


class _Apply(Struct, frozen=True):
    """One `dpsync apply` in a run of the action.

    `commit` is the checked-out commit. `approvals` is None if no approvals are needed or they could not be
    read.
    """

    run: ActionRun
    commit: str
    approvals: Approvals | None

    def carry_out(self) -> CommandResult:
        """Apply what the input `approval` allows.

        "none" allows any plan, "digest" the plan that merged pull requests showed, and another value is the
        digest of the approved plan.
        """
        approval = self.run.inputs.approval
        if approval == "none":
            return self.run.run_command("apply", "--yes")
        if approval != "digest":
            return self.run.run_command("apply", "--approved", approval)
        assert self.approvals is not None
        return self._apply_reviewed(self.approvals)

    def _apply_reviewed(self, approvals: Approvals) -> CommandResult:
        """Apply the current plan only if merged pull requests showed each of its changes.

        The current plan may have fewer changes than were shown, for example after an apply that stopped
        halfway. A plan with a change that nobody reviewed is refused.
        """
        if len(approvals.approvals) == len(unused := approvals.unused()) == 1:
            # With only one approval, dpsync itself compares the new plan with the digest of the approved
            # plan. So one command is enough, unless the plans differ.
            result = self.run.run_command("apply", "--approved", unused[0].comment.marker.digest)
            document = result.document
            plans_differ = isinstance(document, FindingsDocument) and any(
                finding.code == "not-approved" for finding in document.findings
            )
            if not plans_differ:
                return result
        result = self.run.run_command("plan")
        if not isinstance(result.document, PlanDocument) or result.code != Exit.DONE:
            return result
        plan = result.document.plan
        compared = compare(approved_changes(approvals.unused_for_plan(plan)), plan)
        if compared.unreviewed:
            for _ in approvals.reread():
                compared = compare(approved_changes(approvals.unused_for_plan(plan)), plan)
                if not compared.unreviewed:
                    break
        if not compared.unreviewed:
            # Somebody may have pushed since the first check.
            refusal = refuse_outdated_commit(self.run, self.commit)
            return refusal or self.run.run_command("apply", "--approved", plan.digest)
        if latest := next(iter(approvals.unused_for_plan(plan)), None):
            return self._refuse_other_plan(latest, result, result.document, compared)
        why = "".join(f" {reason}." for reason in approvals.rejections[:_MAX_NAMED_COMMENTS])
        return self.run.refuse(
            "not-approved",
            f"No merged pull request showed this plan.{why} Review the plan, then run this workflow with "
            f'this value of the input "approval": {plan.digest[:APPROVED_DIGEST_DIGITS]}',
            result,
        )

    def _refuse_other_plan(
        self, latest: Approval, result: CommandResult, document: PlanDocument, compared: ReviewComparison
    ) -> CommandResult:
        """Refuse a plan with changes that nobody reviewed, and show the plan in a new comment.

        The comment goes to the pull request of the latest approval. Its marker has the state "refused", so
        the comment never counts as an approval. `result` is the result of the command that printed the plan.
        """
        run, digest = self.run, document.plan.digest[:APPROVED_DIGEST_DIGITS]
        refused = run.refuse(
            "plan-changed",
            f"The plan differs from the reviewed plan: {compared}. Review the new plan, then run this "
            f'workflow with this value of the input "approval": {digest}',
            result,
            "> [!WARNING]\n> **Refused:** The plan differs from the reviewed plan. Review this plan, then "
            f"run the workflow with this value of the input `approval`: {code_span(digest)}\n\n"
            f"{compared.markdown()}",
        )
        if run.inputs.comment != "never":
            with run.report_github_errors("dpsync could not write the comment"):
                marker, content = (
                    plan_marker(run.inputs.key, run.workflow_run, document, "refused"),
                    make_view(document),
                )
                lines = [run.result.notes]
                text = latest.comments.add(
                    lambda size: plan_body(marker, content, run.workflow_run, lines, size)
                )
                run.result.outputs["comment-url"] = text.url
        return refused


def report_applied(run: ActionRun, result: CommandResult, approvals: Approvals | None, commit: str) -> None:
    """Write the result of an apply to the comments on GitHub that show the approved plans.

    If the apply converged (GitBook now matches the files), the approvals cannot be used again, and the drift
    issue is closed. `commit` is the applied commit. Errors of GitHub are only reported.
    """
    document = result.document
    if not isinstance(document, ApplyDocument) or run.github is None:
        return
    if approvals is not None and run.inputs.comment != "never" and result.code != Exit.REFUSED:
        for approval in reversed(approvals.unused_for_plan(document.plan.plan)):
            with run.report_github_errors("dpsync could not write the comment"):
                line = apply_status_line(document, run.workflow_run)
                if document.converged:
                    body = body_with_status(approval.comment, "converged", line, commit)
                else:
                    body = body_with_status(approval.comment, "applied", line)
                text = approval.comments.github.edit_comment(approval.comment.text.number, body)
                run.result.outputs["comment-url"] = text.url
    if document.converged and run.inputs.drift_issue:
        with run.report_github_errors("dpsync could not close the drift issue", quietly=True):
            issues = Issues(run.github, run.inputs.key, run.workflow_run, DriftMarker)
            if (issue := DriftIssue(issues).close(DRIFT_APPLIED_TEXT)) is not None:
                run.result.outputs["issue-url"] = issue.url


def drift(run: ActionRun) -> CommandResult:
    """Run `dpsync drift`, and report the result in issues of the repository.

    A successful check updates the drift issue; a failed check is counted in the issue about failing checks.
    """
    if run.github is not None:
        with run.report_github_errors("dpsync could not read which commit was applied last", quietly=True):
            approvals = Approvals(run.github, run.workflow_run, run.inputs.key, run.history())
            approvals.find()
            run.applied = approvals.applied_commits()
    result = run.run_command("drift")
    if run.github is None or not run.inputs.drift_issue or result.code in STOPPED_EXIT_CODES:
        return result
    issue: GitHubText | None = None
    key, labels = run.inputs.key, run.inputs.labels
    if isinstance(result.document, DriftDocument) and result.code in (Exit.DONE, Exit.CHANGES):
        with run.report_github_errors("dpsync could not record that the drift check succeeded"):
            issues_about_failures = Issues(run.github, key, run.workflow_run, FailingChecksMarker, labels)
            FailingChecksIssue(issues_about_failures).record_success()
        with run.report_github_errors("dpsync could not update the drift issue"):
            drift_issues = Issues(run.github, key, run.workflow_run, DriftMarker, labels)
            issue = DriftIssue(drift_issues).record_check(result.document, run.inputs.name)
    else:
        with run.report_github_errors("dpsync could not record that the drift check failed"):
            issues_about_failures = Issues(run.github, key, run.workflow_run, FailingChecksMarker, labels)
            issue = FailingChecksIssue(issues_about_failures).record_failure(
                failure_reason(result.document, result.code), result.document, run.inputs.name
            )
    if issue is not None:
        run.result.outputs["issue-url"] = issue.url
    return result


_WITHOUT_SECRETS: Final = (
    "This run has no secrets, because the change comes from a fork or a bot. dpsync therefore makes no plan. "
    "dpsync only checks the files, and compares the files with the base branch."
)


def run_action_command(run: ActionRun, copy: WorkingCopy) -> CommandResult:
    """Run the command of the inputs, and report to GitHub. Return the result of the last command.

    The run is refused if it must not use the working copy. A run without secrets, for example for a fork,
    only validates the files.
    """
    try:
        _check_change(run, copy)
    except UnusableCheckoutError as wrong:
        return run.refuse(wrong.reason, wrong.why)
    command = run.inputs.command
    if command != "validate" and _lacks_secrets(run):
        run.log.notice(_WITHOUT_SECRETS)
        command = "validate"
    match command:
        case "plan":
            return plan(run)
        case "apply":
            return apply(run, copy.read_head)
        case "drift":
            return drift(run)
        case "validate":
            return run.run_command("validate")


def stopped_result(run: ActionRun, last: CommandResult | None, code: int) -> CommandResult:
    """Return the result to report for a run that was stopped, for example by a signal, with an exit code.

    `last` is the result of the last command. If an apply was requested and the last command was only a plan,
    the result of the plan does not count.
    """
    if last is not None and (run.inputs.command != "apply" or isinstance(last.document, ApplyDocument)):
        return last
    return run.result.refusal or CommandResult(code)


def _check_change(run: ActionRun, copy: WorkingCopy) -> None:
    """Raise UnusableCheckoutError if the run must not use the checked-out files.

    A run with secrets could be attacked by files of a fork. So before dpsync reads any file, GitHub must
    confirm which commit the run is about; that commit is stored in `run.workflow_run`.
    """
    if run.workflow_run.is_from_comment:
        run.workflow_run = with_current_pull_request(run.workflow_run, run.github, copy)
    elif run.workflow_run.is_privileged:
        run.workflow_run = replace(
            run.workflow_run, verified_commit=verify_checked_out_commit(run.workflow_run, run.github, copy)
        )
    if (link := copy.find_link()) is not None:
        raise UnusableCheckoutError(
            "untrusted",
            f"{link} is a symbolic link, and a pull request could change its target. In the inputs of the "
            "action, replace the link with the path of its target.",
        )
    if run.inputs.command == "apply" and _lacks_secrets(run):
        raise UnusableCheckoutError("untrusted", "dpsync cannot apply, because this run has no secrets.")


def _lacks_secrets(run: ActionRun) -> bool:
    """Return whether the run has no API token, because a fork or a bot started it."""
    return run.workflow_run.lacks_secrets and not run.inputs.token
