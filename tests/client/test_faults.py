"""What comes of every fault, for a read, a repeatable write and a create; and how many requests it took."""

from __future__ import annotations

import socket
import ssl
import threading

import pytest

from dpsync.client.client import WriteClient, WriteResult
from dpsync.client.errors import (
    ClientError,
    ForbiddenError,
    InterruptedRequestError,
    NotFoundError,
    NotJsonError,
    NotSentError,
    RateLimitedError,
    RedirectedError,
    RejectedError,
    ServerFaultError,
    StatusError,
    UnauthorizedError,
    UnknownOutcomeError,
)

from . import faulty
from .conftest import FakeClock
from .faulty import Act, FaultyServer, reply

TOKEN = "s3cret-token"
SHORT = 0.4
ENOUGH = 1.0
"""Seconds: also a busy machine answers the try after the first one within them."""
READ, REPEATABLE, CREATE = "read", "repeatable write", "create"
CALLS = (READ, REPEATABLE, CREATE)

PASSING = [
    ("reset", faulty.reset, "reset"),
    ("closed without an answer", faulty.closed, "closed"),
    ("closed in the headers", faulty.half_head, "closed"),
    ("closed after the headers", faulty.only_head, "truncated"),
    ("cut by content-length", faulty.cut_length, "truncated"),
    ("cut in a chunk", faulty.cut_chunk, "truncated"),
    ("cut without a mark", faulty.cut_unmarked, "truncated"),
    ("cut gzip", faulty.cut_gzip, "truncated"),
    ("silence", faulty.silence, "timeout"),
    ("dripping body", faulty.drip_body, "timeout"),
    ("dripping headers", faulty.drip_head, "timeout"),
    ("not HTTP", faulty.not_http, "closed"),
]
STATUSES = [408, 500, 502, 503, 504, 520]
FINAL = [
    (401, UnauthorizedError),
    (403, ForbiddenError),
    (404, NotFoundError),
    (400, RejectedError),
    (409, RejectedError),
    (412, RejectedError),
    (413, RejectedError),
    (501, ServerFaultError),
]
UNREADABLE = [
    ("HTML", faulty.HTML, "an HTML page"),
    ("text", reply(200, b"fine", content_type="text/plain"), "another content type"),
    ("broken JSON", reply(200, b'{"a": '), "broken JSON"),
    ("NaN", reply(200, b'{"a": NaN}'), "broken JSON"),
    ("partial content", reply(206, {"a": 1}), "an unexpected status"),
    ("gzip bomb", faulty.bomb, "more than 64 MiB of data"),
    ("brotli", reply(200, b"x", content_encoding="br"), "an unexpected compression"),
]


def call(client: WriteClient, kind: str) -> object:
    if kind == READ:
        return client.get("/orgs/acme")
    if kind == REPEATABLE:
        return client.send("PATCH", "/orgs/acme", {"title": "A"}, repeatable=True)
    return client.send("PUT", "/orgs/acme/teams", {"title": "A"}, repeatable=False)


