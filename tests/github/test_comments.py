"""The comments of one pull request, whoever else writes there meanwhile: which are ours, and which may go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.github.api import GitHub
from dpsync.github.approvals import PlanComments
from dpsync.github.plan_comment import PlanMarker, further_comment_body, marker_line, read_marker
from dpsync.github.transport import GitHubError
from tests.github.fake_github import BOT, REPOSITORY, FakeGitHub, Token

KEY, OTHER = "aa", "bb"


def marker(run: int = 5, **more: Any) -> PlanMarker:
    return PlanMarker(**{"key": KEY, "name": "ab", "run": run, "digest": "dd"} | more)


def body(of: PlanMarker, words: str = "text") -> str:
    return f"{marker_line(of)}{words}"


@pytest.fixture
def comments(github: FakeGitHub) -> Iterator[PlanComments]:
    client = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql", lambda _: None)
    yield PlanComments(client, 7, "ab")
    client.close()


def of_run(github: FakeGitHub, *runs: int) -> list[int]:
    return [int(github.comment(7, body(marker(run)))["id"]) for run in runs]


def test_copied_marker_in_foreign_comment_is_ignored(comments: PlanComments, github: FakeGitHub) -> None:
    """A stranger who copies one neither blocks our comment nor gets it written into theirs.

    Otherwise, whoever copies a marker into a comment has it rewritten as ours, and nobody can write the plan
    any more.
    """
    for login in ("eve", "github-actions", "other[bot]", ""):
        github.comment(7, body(marker()), login)
    (ours,) = of_run(github, 5)
    assert [one.text.number for one in comments.find()] == [ours]


def test_plan_continuation_comment_requires_own_author_and_key(
    comments: PlanComments, github: FakeGitHub
) -> None:
    """Otherwise, a part that somebody else has written counts as one of our plan.

    Otherwise, the parts of another platform's plan count for this one, and are deleted with it.
    """
    for login, key in (("eve", KEY), (BOT, OTHER), (BOT, KEY)):
        github.comment(7, further_comment_body(marker(key=key), 1, "AAAA"), login)
    assert [(text.author, one.key) for text, one in comments.find_further(KEY)] == [(BOT, KEY)]


@pytest.mark.parametrize(("edited", "ours"), [(None, True), (body(marker(6)), True), ("no marker", False)])
def test_comment_without_marker_is_no_longer_own(
    edited: str | None, ours: bool, comments: PlanComments, github: FakeGitHub
) -> None:
    (id_,) = of_run(github, 5)
    (found,) = comments.find()
    if edited is not None:
        github.edit(id_, edited)
    now = comments.find_unedited(found)
    assert (now is not None) is ours
    assert now is None or now.text.body == github.comments[id_]["body"]


def test_own_comment_includes_last_update_time(comments: PlanComments, github: FakeGitHub) -> None:
    (id_,) = of_run(github, 5)
    (found,) = comments.find()
    at = github.edit(id_, body(marker()))["updated_at"]
    now = comments.find_unedited(found)
    assert now is not None
    assert now.text.updated == at


# Two runs at once.


@pytest.mark.parametrize(
    ("other", "written", "why"),
    [(4, "ours", ""), (5, "ours", ""), (6, "text", "a later run (6) has already written the comment")],
)
def test_concurrent_runs_keep_one_comment_with_later_text(
    other: int, written: str, why: str, comments: PlanComments, github: FakeGitHub
) -> None:
    """Otherwise, of two runs at once both leave a comment, and one of them goes stale.

    Otherwise, of two runs at once the earlier one writes over the plan of the later one.
    """
    quicker: list[int] = []

    def meanwhile(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/comments") and not quicker:
            quicker.append(0)
            quicker[:] = of_run(github, other)

    github.before = meanwhile
    decision, text = comments.write(None, marker(), lambda _size: body(marker(), "ours"), should_create=True)
    assert text is not None
    assert [text.number] == list(github.comments) == quicker
    assert github.comments[text.number]["body"].endswith(written)
    assert decision.reason == why


def test_concurrent_comment_with_other_key_is_kept(comments: PlanComments, github: FakeGitHub) -> None:
    """Otherwise, the plan of one platform is written over that of another."""
    github.comment(7, body(marker(4, key=OTHER)))
    _, text = comments.write(None, marker(), lambda _size: body(marker(), "ours"), should_create=True)
    assert text is not None
    assert list(github.comments) == [1, text.number]


def test_comment_is_not_written_when_author_unverifiable(comments: PlanComments, github: FakeGitHub) -> None:
    """Otherwise, a comment is made that nobody knows again, and the next run makes another one."""
    github.tokens["token"] = Token(graphql=False)
    with pytest.raises(GitHubError):
        comments.write(None, marker(), lambda _size: body(marker()), should_create=True)
    assert not github.comments


def test_unneeded_comment_is_not_written(comments: PlanComments, github: FakeGitHub) -> None:
    decision, text = comments.write(None, marker(), lambda _size: body(marker()), should_create=False)
    assert (decision.action, text) == ("leave", None)
    assert not github.asked


def test_existing_comment_is_edited_instead_of_duplicated(comments: PlanComments, github: FakeGitHub) -> None:
    (id_,) = of_run(github, 4)
    (found,) = comments.find()
    _, text = comments.write(found, marker(), lambda _size: body(marker(), "ours"), should_create=False)
    assert text is not None
    assert (text.number, list(github.comments)) == (id_, [id_])
    assert github.comments[id_]["body"].endswith("ours")


def test_only_unapplied_comments_of_older_runs_are_deleted(
    comments: PlanComments, github: FakeGitHub
) -> None:
    """Otherwise, the comment with the plan is deleted as soon as it is written."""
    older, kept, later, same = of_run(github, 3, 4, 9, 5)
    github.edit(applied := of_run(github, 2)[0], body(marker(2, state="applied")))
    found = comments.find()
    text = next(one.text for one in found if one.text.number == kept)
    comments.delete_others(found, text, (5, 1))
    assert older not in github.comments
    assert sorted(github.comments) == [kept, later, same, applied]


# What does not fit into one comment.


def parts(github: FakeGitHub) -> list[str]:
    return [text for text in github.bodies(7) if '"part"' in text]


def test_new_plan_continuation_comment_replaces_previous_one(
    comments: PlanComments, github: FakeGitHub
) -> None:
    comments.write_further(marker(4, digest="cc"), ["AAAA", "BBBB"])
    comments.write_further(marker(5), ["CCCC"])
    (left,) = parts(github)
    assert '"digest":"dd"' in left
    assert "CCCC" in left


def test_unchanged_plan_continuation_comment_is_not_rewritten(
    comments: PlanComments, github: FakeGitHub
) -> None:
    comments.write_further(marker(4), ["AAAA", "BBBB"])
    before = dict(github.comments)
    comments.write_further(marker(5), ["AAAA", "BBBB"])
    assert github.comments == before


def test_plan_continuation_comment_of_later_run_is_kept(comments: PlanComments, github: FakeGitHub) -> None:
    """Otherwise, an earlier run deletes comments of a later plan, which then cannot be approved."""
    comments.write_further(marker(9, digest="ee"), ["EEEE"])
    comments.write_further(marker(5), ["AAAA"])
    assert sum("EEEE" in text for text in parts(github)) == 1


# Sizes.


def test_comment_refused_as_too_long_is_shortened(comments: PlanComments, github: FakeGitHub) -> None:
    text = comments.add(lambda size: "x" * (size if size < 60_000 else 70_000))
    assert len(github.comments[text.number]["body"]) == 30_000


@pytest.mark.parametrize("status", [403, 500])
def test_comment_refused_for_other_reason_is_not_resent(
    status: int, comments: PlanComments, github: FakeGitHub
) -> None:
    """Otherwise, a comment that was perhaps made is made a second time."""
    github.answers = [(status, {"message": "no"}, {})]
    with pytest.raises(GitHubError) as refused:
        comments.add(lambda _size: "x")
    assert (refused.value.status, len(github.asked)) == (status, 1)
    assert not github.comments


def test_comment_too_long_after_shortening_is_an_error(comments: PlanComments) -> None:
    with pytest.raises(GitHubError) as refused:
        comments.add(lambda _size: "x" * 70_000)
    assert refused.value.status == 422


def test_own_comment_marker_is_read_from_current_body(comments: PlanComments, github: FakeGitHub) -> None:
    """A comment that is named in the list, but says something else by the time its author is asked for."""
    (id_,) = of_run(github, 5)
    (listed,) = comments.find()
    forged = replace(listed, text=replace(listed.text, body=body(marker(digest="ee"))))
    now = comments.find_unedited(forged)
    assert now is not None
    assert now.marker == read_marker(github.comments[id_]["body"], PlanMarker)
