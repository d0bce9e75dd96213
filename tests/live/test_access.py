"""What the headers of an answer say of the platform's clock and of its rate limit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import formatdate

import pytest

from dpsync.client.transport import Request, Response, Stats
from dpsync.live.access import HeaderReader


class Answering:
    """A transport whose answers have these headers."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers

    def send(self, request: Request) -> Response:
        return Response(200, self.headers, b"{}")

    def close(self) -> None:
        """Nothing to close."""

    def stats(self) -> Stats:
        return Stats(0, {})


def reader(**headers: str) -> HeaderReader:
    found = HeaderReader(Answering({name.replace("_", "-"): value for name, value in headers.items()}))
    found.send(Request("GET", "/user"))
    return found


@pytest.mark.parametrize("seconds", [-36_000, 0, 36_000])
def test_how_far_a_clock_is_ahead_is_told_from_the_date_of_an_answer(seconds: float) -> None:
    ahead = reader(date=formatdate(time.time() + seconds, usegmt=True)).ahead
    assert ahead == pytest.approx(seconds, abs=600)


@pytest.mark.parametrize("date", ["", "soon"])
def test_without_a_date_nothing_is_known_of_the_clock(date: str) -> None:
    assert reader(date=date).ahead is None


@pytest.mark.parametrize(
    ("remaining", "limit", "told"),
    [("7", "100", (7, 100)), (" 0 ", "100", (0, 100)), ("", "100", None), ("7", "", None), ("x", "9", None)],
)
def test_a_rate_limit_is_how_many_requests_are_left_of_how_many(
    remaining: str, limit: str, told: tuple[int, int] | None
) -> None:
    assert reader(x_ratelimit_remaining=remaining, x_ratelimit_limit=limit).rate_limit() == told
