"""Pass requests to the API through the log, the latency, the rate limit and the faults.

Faults are real: a reset is an RST on the socket, and a truncated body ends the connection. A fault "after" a
request happens after the commit.
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
from ..http.incoming import LARGEST_BODY
from ..store import StoreError
from . import connection
from .faults import (
    ContentType,
    CountedRule,
    Delay,
    Drip,
    FaultSchedule,
    RepeatPage,
    Reset,
    ShiftPage,
    Status,
    Truncate,
)
from .limit import RateLimit
from .log import LoggedRequest, RequestLog

Headers = dict[str, str]
_JSON = "application/json"


class WholeAnswer(Struct, frozen=True):
    """A complete answer before it is sent. Names of headers are in lower case."""

    status: int
    headers: Headers
    body: bytes


class DroppedConnectionError(Exception):
    """The request must not continue: the state was replaced, or the server stops."""


class Gateway:
    """An ASGI application around a companion. `latency` is added to each request, in seconds."""

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
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _Passage(self, scope, receive, send).pass_through()
        else:
            await self.companion(scope, receive, send)

    def clear(self) -> None:
        """Clear the log, the faults and the counts of the rate limit, and drop waiting requests."""
        self.drop()
        self.log.clear()
        self.faults = FaultSchedule()
        if self._rate_limit:
            self._rate_limit.clear()

    def drop(self) -> None:
        """End every wait. Waiting requests are not carried out, and their connections are reset."""
        self._over.set()
        self._over = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait. Raise DroppedConnectionError if `drop` is called meanwhile."""
        if seconds > 0:
            over = self._over
            try:
                await asyncio.wait_for(over.wait(), seconds)
            except TimeoutError:
                return
            raise DroppedConnectionError

    def limited(self, scope: Scope) -> tuple[Headers, WholeAnswer | None]:
        """Return the rate limit headers, and a refusal if the caller exceeds the limit, else None."""
        if self._rate_limit is None:
            return {}, None
        request = Request(scope)
        address = request.client.host if request.client else ""
        allowance = self._rate_limit.take(request.headers.get("authorization", address))
        headers = allowance.headers()
        if allowance.allowed:
            return headers, None
        return headers, _refusal(
            429, f"rate limit exceeded: more than {allowance.limit} requests in the time of the limit"
        )


