"""The few requests to GitHub: comments, reviews, issues; branches.py has those about branches.

The token goes to the configured origin alone.
Nothing here decides what an apply or a plan comes to: whoever calls says what to do without an answer.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

from dpsync.client.platform import origin

PAGES: Final = 50
"""Pages of a list that are read, of 100 each."""
TRIES: Final = 3
PATIENCE: Final = 60.0
"""Seconds that are waited, all in all, because GitHub asks for it."""
_LARGEST: Final = 20_000_000
_SENTENCE: Final = 300
_NEXT: Final = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next"?')
BOT: Final = "github-actions[bot]"
"""Whose texts are ours, where GitHub does not say whose token it is."""


class GitHubError(Exception):
    """GitHub did not do what was asked. `status` is 0 where it did not answer, `said` its own sentence."""

    def __init__(self, what: str, status: int = 0, said: str = "") -> None:
        self.what = what
        self.status = status
        self.said = said
        super().__init__(what, status)

    @property
    def not_allowed(self) -> bool:
        """The token may not do this: it is that of a fork, or lacks a permission."""
        return self.status in (401, 403, 404)


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
        self._url = url.rstrip("/")
        self._origin = origin(self._url)
        self._graphql = graphql if origin(graphql) == self._origin else ""
        self._repository = f"{self._url}/repos/{repository}"
        self._wait = wait
        self._left = PATIENCE
        self._viewer = ""
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "dpsync",
        }
        # Without TLS there are no certificates to load, which takes longer than a request.
        tls = self._url.startswith("https:")
        self._http = httpx.Client(headers=headers, timeout=15, follow_redirects=False, verify=tls)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

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
            answer = self._send("POST", self._graphql, {"query": "{ viewer { login } }"})
        except GitHubError:
            return ""
        for name in ("data", "viewer", "login"):
            answer = answer.get(name) if isinstance(answer, dict) else None
        return answer if isinstance(answer, str) else ""

    def merged_request(self, sha: str) -> int | None:
        """The number of the pull request whose merge made a commit."""
        for found in self._list(f"/commits/{sha}/pulls"):
            if found.get("merge_commit_sha") == sha and found.get("merged_at"):
                return _number(found, "number")
        return None

    def pull_request(self, number: int) -> PullRequest:
        """What a pull request is now."""
        found = self._send("GET", f"{self._repository}/pulls/{number}")
        if not isinstance(found, dict):
            raise GitHubError("GitHub answered something that is no pull request")
        head, base = _member(found, "head"), _member(found, "base")
        repository = _text(_member(head, "repo"), "full_name")
        return PullRequest(repository, _text(head, "sha"), _text(base, "ref"), found.get("state") == "open")

    def approvals(self, number: int) -> list[Review]:
        """The approvals of a pull request that nobody has taken back."""
        last: dict[str, Review | None] = {}
        for found in self._list(f"/pulls/{number}/reviews"):
            state, author = found.get("state"), _login(found)
            if state == "APPROVED":
                last[author] = Review(author, _text(found, "submitted_at"))
            elif state in ("CHANGES_REQUESTED", "DISMISSED"):
                last[author] = None
        return [review for review in last.values() if review is not None]

    # Comments.

    def comments(self, number: int) -> list[Text]:
        """All comments of an issue or pull request, the oldest first."""
        found = [_as_text(one, "id") for one in self._list(f"/issues/{number}/comments")]
        return sorted(found, key=lambda one: one.number)

    def comment(self, number: int, body: str) -> Text:
        answer = self._send("POST", f"{self._repository}/issues/{number}/comments", {"body": body})
        return _as_text(answer, "id")

    def edit_comment(self, id_: int, body: str) -> Text:
        answer = self._send("PATCH", f"{self._repository}/issues/comments/{id_}", {"body": body})
        return _as_text(answer, "id")

    def react(self, id_: int, what: str) -> None:
        """Put a reaction on a comment, as `eyes`. It is worth one try: nothing is waited for."""
        url = f"{self._repository}/issues/comments/{id_}/reactions"
        self._answer("POST", url, {"content": what}, tries=1)

    def delete_comment(self, id_: int) -> None:
        self._send("DELETE", f"{self._repository}/issues/comments/{id_}")

    # Issues.

    def issues(self, author: str) -> list[Text]:
        """The issues that somebody has opened, open and closed, the oldest first."""
        found = self._list("/issues", {"state": "all", "creator": author})
        issues = [_as_text(one, "number") for one in found if "pull_request" not in one]
        return sorted(issues, key=lambda one: one.number)

    def open_issue(self, title: str, body: str, labels: tuple[str, ...] = ()) -> Text:
        content = {"title": title, "body": body, "labels": list(labels)}
        return _as_text(self._send("POST", f"{self._repository}/issues", content), "number")

    def edit_issue(self, number: int, **content: str) -> Text:
        return _as_text(self._send("PATCH", f"{self._repository}/issues/{number}", content), "number")

    # Requests.

    def ask(
        self,
        method: str,
        path: str,
        content: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
    ) -> Any:
        """One request about the repository, and the JSON of its answer. `path` is quoted already."""
        return self._send(method, str(httpx.URL(self._repository + path, params=query or None)), content)

    def pause(self, seconds: float) -> None:
        """Let others go first."""
        self._wait(seconds)

    def _list(self, path: str, query: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        """Every item of a list. The next page is where the answer says, and on the same host."""
        url: str | None = str(httpx.URL(self._repository + path, params={**(query or {}), "per_page": "100"}))
        for _ in range(PAGES):
            if url is None:
                return
            if origin(url) != self._origin:
                raise GitHubError("GitHub names a next page on another host")
            answer = self._answer("GET", url, None)
            found = _json(answer)
            if not isinstance(found, list):
                raise GitHubError(f"GET {path} did not answer with a list", answer.status_code)
            yield from (one for one in found if isinstance(one, dict))
            link = _NEXT.search(answer.headers.get("link", ""))
            url = link[1] if link else None
        if url is not None:
            raise GitHubError(f"GET {path} has more than {PAGES} pages")

    def _send(self, method: str, url: str, content: dict[str, Any] | None = None) -> Any:
        answer = self._answer(method, url, content)
        return _json(answer) if answer.content else None

    def _answer(
        self, method: str, url: str, content: dict[str, Any] | None, tries: int = TRIES
    ) -> httpx.Response:
        """One request, again where it did nothing: after a rate limit, and a reading one after a fault."""
        what = f"{method} {httpx.URL(url).path}"
        for left in reversed(range(tries)):
            try:
                answer = self._http.request(method, url, json=content)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if left and method == "GET":
                    continue
                raise GitHubError(f"{what}: GitHub did not answer ({type(error).__name__})") from None
            if len(answer.content) > _LARGEST:
                raise GitHubError(f"{what}: the answer is too long", answer.status_code)
            if answer.is_success:
                return answer
            pause = _pause(answer)
            if left and pause is not None and pause <= self._left:
                self._left -= pause
                self._wait(pause)
                continue
            if left and method == "GET" and answer.status_code >= 500:
                continue
            raise GitHubError(
                f"{what}: GitHub answered {answer.status_code}", answer.status_code, _sentence(answer)
            )
        raise AssertionError


def _pause(answer: httpx.Response) -> float | None:
    """The seconds that GitHub asks to wait; None where this is no rate limit."""
    if answer.status_code not in (403, 429):
        return None
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    if answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        return max(1.0, float(reset) - time.time()) if reset.isdecimal() else PATIENCE
    return None


def _sentence(answer: httpx.Response) -> str:
    """What GitHub says of an error, in a line."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    said = [_text(found, "message")] if isinstance(found, dict) else []
    more = found.get("errors") if said else None
    said += [_text(one, "message") for one in more if isinstance(one, dict)] if isinstance(more, list) else []
    return " ".join(" ".join(said).split())[:_SENTENCE]


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise GitHubError("GitHub answered something that is not JSON", answer.status_code) from None


def _as_text(found: Any, number: str) -> Text:
    if not isinstance(found, dict) or (id_ := _number(found, number)) is None:
        raise GitHubError("GitHub answered something that is no comment and no issue")
    return Text(
        id_,
        _text(found, "body"),
        _login(found),
        _text(found, "html_url"),
        _text(found, "updated_at"),
        found.get("state", "open") == "open",
    )


def _login(found: dict[str, Any]) -> str:
    return _text(_member(found, "user"), "login")


def _member(found: dict[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _number(found: dict[str, Any], name: str) -> int | None:
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
