"""Send requests about comments, reviews, issues and pull requests to GitHub.

Requests about branches are in `ids_branch.py`. No method decides what happens if GitHub does not answer: the
callers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import sleep
from typing import Any, Final

import httpx
from msgspec import Struct

from dpsync.client.platform import origin
from dpsync.github.transport import MAX_PAGES, GitHubError, GitHubTransport, member_at, number_at, text_at

_EDITORS_QUERY: Final = """\
query ($id: ID!, $after: String) { node(id: $id) { ... on IssueComment {
  viewerDidAuthor body createdAt lastEditedAt
  author { __typename login } editor { __typename login }
  userContentEdits(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { editor { __typename login } }
  }
} } }"""


class GitHubText(Struct, frozen=True):
    """A comment or an issue. `number` is the id of a comment, or the number of an issue."""

    number: int
    body: str
    author: str
    url: str
    updated: str = ""
    open: bool = True
    node_id: str = ""
    """The id in GraphQL."""


class CommentAuthorship(Struct, frozen=True):
    """The authorship of a comment, and its text. Times are GitHub's.

    `is_only_ours`: whether this token created the comment and nobody else ever edited it, as far as GitHub
    says.
    """

    is_only_ours: bool
    body: str
    created: str
    last_edited: str
    """The time of the last edit, or of the creation."""


class Review(Struct, frozen=True):
    """An approval that is the last review of its author; `merged_at` is GitHub's time."""

    author: str
    submitted_at: str


class MergedPullRequest(Struct, frozen=True):
    """A merged pull request: `commit` is the merge commit on branch `base`, `head` its last own commit."""

    number: int
    merged_at: str
    commit: str
    head: str
    base: str


class PullRequest(Struct, frozen=True):
    """The present state of a pull request.

    `repository` contains the head branch; "" if it was deleted. `base` is a branch. `trial_merge` is the
    commit of GitHub's trial merge of an open pull request; "" if there is none.
    """

    repository: str
    head: str
    base: str
    open: bool
    trial_merge: str


