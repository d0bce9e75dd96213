"""What an answer means: JSON in and out, statuses to exceptions. Knows no socket, no retry and no kind."""

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
    Forbidden,
    Malformed,
    NotFound,
    NotJson,
    RateLimited,
    Redirected,
    Rejected,
    ServerFault,
    Unauthorized,
    Unknown,
)
from dpsync.client.transport import Request, Response, media_type

JSON = Any
"""What a JSON text can hold: None, bool, int, float, str, list and dict of these. Never NaN."""

Params = Mapping[str, str | int | bool | Iterable[str] | None]
"""Query parameters; None leaves one out, an iterable repeats it."""

SUCCESS = range(200, 206)
_BODYLESS = (204, 205)
_MESSAGE_CHARS = 1000
_PATH = re.compile(r"(/[A-Za-z0-9%._~!$&'()*+,;=:@-]+)+")
_EPOCH = 1_000_000_000  # a reset header above this is a moment, below it a number of seconds


class WriteResult(Struct, frozen=True):
    """What a write gave. `body` is None where there is none to read: 204, 205, DELETE, empty."""

    status: int
    body: JSON | None


def quote(segment: str) -> str:
    """One path segment, percent-encoded. Raises Malformed for what would name another path: empty, dots."""
    if segment in ("", ".", ".."):
        raise Malformed("segment", "is empty or consists of dots")
    try:
        return percent(segment, safe="")
    except UnicodeEncodeError:
        raise Malformed("segment", "contains a character that UTF-8 cannot encode") from None


def request(method: str, path: str, params: Params | None = None, body: JSON | None = None) -> Request:
    """Raises Malformed for a path that is not absolute and percent-encoded, or a body that is no JSON."""
    segments = path.split("/")
    if not _PATH.fullmatch(path) or "." in segments or ".." in segments:
        raise Malformed(
            "path", 'must begin with "/", be percent-encoded, and contain no empty segment, "." or ".."'
        )
    pairs = [(name, _text(value)) for name, value in (params or {}).items() if value is not None]
    return Request(method, path, urlencode(pairs, doseq=True), None if body is None else encode(body))


def _text(value: str | int | bool | Iterable[str]) -> str | list[str]:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else list(value)


def encode(body: JSON) -> bytes:
    """JSON text. Raises Malformed for NaN, infinity, lone surrogates and what is no JSON value."""
    try:
        text = to_json(body)
        from_json(text, allow_inf_nan=False)
    except ValueError:
        raise Malformed("body", "cannot be written as JSON") from None
    return text


def read_body(asked: Request, answer: Response) -> JSON:
    """The JSON of a success that must have some. Raises NotJson; Unknown where it may have been cut."""
    kind = media_type(answer.headers.get("content-type"))
    if answer.status not in SUCCESS:
        found = "an unexpected status"
    elif answer.status in _BODYLESS or (answer.framed and not answer.body.strip()):
        found = "an empty body"
    elif kind and not _is_json(kind):
        found = "an HTML page" if kind == "text/html" else "another content type"
    else:
        try:
            return from_json(answer.body, allow_inf_nan=False)
        except ValueError:
            found = "broken JSON"
        if not answer.framed:
            raise Unknown(asked.method, asked.path, "truncated", answer.status)
    raise NotJson(asked.method, asked.path, answer.status, kind, found)


def read_text(asked: Request, answer: Response) -> str:
    """The text that a success consists of, whatever it says. Raises as `read_body` does."""
    kind = media_type(answer.headers.get("content-type"))
    if answer.status not in SUCCESS:
        found = "an unexpected status"
    elif kind == "text/html":
        found = "an HTML page"
    elif not answer.framed:
        raise Unknown(asked.method, asked.path, "truncated", answer.status)
    else:
        try:
            return answer.body.decode("utf-8")
        except UnicodeDecodeError:
            found = "a text that is not UTF-8"
    raise NotJson(asked.method, asked.path, answer.status, kind, found)


