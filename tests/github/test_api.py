"""The requests to GitHub, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import httpx
import pytest

from dpsync.github import transport
from dpsync.github.api import GitHub, MergedPullRequest
from dpsync.github.ids_branch import Branches, FileVersion
from dpsync.github.issues import Issues
from dpsync.github.plan_comment import FailingChecksMarker
from dpsync.github.transport import MAX_PAGES, GitHubError
from dpsync.github.workspace import WorkflowRun
from tests import patience
from tests.github.fake_github import BOT, REPOSITORY, FakeGitHub, Token
from tests.no_tls import NO_TLS

WAITED: list[float] = []


@pytest.fixture
def client(github: FakeGitHub) -> Iterator[GitHub]:
    WAITED.clear()
    made = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql", WAITED.append)
    yield made
    made.close()


def test_github_client_reads_all_pages(client: GitHub, github: FakeGitHub) -> None:
    for number in range(250):
        github.comment(7, str(number))
        github.issue(
            str(number),
            "",
            login="eve" if number % 2 else BOT,
            **({} if number % 3 else {"pull_request": {}}),
        )
    assert [one.body for one in client.comments(7)] == [str(number) for number in range(250)]
    assert len(client.issues(BOT)) == len([n for n in range(250) if n % 2 == 0 and n % 3])
    assert len(github.asked) == 3 + 2


def test_github_client_refuses_next_page_on_another_host(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, the token goes to another host."""
    with FakeGitHub() as other:
        github.answers = [(200, [], {"Link": f'<{other.url}/x>; rel="next"'})]
        with pytest.raises(GitHubError, match="another host"):
            client.comments(7)
        assert other.asked == []


