"""Check that a run uses the right commit, and compare its plan with the reviewed plan.

`refuse_outdated_commit`: only the last commit of an allowed branch may be applied, because a run that was
started again or that waited has older files. `with_current_pull_request`: the event of a comment has only the
number of the pull request, so GitHub names the commit, and a fork is refused. `verify_checked_out_commit`:
the commit comes from the event or from GitHub, never only from .git, which an earlier step may have written.
`compare`: the new plan against the digests of what was reviewed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.github.api import GitHub, PullRequest
from dpsync.github.ids_branch import Branches
from dpsync.github.plan_comment import ShownChange, address_digest, shown_changes_of, shown_exposures
from dpsync.github.runner import ActionRun, CommandResult
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun, WorkingCopy
from dpsync.model.plan import Plan
from dpsync.model.text import format_count, is_or_are, short_commit, shorten_list
from dpsync.render.markdown import code_span, escape_prose
from dpsync.render.view import clip_text


def refuse_outdated_commit(run: ActionRun, commit: str | None) -> CommandResult | None:
    """Refuse to apply a commit that is not the last commit of an allowed branch; return None if it is.

    Without this check, an old job that somebody starts again would undo newer changes.

    Args:
        run: The run of the action.
        commit: The checked-out commit.
    """
    try:
        reason, why = _refusal_reason(run, commit)
    except GitHubError as error:
        why = run.problem_text("dpsync could not read the last commit of the branch", error)
        return run.refuse("not-approved", f"dpsync applied nothing. {why}")
    if not why:
        return None
    return run.refuse(reason, why, outcome="superseded", markdown=f"**Not applied:** {escape_prose(why)}")


def _refusal_reason(run: ActionRun, commit: str | None) -> tuple[str, str]:
    """Return why a commit may not be applied: a word for programs and a sentence; both "" if it may.

    Raises GitHubError.
    """
    if run.github is None:
        raise GitHubError('the input "github-token" is missing')
    branch, allowed = run.workflow_run.branch, run.inputs.branches or (run.github.default_branch(),)
    if branch not in allowed:
        named = f"the branch {branch}" if branch else f"the event {run.workflow_run.event or 'unknown'}"
        return "branch", (
            f'dpsync applied nothing, because this run is for {named}. The input "branches" allows only '
            f"{', '.join(allowed)}{'' if run.inputs.branches else ', the default branch'}."
        )
    head = Branches(run.github, run.workflow_run.repository).head(branch)
    if head is not None and head == commit:
        return "", ""
    return "superseded", (
        f"The checked-out commit ({_short_commit(commit)}) is not the last commit of {branch} "
        f"({_short_commit(head)}). Somebody pushed after the checkout, or somebody started an old job again. "
        "dpsync applied nothing. The run of the newest commit applies all merged changes. If the newest "
        f"commit has no run, start this workflow by hand on {branch}. To check out the last commit, set "
        f"ref: refs/heads/{branch} for actions/checkout."
    )


def _short_commit(commit: str | None) -> str:
    """Return the short id of a commit for messages."""
    return short_commit(commit) if commit else "no commit"


_MAX_NAMED_ADDRESSES: Final = 10


class ReviewComparison(Struct, frozen=True):
    """The comparison of a new plan with what was reviewed.

    `same_count` counts the changes that were reviewed as they are; `changed_otherwise` were reviewed with
    other values. `dropped_count` counts reviewed changes that are no longer needed. `reviewed` is the number
    of reviewed changes; None if nothing was reviewed, and then all are `new`. `exposed` open more access
    than was shown. Tuples contain addresses.
    """

    reviewed: int | None
    same_count: int
    dropped_count: int
    changed_otherwise: tuple[str, ...]
    new: tuple[str, ...]
    exposed: tuple[str, ...] = ()

    @property
    def unreviewed(self) -> bool:
        """Whether the plan would do something that nobody reviewed."""
        return bool(self.changed_otherwise or self.new or self.exposed)

    def __str__(self) -> str:
        """Return the comparison in one sentence, without a period."""
        return ", ".join(
            f"{statement} ({_short_list(addresses, str)})" if addresses else statement
            for statement, addresses in self._sentences()
        )

    def markdown(self) -> str:
        """Return the comparison as a Markdown list."""
        return "\n".join(
            f"- {statement}: {_short_list(addresses, code_span)}" if addresses else f"- {statement}"
            for statement, addresses in self._sentences()
        )

    def _sentences(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the sentences of the comparison, each with the addresses that it is about."""
        if self.reviewed is not None:
            of = format_count(self.reviewed, "reviewed change")
            yield f"{self.same_count} of {of} {is_or_are(self.same_count)} unchanged", ()
        if self.dropped_count:
            yield (
                f"{format_count(self.dropped_count, 'reviewed change')} "
                f"{is_or_are(self.dropped_count)} no longer needed",
                (),
            )
        if self.changed_otherwise:
            were = "was" if len(self.changed_otherwise) == 1 else "were"
            yield (
                f"{format_count(len(self.changed_otherwise), 'change')} {were} reviewed with other values",
                self.changed_otherwise,
            )
        if self.new:
            yield f"{format_count(len(self.new), 'change')} {is_or_are(len(self.new))} new", self.new
        if self.exposed:
            yield "the new plan gives more access than the reviewed plan showed", self.exposed