def read_result(asked: Request, answer: Response) -> WriteResult:
    """What a write gave. Raises Unknown for a success that cannot be read: what came of it is lost."""
    bare = answer.status in _BODYLESS or (answer.framed and not answer.body.strip())
    if answer.status in SUCCESS and (bare or asked.method == "DELETE"):
        return WriteResult(answer.status, None)
    try:
        return WriteResult(answer.status, read_body(asked, answer))
    except NotJson as error:
        status = error.status
    raise Unknown(asked.method, asked.path, "unreadable", status)


def failure(
    asked: Request, answer: Response, hide: Callable[[str], str], wall: Callable[[], float]
) -> ClientError:
    """The exception that a status from 300 on stands for. `hide` takes secrets out of what is said.

    A 5xx to a write is Unknown: a gateway says 502 after the work was done as well as before.
    """
    method, path, status = asked.method, asked.path, answer.status
    given, message = _message(answer, hide)
    wait = asked_wait(answer.headers, wall) if status in (429, 503) else None
    if status == 401:
        return Unauthorized(method, path, status, message)
    if status == 403:
        return Forbidden(method, path, status, message)
    if status == 404 and given:
        return NotFound(method, path, status, message)
    if status == 404 and method == "GET":
        kind = media_type(answer.headers.get("content-type"))
        return NotJson(method, path, status, kind, "the response body is not a JSON object")
    if status == 429:
        return RateLimited(method, path, message, wait)
    if status < 400:
        if method == "GET":
            return Redirected(method, path, status, origin(answer.headers.get("location", "")))
        return Unknown(method, path, "redirect", status)
    if status < 500 and status != 408:
        return Rejected(method, path, status, message)
    if status == 501 or method == "GET":
        return ServerFault(method, path, status, message, wait)
    return Unknown(method, path, "fault", status, wait)


def _message(answer: Response, hide: Callable[[str], str]) -> tuple[bool, str | None]:
    """Whether the body is a JSON object, and its `error.message`."""
    try:
        body = from_json(answer.body, allow_inf_nan=False)
    except ValueError:
        return False, None
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return isinstance(body, dict), hide(message)[:_MESSAGE_CHARS] if isinstance(message, str) else None


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")


def origin(location: str) -> str | None:
    """Scheme and host only: the rest of a redirect may hold secrets."""
    try:
        parts = urlsplit(location)
        host = parts.hostname
    except ValueError:
        return None
    return f"{parts.scheme}://{host}" if parts.scheme and host else None


def asked_wait(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Seconds to wait: Retry-After (seconds or a date), else X-RateLimit-Reset (a moment, or seconds).

    Never negative; None where the server said nothing that can be read. A date is measured against the
    server's own Date, so that a clock that is hours off does not matter.
    """
    given = headers.get("retry-after", "").strip()
    seconds = _number(given)
    if seconds is None and (moment := _date(given)) is not None:
        seconds = moment - _now(headers, wall)
    if seconds is None and (reset := _number(headers.get("x-ratelimit-reset", "").strip())) is not None:
        if reset > _EPOCH * 1000:
            reset /= 1000  # milliseconds
        seconds = reset - _now(headers, wall) if reset > _EPOCH else reset
    return None if seconds is None else max(0.0, seconds)


def _now(headers: Mapping[str, str], wall: Callable[[], float]) -> float:
    moment = _date(headers.get("date", ""))
    return wall() if moment is None else moment


def _number(text: str) -> float | None:
    if not re.fullmatch(r"\d{1,16}(\.\d{1,9})?", text, re.ASCII):
        return None
    return float(text)


def whole_number(text: str) -> int | None:
    """A count that a header gives; None where it gives none."""
    bare = text.strip()
    return int(bare) if re.fullmatch(r"\d{1,9}", bare, re.ASCII) else None


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError, OSError):
        return None
