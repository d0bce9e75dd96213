"""What the client keeps back or gives up, each by itself: values, and two ends of a connection."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Sequence
from typing import Any, cast

import httpcore
import pytest

from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.deadline import Connections, Deadline
from dpsync.client.errors import (
    ClientError,
    InterruptedRequestError,
    InvalidClientValueError,
    NotJsonError,
    UnknownOutcomeError,
)
from dpsync.client.responses import requested_wait
from dpsync.client.retry import Budget, RateLimitGate
from dpsync.client.transport import Request, Response, Stats, Token

from .conftest import FakeClock

URL = "http://127.0.0.1:1"


class Answering:
    """A transport that gives one answer to everything."""

    def __init__(self, answer: Response) -> None:
        self.answer = answer
        self.sent: list[Request] = []

    def send(self, request: Request) -> Response:
        self.sent.append(request)
        return self.answer

    def close(self) -> None:
        """There is nothing to give back."""

    def stats(self) -> Stats:
        return Stats(len(self.sent), {})


def answer(status: int = 200, body: bytes = b"{}", kind: str = "application/json", **more: Any) -> Response:
    return Response(status, {"content-type": kind} if kind else {}, body, **more)


# What is secret.


def words(of: bytes, secrets: Sequence[str] = (), token: str = "a-long-token") -> str:
    """Return the error message of a write that the server refused with this text."""
    transport = Answering(answer(422, b'{"error": {"message": "%b"}}' % of))
    with WriteClient(URL, token, transport=transport) as client, pytest.raises(ClientError) as caught:
        client.send("POST", "/a", {}, repeatable=False, secrets=secrets)
    return str(caught.value)


def test_short_secret_is_masked_in_own_request_error() -> None:
    """Elsewhere it is not looked for: it stands in too many other words.

    Otherwise, a secret in the platform's answer gets into report and log.
    """
    assert "[secret] is no hook" in words(b"pass is no hook", ["pass", ""])


def test_longer_overlapping_secret_is_masked_whole() -> None:
    assert "it was [secret]" in words(b"it was abcde", ["abc", "abcde"])


def test_short_token_is_masked_in_error_messages() -> None:
    """Otherwise, the token in the platform's answer gets into report and log."""
    assert "[token] is not known" in words(b"t0k is not known", token="t0k")


def test_empty_token_error_says_token_is_empty() -> None:
    """Otherwise, an empty token goes out as a header that is none."""
    with pytest.raises(InvalidClientValueError) as caught:
        Token("")
    assert (caught.value.part, caught.value.problem) == ("token", "is empty")


# What is no text.


def text(of: Response) -> str:
    with ReadClient(URL, "token", transport=Answering(of), clock=FakeClock()) as client:
        return client.text("/a")


@pytest.mark.parametrize("kind", ["text/plain", "application/yaml; charset=utf-8", ""])
def test_text_response_accepts_any_content_type(kind: str) -> None:
    assert text(answer(body="é\n".encode(), kind=kind)) == "é\n"


def test_empty_text_response_is_accepted() -> None:
    assert text(answer(body=b"")) == ""


def test_html_page_is_not_read_as_text() -> None:
    """Otherwise, the page of a proxy is taken for a text."""
    with pytest.raises(NotJsonError) as caught:
        text(answer(body=b"<h1>Sign in</h1>", kind="text/html; charset=utf-8"))
    assert caught.value.found == "an HTML page"


def test_possibly_truncated_text_response_is_unknown() -> None:
    """Otherwise, a text that was cut is taken for whole, and sent back as that."""
    with pytest.raises(UnknownOutcomeError) as caught:
        text(answer(body=b"openapi: 3", has_marked_end=False))
    assert caught.value.reason == "truncated"


def test_non_utf8_text_response_is_rejected() -> None:
    with pytest.raises(NotJsonError) as caught:
        text(answer(body=b"\xff"))
    assert caught.value.found == "a text that is not UTF-8"


def test_partial_text_response_is_rejected() -> None:
    with pytest.raises(NotJsonError) as caught:
        text(answer(206, b"a part"))
    assert caught.value.found == "an unexpected status"


# Waiting.


def test_cancelled_client_never_uses_its_transport() -> None:
    """Otherwise, after a signal requests are still sent."""
    transport = Answering(answer())
    client = WriteClient(URL, "token", transport=transport)
    client.cancel()
    for call in (
        lambda: client.get("/a"), lambda: client.send("DELETE", "/a", repeatable=True)
    ):  # fmt: skip
        with pytest.raises(InterruptedRequestError):
            call()
    assert transport.sent == []


