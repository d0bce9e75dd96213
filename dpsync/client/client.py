"""Call the platform's API with a client that only reads (ReadClient), or also writes (WriteClient).

Paths are relative to `/v1` and percent-encoded (`quote` for each id). Threads may share a client. The
exceptions are in `errors.py`, and the rules for retries in `retry.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from dpsync.client import responses
from dpsync.client.deadline import Connections
from dpsync.client.errors import (
    ClientError,
    InterruptedRequestError,
    InvalidListError,
    ListFault,
    NotJsonError,
    UnknownOutcomeError,
    WrongItemCountError,
)
from dpsync.client.observer import NullObserver, Observer
from dpsync.client.platform import origin, profile_of_response, world_name
from dpsync.client.rate_limit import RateLimiter
from dpsync.client.responses import JSON, Params, WriteResult, quote
from dpsync.client.retry import Clock, RetryPolicy
from dpsync.client.transport import (
    GetOnlyTransport,
    HttpTransport,
    Request,
    Response,
    Stats,
    Token,
    Trace,
    Transport,
)
from dpsync.model.mask import Mask

if TYPE_CHECKING:
    from dpsync.client.recording import Recording

__all__ = ["JSON", "Params", "ReadClient", "WriteClient", "WriteResult", "quote"]

PAGE_LIMIT = 1000
_MAX_CURSOR_CHARS = 8_192
"""The maximum length of a cursor, in characters: a longer one does not fit into a URL."""
MAX_PAGES = 2000
WRITE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ReadClient:
    """A client that sends only GET requests.

    Args:
        url: The URL of the platform, without `/v1`.
        token: The API token.
        timeout: The seconds that one request may take.
        max_wait: The seconds that one call may wait for rate limits.
        transport: Sends the requests; None for HTTP.
        trace: Called after each request.
        clock: Tells the time and waits; tests have their own.
        observer: Receives the progress of the requests.
        rate: The highest number of requests per second; None for the limit that the platform announces.
        recording: Keeps the responses, for a rehearsal.

    Raises:
        InvalidClientValueError: If the client cannot use the URL or the token.
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
        http_transport = transport or HttpTransport(
            url, self._token, timeout=timeout, trace=trace, connections=self._connections
        )
        self._transport = GetOnlyTransport(
            http_transport if recording is None else recording.wrap_transport(http_transport)
        )
        self._world_name: str | None = None
        self.profile: str | None = None
        """The API version that the server has named; None before a response names one."""
        self._first_read: tuple[Request, JSON | ClientError] | None = None
        self._cancelled = threading.Event()
        self._clock = clock or Clock()
        self.observer = observer or NullObserver()
        self._policy = RetryPolicy(
            max_wait=max_wait, clock=self._clock, cancelled=self._cancelled, observer=self.observer
        )
        self._rate_limiter = RateLimiter(self._clock, self._cancelled, self.observer, max_wait, rate)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def cancel(self) -> None:
        """End every wait, and refuse further requests with InterruptedRequestError.

        Requests in flight are aborted at once. Nobody knows then whether an aborted write was carried out.
        """
        self._cancelled.set()
        self._connections.shut_down()

    def pause(self, seconds: float) -> None:
        """Wait this number of seconds for a process on the platform; `cancel` ends the wait."""
        self.observer.note_wait("platform at work", seconds)
        self._clock.wait(seconds, self._cancelled)

    @property
    def platform(self) -> str:
        """Return the name under which the ids file has the ids of this server.

        It is the origin of the URL. A local server that imitates GitBook has changing ports, so it sends the
        name of its data in a header, which is used instead.
        """
        return self._world_name or origin(self.url)

    @property
    def requests(self) -> int:
        """Return the number of requests so far, including retries."""
        return self._transport.stats().total

    def stats(self) -> Stats:
        """Return the number of requests so far, by method."""
        return self._transport.stats()

    def get(self, path: str, params: Params | None = None) -> JSON:
        """Return the JSON at a path.

        Raises NotFoundError only for a 404 of the API itself, and NotJsonError for any other response
        without JSON.
        """
        return self._get_json(path, params)

    def text(self, path: str) -> str:
        """Return the text at a path whose response is plain text instead of JSON."""
        request = responses.request("GET", path, None)

        def read() -> str:
            return responses.read_text(request, self._successful_response(request))

        return self._policy.run(request, read, repeatable=True)

    def begin(self, path: str, params: Params | None = None) -> str | None:
        """Send the first GET early, to learn the API version that the server names, and return the version.

        The next `get` or `pages` with the same path and parameters gets this response, or raises its error,
        so it costs no extra request. If another path comes first, the response is dropped. Raises only
        InterruptedRequestError; the version is None if no response named one.
        """
        request = responses.request("GET", path, params)
        first_result: JSON | ClientError
        try:
            first_result = self._get_json(path, params)
        except InterruptedRequestError:
            raise
        except ClientError as error:
            first_result = error
        self._first_read = request, first_result
        return self.profile

    def _get_json(self, path: str, params: Params | None) -> JSON:
        """Return the JSON at a path, or the response that `begin` has already read for this path.

        Raises ClientError.
        """
        request = responses.request("GET", path, params)
        first_read, self._first_read = self._first_read, None
        if first_read is not None and first_read[0] == request:
            self.observer.count_response(request.method)
            if isinstance(first_read[1], ClientError):
                raise first_read[1]
            return first_read[1]

        def read() -> JSON:
            return responses.read_body(request, self._successful_response(request))

        return self._policy.run(request, read, repeatable=True)

    def pages(self, path: str, params: Params | None = None, limit: int = PAGE_LIMIT) -> list[dict[str, Any]]:
        """Return all items of a paginated list. Raises an error instead of returning a part of the list.

        With a `limit` of 0, the platform chooses the length of a page. A list whose number of items differs
        from its `count` is read a second time.

        Raises:
            InvalidListError: If the pages do not end properly, if two pages contain the same `id` (the list
                changed during the reading, so other items may be missing), or if the count differs again.
        """
        try:
            return self._read_all_pages(path, params, limit)
        except WrongItemCountError:
            self.observer.add_reads(1)
            return self._read_all_pages(path, params, limit)

    def _read_all_pages(self, path: str, params: Params | None, limit: int) -> list[dict[str, Any]]:
        """Return all items of a paginated list, read once.

        Raises InvalidListError for a list that does not end properly, and WrongItemCountError if the number
        of items differs from the count in the responses.
        """
        items: list[dict[str, Any]] = []
        counts: set[int] = set()
        cursors: set[str] = set()
        ids: set[str] = set()
        parameters: dict[str, Any] = {**(params or {}), **({"limit": limit} if limit else {})}
        for number in range(1, MAX_PAGES + 1):
            if number > 1:
                self.observer.add_reads(1)
            envelope = self._get_json(path, parameters)
            page_items, cursor = _page_items(path, envelope, number)
            counts |= _item_counts(path, envelope, number)
            new_ids = {item["id"] for item in page_items if isinstance(item.get("id"), str)}
            if new_ids & ids:
                raise InvalidListError(path, "item repeated", number)
            ids |= new_ids
            items += page_items
            if cursor is None:
                if counts - {len(items)}:
                    raise WrongItemCountError(path, "the number of items differs from the count", number)
                return items
            if cursor in cursors:
                raise InvalidListError(path, "cursor repeated", number)
            cursors.add(cursor)
            parameters["page"] = cursor
        raise InvalidListError(path, "too many pages", MAX_PAGES)

    def _successful_response(self, request: Request) -> Response:
        """Send a request once, and return its response. Raises ClientError for an error status.

        Remembers the API version (`profile`) that the first response names, and the name of the data
        (`_world_name`) of a local server that imitates GitBook.
        """
        try:
            response = self._send_when_allowed(self._transport, request)
        finally:
            self.observer.count_response(request.method)
        self.profile = self.profile or profile_of_response(response.status, response.headers)
        self._raise_for_status(request, response)
        self._world_name = self._world_name or world_name(self.url, response.headers)
        return response

    def _send_when_allowed(self, transport: Transport, request: Request) -> Response:
        """Send a request as soon as the rate limit of the platform allows it.

        Raises InterruptedRequestError after a cancel.
        """
        response: Response | None = None
        self._rate_limiter.wait_for_turn()
        try:
            if self._cancelled.is_set():
                raise InterruptedRequestError(request.method, request.path)
            response = transport.send(request)
        finally:
            self._rate_limiter.finish_request(response.headers if response is not None else None)
        return response

    def _raise_for_status(self, request: Request, response: Response, secrets: Collection[str] = ()) -> None:
        """Raise the exception (ClientError) for a response with an error status (300 or more).

        The token and the `secrets` of the request are masked in its message.
        """

        def hide(text: str) -> str:
            """Return a text of the platform with the token and the secrets masked."""
            for secret in sorted(filter(None, secrets), key=len, reverse=True):
                text = text.replace(secret, "[secret]")
            return self._mask(self._token.hide(text))

        if response.status >= 300:
            # Not in a variable: the frame of the exception would keep it alive until garbage collection.
            raise responses.error_of_response(request, response, hide, self._clock.wall)


