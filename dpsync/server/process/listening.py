"""Listen on a TCP socket, and run uvicorn so that it reports when it accepts requests.

`GuardedServer` is a uvicorn server that leaves signals to its caller.
"""

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

_PORT_HINT = "stop that program, or choose another port with --port (--port 0 takes a free port)"
_FREE_PORT_HINT = "choose another port with --port (--port 0 takes a free port)"
_ADDRESS_HINT = "choose a name or an address of this machine with --host"


def tcp_socket(ipv6: bool = False) -> socket:
    """Return a socket to listen on.

    The protocol must be set explicitly: only then does asyncio set TCP_NODELAY. Without TCP_NODELAY, every
    answer on a kept-alive connection is delayed by 40 ms.
    """
    return socket(AF_INET6 if ipv6 else AF_INET, SOCK_STREAM, IPPROTO_TCP)


class ListenError(Exception):
    """The server cannot listen on an address. The message says why, and `hint` says what to do."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


@contextmanager
def listen_on(host: str, port: int) -> Iterator[socket]:
    """Listen on an address exclusively. Raise ListenError."""
    with tcp_socket(ipv6=":" in host) as listening:
        if sys.platform != "win32":  # on Windows, SO_REUSEADDR would let two programs share a port
            listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        _bind(listening, host, port)
        yield listening


def server_url(server_socket: socket, host: str) -> str:
    """Return the URL of a host. A server that listens on every address is called on loopback."""
    return f"http://{_reachable_host(host)}:{server_socket.getsockname()[1]}"


def _reachable_host(host: str) -> str:
    """Return a host at which a server that listens on this host can be reached from this machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return "127.0.0.1" if host in ("", "localhost") else host
    if address.version == 6:
        return f"[{'::1' if address.is_unspecified else host}]"
    return "127.0.0.1" if address.is_unspecified else host


def _bind(listening: socket, host: str, port: int) -> None:
    """Bind a socket to an address and listen. Raise ListenError."""
    try:
        listening.bind((host, port))
        listening.listen()  # with SO_REUSEADDR, two programs can bind to a port until one of them listens
    except OSError as error:
        raise listen_error(host, listening.getsockname()[1] or port, error) from None
    except (TypeError, ValueError):  # Python cannot encode the name as a host name
        raise ListenError("cannot listen: --host is not a host name or an address", _ADDRESS_HINT) from None


def listen_error(host: str, port: int, error: OSError) -> ListenError:
    """Return the error of the operating system as a message with a hint."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    match error.errno:
        case errno.EADDRINUSE:
            reason, hint = f"another program uses port {port}", _PORT_HINT
        case errno.EACCES:
            reason, hint = (
                f"you may not use port {port} (ports below 1024 are reserved for the system)",
                _FREE_PORT_HINT,
            )
        case errno.EADDRNOTAVAIL:
            address, reason, hint = host, "this machine does not have that address", _ADDRESS_HINT
        case _ if isinstance(error, gaierror):
            address, reason, hint = host, error.strerror or "the host does not exist", _ADDRESS_HINT
        case number:
            reason, hint = os.strerror(number) if number else str(error), _FREE_PORT_HINT
    return ListenError(f"cannot listen on {address}: {reason}", hint)


class GuardedServer(uvicorn.Server):
    """uvicorn server behind a RequestGuard: `await serve([socket])` runs until `should_exit` is set.

    `on_ready` is called once requests are accepted, `on_stopping` before waiting for the requests in
    progress. `listens_on` (the address of the socket), `allowed` and `local_only` are passed to the guard.
    """

    def __init__(
        self,
        app: ASGIApp,
        listens_on: str,
        on_ready: Callable[[], object],
        on_stopping: Callable[[], object] = lambda: None,
        *,
        allowed: Collection[str] = (),
        local_only: bool = False,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                RequestGuard(app, listens_on, allowed, local_only),
                http=BreakableConnection,
                log_level="warning",
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
            )
        )
        self._on_ready = on_ready
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start the server, and report that it accepts requests."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Report that the server stops, before uvicorn waits for the requests in progress."""
        self._on_stopping()
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave all signals to the caller."""
        yield
