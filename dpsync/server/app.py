"""The HTTP service: an ASGI application over the table of operations.

A request is routed, authenticated, checked against the models of its row, and handed to the handler inside
one transaction when it may write. Handlers run on the event loop, one at a time, so that no two requests
mix.
"""

import logging
from collections import deque
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .clock import Clock, utc_now
from .context import Context
from .errors import ApiError, bad, missing
from .jobs import Jobs
from .openapi import document
from .operation import Operation
from .operations import JOBS, OPERATIONS
from .routing import Routes
from .sources import Sources
from .store import Store

LARGEST_BODY = 10 * 1024 * 1024
PROFILES = ("reference", "full")
_log = logging.getLogger("dpsync.server")


class Companion:
    """The application. `requests` is a bounded log of (method, path, status) that a test may read and clear.

    With `check_answers` every answer is held against the model that its row declares, and a difference is a
    500 and an entry in `violations`: for tests.
    """

    def __init__(self, store: Store, profile: str, clock: Clock, check_answers: bool = False) -> None:
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}: one of {', '.join(PROFILES)}")
        self.store = store
        self.profile = profile
        self.clock = clock
        self.check_answers = check_answers
        self.requests: deque[tuple[str, str, int]] = deque(maxlen=10_000)
        self.violations: list[str] = []
        self._routes = Routes((row.method, "/v1" + row.path, row) for row in OPERATIONS)
        self._document: bytes | None = None
        self.sources = Sources()
        self._jobs = Jobs(store, lambda: self.clock(), self.sources, JOBS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            request = Request(scope, receive)
            try:
                response = await self._answer(request)
            except ClientDisconnect:
                return
            self.requests.append((request.method, scope["path"], response.status_code))
            self._jobs.start()
            await response(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, request: Request) -> Response:
        try:
            path = _path(request.scope)
            if path == ["v1", "openapi.json"] and request.method == "GET":
                return _json(200, self.openapi())
            operation, params = self._route(request.method, path)
            user = self._user(request)
            if not operation.served(self.profile):
                raise ApiError(501, _why_unserved(operation, self.profile))
            body = _body(operation, request, await _read(request))
            query = _checked(operation.query, dict(request.query_params), "query")
            return self.run(operation, Context(self.store, user, self.clock(), params, query, body))
        except ApiError as error:
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
            return _json(error.status, to_json(error.body()), headers)
        except ClientDisconnect:
            raise
        except Exception:
            _log.exception("%s %s failed", request.method, request.url.path)
            return _json(500, to_json(ApiError(500, "internal error: see the log of the companion").body()))

    def _route(self, method: str, path: list[str]) -> tuple[Operation, dict[str, str]]:
        found = self._routes.match(path)
        if not found:
            raise missing("path", "/" + "/".join(path))
        if method not in found:
            raise ApiError(405, f"{method} is not allowed here, only {', '.join(sorted(found))}")
        return found[method]

    def _user(self, request: Request) -> str:
        user = self.caller(request)
        if user is None:
            raise ApiError(401, "a valid token is needed: Authorization: Bearer TOKEN")
        return user

    def caller(self, request: Request) -> str | None:
        """The user whose token the request has."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        record = self.store.get("token", token.strip()) if scheme.lower() == "bearer" else None
        return record.ref if record else None

    def named(self, scope: Scope) -> tuple[Operation | None, list[str]]:
        """The operation that a request is for, served or not, and the segments of its path."""
        path = _path(scope)
        found, _ = self._routes.match(path).get(scope["method"], (None, {}))
        return found, path

    def run(self, operation: Operation, ctx: Context) -> Response:
        """A checked request: its handler, in a transaction when it writes, and the answer."""
        if operation.handler is None:
            raise ApiError(501, _why_unserved(operation, self.profile))
        ctx.needs, ctx.full = operation.needs, self.profile == "full"
        with nullcontext() if operation.method == "GET" else self.store.transaction():
            result = operation.handler(ctx)
        if operation.answer is None:
            return Response(status_code=operation.status)
        if self.check_answers:
            self._hold_against(operation, operation.answer, result)
        return _json(201 if ctx.created else operation.status, to_json(result))

    def _hold_against(self, operation: Operation, model: type[BaseModel], result: Any) -> None:
        try:
            model.model_validate_json(to_json(result))
        except ValidationError as error:
            self.violations.append(f"{operation.id}: {error}")
            raise

    def openapi(self) -> bytes:
        if self._document is None:
            self._document = to_json(document([row for row in OPERATIONS if row.served(self.profile)]))
        return self._document


def build(
    store: Store,
    *,
    profile: str = "full",
    clock: Clock | None = None,
    check_answers: bool = False,
    allow_fetch: Collection[str] = (),
) -> Companion:
    """The ASGI application over a store.

    `allow_fetch`: the hosts beside loopback that OpenAPI documents may be fetched from.
    """
    app = Companion(store, profile, clock or utc_now, check_answers)
    app.sources.allowed = allow_fetch
    return app


def _why_unserved(operation: Operation, profile: str) -> str:
    if operation.handler is None:
        return f"{operation.id} is an operation of the API that is not served yet"
    return f"{operation.id} is an addition, not served with the profile {profile}"


def _path(scope: Scope) -> list[str]:
    """The segments of the path, each decoded by itself: an encoded slash does not make a segment."""
    raw = scope.get("raw_path") or scope["path"].encode()
    return [unquote(segment) for segment in raw.split(b"?")[0].decode("latin-1").removeprefix("/").split("/")]


def _json(status: int, content: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, "application/json")


async def _read(request: Request) -> bytes:
    """The body, refused as soon as it is known to be too long."""
    too_long = ApiError(413, f"a body has at most {LARGEST_BODY} bytes")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > LARGEST_BODY:
        raise too_long
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_BODY:
            raise too_long
        chunks.append(chunk)
    return b"".join(chunks)


def _body(operation: Operation, request: Request, content: bytes) -> Any:
    if not content:
        if operation.body is not None and operation.body_required:
            raise bad("body: a JSON object is needed")
        return operation.body() if operation.body else None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, f"content type {kind or 'absent'!r}: application/json is needed")
    if operation.body is None:
        return None
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise bad(f"body: malformed JSON: {error}") from None
    return _checked(operation.body, value, "body")


def _checked(model: type[BaseModel], value: Any, where: str) -> BaseModel:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise bad(
            "; ".join(_complaints(error.errors(include_url=False, include_input=False), where))
        ) from None


def _complaints(errors: Iterable[Any], where: str) -> list[str]:
    found = [f"{'.'.join([where, *map(str, error['loc'])])}: {error['msg']}" for error in errors]
    return found[:5]


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