class WriteClient(ReadClient):
    """A ReadClient that can also write."""

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
        self._write_transport = transport or HttpTransport(
            url, Token(token), timeout=timeout, trace=trace, connections=connections
        )
        super().__init__(
            url, token, timeout=timeout, max_wait=max_wait, transport=self._write_transport, clock=clock,
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
        """Send one write request. Any status from 200 to 205 is a success.

        Args:
            method: POST, PUT, PATCH or DELETE.
            body: JSON; None sends no body.
            repeatable: Whether two requests have the same result as one. If not (every create), a failure
                that may have changed something raises UnknownOutcomeError at once, and the caller must look
                up the result. A 5xx always raises UnknownOutcomeError.
            secrets: Values to mask in error messages of the platform, for this and all later requests.
        """
        if method not in WRITE_METHODS:
            raise ValueError(method)
        self._mask.add(secrets)
        request = responses.request(method, path, body=body)
        return self._policy.run(request, lambda: self._write(request, secrets), repeatable=repeatable)

    def _write(self, request: Request, secrets: Collection[str]) -> WriteResult:
        """Send a write once, and return its result.

        Raises UnknownOutcomeError for a response that cannot be read, because the write may have been carried
        out.
        """
        try:
            response = self._send_when_allowed(self._write_transport, request)
        except NotJsonError as error:
            status = error.status
        else:
            self._raise_for_status(request, response, secrets)
            return responses.read_result(request, response)
        raise UnknownOutcomeError(request.method, request.path, "unreadable", status)


def _page_items(path: str, envelope: JSON, number: int) -> tuple[list[dict[str, Any]], str | None]:
    """Return the items of a page, and the cursor of the next page (None for the last page).

    Raises InvalidListError for a page of another shape.
    """
    fault: ListFault
    if not isinstance(envelope, dict):
        fault = "the response is not a list of objects"
    elif not isinstance(items := envelope.get("items"), list):
        fault = "no items"
    elif not all(isinstance(item, dict) for item in items):
        fault = "an item of the list is not a JSON object"
    else:
        next_page = envelope.get("next")
        cursor = next_page.get("page") if isinstance(next_page, dict) else next_page
        if cursor is None:
            return items, None
        if isinstance(cursor, str) and isinstance(next_page, dict) and 0 < len(cursor) <= _MAX_CURSOR_CHARS:
            return items, cursor
        fault = "bad cursor"
    raise InvalidListError(path, fault, number)


def _item_counts(path: str, envelope: JSON, number: int) -> set[int]:
    """Return the total number of items that a page announces, as a set; empty if it announces none.

    Raises InvalidListError for a count that is not a number.
    """
    count = envelope.get("count")
    if count is not None and type(count) is not int:
        raise InvalidListError(path, "the count is not a number", number)
    return set() if count is None else {count}
