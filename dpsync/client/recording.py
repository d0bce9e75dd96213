"""Record the responses to a client, so that a rehearsal can load them into a local server.

Only responses to GET are recorded. They may hold keys and tokens, so never print or save a recording.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from pydantic_core import from_json

from dpsync.client.transport import Request, Response, Stats, Transport

_PAGE_PARAMETERS = ("limit", "page")
Filters = tuple[tuple[str, str], ...]
"""The query of a request without the parameters that select a page."""


class RecordedAnswer(Struct, frozen=True):
    """The response to one path. `status` is 200, or the reason why there is no content (403, 404).

    `content` is the parsed JSON, for a list the items of all pages, or the text of a response that is not
    JSON.
    """

    path: str
    filters: Filters
    status: int
    content: Any


class Recording:
    """The latest response for each path and query of one client. Threads may share a recording."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str], Response] = {}
        self._seconds: list[float] = []
        self._first_request_at = self._last_response_at = 0.0
        self._is_stopped = False

    def __repr__(self) -> str:
        return f"Recording({len(self._answers)})"

    def wrap_transport(self, inner: Transport) -> Transport:
        """Return a transport that records its responses here."""
        return _RecordingTransport(inner, self)

    def record(self, request: Request, response: Response, seconds: float) -> None:
        """Keep the response to a GET with status 200, 403 or 404, and the duration of each GET (`seconds`).

        A rehearsal makes a local copy of the platform from these responses.
        """
        with self._lock:
            if self._is_stopped or request.method != "GET":
                return
            self._seconds.append(seconds)
            now = time.monotonic()
            self._first_request_at, self._last_response_at = self._first_request_at or now - seconds, now
            if response.status in (200, 403, 404):
                self._answers[request.path, request.query] = response

    def stop(self) -> None:
        """Stop recording: later requests do not belong to the plan."""
        self._is_stopped = True

    @property
    def seconds(self) -> float:
        """Return the duration of the reading, from the first request to the last response."""
        return self._last_response_at - self._first_request_at

    @property
    def latency(self) -> float:
        """Return the median duration of the responses in seconds; 0 without responses."""
        ordered = sorted(self._seconds)
        return ordered[len(ordered) // 2] if ordered else 0.0

    @property
    def requests(self) -> int:
        """Return the number of requests with a response."""
        return len(self._seconds)

    def header(self, name: str) -> str | None:
        """Return the first value of a header in the recorded responses; None if no response has it."""
        return next(
            (response.headers[name] for response in self._answers.values() if name in response.headers), None
        )

    def joined_answers(self) -> Iterator[RecordedAnswer]:
        """Yield one response for each path and filters that were read, with the pages of a list joined.

        Pages differ only in the query parameter `page`, the cursor; the first page has none.
        """
        first_pages: dict[tuple[str, Filters], Response] = {}
        later_pages: dict[tuple[str, Filters], dict[str, Response]] = defaultdict(dict)
        for (path, query), response in self._answers.items():
            cursor = dict(parse_qsl(query, keep_blank_values=True)).get("page")
            if cursor is None:
                first_pages[path, filters_of(query)] = response
            else:
                later_pages[path, filters_of(query)][cursor] = response
        for (path, filters), response in first_pages.items():
            content = _parse_content(response) if response.status == 200 else None
            if isinstance(content, dict) and isinstance(content.get("items"), list):
                content = list(_joined_items(content, later_pages[path, filters]))
            yield RecordedAnswer(path, filters, response.status, content)

    def find_answer(self, path: str, query: str) -> Response | None:
        """Return the response to one path and query, unchanged."""
        return self._answers.get((path, query))


class _RecordingTransport:
    """A transport that records its responses."""

    def __init__(self, inner: Transport, recording: Recording) -> None:
        self._inner = inner
        self._recording = recording

    def send(self, request: Request) -> Response:
        """Send a request, and record the response with its duration."""
        started_at = time.monotonic()
        response = self._inner.send(request)
        self._recording.record(request, response, time.monotonic() - started_at)
        return response

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def stats(self) -> Stats:
        """Return the number of requests so far."""
        return self._inner.stats()


def filters_of(query: str) -> Filters:
    """Return the query parameters that filter a list, without those that select a page of it."""
    return tuple(pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in _PAGE_PARAMETERS)


def _joined_items(page: Any, later_pages: dict[str, Response]) -> Iterator[Any]:
    """Yield the items of a list's first page and of all following pages.

    `later_pages` has the following pages by cursor.
    """
    seen: set[str] = set()
    while True:
        yield from page["items"]
        cursor = (page.get("next") or {}).get("page")
        if cursor is None or cursor in seen or cursor not in later_pages:
            return
        seen.add(cursor)
        page = _parse_content(later_pages[cursor])


def _parse_content(response: Response) -> Any:
    """Return the parsed JSON of a response, or else its text."""
    try:
        return from_json(response.body)
    except ValueError:
        return response.body.decode(errors="replace")
