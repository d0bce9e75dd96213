"""The HTTP service: an ASGI application over the table of operations.

A request is routed, authenticated, checked against the models of its row, and handed to the handler inside
one transaction when it may write. Handlers run on the event loop, one at a time, so that no two requests
mix.
"""

import logging
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from . import images, printing
from .clock import Clock, utc_now
from .context import Context
from .errors import ApiError, bad, missing
from .families import FAMILIES
from .family import Families
from .jobs import Jobs
from .openapi import document
from .operation import Operation
from .operations import JOBS, OPERATIONS
from .remembered import Remembered
from .routing import Routes
from .sources import Sources
from .store import Store, StoreError

LARGEST_BODY = 10 * 1024 * 1024
PATHS_REMEMBERED = 4096
PROFILES = ("reference", "full")
CALLER = "dpsync.caller"
DATABASE_UNUSABLE = "the database cannot be used at present: see the log of the companion"
_HOST = re.compile(r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_log = logging.getLogger("dpsync.server")

Found = Mapping[str, tuple[Operation, dict[str, str]]]
"""What is served at a path, by method, with the parameters of the path."""


class Companion:
    """The application: it serves `operations`, and keeps what `families` declare.

    `requests` is a bounded log of (method, path, status) that a test may read and clear.

    With `check_answers` every answer is held against the model that its row declares, and a difference is a
    500 and an entry in `violations`: for tests.
    """

    def __init__(
        self,
        store: Store,
        profile: str,
        clock: Clock,
        check_answers: bool = False,
        families: Families = FAMILIES,
        operations: Sequence[Operation] = OPERATIONS,
    ) -> None:
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}: one of {', '.join(PROFILES)}")
        self.store = store
        self.profile = profile
        self.families = families
        self._operations = operations
        self.clock = clock
        self.check_answers = check_answers
        self.requests: deque[tuple[str, str, int]] = deque(maxlen=10_000)
        self.violations: list[str] = []
        self._routes = Routes((row.method, "/v1" + row.path, row) for row in operations)
        self._named = lru_cache(PATHS_REMEMBERED)(self._look_up)
        self._document: bytes | None = None
        self.sources = Sources()
        self._remembered = Remembered()
        printing.ensure_key(store)
        self._jobs = Jobs(store, lambda: self.clock(), self.sources, JOBS, families)

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
            self._jobs.start(self._remembered.version if request.method == "GET" else None)
            await response(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, request: Request) -> Response:
        try:
            path, found = self._named(_raw_path(request.scope))
            if path == ["v1", "openapi.json"] and request.method == "GET":
                return _json(200, self.openapi())
            if request.method == "GET" and (image := images.served(self.store, path)):
                return Response(image[0], headers=image[1])
            if request.method == "GET" and (pdf := printing.served(self.store, path)):
                return Response(pdf, media_type="application/pdf")
            operation, params = _route(request.method, path, found)
            user = self._user(request.scope)
            if not operation.served(self.profile):
                raise ApiError(501, _why_unserved(operation, self.profile))
            body = _body(operation, request, await _read(request))
            asked = request.query_params.multi_items() if request.scope["query_string"] else []
            query = _checked(operation.query, operation.query.asked(asked), "query")
            ctx = Context(self.store, user, self.clock, params, query, body)
            ctx.minimal = (
                operation.minimal
                and "return=minimal" in request.headers.get("prefer", "").replace(" ", "").lower()
            )
            ctx.origin = _origin(request.scope)
            return self.run(operation, ctx)
        except ApiError as error:
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
            return _json(error.status, to_json(error.body()), headers)
        except ClientDisconnect:
            raise
        except StoreError as error:
            _log.error("%s %s: %s", request.method, request.url.path, error)
            return _json(503, to_json(ApiError(503, DATABASE_UNUSABLE).body()))
        except Exception:
            _log.exception("%s %s failed", request.method, request.url.path)
            return _json(500, to_json(ApiError(500, "internal error: see the log of the companion").body()))

    def _look_up(self, raw: bytes) -> tuple[list[str], Found]:
        path = _segments(raw)
        return path, self._routes.match(path)

    def _user(self, scope: Scope) -> str:
        user = self.caller(scope)
        if user is None:
            raise ApiError(401, "a valid token is needed: Authorization: Bearer TOKEN")
        return user

    def caller(self, scope: Scope) -> str | None:
        """The user whose token the request has, looked up once."""
        if CALLER not in scope:
            scope[CALLER] = self._owner(scope)
        caller: str | None = scope[CALLER]
        return caller

    def _owner(self, scope: Scope) -> str | None:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.decode("latin-1").partition(" ")
        record = self.store.get("token", token.strip()) if scheme.lower() == "bearer" else None
        return record.ref if record else None

    def named(self, scope: Scope) -> tuple[Operation | None, list[str]]:
        """The operation that a request is for, served or not, and the segments of its path."""
        path, found = self._named(_raw_path(scope))
        operation, _ = found.get(scope["method"], (None, {}))
        return operation, path

    def run(self, operation: Operation, ctx: Context) -> Response:
        """A checked request: its handler, in a transaction when it writes, and the answer."""
        ctx.needs, ctx.edits, ctx.full = operation.needs, operation.edits, self.profile == "full"
        ctx.families = self.families
        if operation.method == "GET":
            with self.store.reading():
                ctx.recall(self._remembered.at(self.store.version()))
                result = operation.handler(ctx)
        else:
            with self.store.transaction():
                result = operation.handler(ctx)
        if operation.answer is None:
            return Response(status_code=operation.status)
        if ctx.minimal and ctx.full:
            return Response(status_code=204, headers={"Preference-Applied": "return=minimal"})
        if operation.raw:
            return Response(result.text, operation.status, media_type=result.media_type)
        content = _joined(result)
        if self.check_answers:
            self._hold_against(operation, operation.answer, content)
        return _json(201 if ctx.created else operation.status, content)

    def _hold_against(self, operation: Operation, model: type[BaseModel], content: bytes) -> None:
        try:
            model.model_validate_json(content)
        except ValidationError as error:
            self.violations.append(f"{operation.id}: {error}")
            raise

    async def finish(self, abandoned: bool = False) -> None:
        """Does all the work that waits or is under way in the background.

        `abandoned`: also what is not wanted any more.
        """
        await self._jobs.finish(abandoned)

    def openapi(self) -> bytes:
        if self._document is None:
            served = [row for row in self._operations if row.served(self.profile)]
            if self.profile == "reference":
                served = [replace(row, minimal=False) for row in served]
            self._document = to_json(document(served))
        return self._document


