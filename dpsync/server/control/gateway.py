"""Pass requests to the API through the request log, the added latency, the rate limit and injected faults.

Faults are real: a reset is an RST on the socket, and a truncated body ends the connection. A fault "after" a
request happens after the database transaction of the request was committed.
"""

import asyncio
import time
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct
from msgspec.structs import replace
from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from ..errors import ApiError
from ..http.app import Companion
from ..http.request_parsing import MAX_BODY_BYTES
from ..store import StoreError
from . import connection
from .faults import (
    ContentTypeFault,
    CountedRule,
    DelayFault,
    DripFault,
    FaultSchedule,
    RepeatPageFault,
    ResetFault,
    ShiftPageFault,
    StatusFault,
    TruncateFault,
)
from .rate_limit import RateLimit
from .request_log import LoggedRequest, RequestLog

Headers = dict[str, str]
_JSON = "application/json"


class BufferedResponse(Struct, frozen=True):
    """A complete answer before it is sent. Names of headers are in lower case."""

    status: int
    headers: Headers
    body: bytes


class WaitCancelledError(Exception):
    """The request must not continue: the state was replaced, or the server stops."""


class Gateway:
    """An ASGI application around a local server. `latency` is added to each request, in seconds."""

    def __init__(
        self,
        companion: Companion,
        *,
        faults: FaultSchedule | None = None,
        rate_limit: RateLimit | None = None,
        latency: float = 0.0,
    ) -> None:
        self.companion = companion
        self.faults = faults or FaultSchedule()
        self.log = RequestLog()
        self._rate_limit = rate_limit
        self.latency = latency
        self._cancelled = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _ProxiedRequest(self, scope, receive, send).handle()
        else:
            await self.companion(scope, receive, send)

    def reset(self) -> None:
        """Clear the log, the faults and the counts of the rate limit, and drop waiting requests."""
        self.cancel_waits()
        self.log.clear()
        self.faults = FaultSchedule()
        if self._rate_limit:
            self._rate_limit.clear()

    def cancel_waits(self) -> None:
        """End every wait. Waiting requests are not carried out, and their connections are reset."""
        self._cancelled.set()
        self._cancelled = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait. Raise WaitCancelled if `cancel_waits` is called meanwhile."""
        if seconds > 0:
            cancelled = self._cancelled
            try:
                await asyncio.wait_for(cancelled.wait(), seconds)
            except TimeoutError:
                return
            raise WaitCancelledError

    def check_rate_limit(self, scope: Scope) -> tuple[Headers, BufferedResponse | None]:
        """Count a request of the caller, and return (rate limit headers, response 429 or None if allowed).

        Callers are told apart by their token, or without a token by their IP address.
        """
        if self._rate_limit is None:
            return {}, None
        request = Request(scope)
        address = request.client.host if request.client else ""
        allowance = self._rate_limit.consume(request.headers.get("authorization", address))
        headers = allowance.headers()
        if allowance.allowed:
            return headers, None
        return headers, _error_response(
            429, f"rate limit exceeded: more than {allowance.limit} requests in the time of the limit"
        )


class _ProxiedRequest:
    """One request on its way through the gateway."""

    def __init__(self, gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
        self._gateway = gateway
        self._original_scope = self._scope = scope
        self._receive = receive
        self._send = send
        self._started_at = time.perf_counter()
        self._status: int | None = None
        self._fault_kind: str | None = None
        self._rate_limit_headers: Headers = {}
        self._logged = False
        self._operation, self._segments = gateway.companion.find_operation(scope)
        try:
            self._caller = gateway.companion.find_caller(scope)
        except StoreError:  # the local server will answer 503
            self._caller = None

    async def handle(self) -> None:
        """Respond to the request after the configured latency, and log it.

        If a wait is cancelled (the server stops, or its data are replaced), reset the connection.
        """
        try:
            if self._gateway.latency:
                await self._gateway.wait(self._gateway.latency)
            await self._respond()
        except WaitCancelledError:
            await self._reset_connection()
        finally:
            self._log_request()

    async def _respond(self) -> None:
        """Answer the request: refuse it above the rate limit, apply the fault that it gets, or pass it on."""
        gateway = self._gateway
        self._rate_limit_headers, refusal = gateway.check_rate_limit(self._scope)
        if refusal is not None:
            await self._send_response(refusal)
            return
        query = self._scope["query_string"].decode("latin-1")
        counted_rule = gateway.faults.select_fault(
            self._operation, self._scope["method"], self._segments, query
        )
        if counted_rule is None:
            await gateway.companion(self._scope, self._receive, self._send_message)
            return
        self._fault_kind = counted_rule.rule.fault.kind
        await self._apply_fault(counted_rule, await self._buffer_request())

    async def _apply_fault(self, counted_rule: CountedRule, replay_request: Receive) -> None:
        """Respond to the request with the simulated fault of a rule, for tests of clients.

        With `when="before"`, the server that imitates GitBook (`_call_companion`) does not see the request.
        Other faults change, delay or cut its response. A fault that had no effect, such as pauses between
        parts of an empty body, is not counted as used.
        """
        match fault := counted_rule.rule.fault:
            case StatusFault(when="before"):
                await self._send_response(_fault_response(fault))
                return
            case ResetFault(when="before"):
                await self._reset_connection()
                return
            case DelayFault(when="before"):
                await self._gateway.wait(fault.seconds)
            case RepeatPageFault():
                self._scope = _first_page_scope(self._scope, fault.limit)
            case ShiftPageFault():
                self._scope = _page_scope(self._scope, fault.limit)
        answer = await self._call_companion(replay_request, self._scope)
        match fault:
            case StatusFault(when="after"):
                answer = _fault_response(fault)
            case ResetFault():
                await self._reset_connection()
                return
            case DelayFault(when="after"):
                await self._gateway.wait(fault.seconds)
            case TruncateFault():
                await self._send_half(answer)
                return
            case ContentTypeFault():
                answer = replace(answer, headers=answer.headers | {"content-type": fault.value})
            case DripFault():
                counted_rule.used -= not answer.body
                await self._send_response(answer, fault)
                return
            case RepeatPageFault():
                counted_rule.used -= answer.status != 200
            case ShiftPageFault():
                shifted = await self._shift_page(answer, fault.by)
                counted_rule.used -= shifted == answer
                answer = shifted
        await self._send_response(answer)

    # --- in -------------------------------------------------------------------------------------------

    async def _buffer_request(self) -> Receive:
        """Receive the whole request and return a `receive` that replays it.

        A fault must not happen while the client still sends the request.
        """
        messages: list[Message] = []
        size = 0
        while not messages or (messages[-1].get("more_body") and size <= MAX_BODY_BYTES):
            messages.append(await self._receive())
            size += len(messages[-1].get("body", b""))

        async def replay() -> Message:
            return messages.pop(0) if messages else await self._receive()

        return replay

    async def _call_companion(self, receive: Receive, scope: Scope) -> BufferedResponse:
        """Return the response of the server that imitates GitBook (the companion), without sending it."""
        status, headers, body = 500, {}, b""

        async def collect(message: Message) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                body += message.get("body", b"")

        await self._gateway.companion(scope, receive, collect)
        return BufferedResponse(status, headers, body)

    async def _shift_page(self, answer: BufferedResponse, by: int) -> BufferedResponse:
        """Return a page of a list as if `by` items had been inserted since the page before it was read.

        Then the page repeats items of the page before. A first page and an error are returned unchanged.
        """
        if answer.status != 200 or "page" not in dict(_parse_query(self._scope)):
            return answer
        page = from_json(answer.body)
        whole = await self._read_whole_list()
        if not page["items"] or page["items"][0] not in whole:
            return answer
        start = max(0, whole.index(page["items"][0]) - by)
        page["items"] = whole[start : start + len(page["items"])]
        body = to_json(page)
        return replace(answer, body=body, headers=answer.headers | {"content-length": str(len(body))})

    async def _read_whole_list(self) -> list[Any]:
        """Return all items of the list that the request reads, page by page."""

        async def receive_empty_body() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        items: list[Any] = []
        scope = _first_page_scope(self._scope, 1000)
        while True:
            page = from_json((await self._call_companion(receive_empty_body, scope)).body)
            items += page["items"]
            if "next" not in page:
                return items
            scope = _page_scope(scope, 1000, page["next"]["page"])

    # --- out ------------------------------------------------------------------------------------------

    async def _send_message(self, message: Message) -> None:
        """Send an ASGI message. Add the rate limit headers to the answer, and note its status for the log."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            extra_headers = [
                (name.encode(), value.encode("latin-1")) for name, value in self._rate_limit_headers.items()
            ]
            message = {**message, "headers": [*message["headers"], *extra_headers]}
        await self._send(message)

    async def _send_headers(self, answer: BufferedResponse) -> None:
        """Send the status and headers of an answer."""
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
        await self._send_message({"type": "http.response.start", "status": answer.status, "headers": headers})

    async def _send_response(self, answer: BufferedResponse, drip: DripFault | None = None) -> None:
        """Send an answer; with `drip`, in small parts with pauses, until the client disconnects."""
        await self._send_headers(answer)
        unsent = answer.body
        while drip and len(unsent) > drip.bytes:
            await self._send({"type": "http.response.body", "body": unsent[: drip.bytes], "more_body": True})
            unsent = unsent[drip.bytes :]
            if await self._disconnects_within(drip.seconds):
                return
        await self._send({"type": "http.response.body", "body": unsent})

    async def _disconnects_within(self, seconds: float) -> bool:
        """Wait, and return whether the client disconnected meanwhile. Raise WaitCancelled."""
        lost = asyncio.ensure_future(connection.wait_for_disconnect(self._receive))
        try:
            await self._gateway.wait(seconds)
            return lost.done()
        finally:
            lost.cancel()

    async def _send_half(self, answer: BufferedResponse) -> None:
        """Send half of the body, or nothing without a body, and close the connection."""
        if answer.body:
            await self._send_headers(answer)
            half = answer.body[: len(answer.body) // 2]
            await self._send({"type": "http.response.body", "body": half, "more_body": True})
        self._log_request()
        await connection.close_connection(self._scope, self._receive)

    async def _reset_connection(self) -> None:
        """Reset the connection, and log the request first: the log is complete before the client notices."""
        self._log_request()
        await connection.reset_connection(self._scope, self._receive)

    def _log_request(self) -> None:
        """Add the request to the log, unless it was logged already."""
        if self._logged:
            return
        self._logged = True
        scope = self._original_scope
        self._gateway.log.add(
            LoggedRequest(
                scope["method"],
                scope["path"],
                scope["query_string"].decode("latin-1"),
                self._operation.id if self._operation else None,
                self._caller,
                self._status,
                round((time.perf_counter() - self._started_at) * 1000, 3),
                self._fault_kind,
            )
        )


def _error_response(status: int, message: str) -> BufferedResponse:
    """Return an error as the API answers it."""
    body = to_json(ApiError(status, message).body())
    return BufferedResponse(status, {"content-type": _JSON, "content-length": str(len(body))}, body)


def _fault_response(fault: StatusFault) -> BufferedResponse:
    """Return the answer of a status fault, with the body and the `Retry-After` header that it asks for."""
    answer = _error_response(fault.status, "requested failure (fault)")
    if fault.body is not None:
        body = fault.body.encode()
        answer = replace(answer, body=body, headers={"content-length": str(len(body))})
    headers = {**answer.headers, "content-type": fault.content_type}
    if fault.retry_date is not None:
        headers["retry-after"] = formatdate(time.time() + fault.retry_date, usegmt=True)
    elif fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
    return replace(answer, headers=headers)


def _parse_query(scope: Scope) -> list[tuple[str, str]]:
    """Return the query parameters of a request, including empty ones."""
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _first_page_scope(scope: Scope, limit: int | None) -> Scope:
    """Return the request for the first page of the same list."""
    parameters = [(name, value) for name, value in _parse_query(scope) if name != "page"]
    return _page_scope({**scope, "query_string": urlencode(parameters).encode()}, limit)


def _page_scope(scope: Scope, limit: int | None, page: str | None = None) -> Scope:
    """Return the request for the same list with at most `limit` items per page, starting at `page`."""
    query: dict[str, list[str]] = {}
    for name, value in _parse_query(scope):
        query.setdefault(name, []).append(value)
    if limit is not None:
        requested_limit = query.get("limit", [""])[-1]
        query["limit"] = [
            str(
                min(limit, int(requested_limit))
                if requested_limit.isdecimal() and len(requested_limit) < 9
                else limit
            )
        ]
    if page is not None:
        query["page"] = [page]
    return {**scope, "query_string": urlencode(query, doseq=True).encode()}
