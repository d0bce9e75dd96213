"""Build requests from JSON, and interpret responses: JSON bodies, and exceptions for error statuses.

Input: paths, bodies and raw responses. Output: requests, JSON and exceptions. Nothing is sent or retried
here.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote as percent
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from pydantic_core import from_json, to_json

from dpsync.client.errors import (
    ClientError,
    ForbiddenError,
    InvalidClientValueError,
    NotFoundError,
    NotJsonError,
    RateLimitedError,
    RedirectedError,
    RejectedError,
    ServerFaultError,
    UnauthorizedError,
    UnknownOutcomeError,
)
from dpsync.client.transport import Request, Response, media_type

JSON = Any
"""A JSON value: None, bool, int, float, str, or list and dict of these. Never NaN."""

Params = Mapping[str, str | int | bool | Iterable[str] | None]
"""Query parameters; None leaves one out, an iterable repeats it."""

SUCCESS = range(200, 206)
_STATUSES_WITHOUT_BODY = (204, 205)
_MESSAGE_CHARS = 1000
_ENCODED_PATH = re.compile(r"(/[A-Za-z0-9%._~!$&'()*+,;=:@-]+)+")
_FIRST_EPOCH_SECONDS = (
    1_000_000_000  # a larger reset header is a time since 1970, a smaller one a number of seconds
)


class WriteResult(Struct, frozen=True):
    """The result of a write. `body` is None if the response has no body to read: 204, 205, DELETE, empty."""

    status: int
    body: JSON | None


def quote(segment: str) -> str:
    """Return one path segment, percent-encoded, such as an id in a URL.

    Raises InvalidClientValueError for a segment that would change the path (empty, or only dots) or that
    UTF-8 cannot encode.
    """
    if segment in ("", ".", ".."):
        raise InvalidClientValueError("segment", "is empty or consists of dots")
    try:
        return percent(segment, safe="")
    except UnicodeEncodeError:
        raise InvalidClientValueError("segment", "contains a character that UTF-8 cannot encode") from None


def request(method: str, path: str, params: Params | None = None, body: JSON | None = None) -> Request:
    """Return a request with encoded query and body.

    Raises InvalidClientValueError for a path that is not absolute and encoded, or a body that is not JSON.
    """
    segments = path.split("/")
    if not _ENCODED_PATH.fullmatch(path) or "." in segments or ".." in segments:
        raise InvalidClientValueError(
            "path", 'must begin with "/", be percent-encoded, and contain no empty segment, "." or ".."'
        )
    pairs = [(name, _query_value(value)) for name, value in (params or {}).items() if value is not None]
    return Request(method, path, urlencode(pairs, doseq=True), None if body is None else encode_body(body))


def _query_value(value: str | int | bool | Iterable[str]) -> str | list[str]:
    """Return a query parameter as text, or as a list of texts for a repeated parameter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else list(value)


def encode_body(body: JSON) -> bytes:
    """Return a request body as JSON text.

    Raises InvalidClientValueError for NaN, infinity, lone surrogates and values outside JSON.
    """
    try:
        text = to_json(body)
        from_json(text, allow_inf_nan=False)
    except ValueError:
        raise InvalidClientValueError("body", "cannot be written as JSON") from None
    return text


def read_body(sent_request: Request, response: Response) -> JSON:
    """Return the JSON body of a successful response.

    Raises NotJsonError, or UnknownOutcomeError if the body may have been cut off.
    """
    content_type = media_type(response.headers.get("content-type"))
    if response.status not in SUCCESS:
        fault = "an unexpected status"
    elif response.status in _STATUSES_WITHOUT_BODY or (response.has_marked_end and not response.body.strip()):
        fault = "an empty body"
    elif content_type and content_type != "application/json" and not content_type.endswith("+json"):
        fault = "an HTML page" if content_type == "text/html" else "another content type"
    else:
        try:
            return from_json(response.body, allow_inf_nan=False)
        except ValueError:
            fault = "broken JSON"
        if not response.has_marked_end:
            raise UnknownOutcomeError(sent_request.method, sent_request.path, "truncated", response.status)
    raise NotJsonError(sent_request.method, sent_request.path, response.status, content_type, fault)


def read_text(sent_request: Request, response: Response) -> str:
    """Return the text body of a successful response. Raises the same errors as `read_body`."""
    content_type = media_type(response.headers.get("content-type"))
    if response.status not in SUCCESS:
        fault = "an unexpected status"
    elif content_type == "text/html":
        fault = "an HTML page"
    elif not response.has_marked_end:
        raise UnknownOutcomeError(sent_request.method, sent_request.path, "truncated", response.status)
    else:
        try:
            return response.body.decode("utf-8")
        except UnicodeDecodeError:
            fault = "a text that is not UTF-8"
    raise NotJsonError(sent_request.method, sent_request.path, response.status, content_type, fault)


