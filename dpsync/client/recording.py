"""What a client was answered, kept as it came: whoever rehearses a plan loads it into a companion.

Only answers to GET are kept. They may hold keys and tokens, so that nothing here is ever printed or saved.
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

_PAGING = ("limit", "page")
Filters = tuple[tuple[str, str], ...]
"""The query of a request without what only says which page is meant."""


class RecordedAnswer(Struct, frozen=True):
    """One path that was read. `status` is that of the answer: 200, or why there was none (403, 404).

    `content` is the JSON of an answer; of a list all its items. Of an answer that is no JSON it is the text.
    """

    path: str
    filters: Filters
    status: int
    content: Any


class Recording:
    """The answers of one client, by path and query; threads may share it. The last answer counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str], Response] = {}
        self._seconds: list[float] = []
        self._began = self._ended = 0.0
        self._over = False

    def __repr__(self) -> str:
        return f"Recording({len(self._answers)})"

    def around(self, inner: Transport) -> Transport:
        """A transport whose answers are kept here."""
        return _Recorded(inner, self)

    def put(self, request: Request, answer: Response, seconds: float) -> None:
        """Keep an answer, unless it says nothing about what is there."""
        with self._lock:
            if self._over or request.method != "GET":
                return
            self._seconds.append(seconds)
            now = time.monotonic()
            self._began, self._ended = self._began or now - seconds, now
            if answer.status in (200, 403, 404):
                self._answers[request.path, request.query] = answer

    def end(self) -> None:
        """Keep nothing more: what follows is no part of the plan."""
        self._over = True

    @property
    def seconds(self) -> float:
        """How long the reading took, from its first request to its last answer."""
        return self._ended - self._began

    @property
    def latency(self) -> float:
        """The median of what the answers took, in seconds; 0 where there were none."""
        ordered = sorted(self._seconds)
        return ordered[len(ordered) // 2] if ordered else 0.0

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        return len(self._seconds)

    def header(self, name: str) -> str | None:
        """A header that some answer had; None where none had it."""
        return next((one.headers[name] for one in self._answers.values() if name in one.headers), None)

    def readings(self) -> Iterator[RecordedAnswer]:
        """Each path that was read, with the pages of a list put together."""
        first: dict[tuple[str, Filters], Response] = {}
        later: dict[tuple[str, Filters], dict[str, Response]] = defaultdict(dict)
        for (path, query), answer in self._answers.items():
            cursor = dict(parse_qsl(query, keep_blank_values=True)).get("page")
            if cursor is None:
                first[path, filters_of(query)] = answer
            else:
                later[path, filters_of(query)][cursor] = answer
        for (path, filters), answer in first.items():
            content = _content(answer) if answer.status == 200 else None
            if _is_page(content):
                content = list(_items(content, later[path, filters]))
            yield RecordedAnswer(path, filters, answer.status, content)

    def answer(self, path: str, query: str) -> Response | None:
        """The answer to one request as it came."""
        return self._answers.get((path, query))


class _Recorded:
    """A transport that keeps in a recording what it is answered."""

    def __init__(self, inner: Transport, recording: Recording) -> None:
        self._inner = inner
        self._recording = recording

    def send(self, request: Request) -> Response:
        began = time.monotonic()
        answer = self._inner.send(request)
        self._recording.put(request, answer, time.monotonic() - began)
        return answer

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()


def filters_of(query: str) -> Filters:
    """A query without what only says which page is meant."""
    return tuple(pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in _PAGING)


def _is_page(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("items"), list)


def _items(page: Any, later: dict[str, Response]) -> Iterator[Any]:
    """The items of a page, and of those that follow it by their cursors."""
    seen: set[str] = set()
    while True:
        yield from page["items"]
        cursor = (page.get("next") or {}).get("page")
        if cursor is None or cursor in seen or cursor not in later:
            return
        seen.add(cursor)
        page = _content(later[cursor])


def _content(answer: Response) -> Any:
    try:
        return from_json(answer.body)
    except ValueError:
        return answer.body.decode(errors="replace")
