"""A companion that keeps one write waiting: whoever has sent it is in the middle of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE


class Held:
    """The companion, with one write held back until it is let go."""

    def __init__(self, app: Any, number: int) -> None:
        self.app = app
        self.left = number
        self.reached = threading.Event()
        self.is_let_go = threading.Event()
        self.carried_out = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.app, name)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] != "GET":
            self.left -= 1
            if self.left == 0:
                await self.hold(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def hold(self, scope: Any, receive: Any, send: Any) -> None:
        receive = await received(receive)
        self.reached.set()
        await asyncio.to_thread(self.is_let_go.wait, PATIENCE)
        await self.app(scope, receive, send)
        self.carried_out.set()

    def let_go(self) -> None:
        """Let the write go on; what is asked after this finds it carried out."""
        self.is_let_go.set()
        assert self.carried_out.wait(PATIENCE)


async def received(receive: Any) -> Any:
    """Read the whole request first, so that it is carried out even if its sender disconnects."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())

    async def again() -> Any:
        return messages.pop(0) if messages else await receive()

    return again


@contextmanager
def holding(number: int) -> Iterator[tuple[ThreadedServer, Held]]:
    """Serve the built-in world from a companion that holds the write with this number (1: the first)."""
    store = open_store(":memory:")
    app = Held(build_companion(store), number)
    with ThreadedServer(app) as server:
        server.reset()
        yield server, app
        app.is_let_go.set()
    store.close()
