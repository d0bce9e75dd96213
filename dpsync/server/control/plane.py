"""Serve the control plane: operations below `/_dpsync` with which tests and people control a local server.

The control plane is not part of GitBook's API. It needs no token, so it answers only requests from this
machine: from loopback peers that use a loopback name, and never from a page of another site. For all other
requests, these paths do not exist.
"""

import logging
from collections.abc import Callable
from typing import Any, Literal, Self
from uuid import uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dpsync import __version__

from .. import world as worlds
from ..clock import format_timestamp
from ..errors import ApiError, bad_request, not_found
from ..handlers.jobs.specifications import refetch_sources
from ..handlers.people.members import find_member
from ..handlers.sites.agents import CHANNEL
from ..http.app import DATABASE_UNUSABLE
from ..records.world_origin import load_origin
from ..request.context import Context
from ..spaces.expired_spaces import erase_expired
from ..store import SCHEMA_VERSION, Json, Record, Store, StoreError
from .clock import MovableClock
from .faults import FAULT_RULES, FaultSchedule, format_validation_error
from .gateway import Gateway
from .request_guard import from_this_machine
from .world_export import export_state

CONTROL_PREFIX = "/_dpsync/"

_POSTS_WITH_BODY = ("tokens", "channels", "removals")
"""The operations that take a JSON body with POST."""
_SINGLE_PROCESS_ONLY = ("requests", "faults")
_log = logging.getLogger("dpsync.server")


class _ControlBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TokenBody(_ControlBody):
    user: str


class ChannelBody(_ControlBody):
    channel: str


class RemovalBody(_ControlBody):
    organization: str
    user: str


class ClockBody(_ControlBody):
    """A setting of the clock: exactly one of the fields."""

    frozen: AwareDatetime | None = Field(None, strict=False)
    advance: float | None = Field(None, allow_inf_nan=False)
    real: Literal[True] | None = None

    @model_validator(mode="after")
    def _check_one_field(self) -> Self:
        """Check that exactly one field is set."""
        if sum(field is not None for field in (self.frozen, self.advance, self.real)) != 1:
            raise ValueError("set exactly one of the fields 'frozen', 'advance' and 'real'")
        return self


