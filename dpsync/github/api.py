"""What is asked of GitHub: comments, reviews, issues; branches.py has what is asked about branches.

Nothing here decides what an apply or a plan comes to: whoever calls says what to do without an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

from dpsync.client.platform import origin
from dpsync.github.members import number_at, text_at
from dpsync.github.transport import GitHubError, Transport

BOT: Final = "github-actions[bot]"
"""Whose texts are ours, where GitHub does not say whose token it is."""


@dataclass(frozen=True)
class Text:
    """A comment or an issue. `number` is the id of the comment or the number of the issue."""

    number: int
    body: str
    author: str
    url: str
    updated: str = ""
    open: bool = True


@dataclass(frozen=True)
class Review:
    """Somebody's last word on a pull request, where that was an approval; `at` is GitHub's time."""

    author: str
    at: str


@dataclass(frozen=True)
class PullRequest:
    """A pull request as it is now. `repository` has its branch: "" where that is gone. `base` is a branch."""

    repository: str
    head: str
    base: str
    open: bool


class GitHub:
    """One repository. Every method raises GitHubError."""

    def __init__(
        self,
        url: str,
        token: str,
        repository: str,
        graphql: str = "",
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        api = url.rstrip("/")
        self._transport = Transport(api, token, wait)
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
    ) -> Any:
        """One request about the repository, and the JSON of its answer. `path` is quoted already."""
        url = httpx.URL(self._repository + path, params=query or None)
        return self._transport.ask(method, str(url), content)

    def pause(self, seconds: float) -> None:
        """Let others go first."""
        self._transport.wait(seconds)

    def _items(self, path: str, query: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        return self._transport.items(self._repository + path, query or {})

    # Who and what.

    def viewer(self) -> str:
        """The name under which this token writes."""
        if not self._viewer:
            self._viewer = self._asked_viewer() or BOT
        return self._viewer

    def _asked_viewer(self) -> str:
        if not self._graphql:
            return ""
        try:
            answer = self._transport.ask("POST", self._graphql, {"query": "{ viewer { login } }"})
        except GitHubError:
            return ""
        return text_at(answer, "data", "viewer", "login")

    def merged_request(self, sha: str) -> int | None:
        """The number of the pull request whose merge made a commit."""
        for found in self._items(f"/commits/{sha}/pulls"):
            if found.get("merge_commit_sha") == sha and found.get("merged_at"):
                return number_at(found, "number")
        return None

    def pull_request(self, number: int) -> PullRequest:
        """What a pull request is now."""
        found = self.ask("GET", f"/pulls/{number}")
        if not isinstance(found, dict):
            raise GitHubError("GitHub answered something that is no pull request")
        return PullRequest(
            text_at(found, "head", "repo", "full_name"),
            text_at(found, "head", "sha"),
            text_at(found, "base", "ref"),
            found.get("state") == "open",
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

    def comments(self, number: int) -> list[Text]:
        """All comments of an issue or pull request, the oldest first."""
        found = [_comment(one) for one in self._items(f"/issues/{number}/comments")]
        return sorted(found, key=lambda one: one.number)

    def comment(self, number: int, body: str) -> Text:
        """Write a comment into an issue or pull request."""
        return _comment(self.ask("POST", f"/issues/{number}/comments", {"body": body}))

    def edit_comment(self, id_: int, body: str) -> Text:
        """Replace the body of a comment."""
        return _comment(self.ask("PATCH", f"/issues/comments/{id_}", {"body": body}))

    def delete_comment(self, id_: int) -> None:
        """Delete a comment."""
        self.ask("DELETE", f"/issues/comments/{id_}")

    def react(self, id_: int, what: str) -> None:
        """Put a reaction on a comment, as `eyes`. It is worth one try: nothing is waited for."""
        url = f"{self._repository}/issues/comments/{id_}/reactions"
        self._transport.send("POST", url, {"content": what}, tries=1)

    # Issues.

    def issues(self, author: str) -> list[Text]:
        """The issues that somebody has opened, open and closed, the oldest first."""
        found = self._items("/issues", {"state": "all", "creator": author})
        issues = [_issue(one) for one in found if "pull_request" not in one]
        return sorted(issues, key=lambda one: one.number)

    def open_issue(self, title: str, body: str, labels: tuple[str, ...] = ()) -> Text:
        """Open an issue."""
        return _issue(self.ask("POST", "/issues", {"title": title, "body": body, "labels": list(labels)}))

    def edit_issue(self, number: int, **content: str) -> Text:
        """Replace members of an issue: `body`, `state`, `state_reason`."""
        return _issue(self.ask("PATCH", f"/issues/{number}", content))


def _comment(found: Any) -> Text:
    return _as_text(found, number_at(found, "id"))


def _issue(found: Any) -> Text:
    return _as_text(found, number_at(found, "number"))


def _as_text(found: Any, number: int | None) -> Text:
    if number is None:
        raise GitHubError("GitHub answered something that is no comment and no issue")
    return Text(
        number,
        text_at(found, "body"),
        text_at(found, "user", "login"),
        text_at(found, "html_url"),
        text_at(found, "updated_at"),
        found.get("state", "open") == "open",
    )
