"""The companion as a process: opens a database, loads the world into a fresh one, serves until stopped."""

import asyncio
import signal
import socket
from collections.abc import Collection
from ipaddress import ip_address
from pathlib import Path

from . import world as worlds
from .app import build
from .control import faults as schedules
from .control.clock import MovableClock
from .control.gateway import Gateway
from .control.limit import RateLimit
from .control.plane import ControlPlane
from .listening import Listening, tcp_socket
from .store import Record, Store, StoreError, open_store


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
) -> None:
    """Blocks until SIGINT or SIGTERM. Port 0 is a free one.

    Prints the URL on standard output once requests are accepted. `token` is one more token of the first
    admin of the first organization. `world` is loaded into a fresh database, and by a reset. `faults` is a
    file of rules, `rate_limit` such as `20/s`, `latency` in seconds. Without `control` there is no control
    plane. `allow_fetch`: see `build`. Raises StoreError when the database cannot be used, OSError when the
    address or a file cannot, ValueError for a file or a rate limit that says nothing sensible.
    """
    schedule = schedules.read(faults) if faults else None
    limit = RateLimit.parse(rate_limit) if rate_limit else None
    start = _read_world(world) if world else worlds.builtin()

    def start_over(store: Store) -> None:
        worlds.load(store, start)
        if token:
            _grant(store, token)

    store = open_store(db)
    try:
        if not store.find("organization"):
            start_over(store)
        elif token:
            _grant(store, token)
        with tcp_socket(ipv6=":" in host) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            url = f"http://{_reached(host)}:{listening.getsockname()[1]}"
            clock = MovableClock()
            companion = build(store, profile=profile, clock=clock, allow_fetch=allow_fetch)
            gateway = Gateway(companion, faults=schedule, rate_limit=limit, latency=latency)
            app = ControlPlane(gateway, clock, start_over) if control else gateway
            server = Listening(app, lambda: print(url, flush=True), gateway.drop)
            asyncio.run(_until_signal(server, listening))
    finally:
        store.close()


async def _until_signal(server: Listening, listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
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
        raise ValueError(f"{path}: not a world: {type(error).__name__}: {error}") from None
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
