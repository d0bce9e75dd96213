"""The companion as a process: opens a database, loads the world into a fresh one, serves until stopped."""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Collection
from ipaddress import ip_address
from pathlib import Path

from msgspec import Struct

from .. import world as worlds
from ..console.app import Console
from ..console.plan import PlanProgram
from ..control import banner as banners
from ..control import faults as schedules
from ..control.clock import MovableClock
from ..control.gateway import Gateway
from ..control.limit import RateLimit
from ..control.plane import ControlPlane
from ..http.app import build
from ..store import Record, Store, StoreError, is_shared, open_store
from .listening import Listening, bind, tcp_socket
from .workers import SIGNALS, Workers

Ready = Callable[[], object]


def serve(
    host: str,
    port: int,
    db: str,
    token: str | None,
    profile: str,
    world: Path | None = None,
    allow_fetch: Collection[str] = (),
    *,
    faults: Path | None = None,
    rate_limit: str | None = None,
    latency: float = 0.0,
    control: bool = True,
    workers: int = 1,
    asks_before_removal: bool = False,
    banner: str = "",
    plan: PlanProgram | None = None,
) -> None:
    """Blocks until SIGINT or SIGTERM. Port 0 is a free one.

    Prints the URL on standard output once requests are accepted. `token` is one more token of the first
    admin of the first organization. `world` is loaded into a fresh database, and by a reset. `faults` is a
    file of rules, `rate_limit` such as `20/s`, `latency` in seconds. Without `control` there is no control
    plane and no console. `allow_fetch`, `asks_before_removal`: see `build`. `workers`: how many processes.
    `banner` is a sentence about the starting world, which the console shows. `plan` is the program that makes
    the plan that the console shows. Raises StoreError
    when the database cannot be used, CannotListen for the address, OSError for a file, ValueError for a file
    or a rate limit that says nothing sensible and for what cannot be with several workers, WorkerFailed when
    one does not start.
    """
    if workers > 1:
        _check_shareable(db, faults, rate_limit)
    service = _Service(
        profile,
        token,
        worlds.Start(_read_world(world) if world else worlds.builtin()),
        allow_fetch,
        schedules.read(faults) if faults else None,
        RateLimit.parse(rate_limit) if rate_limit else None,
        latency,
        control,
        workers,
        asks_before_removal,
        banner,
        plan,
    )
    store = open_store(db)
    try:
        service.prepare(store)
        with tcp_socket(ipv6=":" in host) as listening:
            if sys.platform != "win32":  # there it would let two programs have one port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bind(listening, host, port)
            url = f"http://{_reached(host)}:{listening.getsockname()[1]}"

            def ready() -> None:
                print(url, flush=True)

            if workers == 1:
                service.run(store, listening, ready)
            else:
                store.close()
                several = Workers(workers, lambda fd, ready: service.work(db, listening, ready, stop_fd=fd))
                several.run(ready)
    finally:
        store.close()


class _Service(Struct, frozen=True):
    """What each worker serves."""

    profile: str
    token: str | None
    start: worlds.Start
    allow_fetch: Collection[str]
    faults: schedules.FaultSchedule | None
    rate_limit: RateLimit | None
    latency: float
    control: bool
    workers: int
    asks_before_removal: bool
    banner: str
    plan: PlanProgram | None

    def start_over(self, store: Store) -> None:
        with store.transaction():
            self.start.load(store)
            banners.put_up(store, self.banner)
            if self.token:
                _grant(store, self.token)

    def prepare(self, store: Store) -> None:
        """In one transaction, as another host may do the same at this moment."""
        with store.transaction():
            if not store.find("organization"):
                self.start_over(store)
            elif self.token:
                _grant(store, self.token)

    def run(self, store: Store, listening: socket.socket, ready: Ready, stop_fd: int | None = None) -> None:
        """Until a signal, or until the descriptor `stop_fd` can be read."""
        clock = MovableClock(store)
        companion = build(
            store,
            profile=self.profile,
            clock=clock,
            allow_fetch=self.allow_fetch,
            asks_before_removal=self.asks_before_removal,
        )
        companion.sources.own = [listening.getsockname()[:2]]
        gateway = Gateway(companion, faults=self.faults, rate_limit=self.rate_limit, latency=self.latency)
        app: Console | Gateway = gateway
        if self.control:
            plane = ControlPlane(gateway, clock, self.start_over, self.workers)
            app = Console(plane, self.plan)
        gc.freeze()  # the garbage collector need not look through the program again and again
        asyncio.run(_until_stopped(Listening(app, ready, app.drop), listening, stop_fd))

    def work(self, db: str, listening: socket.socket, ready: Ready, stop_fd: int) -> None:
        """One of several: with a connection of its own."""
        store = open_store(db)
        try:
            self.run(store, listening, ready, stop_fd)
        finally:
            store.close()


def _check_shareable(db: str, faults: Path | None, rate_limit: str | None) -> None:
    if not hasattr(os, "fork"):
        raise ValueError("this system cannot run several workers: --workers 1")
    if not is_shared(db):
        raise ValueError("several workers need PostgreSQL: --db postgresql://…, or --workers 1")
    for option, given in (("--faults", faults), ("--rate-limit", rate_limit)):
        if given is not None:
            raise ValueError(
                f"{option} counts requests, and of several workers none sees those of the others: --workers 1"
            )


async def _until_stopped(server: Listening, listening: socket.socket, stop_fd: int | None) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True
        if stop_fd is not None:
            loop.remove_reader(stop_fd)

    for number in SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows: the handler runs between two steps of the loop's thread
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    if stop_fd is not None:
        loop.add_reader(stop_fd, stop)
    await server.serve([listening])


def _read_world(path: Path) -> worlds.Json:
    """A world that can be loaded."""
    scratch = open_store(":memory:")
    try:
        world = worlds.read(path)
        worlds.load(scratch, world)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path}: not a world: {worlds.complaint(error)}") from None
    finally:
        scratch.close()
    return world


def _reached(host: str) -> str:
    """The name to call a host by: a server on every address is reached on loopback."""
    try:
        address = ip_address(host)
    except ValueError:
        return "127.0.0.1" if host in ("", "localhost") else host
    if address.version == 6:
        return f"[{'::1' if address.is_unspecified else host}]"
    return "127.0.0.1" if address.is_unspecified else host


def _grant(store: Store, token: str) -> None:
    """One more token for the first admin of the first organization."""
    organizations = sorted(store.find("organization"), key=lambda organization: organization.seq)
    members = store.find("member", organization=organizations[0].id) if organizations else []
    admin = next((member for member in members if member.doc["role"] == "admin"), None)
    if admin is None:
        raise StoreError("the first organization of this world has no admin to give a token to")
    with store.transaction():
        store.put(Record("token", token, {}, ref=admin.ref))