class GitHub:
    """Requests about one repository. Every method raises GitHubError."""

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

    def request(
        self,
        method: str,
        path: str,
        content: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        safe: bool = False,
    ) -> Any:
        """Send a request about the repository, and return the JSON of the response.

        Args:
            path: The path below the repository, already percent-encoded.
            safe: Whether sending the request twice has the same effect as sending it once, so that it may be
                retried.
        """
        url = httpx.URL(self._repository + path, params=query or None)
        return self._transport.request_json(method, str(url), content, safe)

    def pause(self, seconds: float) -> None:
        """Wait for a number of seconds, so that other writers can finish first."""
        self._transport.sleep(seconds)

    def _list_items(self, path: str, query: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the JSON objects of all pages of a list of the repository."""
        return self._transport.items(self._repository + path, query or {})

    # Who and what.

    def viewer(self) -> str:
        """Return the login of the account that owns the token."""
        if not self._viewer:
            self._viewer = text_at(self._query("{ viewer { login } }"), "viewer", "login")
        if not self._viewer:
            raise GitHubError("the response of GitHub does not contain the owner of the token")
        return self._viewer

    def _query(self, query: str, **variables: str | None) -> Any:
        """Send a GraphQL query, and return its data.

        Raises GitHubError if GitHub refuses the query, or if its GraphQL URL is on another host than the API.
        """
        if not self._graphql:
            raise GitHubError(
                "the environment variables GITHUB_GRAPHQL_URL and GITHUB_API_URL name different hosts"
            )
        content = {"query": query, "variables": variables}
        response = self._transport.request_json("POST", self._graphql, content, safe=True)
        if member_at(response, "errors"):
            raise GitHubError("GitHub refused a query")
        return member_at(response, "data")

    def default_branch(self) -> str:
        """Return the default branch of the repository."""
        name = text_at(self.request("GET", ""), "default_branch")
        if not name:
            raise GitHubError("the response of GitHub does not contain the default branch")
        return name

    def merged_pull_requests(self, sha: str) -> list[MergedPullRequest]:
        """Return the merged pull requests that contain a commit.

        Right after a merge, GitHub may not know them yet.
        """
        requests = []
        for body in self._list_items(f"/commits/{sha}/pulls"):
            number, merged = number_at(body, "number"), text_at(body, "merged_at")
            if number is not None and merged:
                commit, head = text_at(body, "merge_commit_sha"), text_at(body, "head", "sha")
                requests.append(MergedPullRequest(number, merged, commit, head, text_at(body, "base", "ref")))
        return requests

    def pull_request(self, number: int) -> PullRequest:
        """Return the present state of a pull request."""
        body = self.request("GET", f"/pulls/{number}")
        if not isinstance(body, dict):
            raise GitHubError("the response of GitHub is not a pull request")
        return PullRequest(
            text_at(body, "head", "repo", "full_name"),
            text_at(body, "head", "sha"),
            text_at(body, "base", "ref"),
            body.get("state") == "open",
            text_at(body, "merge_commit_sha"),
        )

    def approvals(self, number: int) -> list[Review]:
        """Return the approvals of a pull request that still hold, at most one for each reviewer.

        A later request for changes or a dismissal ends an approval.
        """
        last: dict[str, Review | None] = {}
        for body in self._list_items(f"/pulls/{number}/reviews"):
            state, author = body.get("state"), text_at(body, "user", "login")
            if state == "APPROVED":
                last[author] = Review(author, text_at(body, "submitted_at"))
            elif state in ("CHANGES_REQUESTED", "DISMISSED"):
                last[author] = None
        return [review for review in last.values() if review is not None]

    # Comments.

    def comments(self, number: int) -> list[GitHubText]:
        """Return all comments of an issue or pull request, oldest first."""
        comments = [_parse_comment(body) for body in self._list_items(f"/issues/{number}/comments")]
        return sorted(comments, key=lambda comment: comment.number)

    def comment(self, number: int, body: str) -> GitHubText:
        """Write a comment into an issue or pull request."""
        return _parse_comment(self.request("POST", f"/issues/{number}/comments", {"body": body}))

    def edit_comment(self, id_: int, body: str) -> GitHubText:
        """Replace the body of a comment."""
        return _parse_comment(self.request("PATCH", f"/issues/comments/{id_}", {"body": body}, safe=True))

    def comment_authorship(self, comment: GitHubText) -> CommentAuthorship:
        """Return whether only this token wrote and edited a comment, with its present text and times.

        All edits are read from GraphQL, page by page. A comment with more edits than `MAX_PAGES` pages counts
        as edited by others.
        """
        after, edited_by_others, first = None, False, None
        for _ in range(MAX_PAGES):
            page = member_at(self._query(_EDITORS_QUERY, id=comment.node_id, after=after), "node")
            if not isinstance(page, dict):
                raise GitHubError("the response of GitHub does not contain the author of the comment")
            author = member_at(page, "author")  # null if the account was deleted
            first = first or page
            edits = member_at(page, "userContentEdits")
            nodes = member_at(edits, "nodes") or []
            editors = [member_at(edit, "editor") for edit in nodes]
            if text_at(page, "lastEditedAt"):
                editors.append(member_at(page, "editor"))
                edited_by_others = edited_by_others or not nodes
            edited_by_others = (
                edited_by_others or author is None or any(editor != author for editor in editors)
            )
            if member_at(edits, "pageInfo", "hasNextPage") is not True:
                break
            after = text_at(edits, "pageInfo", "endCursor")
        else:
            edited_by_others = True
        created = text_at(first, "createdAt")
        return CommentAuthorship(
            is_only_ours=member_at(first, "viewerDidAuthor") is True and not edited_by_others,
            body=text_at(first, "body"),
            created=created,
            last_edited=text_at(first, "lastEditedAt") or created,
        )

    def delete_comment(self, id_: int) -> None:
        """Delete a comment."""
        self.request("DELETE", f"/issues/comments/{id_}")

    def add_reaction(self, id_: int, reaction: str) -> None:
        """Add a reaction such as `eyes` to a comment, with one try only."""
        url = f"{self._repository}/issues/comments/{id_}/reactions"
        self._transport.send("POST", url, {"content": reaction}, tries=1)

    # Issues.

    def issues(self, author: str) -> list[GitHubText]:
        """Return the issues that an account opened, open and closed, oldest first."""
        bodies = self._list_items("/issues", {"state": "all", "creator": author})
        issues = [_parse_issue(body) for body in bodies if "pull_request" not in body]
        return sorted(issues, key=lambda issue: issue.number)

    def open_issue(self, title: str, body: str, labels: tuple[str, ...] = ()) -> GitHubText:
        """Open an issue."""
        return _parse_issue(
            self.request("POST", "/issues", {"title": title, "body": body, "labels": list(labels)})
        )

    def edit_issue(self, number: int, **content: str) -> GitHubText:
        """Replace fields of an issue: `body`, `state`, `state_reason`."""
        return _parse_issue(self.request("PATCH", f"/issues/{number}", content, safe=True))


def _parse_comment(body: Any) -> GitHubText:
    """Return a comment from GitHub's JSON; comments are identified by `id`."""
    return _parse_text(body, number_at(body, "id"))


def _parse_issue(body: Any) -> GitHubText:
    """Return an issue from GitHub's JSON; issues are identified by `number`."""
    return _parse_text(body, number_at(body, "number"))


def _parse_text(body: Any, number: int | None) -> GitHubText:
    """Return a comment or an issue from GitHub's JSON. Raises GitHubError without a number."""
    if number is None:
        raise GitHubError("the response of GitHub is neither a comment nor an issue")
    return GitHubText(
        number,
        text_at(body, "body"),
        text_at(body, "user", "login"),
        text_at(body, "html_url"),
        text_at(body, "updated_at"),
        body.get("state", "open") == "open",
        text_at(body, "node_id"),
    )
