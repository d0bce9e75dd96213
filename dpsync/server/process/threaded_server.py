"""Run the local server in a thread of the calling process, for tests that use real HTTP and its state."""

import asyncio
import threading
from collections.abc import Callable
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import from_json, to_json

from .. import world as worlds
from ..control.plane import ControlPlane
from ..http.app import Companion
from .listening import GuardedServer, tcp_socket

if TYPE_CHECKING:
    from ..console.app import Console

T = TypeVar("T")

_MAX_PREPARED_WORLDS = 8
"""The number of worlds whose records are kept in memory."""


class ThreadedServer:
    """Serves on a free port at `url`: `with ThreadedServer(app) as server:`.

    `plane` is the control plane around the app, or the console around the control plane.
    """

    def __init__(self, app: Companion, plane: "ControlPlane | Console | None" = None) -> None:
        self.app = app
        self.url = ""
        # Tests reset to the same few worlds repeatedly.
        self._prepared_world = lru_cache(_MAX_PREPARED_WORLDS)(self._prepare_world)
        self._plane = plane
        self._ready = threading.Event()
        self._socket = tcp_socket()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="companion", daemon=True)

    def __enter__(self) -> "ThreadedServer":
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.app.outside_services.own_addresses = [self._socket.getsockname()]
        plane, listens_on = self._plane, self._socket.getsockname()[0]
        self._server = (
            GuardedServer(plane, listens_on, self._ready.set, plane.gateway.cancel_waits)
            if plane
            else GuardedServer(self.app, listens_on, self._ready.set)
        )
        self._thread.start()
        if not self._ready.wait(timeout=10):
            raise RuntimeError("the local server did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()

    def _run(self) -> None:
        """Run the event loop of the server in its thread."""
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve([self._socket]))

    def run_in_server(self, function: Callable[[], T]) -> T:
        """Call a function in the thread of the server, between two requests."""

        async def run() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(timeout=30)

    def wait_for_jobs(self, include_abandoned: bool = False) -> None:
        """Wait until no job is in progress, with `include_abandoned` also no obsolete job."""
        asyncio.run_coroutine_threadsafe(self.app.wait_for_jobs(include_abandoned), self._loop).result(
            timeout=30
        )

    def _prepare_world(self, text: bytes) -> worlds.PreparedWorld:
        """Return the records for a world (the server's data) as JSON. Null stands for the built-in world."""
        world = from_json(text)
        return worlds.PreparedWorld(
            worlds.load_builtin_world() if world is None else world, self.app.record_kinds
        )

    def reset(self, world: dict[str, Any] | None = None) -> None:
        """Replace the whole state by a world (default: the built-in world), and clear the request log."""

        def load() -> None:
            self._prepared_world(to_json(world)).load(self.app.store, self.app.clock())
            self.app.requests.clear()
            self.app.violations.clear()

        self.run_in_server(load)