def test_client_pause_waits_on_clock() -> None:
    clock = FakeClock()
    ReadClient(URL, "token", transport=Answering(answer()), clock=clock).pause(3)
    assert clock.waits == [3]


def test_rate_limit_gate_keeps_longer_wait() -> None:
    """Otherwise, a shorter wait of one thread ends the longer one of another."""
    gate = RateLimitGate(FakeClock())
    gate.close_for(60)
    gate.close_for(1)
    assert gate.seconds_left() == 60


def test_rate_limit_gate_is_open_after_deadline() -> None:
    clock = FakeClock()
    gate = RateLimitGate(clock)
    assert gate.seconds_left() == 0
    gate.close_for(1)
    clock.wait(5, threading.Event())
    assert gate.seconds_left() == 0


def test_retry_budget_allows_forty_retries_and_refills() -> None:
    budget = Budget()
    budget.refill()
    assert [budget.take() for _ in range(41)] == [True] * 40 + [False]
    for _ in range(4):
        budget.refill()
    assert not budget.take()
    budget.refill()
    assert [budget.take(), budget.take()] == [True, False]


def test_past_retry_after_date_means_no_wait() -> None:
    """Otherwise, a time that is over makes a wait of less than nothing."""
    later, earlier = "Mon, 01 Jan 2029 00:01:00 GMT", "Mon, 01 Jan 2029 00:00:00 GMT"
    assert requested_wait({"retry-after": earlier, "date": later}, lambda: 0.0) == 0
    assert requested_wait({"retry-after": later, "date": earlier}, lambda: 0.0) == 60


# Time and connections.


def test_read_timeout_is_capped_by_deadline() -> None:
    """Otherwise, a server that sends a byte now and then is read for ever, also of a single read."""
    deadline = Deadline()
    with deadline.limited_to(5):
        assert 0 < cast(float, deadline.seconds_left(60, httpcore.ReadTimeout)) <= 5
        assert 0 < cast(float, deadline.seconds_left(None, httpcore.ReadTimeout)) <= 5
        assert deadline.seconds_left(1, httpcore.ReadTimeout) == 1
    assert deadline.seconds_left(60, httpcore.ReadTimeout) == 60
    assert deadline.seconds_left(None, httpcore.ReadTimeout) is None


@pytest.mark.parametrize(("at", "left"), [(0.0, 1.0), (0.75, 0.25), (1.0, None), (1.25, None)])
def test_request_deadline_raises_timeout_once_reached(at: float, left: float | None) -> None:
    clock = [0.0]
    deadline = Deadline(lambda: clock[0])
    with deadline.limited_to(1):
        clock[0] = at
        if left is None:
            with pytest.raises(httpcore.ReadTimeout):
                deadline.seconds_left(60, httpcore.ReadTimeout)
        else:
            assert deadline.seconds_left(60, httpcore.ReadTimeout) == left


def test_expired_deadline_raises_timeout() -> None:
    """Otherwise, a server that sends a byte now and then is read for ever."""
    deadline = Deadline()
    with deadline.limited_to(-math.inf), pytest.raises(httpcore.WriteTimeout):
        deadline.seconds_left(60, httpcore.WriteTimeout)


class Stream(httpcore.NetworkStream):
    """One end of a pair of connected sockets."""

    def __init__(self) -> None:
        self.own, self.other = socket.socketpair()

    def get_extra_info(self, _info: str) -> Any:
        return self.own

    def close(self) -> None:
        self.own.close()
        self.other.close()


def test_connection_opened_after_cancel_is_closed() -> None:
    """Otherwise, a connection is made after a second signal, and what goes over it is waited for."""
    connections, stream = Connections(), Stream()
    connections.shut_down()
    with pytest.raises(httpcore.ConnectError):
        connections.add(stream)
    assert stream.own.fileno() == -1


def test_cancel_closes_all_connections_despite_one_already_closed() -> None:
    """Otherwise, a connection that is closed already keeps the others from being cut."""
    connections, closed, open_ = Connections(), Stream(), Stream()
    for stream in (closed, open_):
        connections.add(stream)
    closed.close()
    connections.shut_down()
    open_.other.settimeout(1)
    assert open_.other.recv(1) == b""
    open_.close()
