"""A uvicorn server that says when it accepts requests, and leaves signals to its caller."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, socket

import uvicorn

from .app import Companion


def tcp_socket(ipv6: bool = False) -> socket:
    """A socket to listen on.

    The protocol must be named: only then does asyncio set TCP_NODELAY, and without it every answer on a kept
    connection waits 40 ms.
    """
    return socket(AF_INET6 if ipv6 else AF_INET, SOCK_STREAM, IPPROTO_TCP)


class Listening(uvicorn.Server):
    """`await serve([socket])`, with `ready` called once requests are accepted. Ends after `should_exit` is
    set.
    """

    def __init__(self, app: Companion, ready: Callable[[], object]) -> None:
        super().__init__(
            uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", ws="none")
        )
        self._ready = ready

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
