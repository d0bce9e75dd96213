"""Rate limits: how long is waited, by whom, and when it is given up. And what cancel() does to a wait."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import pytest

from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.errors import InterruptedRequestError, RateLimitedError, UnknownOutcomeError
from dpsync.client.retry import RATE_LIMIT_BACKOFF_SECONDS, Clock
from tests.patience import PATIENCE

from .conftest import START, FakeClock
from .faulty import FaultyServer, reply, silence

TOKEN = "s3cret-token"
GOOD = reply(200, {"id": "acme"})


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": " 1.5 "}, 1.5),
        ({"retry_after": formatdate(START + 20, usegmt=True)}, 20),
        # the server's clock is two hours ahead of ours: its own Date is what counts
        (
            {
                "retry_after": formatdate(START + 7230, usegmt=True),
                "date": formatdate(START + 7200, usegmt=True),
            },
            30,
        ),
        ({"retry_after": formatdate(START - 3600, usegmt=True)}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"retry_after": "0"}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"retry_after": "-1"}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"retry_after": "soon"}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"retry_after": "NaN"}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"retry_after": "١٢"}, RATE_LIMIT_BACKOFF_SECONDS),
        ({}, RATE_LIMIT_BACKOFF_SECONDS),
        ({"x_ratelimit_reset": f"{START + 12:.0f}"}, 12),
        ({"x_ratelimit_reset": f"{(START + 12) * 1000:.0f}"}, 12),
        ({"x_ratelimit_reset": "9"}, 9),
        ({"retry_after": "3", "x_ratelimit_reset": "50"}, 3),
    ],
)
def test_rate_limited_read_waits_as_server_asks(
    clock: FakeClock, headers: dict[str, str], seconds: float
) -> None:
    """Otherwise, a platform that says to wait no time is asked again and again.

    Otherwise, a moment in milliseconds is waited for thousands of years, so that the call is given up.
    Otherwise, a clock that is hours off makes every rate limit a failure, or none.
    """
    limited = reply(429, None, **{k: v.encode().decode("latin-1") for k, v in headers.items()})
    with FaultyServer(limited, GOOD) as server, ReadClient(server.url, TOKEN, clock=clock) as client:
        client.get("/orgs/acme")

    assert clock.waits == [pytest.approx(seconds)]


@pytest.mark.parametrize("headers", [{"retry_after": "61"}, {"retry_after": "1000000000"}])
def test_read_fails_without_wait_above_max_wait(clock: FakeClock, headers: dict[str, str]) -> None:
    """Otherwise, a rate limit is waited for however long it lasts."""
    with (
        FaultyServer(reply(429, {"error": {"message": "slow down"}}, **headers)) as server,
        ReadClient(server.url, TOKEN, max_wait=60, clock=clock) as client,
    ):
        with pytest.raises(RateLimitedError) as caught:
            client.get("/orgs/acme")

        assert (clock.waits, len(server.requests)) == ([], 1)
    assert caught.value.retry_after == pytest.approx(float(headers["retry_after"]))
    assert (caught.value.message, caught.value.waited) == ("slow down", 0)


def test_total_wait_of_call_stays_within_max_wait(clock: FakeClock) -> None:
    with (
        FaultyServer(reply(429, None, retry_after="0")) as server,
        ReadClient(server.url, TOKEN, max_wait=30, clock=clock) as client,
        pytest.raises(RateLimitedError) as caught,
    ):
        client.get("/orgs/acme")

    assert clock.waits == [0.5, 1, 2, 4, 8, 8]
    assert caught.value.waited == sum(clock.waits) <= 30


def test_create_is_retried_after_429(clock: FakeClock) -> None:
    with (
        FaultyServer(reply(429), reply(429), reply(201, {"id": "t"})) as server,
        WriteClient(server.url, TOKEN, clock=clock) as client,
    ):
        assert client.send("POST", "/orgs/acme/sites", {}, repeatable=False).status == 201
        assert len(server.requests) == 3


def test_rate_limited_call_blocks_other_calls(clock: FakeClock) -> None:
    """Otherwise, a rate limit that another thread has met is waited for however long it lasts."""
    with (
        FaultyServer(reply(429, None, retry_after="3600"), GOOD) as server,
        WriteClient(server.url, TOKEN, clock=clock) as client,
    ):
        with pytest.raises(RateLimitedError):
            client.get("/orgs/acme")
        with pytest.raises(RateLimitedError):
            client.send("DELETE", "/orgs/acme/teams/t", repeatable=True)

        assert len(server.requests) == 1


def test_calls_resume_after_rate_limit_expires(clock: FakeClock) -> None:
    with (
        FaultyServer(reply(429, None, retry_after="3600"), GOOD) as server,
        ReadClient(server.url, TOKEN, clock=clock) as client,
    ):
        with pytest.raises(RateLimitedError):
            client.get("/orgs/acme")
        clock.wait(3570, threading.Event())

        assert client.get("/orgs/acme") == {"id": "acme"}
        assert clock.waits == [3570, pytest.approx(30)]


def test_concurrent_threads_can_share_a_client(clock: FakeClock) -> None:
    script = [reply(429, None, retry_after="1") if n % 10 == 0 else GOOD for n in range(1, 60)]
    with (
        FaultyServer(*script, GOOD) as server,
        ReadClient(server.url, TOKEN, clock=clock) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(client.get, ["/orgs/acme"] * 100))

        assert answers == [{"id": "acme"}] * 100
        assert client.requests == len(server.requests) == 105


@pytest.mark.parametrize(("asked", "waited"), [("2", 2), ("120", None), ("soon", None)])
def test_short_retry_after_of_503_is_honored(clock: FakeClock, asked: str, waited: float | None) -> None:
    """Otherwise, a 503 that names an hour is waited for."""
    with (
        FaultyServer(reply(503, None, retry_after=asked), GOOD) as server,
        ReadClient(server.url, TOKEN, clock=clock) as client,
    ):
        client.get("/orgs/acme")

    assert clock.waits == [waited] if waited else clock.waits[0] <= 0.2


def test_retry_backoff_doubles_with_jitter_up_to_cap(clock: FakeClock) -> None:
    for _ in range(20):
        with (
            FaultyServer(reply(500), reply(500), reply(500), GOOD) as server,
            ReadClient(server.url, TOKEN, clock=clock) as client,
        ):
            client.get("/orgs/acme")

    for n, top in enumerate([0.2, 0.4, 0.8]):
        waits = clock.waits[n::3]
        assert max(waits) <= top
        assert len(set(waits)) > 10


def test_cancel_interrupts_rate_limit_wait() -> None:
    """Otherwise, a signal during a wait counts as a rate limit."""
    waiting = threading.Event()

    class Watched(Clock):
        def wait(self, seconds: float, cancelled: threading.Event) -> None:
            waiting.set()
            super().wait(seconds, cancelled)

    with (
        FaultyServer(reply(429, None, retry_after="50")) as server,
        ReadClient(server.url, TOKEN, clock=Watched()) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        call = pool.submit(client.get, "/orgs/acme")
        assert waiting.wait(PATIENCE)
        client.cancel()

        assert isinstance(call.exception(timeout=PATIENCE), InterruptedRequestError)
        assert len(server.requests) == 1


def test_cancel_leaves_writes_in_progress_unknown() -> None:
    """Nobody knows then whether a write was carried out; a read has done nothing.

    Otherwise, after a second signal an apply waits for answers all the same.
    Otherwise, a write that a signal has cut is looked up, and waited for, instead of ending.
    Otherwise, a write that was perhaps done is told as one that was never sent.
    Otherwise, a refusal of the second try hides that the first one was perhaps done, also whatever the second
    try came to.
    """
    reached = threading.Semaphore(0)

    def silent(connection: socket.socket, stopping: threading.Event) -> bool:
        reached.release()
        return silence(connection, stopping)

    with (
        FaultyServer(GOOD, silent) as server,
        WriteClient(server.url, TOKEN) as client,
        ThreadPoolExecutor(3) as pool,
    ):
        client.get("/orgs/acme")  # until the first answer, one request goes alone
        calls = [pool.submit(client.get, "/orgs/acme")] + [
            pool.submit(client.send, "PUT", "/orgs/acme/teams", {}, repeatable=repeatable)
            for repeatable in (False, True)
        ]
        for _ in calls:
            assert reached.acquire(timeout=PATIENCE)
        client.cancel()
        read, *writes = [call.exception(timeout=PATIENCE) for call in calls]

    assert isinstance(read, InterruptedRequestError)
    assert [(type(one), getattr(one, "reason", "")) for one in writes] == [
        (UnknownOutcomeError, "interrupted")
    ] * 2
    assert len(server.requests) == 4


def test_cancelled_client_sends_no_requests(clock: FakeClock) -> None:
    with FaultyServer(GOOD) as server, WriteClient(server.url, TOKEN, clock=clock) as client:
        client.cancel()
        for call in (
            lambda: client.get("/orgs/acme"),
            lambda: client.send("PUT", "/orgs/acme/teams", {}, repeatable=False),
        ):
            with pytest.raises(InterruptedRequestError):
                call()

        assert server.requests == []
