"""A uvicorn server that says when it accepts requests, and leaves signals to its caller."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import socket

import uvicorn

from .app import Companion


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