class _Passage:
    """One request on its way through the gateway."""

    def __init__(self, gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
        self._gateway = gateway
        self._asked = self._scope = scope
        self._receive = receive
        self._send = send
        self._began = time.perf_counter()
        self._status: int | None = None
        self._fault: str | None = None
        self._headers: Headers = {}
        self._logged = False
        self._operation, self._segments = gateway.companion.named(scope)
        self._caller = _caller(gateway.companion, scope)

    async def pass_through(self) -> None:
        try:
            if self._gateway.latency:
                await self._gateway.wait(self._gateway.latency)
            await self._answer()
        except DroppedConnectionError:
            await self._reset()
        finally:
            self._log()

    async def _answer(self) -> None:
        gateway = self._gateway
        self._headers, refusal = gateway.limited(self._scope)
        if refusal is not None:
            await self._give(refusal)
            return
        query = self._scope["query_string"].decode("latin-1")
        met = gateway.faults.meet(self._operation, self._scope["method"], self._segments, query)
        if met is None:
            await gateway.companion(self._scope, self._receive, self._sending)
            return
        self._fault = met.rule.fault.kind
        await self._meet(met, await self._arrived())

    async def _meet(self, met: CountedRule, arrived: Receive) -> None:
        match fault := met.rule.fault:
            case Status(when="before"):
                await self._give(_status(fault))
                return
            case Reset(when="before"):
                await self._reset()
                return
            case Delay(when="before"):
                await self._gateway.wait(fault.seconds)
            case RepeatPage():
                self._scope = _first_page(self._scope, fault.limit)
            case ShiftPage():
                self._scope = _asking(self._scope, fault.limit)
        answer = await self._carried_out(arrived, self._scope)
        match fault:
            case Status(when="after"):
                answer = _status(fault)
            case Reset():
                await self._reset()
                return
            case Delay(when="after"):
                await self._gateway.wait(fault.seconds)
            case Truncate():
                await self._truncate(answer)
                return
            case ContentType():
                answer = replace(answer, headers=answer.headers | {"content-type": fault.value})
            case Drip():
                met.used -= not answer.body
                await self._give(answer, fault)
                return
            case RepeatPage():
                met.used -= answer.status != 200
            case ShiftPage():
                shifted = await self._shifted(answer, fault.by)
                met.used -= shifted == answer
                answer = shifted
        await self._give(answer)

    # --- in -------------------------------------------------------------------------------------------

    async def _arrived(self) -> Receive:
        """Receive the whole request and return a `receive` that replays it.

        A fault must not happen while the client still sends the request.
        """
        messages: list[Message] = []
        size = 0
        while not messages or (messages[-1].get("more_body") and size <= LARGEST_BODY):
            messages.append(await self._receive())
            size += len(messages[-1].get("body", b""))

        async def again() -> Message:
            return messages.pop(0) if messages else await self._receive()

        return again

    async def _carried_out(self, arrived: Receive, scope: Scope) -> WholeAnswer:
        """Return the answer of the companion without sending it."""
        status, headers, body = 500, {}, b""

        async def keep(message: Message) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                body += message.get("body", b"")

        await self._gateway.companion(scope, arrived, keep)
        return WholeAnswer(status, headers, body)

    async def _shifted(self, answer: WholeAnswer, by: int) -> WholeAnswer:
        """Return the page as if the list had moved by `by` items since the page before."""
        if answer.status != 200 or "page" not in dict(_query(self._scope)):
            return answer
        page = from_json(answer.body)
        whole = await self._whole()
        if not page["items"] or page["items"][0] not in whole:
            return answer
        start = max(0, whole.index(page["items"][0]) - by)
        page["items"] = whole[start : start + len(page["items"])]
        body = to_json(page)
        return replace(answer, body=body, headers=answer.headers | {"content-length": str(len(body))})

    async def _whole(self) -> list[Any]:
        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        items: list[Any] = []
        scope = _first_page(self._scope, 1000)
        while True:
            page = from_json((await self._carried_out(nothing, scope)).body)
            items += page["items"]
            if "next" not in page:
                return items
            scope = _asking(scope, 1000, page["next"]["page"])

    # --- out ------------------------------------------------------------------------------------------

    async def _sending(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            more = [(name.encode(), value.encode("latin-1")) for name, value in self._headers.items()]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)

    async def _start(self, answer: WholeAnswer) -> None:
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
        await self._sending({"type": "http.response.start", "status": answer.status, "headers": headers})

    async def _give(self, answer: WholeAnswer, slowly: Drip | None = None) -> None:
        await self._start(answer)
        rest = answer.body
        while slowly and len(rest) > slowly.bytes:
            await self._send({"type": "http.response.body", "body": rest[: slowly.bytes], "more_body": True})
            rest = rest[slowly.bytes :]
            if await self._left_within(slowly.seconds):
                return
        await self._send({"type": "http.response.body", "body": rest})

    async def _left_within(self, seconds: float) -> bool:
        """Wait, and return whether the client disconnected meanwhile. Raise DroppedConnectionError."""
        lost = asyncio.ensure_future(connection.lost(self._receive))
        try:
            await self._gateway.wait(seconds)
            return lost.done()
        finally:
            lost.cancel()

    async def _truncate(self, answer: WholeAnswer) -> None:
        if answer.body:
            await self._start(answer)
            half = answer.body[: len(answer.body) // 2]
            await self._send({"type": "http.response.body", "body": half, "more_body": True})
        self._log()
        await connection.close(self._scope, self._receive)

    async def _reset(self) -> None:
        """Reset the connection, and log the request first: the log is complete before the client notices."""
        self._log()
        await connection.reset(self._scope, self._receive)

    def _log(self) -> None:
        if self._logged:
            return
        self._logged = True
        scope = self._asked
        self._gateway.log.add(
            LoggedRequest(
                scope["method"],
                scope["path"],
                scope["query_string"].decode("latin-1"),
                self._operation.id if self._operation else None,
                self._caller,
                self._status,
                round((time.perf_counter() - self._began) * 1000, 3),
                self._fault,
            )
        )


def _caller(companion: Companion, scope: Scope) -> str | None:
    """Return the user of the request. Without a database, return None; the companion reports that error."""
    try:
        return companion.caller(scope)
    except StoreError:
        return None


def _refusal(status: int, message: str) -> WholeAnswer:
    body = to_json(ApiError(status, message).body())
    return WholeAnswer(status, {"content-type": _JSON, "content-length": str(len(body))}, body)


def _status(fault: Status) -> WholeAnswer:
    answer = _refusal(fault.status, "requested failure (fault)")
    if fault.body is not None:
        body = fault.body.encode()
        answer = replace(answer, body=body, headers={"content-length": str(len(body))})
    headers = {**answer.headers, "content-type": fault.content_type}
    if fault.retry_date is not None:
        headers["retry-after"] = formatdate(time.time() + fault.retry_date, usegmt=True)
    elif fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
    return replace(answer, headers=headers)


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _first_page(scope: Scope, limit: int | None) -> Scope:
    kept = [(name, value) for name, value in _query(scope) if name != "page"]
    return _asking({**scope, "query_string": urlencode(kept).encode()}, limit)


def _asking(scope: Scope, limit: int | None, page: str | None = None) -> Scope:
    """Return the request for the same list with at most `limit` items per page, starting at `page`."""
    query: dict[str, list[str]] = {}
    for name, value in _query(scope):
        query.setdefault(name, []).append(value)
    if limit is not None:
        given = query.get("limit", [""])[-1]
        query["limit"] = [str(min(limit, int(given)) if given.isdecimal() and len(given) < 9 else limit)]
    if page is not None:
        query["page"] = [page]
    return {**scope, "query_string": urlencode(query, doseq=True).encode()}
