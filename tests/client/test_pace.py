"""The client keeps under the rate that the platform announces: it is never told to slow down."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsync.api import Session, load, load_registry
from dpsync.client.client import WriteClient
from dpsync.client.observer import NullObserver
from dpsync.client.rate_limit import RateLimiter
from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.control.rate_limit import RateLimit
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.patience import PATIENCE

from .conftest import FakeClock

Headers = dict[str, str]


def pace(clock: FakeClock, rate: float | None = None, longest: float = 60.0) -> RateLimiter:
    return RateLimiter(clock, threading.Event(), NullObserver(), longest, rate)


class Platform:
    """A platform that counts requests in windows, as it announces them."""

    def __init__(self, clock: FakeClock, requests: int, seconds: int = 1) -> None:
        self.clock = clock
        self.limit = RateLimit(requests, seconds, now=clock.now)
        self.refused = 0

    def answer(self) -> Headers:
        allowance = self.limit.consume("caller")
        self.refused += not allowance.allowed
        return {
            "x-ratelimit-limit": str(allowance.limit),
            "x-ratelimit-remaining": str(allowance.remaining),
            "x-ratelimit-reset": str(math.ceil(self.clock.wall() + allowance.seconds_left)),
        }


@pytest.mark.parametrize(("requests", "seconds"), [(1, 1), (5, 1), (20, 1), (600, 60)])
def test_rate_limiter_prevents_429_for_sequential_requests(
    requests: int, seconds: int, clock: FakeClock
) -> None:
    mine, platform = pace(clock), Platform(clock, requests, seconds)
    for _ in range(3 * requests):
        mine.wait_for_turn()
        mine.finish_request(platform.answer())
    assert platform.refused == 0
    assert sum(clock.waits) <= 3 * (seconds + 1)


def test_rate_limiter_counts_requests_in_flight(clock: FakeClock) -> None:
    """Otherwise, requests in flight do not count, and the platform refuses some."""
    mine, platform = pace(clock), Platform(clock, 3)
    mine.wait_for_turn()
    mine.finish_request(platform.answer())
    mine.wait_for_turn()
    mine.wait_for_turn()
    entered = threading.Event()

    def another() -> None:
        mine.wait_for_turn()
        entered.set()

    thread = threading.Thread(target=another)
    thread.start()
    assert not clock.waits
    mine.finish_request(platform.answer())
    assert not entered.is_set()
    mine.finish_request(platform.answer())
    thread.join(PATIENCE)
    assert entered.is_set()
    assert len(clock.waits) == 1


def test_rate_limiter_serializes_requests_until_first_response(clock: FakeClock) -> None:
    """Otherwise, the first requests exceed a limit that nobody has heard of yet."""
    mine = pace(clock)
    mine.wait_for_turn()
    second = threading.Thread(target=mine.wait_for_turn)
    second.start()
    assert second.is_alive()
    mine.finish_request(None)
    second.join(PATIENCE)
    assert not second.is_alive()


def test_rate_limiter_ignores_unusable_headers(clock: FakeClock) -> None:
    mine = pace(clock)
    odd = {"x-ratelimit-remaining": "x", "x-ratelimit-reset": "9"}
    never = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}
    for headers in ({}, {"x-ratelimit-remaining": "0"}, odd, never):
        mine.wait_for_turn()
        mine.finish_request(headers)
    mine.wait_for_turn()
    assert clock.waits == []


def test_rate_limiter_ignores_reset_beyond_longest_wait(clock: FakeClock) -> None:
    """Otherwise, a header of nonsense keeps dpsync waiting for years."""
    mine = pace(clock, longest=60)
    mine.wait_for_turn()
    mine.finish_request({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "3600"})
    mine.wait_for_turn()
    assert clock.waits == []


def test_configured_rate_spaces_requests_evenly(clock: FakeClock) -> None:
    mine = pace(clock, rate=5)
    for _ in range(6):
        mine.wait_for_turn()
        mine.finish_request({})
    assert clock.waits == [pytest.approx(0.2)] * 5


def test_configured_rate_overrides_announced_limit(clock: FakeClock) -> None:
    mine = pace(clock, rate=5)
    mine.wait_for_turn()
    mine.finish_request({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"})
    mine.wait_for_turn()
    assert clock.waits == [pytest.approx(0.2)]


@pytest.mark.parametrize(("reset", "waits"), [("10.9", [10]), ("11", [])])
def test_rate_limiter_groups_nearly_equal_reset_times(
    reset: str, waits: list[float], clock: FakeClock
) -> None:
    """Headers have whole seconds: the smaller number of the two counts. A later moment is another window."""
    mine = pace(clock)
    mine.wait_for_turn()
    mine.finish_request(None)
    mine.wait_for_turn()
    mine.wait_for_turn()
    mine.finish_request({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "10"})
    mine.finish_request({"x-ratelimit-remaining": "5", "x-ratelimit-reset": reset})
    mine.wait_for_turn()
    assert clock.waits == waits


def test_cancel_ends_rate_limiter_wait(clock: FakeClock) -> None:
    cancelled = threading.Event()
    mine = RateLimiter(clock, cancelled, NullObserver(), 60.0, None)
    mine.wait_for_turn()
    waiting = threading.Thread(target=mine.wait_for_turn)
    waiting.start()
    cancelled.set()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


# The whole way: a companion that counts.

TEAMS = 30
CONFIGURATION = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams:\n" + "".join(
    f"      t{number}: {{ title: Team {number} }}\n" for number in range(TEAMS)
)


class Counted(Gateway):
    """A companion that refuses whoever is too fast, and counts them."""

    refused = 0

    def check_rate_limit(self, scope):  # type: ignore[no-untyped-def]
        found = super().check_rate_limit(scope)
        self.refused += found[1] is not None
        return found


@pytest.fixture
def limited(clock: FakeClock) -> Iterator[tuple[ThreadedServer, Counted]]:
    store = open_store(":memory:")
    companion = build_companion(store)
    gateway = Counted(companion, rate_limit=RateLimit(5, 1, now=clock.now))
    plane = ControlPlane(gateway, MovableClock(store), lambda _: None)
    with ThreadedServer(companion, plane) as server:
        server.reset()
        yield server, gateway


@pytest.mark.parametrize("parallelism", [1, 4, 16])
def test_plan_and_large_apply_cause_no_429(
    parallelism: int, limited: tuple[ThreadedServer, Counted], clock: FakeClock, tmp_path: Path
) -> None:
    server, gateway = limited
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION)
    session = Session(load(tmp_path / "dpsync.yaml"), load_registry(), parallelism)
    with WriteClient(server.url, "ada-token", clock=clock) as client:
        report = session.apply(client, session.plan(client), secrets={})
    assert (report.count("done"), report.converged) == (TEAMS, True)
    assert report.writes == TEAMS
    assert gateway.refused == 0
    assert clock.waits


def test_concurrent_reads_cause_no_429(limited: tuple[ThreadedServer, Counted], clock: FakeClock) -> None:
    server, gateway = limited
    with WriteClient(server.url, "ada-token", clock=clock) as client, ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: client.get("/orgs/acme"), range(100)))
    assert gateway.refused == 0