def read_result(sent_request: Request, response: Response) -> WriteResult:
    """Return the result of a write, after a response with a success status.

    Raises UnknownOutcomeError if the response cannot be read: the write may have been carried out.
    """
    has_no_body = response.status in _STATUSES_WITHOUT_BODY or (
        response.has_marked_end and not response.body.strip()
    )
    if response.status in SUCCESS and (has_no_body or sent_request.method == "DELETE"):
        return WriteResult(response.status, None)
    try:
        return WriteResult(response.status, read_body(sent_request, response))
    except NotJsonError as error:
        status = error.status
    raise UnknownOutcomeError(sent_request.method, sent_request.path, "unreadable", status)


def error_of_response(
    sent_request: Request, response: Response, hide: Callable[[str], str], wall: Callable[[], float]
) -> ClientError:
    """Return the exception for a response with a status of 300 or more.

    `hide` masks secrets in the platform's message. A 5xx to a write is an UnknownOutcomeError, because a
    gateway may send a 502 after the write was carried out.
    """
    method, path, status = sent_request.method, sent_request.path, response.status
    is_object, message = _error_message(response, hide)
    wait = requested_wait(response.headers, wall) if status in (429, 503) else None
    if status == 401:
        return UnauthorizedError(method, path, status, message)
    if status == 403:
        return ForbiddenError(method, path, status, message)
    if status == 404 and is_object:
        return NotFoundError(method, path, status, message)
    if status == 404 and method == "GET":
        content_type = media_type(response.headers.get("content-type"))
        return NotJsonError(method, path, status, content_type, "the response body is not a JSON object")
    if status == 429:
        return RateLimitedError(method, path, message, wait)
    if status < 400:
        if method == "GET":
            return RedirectedError(method, path, status, origin(response.headers.get("location", "")))
        return UnknownOutcomeError(method, path, "redirect", status)
    if status < 500 and status != 408:
        return RejectedError(method, path, status, message)
    if status == 501 or method == "GET":
        return ServerFaultError(method, path, status, message, wait)
    return UnknownOutcomeError(method, path, "fault", status, wait)


def _error_message(response: Response, hide: Callable[[str], str]) -> tuple[bool, str | None]:
    """Return whether the body is a JSON object, and the text of its `error.message`, with secrets masked."""
    try:
        body = from_json(response.body, allow_inf_nan=False)
    except ValueError:
        return False, None
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return isinstance(body, dict), hide(message)[:_MESSAGE_CHARS] if isinstance(message, str) else None


def origin(location: str) -> str | None:
    """Return only the scheme and host of a redirect's target, because the rest may hold secrets."""
    try:
        parts = urlsplit(location)
        host = parts.hostname
    except ValueError:
        return None
    return f"{parts.scheme}://{host}" if parts.scheme and host else None


def requested_wait(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Return the seconds to wait: from Retry-After (seconds or a date), or else from X-RateLimit-Reset.

    X-RateLimit-Reset holds a time since 1970 or a number of seconds. The result is never negative; None if no
    header can be read. A date is compared with the server's own Date header, so a wrong local clock does not
    matter.
    """
    retry_after = headers.get("retry-after", "").strip()
    seconds = _decimal_number(retry_after)
    if seconds is None and (moment := _http_date(retry_after)) is not None:
        seconds = moment - _server_time(headers, wall)
    if (
        seconds is None
        and (reset := _decimal_number(headers.get("x-ratelimit-reset", "").strip())) is not None
    ):
        if reset > _FIRST_EPOCH_SECONDS * 1000:
            reset /= 1000  # milliseconds
        seconds = reset - _server_time(headers, wall) if reset > _FIRST_EPOCH_SECONDS else reset
    return None if seconds is None else max(0.0, seconds)


def _server_time(headers: Mapping[str, str], wall: Callable[[], float]) -> float:
    """Return the server's time from its Date header, or else the local time, in seconds since 1970."""
    moment = _http_date(headers.get("date", ""))
    return wall() if moment is None else moment


def _decimal_number(text: str) -> float | None:
    """Return the number in a header; None for any other text."""
    if not re.fullmatch(r"\d{1,16}(\.\d{1,9})?", text, re.ASCII):
        return None
    return float(text)


def whole_number(text: str) -> int | None:
    """Return the whole number in a header; None for any other text."""
    digits = text.strip()
    return int(digits) if re.fullmatch(r"\d{1,9}", digits, re.ASCII) else None


def _http_date(text: str) -> float | None:
    """Return the time of an HTTP date in seconds since 1970; None for any other text."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError, OSError):
        return None
