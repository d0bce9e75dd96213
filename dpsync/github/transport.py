"""Send one HTTP request to GitHub.

Members of JSON that GitHub has sent, an answer or an event. One without the expected form is missing.

How requests reach GitHub: which are sent again, how long is waited, how a list is read, what is an error.

The token goes to the configured origin alone. Which requests there are, api.py and branches.py say.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx

from dpsync.client.platform import origin


def at(found: Any, *names: str) -> Any:
    """The member under these names, each inside the one before; None where there is none."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def text_at(found: Any, *names: str) -> str:
    """The text there, "" where there is none."""
    value = at(found, *names)
    return value if isinstance(value, str) else ""


def number_at(found: Any, *names: str) -> int | None:
    """The whole number there, None where there is none."""
    value = at(found, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


PAGES: Final = 50
"""Pages of a list that are read, of 100 items each."""
TRIES: Final = 3
PATIENCE: Final = 180.0
"""Seconds that are waited, all in all, because GitHub asks for it."""
MINUTE: Final = 60.0
"""Seconds to wait after a rate limit that does not say how long: GitHub asks for "at least one minute"."""
PAUSE: Final = 1.0
"""Seconds before a request is sent again after a fault; twice as many before the next time."""
_LARGEST: Final = 80_000_000
"""Largest answer in bytes: a page of 100 comments of 65,536 characters, with 12 bytes per character.

Anyone may write such comments, and dpsync must be able to find a plan among them.
"""
_SENTENCE: Final = 300
_SECONDARY: Final = ("rate limit", "abuse detection")
"""What GitHub says of a limit that no header tells of."""
_NEXT: Final = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next"?')


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

    @property
    def missing(self) -> bool:
        """There is no such thing, or not for this token."""
        return self.status == 404


class GitHubTransport:
    """The connections to one GitHub with one token. Every request raises GitHubError.

    `url` is where its API begins. `wait` takes the seconds that GitHub asks to wait.
    """

    def __init__(self, url: str, token: str, wait: Callable[[float], None]) -> None:
        self.wait = wait
        self._origin = origin(url)
        self._left = PATIENCE
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "dpsync",
        }
        # Without TLS there are no certificates to load, which takes longer than a request.
        tls = url.startswith("https:")
        self._http = httpx.Client(headers=headers, timeout=15, follow_redirects=False, verify=tls)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(
        self,
        method: str,
        url: str,
        content: dict[str, Any] | None = None,
        tries: int = TRIES,
        safe: bool = False,
    ) -> httpx.Response:
        """The answer to a request, whatever it holds.

        It is sent again where it did nothing, after a rate limit; and after any fault where that is `safe`,
        as a GET always is: sent twice it does the same as sent once.
        """
        try:
            what = f"{method} {httpx.URL(url).path}"
        except (httpx.InvalidURL, UnicodeError):
            raise GitHubError(f"{method}: the URL of GitHub is invalid") from None
        safe = safe or method == "GET"
        for left in reversed(range(tries)):
            again = PAUSE * 2 ** (tries - 1 - left)
            try:
                answer = self._http.request(method, url, json=content)
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
                if left and safe and self._may_wait(again):
                    continue
                raise GitHubError(f"{what}: GitHub did not respond ({type(error).__name__})") from None
            if len(answer.content) > _LARGEST:
                raise GitHubError(f"{what}: the response is too long", answer.status_code)
            if answer.is_success:
                return answer
            pause = _pause(answer)
            if pause is None and safe and answer.status_code >= 500:
                pause = again
            if left and pause is not None and self._may_wait(pause):
                continue
            raise GitHubError(
                f"{what}: GitHub responded with status {answer.status_code}",
                answer.status_code,
                _sentence(answer),
            )
        raise AssertionError

    def ask(self, method: str, url: str, content: dict[str, Any] | None, safe: bool) -> Any:
        """The JSON of the answer to a request; None where the answer is empty."""
        answer = self.send(method, url, content, safe=safe)
        return _json(answer) if answer.content else None

    def items(self, url: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Every item of a list. The next page is where the answer says, and on the same host."""
        path = httpx.URL(url).path
        page: str | None = str(httpx.URL(url, params={**query, "per_page": "100"}))
        for _ in range(PAGES):
            if page is None:
                return
            if origin(page) != self._origin:
                raise GitHubError("the URL of the next page is on another host than GitHub's API")
            answer = self.send("GET", page)
            found = _json(answer)
            if not isinstance(found, list):
                raise GitHubError(f"GET {path}: the response is not a list", answer.status_code)
            yield from (one for one in found if isinstance(one, dict))
            link = _NEXT.search(answer.headers.get("link", ""))
            page = link[1] if link else None
        if page is not None:
            raise GitHubError(f"GET {path} has more than {PAGES} pages")

    def _may_wait(self, pause: float) -> bool:
        """Whether that is not too long; then it was waited."""
        if pause > self._left:
            return False
        self._left -= pause
        self.wait(pause)
        return True


def _pause(answer: httpx.Response) -> float | None:
    """The seconds that GitHub asks to wait; None where this is no rate limit."""
    if answer.status_code not in (403, 429):
        return None
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    if answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        return max(1.0, float(reset) - time.time()) if reset.isdecimal() else MINUTE
    said = _sentence(answer).lower()
    limited = answer.status_code == 429 or any(words in said for words in _SECONDARY)
    return MINUTE if limited else None


def _sentence(answer: httpx.Response) -> str:
    """What GitHub says of an error, in a line."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    others = at(found, "errors")
    errors = [found, *(others if isinstance(others, list) else ())]
    said = [text_at(one, "message") for one in errors if isinstance(one, dict)]
    return " ".join(" ".join(said).split())[:_SENTENCE]


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise GitHubError("the response of GitHub is not JSON", answer.status_code) from None
