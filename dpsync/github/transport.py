"""Send HTTP requests to GitHub, and read members of JSON responses.

`GitHubTransport` decides which requests are sent again and how long to wait, and reads lists page by page.
The token goes to the configured origin only. `member_at`, `text_at` and `number_at` read JSON from GitHub: a
member without the expected type counts as missing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx

from dpsync.client.platform import origin


def member_at(value: Any, *names: str) -> Any:
    """Return the member of nested JSON objects under a path of keys; None if there is none.

    Example: `member_at({"a": {"b": 1}}, "a", "b")` is 1.
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_at(body: Any, *names: str) -> str:
    """Return the string in nested JSON objects under a path of keys; "" if there is none."""
    value = member_at(body, *names)
    return value if isinstance(value, str) else ""


def number_at(body: Any, *names: str) -> int | None:
    """Return the integer in nested JSON objects under a path of keys; None if there is none."""
    value = member_at(body, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


MAX_PAGES: Final = 50
"""The largest number of pages of a list, of 100 items each."""
MAX_TRIES: Final = 3
MAX_WAIT_SECONDS: Final = 180.0
"""The longest total time in seconds that a transport waits, for example because of rate limits."""
RATE_LIMIT_WAIT_SECONDS: Final = 60.0
"""Seconds to wait after a rate limit that does not say how long: GitHub asks for "at least one minute"."""
RETRY_PAUSE_SECONDS: Final = 1.0
"""The pause in seconds before the first retry after a fault. It doubles with each retry."""
_MAX_RESPONSE_BYTES: Final = 80_000_000
"""Largest answer in bytes: a page of 100 comments of 65,536 characters, with 12 bytes per character.

Anyone may write such comments, and dpsync must be able to find a plan among them.
"""
_MAX_MESSAGE_CHARS: Final = 300
_SECONDARY_LIMIT_WORDS: Final = ("rate limit", "abuse detection")
"""Words in GitHub's message about a rate limit that no header shows."""
_NEXT_LINK: Final = re.compile(r'<([^<>]+)>\s*;[^,]*\brel="?next"?')


class GitHubError(Exception):
    """GitHub did not do what was requested.

    `status` is 0 if there was no response; `response_message` is the message in the response.
    """

    def __init__(self, problem: str, status: int = 0, response_message: str = "") -> None:
        self.problem = problem
        self.status = status
        self.response_message = response_message
        super().__init__(problem, status)

    @property
    def not_allowed(self) -> bool:
        """Whether the token lacks a permission, for example in a run for a fork."""
        return self.status in (401, 403, 404)

    @property
    def is_missing(self) -> bool:
        """Whether the object does not exist, or is not visible for this token."""
        return self.status == 404


class GitHubTransport:
    """Connections to one GitHub with one token. Every request raises GitHubError.

    `url` is the base URL of the API. `sleep` pauses for a number of seconds.
    """

    def __init__(self, url: str, token: str, wait: Callable[[float], None]) -> None:
        """Open a client for the API of GitHub at a URL. `wait` pauses for a number of seconds."""
        self.sleep = wait
        self._origin = origin(url)
        self._seconds_left = MAX_WAIT_SECONDS
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
        tries: int = MAX_TRIES,
        safe: bool = False,
    ) -> httpx.Response:
        """Send a request, and return the successful response.

        A request is sent again after a rate limit. A `safe` request, such as a GET, is also sent again after
        a fault, because sending it twice has the same effect as sending it once.
        """
        try:
            request = f"{method} {httpx.URL(url).path}"
        except (httpx.InvalidURL, UnicodeError):
            raise GitHubError(f"{method}: the URL of GitHub is invalid") from None
        safe = safe or method == "GET"
        for tries_left in reversed(range(tries)):
            retry_pause = RETRY_PAUSE_SECONDS * 2 ** (tries - 1 - tries_left)
            try:
                response = self._http.request(method, url, json=content)
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
                if tries_left and safe and self._wait(retry_pause):
                    continue
                raise GitHubError(f"{request}: GitHub did not respond ({type(error).__name__})") from None
            if len(response.content) > _MAX_RESPONSE_BYTES:
                raise GitHubError(f"{request}: the response is too long", response.status_code)
            if response.is_success:
                return response
            pause = _requested_pause(response)
            if pause is None and safe and response.status_code >= 500:
                pause = retry_pause
            if tries_left and pause is not None and self._wait(pause):
                continue
            raise GitHubError(
                f"{request}: GitHub responded with status {response.status_code}",
                response.status_code,
                _error_message(response),
            )
        raise AssertionError

    def request_json(self, method: str, url: str, content: dict[str, Any] | None, safe: bool) -> Any:
        """Send a request, and return the JSON of the response; None for an empty response."""
        response = self.send(method, url, content, safe=safe)
        return _parse_json(response) if response.content else None

    def items(self, url: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield every item of a list. A next page on another host is refused."""
        path = httpx.URL(url).path
        page: str | None = str(httpx.URL(url, params={**query, "per_page": "100"}))
        for _ in range(MAX_PAGES):
            if page is None:
                return
            if origin(page) != self._origin:
                raise GitHubError("the URL of the next page is on another host than GitHub's API")
            response = self.send("GET", page)
            page_items = _parse_json(response)
            if not isinstance(page_items, list):
                raise GitHubError(f"GET {path}: the response is not a list", response.status_code)
            yield from (item for item in page_items if isinstance(item, dict))
            link = _NEXT_LINK.search(response.headers.get("link", ""))
            page = link[1] if link else None
        if page is not None:
            raise GitHubError(f"GET {path} has more than {MAX_PAGES} pages")

    def _wait(self, pause: float) -> bool:
        """Wait before a retry, and return True; return False if the total waiting time would be too long."""
        if pause > self._seconds_left:
            return False
        self._seconds_left -= pause
        self.sleep(pause)
        return True


def _requested_pause(response: httpx.Response) -> float | None:
    """Return how many seconds GitHub asks to wait; None if the response is not about a rate limit."""
    if response.status_code not in (403, 429):
        return None
    after = response.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    if response.headers.get("x-ratelimit-remaining") == "0":
        reset = response.headers.get("x-ratelimit-reset", "")
        return max(1.0, float(reset) - time.time()) if reset.isdecimal() else RATE_LIMIT_WAIT_SECONDS
    message = _error_message(response).lower()
    limited = response.status_code == 429 or any(words in message for words in _SECONDARY_LIMIT_WORDS)
    return RATE_LIMIT_WAIT_SECONDS if limited else None


def _error_message(response: httpx.Response) -> str:
    """Return the messages in GitHub's error response joined into one line; "" without any."""
    try:
        body = response.json()
    except ValueError:
        return ""
    error_list = member_at(body, "errors")
    errors = [body, *(error_list if isinstance(error_list, list) else ())]
    messages = [text_at(error, "message") for error in errors if isinstance(error, dict)]
    return " ".join(" ".join(messages).split())[:_MAX_MESSAGE_CHARS]


def _parse_json(response: httpx.Response) -> Any:
    """Return the JSON of a response. Raises GitHubError for invalid JSON."""
    try:
        return response.json()
    except ValueError:
        raise GitHubError("the response of GitHub is not JSON", response.status_code) from None
