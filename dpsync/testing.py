"""Offer a pytest plugin with the fixture `docs_platform`: a local server that imitates GitBook.

A test session has one server, on a free port, in a thread of the test process. Every test starts with the
server's test data. The fixture controls the server over HTTP. Needs `dpsync[server]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from msgspec import Struct

if TYPE_CHECKING:
    from dpsync.server.process.threaded_server import ThreadedServer

__all__ = ["DocsPlatform", "PlatformClock", "PlatformRequest", "docs_platform"]

TOKEN = "ada-token"  # noqa: S105


class PlatformRequest(Struct, frozen=True):
    """A request that the server received. `path` begins with `/v1`.

    `operation` is the id of an operation. `caller` is the id of a user, None without a valid token. `status`
    is None if the server sent no response. `fault` is the kind of the failure that a rule caused.
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
    """The clock of the server."""

    def __init__(self, control: httpx.Client) -> None:
        self._control = control

    @property
    def now(self) -> datetime:
        """Return the server's time."""
        return datetime.fromisoformat(_json(self._control.get("clock"))["now"])

    def freeze(self, at: datetime) -> None:
        """Stop the clock at a time with a time zone."""
        _json(self._control.put("clock", json={"frozen": at.isoformat()}))

    def advance(self, by: timedelta) -> None:
        """Advance the clock. Deleted spaces expire, for example."""
        _json(self._control.put("clock", json={"advance": by.total_seconds()}))

    def real(self) -> None:
        """Return to the real time."""
        _json(self._control.put("clock", json={"real": True}))


class DocsPlatform:
    """A running local server. Use `url` as DPSYNC_URL and `token` as DPSYNC_TOKEN."""

    def __init__(self, url: str, control: httpx.Client) -> None:
        self.url = url
        self.token = TOKEN
        self.clock = PlatformClock(control)
        self._control = control

    @property
    def world(self) -> dict[str, Any]:
        """Return all data. Setting the data replaces everything and sets `token` to the first token.

        For data that `dpsync world` saved, `token` is a new token of an admin.
        """
        data: dict[str, Any] = _json(self._control.get("world"))
        return data

    @world.setter
    def world(self, world: dict[str, Any]) -> None:
        _json(self._control.put("world", json=world))
        self.token = next(iter(world.get("tokens") or {}), self.token)
        if caller := (world.get("origin") or {}).get("caller"):
            self.token = self.token_of(caller)

    @property
    def requests(self) -> list[PlatformRequest]:
        """Return the API requests since the start of the test, in the order of their responses."""
        return [PlatformRequest(**entry) for entry in _json(self._control.get("requests"))["requests"]]

    @property
    def writes(self) -> list[PlatformRequest]:
        """Return the requests since the start of the test that were not GET."""
        return [request for request in self.requests if request.method != "GET"]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Return `{rule, matched, used}` for each rule. Setting the rules restarts the counts."""
        rule_states: list[dict[str, Any]] = _json(self._control.get("faults"))["rules"]
        return rule_states

    @faults.setter
    def faults(self, rules: list[dict[str, Any]]) -> None:
        _json(self._control.put("faults", json=rules))

    def token_of(self, user: str) -> str:
        """Return a new token of a user."""
        return str(_json(self._control.post("tokens", json={"user": user}))["token"])

    def reset(self) -> None:
        """Restore the test data and the real time, and delete all rules and requests."""
        _json(self._control.post("reset"))
        self.token = TOKEN


@pytest.fixture(scope="session")
def _docs_platform_server() -> Iterator[ThreadedServer]:
    """Provide the server in a thread, once for all tests of the session."""
    from dpsync.server.extras import MissingPackageError, companion_packages

    try:
        with companion_packages():
            from dpsync.server import world as worlds
            from dpsync.server.control.clock import MovableClock
            from dpsync.server.control.gateway import Gateway
            from dpsync.server.control.plane import ControlPlane
            from dpsync.server.http.app import build_companion
            from dpsync.server.process.threaded_server import ThreadedServer
            from dpsync.server.store import open_store
    except MissingPackageError as missing:
        pytest.fail(f"docs_platform: {missing}", pytrace=False)

    start = worlds.PreparedWorld(worlds.load_builtin_world())
    store = open_store(":memory:")
    clock = MovableClock(store)
    app = build_companion(store, clock=clock)
    plane = ControlPlane(Gateway(app), clock, start.load)
    with ThreadedServer(app, plane) as server:
        yield server
    store.close()


@pytest.fixture(scope="session")
def _docs_platform_control(_docs_platform_server: ThreadedServer) -> Iterator[httpx.Client]:
    """Provide a client that controls the server, once for all tests.

    Creating a client takes longer than a request, because it reads all certificates.
    """
    url = _docs_platform_server.url
    with httpx.Client(base_url=f"{url}/_dpsync/", trust_env=False, timeout=30) as control:
        yield control


@pytest.fixture
def docs_platform(
    _docs_platform_server: ThreadedServer, _docs_platform_control: httpx.Client
) -> Iterator[DocsPlatform]:
    """Provide a local GitBook server with the test data of dpsync.

    The test fails at its end if a failure rule was never used. Rules with a probability may stay unused.
    """
    platform = DocsPlatform(_docs_platform_server.url, _docs_platform_control)
    platform.reset()
    yield platform
    unused = [
        rule_state["rule"]
        for rule_state in platform.faults
        if not rule_state["used"] and "probability" not in rule_state["rule"]
    ]
    if unused:
        pytest.fail(f"the local server did not simulate these failures (faults): {unused}")


def _json(answer: httpx.Response) -> Any:
    """Return the JSON of a response. Raises ValueError with the server's message."""
    if answer.is_success:
        return answer.json() if answer.content else None
    raise ValueError(answer.json()["error"]["message"])
