"""A uvicorn server that says when it accepts requests, and leaves signals to its caller."""

import errno
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, gaierror, socket

import uvicorn
from starlette.types import ASGIApp

from ..control.connection import BreakableConnection
from ..control.request_guard import RequestGuard


def tcp_socket(ipv6: bool = False) -> socket:
    """A socket to listen on.

    The protocol must be named: only then does asyncio set TCP_NODELAY, and without it every answer on a kept
    connection waits 40 ms.
    """
    return socket(AF_INET6 if ipv6 else AF_INET, SOCK_STREAM, IPPROTO_TCP)


class CannotListen(Exception):
    """An address cannot be listened on; the text says why, and what to do."""


@contextmanager
def bound(host: str, port: int) -> Iterator[socket]:
    """A socket that has taken an address. Raises CannotListen."""
    with tcp_socket(ipv6=":" in host) as listening:
        if sys.platform != "win32":  # there it would let two programs have one port
            listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        _bind(listening, host, port)
        yield listening


def url_of(listening: socket, host: str) -> str:
    """The URL to call a host by: a server on every address is reached on loopback."""
    return f"http://{_reached(host)}:{listening.getsockname()[1]}"


def _reached(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return "127.0.0.1" if host in ("", "localhost") else host
    if address.version == 6:
        return f"[{'::1' if address.is_unspecified else host}]"
    return "127.0.0.1" if address.is_unspecified else host


def _bind(listening: socket, host: str, port: int) -> None:
    try:
        listening.bind((host, port))
    except OSError as error:
        raise cannot_listen(host, port, error) from None
    except (TypeError, ValueError):  # Python encodes the name before the system sees it
        raise CannotListen("cannot listen: --host has no name or address of a host.") from None


def cannot_listen(host: str, port: int, error: OSError) -> CannotListen:
    """The system's reason in words."""
    at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    match error.errno:
        case errno.EADDRINUSE:
            why = "another program does already. Stop it, or choose another port (--port 0: a free one)."
        case errno.EACCES:
            why = "not permitted; ports below 1024 are for the system. Choose another one (--port)."
        case errno.EADDRNOTAVAIL:
            at, why = host, "this machine does not have that address. Choose one that it has (--host)."
        case _ if isinstance(error, gaierror):
            at, why = host, f"{error.strerror}. Choose an address of this machine (--host)."
        case number:
            why = os.strerror(number) if number else str(error)
    return CannotListen(f"cannot listen on {at}: {why}")


class Listening(uvicorn.Server):
    """uvicorn server behind a RequestGuard: `await serve([socket])` runs until `should_exit` is set.

    `ready` is called once requests are accepted, `stopping` before waiting for the requests in progress.
    `listens_on` (the address of the socket), `allowed` and `private` are passed to the guard.
    """

    def __init__(
        self,
        app: ASGIApp,
        listens_on: str,
        ready: Callable[[], object],
        stopping: Callable[[], object] = lambda: None,
        *,
        allowed: Collection[str] = (),
        private: bool = False,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                RequestGuard(app, listens_on, allowed, private),
                http=BreakableConnection,
                log_level="warning",
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
            )
        )
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