def test_github_client_does_not_follow_redirects(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a redirect leads the token, or a write, to another host."""
    with FakeGitHub() as other:
        github.answers = [(307, None, {"Location": f"{other.url}/x"})]
        with pytest.raises(GitHubError, match="307"):
            client.comments(7)
        assert other.asked == []


def test_github_token_is_sent_only_to_its_host(github: FakeGitHub) -> None:
    """Otherwise, the token goes to another host."""
    github.tokens["token"] = Token("docs-bot")
    with FakeGitHub() as other:
        elsewhere = GitHub(github.url, "token", REPOSITORY, f"{other.url}/graphql")
        with pytest.raises(GitHubError):
            elsewhere.viewer()
        assert other.asked == []
        elsewhere.close()
    here = GitHub(github.url, "token", REPOSITORY, f"{github.url}/graphql")
    assert (here.viewer(), here.viewer()) == ("docs-bot", "docs-bot")
    assert github.asked == ["POST /graphql"]
    here.close()


def test_github_client_waits_for_rate_limit_before_retry(client: GitHub, github: FakeGitHub) -> None:
    github.answers = [(403, {}, {"Retry-After": "2"}), (429, {}, {"Retry-After": "1"})]
    client.comment(7, "x")
    assert (WAITED, len(github.comments)) == ([2.0, 1.0], 1)


@pytest.mark.parametrize("answer", [
    (403, {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}, {}),
    (403, {"message": "You have triggered an abuse detection mechanism."}, {}),
    (429, {}, {}),
    (403, {}, {"x-ratelimit-remaining": "0"}),
])  # fmt: skip
def test_rate_limit_without_duration_waits_one_minute(
    answer: tuple[int, object, dict[str, str]], client: GitHub, github: FakeGitHub
) -> None:
    github.answers = [answer]
    client.comment(7, "x")
    assert (WAITED, len(github.comments)) == ([60.0], 1)


def test_missing_github_permission_is_not_retried(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a missing permission is waited for like a rate limit."""
    github.answers = [(403, {"message": "Resource not accessible by integration"}, {})]
    with pytest.raises(GitHubError):
        client.comment(7, "x")
    assert WAITED == []


@pytest.mark.parametrize("status", [404, 422, 500])
def test_github_client_retries_only_rate_limits(status: int, client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, an error that names a time is waited for as if it were a rate limit."""
    github.answers = [(status, {}, {"Retry-After": "60", "x-ratelimit-remaining": "0"})]
    with pytest.raises(GitHubError):
        client.comment(7, "x")
    assert WAITED == []


def test_expired_rate_limit_waits_one_second(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a limit that is over makes a wait of less than nothing."""
    github.answers = [(403, {}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"})]
    client.comment(7, "x")
    assert WAITED == [1.0]


def test_overlong_github_response_is_an_error(
    client: GitHub, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, an answer of any size is read as JSON."""
    monkeypatch.setattr(transport, "_MAX_RESPONSE_BYTES", 1_000)
    github.answers = [(200, ["x" * 996], {}), (200, ["x" * 997], {})]
    assert client.comments(7) == []
    with pytest.raises(GitHubError, match="too long"):
        client.comments(7)


def test_github_error_message_is_shortened(client: GitHub, github: FakeGitHub) -> None:
    github.answers = [(422, {"message": "x" * 200, "errors": [{"message": "y" * 200}]}, {})]
    with pytest.raises(GitHubError) as refused:
        client.comment(7, "x")
    assert refused.value.response_message == f"{'x' * 200} {'y' * 99}"


@pytest.mark.parametrize(("status", "not_allowed", "missing"), [
    (400, False, False), (401, True, False), (402, False, False), (403, True, False), (404, True, True),
    (405, False, False), (0, False, False),
])  # fmt: skip
def test_github_error_status_distinguishes_permission_and_missing(
    status: int, not_allowed: bool, missing: bool
) -> None:
    error = GitHubError("x", status)
    assert (error.not_allowed, error.is_missing) == (not_allowed, missing)


def test_rate_limited_reaction_is_not_retried(client: GitHub, github: FakeGitHub) -> None:
    github.answers = [(429, {}, {})]
    with pytest.raises(GitHubError):
        client.add_reaction(1, "eyes")
    assert WAITED == []


def test_unreachable_github_error_has_status_zero() -> None:
    client = GitHub("http://127.0.0.1:1", "token", REPOSITORY, wait=WAITED.append)
    with pytest.raises(GitHubError) as missing:
        client.comment(7, "x")
    assert (missing.value.status, missing.value.response_message) == (0, "")
    client.close()


def test_github_client_waits_three_minutes_at_most(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a job waits for hours."""
    github.answers = [(403, {}, {"Retry-After": "100"}), (403, {}, {"Retry-After": "80"})]
    client.comments(7)
    github.answers = [(403, {}, {"Retry-After": "1"})]
    with pytest.raises(GitHubError) as refused:
        client.comments(7)
    assert (refused.value.status, WAITED) == (403, [100.0, 80.0])


@pytest.mark.parametrize(("asked", "tries"), [
    (lambda client: client.comments(7), 3),
    (lambda client: client.viewer(), 3),
    (lambda client: client.edit_comment(1, "x"), 3),
    (lambda client: client.edit_issue(1, body="x"), 3),
    (lambda client: client.comment(7, "x"), 1),
    (lambda client: client.open_issue("x", "x"), 1),
    (lambda client: client.request("POST", "/labels", {"name": "x"}), 1),
    (lambda client: client.add_reaction(1, "eyes"), 1),
])  # fmt: skip
def test_only_idempotent_github_requests_are_retried(
    asked: Callable[[GitHub], object], tries: int, client: GitHub, github: FakeGitHub
) -> None:
    """Otherwise, a comment or an issue is made twice after a fault."""
    github.answers = [(502, {}, {})] * 3
    with pytest.raises(GitHubError, match="502"):
        asked(client)
    assert len(github.asked) == tries
    assert [1.0, 2.0][: tries - 1] == WAITED


# Who has written a comment.


@pytest.mark.parametrize(("editors", "ours"), [
    ((), True), ((BOT,), True), ((BOT,) * 120, True), (("eve",), False), (("eve", BOT), False),
    ((BOT, "eve"), False), (("",), False), (("github-actions",), False), ((*(BOT,) * 120, "eve"), False),
    (("eve", *(BOT,) * 120), False), ((*(BOT,) * 60, "eve", *(BOT,) * 60), False),
])  # fmt: skip
def test_comment_edited_by_another_user_is_not_own(
    editors: tuple[str, ...], ours: bool, client: GitHub, github: FakeGitHub
) -> None:
    """Otherwise, a comment that somebody else has edited counts as ours, and approves.

    Otherwise, only the last hundred edits of a comment are looked at.
    """
    made = github.comment(7, "x")
    for editor in editors:
        github.edit(made["id"], "y", editor)
    written = client.comment_authorship(client.comments(7)[0])
    assert written.is_only_ours is ours
    assert (written.body, written.last_edited) == (made["body"], made["updated_at"])


@pytest.mark.parametrize("login", ["eve", "other[bot]", ""])
def test_comment_by_another_author_is_not_own(login: str, client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a comment of anybody counts as ours."""
    github.comment(7, "x", login=login)
    assert not client.comment_authorship(client.comments(7)[0]).is_only_ours


def test_comment_with_unknown_author_is_an_error(client: GitHub, github: FakeGitHub) -> None:
    made = github.comment(7, "x")
    (text,) = client.comments(7)
    github.comments[made["id"]]["node_id"] = "gone"
    with pytest.raises(GitHubError):
        client.comment_authorship(text)


US = {"__typename": "Bot", "login": BOT}
Answer = tuple[int, object, dict[str, str]]


def told(more: bool = False, nodes: tuple[object, ...] = (), **members: object) -> Answer:
    """Return GraphQL's answer about an unedited comment of ours, with `members` replaced."""
    edits = {"pageInfo": {"hasNextPage": more, "endCursor": "x"}, "nodes": list(nodes)}
    comment = {
        "viewerDidAuthor": True,
        "body": "x",
        "createdAt": "1",
        "author": US,
        "userContentEdits": edits,
    }
    return 200, {"data": {"node": {**comment, **members}}}, {}


@pytest.mark.parametrize(
    ("answers", "ours"),
    [
        ([told()], True),
        ([told(nodes=({"editor": US},), lastEditedAt="2", editor=US)], True),
        ([told(lastEditedAt="2", editor=US)], False),
        ([told(author=None, nodes=({"editor": None},), lastEditedAt="2", editor=None)], False),
        ([told(more=True)] * MAX_PAGES, False),
    ],
    ids=["as we made it", "by us", "by whom is not told", "accounts that are gone", "edits without an end"],
)
def test_comment_with_unknown_editor_is_not_own(
    answers: list[Answer], ours: bool, client: GitHub, github: FakeGitHub
) -> None:
    """Otherwise, an edit of which GitHub shows nobody counts as ours, and approves.

    Otherwise, a comment of an account that is gone counts as ours, and approves.
    Otherwise, edits that were not all looked at count as ours.
    """
    github.comment(7, "x")
    (text,) = client.comments(7)
    github.answers = list(answers)
    assert client.comment_authorship(text).is_only_ours is ours


def test_graphql_response_with_errors_is_refused(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, an answer with errors counts as one that says nothing against a comment."""
    status, found, headers = told()
    assert isinstance(found, dict)
    github.comment(7, "x")
    (text,) = client.comments(7)
    github.answers = [(status, {**found, "errors": [{"message": "partly"}]}, headers)]
    with pytest.raises(GitHubError, match="refused a query"):
        client.comment_authorship(text)


def test_missing_token_owner_is_an_error(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, texts of nobody count as ours where GitHub does not say who we are."""
    github.answers = [(200, {"data": {"viewer": {"login": ""}}}, {})]
    with pytest.raises(GitHubError, match="the owner of the token"):
        client.viewer()


def test_github_list_of_over_fifty_pages_is_refused(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a list that is too long is taken for whole."""
    answer = (200, [], {"Link": f'<{github.url}/x>; rel="next"'})
    github.answers = [*[answer] * 49, (200, [], {})]
    assert client.comments(7) == []
    github.answers = [answer] * 51
    with pytest.raises(GitHubError, match="more than 50 pages"):
        client.comments(7)
    assert len(github.answers) == 1


def test_unanswered_github_write_is_not_retried() -> None:
    """Otherwise, what was perhaps done is done again after a lost answer."""
    WAITED.clear()
    client = GitHub("http://127.0.0.1:1", "token", REPOSITORY, wait=WAITED.append)
    with pytest.raises(GitHubError, match="did not respond"):
        client.comment(7, "x")
    assert WAITED == []
    client.close()


@pytest.mark.parametrize("answer", [(200, {}, {}), (200, None, {}), (200, "text", {})])
def test_github_response_of_wrong_type_is_refused(
    answer: tuple[int, object, dict[str, str]], client: GitHub, github: FakeGitHub
) -> None:
    """Otherwise, an answer that is no list counts as an empty one."""
    github.answers = [answer]
    with pytest.raises(GitHubError):
        client.comments(7)


BRANCH: dict[str, object] = {"type": "file", "sha": "a" * 40}


@pytest.mark.parametrize(("asked", "answer", "why"), [
    (lambda at: at.github.default_branch(), {}, "does not contain the default branch"),
    (lambda at: at.github.pull_request(7), [], "is not a pull request"),
    (lambda at: at.github.comment(7, "x"), {"number": 7}, "neither a comment nor an issue"),
    (lambda at: at.github.open_issue("x", "x"), {"id": 7}, "neither a comment nor an issue"),
    (lambda at: at.pull_requests("a", "main"), {}, "a list of pull requests"),
    (lambda at: at.pull_requests("a", "main"), [{}], "is not a pull request"),
    (lambda at: at.read_file("a.yaml", "main"), [], "a.yaml is not a file on the branch"),
    (lambda at: at.read_file("a.yaml", "main"), {"type": "dir"}, "a.yaml is not a file on the branch"),
    (lambda at: at.read_file("a.yaml", "main"), {**BRANCH, "encoding": "base64"}, "no file content"),
    (lambda at: at.read_file("a.yaml", "main"), {**BRANCH, "encoding": "base64", "content": "a"}, "no file"),
])  # fmt: skip
def test_github_response_lacking_requested_value_is_an_error(
    asked: Callable[[Branches], object], answer: object, why: str, client: GitHub, github: FakeGitHub
) -> None:
    github.answers = [(200, answer, {})]
    with pytest.raises(GitHubError, match=why):
        asked(Branches(client, REPOSITORY))


def test_comment_unknown_to_graphql_is_an_error(client: GitHub, github: FakeGitHub) -> None:
    github.comment(7, "x")
    (text,) = client.comments(7)
    github.answers = [(200, {"data": {"node": None}}, {})]
    with pytest.raises(GitHubError, match="the author of the comment"):
        client.comment_authorship(text)


@pytest.mark.parametrize("asked", [
    lambda at: at.head("a"), lambda at: at.contains("a", "b"), lambda at: at.read_file("a.yaml", "main"),
])  # fmt: skip
@pytest.mark.parametrize("status", [404, 422, 403])
def test_only_http_404_means_missing_branch_or_file(
    asked: Callable[[Branches], object], status: int, client: GitHub, github: FakeGitHub
) -> None:
    github.answers = [(status, {}, {})]
    branches = Branches(client, REPOSITORY)
    if status == 404:
        assert asked(branches) in (None, False, FileVersion())
        return
    with pytest.raises(GitHubError, match=str(status)):
        asked(branches)


def test_unreachable_github_is_an_error() -> None:
    client = GitHub("http://127.0.0.1:1", "token", REPOSITORY, wait=WAITED.append)
    with pytest.raises(GitHubError, match="did not respond"):
        client.comments(7)
    client.close()


def test_issue_title_is_cut_to_200_characters(client: GitHub, github: FakeGitHub) -> None:
    place = WorkflowRun(REPOSITORY, 9, 1, "schedule", "", "", "https://x")
    Issues(client, "12", place, FailingChecksMarker).open_issue(("x" * 199, "y"), "body")
    assert [issue["title"] for issue in github.issues.values()] == [f"{'x' * 199} "]


def test_withdrawn_approval_is_ignored(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, an approval that was taken back is told as one."""
    for login, *states in (
        ("a", "APPROVED"), ("b", "APPROVED", "CHANGES_REQUESTED"),
        ("c", "CHANGES_REQUESTED", "APPROVED", "COMMENTED"), ("d", "DISMISSED"),
    ):  # fmt: skip
        for state in states:
            github.review(login, state)
    assert [one.author for one in client.approvals(7)] == ["a", "c"]


def test_only_merged_pull_requests_of_commit_are_listed(client: GitHub, github: FakeGitHub) -> None:
    """Otherwise, a pull request that is not merged approves."""
    github.merge("a" * 40, 7, head="b" * 40)
    at = github.requests[7]["merged_at"]
    assert client.merged_pull_requests("a" * 40) == [MergedPullRequest(7, at, "a" * 40, "b" * 40, "main")]
    assert client.merged_pull_requests("b" * 40) == []
    github.pulls["a" * 40][0]["merged_at"] = None
    assert client.merged_pull_requests("a" * 40) == []


def test_fake_github_refuses_like_real_github(github: FakeGitHub) -> None:
    headers = {"Authorization": "Bearer token"}
    url = f"{github.url}/repos/{REPOSITORY}/issues/7/comments"
    post = partial(httpx.post, url, timeout=patience.PATIENCE, **NO_TLS)
    assert post(json={"body": "x" * 65_537}, headers=headers).status_code == 422
    assert post(json={"body": "x"}).status_code == 401
    github.tokens["token"] = Token(writes=frozenset())
    assert post(json={"body": "x"}, headers=headers).status_code == 403
