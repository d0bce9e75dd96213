"""The companion as a process: opens a database, loads the world into a fresh one, serves until stopped."""

import asyncio
import signal
import socket
from pathlib import Path

from . import world as worlds
from .app import build
from .listening import Listening, tcp_socket
from .store import Record, Store, open_store


def serve(host: str, port: int, db: str, token: str | None, profile: str, world: Path | None = None) -> None:
    """Blocks until SIGINT or SIGTERM. Port 0 is a free one.

    Prints the URL on standard output once requests are accepted. `token` is one more token of the first
    admin of the first organization. `world` is loaded into a fresh database only. Raises StoreError when
    the database cannot be used, OSError when the address cannot.
    """
    store = open_store(db)
    try:
        if not store.find("organization"):
            worlds.load(store, worlds.read(world) if world else worlds.builtin())
        if token:
            _grant(store, token)
        with tcp_socket(ipv6=":" in host) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            url = f"http://{_reached(host)}:{listening.getsockname()[1]}"
            server = Listening(build(store, profile=profile), ready=lambda: print(url, flush=True))
            asyncio.run(_until_signal(server, listening))
    finally:
        store.close()


async def _until_signal(server: Listening, listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    await server.serve([listening])


def _reached(host: str) -> str:
    """The name to call a host by: a server on every address is reached on loopback."""
    if host in ("", "0.0.0.0", "localhost"):  # noqa: S104
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _grant(store: Store, token: str) -> None:
    """One more token for the first admin of the first organization."""
    first = min(store.find("organization"), key=lambda organization: organization.seq)
    members = store.find("member", organization=first.id)
    admin = next(member for member in members if member.doc["role"] == "admin")
    with store.transaction():
        store.put(Record("token", token, {}, ref=admin.ref))
