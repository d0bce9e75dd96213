"""The platform's API as two types: ReadClient has no way to write, WriteClient adds one.

Paths are relative to `/v1` and percent-encoded (`quote` for each id). Both are safe to share between threads.
What is raised is in `errors`; how often something is tried, in `retry`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from dpsync.client import responses as answers
from dpsync.client.deadline import Connections
from dpsync.client.errors import (
    BadList,
    ClientError,
    Interrupted,
    ListFault,
    Miscounted,
    NotJson,
    Unknown,
)
from dpsync.client.observer import Nobody, Observer
from dpsync.client.platform import origin, profile, world
from dpsync.client.rate_limit import Pace
from dpsync.client.responses import JSON, Params, WriteResult, quote
from dpsync.client.retry import Clock, RetryPolicy
from dpsync.client.transport import GetOnly, HttpTransport, Request, Response, Stats, Token, Trace, Transport
from dpsync.model.mask import Mask

if TYPE_CHECKING:
    from dpsync.client.recording import Recording

__all__ = ["JSON", "Params", "ReadClient", "WriteClient", "WriteResult", "quote"]

PAGE_LIMIT = 1000
_LONGEST_CURSOR = 8_192
"""Characters of a cursor: a longer one fits into no address."""
MAX_PAGES = 2000
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ReadClient:
    """Reads. `timeout` is for one request, `max_wait` for what one call may wait for rate limits; in seconds.

    Raises Malformed for a URL or token that cannot be used. `trace` sees every request, `observer` what is
    going on meanwhile, `recording` keeps what is answered.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30.0,
        max_wait: float = 60.0,
        transport: Transport | None = None,
        trace: Trace | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
        rate: float | None = None,
        recording: Recording | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._token = Token(token)
        self._mask = Mask([token])
        self._connections = Connections()
        inner = transport or HttpTransport(
            url, self._token, timeout=timeout, trace=trace, connections=self._connections
        )
        self._transport = GetOnly(inner if recording is None else recording.around(inner))
        self._world: str | None = None
        self.profile: str | None = None
        """The API edition that the server named in its first answer that named one."""
        self._first: tuple[Request, JSON | ClientError] | None = None
        self._cancelled = threading.Event()
        self._clock = clock or Clock()
        self.observer = observer or Nobody()
        self._policy = RetryPolicy(
            max_wait=max_wait, clock=self._clock, cancelled=self._cancelled, observer=self.observer
        )
        self._pace = Pace(self._clock, self._cancelled, self.observer, max_wait, rate)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def cancel(self) -> None:
        """Ends every wait and refuses every further request with Interrupted.

        What is under way is given up at once: of a write nobody knows then whether it was carried out.
        """
        self._cancelled.set()
        self._connections.cut()

    def pause(self, seconds: float) -> None:
        """Wait until the platform has gone on with its work; a cancel ends it."""
        self.observer.waits("platform at work", seconds)
        self._clock.wait(seconds, self._cancelled)

    @property
    def platform(self) -> str:
        """What names the platform in the ids file.

        Its origin; on loopback the world that the first answer named, once there was one.
        """
        return self._world or origin(self.url)

    @property
    def requests(self) -> int:
        """Requests tried so far, repeated ones included."""
        return self._transport.stats().total

    def stats(self) -> Stats:
        return self._transport.stats()

    def get(self, path: str, params: Params | None = None) -> JSON:
        """The JSON at a path. NotFound is the platform's own 404; any other kind of nothing is NotJson."""
        return self._ask(path, params)

    def text(self, path: str) -> str:
        """The plain text at a path: an answer that is no JSON of the platform's making."""
        request = answers.request("GET", path, None)

        def read() -> str:
            return answers.read_text(request, self._got(request))

        return self._policy.run(request, read, repeatable=True)

    def begin(self, path: str, params: Params | None = None) -> str | None:
        """Send the first GET of a reading, and return the API edition that the server names.

        The next `get` or `pages` with the same path and parameters gets this answer, or raises its error: so
        learning the edition costs no request of its own. If another path comes first, the answer is dropped.
        """
        request = answers.request("GET", path, params)
        found: JSON | ClientError
        try:
            found = self._ask(path, params)
        except Interrupted:
            raise
        except ClientError as error:
            found = error
        self._first = request, found
        return self.profile

    def _ask(self, path: str, params: Params | None) -> JSON:
        request = answers.request("GET", path, params)
        first, self._first = self._first, None
        if first is not None and first[0] == request:
            self.observer.answered(request.method)
            if isinstance(first[1], ClientError):
                raise first[1]
            return first[1]
        return self._policy.run(request, lambda: self._read(request), repeatable=True)

    def pages(self, path: str, params: Params | None = None, limit: int = PAGE_LIMIT) -> list[dict[str, Any]]:
        """Every item of a paginated list, or an error: never a part of it.

        Raises BadList when the pages do not end properly, or when an `id` comes on two of them (the list
        moved while it was read, so others may be missing). A list with other than as many items as its
        `count` says is read a second time; when that does not help, it is a BadList too. With a `limit` of 0
        the pages are as long as the platform makes them.
        """
        try:
            return self._every_page(path, params, limit)
        except Miscounted:
            self.observer.more(1)
            return self._every_page(path, params, limit)

    def _every_page(self, path: str, params: Params | None, limit: int) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        counts: set[int] = set()
        cursors: set[str] = set()
        ids: set[str] = set()
        asked: dict[str, Any] = {**(params or {}), **({"limit": limit} if limit else {})}
        for number in range(1, MAX_PAGES + 1):
            if number > 1:
                self.observer.more(1)
            envelope = self._ask(path, asked)
            page, cursor = _page(path, envelope, number)
            counts |= _count(path, envelope, number)
            fresh = {item["id"] for item in page if isinstance(item.get("id"), str)}
            if fresh & ids:
                raise BadList(path, "item repeated", number)
            ids |= fresh
            items += page
            if cursor is None:
                if counts - {len(items)}:
                    raise Miscounted(path, "the number of items differs from the count", number)
                return items
            if cursor in cursors:
                raise BadList(path, "cursor repeated", number)
            cursors.add(cursor)
            asked["page"] = cursor
        raise BadList(path, "too many pages", MAX_PAGES)

    def _read(self, request: Request) -> JSON:
        return answers.read_body(request, self._got(request))

    def _got(self, request: Request) -> Response:
        try:
            answer = self._in_pace(self._transport, request)
        finally:
            self.observer.answered(request.method)
        self.profile = self.profile or profile(answer.status, answer.headers)
        self._raise_for(request, answer)
        self._world = self._world or world(self.url, answer.headers)
        return answer

    def _in_pace(self, transport: Transport, request: Request) -> Response:
        """Send a request when the platform's rate allows it. Raises Interrupted after a cancel."""
        answer: Response | None = None
        self._pace.enter()
        try:
            if self._cancelled.is_set():
                raise Interrupted(request.method, request.path)
            answer = transport.send(request)
        finally:
            self._pace.leave(answer.headers if answer is not None else None)
        return answer

    def _raise_for(self, request: Request, answer: Response, secrets: Collection[str] = ()) -> None:
        def hide(text: str) -> str:
            for secret in sorted(filter(None, secrets), key=len, reverse=True):
                text = text.replace(secret, "[secret]")
            return self._mask(self._token.hide(text))

        if answer.status >= 300:
            # By no name: an exception that its own frame names stays until the collector runs.
            raise answers.failure(request, answer, hide, self._clock.wall)