def compare(reviewed: Collection[ShownChange] | None, plan: Plan) -> ReviewComparison:
    """Compare the changes of a new plan with the changes that reviewed plans showed.

    `reviewed` is None if nothing was reviewed. Changes are compared by digests, because the comments on
    GitHub that show reviewed plans store only digests.
    """
    addresses = tuple(change.address for change in plan.changes)
    if reviewed is None:
        return ReviewComparison(None, 0, 0, (), addresses)
    known = frozenset(reviewed)
    reviewed_addresses = {shown_change.address for shown_change in known if not shown_change.exposes}
    unreviewed = [change for change in plan.changes if not known.issuperset(shown_changes_of(change, plan))]
    other = tuple(
        unreviewed_change.address
        for unreviewed_change in unreviewed
        if address_digest(unreviewed_change.address) in reviewed_addresses
    )
    same = len(addresses) - len(unreviewed)
    return ReviewComparison(
        reviewed=len(reviewed_addresses),
        same_count=same,
        dropped_count=len(reviewed_addresses - {address_digest(address) for address in addresses}),
        changed_otherwise=other,
        new=tuple(
            unreviewed_change.address
            for unreviewed_change in unreviewed
            if address_digest(unreviewed_change.address) not in reviewed_addresses
        ),
        exposed=tuple(
            dict.fromkeys(
                address for address, shown_change in shown_exposures(plan) if shown_change not in known
            )
        ),
    )


def _short_list(addresses: tuple[str, ...], quote: Callable[[str], str]) -> str:
    """Return the first addresses as a list in a sentence, each quoted by `quote` and clipped."""
    return shorten_list([quote(clip_text(address, 100)) for address in addresses], _MAX_NAMED_ADDRESSES)