class ControlPlane:
    """An ASGI application around a gateway. `load_start_world` writes the starting world to a store.

    `workers` is the number of processes that serve the same address. With several workers, none of them sees
    all requests.
    """

    def __init__(
        self,
        gateway: Gateway,
        clock: MovableClock,
        load_start_world: Callable[[Store], None],
        workers: int = 1,
    ) -> None:
        self.gateway = gateway
        self.companion = gateway.companion
        self.store = gateway.companion.store
        self.clock = clock
        self.load_start_world = load_start_world
        self.single_process = workers == 1
        self._handlers: dict[str, dict[str, Callable[[Any], Any]]] = {
            "health": {"GET": self.health},
            "reset": {"POST": self.reset},
            "tokens": {"POST": self.create_token},
            "channels": {"POST": self.activate_channel},
            "removals": {"POST": self.confirm_removal},
            "world": {"GET": self.export_world, "PUT": self.replace_world},
            "requests": {"GET": self.list_requests, "DELETE": self.clear_requests},
            "clock": {"GET": self.get_clock, "PUT": self.set_clock},
            "faults": {"GET": self.list_faults, "PUT": self.set_faults, "DELETE": self.clear_faults},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or not scope["path"].startswith(CONTROL_PREFIX)
            or not from_this_machine(Request(scope))
        ):
            await self.gateway(scope, receive, send)
            return
        try:
            response = await self._dispatch(Request(scope, receive))
        except StoreError as error:
            _log.error("%s %s: %s", scope["method"], scope["path"], error)
            unusable = ApiError(503, DATABASE_UNUSABLE)
            response = Response(to_json(unusable.body()), 503, media_type="application/json")
        except ApiError as error:
            response = Response(to_json(error.body()), error.status, media_type="application/json")
        await response(scope, receive, send)

    async def _dispatch(self, request: Request) -> Response:
        """Call the handler of a control operation such as `PUT /_dpsync/clock`; return its result as JSON.

        Raise ApiError for an unknown operation, a wrong method, a body that is not JSON, invalid values, or
        an operation that needs a single server process.
        """
        name = request.url.path.removeprefix(CONTROL_PREFIX)
        if name not in self._handlers:
            raise not_found("path", request.url.path)
        methods = self._handlers[name]
        if request.method not in methods:
            raise ApiError(
                405,
                f"{request.method} is not allowed here. Allowed methods: {', '.join(sorted(methods))}",
            )
        if name in _SINGLE_PROCESS_ONLY and not self.single_process:
            raise ApiError(
                501, f"{name} needs a single server process: start the local server with --workers 1"
            )
        content = await request.body()
        body = None
        if request.method == "PUT" or name in _POSTS_WITH_BODY:
            if (
                request.headers.get("content-type", "").partition(";")[0].strip().lower()
                != "application/json"
            ):
                raise ApiError(415, "application/json is required")
            try:
                body = from_json(content, allow_inf_nan=False)
            except ValueError as error:
                raise bad_request(f"body: malformed JSON: {error}") from None
        try:
            result = methods[request.method](body)
        except ValidationError as error:
            raise bad_request(format_validation_error(error, "body")) from None
        if result is None:
            return Response(status_code=204)
        status = 201 if name == "tokens" else 200
        return Response(to_json(result), status, media_type="application/json")

    # --- operations: each is given the JSON of the body, if it takes one, and returns that of the answer --

    def health(self, _: None) -> Json:
        """Return the version, the API version (profile), the numbers of records, and the origin of the data.

        `origin` is null unless the data were read from a platform.
        """
        with self.store.read_transaction():
            counts = {
                kind: self.store.count(kind) for kind in self.companion.record_kinds.kinds_counted_in_health()
            }
            origin = load_origin(self.store)
        return {
            "version": __version__,
            "profile": self.companion.profile,
            "schema": SCHEMA_VERSION,
            "counts": counts,
            "origin": origin.model_dump(mode="json") if origin is not None else None,
        }

    def reset(self, _: None) -> None:
        """Restore the data with which the server started, use real time, and clear the log and the faults."""
        self.gateway.reset()
        self.companion.requests.clear()
        self.companion.violations.clear()
        with self.store.transaction():
            self.clock.use_real_time()
            self.load_start_world(self.store)

    def create_token(self, body: Any) -> Json:
        """Create a token for a user. Raise 404 if the user does not exist."""
        user = TokenBody.model_validate(body).user
        if self.store.get("user", user) is None:
            raise not_found("user", user)
        token = uuid4().hex
        with self.store.transaction():
            self.store.put(Record("token", token, {}, ref=user))
        return {"token": token, "user": user}

    def activate_channel(self, body: Any) -> None:
        """Activate a channel, as a person authorizes it in GitBook. The API has no request for this.

        Raise 404 for an unknown channel.
        """
        id = ChannelBody.model_validate(body).channel
        with self.store.transaction():
            channel = self.store.get(CHANNEL, id)
            if channel is None:
                raise not_found("channel", id)
            channel.doc["status"] = "active"
            self.store.put(channel)

    def confirm_removal(self, body: Any) -> None:
        """Delete a member whose removal waits for approval, as administrators do in GitBook's app.

        The API has no request for the approval. Raise 404 if there is no such member.
        """
        removal = RemovalBody.model_validate(body)
        with self.store.transaction():
            ctx = Context(self.store, "", self.clock, record_hooks=self.companion.record_kinds)
            member = find_member(ctx, removal.organization, removal.user)
            if member is None:
                raise not_found("member", removal.user)
            ctx.remove(member)

    def export_world(self, _: None) -> Json:
        """Return the whole state as a world (the server's data)."""
        with self.store.read_transaction():
            return export_state(self.store, self.companion.record_kinds)

    def replace_world(self, body: Any) -> None:
        """Replace the whole state by a world (the server's data), or change nothing if the world is invalid.

        The log, the faults and the clock stay unchanged. Raise 400 if the world is invalid.
        """
        try:
            worlds.load_world(self.store, body, self.clock(), self.companion.record_kinds)
        except StoreError:
            raise
        except Exception as error:
            raise bad_request(f"body: invalid data: {worlds.describe_error(error)}") from None
        self.gateway.cancel_waits()

    def list_requests(self, _: None) -> Json:
        """Return the logged requests, and how many older ones were dropped."""
        log = self.gateway.log
        return {"requests": [entry.as_dict() for entry in log.entries], "dropped": log.dropped}

    def clear_requests(self, _: None) -> None:
        """Clear the request log."""
        self.gateway.log.clear()

    def get_clock(self, _: None) -> Json:
        """Return the time of the clock and its mode: `real`, `ahead` or `frozen`."""
        return {"now": format_timestamp(self.clock()), "mode": self.clock.mode}

    def set_clock(self, body: Any) -> Json:
        """Set the clock and run the jobs that are due at the new time.

        Expired deleted objects are erased, and stay erased if the clock is set back. Sources of OpenAPI
        specifications are fetched again. Raise 400 for a time that is too far in the future.
        """
        clock = ClockBody.model_validate(body)
        with self.store.transaction():
            try:
                if clock.frozen is not None:
                    self.clock.freeze(clock.frozen)
                elif clock.advance is not None:
                    self.clock.advance(clock.advance)
                else:
                    self.clock.use_real_time()
            except OverflowError:
                raise bad_request("body.advance: the new time is too far in the future") from None
            ctx = Context(self.store, "", self.clock, record_hooks=self.companion.record_kinds)
            erase_expired(ctx)
            refetch_sources(ctx)
        return self.get_clock(None)

    def list_faults(self, _: None) -> Json:
        """Return the fault rules with their counts."""
        return {"rules": [scheduled.as_dict() for scheduled in self.gateway.faults.rules]}

    def set_faults(self, body: Any) -> Json:
        """Replace all rules. The counts start at zero."""
        self.gateway.faults = FaultSchedule(FAULT_RULES.validate_python(body))
        return self.list_faults(None)

    def clear_faults(self, _: None) -> None:
        """Remove all fault rules."""
        self.gateway.faults = FaultSchedule()