def build(
    store: Store,
    *,
    profile: str = "full",
    clock: Clock | None = None,
    check_answers: bool = False,
    allow_fetch: Collection[str] = (),
    families: Families = FAMILIES,
    operations: Sequence[Operation] = OPERATIONS,
) -> Companion:
    """The ASGI application over a store.

    `allow_fetch`: the hosts beside loopback that may be contacted.
    """
    app = Companion(store, profile, clock or utc_now, check_answers, families, operations)
    app.sources.allowed = allow_fetch
    return app


def _why_unserved(operation: Operation, profile: str) -> str:
    return f"{operation.id} is an addition, not served with the profile {profile}"


def _raw_path(scope: Scope) -> bytes:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw


def _segments(raw: bytes) -> list[str]:
    """Each decoded by itself: an encoded slash does not make a segment."""
    return [unquote(segment) for segment in raw.split(b"?")[0].decode("latin-1").removeprefix("/").split("/")]


def _route(method: str, path: list[str], found: Found) -> tuple[Operation, dict[str, str]]:
    if not found:
        raise missing("path", "/" + "/".join(path))
    if method not in found:
        raise ApiError(405, f"{method} is not allowed here, only {', '.join(sorted(found))}")
    return found[method]


def _joined(result: Any) -> bytes:
    """The JSON of an answer, of which the whole, or the items of a list, may be JSON text already."""
    if isinstance(result, bytes):
        return result
    if isinstance(result, dict) and (items := result.get("items")) and isinstance(items[0], bytes):
        envelope = to_json({name: value for name, value in result.items() if name != "items"})
        return b"".join((envelope[:-1], b',"items":[', b",".join(items), b"]}"))
    return to_json(result)


def _origin(scope: Scope) -> str:
    """Where the caller reached the service: by the name that they used, which is another one behind a port
    that is passed on; without a usable one, by the address that was connected to.
    """
    named = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    if _HOST.fullmatch(named):
        return f"{scope['scheme']}://{named}"
    host, port = scope.get("server") or ("localhost", None)
    host = f"[{host}]" if ":" in host else host
    return f"{scope['scheme']}://{host}" + (f":{port}" if port else "")


def _json(status: int, content: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, "application/json")


async def _read(request: Request) -> bytes:
    """The body, refused as soon as it is known to be too long."""
    if not any(name in (b"content-length", b"transfer-encoding") for name, _ in request.scope["headers"]):
        return b""
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