class UnusableCheckoutError(Exception):
    """The run must not use the working copy. `reason` is a word for programs, `why` a sentence for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(reason, why)
        self.reason = reason
        self.why = why


def with_current_pull_request(
    workflow_run: WorkflowRun, github: GitHub | None, copy: WorkingCopy
) -> WorkflowRun:
    """Complete a run that a comment started with the present state of its pull request.

    The event of a comment contains only the number of the pull request, and the run has secrets. So GitHub
    must confirm that the checked-out commit belongs to this pull request. The comment gets a reaction:
    "eyes", or "confused" if the check fails. If the change comes from a fork, the working copy is not read.

    Raises:
        UnusableCheckoutError: The working copy is not the head of an open pull request of this repository.
    """
    if github is None or workflow_run.number is None:
        raise UnusableCheckoutError(
            "untrusted",
            'dpsync cannot check who wrote the change, because the input "github-token" is missing.',
        )
    try:
        try:
            request = github.pull_request(workflow_run.number)
        except GitHubError as error:
            raise UnusableCheckoutError(
                "untrusted", f"dpsync cannot check who wrote the change: {error.problem}"
            ) from None
        checked = _verified_commit(request, workflow_run, copy)
    except UnusableCheckoutError:
        _add_reaction(github, workflow_run, "confused")
        raise
    _add_reaction(github, workflow_run, "eyes")
    return replace(
        workflow_run,
        sha=request.head,
        base_branch_override=request.base,
        base_branch=request.base,
        verified_commit=checked,
    )


def is_trial_merge(commit: str, request: PullRequest, copy: WorkingCopy) -> bool:
    """Return whether a commit is GitHub's trial merge of the present head of a pull request.

    After a push, GitHub names the previous trial merge for a while, so the merged commit must be the head.
    """
    return commit == request.trial_merge and copy.merged_commit(commit) == request.head


def _verified_commit(request: PullRequest, workflow_run: WorkflowRun, copy: WorkingCopy) -> str:
    """Return the checked-out commit if it is the head of the pull request or GitHub's trial merge of it.

    Raises UnusableCheckoutError for another commit, a fork, and a pull request that is not open.
    """
    if request.repository != workflow_run.repository:
        raise UnusableCheckoutError(
            "untrusted",
            "dpsync does nothing, because this run can read the secrets of the repository and the change "
            "comes from a fork.",
        )
    if not request.open:
        raise UnusableCheckoutError(
            "stale", f"dpsync does nothing, because pull request {workflow_run.number} is no longer open."
        )
    commit = copy.read_head()
    if not commit or (commit != request.head and not is_trial_merge(commit, request, copy)):
        raise UnusableCheckoutError(
            "stale",
            f"The checked-out commit ({short_commit(commit or 'no commit')}) is not the latest commit of "
            f"pull request {workflow_run.number} ({short_commit(request.head)}). If somebody has pushed, "
            "write the comment /dpsync plan again. Otherwise, set "
            f"ref: refs/pull/{workflow_run.number}/merge for actions/checkout.",
        )
    return commit


def _add_reaction(github: GitHub, workflow_run: WorkflowRun, reaction: str) -> None:
    """Add a reaction such as "eyes" to the comment that started the run. Errors of GitHub are ignored."""
    if workflow_run.comment_id is not None:
        with suppress(GitHubError):
            github.add_reaction(workflow_run.comment_id, reaction)


def verify_checked_out_commit(workflow_run: WorkflowRun, github: GitHub | None, copy: WorkingCopy) -> str:
    """Return the checked-out commit if a run with secrets may use it.

    A run for a fork may use only its own commit. Any other run may also use the head of the change, GitHub's
    trial merge of that head, and the last commit of the branch. Raises UnusableCheckoutError.
    """
    commit = copy.read_head()
    if commit and commit == workflow_run.github_sha:
        return commit
    if workflow_run.is_from_fork:
        raise UnusableCheckoutError(
            "untrusted",
            f"A run for the event {workflow_run.event} can read the secrets of this repository, but the "
            "checked-out commit comes from a fork and is not the commit of this run. Run the workflow for "
            "the event pull_request instead.",
        )
    if commit and (commit == workflow_run.head or _is_named_by_github(workflow_run, github, commit, copy)):
        return commit
    expected = (
        [f"the commit of this run ({short_commit(workflow_run.github_sha)})"]
        if workflow_run.github_sha
        else []
    )
    expected += (
        [f"the last commit of the change ({short_commit(workflow_run.head)})"] if workflow_run.head else []
    )
    expected += ["GitHub's test merge of the pull request"] if workflow_run.number is not None else []
    expected += [f"the last commit of {workflow_run.branch}"] if workflow_run.branch else []
    raise UnusableCheckoutError(
        "stale",
        f"A run for the event {workflow_run.event} can read the secrets of this repository, but the "
        f"checked-out commit ({short_commit(commit or 'no commit')}) is not one of these commits: "
        f"{', '.join(expected)}. If somebody has pushed after the checkout, run the workflow again. "
        "Otherwise, check out one of these commits with actions/checkout.",
    )


def _is_named_by_github(
    workflow_run: WorkflowRun, github: GitHub | None, commit: str, copy: WorkingCopy
) -> bool:
    """Return whether a commit is the trial merge of this pull request, or the last commit of the branch.

    GitHub is asked, because the working copy may be forged. Raises UnusableCheckoutError without a token, or
    if the request fails.
    """
    try:
        if github is None:
            raise GitHubError('the input "github-token" is missing')
        if workflow_run.number is not None:
            request = github.pull_request(workflow_run.number)
            ours = request.open and (request.repository, request.head) == (
                workflow_run.repository,
                workflow_run.head,
            )
            if ours and is_trial_merge(commit, request, copy):
                return True
        return (
            bool(workflow_run.branch)
            and Branches(github, workflow_run.repository).head(workflow_run.branch) == commit
        )
    except GitHubError as error:
        raise UnusableCheckoutError(
            "untrusted", f"dpsync cannot check who wrote the change: {error.problem}"
        ) from None
