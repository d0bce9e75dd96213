"""A pytest plugin: the companion as the fixture `docs_platform`.

One server for a test session, on a free port, in a thread of the test process; every test starts with the
built-in world. It is driven over HTTP, by the API and the control plane. Needs `dpsync[server]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from msgspec import Struct

if TYPE_CHECKING:
    from dpsync.server.process.thread import ThreadedServer

__all__ = ["DocsPlatform", "PlatformClock", "PlatformRequest", "docs_platform"]

TOKEN = "ada-token"  # noqa: S105


class PlatformRequest(Struct, frozen=True):
    """A request as the platform saw it. `path` begins with `/v1`.

    `operation` is an operation's id, `caller` a user's (None: no good token), `status` None when no answer
    was sent, `fault` the kind of fault that it met.
    """

    method: str
    path: str
    query: str
    operation: str | None
    caller: str | None
    status: int | None
    ms: float
    fault: str | None


class PlatformClock:
    """The time on the platform."""

    def __init__(self, control: httpx.Client) -> None:
        self._control = control

    @property
    def now(self) -> datetime:
        return datetime.fromisoformat(_json(self._control.get("clock"))["now"])

    def freeze(self, at: datetime) -> None:
        """`at` has a time zone."""
        _json(self._control.put("clock", json={"frozen": at.isoformat()}))

    def advance(self, by: timedelta) -> None:
        """What the platform keeps for a time only is gone when that has passed."""
        _json(self._control.put("clock", json={"advance": by.total_seconds()}))

    def real(self) -> None:
        _json(self._control.put("clock", json={"real": True}))


class DocsPlatform:
    """A running platform. `url` and `token` are what DPSYNC_URL and DPSYNC_TOKEN want."""

    def __init__(self, url: str, control: httpx.Client) -> None:
        self.url = url
        self.token = TOKEN
        self.clock = PlatformClock(control)
        self._control = control

    @property
    def world(self) -> dict[str, Any]:
        """The whole state, as a world. Setting it replaces the state; `token` is then the first of its
        tokens, and of a world that `dpsync world` has saved a new one, of an administrator.
        """
        found: dict[str, Any] = _json(self._control.get("world"))
        return found

    @world.setter
    def world(self, world: dict[str, Any]) -> None:
        _json(self._control.put("world", json=world))
        self.token = next(iter(world.get("tokens") or {}), self.token)
        if caller := (world.get("origin") or {}).get("caller"):
            self.token = self.token_of(caller)

    @property
    def requests(self) -> list[PlatformRequest]:
        """Requests to the API since the start of the test, in the order of their ends."""
        return [PlatformRequest(**entry) for entry in _json(self._control.get("requests"))["requests"]]

    @property
    def writes(self) -> list[PlatformRequest]:
        return [request for request in self.requests if request.method != "GET"]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """`{rule, matched, used}` of each rule. Setting it gives the rules, and starts the counts anew."""
        found: list[dict[str, Any]] = _json(self._control.get("faults"))["rules"]
        return found

    @faults.setter
    def faults(self, rules: list[dict[str, Any]]) -> None:
        _json(self._control.put("faults", json=rules))

    def token_of(self, user: str) -> str:
        """A new token of a user."""
        return str(_json(self._control.post("tokens", json={"user": user}))["token"])

    def reset(self) -> None:
        """Back to the built-in world, real time, no faults and no requests."""
        _json(self._control.post("reset"))
        self.token = TOKEN


@pytest.fixture(scope="session")
def _docs_platform_server() -> Iterator[ThreadedServer]:
    from dpsync.server.extras import MissingPackage, companion_packages

    try:
        with companion_packages():
            from dpsync.server import world as worlds
            from dpsync.server.control.clock import MovableClock
            from dpsync.server.control.gateway import Gateway
            from dpsync.server.control.plane import ControlPlane
            from dpsync.server.http.app import build
            from dpsync.server.process.thread import ThreadedServer
            from dpsync.server.store import open_store
    except MissingPackage as missing:
        pytest.fail(f"docs_platform: {missing}", pytrace=False)

    start = worlds.Start(worlds.builtin())
    store = open_store(":memory:")
    clock = MovableClock(store)
    app = build(store, clock=clock)
    plane = ControlPlane(Gateway(app), clock, start.load)
    with ThreadedServer(app, plane) as server:
        yield server
    store.close()


@pytest.fixture(scope="session")
def _docs_platform_control(_docs_platform_server: ThreadedServer) -> Iterator[httpx.Client]:
    """One for all tests: a client reads all certificates when it is made: longer than a request takes."""
    url = _docs_platform_server.url
    with httpx.Client(base_url=f"{url}/_dpsync/", trust_env=False, timeout=30) as control:
        yield control


@pytest.fixture
def docs_platform(
    _docs_platform_server: ThreadedServer, _docs_platform_control: httpx.Client
) -> Iterator[DocsPlatform]:
    """A documentation platform with the built-in world of dpsync's companion.

    The test fails at its end when a fault that it asked for has not happened; rules with a probability are
    left to chance.
    """
    platform = DocsPlatform(_docs_platform_server.url, _docs_platform_control)
    platform.reset()
    yield platform
    unused = [
        found["rule"] for found in platform.faults if not found["used"] and "probability" not in found["rule"]
    ]
    if unused:
        pytest.fail(f"these failures (faults) did not happen: {unused}")


def _json(answer: httpx.Response) -> Any:
    """The JSON of an answer. ValueError: the platform's reason to refuse."""
    if answer.is_success:
        return answer.json() if answer.content else None
    raise ValueError(answer.json()["error"]["message"])
