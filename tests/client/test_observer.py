"""What a client tells while it works: requests that end, those that are still to come, and why it waits."""

from __future__ import annotations

import json

from dpsync.client.client import ReadClient
from dpsync.client.errors import UnknownOutcomeError
from dpsync.client.observer import WaitReason
from dpsync.client.transport import Request, Response, Stats

from .conftest import FakeClock


class Noted:
    def __init__(self) -> None:
        self.events: list[object] = []

    def expect_reads(self, requests: int) -> None:
        self.events.append(("expects", requests))

    def start_batch(self, requests: int) -> None:
        self.events.append(("batch", requests))

    def add_reads(self, requests: int) -> None:
        self.events.append(("more", requests))

    def count_response(self, method: str) -> None:
        self.events.append(method)

    def note_wait(self, why: WaitReason, seconds: float) -> None:
        self.events.append((why, round(seconds)))


class Script:
    """Answers in this order."""

    def __init__(self, *answers: tuple[int, object] | Exception) -> None:
        self.answers = list(answers)

    def send(self, _request: Request) -> Response:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        headers = {"content-type": "application/json", "retry-after": "7"}
        return Response(status, headers, json.dumps(body).encode())

    def close(self) -> None:
        """Nothing to close."""

    def stats(self) -> Stats:
        return Stats(0, {})


def events(clock: FakeClock, *answers: tuple[int, object] | Exception, pages: bool = False) -> list[object]:
    noted = Noted()
    client = ReadClient("http://localhost", "t", transport=Script(*answers), clock=clock, observer=noted)
    client.pages("/x") if pages else client.get("/x")
    return noted.events


def test_progress_observer_expects_another_request_per_further_page(clock: FakeClock) -> None:
    first, last = {"items": [{"id": "1"}], "next": {"page": "2"}}, {"items": [{"id": "2"}]}
    assert events(clock, (200, first), (200, last), pages=True) == ["GET", ("more", 1), "GET"]


def test_progress_observer_receives_rate_limit_wait(clock: FakeClock) -> None:
    limited = (429, {"error": {"message": "slow down"}})
    assert events(clock, limited, (200, {})) == ["GET", ("more", 1), ("rate limit", 7), "GET"]


def test_progress_observer_receives_retry_event(clock: FakeClock) -> None:
    found = events(clock, UnknownOutcomeError("GET", "/x", "reset"), (200, {}))
    assert found[:2] == ["GET", ("more", 1)]
    assert isinstance(found[2], tuple)
    assert found[2][0] == "retry"
    assert found[3] == "GET"


def test_progress_observer_receives_platform_pause(clock: FakeClock) -> None:
    noted = Noted()
    ReadClient("http://localhost", "t", transport=Script(), clock=clock, observer=noted).pause(5)
    assert noted.events == [("platform at work", 5)]