def run(clock: FakeClock, kind: str, *script: Act, timeout: float = 30.0) -> tuple[object, int]:
    """Return the result or error of a call, and the number of requests that reached the server."""
    with (
        FaultyServer(*script) as server,
        WriteClient(server.url, TOKEN, timeout=timeout, clock=clock) as client,
    ):
        try:
            outcome = call(client, kind)
        except ClientError as error:
            outcome = error
        server.until(client.requests)
        return outcome, len(server.requests)


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(("act", "reason"), [pytest.param(a, r, id=name) for name, a, r in PASSING])
def test_write_result_is_unknown_after_permanent_connection_fault(
    clock: FakeClock, act: Act, reason: str, kind: str
) -> None:
    """Otherwise, a truncated answer is reported as not from the API and is not requested again."""
    outcome, requests = run(clock, kind, act, timeout=SHORT if reason == "timeout" else 30.0)

    assert isinstance(outcome, UnknownOutcomeError)
    assert (outcome.reason, requests) == (reason, 1 if kind == CREATE else 4)


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(("act", "reason"), [pytest.param(a, r, id=name) for name, a, r in PASSING])
def test_temporary_connection_fault_is_retried_except_for_create(
    clock: FakeClock, act: Act, reason: str, kind: str
) -> None:
    """Otherwise, an answer that was cut counts as broken for good, or as whole.

    Otherwise, an answer that was perhaps cut is told as something that is not the API, and is not asked for
    again.
    """
    timeout = ENOUGH if reason == "timeout" else 30.0
    outcome, requests = run(clock, kind, act, reply(200, {"id": "x"}), timeout=timeout)

    if kind == CREATE:
        assert isinstance(outcome, UnknownOutcomeError)
        assert requests == 1
    else:
        assert outcome == ({"id": "x"} if kind == READ else WriteResult(200, {"id": "x"}))
        assert requests == 2


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("status", STATUSES)
def test_write_is_unknown_after_server_error(clock: FakeClock, status: int, kind: str) -> None:
    """Otherwise, a create whose answer was lost is sent again, and makes two.

    Otherwise, a write that timed out at a gateway, and was perhaps done, is told as refused.
    Otherwise, a write that a gateway answered for, and that was perhaps done, is told as failed.
    """
    outcome, requests = run(clock, kind, reply(status, {"error": {"code": status, "message": "later"}}))

    assert isinstance(outcome, ServerFaultError if kind == READ else UnknownOutcomeError)
    assert (outcome.status, requests) == (status, 1 if kind == CREATE else 4)


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(("status", "raised"), FINAL)
def test_client_error_4xx_is_not_retried(
    clock: FakeClock, status: int, raised: type[ClientError], kind: str
) -> None:
    """Otherwise, what the platform has refused is sent again."""
    outcome, requests = run(clock, kind, reply(status, {"error": {"code": status, "message": "no\x1b[2J"}}))

    assert type(outcome) is raised
    assert isinstance(outcome, StatusError)
    assert (outcome.status, outcome.message, requests) == (status, "no\x1b[2J", 1)
    assert str(outcome).isprintable()


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(("act", "found"), [pytest.param(a, f, id=name) for name, a, f in UNREADABLE])
def test_unreadable_success_response_is_not_retried(
    clock: FakeClock, act: Act, found: str, kind: str
) -> None:
    """Otherwise, a write whose answer was no JSON, and which was perhaps done, is told as one that failed.

    Otherwise, what is packed in a way that nobody asked for is read as JSON.
    Otherwise, an answer takes all of the memory.
    Otherwise, an unexpected status counts as success.
    Otherwise, the page of a proxy is read as an answer.
    Otherwise, a write that was done, with an answer that cannot be read, is told as failed.
    """
    outcome, requests = run(clock, kind, act)

    assert requests == 1
    if kind == READ:
        assert isinstance(outcome, NotJsonError)
        assert outcome.found == found
    else:
        assert isinstance(outcome, UnknownOutcomeError)
        assert outcome.reason == "unreadable"


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_api_redirect_is_never_followed(clock: FakeClock, status: int, kind: str) -> None:
    """Otherwise, a redirect counts as an answer.

    Otherwise, a write that was answered with a redirect, and was perhaps done, is told as failed.
    Otherwise, what a redirect holds, a token perhaps, gets into the log.
    """
    outcome, requests = run(clock, kind, reply(status, None, location="https://elsewhere.example/v1?key=1"))

    assert requests == 1
    if kind == READ:
        assert isinstance(outcome, RedirectedError)
        assert outcome.origin == "https://elsewhere.example"
    else:
        assert isinstance(outcome, UnknownOutcomeError)
        assert outcome.reason == "redirect"


@pytest.mark.parametrize("status", [204, 205])
def test_read_fails_without_response_body(clock: FakeClock, status: int) -> None:
    outcome, _ = run(clock, READ, reply(status))

    assert isinstance(outcome, NotJsonError)


@pytest.mark.parametrize("body", [None, b"<html>no such page</html>", b"[]"])
def test_http_404_not_from_api_means_no_absence(clock: FakeClock, body: bytes | None) -> None:
    """Otherwise, the 404 of a proxy counts as absence: what is there is made anew, or taken for deleted.

    Otherwise, the 404 of a proxy counts as absence: what is there is made anew, or taken for deleted, also as
    a refusal that says nothing of the proxy.
    """
    outcome, requests = run(clock, READ, reply(404, body))

    assert isinstance(outcome, NotJsonError)
    assert (outcome.status, requests) == (404, 1)


