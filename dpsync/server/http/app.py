"""The HTTP service: an ASGI application over the table of operations.

A request is routed, authenticated, checked against the models of its row, and passed to the handler. A
request that may write runs in one transaction. Handlers run on the event loop one at a time, so requests do
not interleave.
"""

import logging
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..clock import Clock, utc_now
from ..errors import ApiError, missing
from ..families import FAMILIES
from ..handlers.people import audit
from ..integrations import images
from ..jobs.queue import Jobs
from ..jobs.sources import OutsideServices
from ..operations import EVERY, JOBS
from ..operations.editions import PROFILES, known
from ..records import origin
from ..records.family import Families
from ..request.cache import StateCache
from ..request.context import Context
from ..request.operation import Operation
from ..spaces import printing
from ..store import Store, StoreError, world_name
from .incoming import checked, checked_body, origin_of, raw_path, read, segments
from .openapi import document
from .routing import Routes

PATHS_REMEMBERED = 4096
CALLER = "dpsync.caller"
PROFILE_HEADER = "Dpsync-Profile"
"""The header of every answer of the API: the profile that is served."""
DATABASE_UNUSABLE = "the database is unavailable: see the log of the local server"
_log = logging.getLogger("dpsync.server")

Found = Mapping[str, tuple[Operation, dict[str, str]]]
"""What is served at a path, by method, with the parameters of the path."""


