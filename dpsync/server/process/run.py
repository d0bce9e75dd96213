"""Run the local server as a process: open a database, load the initial data if it is new, and serve."""

import asyncio
import gc
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from .. import world as worlds
from ..console.app import Console
from ..console.plan_runner import PlanProgram
from ..control import faults as schedules
from ..control.clock import MovableClock
from ..control.gateway import Gateway
from ..control.plane import ControlPlane
from ..control.rate_limit import RateLimit
from ..control.request_guard import is_loopback
from ..http.app import build_companion
from ..http.request_parsing import HOST_PATTERN
from ..records.world_origin import WorldOrigin, load_origin
from ..store import Json, Record, Store, StoreError, is_shared, open_store
from .listening import GuardedServer, listen_on, server_url
from .workers import SIGNALS, Workers

ReadyCallback = Callable[[], object]


def serve(
    host: str,
    port: int,
    db: str,
    token: str | None,
    profile: str | None = None,
    world: Path | Json | None = None,
    allow_fetch: Collection[str] = (),
    *,
    allow_host: Collection[str] = (),
    faults: Path | None = None,
    rate_limit: str | None = None,
    latency: float = 0.0,
    control: bool = True,
    workers: int = 1,
    asks_before_removal: bool = False,
    plan: PlanProgram | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, and print the URL when requests are accepted.

    `port` 0 chooses a free port. `token` becomes an additional token of the first admin of the first
    organization. `world`, a file or its content, is loaded into a new database and by each reset. If the
    world was read from a platform, a notice on standard error names its origin and a token (a new one, if
    none is given). Only this machine can reach such a world, unless it is anonymous. `profile` defaults to
    the profile of the world, or else to full.

    `faults` is a file of rules, `rate_limit` is a text such as `20/s`, `latency` is in seconds. Without
    `control` there is no control plane and no console. For `allow_fetch` and `asks_before_removal`, see
    `build_companion`. `allow_host` has additional host names that RequestGuard accepts. `workers` is the
    number of processes. `plan` is the program that prints the plan for the console.

    Raise StoreError if the database cannot be used, ListenError for the address, OSError for an unreadable
    file, ValueError for an invalid file, name or rate limit and for options that several workers do not
    support, and WorkerFailedError if a worker does not start.
    """
    if workers > 1:
        _check_multiprocess_options(db, faults, rate_limit)
    _check_host_names(allow_host)
    start = _read_world(world) if isinstance(world, Path) else world
    service = _ServerSettings(
        profile, token, worlds.PreparedWorld(worlds.load_builtin_world() if start is None else start),
        allow_fetch,
        schedules.read_schedule(faults) if faults else None,
        RateLimit.parse(rate_limit) if rate_limit else None,
        latency, control, workers, asks_before_removal, plan, allow_loopback=start is None,
        host=host, allow_host=allow_host,
    )  # fmt: skip
    store = open_store(db)
    try:
        service.prepare(store)
        if (origin := load_origin(store)) is not None:
            service = service.for_platform_copy(store, origin)
        with listen_on(host, port) as listening:
            ready = partial(_announce, server_url(listening, host), origin, service.token)
            if workers == 1:
                service.run(store, listening, ready)
            else:
                store.close()
                worker_pool = Workers(
                    workers, lambda fd, ready: service.run_worker(db, listening, ready, stop_fd=fd)
                )
                worker_pool.run(ready)
    finally:
        store.close()


class _ServerSettings(Struct, frozen=True):
    """The settings of a server process, the same for each worker."""

    profile: str | None
    token: str | None
    start_world: worlds.PreparedWorld
    allow_fetch: Collection[str]
    faults: schedules.FaultSchedule | None
    rate_limit: RateLimit | None
    latency: float
    control: bool
    workers: int
    asks_before_removal: bool
    plan: PlanProgram | None
    allow_loopback: bool
    """Whether jobs may contact this machine. A world that somebody else wrote must not make them do so."""
    host: str
    allow_host: Collection[str]
    local_only: bool = False
    """Whether only requests from this machine are accepted."""

    def for_platform_copy(self, store: Store, origin: WorldOrigin) -> "_ServerSettings":
        """Return the settings for data (a world) that were read from a real organization.

        The API version (profile) is that of the data by default, and a new token is made if none is given.
        Raise ValueError if other machines, or other host names, could reach data about real people.
        """
        if origin.has_personal_data and self.allow_host:
            raise ValueError("only this machine may reach a copy of an organization: omit --allow-host")
        if origin.has_personal_data and not is_loopback(self.host):
            raise ValueError("only this machine may reach a copy of an organization: use --host 127.0.0.1")
        token = self.token or secrets.token_hex(16)
        if not self.token:
            _add_admin_token(store, token)
        profile = self.profile or origin.profile
        return replace(self, token=token, profile=profile, local_only=origin.has_personal_data)

    def load_start_world(self, store: Store) -> None:
        """Replace all data by those with which the server started (its world), and add the token."""
        with store.transaction():
            self.start_world.load(store)
            if self.token:
                _add_admin_token(store, self.token)

    def prepare(self, store: Store) -> None:
        """Load the initial data (the starting world) into an empty database, and add the token.

        All of this is one transaction, because another host may do the same at this moment.
        """
        with store.transaction():
            if not store.find("organization"):
                self.load_start_world(store)
            elif self.token:
                _add_admin_token(store, self.token)

    def run(
        self, store: Store, listening: socket.socket, on_ready: ReadyCallback, stop_fd: int | None = None
    ) -> None:
        """Serve until a signal arrives, or until the descriptor `stop_fd` becomes readable."""
        clock = MovableClock(store)
        companion = build_companion(
            store,
            profile=self.profile or "full",
            clock=clock,
            allow_fetch=self.allow_fetch,
            asks_before_removal=self.asks_before_removal,
        )
        companion.outside_services.own_addresses = [listening.getsockname()[:2]]
        companion.outside_services.allow_loopback = self.allow_loopback
        gateway = Gateway(companion, faults=self.faults, rate_limit=self.rate_limit, latency=self.latency)
        app: ASGIApp = gateway
        drop = gateway.cancel_waits
        if self.control:
            plane = ControlPlane(gateway, clock, self.load_start_world, self.workers)
            console = Console(plane, self.plan)
            app, drop = console, console.shut_down
        gc.freeze()  # keep the garbage collector from scanning the objects of the program repeatedly
        names = (self.host, *self.allow_host)
        listens_on = listening.getsockname()[0]
        server = GuardedServer(app, listens_on, on_ready, drop, allowed=names, local_only=self.local_only)
        asyncio.run(_serve_until_stopped(server, listening, stop_fd))

    def run_worker(self, db: str, listening: socket.socket, on_ready: ReadyCallback, stop_fd: int) -> None:
        """Serve as one of several workers, with a database connection of its own."""
        store = open_store(db)
        try:
            self.run(store, listening, on_ready, stop_fd)
        finally:
            store.close()


def _check_multiprocess_options(db: str, faults: Path | None, rate_limit: str | None) -> None:
    """Raise ValueError if several processes cannot serve with these options."""
    if not hasattr(os, "fork"):
        raise ValueError("this operating system cannot run several server processes: use --workers 1")
    if not is_shared(db):
        raise ValueError("several server processes need PostgreSQL: use --db postgresql://… or --workers 1")
    for option, value in (("--faults", faults), ("--rate-limit", rate_limit)):
        if value is not None:
            raise ValueError(
                f"{option} needs a single server process, because each process counts only its own requests: "
                "use --workers 1"
            )


def _check_host_names(names: Collection[str]) -> None:
    """Raise ValueError for a name that is not a plain host, such as one with a port or a wildcard."""
    for name in names:
        matched = HOST_PATTERN.fullmatch(name)
        if matched is None or matched[2]:
            raise ValueError(
                f"--allow-host {name!r}: write a host name or an IP address without a port (IPv6 in brackets)"
            )


async def _serve_until_stopped(server: GuardedServer, listening: socket.socket, stop_fd: int | None) -> None:
    """Serve until a signal arrives, or until the descriptor `stop_fd` becomes readable."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True
        if stop_fd is not None:
            loop.remove_reader(stop_fd)

    for number in SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows: the handler runs in the loop's thread, between two steps
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    if stop_fd is not None:
        loop.add_reader(stop_fd, stop)
    await server.serve([listening])


def _read_world(path: Path) -> worlds.Json:
    """Return the world (the server's data) in a file. Raise ValueError if the world cannot be loaded."""
    world = worlds.read_world(path)
    scratch = open_store(":memory:")
    try:
        worlds.load_world(scratch, world)
    except Exception as error:
        raise ValueError(f"{path}: invalid data: {worlds.describe_error(error)}") from None
    finally:
        scratch.close()
    return world


def _add_admin_token(store: Store, token: str) -> None:
    """Add a token for an administrator.

    In data that were read from a platform, this is the user who read them, or else the first admin of the
    first organization. Raise StoreError if there is no admin.
    """
    origin = load_origin(store)
    user = (
        origin.caller if origin is not None and store.get("user", origin.caller or "") is not None else None
    )
    if user is None:
        organizations = sorted(store.find("organization"), key=lambda organization: organization.seq)
        members = store.find("member", organization=organizations[0].id) if organizations else []
        user = next((member.ref for member in members if member.doc["role"] == "admin"), None)
    if user is None:
        raise StoreError("the first organization has no admin, so the local server cannot create a token")
    with store.transaction():
        store.put(Record("token", token, {}, ref=user))


def _announce(url: str, origin: WorldOrigin | None, token: str | None) -> None:
    """Print the URL of the server.

    If its data (world) were read from a platform, also print their origin and the token on standard error.
    """
    print(url, flush=True)
    if origin is None:
        return
    lines = [origin.notice]
    if origin.notRead:
        lines.append(
            f"The copy lacks {len(origin.notRead)} API paths that dpsync could not read. "
            "GET /_dpsync/health lists these paths."
        )
    lines.append(f"export DPSYNC_TOKEN={token}  # only for this local server")
    print("\n".join(lines), file=sys.stderr, flush=True)
