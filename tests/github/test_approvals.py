"""What was approved: who could want something else to be applied than was shown, and by what.

Somebody who may write to the repository can edit and delete comments, push, force a branch, retarget, merge
without a review, run old jobs again and make other jobs post. A stranger can comment and open pull requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

import pytest
from msgspec.structs import replace

from dpsync.github.api import GitHub
from dpsync.github.approvals import REREAD_PAUSES_SECONDS, Approvals, approved_changes
from dpsync.github.commits import compare
from dpsync.github.plan_comment import (
    MAX_SHOWN_IN_FIRST_MARKER,
    WHOLE_OBJECT,
    FoundComment,
    FurtherMarker,
    GitHubText,
    PlanMarker,
    ShownChange,
    body_with_status,
    further_comment_body,
    marker_line,
    merge_shown_changes,
    plan_marker,
    read_marker,
    shown_changes,
    split_into_marker_values,
)
from dpsync.github.runner import History
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun
from dpsync.model.change import Change, Difference
from dpsync.model.desired import ApplyTarget
from dpsync.model.plan import Organization, Plan
from dpsync.render.json_conversion import plan_document
from tests.github.fake_github import REPOSITORY, FakeGitHub, Token
from tests.soak import examples

PLACE = WorkflowRun(REPOSITORY, 9, 1, "push", "", "", branch="main")
NAME = "ab"


def commit(letter: str) -> str:
    return letter * 40


def plan(words: str, organization: str = "1", platform: str = "https://x") -> Plan:
    """`a.t=1`: the field t of a becomes 1. `a`: it is made; `-a`: it goes."""
    return Plan(
        platform=platform,
        organizations=(Organization(address="acme", id=organization),),
        changes=tuple(map(change, words.split())),
    )


def change(word: str) -> Change:
    name, _, what = word.partition(".")
    address = f"acme/teams/{name.strip('-')}"
    if not what:
        return Change(address=address, kind="team", action="delete" if name[0] == "-" else "create")
    differences = tuple(
        Difference(field=one.partition("=")[0], before="", after=one.partition("=")[2])
        for one in what.split(",")
    )
    return Change(address=address, kind="team", action="update", id="1", differences=differences)


@dataclass
class Story:
    """A repository whose branch has commits, the latest one first in `commits`."""

    github: FakeGitHub
    client: GitHub
    waited: list[float]
    commits: list[str] = field(default_factory=list)
    run: int = 0

    def show(self, number: int, words: str | Plan, head: str = "d", into: str = "main", name: str = NAME,
             login: str = "github-actions[bot]") -> int:  # fmt: skip
        """Write a plan into a pull request and return the number of the comment."""
        self.run += 1
        displayed = plan(words) if isinstance(words, str) else words
        place = WorkflowRun(
            REPOSITORY, self.run, 1, "pull_request", commit(head), "", number=number, base_branch=into
        )
        marker = plan_marker(name, place, plan_document(displayed))
        made = self.github.comment(number, f"{marker_line(marker)}text", login)
        for part, more in enumerate(split_into_marker_values(shown_changes(displayed))[1:], 1):
            self.github.comment(number, further_comment_body(marker, part, more), login)
        return int(made["id"])

    def merge(self, number: int, letter: str, head: str = "d", base: str = "main", before: str = "") -> None:
        """Merge a pull request: its commit becomes the last one of the branch, after the commits `before`."""
        brought = tuple(map(commit, before))
        self.github.merge(commit(letter), number, commit(head), base, brought)
        if base == "main":
            self.commits[:0] = [commit(letter), *reversed(brought)]

    def push(self, letter: str) -> None:
        self.commits.insert(0, commit(letter))

    def ends(self, id_: int, letter: str = "", state: str = "converged") -> None:
        """Write into a comment how the apply of its plan ended."""
        body = self.github.comments[id_]["body"]
        marker = read_marker(body, PlanMarker)
        assert marker is not None
        told = body_with_status(
            FoundComment(GitHubText(id_, body, "", ""), marker),
            "converged" if state == "converged" else "applied",
            "Applied.",
            commit(letter) if letter else "",
        )
        self.github.edit(id_, told)

    def approvals(self) -> Approvals:
        history = History(tuple(self.commits), tuple(self.commits[:50]))
        found = Approvals(self.client, PLACE, NAME, history)
        found.find()
        return found

    def approves(self, now: Plan) -> bool:
        found = self.approvals()
        return not compare(approved_changes(found.unused_for_plan(now)), now).unreviewed


@pytest.fixture
def story(github: FakeGitHub) -> Iterator[Story]:
    waited: list[float] = []
    client = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql", waited.append)
    made = Story(github, client, waited)
    made.push("0")
    yield made
    client.close()


def one(story: Story) -> None:
    story.show(7, "a b.t=1")
    story.merge(7, "1")


def two_quick_merges(story: Story) -> None:
    story.show(7, "a b.t=1")
    story.show(8, "c")
    story.merge(7, "1")
    story.merge(8, "2")


def two_fields_of_one_thing(story: Story) -> None:
    story.show(7, "a.t=1")
    story.show(8, "a.d=2")
    story.merge(7, "1")
    story.merge(8, "2")


def a_later_one_says_otherwise(story: Story) -> None:
    two_fields_of_one_thing(story)
    story.show(9, "a.t=3")
    story.merge(9, "3")


def made_and_removed(story: Story) -> None:
    story.show(7, "a")
    story.merge(7, "1")
    story.show(8, "-a")
    story.merge(8, "2")


def a_revert_whose_plan_nobody_has_seen(story: Story) -> None:
    made_and_removed(story)
    story.merge(9, "3")


def a_group_of_a_merge_queue(story: Story) -> None:
    for number, words in ((7, "a"), (8, "b"), (9, "c")):
        story.show(number, words)
    for number, letter in ((8, "1"), (7, "2"), (9, "3")):
        story.merge(number, letter)


def a_rebase(story: Story) -> None:
    story.show(7, "a")
    story.merge(7, "3", before="12")


def a_squash(story: Story) -> None:
    story.show(7, "a", head="e")
    story.merge(7, "1", head="e")


def a_push_without_a_request_on_top(story: Story) -> None:
    one(story)
    story.push("2")


def shown_twice(story: Story) -> None:
    story.show(7, "a")
    story.show(7, "b")
    story.merge(7, "1")


def an_apply_that_was_stopped(story: Story) -> None:
    id_ = story.show(7, "a b")
    story.merge(7, "1")
    story.ends(id_, state="applied")


@pytest.mark.parametrize(("past", "now", "approves"), [
    (one, "a b.t=1", True), (one, "a", True), (one, "", True), (one, "a c", False), (one, "a b.t=2", False),
    (one, "a.t=1", False),
    (two_quick_merges, "a b.t=1 c", True), (two_quick_merges, "a c", True),
    (two_fields_of_one_thing, "a.t=1,d=2", True), (two_fields_of_one_thing, "a.t=1,d=3", False),
    (a_later_one_says_otherwise, "a.t=3,d=2", True), (a_later_one_says_otherwise, "a.t=1,d=2", False),
    (made_and_removed, "-a", True), (made_and_removed, "a", False),
    (a_revert_whose_plan_nobody_has_seen, "a", False),
    (a_group_of_a_merge_queue, "a b c", True),
    (a_rebase, "a", True), (a_squash, "a", True), (a_push_without_a_request_on_top, "a", True),
    (shown_twice, "b", True), (shown_twice, "a", False),
    (an_apply_that_was_stopped, "b", True),
])  # fmt: skip
def test_approvals_combine_plans_of_merged_pull_requests(
    past: Callable[[Story], None], now: str, approves: bool, story: Story
) -> None:
    past(story)
    assert story.approves(plan(now)) is approves


def edited_by_a_member(story: Story) -> None:
    id_ = story.show(7, "b")
    story.github.edit(id_, story.github.comments[id_]["body"].replace(*swapped("b", "a")), "eve")
    story.merge(7, "1")


def edited_and_put_back(story: Story) -> None:
    id_ = story.show(7, "a")
    body = story.github.comments[id_]["body"]
    story.github.edit(id_, "x", "eve")
    story.github.edit(id_, body)
    story.merge(7, "1")


def edited_after_the_merge(story: Story) -> None:
    id_ = story.show(7, "a")
    story.merge(7, "1")
    story.ends(id_, state="applied")
    story.github.edit(id_, story.github.comments[id_]["body"], "eve")


def swapped(one: str, other: str) -> tuple[str, str]:
    """Return the marker values of two plans."""
    return split_into_marker_values(shown_changes(plan(one)))[0], split_into_marker_values(
        shown_changes(plan(other))
    )[0]


def shown_after_the_merge(story: Story) -> None:
    story.merge(7, "1")
    story.show(7, "a")


def rewritten_after_the_merge(story: Story) -> None:
    id_ = story.show(7, "b")
    story.merge(7, "1")
    story.github.edit(id_, story.github.comments[id_]["body"].replace(*swapped("b", "a")))


def by(login: str) -> Callable[[Story], None]:
    def written(story: Story) -> None:
        story.show(7, "a", login=login)
        story.merge(7, "1")

    return written


def pushed_after_the_plan(story: Story) -> None:
    story.show(7, "a", head="e")
    story.merge(7, "1", head="f")


def retargeted(story: Story) -> None:
    story.show(7, "a", into="experiment")
    story.merge(7, "1")


def merged_into_another_branch(story: Story) -> None:
    story.show(7, "a", into="experiment")
    story.merge(7, "1", base="experiment")
    story.push("1")


def retargeted_and_merged_into_another_branch(story: Story) -> None:
    """Its plan was for the branch that got the same commit later, without it."""
    story.show(7, "a")
    story.merge(7, "1", base="experiment")
    story.push("1")


def made_after_the_merge_as_if_an_apply_had_begun(story: Story) -> None:
    story.merge(7, "1")
    story.ends(story.show(7, "a"), state="applied")


def not_merged(story: Story) -> None:
    story.show(7, "a")
    story.merge(7, "1")
    story.github.requests[7] |= {"merged_at": None, "state": "open"}


def merged_and_forced_away(story: Story) -> None:
    one(story)
    story.github.pulls[commit("2")] = story.github.pulls[commit("1")]
    story.commits[0] = commit("2")


def of_another_configuration(story: Story) -> None:
    story.show(7, "a", name="cd")
    story.merge(7, "1")


def of_another_organization(story: Story) -> None:
    story.show(7, plan("a", organization="2"))
    story.merge(7, "1")


def of_another_platform(story: Story) -> None:
    story.show(7, plan("a", platform="https://staging"))
    story.merge(7, "1")


def used_up(story: Story) -> None:
    id_ = story.show(7, "a")
    story.merge(7, "1")
    story.ends(id_, "1")
    story.show(8, "b")
    story.merge(8, "2")


def used_up_by_a_later_commit(story: Story) -> None:
    """GitHub did not know yet of the second one when an apply of it converged."""
    id_ = story.show(7, "b")
    story.merge(7, "1")
    story.show(8, "a")
    story.merge(8, "2")
    story.ends(id_, "2")


def used_up_and_deleted(story: Story) -> None:
    first = story.show(6, "a")
    story.merge(6, "1")
    story.ends(first, "1")
    second = story.show(7, "a")
    story.merge(7, "2")
    story.ends(second, "2")
    del story.github.comments[second]


def deleted(story: Story) -> None:
    id_ = story.show(7, "a")
    story.merge(7, "1")
    del story.github.comments[id_]


def quoted(story: Story) -> None:
    id_ = story.show(7, "a")
    body = story.github.comments.pop(id_)["body"]
    story.github.comment(7, f"> {body}")
    story.merge(7, "1")


def refused(story: Story) -> None:
    id_ = story.show(7, "a")
    body = story.github.comments.pop(id_)["body"]
    story.github.comment(7, body.replace('"state":"plan"', '"state":"refused"'))
    story.merge(7, "1")


@pytest.mark.parametrize("past", [
    edited_by_a_member, edited_and_put_back, edited_after_the_merge, shown_after_the_merge,
    rewritten_after_the_merge, by("eve"), by("some-bot[bot]"), by("github-actions"), by(""),
    pushed_after_the_plan, retargeted, merged_into_another_branch,
    retargeted_and_merged_into_another_branch, made_after_the_merge_as_if_an_apply_had_begun,
    not_merged, merged_and_forced_away,
    of_another_configuration, of_another_organization, of_another_platform, used_up,
    used_up_by_a_later_commit, used_up_and_deleted, deleted, quoted, refused,
])  # fmt: skip
def test_invalid_comment_or_merge_approves_no_plan(past: Callable[[Story], None], story: Story) -> None:
    """Otherwise, a plan that was merged into another branch approves an apply of this one.

    Otherwise, a merge that was taken out of the branch still approves.
    Otherwise, the plan that was shown as refused approves itself.
    Otherwise, a comment that somebody else has edited, or for another commit, approves.
    Otherwise, a comment that was rewritten after the merge approves.
    Otherwise, a comment that somebody else has written or edited approves.
    Otherwise, a comment that came after the merge approves it.
    Otherwise, what was applied once approves the same thing for ever.
    """
    past(story)
    assert not story.approves(plan("a"))


@pytest.mark.parametrize("past", [of_another_organization, of_another_platform])
def test_approvals_ignore_comments_for_other_targets(past: Callable[[Story], None], story: Story) -> None:
    """Otherwise, a plan for another platform or organization approves."""
    past(story)
    found = story.approvals()
    assert len(found.approvals) == 1
    assert found.unused_for_plan(plan("a")) == []


@pytest.mark.parametrize(("past", "why"), [
    (edited_by_a_member, "somebody else wrote or edited the comment"), (by("eve"), "somebody else"),
    (rewritten_after_the_merge, "written or edited after the merge"), (retargeted, "not for the branch main"),
    (pushed_after_the_plan, f"for commit {'e' * 12}, but commit {'f' * 12} was merged"),
])  # fmt: skip
def test_rejected_plan_comment_is_reported_with_reason(
    past: Callable[[Story], None], why: str, story: Story
) -> None:
    """Otherwise, the plan of an earlier commit approves the last one.

    Otherwise, a plan that was made for another branch approves.
    """
    past(story)
    (said,) = story.approvals().rejections
    assert said.startswith("dpsync does not accept the plan in pull request 7, because ")
    assert why in said


def test_rejected_own_comments_are_listed_before_forged(story: Story) -> None:
    """A refusal names only three reasons. Forged comments must not hide why the real plan does not count."""
    for number, letter in ((6, "1"), (7, "2"), (8, "3"), (9, "4")):
        for login in ("eve", "mallory"):
            story.show(number, "a", login=login)
        story.merge(number, letter)
    story.show(6, "a")
    said = story.approvals().rejections
    assert said[0] == (
        "dpsync does not accept the plan in pull request 6, because the comment was written or edited after "
        "the merge"
    )
    assert len(said) == 5


def test_approvals_fail_when_token_owner_is_unknown(story: Story) -> None:
    one(story)
    story.github.tokens["token"] = Token(graphql=False)
    with pytest.raises(GitHubError):
        story.approvals()


def applied(approvals: Approvals, to: Plan) -> str | None:
    """Return the commit that was applied last to the organizations of a plan, as labels use it."""
    ids = frozenset(one.id for one in to.organizations)
    found = [
        one.commit
        for one in approvals.applied_commits()
        if one.matches_target(ApplyTarget("", to.platform, ids))
    ]
    return found[0] if found else None


def test_last_converged_apply_is_known_per_organization(story: Story) -> None:
    """Otherwise, labels compare with a commit that was applied somewhere else."""
    used_up(story)
    assert applied(story.approvals(), plan("a")) == commit("1")
    assert applied(story.approvals(), plan("a", organization="2")) is None


def two_platforms(_story: Story) -> tuple[Plan, Plan]:
    """Return plans of the same files for two platforms."""
    return plan("a"), plan("a", platform="https://staging")


def test_last_converged_apply_is_known_per_platform(story: Story) -> None:
    """Otherwise, labels compare with a commit that was applied to another platform."""
    here, there = two_platforms(story)
    both = story.show(7, here), story.show(7, there)
    story.merge(7, "1")
    for id_ in both:
        story.ends(id_, "1")
    second, _ = story.show(8, there), story.show(8, here)
    story.merge(8, "2")
    story.ends(second, "2")
    found = story.approvals()
    assert (applied(found, here), applied(found, there)) == (commit("1"), commit("2"))


def test_latest_of_several_converged_applies_is_used(story: Story) -> None:
    for number, letter in ((7, "1"), (8, "2")):
        id_ = story.show(number, "a")
        story.merge(number, letter)
        story.ends(id_, letter)
    assert applied(story.approvals(), plan("a")) == commit("2")


def test_apply_of_removed_commit_consumes_only_own_approval(
    story: Story,
) -> None:
    """Otherwise, labels compare with a commit of which nobody knows whether it was applied.

    Otherwise, what was merged after the last converged apply is never approved.
    """
    id_ = story.show(7, "a")
    story.merge(7, "1")
    story.ends(id_, "9")  # the branch was written anew since
    story.show(8, "b")
    story.merge(8, "2")
    assert applied(story.approvals(), plan("a")) is None
    assert story.approves(plan("b"))
    assert not story.approves(plan("a"))


def asked_about(story: Story) -> list[str]:
    return [one.split("/")[-2][0] for one in story.github.asked if one.endswith("/pulls")]


def test_approvals_stop_at_last_converged_apply(story: Story) -> None:
    """Else each apply would ask about fifty commits, and wait for requests of those that never had one.

    Otherwise, each apply asks about fifty commits, and waits for requests of those that never had one.
    """
    id_ = story.show(7, "a")
    story.merge(7, "1", before="34")
    story.ends(id_, "1")
    story.show(8, "b")
    story.merge(8, "2")
    assert story.approvals().commits_without_pull_request == []
    assert asked_about(story) == ["2", "1"]


def test_converged_platform_keeps_approvals_of_other_platform(
    story: Story,
) -> None:
    """Otherwise, one platform that has converged hides what was approved for another one."""
    here, there = two_platforms(story)
    story.show(6, there)
    story.show(6, plan("b"))
    story.merge(6, "1")
    id_ = story.show(7, here)
    story.show(7, plan("c", platform="https://staging"))
    story.merge(7, "2")
    story.ends(id_, "2")
    assert story.approves(there)
    assert not story.approves(plan("b"))


def test_pull_request_with_several_commits_is_read_once(story: Story) -> None:
    """Otherwise, a request that was merged with several commits counts as several."""
    a_rebase(story)
    for brought in "12":
        story.github.pulls[commit(brought)] = story.github.pulls[commit("3")]
    assert len(story.approvals().approvals) == 1


def test_comment_of_later_run_overrides_earlier_run(story: Story) -> None:
    """The earlier run was slow: its comment is the last one.

    Otherwise, the plan of an earlier commit, told late, approves instead of the last one.
    """
    story.run = 5
    story.show(7, "b")
    story.run = 2
    story.show(7, "a")
    story.merge(7, "1")
    assert story.approves(plan("b"))
    assert not story.approves(plan("a"))


def test_comment_without_plan_leaves_approvals_unchanged(story: Story) -> None:
    """Otherwise, a comment that tells of no plan counts as an approval."""
    story.show(7, "a")
    made = story.github.comment(7, "")
    marker = PlanMarker(
        key="", name=NAME, run=99, sha=commit("d"), branch=plan_marker(
            NAME, replace(PLACE, base_branch="main"), plan_document(plan(""))).branch,
    )  # fmt: skip
    made["body"] = f"{marker_line(marker)}it could not be made"
    story.merge(7, "1")
    assert [one.comment.marker.run for one in story.approvals().approvals] == [1]
    assert story.approves(plan("a"))


def test_approval_uses_comment_body_from_editor_query(story: Story) -> None:
    """The list of comments says one thing, and the comment itself, a moment later, another one.

    Otherwise, a comment counts as the list has it, which nobody vouches for.
    """
    id_ = story.show(7, "b")
    body = story.github.comments[id_]["body"]
    story.merge(7, "1")

    def meanwhile(_method: str, path: str) -> None:
        listed = path.endswith("/issues/7/comments")
        story.github.comments[id_]["body"] = body.replace(*swapped("b", "a")) if listed else body

    story.github.before = meanwhile
    assert not story.approves(plan("a"))
    assert story.approves(plan("b"))


# What GitHub does not know yet.


@pytest.mark.parametrize("late", [0, 1, 3, 4])
def test_approvals_retry_until_pull_request_is_visible(late: int, story: Story) -> None:
    """Otherwise, each apply that finds something new waits half a minute first."""
    one(story)
    story.commits.pop()  # nothing but the merge
    story.github.late = late
    found = story.approvals()
    assert bool(found.approvals) is (late == 0)
    for _ in found.reread():
        pass
    assert len(found.unused_for_plan(plan("a"))) == 1
    assert story.waited == list(REREAD_PAUSES_SECONDS[:late])


def test_approval_lookup_waits_half_a_minute_at_most(story: Story) -> None:
    found = story.approvals()
    assert list(found.reread()) == []
    assert story.waited == list(REREAD_PAUSES_SECONDS)
    assert sum(REREAD_PAUSES_SECONDS) == 30


# A large plan.


def test_remaining_part_of_large_plan_is_approved(story: Story) -> None:
    """Otherwise, a part of a large plan that somebody else has written approves what is in it."""
    words = [f"{number:04}" for number in range(MAX_SHOWN_IN_FIRST_MARKER + 501)]
    story.show(7, " ".join(words))
    story.merge(7, "1")
    assert story.approves(plan(" ".join(words[3:])))
    assert not story.approves(plan(" ".join([*words, "x"])))
    (*_, rest) = story.github.comments.values()
    story.github.edit(rest["id"], rest["body"], "eve")
    assert not story.approves(plan(" ".join(words[3:])))
    assert story.approves(plan(" ".join(words[3:MAX_SHOWN_IN_FIRST_MARKER])))


LARGE = [f"{number:04}" for number in range(MAX_SHOWN_IN_FIRST_MARKER + 2)]


def test_later_plan_ignores_continuation_comments_of_earlier_plan(story: Story) -> None:
    """Otherwise, what only an earlier plan of the request has shown is approved."""
    story.show(7, " ".join([*LARGE, "zzzz"]))
    story.show(7, " ".join([*LARGE, "yyyy"]))
    story.merge(7, "1")
    assert story.approves(plan("yyyy"))
    assert not story.approves(plan("zzzz"))


def test_plan_continuation_comment_uses_body_from_editor_query(story: Story) -> None:
    """Otherwise, a part counts as the list of comments has it, which nobody vouches for."""
    story.show(7, " ".join(LARGE))
    (rest,) = [one for one in story.github.comments.values() if "dpsync:rest" in one["body"]]
    story.merge(7, "1")
    body, (part, *_) = rest["body"], split_into_marker_values(shown_changes(plan("zzzz")))

    def meanwhile(_method: str, path: str) -> None:
        marker = read_marker(body, FurtherMarker)
        assert marker is not None
        listed = path.endswith("/issues/7/comments")
        forged = marker_line(marker.model_copy(update={"displayed": part}))
        rest["body"] = f"{forged}text" if listed else body

    story.github.before = meanwhile
    assert not story.approves(plan("zzzz"))


def test_small_plan_needs_no_continuation_comment_lookup(story: Story) -> None:
    """Otherwise, each apply asks twice for the comments of every request."""
    one(story)
    story.approvals()
    assert sum(asked.endswith("/comments") for asked in story.github.asked) == 1


# The law of the union.


def expected(stories: list[list[tuple[int, int, int]]]) -> set[tuple[int, int, int]]:
    """Thing by thing, field by field: what was said last; field 0 is the whole."""
    said: dict[int, dict[int, set[int]]] = {}
    for plan_ in stories:
        for thing in {at for at, _, _ in plan_}:
            fields = {of for at, of, _ in plan_ if at == thing}
            kept_ = {} if 0 in fields else dict(said.get(thing, {}))
            for gone in {0, *fields}:
                kept_.pop(gone, None)
            for of in fields:
                kept_[of] = {what for at, one_, what in plan_ if (at, one_) == (thing, of)}
            said[thing] = kept_
    return {(at, of, what) for at, fields in said.items() for of, all_ in fields.items() for what in all_}


@pytest.mark.parametrize("seed", range(examples(100, 3_000)))
def test_latest_plan_wins_for_same_address_and_field(seed: int) -> None:
    """Otherwise, an earlier plan's whole object stays approved beside the later plan's change to it.

    Otherwise, a field of an earlier plan is approved beside the whole object of the later one.
    Otherwise, the earlier value of a field is approved beside the later one.
    Otherwise, a change that only an earlier plan has shown is refused.

    Otherwise, a field of an earlier plan is approved beside the whole of the later one.
    Otherwise, the earlier value of a field is approved beside the later one.
    Otherwise, what only an earlier plan has shown is refused.
    """
    random = Random(seed)

    def some() -> tuple[int, int, int]:
        return random.randrange(3), random.randrange(3), random.randrange(3)

    stories = [[some() for _ in range(random.randrange(4))] for _ in range(random.randrange(1, 5))]
    found = merge_shown_changes(
        [
            ShownChange(bytes([at]) * 11, WHOLE_OBJECT if not of else bytes([of]) * 3, bytes([what]) * 16)
            for at, of, what in one_
        ]
        for one_ in stories
    )
    assert {(one_.address[0], one_.field[0], one_.content[0]) for one_ in found} == expected(stories)


def test_later_field_change_replaces_earlier_exposure() -> None:
    told = ShownChange(b"a" * 11, b"\x01bc", b"1" * 16)
    exposed = replace(told, field=b"\x81bc", content=b"2" * 16)
    again = replace(told, content=b"3" * 16)
    assert merge_shown_changes([[told, exposed], [again]]) == {again}
    assert merge_shown_changes([[told, exposed], [replace(again, field=b"\x02bc")]]) >= {told, exposed}