class WriteClient(ReadClient):
    """Reads as ReadClient does, and writes."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30.0,
        max_wait: float = 60.0,
        transport: Transport | None = None,
        trace: Trace | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
        rate: float | None = None,
        recording: Recording | None = None,
    ) -> None:
        connections = Connections()
        self._writing = transport or HttpTransport(
            url, Token(token), timeout=timeout, trace=trace, connections=connections
        )
        super().__init__(
            url, token, timeout=timeout, max_wait=max_wait, transport=self._writing, clock=clock,
            observer=observer, rate=rate, recording=recording,
        )  # fmt: skip
        self._connections = connections  # reading and writing share them

    def send(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        *,
        repeatable: bool,
        secrets: Collection[str] = (),
    ) -> WriteResult:
        """One write. Any of 200 to 205 is a success; `body` None sends none.

        `secrets` are taken out of what the platform says to it, and to every later request.

        `repeatable` says that doing it twice is the same as doing it once; without it (every create), a
        failure that may have done something is Unknown at once and must be looked up. So is any 5xx, in both
        cases.
        """
        if method not in WRITES:
            raise ValueError(method)
        self._mask.add(secrets)
        request = answers.request(method, path, body=body)
        return self._policy.run(request, lambda: self._write(request, secrets), repeatable=repeatable)

    def _write(self, request: Request, secrets: Collection[str]) -> WriteResult:
        try:
            answer = self._in_pace(self._writing, request)
        except NotJson as error:
            status = error.status
        else:
            self._raise_for(request, answer, secrets)
            return answers.read_result(request, answer)
        raise Unknown(request.method, request.path, "unreadable", status)


def _page(path: str, envelope: JSON, number: int) -> tuple[list[dict[str, Any]], str | None]:
    """The items of a page, and the cursor of the following one (None: this was the last)."""
    fault: ListFault
    if not isinstance(envelope, dict):
        fault = "the response is not a list of objects"
    elif not isinstance(items := envelope.get("items"), list):
        fault = "no items"
    elif not all(isinstance(item, dict) for item in items):
        fault = "an item is not an object"
    else:
        following = envelope.get("next")
        cursor = following.get("page") if isinstance(following, dict) else following
        if cursor is None:
            return items, None
        if isinstance(cursor, str) and isinstance(following, dict) and 0 < len(cursor) <= _LONGEST_CURSOR:
            return items, cursor
        fault = "bad cursor"
    raise BadList(path, fault, number)


def _count(path: str, envelope: JSON, number: int) -> set[int]:
    """How many items the whole list has, as the page says it; empty where it says nothing."""
    count = envelope.get("count")
    if count is not None and type(count) is not int:
        raise BadList(path, "the count is not a number", number)
    return set() if count is None else {count}
