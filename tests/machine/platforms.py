"""A companion that keeps what was asked of it, and what readers saw after each write."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from dpsync.client.transport import Request
from dpsync.server import world as worlds
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.direct import Direct
from tests.properties.organizations import Fields
from tests.properties.readers import Fact, seen
from tests.properties.states import ids

TOKEN = "u0-token"
Entry = tuple[str, str, int]
"""Method, path and status of one request."""


class _Log(deque[Entry]):
    """The log of a companion. After each write it notes what readers see, while somebody wants to know."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(maxlen=100_000)
        self._platform = platform

    def append(self, entry: Entry) -> None:
        super().append(entry)
        self._platform.noted(entry)


@dataclass
class Platform:
    """One companion with the world of one history."""

    server: ThreadedServer
    born: set[str] = field(default_factory=set)
    """The ids of what was there when watching began."""
    moments: list[set[Fact]] | None = None
    """What readers saw after each write; None while nobody watches."""

    def __post_init__(self) -> None:
        self.server.app.requests = _Log(self)

    def noted(self, entry: Entry) -> None:
        """In the thread of the server, after a request."""
        if entry[0] != "GET" and self.moments is not None:
            self.moments.append(seen(worlds.dump_world(self.server.app.store), self.born))

    @property
    def url(self) -> str:
        return self.server.url

    def start(self, world: Fields) -> None:
        self.server.reset(world)

    def state(self) -> Fields:
        self.server.wait_for_jobs(include_abandoned=True)
        return self.server.run_in_server(lambda: worlds.dump_world(self.server.app.store))

    def taken(self) -> list[Entry]:
        """Every request since this was asked last."""

        def take() -> list[Entry]:
            found = list(self.server.app.requests)
            self.server.app.requests.clear()
            return found

        return self.server.run_in_server(take)

    @contextmanager
    def watched(self, state: Fields, born: set[str] | None = None) -> Iterator[list[set[Fact]]]:
        """Record what readers see during the block, beginning now. `born`: the ids of an earlier start."""
        self.born = ids(state) if born is None else born
        moments = self.moments = [seen(state, self.born)]
        try:
            yield moments
        finally:
            self.moments = None

    def by_hand(self, method: str, path: str, body: Any = None) -> int:
        """Send a request without dpsync and return the status of the answer. `path` comes after `/v1`."""
        from pydantic_core import to_json

        text = None if body is None else to_json(body)
        return Direct(self.server, TOKEN).send(Request(method, path, body=text)).status


@contextmanager
def platforms(profile: str) -> Iterator[tuple[Platform, Platform]]:
    """Production and staging of one profile. Each holds all of its answers against its own models."""
    with ExitStack() as stack:

        def one() -> Platform:
            store = open_store(":memory:")
            stack.callback(store.close)
            app = build_companion(store, profile=profile, check_responses=True)
            return Platform(stack.enter_context(ThreadedServer(app)))

        yield one(), one()
