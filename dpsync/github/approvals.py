"""Find the approved plans in the comments of merged pull requests, and write those comments.

`PlanComments` writes the comment of a plan, even if another run does so at the same time. `Approvals` finds
what the pull requests showed that were merged since the last converged apply. A comment counts if this token
wrote it, nobody else ever edited it, and it was written before the merge, for the merged commit and branch.

A converged apply marks the comments that it used up; these and everything merged before them approve nothing
more. Nothing else records the last apply: deleting such a comment takes approvals away, and never adds any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.github.api import CommentAuthorship, GitHub, GitHubText, MergedPullRequest
from dpsync.github.plan_comment import (
    CommentDecision,
    FoundComment,
    FurtherMarker,
    PlanMarker,
    ShownChange,
    decide_comment,
    find_rewritable_comment,
    further_comment_body,
    merge_shown_changes,
    plan_comments_with_key,
    plan_comments_with_name,
    read_marker,
    read_marker_values,
)
from dpsync.github.runner import History
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun, branch_key, plan_key, target_key
from dpsync.model.desired import AppliedCommit, ApplyTarget
from dpsync.model.plan import Plan
from dpsync.model.text import short_commit
from dpsync.render.markdown import MAX_COMMENT_UNITS

BODY_TOO_LONG_STATUS = 422


class PlanComments(Struct, frozen=True):
    """The comments of a pull request for `name`, the key of a configuration."""

    github: GitHub
    number: int
    name: str

    def find(self) -> list[FoundComment]:
        """Return the comments with a plan that the account of the token wrote, oldest first."""
        named = plan_comments_with_name(self.github.comments(self.number), self.name)
        return [comment for comment in named if comment.text.author == self.github.viewer()]

    def find_unedited(self, comment: FoundComment) -> FoundComment | None:
        """Read a comment again, and return it; None if somebody other than this token ever edited it.

        Only unedited comments may become approvals, so GitHub is asked for all edits.
        """
        authorship = self.github.comment_authorship(comment.text)
        marker = read_marker(authorship.body, PlanMarker)
        if marker is None or not authorship.is_only_ours:
            return None
        return FoundComment(
            replace(comment.text, body=authorship.body, updated=authorship.last_edited), marker
        )

    def write(
        self,
        present: FoundComment | None,
        marker: PlanMarker,
        body: Callable[[int], str],
        should_create: bool,
    ) -> tuple[CommentDecision, GitHubText | None]:
        """Write the comment of a plan: edit the present comment, create one, or leave it unchanged.

        Return the decision, and the comment that exists afterwards (None without one). If two runs create a
        comment at the same time, the older comment stays, with the text of the later run.

        Args:
            present: The comment that was there before; None without one.
            marker: The marker of the new body.
            body: Returns the new body, with at most the given number of UTF-16 units.
            should_create: Whether to create a comment if there is none.
        """
        decision = decide_comment(present, marker.age, body(MAX_COMMENT_UNITS), should_create)
        match decision.action:
            case "leave":
                return decision, decision.comment.text if decision.comment else None
            case "edit":
                assert present is not None
                return decision, self._edit_comment(present, body)
        # Fail now if the account of the token is unknown: later runs could not find the comment.
        self.github.viewer()
        created = self.add(body)
        first = find_rewritable_comment(plan_comments_with_key(self.find(), marker.key))
        if first is None or first.text.number >= created.number:
            return decision, created
        self.github.delete_comment(created.number)
        again = decide_comment(first, marker.age, body(MAX_COMMENT_UNITS), should_create)
        if again.action == "leave":
            return again, first.text
        return again, self._edit_comment(first, body)

    def delete_others(
        self, plan_comments: Iterable[FoundComment], kept_comment: GitHubText, age: tuple[int, int]
    ) -> None:
        """Delete other plan comments of earlier runs, for example of a run that was killed.

        `age` is the run number of the present run; comments of later runs and frozen comments stay.
        """
        for other in plan_comments:
            if (
                other.marker.state == "plan"
                and other.text.number != kept_comment.number
                and other.marker.age < age
            ):
                self.github.delete_comment(other.text.number)

    def find_further(self, key: str) -> list[tuple[GitHubText, FurtherMarker]]:
        """Return the further comments of the account of the token, for plans with a key.

        A further comment continues the marker of a plan comment whose plan is too large for one marker.
        """
        further = []
        for text in self.github.comments(self.number):
            marker = read_marker(text.body, FurtherMarker)
            if marker is not None and marker.key == key and text.author == self.github.viewer():
                further.append((text, marker))
        return further

    def write_further(self, marker: PlanMarker, displayed: list[str]) -> None:
        """Replace the further comments of the previous plan by comments with these marker values.

        `displayed` are base64url texts of what the plan showed, one for each comment. Nothing is written if
        the same comments exist already.
        """
        previous = self.find_further(marker.key)
        if [
            further_marker.displayed
            for _, further_marker in previous
            if further_marker.digest == marker.digest
        ] == displayed:
            return
        for part, marker_value in enumerate(displayed, 1):
            self.github.comment(self.number, further_comment_body(marker, part, marker_value))
        for text, old in previous:
            if old.age <= marker.age:
                self.github.delete_comment(text.number)

    def add(self, body: Callable[[int], str]) -> GitHubText:
        """Add a comment to the pull request, even if a plan comment exists already."""
        return self._send_with_fallback(lambda text: self.github.comment(self.number, text), body)

    def _edit_comment(self, comment: FoundComment, body: Callable[[int], str]) -> GitHubText:
        """Replace the body of a comment. `body` returns the new body for a maximum size."""
        return self._send_with_fallback(
            lambda text: self.github.edit_comment(comment.text.number, text), body
        )

    @staticmethod
    def _send_with_fallback(send: Callable[[str], GitHubText], body: Callable[[int], str]) -> GitHubText:
        """Send a body; if GitHub says that the body is too long, send a body of half the size.

        `body` returns a body with at most a number of UTF-16 units. GitHub's limit is not documented exactly.
        """
        try:
            return send(body(MAX_COMMENT_UNITS))
        except GitHubError as error:
            if error.status != BODY_TOO_LONG_STATUS:
                raise
        return send(body(MAX_COMMENT_UNITS // 2))


REREAD_PAUSES_SECONDS: Final = (2.0, 4.0, 8.0, 16.0)
"""The pauses in seconds before GitHub is asked again for pull requests that it may not know yet."""

_FOREIGN_AUTHOR_REASON: Final = "somebody else wrote or edited the comment"


class Approval(Struct, frozen=True):
    """A valid plan comment in a merged pull request: merging it approved what the plan showed.

    `comments` are the comments of the pull request, and `displayed` is everything that the plan showed.
    """

    comments: PlanComments
    comment: FoundComment
    pull_request: MergedPullRequest
    displayed: tuple[ShownChange, ...]


class Approvals(Struct):
    """The approvals for one configuration, newest merge first."""

    github: GitHub
    workflow_run: WorkflowRun
    name: str
    history: History
    approvals: list[Approval] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    """Why comments do not count, as sentences. Comments by other accounts come last."""
    converged_commits: dict[str, str] = field(default_factory=dict)
    """The commit whose apply converged last, by the key of its plan, as far as comments show."""
    commits_without_pull_request: list[str] = field(default_factory=list)
    """The commits without a merged pull request, as far as GitHub knows."""
    _keys_of_merge_commits: set[str] = field(default_factory=set)
    """The keys whose converged commit is only a merge commit, as the branch lacks the applied commit."""
    _read_pull_requests: set[int] = field(default_factory=set)
    _foreign_rejections: dict[str, None] = field(default_factory=dict)
    """Why comments by other accounts do not count, each reason once."""

    def find(self) -> None:
        """Read the approvals from the comments of all merged pull requests in the history.

        The history is read from the newest commit on, and only up to the last converged apply, because older
        approvals are used up. The results of an earlier call are replaced.
        """
        self.approvals, self.rejections, self.converged_commits, self._read_pull_requests = [], [], {}, set()
        self.commits_without_pull_request, self._foreign_rejections, self._keys_of_merge_commits = (
            [],
            {},
            set(),
        )
        for commit in self.history.configuration_commits:
            keys = {approval.comment.marker.key for approval in self.approvals}
            if self.converged_commits and keys <= self.converged_commits.keys():
                break  # nothing older counts for any known key
            requests = [
                merged
                for merged in self.github.merged_pull_requests(commit)
                if merged.base == self.workflow_run.branch and merged.commit in self.history.commits
            ]
            if not requests:
                self.commits_without_pull_request.append(commit)
            for request in requests:
                if request.number not in self._read_pull_requests:
                    self._read_pull_requests.add(request.number)
                    self._read_pull_request(request)
        position = {commit: index for index, commit in enumerate(self.history.commits)}
        self.approvals.sort(key=lambda approval: position[approval.pull_request.commit])
        self.rejections += self._foreign_rejections

    def reread(self) -> Iterator[None]:
        """Find the approvals again after pauses, and yield each time that another pull request was found.

        Right after a merge, GitHub may not know yet which pull request a commit belongs to.
        """
        for seconds in REREAD_PAUSES_SECONDS:
            if not self.commits_without_pull_request:
                return
            self.github.pause(seconds)
            before = self.commits_without_pull_request
            self.find()
            if self.commits_without_pull_request != before:
                yield

    def unused_for_plan(self, plan: Plan) -> list[Approval]:
        """Return the approvals for the platform and organizations of a plan that are not used up.

        See `unused`.
        """
        key = plan_key(self.name, plan)
        return [approval for approval in self.unused() if approval.comment.marker.key == key]

    def unused(self) -> list[Approval]:
        """Return the approvals that can still be applied.

        An approval is used up when an apply of the approved commit, or of a later one, has converged.
        """
        position = self.history.commits.index  # the newest commit is the first
        unused = []
        for approval in self.approvals:
            converged = self.converged_commits.get(approval.comment.marker.key)
            if converged is None or position(converged) > position(approval.pull_request.commit):
                unused.append(approval)
        return unused

    def applied_commits(self) -> tuple[AppliedCommit, ...]:
        """Return the commit that was applied last for each platform and its organizations.

        Each result has a test for the target that the commit belongs to, because markers contain only a hash
        of the platform and the organizations.
        """
        return tuple(
            AppliedCommit(commit, partial(self._target_has_key, key))
            for key, commit in self.converged_commits.items()
            if key not in self._keys_of_merge_commits
        )

    def _target_has_key(self, key: str, target: ApplyTarget) -> bool:
        """Return whether a marker key (a hash) belongs to a platform and its organizations."""
        return key == target_key(self.name, target.url, target.organizations)

    def _read_pull_request(self, request: MergedPullRequest) -> None:
        """Add the approvals of one merged pull request: for each key, its newest valid plan comment.

        A key stands for a platform and its organizations. The reasons against invalid comments are added to
        `rejections`. A comment in the state "converged" also tells which commit was applied.
        """
        comments = PlanComments(self.github, request.number, self.name)
        texts = self.github.comments(request.number)
        latest: dict[str, Approval] = {}
        for comment in plan_comments_with_name(texts, self.name):
            if comment.marker.state == "refused":
                continue
            if comment.text.author != self.github.viewer():
                # Anyone may comment, and each query for the editors of a comment uses up the rate limit.
                self._foreign_rejections[_rejection_sentence(request, _FOREIGN_AUTHOR_REASON)] = None
                continue
            authorship = self.github.comment_authorship(comment.text)
            marker = read_marker(authorship.body, PlanMarker)
            why = self._rejection_reason(authorship, marker, request)
            if why or marker is None:
                self.rejections.append(_rejection_sentence(request, why))
                continue
            if marker.state == "converged" and marker.key not in self.converged_commits:
                # After a forced push, the branch may lack the applied commit.
                known = marker.applied in self.history.commits
                self.converged_commits[marker.key] = marker.applied if known else request.commit
                if not known:
                    self._keys_of_merge_commits.add(marker.key)
            before = latest.get(marker.key)
            if marker.digest and (before is None or before.comment.marker.age <= marker.age):
                displayed = [] if marker.displayed is None else [marker.displayed]
                if marker.is_full:
                    displayed += self._valid_further_values(request, marker, comments)
                comment_read_back = FoundComment(replace(comment.text, body=authorship.body), marker)
                latest[marker.key] = Approval(
                    comments, comment_read_back, request, read_marker_values(displayed)
                )
        self.approvals.extend(latest.values())

    def _valid_further_values(
        self, request: MergedPullRequest, plan: PlanMarker, comments: PlanComments
    ) -> Iterator[str]:
        """Yield the marker values of the valid further comments of a plan.

        Further comments continue the marker of the plan comment if the plan is too large for one marker.
        """
        for text, marker in comments.find_further(plan.key):
            authorship = self.github.comment_authorship(text)
            current_marker = read_marker(authorship.body, FurtherMarker)
            if (
                current_marker == marker
                and marker.digest == plan.digest
                and not _invalid_authorship_reason(authorship, request)
            ):
                yield marker.displayed

    def _rejection_reason(
        self, authorship: CommentAuthorship, marker: PlanMarker | None, request: MergedPullRequest
    ) -> str:
        """Return why a plan comment in a merged pull request is no approval; "" if it is one.

        The comment must be written by this token only, before the merge, for the merged commit and branch.
        """
        if why := _invalid_authorship_reason(
            authorship, request, marker is not None and marker.state in ("applied", "converged")
        ):
            return why
        if marker is None:
            return "the comment no longer contains the plan data that dpsync wrote"
        if marker.sha != request.head:
            planned = short_commit(marker.sha) or "none"
            return f"the comment is for commit {planned}, but commit {short_commit(request.head)} was merged"
        if marker.branch != branch_key(self.workflow_run.branch):
            return f"the plan in the comment is not for the branch {self.workflow_run.branch}"
        return ""


def approved_changes(approvals: list[Approval]) -> frozenset[ShownChange] | None:
    """Return everything that the approved plans showed together; None without approvals.

    The approvals are ordered from the newest to the oldest. If two plans showed the same object or field, the
    newer plan counts.
    """
    return merge_shown_changes(approval.displayed for approval in reversed(approvals)) if approvals else None


def _rejection_sentence(request: MergedPullRequest, why: str) -> str:
    """Return the sentence that says why the plan in a pull request does not count."""
    return f"dpsync does not accept the plan in pull request {request.number}, because {why}"


def _invalid_authorship_reason(
    authorship: CommentAuthorship, request: MergedPullRequest, by_an_apply: bool = False
) -> str:
    """Return why the author or the time of a comment is invalid; "" if both are valid.

    Args:
        by_an_apply: Whether an apply accepted the comment and later wrote its result into it.
    """
    if not authorship.is_only_ours:
        return _FOREIGN_AUTHOR_REASON
    if not authorship.created < request.merged_at or not (
        by_an_apply or authorship.last_edited < request.merged_at
    ):
        return "the comment was written or edited after the merge"
    return ""
