"""Serve HTTP: an ASGI application (`Companion`) over the table of API operations.

A request is routed, authenticated, checked against the models of its operation, and passed to the handler. A
request that may write runs in one transaction. Handlers run on the event loop one at a time, so requests do
not interleave.
"""

import logging
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..clock import Clock, utc_now
from ..errors import ApiError, not_found
from ..handlers.people import audit
from ..integrations import images
from ..jobs.outside_services import OutsideServices
from ..jobs.queue import JobRunner
from ..operations import ALL_OPERATIONS, JOB_HANDLERS
from ..operations.profiles import PROFILES, operations_of_profile
from ..records import world_origin
from ..records.record_kind import RecordKinds
from ..request.context import Context
from ..request.operation import Operation
from ..request.state_cache import StateCache
from ..resources import RECORD_KINDS
from ..spaces import pdf_export
from ..store import Store, StoreError, world_name
from .openapi import build_document
from .request_parsing import base_url_of, path_segments, raw_path, read_body, validate_body, validate_model
from .routing import Routes

PATH_CACHE_SIZE = 4096
CALLER_KEY = "dpsync.caller"
PROFILE_HEADER = "Dpsync-Profile"
"""The response header that names the profile."""
DATABASE_UNUSABLE = "the database is unavailable: see the log of the local server"
_log = logging.getLogger("dpsync.server")

OperationsByMethod = Mapping[str, tuple[Operation, dict[str, str]]]
"""The operations at a path by method, each with the values of the path parameters."""


