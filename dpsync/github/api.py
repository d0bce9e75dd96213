"""What is asked of GitHub: comments, reviews, issues; branches.py has what is asked about branches.

Nothing here decides what an apply or a plan comes to: whoever calls says what to do without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import sleep
from typing import Any, Final

import httpx
from msgspec import Struct

from dpsync.client.platform import origin
from dpsync.github.transport import PAGES, GitHubError, GitHubTransport, at, number_at, text_at

_EDITS: Final = """\
query ($id: ID!, $after: String) { node(id: $id) { ... on IssueComment {
  viewerDidAuthor body createdAt lastEditedAt
  author { __typename login } editor { __typename login }
  userContentEdits(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { editor { __typename login } }
  }
} } }"""


class GitHubText(Struct, frozen=True):
    """A comment or an issue. `number` is the id of the comment or the number of the issue."""

    number: int
    body: str
    author: str
    url: str
    updated: str = ""
    open: bool = True
    node: str = ""
    """Its name in GraphQL."""


class Written(Struct, frozen=True):
    """Who has written a comment, and when. Times are GitHub's.

    `ours`: this token has made it, and nobody else has ever edited it, as far as GitHub says.
    """

    ours: bool
    body: str
    created: str
    last: str
    """When it was last written."""


class Review(Struct, frozen=True):
    """Somebody's last word on a pull request, where that was an approval; `at` is GitHub's time."""

    author: str
    at: str


class MergedPullRequest(Struct, frozen=True):
    """A merged pull request: `commit` is what that made on the branch `base`, `head` its own last one."""

    number: int
    at: str
    commit: str
    head: str
    base: str


class PullRequest(Struct, frozen=True):
    """A pull request as it is now. `repository` has its branch: "" where that is gone. `base` is a branch.

    `merge` is the commit of GitHub's trial merge of an open pull request, "" if there is none.
    """

    repository: str
    head: str
    base: str
    open: bool
    merge: str


class GitHub:
    """One repository. Every method raises GitHubError."""

    def __init__(
        self,
        url: str,
        token: str,
        repository: str,
        graphql: str = "",
        wait: Callable[[float], None] | None = None,
    ) -> None:
        api = url.rstrip("/")
        self._transport = GitHubTransport(api, token, wait or sleep)
        self._graphql = graphql if origin(graphql) == origin(api) else ""
        self._repository = f"{api}/repos/{repository}"
        self._viewer = ""

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def ask(
        self,
        method: str,
        path: str,
        content: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        safe: bool = False,
    ) -> Any:
        """One request about the repository, and the JSON of its answer. `path` is quoted already."""
        url = httpx.URL(self._repository + path, params=query or None)
        return self._transport.ask(method, str(url), content, safe)

    def pause(self, seconds: float) -> None:
        """Let others go first."""
        self._transport.wait(seconds)

    def _items(self, path: str, query: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        return self._transport.items(self._repository + path, query or {})

    # Who and what.

    def viewer(self) -> str:
        """The name under which this token writes. Nothing is guessed where GitHub does not say it."""
        if not self._viewer:
            self._viewer = text_at(self._graph("{ viewer { login } }"), "viewer", "login")
        if not self._viewer:
            raise GitHubError("the response of GitHub does not contain the owner of the token")
        return self._viewer

    def _graph(self, query: str, **variables: str | None) -> Any:
        """The data that a query asks for."""
        if not self._graphql:
            raise GitHubError(
                "the environment variables GITHUB_GRAPHQL_URL and GITHUB_API_URL name different hosts"
            )
        content = {"query": query, "variables": variables}
        answer = self._transport.ask("POST", self._graphql, content, safe=True)
        if at(answer, "errors"):
            raise GitHubError("GitHub refused a query")
        return at(answer, "data")

    def default_branch(self) -> str:
        """The default branch of the repository."""
        name = text_at(self.ask("GET", ""), "default_branch")
        if not name:
            raise GitHubError("the response of GitHub does not contain the default branch")
        return name

    def merged(self, sha: str) -> list[MergedPullRequest]:
        """The merged pull requests that a commit came with. Right after a merge GitHub may not know yet."""
        requests = []
        for found in self._items(f"/commits/{sha}/pulls"):
            number, merged = number_at(found, "number"), text_at(found, "merged_at")
            if number is not None and merged:
                commit, head = text_at(found, "merge_commit_sha"), text_at(found, "head", "sha")
                requests.append(
                    MergedPullRequest(number, merged, commit, head, text_at(found, "base", "ref"))
                )
        return requests

    def pull_request(self, number: int) -> PullRequest:
        """What a pull request is now."""
        found = self.ask("GET", f"/pulls/{number}")
        if not isinstance(found, dict):
            raise GitHubError("the response of GitHub is not a pull request")
        return PullRequest(
            text_at(found, "head", "repo", "full_name"),
            text_at(found, "head", "sha"),
            text_at(found, "base", "ref"),
            found.get("state") == "open",
            text_at(found, "merge_commit_sha"),
        )

    def approvals(self, number: int) -> list[Review]:
        """The approvals of a pull request that nobody has taken back."""
        last: dict[str, Review | None] = {}
        for found in self._items(f"/pulls/{number}/reviews"):
            state, author = found.get("state"), text_at(found, "user", "login")
            if state == "APPROVED":
                last[author] = Review(author, text_at(found, "submitted_at"))
            elif state in ("CHANGES_REQUESTED", "DISMISSED"):
                last[author] = None
        return [review for review in last.values() if review is not None]

    # Comments.

    def comments(self, number: int) -> list[GitHubText]:
        """All comments of an issue or pull request, the oldest first."""
        found = [_comment(one) for one in self._items(f"/issues/{number}/comments")]
        return sorted(found, key=lambda one: one.number)

    def comment(self, number: int, body: str) -> GitHubText:
        """Write a comment into an issue or pull request."""
        return _comment(self.ask("POST", f"/issues/{number}/comments", {"body": body}))

    def edit_comment(self, id_: int, body: str) -> GitHubText:
        """Replace the body of a comment."""
        return _comment(self.ask("PATCH", f"/issues/comments/{id_}", {"body": body}, safe=True))

    def written(self, comment: GitHubText) -> Written:
        """Who has written a comment of ours, by all of its edits; with what it says at that moment."""
        after, strangers, first = None, False, None
        for _ in range(PAGES):
            found = at(self._graph(_EDITS, id=comment.node, after=after), "node")
            if not isinstance(found, dict):
                raise GitHubError("the response of GitHub does not contain the author of the comment")
            author = at(found, "author")  # None of somebody whose account is gone
            first = first or found
            edits = at(found, "userContentEdits")
            nodes = at(edits, "nodes") or []
            editors = [at(one, "editor") for one in nodes]
            if text_at(found, "lastEditedAt"):
                editors.append(at(found, "editor"))
                strangers = strangers or not nodes
            strangers = strangers or author is None or any(one != author for one in editors)
            if at(edits, "pageInfo", "hasNextPage") is not True:
                break
            after = text_at(edits, "pageInfo", "endCursor")
        else:
            strangers = True
        created = text_at(first, "createdAt")
        return Written(
            ours=at(first, "viewerDidAuthor") is True and not strangers,
            body=text_at(first, "body"),
            created=created,
            last=text_at(first, "lastEditedAt") or created,
        )

    def delete_comment(self, id_: int) -> None:
        """Delete a comment."""
        self.ask("DELETE", f"/issues/comments/{id_}")

    def react(self, id_: int, what: str) -> None:
        """Put a reaction on a comment, as `eyes`. It is worth one try: nothing is waited for."""
        url = f"{self._repository}/issues/comments/{id_}/reactions"
        self._transport.send("POST", url, {"content": what}, tries=1)

    # Issues.

    def issues(self, author: str) -> list[GitHubText]:
        """The issues that somebody has opened, open and closed, the oldest first."""
        found = self._items("/issues", {"state": "all", "creator": author})
        issues = [_issue(one) for one in found if "pull_request" not in one]
        return sorted(issues, key=lambda one: one.number)

    def open_issue(self, title: str, body: str, labels: tuple[str, ...] = ()) -> GitHubText:
        """Open an issue."""
        return _issue(self.ask("POST", "/issues", {"title": title, "body": body, "labels": list(labels)}))

    def edit_issue(self, number: int, **content: str) -> GitHubText:
        """Replace members of an issue: `body`, `state`, `state_reason`."""
        return _issue(self.ask("PATCH", f"/issues/{number}", content, safe=True))


def _comment(found: Any) -> GitHubText:
    return _as_text(found, number_at(found, "id"))


def _issue(found: Any) -> GitHubText:
    return _as_text(found, number_at(found, "number"))


def _as_text(found: Any, number: int | None) -> GitHubText:
    if number is None:
        raise GitHubError("the response of GitHub is neither a comment nor an issue")
    return GitHubText(
        number,
        text_at(found, "body"),
        text_at(found, "user", "login"),
        text_at(found, "html_url"),
        text_at(found, "updated_at"),
        found.get("state", "open") == "open",
        text_at(found, "node_id"),
    )
