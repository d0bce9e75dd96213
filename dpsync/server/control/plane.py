"""The control plane: operations below `/_dpsync` with which tests and people control a companion.

The control plane is not part of the API. It needs no token, so it answers only requests from this machine:
from loopback peers that use a loopback name, and never from a page of another site. For all other requests,
these paths do not exist.
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
from ..clock import stamp
from ..errors import ApiError, bad, missing
from ..handlers.jobs.specifications import refetch_sources
from ..handlers.people.members import find_member
from ..handlers.sites.agents import CHANNEL
from ..http.app import DATABASE_UNUSABLE
from ..records.origin import origin_of
from ..request.context import Context
from ..spaces.erasing import erase_expired
from ..store import SCHEMA_VERSION, Json, Record, Store, StoreError
from .clock import MovableClock
from .faults import FaultRules, FaultSchedule, complaint
from .gateway import Gateway
from .request_guard import from_this_machine
from .worlds import export

PREFIX = "/_dpsync/"

_POSTED = ("tokens", "channels", "removals")
"""What is posted with a body."""
_OF_ONE_PROCESS = ("requests", "faults")
_log = logging.getLogger("dpsync.server")


class _ControlBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TokenGiven(_ControlBody):
    user: str


class ChannelGiven(_ControlBody):
    channel: str


class RemovalGiven(_ControlBody):
    organization: str
    user: str


class ClockGiven(_ControlBody):
    """A setting of the clock: exactly one of the fields."""

    frozen: AwareDatetime | None = Field(None, strict=False)
    advance: float | None = Field(None, allow_inf_nan=False)
    real: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(given is not None for given in (self.frozen, self.advance, self.real)) != 1:
            raise ValueError("set exactly one of the fields 'frozen', 'advance' and 'real'")
        return self


class ControlPlane:
    """An ASGI application around a gateway. `start_over` writes the starting world to a store.

    `workers` is the number of processes that serve the same address. With several workers, none of them sees
    all requests.
    """

    def __init__(
        self, gateway: Gateway, clock: MovableClock, start_over: Callable[[Store], None], workers: int = 1
    ) -> None:
        self.gateway = gateway
        self.companion = gateway.companion
        self.store = gateway.companion.store
        self.clock = clock
        self.start_over = start_over
        self.alone = workers == 1
        self._operations: dict[str, dict[str, Callable[[Any], Any]]] = {
            "health": {"GET": self.health},
            "reset": {"POST": self.reset},
            "tokens": {"POST": self.grant},
            "channels": {"POST": self.authorize},
            "removals": {"POST": self.agree},
            "world": {"GET": self.export, "PUT": self.replace},
            "requests": {"GET": self.requests, "DELETE": self.forget_requests},
            "clock": {"GET": self.time, "PUT": self.set_clock},
            "faults": {"GET": self.faults, "PUT": self.set_faults, "DELETE": self.clear_faults},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or not scope["path"].startswith(PREFIX)
            or not from_this_machine(Request(scope))
        ):
            await self.gateway(scope, receive, send)
            return
        try:
            response = await self._answer(Request(scope, receive))
        except StoreError as error:
            _log.error("%s %s: %s", scope["method"], scope["path"], error)
            unusable = ApiError(503, DATABASE_UNUSABLE)
            response = Response(to_json(unusable.body()), 503, media_type="application/json")
        except ApiError as error:
            response = Response(to_json(error.body()), error.status, media_type="application/json")
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        name = request.url.path.removeprefix(PREFIX)
        if name not in self._operations:
            raise missing("path", request.url.path)
        methods = self._operations[name]
        if request.method not in methods:
            raise ApiError(
                405,
                f"{request.method} is not allowed here. Allowed methods: {', '.join(sorted(methods))}",
            )
        if name in _OF_ONE_PROCESS and not self.alone:
            raise ApiError(
                501, f"{name} needs a single server process: start the local server with --workers 1"
            )
        content = await request.body()
        given = None
        if request.method == "PUT" or name in _POSTED:
            if (
                request.headers.get("content-type", "").partition(";")[0].strip().lower()
                != "application/json"
            ):
                raise ApiError(415, "application/json is required")
            try:
                given = from_json(content, allow_inf_nan=False)
            except ValueError as error:
                raise bad(f"body: malformed JSON: {error}") from None
        try:
            answer = methods[request.method](given)
        except ValidationError as error:
            raise bad(complaint(error, "body")) from None
        if answer is None:
            return Response(status_code=204)
        status = 201 if name == "tokens" else 200
        return Response(to_json(answer), status, media_type="application/json")

    # --- operations: each is given the JSON of the body, if it takes one, and returns that of the answer --

    def health(self, _: None) -> Json:
        with self.store.reading():
            counts = {kind: self.store.count(kind) for kind in self.companion.families.counted()}
            origin = origin_of(self.store)
        return {
            "version": __version__,
            "profile": self.companion.profile,
            "schema": SCHEMA_VERSION,
            "counts": counts,
            "origin": origin.model_dump(mode="json") if origin is not None else None,
        }

    def reset(self, _: None) -> None:
        """Restore the starting world and real time, and clear the log and the faults."""
        self.gateway.clear()
        self.companion.requests.clear()
        self.companion.violations.clear()
        with self.store.transaction():
            self.clock.real()
            self.start_over(self.store)

    def grant(self, given: Any) -> Json:
        user = TokenGiven.model_validate(given).user
        if self.store.get("user", user) is None:
            raise missing("user", user)
        token = uuid4().hex
        with self.store.transaction():
            self.store.put(Record("token", token, {}, ref=user))
        return {"token": token, "user": user}

    def authorize(self, given: Any) -> None:
        """Activate a channel, as a person authorizes it in GitBook. The API has no request for this."""
        id = ChannelGiven.model_validate(given).channel
        with self.store.transaction():
            channel = self.store.get(CHANNEL, id)
            if channel is None:
                raise missing("channel", id)
            channel.doc["status"] = "active"
            self.store.put(channel)

    def agree(self, given: Any) -> None:
        """Approve a pending removal, as administrators do in GitBook, and delete the member."""
        asked = RemovalGiven.model_validate(given)
        with self.store.transaction():
            ctx = Context(self.store, "", self.clock, families=self.companion.families)
            member = find_member(ctx, asked.organization, asked.user)
            if member is None:
                raise missing("member", asked.user)
            ctx.remove(member)

    def export(self, _: None) -> Json:
        with self.store.reading():
            return export(self.store, self.companion.families)

    def replace(self, given: Any) -> None:
        """Replace the whole state by a world, or change nothing if the world is invalid.

        The log, the faults and the clock stay unchanged.
        """
        try:
            worlds.load(self.store, given, self.clock(), self.companion.families)
        except StoreError:
            raise
        except Exception as error:
            raise bad(f"body: invalid data: {worlds.complaint(error)}") from None
        self.gateway.drop()

    def requests(self, _: None) -> Json:
        log = self.gateway.log
        return {"requests": [entry.as_dict() for entry in log.entries], "dropped": log.dropped}

    def forget_requests(self, _: None) -> None:
        self.gateway.log.clear()

    def time(self, _: None) -> Json:
        return {"now": stamp(self.clock()), "mode": self.clock.mode}

    def set_clock(self, given: Any) -> Json:
        """Set the clock and run the jobs that are due at the new time.

        Expired deleted objects are erased, and stay erased if the clock is set back. Sources of OpenAPI
        specifications are fetched again.
        """
        clock = ClockGiven.model_validate(given)
        with self.store.transaction():
            try:
                if clock.frozen is not None:
                    self.clock.freeze(clock.frozen)
                elif clock.advance is not None:
                    self.clock.advance(clock.advance)
                else:
                    self.clock.real()
            except OverflowError:
                raise bad("body.advance: the new time is too far in the future") from None
            ctx = Context(self.store, "", self.clock, families=self.companion.families)
            erase_expired(ctx)
            refetch_sources(ctx)
        return self.time(None)

    def faults(self, _: None) -> Json:
        return {"rules": [scheduled.as_dict() for scheduled in self.gateway.faults.rules]}

    def set_faults(self, given: Any) -> Json:
        """Replace all rules. The counts start at zero."""
        self.gateway.faults = FaultSchedule(FaultRules.validate_python(given))
        return self.faults(None)

    def clear_faults(self, _: None) -> None:
        self.gateway.faults = FaultSchedule()