class Companion:
    """The ASGI application. It serves `operations` and stores the records of `record_kinds`.

    `requests` is a bounded log of (method, path, status) that a test may read and clear. With
    `check_responses`, every answer is checked against the model of its row; a mismatch is a 500 and an entry
    in `violations`. This is for tests.
    """

    def __init__(
        self,
        store: Store,
        profile: str,
        clock: Clock,
        check_responses: bool = False,
        record_kinds: RecordKinds = RECORD_KINDS,
        operations: Sequence[Operation] = ALL_OPERATIONS,
        outside_services: OutsideServices | None = None,
    ) -> None:
        if profile not in PROFILES:
            raise ValueError(f"unknown API version {profile!r}: use one of {', '.join(PROFILES)}")
        self.store = store
        self.profile = profile
        self.asks_before_removal = False
        self.record_kinds = record_kinds
        self._operations = operations = operations_of_profile(operations, profile)
        self.clock = clock
        self.check_responses = check_responses
        self.requests: deque[tuple[str, str, int]] = deque(maxlen=10_000)
        self.violations: list[str] = []
        self._routes = Routes((row.method, "/v1" + row.path, row) for row in operations)
        self._match_path_cached = lru_cache(PATH_CACHE_SIZE)(self._match_path)
        self._openapi_json: bytes | None = None
        self.outside_services = outside_services or OutsideServices()
        self._state_cache = StateCache()
        store.set_listener(self._state_cache.apply_changes)
        pdf_export.ensure_key(store)
        world_name.ensure_name(store)
        self._jobs = JobRunner(store, lambda: self.clock(), self.outside_services, JOB_HANDLERS, record_kinds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            request = Request(scope, receive)
            try:
                response = await self.respond(request)
            except ClientDisconnect:
                return
            self.requests.append((request.method, scope["path"], response.status_code))
            self._jobs.start_waiting(self._state_cache.version if request.method == "GET" else None)
            await response(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def respond(self, request: Request) -> Response:
        """Return the response to a request, without logging the request. A header names the API version.

        Every error becomes a response; an unexpected exception is logged and becomes a 500.
        """
        try:
            response = await self._handle(request)
        except ApiError as error:
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
            response = _json_response(error.status, to_json(error.body()), headers)
        except ClientDisconnect:
            raise
        except StoreError as error:
            _log.error("%s %s: %s", request.method, request.url.path, error)
            response = _json_response(503, to_json(ApiError(503, DATABASE_UNUSABLE).body()))
        except Exception:
            _log.exception("%s %s failed", request.method, request.url.path)
            response = _json_response(
                500, to_json(ApiError(500, "internal error: see the log of the local server").body())
            )
        response.headers[PROFILE_HEADER] = self.profile
        return response

    async def _handle(self, request: Request) -> Response:
        """Return an image or a PDF file, which need no token, or the response of the operation at the path.

        Check the caller, the profile, the body and the query before the operation runs. Raise ApiError.
        """
        path, operations_by_method = self._match_path_cached(raw_path(request.scope))
        if path == ["v1", "openapi.json"] and request.method == "GET":
            return _json_response(200, self.openapi_json())
        if request.method == "GET" and (image := images.load_image(self.store, path)):
            return Response(image[0], headers=image[1])
        if request.method == "GET" and (pdf := pdf_export.load_pdf(self.store, path)):
            return Response(pdf, media_type="application/pdf")
        operation, params = _select_operation(request.method, path, operations_by_method)
        user = self.find_caller(request.scope)
        if user is None:
            raise ApiError(401, "a valid token is required: send Authorization: Bearer TOKEN")
        if not operation.is_supported_by(self.profile):
            raise ApiError(501, f"the API version {self.profile} does not have the operation {operation.id}")
        body = validate_body(operation, request, await read_body(request))
        query_items = request.query_params.multi_items() if request.scope["query_string"] else []
        query = validate_model(
            operation.query_model, operation.query_model.collect_values(query_items), "query"
        )
        ctx = Context(self.store, user, self.clock, params, query, body)
        ctx.prefers_minimal = (
            operation.allows_minimal
            and "return=minimal" in request.headers.get("prefer", "").replace(" ", "").lower()
        )
        ctx.base_url = base_url_of(request.scope)
        return self.run_operation(operation, ctx)

    def _match_path(self, raw: bytes) -> tuple[list[str], OperationsByMethod]:
        """Return the segments of a raw path, and the operations at the path. Called through a cache."""
        path = path_segments(raw)
        return path, self._routes.match(path)

    def find_caller(self, scope: Scope) -> str | None:
        """Return the user of the request's token, or None. The result is cached in the scope."""
        if CALLER_KEY not in scope:
            header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            scheme, _, token = header.decode("latin-1").partition(" ")
            record = self.store.get("token", token.strip()) if scheme.lower() == "bearer" else None
            scope[CALLER_KEY] = record.ref if record else None
        caller: str | None = scope[CALLER_KEY]
        return caller

    def find_operation(self, scope: Scope) -> tuple[Operation | None, list[str]]:
        """Return the operation of a request, supported or not, and the segments of its path."""
        path, operations_by_method = self._match_path_cached(raw_path(scope))
        operation, _ = operations_by_method.get(scope["method"], (None, {}))
        return operation, path

    @property
    def readable_operations(self) -> list[Operation]:
        """The operations that this API version (profile) serves and that only read."""
        return [row for row in self._operations if row.method == "GET" and row.is_supported_by(self.profile)]

    @property
    def operation_ids(self) -> list[str]:
        """The ids of all operations that this API version (profile) serves."""
        return [row.id for row in self._operations if row.is_supported_by(self.profile)]

    def run_operation(self, operation: Operation, ctx: Context) -> Response:
        """Call the handler of a checked request, in a transaction if it writes, and return the response.

        Reads use the cache of the current version of the data. In the API version `published`, each write
        adds an audit event. Without a response model, the response is empty: 202 means that a removal was
        only requested, and 205 that something was removed.
        """
        ctx.record_hooks = self.record_kinds
        ctx.required_role, ctx.edits_content, ctx.profile = (
            operation.required_role,
            operation.edits_content,
            self.profile,
        )
        ctx.asks_before_removal = self.asks_before_removal
        headers: dict[str, str] = {}
        if operation.method == "GET":
            with self.store.read_transaction():
                cache = self._state_cache.at_version(self.store.version())
                headers |= cache.world_headers(lambda: _world_headers(self.store))
                ctx.use_cache(cache)
                result = operation.handler(ctx)
        else:
            with self.store.transaction():
                organization = audit.affected_organization(ctx) if ctx.is_published_profile else None
                result = operation.handler(ctx)
                if ctx.is_published_profile:
                    audit.add_audit_event(ctx, operation, organization, result)
        if operation.response_model is None:
            removed = operation.reports_removal and ctx.was_removed
            if ctx.removal_requested:
                return Response(status_code=202, headers=headers)
            return Response(status_code=205 if removed else operation.status, headers=headers)
        if ctx.prefers_minimal and ctx.has_additions:
            return Response(status_code=204, headers={"Preference-Applied": "return=minimal"})
        if operation.returns_text:
            return Response(result.text, operation.status, headers, result.media_type)
        content = _encode_json(result)
        if self.check_responses:
            try:
                operation.response_model.model_validate_json(content)
            except ValidationError as error:
                self.violations.append(f"{operation.id}: {error}")
                raise
        return _json_response(201 if ctx.was_created else operation.status, content, headers)

    async def wait_for_jobs(self, include_abandoned: bool = False) -> None:
        """Finish all jobs that wait or run. With `include_abandoned`, also wait for obsolete jobs."""
        await self._jobs.wait(include_abandoned)

    def openapi_json(self) -> bytes:
        """Return the OpenAPI document of the API version (profile) as JSON, made on first use."""
        if self._openapi_json is None:
            supported = [row for row in self._operations if row.is_supported_by(self.profile)]
            if self.profile == "reference":
                supported = [replace(row, allows_minimal=False) for row in supported]
            self._openapi_json = to_json(build_document(supported))
        return self._openapi_json


def build_companion(
    store: Store,
    *,
    profile: str = "full",
    clock: Clock | None = None,
    check_responses: bool = False,
    allow_fetch: Collection[str] = (),
    record_kinds: RecordKinds = RECORD_KINDS,
    operations: Sequence[Operation] = ALL_OPERATIONS,
    outside_services: OutsideServices | None = None,
    asks_before_removal: bool = False,
) -> Companion:
    """Return the ASGI application over a store.

    `allow_fetch` names the hosts, besides loopback, that may be contacted. `outside_services` contacts them.
    With `asks_before_removal`, the removal of a member is only requested (202; `published` only).
    """
    app = Companion(
        store, profile, clock or utc_now, check_responses, record_kinds, operations, outside_services
    )
    app.outside_services.allowed_hosts = allow_fetch
    app.asks_before_removal = asks_before_removal and profile == "published"
    return app


def _world_headers(store: Store) -> dict[str, str]:
    """Return the response headers that name the server's data (world) and, if known, their origin.

    Clients recognize by the name that the data were replaced. The origin is the platform from which a copy
    was read.
    """
    origin = world_origin.load_origin(store)
    headers = {world_name.WORLD_HEADER: world_name.load_world_name(store)}
    return headers if origin is None else {**headers, world_origin.ORIGIN_HEADER: origin.summary}


def _select_operation(
    method: str, path: list[str], operations_by_method: OperationsByMethod
) -> tuple[Operation, dict[str, str]]:
    """Return the operation for a method and its path parameters.

    Raise 404 for the path, 405 for the method.
    """
    if not operations_by_method:
        raise not_found("path", "/" + "/".join(path))
    if method not in operations_by_method:
        raise ApiError(
            405, f"{method} is not allowed here. Allowed methods: {', '.join(sorted(operations_by_method))}"
        )
    return operations_by_method[method]


def _encode_json(result: Any) -> bytes:
    """Return a response body as JSON. The body, or each item of a list, may be cached JSON text already."""
    if isinstance(result, bytes):
        return result
    if isinstance(result, dict) and (items := result.get("items")) and isinstance(items[0], bytes):
        envelope = to_json({name: value for name, value in result.items() if name != "items"})
        return b"".join((envelope[:-1], b',"items":[', b",".join(items), b"]}"))
    return to_json(result)


def _json_response(status: int, content: bytes, headers: dict[str, str] | None = None) -> Response:
    """Return a response with JSON that is already encoded."""
    return Response(content, status, headers, "application/json")


async def _lifespan(receive: Receive, send: Send) -> None:
    """Accept the ASGI messages of startup and shutdown; the local server does nothing then."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