def test_write_with_404_not_from_api_is_rejected(clock: FakeClock) -> None:
    outcome, _ = run(clock, CREATE, reply(404, b"<html>"))

    assert type(outcome) is RejectedError


@pytest.mark.parametrize("kind", CALLS)
def test_refused_connection_fails_after_three_tries(clock: FakeClock, kind: str) -> None:
    """Otherwise, what was certainly not sent is given up at the first hiccup.

    Otherwise, a fault that lasts is tried against for ever.
    """
    with WriteClient(f"http://127.0.0.1:{faulty.free_port()}", TOKEN, clock=clock) as client:
        with pytest.raises(NotSentError) as caught:
            call(client, kind)

        assert (caught.value.reason, client.requests) == ("refused", 3)
        assert sum(clock.waits) < 1


@pytest.mark.parametrize("kind", CALLS)
def test_https_request_to_plain_server_counts_as_unsent(clock: FakeClock, kind: str) -> None:
    with FaultyServer(faulty.not_http) as server:
        url = server.url.replace("http:", "https:")
        with (
            WriteClient(url, TOKEN, clock=clock) as client,
            pytest.raises(NotSentError) as caught,
        ):
            call(client, kind)
        assert caught.value.reason == "tls"
        assert server.requests == []


def test_untrusted_certificate_is_not_retried(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    def distrusted(*_: object, **__: object) -> None:
        raise ssl.SSLCertVerificationError(1, "self-signed certificate")

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", distrusted)
    with FaultyServer(faulty.closed) as server:
        url = server.url.replace("http:", "https:")
        with WriteClient(url, TOKEN, clock=clock) as client, pytest.raises(NotSentError) as caught:
            call(client, READ)

        assert (caught.value.reason, client.requests) == ("certificate", 1)


def test_request_to_unresolved_hostname_counts_as_unsent(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unresolved(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    with (
        WriteClient("http://nowhere.invalid", TOKEN, clock=clock) as client,
        pytest.raises(NotSentError) as caught,
    ):
        call(client, CREATE)

    assert caught.value.reason == "dns"


@pytest.mark.parametrize("status", [400, 404, 409])
def test_refusal_after_unanswered_write_is_marked_uncertain(clock: FakeClock, status: int) -> None:
    """Otherwise, a refusal of the second try hides that the first one was perhaps done."""
    outcome, requests = run(clock, REPEATABLE, faulty.reset, reply(status, {"error": {"message": "gone"}}))

    assert isinstance(outcome, ClientError)
    assert (outcome.status, outcome.after_unknown, requests) == (status, True, 2)


def test_unanswered_write_stays_unknown_after_rate_limit(clock: FakeClock) -> None:
    """Otherwise, a lost answer to a reading counts as a write that was perhaps done."""
    outcome, _ = run(clock, REPEATABLE, faulty.reset, reply(429, None, retry_after="100000"))
    read, _ = run(clock, READ, faulty.reset, reply(429, None, retry_after="100000"))

    assert isinstance(outcome, UnknownOutcomeError)
    assert isinstance(read, RateLimitedError)


@pytest.mark.parametrize(
    ("kind", "raised"), [(READ, InterruptedRequestError), (REPEATABLE, UnknownOutcomeError)]
)
def test_unanswered_write_stays_unknown_after_interrupt(kind: str, raised: type[ClientError]) -> None:
    class CancelledDuringWait(FakeClock):
        def wait(self, _seconds: float, cancelled: threading.Event) -> None:
            cancelled.set()

    outcome, requests = run(CancelledDuringWait(), kind, faulty.reset)

    assert (type(outcome), requests) == (raised, 1)


def test_retry_budget_is_shared_by_all_calls(clock: FakeClock) -> None:
    """Otherwise, a platform in trouble gets four times as many requests."""
    with FaultyServer(reply(503)) as server, WriteClient(server.url, TOKEN, clock=clock) as client:
        for _ in range(40):
            with pytest.raises(ServerFaultError):
                client.get("/orgs")

        assert client.requests == 40 + 40
