"""Find the approvals of a plan in comments.

Brings the comments of a pull request to what plan_comment.py decides, whoever else writes meanwhile.

What was approved: what the pull requests have shown that were merged since the last converged apply.

A comment counts if this token has written it, nobody else has ever edited it, and it was written before the
merge, for the commit and the branch that were merged. An apply that has converged says so in the comments
that it has used up; they and all that was merged before them approve nothing any more. So where the last one
stands is known without anything that could be moved: whoever deletes such a comment takes approvals away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.github.api import GitHub, GitHubText, MergedPullRequest, Written
from dpsync.github.plan_comment import (
    Decision,
    FoundComment,
    PlanMarker,
    RestMarker,
    Shown,
    comments_named,
    decide,
    latest_shown,
    of_key,
    read_marker,
    rest_body,
    rewritable,
    shown_in,
)
from dpsync.github.runner import History
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun, branch_key, plan_key, target_key
from dpsync.model.desired import AppliedCommit, Target
from dpsync.model.plan import Plan
from dpsync.model.text import short_commit
from dpsync.render.markdown import COMMENT

TOO_LONG = 422


class Comments(Struct, frozen=True):
    """The comments of one pull request, for a name: what a plan was asked for."""

    github: GitHub
    number: int
    name: str

    def found(self) -> list[FoundComment]:
        """Ours, the oldest first. Whoever else writes a marker has written a text."""
        found = comments_named(self.github.comments(self.number), self.name)
        return [one for one in found if one.text.author == self.github.viewer()]

    def ours(self, found: FoundComment) -> FoundComment | None:
        """A comment as it is now; None where somebody else has ever edited it."""
        written = self.github.written(found.text)
        marker = read_marker(written.body, PlanMarker)
        if marker is None or not written.ours:
            return None
        return FoundComment(replace(found.text, body=written.body, updated=written.last), marker)

    def write(
        self, present: FoundComment | None, marker: PlanMarker, body: Callable[[int], str], worth_it: bool
    ) -> tuple[Decision, GitHubText | None]:
        """One comment for the key: edited, made, or left alone. `body` makes it for a size.

        `present` is the one that was there a moment ago. Where two runs make one at once, the oldest stays,
        and the later run's text with it.
        """
        decision = decide(present, marker.age, body(COMMENT), worth_it)
        match decision.what:
            case "leave":
                return decision, decision.found.text if decision.found else None
            case "edit":
                assert present is not None
                return decision, self._edit(present, body)
        self.github.viewer()  # else nobody would know again whose comment it is
        made = self.add(body)
        first = rewritable(of_key(self.found(), marker.key))
        if first is None or first.text.number >= made.number:
            return decision, made
        self.github.delete_comment(made.number)
        again = decide(first, marker.age, body(COMMENT), worth_it)
        if again.what == "leave":
            return again, first.text
        return again, self._edit(first, body)

    def drop_others(self, found: Iterable[FoundComment], kept: GitHubText, age: tuple[int, int]) -> None:
        """Delete what earlier runs have left beside the one comment, as one that was killed does."""
        for other in found:
            if other.marker.state == "plan" and other.text.number != kept.number and other.marker.age < age:
                self.github.delete_comment(other.text.number)

    def rest(self, key: str) -> list[tuple[GitHubText, RestMarker]]:
        """Our further comments of plans with this key, which hold what their first ones have no room for."""
        found = []
        for text in self.github.comments(self.number):
            marker = read_marker(text.body, RestMarker)
            if marker is not None and marker.key == key and text.author == self.github.viewer():
                found.append((text, marker))
        return found

    def write_rest(self, marker: PlanMarker, displayed: list[str]) -> None:
        """The further comments of a plan, in place of those of the plan before it."""
        found = self.rest(marker.key)
        if [one.displayed for _, one in found if one.digest == marker.digest] == displayed:
            return
        for part, more in enumerate(displayed, 1):
            self.github.comment(self.number, rest_body(marker, part, more))
        for text, old in found:
            if old.age <= marker.age:
                self.github.delete_comment(text.number)

    def add(self, body: Callable[[int], str]) -> GitHubText:
        """One more comment, whatever there is."""
        return self._sized(lambda text: self.github.comment(self.number, text), body)

    def _edit(self, found: FoundComment, body: Callable[[int], str]) -> GitHubText:
        return self._sized(lambda text: self.github.edit_comment(found.text.number, text), body)

    @staticmethod
    def _sized(send: Callable[[str], GitHubText], body: Callable[[int], str]) -> GitHubText:
        try:
            return send(body(COMMENT))
        except GitHubError as error:
            if error.status != TOO_LONG:
                raise
        return send(body(COMMENT // 2))


PAUSES: Final = (2.0, 4.0, 8.0, 16.0)
"""Seconds before GitHub is asked again for pull requests that it may not know of yet."""

_FOREIGN: Final = "somebody else wrote or edited the comment"


class Approval(Struct, frozen=True):
    """A comment that counts, in a merged pull request. `displayed` is all that its plan has shown."""

    comments: Comments
    found: FoundComment
    request: MergedPullRequest
    displayed: tuple[Shown, ...]


class Approvals(Struct):
    """Those for one name, the latest merge first."""

    github: GitHub
    place: WorkflowRun
    name: str
    history: History
    known: list[Approval] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Why comments do not count, for people. Comments of other accounts come last."""
    ended: dict[str, str] = field(default_factory=dict)
    """By the key of a plan the commit whose apply has converged last, as far as comments say."""
    unknown: list[str] = field(default_factory=list)
    """The commits that came with no merged pull request, as far as GitHub knows."""
    _lost: set[str] = field(default_factory=set)
    """The keys whose commit in `ended` is only that of a merge: the branch lacks the applied one."""
    _seen: set[int] = field(default_factory=set)
    _foreign: dict[str, None] = field(default_factory=dict)
    """Why comments of other accounts do not count, each reason once."""

    def find(self) -> None:
        """Ask GitHub about all commits."""
        self.known, self.others, self.ended, self._seen = [], [], {}, set()
        self.unknown, self._foreign, self._lost = [], {}, set()
        for commit in self.history.touching:
            if self._done():
                break
            requests = [one for one in self.github.merged(commit) if self._here(one)]
            if not requests:
                self.unknown.append(commit)
            for request in requests:
                if request.number not in self._seen:
                    self._seen.add(request.number)
                    self._look(request)
        place = {commit: at for at, commit in enumerate(self.history.commits)}
        self.known.sort(key=lambda one: place[one.request.commit])
        self.others += self._foreign

    def again(self) -> Iterator[None]:
        """Ask again for a while, each time that it is iterated, where GitHub may not know all yet."""
        for seconds in PAUSES:
            if not self.unknown:
                return
            self.github.pause(seconds)
            before = self.unknown
            self.find()
            if self.unknown != before:
                yield

    def of(self, plan: Plan) -> list[Approval]:
        """Those of the platform and organizations of a plan that no converged apply has used up."""
        key = plan_key(self.name, plan)
        return [one for one in self.unused() if one.found.marker.key == key]

    def unused(self) -> list[Approval]:
        """Those that no converged apply has used up, whatever they are for."""
        return [one for one in self.known if not self._used_up(one)]

    def applied(self) -> tuple[AppliedCommit, ...]:
        """Return the commits whose applies have converged last, for each platform and its organizations."""
        return tuple(
            AppliedCommit(commit, partial(self._has_key, key))
            for key, commit in self.ended.items()
            if key not in self._lost
        )

    def _has_key(self, key: str, target: Target) -> bool:
        return key == target_key(self.name, target.address, target.organizations)

    def _here(self, request: MergedPullRequest) -> bool:
        """Whether it was merged into the branch that is applied, and that merge is a part of it."""
        return request.base == self.place.branch and request.commit in self.history.commits

    def _done(self) -> bool:
        """Whether all keys that are known have been ended by an apply: nothing before that counts."""
        return bool(self.ended) and {one.found.marker.key for one in self.known} <= self.ended.keys()

    def _used_up(self, approval: Approval) -> bool:
        end = self.ended.get(approval.found.marker.key)
        return end is not None and not self._before(end, approval.request.commit)

    def _before(self, one: str, other: str) -> bool:
        """Whether a commit of the branch came before another one."""
        return self.history.commits.index(one) > self.history.commits.index(other)

    def _look(self, request: MergedPullRequest) -> None:
        """Take from a pull request the plan of each key that was shown last and counts."""
        comments = Comments(self.github, request.number, self.name)
        texts = self.github.comments(request.number)
        latest: dict[str, Approval] = {}
        for candidate in comments_named(texts, self.name):
            if candidate.marker.state == "refused":
                continue
            if candidate.text.author != self.github.viewer():
                # Anyone may comment, and each query for the editors of a comment uses up the rate limit.
                self._foreign[_rejected_plan_words(request, _FOREIGN)] = None
                continue
            written = self.github.written(candidate.text)
            marker = read_marker(written.body, PlanMarker)
            why = self._why_not(written, marker, request)
            if why or marker is None:
                self.others.append(_rejected_plan_words(request, why))
                continue
            if marker.state == "converged" and marker.key not in self.ended:
                known = marker.applied in self.history.commits  # not where the branch was written anew since
                self.ended[marker.key] = marker.applied if known else request.commit
                if not known:
                    self._lost.add(marker.key)
            before = latest.get(marker.key)
            if marker.digest and (before is None or before.found.marker.age <= marker.age):
                displayed = [] if marker.displayed is None else [marker.displayed]
                if marker.full:
                    displayed += self._rest(request, marker, comments)
                found = FoundComment(replace(candidate.text, body=written.body), marker)
                latest[marker.key] = Approval(comments, found, request, shown_in(displayed))
        self.known.extend(latest.values())

    def _rest(self, request: MergedPullRequest, plan: PlanMarker, comments: Comments) -> Iterator[str]:
        """What further comments hold of a plan; of one that does not count nothing."""
        for text, marker in comments.rest(plan.key):
            written = self.github.written(text)
            now = read_marker(written.body, RestMarker)
            if now == marker and marker.digest == plan.digest and not _touched(written, request):
                yield marker.displayed

    def _why_not(self, written: Written, marker: PlanMarker | None, request: MergedPullRequest) -> str:
        """Why a comment does not count; "" where it does."""
        if why := _touched(written, request, marker is not None and marker.state in ("applied", "converged")):
            return why
        if marker is None:
            return "the comment no longer contains the plan data that dpsync wrote"
        if marker.sha != request.head:
            now = short_commit(request.head)
            return (
                f"the comment is for commit {short_commit(marker.sha) or 'none'}, but commit {now} was merged"
            )
        if marker.branch != branch_key(self.place.branch):
            return f"the plan in the comment is not for the branch {self.place.branch}"
        return ""


def approved(approvals: list[Approval]) -> frozenset[Shown] | None:
    """What they have shown together; None without any."""
    return latest_shown(one.displayed for one in reversed(approvals)) if approvals else None


def _rejected_plan_words(request: MergedPullRequest, why: str) -> str:
    """Return the sentence that says why the plan in a pull request does not count."""
    return f"dpsync does not accept the plan in pull request {request.number}, because {why}"


def _touched(written: Written, request: MergedPullRequest, by_an_apply: bool = False) -> str:
    """Who has written a comment that should not have, or when; "" where all is well.

    `by_an_apply`: an apply has found that it counts, and has written into it what became of the plan.
    """
    if not written.ours:
        return _FOREIGN
    if not written.created < request.at or not (by_an_apply or written.last < request.at):
        return "the comment was written or edited after the merge"
    return ""
