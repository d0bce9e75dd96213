"""What each status and header means, and how much of an answer is taken: by values, without a connection."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.errors import (
    ClientError,
    ForbiddenError,
    InvalidListError,
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
from dpsync.client.responses import SUCCESS, error_of_response, read_result, requested_wait
from dpsync.client.transport import HttpTransport, Request, Response, Stats, Token, media_type

from .conftest import FakeClock

URL = "http://127.0.0.1:1"


def failed(method: str, status: int, message: str = "", **headers: str) -> ClientError:
    body = json.dumps({"error": {"message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error_of_response(
        Request(method, "/a"), Response(status, named, body), lambda text: text, lambda: 0.0
    )


@pytest.mark.parametrize(
    ("status", "read", "write"),
    [
        (300, RedirectedError, "redirect"), (302, RedirectedError, "redirect"),
        (399, RedirectedError, "redirect"), (400, RejectedError, RejectedError),
        (401, UnauthorizedError, UnauthorizedError), (402, RejectedError, RejectedError),
        (403, ForbiddenError, ForbiddenError), (404, NotFoundError, NotFoundError),
        (405, RejectedError, RejectedError), (407, RejectedError, RejectedError),
        (408, ServerFaultError, "fault"), (409, RejectedError, RejectedError),
        (428, RejectedError, RejectedError), (429, RateLimitedError, RateLimitedError),
        (430, RejectedError, RejectedError), (499, RejectedError, RejectedError),
        (500, ServerFaultError, "fault"), (501, ServerFaultError, ServerFaultError),
        (502, ServerFaultError, "fault"), (599, ServerFaultError, "fault"),
    ],
)  # fmt: skip
def test_http_status_maps_to_read_and_write_error(
    status: int, read: type[ClientError], write: type[ClientError] | str
) -> None:
    """Of a write it says whether it was certainly not done; else nobody knows."""
    assert type(failed("GET", status)) is read
    found = failed("PUT", status)
    assert (found.reason if isinstance(found, UnknownOutcomeError) else type(found)) == write
    assert found.status == status


@pytest.mark.parametrize(("status", "asked"), [(429, 7.0), (502, None), (503, 7.0), (504, None)])
def test_retry_after_applies_to_429_and_503(status: int, asked: float | None) -> None:
    found = failed("GET", status, retry_after="7")
    assert isinstance(found, RateLimitedError | ServerFaultError)
    assert found.retry_after == asked


def test_new_rate_limit_error_has_zero_wait() -> None:
    found = failed("GET", 429)
    assert isinstance(found, RateLimitedError)
    assert (found.waited, str(found)) == (0, "GET /a: too many requests (dpsync waited 0 s)")


@pytest.mark.parametrize(("length", "kept"), [(1000, 1000), (1001, 1000)])
def test_error_message_keeps_1000_characters(length: int, kept: int) -> None:
    found = failed("GET", 400, "x" * length)
    assert isinstance(found, StatusError)
    assert found.message == "x" * kept


@pytest.mark.parametrize("status", [199, 206, 299])
def test_write_is_unknown_after_unexpected_2xx_status(status: int) -> None:
    asked = Request("PUT", "/a")
    with pytest.raises(UnknownOutcomeError) as caught:
        read_result(asked, Response(status, {"content-type": "application/json"}, b"{}"))
    assert (caught.value.reason, caught.value.status) == ("unreadable", status)


def test_success_statuses_are_200_to_205() -> None:
    read = [status for status in range(199, 301) if status in SUCCESS]
    assert read == [200, 201, 202, 203, 204, 205]


NOW = 2_600_000_000.0


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        # Up to a thousand million it is a number of seconds, above it a moment: of 2001, so it is over.
        ("1000000000", 1_000_000_000),
        ("1000000001", 0),
        # A thousand times as much is a moment in milliseconds.
        ("1000000000000", 1_000_000_000_000 - NOW),
        ("1000000000001", 0),
        ("2600000012000", 12),
        ("0", 0),
    ],
)
def test_rate_limit_reset_is_seconds_or_timestamp(reset: str, seconds: float) -> None:
    assert requested_wait({"x-ratelimit-reset": reset}, lambda: NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(("length", "kept"), [(80, 80), (81, 80)])
def test_content_type_keeps_80_characters(length: int, kept: int) -> None:
    assert media_type("x" * length + "; charset=utf-8") == "x" * kept


# Lists.


class Pages:
    """A transport that answers with these envelopes, one after the other."""

    def __init__(self, *envelopes: dict[str, Any]) -> None:
        self.left = list(envelopes)

    def send(self, _request: Request) -> Response:
        body = json.dumps(self.left.pop(0)).encode()
        return Response(200, {"content-type": "application/json"}, body)

    def close(self) -> None:
        """Nothing to close."""

    def stats(self) -> Stats:
        return Stats(0, {})


def listed(cursor: str) -> list[dict[str, Any]]:
    """Read a list of two pages, the second of which has this cursor."""
    pages = Pages({"items": [{"id": "a"}], "next": {"page": cursor}}, {"items": [{"id": "b"}]})
    return ReadClient(URL, "token", transport=pages).pages("/a")


@pytest.mark.parametrize("length", [1, 8192])
def test_list_cursor_of_valid_length_is_accepted(length: int) -> None:
    assert [item["id"] for item in listed("x" * length)] == ["a", "b"]


@pytest.mark.parametrize("length", [0, 8193])
def test_empty_or_oversized_list_cursor_is_rejected(length: int) -> None:
    with pytest.raises(InvalidListError) as caught:
        listed("x" * length)
    assert (caught.value.fault, caught.value.page, caught.value.status) == ("bad cursor", 1, 200)


# What is not sent.


def test_error_for_oversized_url_shows_truncated_path() -> None:
    transport = HttpTransport(URL, Token("token"))
    with pytest.raises(NotSentError) as caught:
        transport.send(Request("GET", "/" + "x" * 70_000))
    assert caught.value.path == "/" + "x" * 199
    transport.close()


@pytest.mark.parametrize(
    ("status", "read", "reason"),
    [
        (206, NotJsonError, "unreadable"),
        (299, NotJsonError, "unreadable"),
        (300, RedirectedError, "redirect"),
    ],
)
def test_client_rejects_statuses_206_299_and_300(status: int, read: type[ClientError], reason: str) -> None:
    class Odd(Pages):
        def send(self, _request: Request) -> Response:
            return Response(status, {"content-type": "application/json"}, b"{}")

    client = WriteClient(URL, "token", transport=Odd(), clock=FakeClock())
    with pytest.raises(read):
        client.get("/a")
    with pytest.raises(UnknownOutcomeError) as caught:
        client.send("PUT", "/a", {}, repeatable=False)
    assert caught.value.reason == reason