class Companion:
    """The ASGI application. It serves `operations` and stores the records of `families`.

    `requests` is a bounded log of (method, path, status) that a test may read and clear. With
    `check_answers`, every answer is checked against the model of its row; a mismatch is a 500 and an entry in
    `violations`. This is for tests.
    """

    def __init__(
        self,
        store: Store,
        profile: str,
        clock: Clock,
        check_answers: bool = False,
        families: Families = FAMILIES,
        operations: Sequence[Operation] = EVERY,
        sources: OutsideServices | None = None,
    ) -> None:
        if profile not in PROFILES:
            raise ValueError(f"unknown API version {profile!r}: use one of {', '.join(PROFILES)}")
        self.store = store
        self.profile = profile
        self.asks_before_removal = False
        self.families = families
        self._operations = operations = known(operations, profile)
        self.clock = clock
        self.check_answers = check_answers
        self.requests: deque[tuple[str, str, int]] = deque(maxlen=10_000)
        self.violations: list[str] = []
        self._routes = Routes((row.method, "/v1" + row.path, row) for row in operations)
        self._named = lru_cache(PATHS_REMEMBERED)(self._look_up)
        self._document: bytes | None = None
        self.sources = sources or OutsideServices()
        self._state_cache = StateCache()
        store.watch(self._state_cache.follow)
        printing.ensure_key(store)
        world_name.ensure(store)
        self._jobs = Jobs(store, lambda: self.clock(), self.sources, JOBS, families)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            request = Request(scope, receive)
            try:
                response = await self.answer(request)
            except ClientDisconnect:
                return
            self.requests.append((request.method, scope["path"], response.status_code))
            self._jobs.start(self._state_cache.version if request.method == "GET" else None)
            await response(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def answer(self, request: Request) -> Response:
        """Answer a request without logging it. Errors are answers, too. A header names the profile."""
        response = await self._answer(request)
        response.headers[PROFILE_HEADER] = self.profile
        return response

    async def _answer(self, request: Request) -> Response:
        try:
            path, found = self._named(raw_path(request.scope))
            if path == ["v1", "openapi.json"] and request.method == "GET":
                return _json(200, self.openapi())
            if request.method == "GET" and (image := images.load(self.store, path)):
                return Response(image[0], headers=image[1])
            if request.method == "GET" and (pdf := printing.load(self.store, path)):
                return Response(pdf, media_type="application/pdf")
            operation, params = _route(request.method, path, found)
            user = self._user(request.scope)
            if not operation.supported(self.profile):
                raise ApiError(501, _why_unserved(operation, self.profile))
            body = checked_body(operation, request, await read(request))
            asked = request.query_params.multi_items() if request.scope["query_string"] else []
            query = checked(operation.query, operation.query.asked(asked), "query")
            ctx = Context(self.store, user, self.clock, params, query, body)
            ctx.minimal = (
                operation.minimal
                and "return=minimal" in request.headers.get("prefer", "").replace(" ", "").lower()
            )
            ctx.origin = origin_of(request.scope)
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
            return _json(
                500, to_json(ApiError(500, "internal error: see the log of the local server").body())
            )

    def _look_up(self, raw: bytes) -> tuple[list[str], Found]:
        path = segments(raw)
        return path, self._routes.match(path)

    def _user(self, scope: Scope) -> str:
        user = self.caller(scope)
        if user is None:
            raise ApiError(401, "a valid token is required: send Authorization: Bearer TOKEN")
        return user

    def caller(self, scope: Scope) -> str | None:
        """Return the user of the request's token, or None. The result is cached in the scope."""
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
        """Return the operation of a request, supported or not, and the segments of its path."""
        path, found = self._named(raw_path(scope))
        operation, _ = found.get(scope["method"], (None, {}))
        return operation, path

    @property
    def readable(self) -> list[Operation]:
        """The operations that this profile serves and that only read."""
        return [row for row in self._operations if row.method == "GET" and row.supported(self.profile)]

    @property
    def operation_ids(self) -> list[str]:
        """The ids of all operations that this profile serves."""
        return [row.id for row in self._operations if row.supported(self.profile)]

    def run(self, operation: Operation, ctx: Context) -> Response:
        """Call the handler of a checked request, in a transaction if it writes, and return the answer."""
        ctx.families = self.families
        ctx.needs, ctx.edits, ctx.profile = operation.needs, operation.edits, self.profile
        ctx.asks_before_removal = self.asks_before_removal
        headers: dict[str, str] = {}
        if operation.method == "GET":
            with self.store.reading():
                cache = self._state_cache.at(self.store.version())
                headers |= cache.world(lambda: _world_headers(self.store))
                ctx.use_cache(cache)
                result = operation.handler(ctx)
        else:
            with self.store.transaction():
                organization = audit.organization_of(ctx) if ctx.published else None
                result = operation.handler(ctx)
                if ctx.published:
                    audit.note(ctx, operation, organization, result)
        if operation.answer is None:
            removed = operation.removes and ctx.removed
            if ctx.requested:
                return Response(status_code=202, headers=headers)
            return Response(status_code=205 if removed else operation.status, headers=headers)
        if ctx.minimal and ctx.full:
            return Response(status_code=204, headers={"Preference-Applied": "return=minimal"})
        if operation.raw:
            return Response(result.text, operation.status, headers, result.media_type)
        content = _joined(result)
        if self.check_answers:
            self._hold_against(operation, operation.answer, content)
        return _json(201 if ctx.created else operation.status, content, headers)

    def _hold_against(self, operation: Operation, model: type[BaseModel], content: bytes) -> None:
        try:
            model.model_validate_json(content)
        except ValidationError as error:
            self.violations.append(f"{operation.id}: {error}")
            raise

    async def finish(self, abandoned: bool = False) -> None:
        """Finish all jobs that wait or run. With `abandoned`, also wait for jobs that are obsolete."""
        await self._jobs.finish(abandoned)

    def openapi(self) -> bytes:
        if self._document is None:
            supported = [row for row in self._operations if row.supported(self.profile)]
            if self.profile == "reference":
                supported = [replace(row, minimal=False) for row in supported]
            self._document = to_json(document(supported))
        return self._document


def build(
    store: Store,
    *,
    profile: str = "full",
    clock: Clock | None = None,
    check_answers: bool = False,
    allow_fetch: Collection[str] = (),
    families: Families = FAMILIES,
    operations: Sequence[Operation] = EVERY,
    sources: OutsideServices | None = None,
    asks_before_removal: bool = False,
) -> Companion:
    """Return the ASGI application over a store.

    `allow_fetch` names the hosts, besides loopback, that may be contacted. `sources` contacts them. With
    `asks_before_removal`, the removal of a member is only requested (202; `published` only).
    """
    app = Companion(store, profile, clock or utc_now, check_answers, families, operations, sources)
    app.sources.allowed = allow_fetch
    app.asks_before_removal = asks_before_removal and profile == "published"
    return app


def _world_headers(store: Store) -> dict[str, str]:
    """Return the headers that name the world of an answer, and where the world was read."""
    read = origin.origin_of(store)
    named = {world_name.HEADER: world_name.name_of(store)}
    return named if read is None else {**named, origin.HEADER: read.said}


def _why_unserved(operation: Operation, profile: str) -> str:
    return f"the API version {profile} does not have the operation {operation.id}"


def _route(method: str, path: list[str], found: Found) -> tuple[Operation, dict[str, str]]:
    if not found:
        raise missing("path", "/" + "/".join(path))
    if method not in found:
        raise ApiError(405, f"{method} is not allowed here. Allowed methods: {', '.join(sorted(found))}")
    return found[method]


def _joined(result: Any) -> bytes:
    """Return the JSON of an answer. The answer, or the items of a list, may be JSON text already."""
    if isinstance(result, bytes):
        return result
    if isinstance(result, dict) and (items := result.get("items")) and isinstance(items[0], bytes):
        envelope = to_json({name: value for name, value in result.items() if name != "items"})
        return b"".join((envelope[:-1], b',"items":[', b",".join(items), b"]}"))
    return to_json(result)


def _json(status: int, content: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, "application/json")


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
