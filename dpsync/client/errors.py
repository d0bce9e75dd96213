"""Define the exceptions of a call, which carry facts. Their text is for logs: do not parse it.

A writer must distinguish `NotSentError` (the request certainly changed nothing) and `UnknownOutcomeError`
(the request may have changed something). Attributes hold text of the platform unchanged; `str()` escapes
this text.
"""

from __future__ import annotations

from typing import Final, Literal

from dpsync.client.proxy import Route

NotSentReason = Literal["refused", "dns", "tls", "certificate", "timeout", "proxy", "connect", "too long"]
UnknownReason = Literal[
    "reset", "closed", "timeout", "truncated", "failed", "interrupted", "fault", "unreadable", "redirect"
]
InvalidPart = Literal["url", "token", "path", "segment", "body", "proxy", "certificates"]
ListFault = Literal[
    "cursor repeated",
    "bad cursor",
    "item repeated",
    "no items",
    "an item of the list is not a JSON object",
    "the response is not a list of objects",
    "too many pages",
    "the count is not a number",
    "the number of items differs from the count",
]

DEFAULT_ROUTE: Final = Route()
_NOT_SENT: dict[NotSentReason, str] = {
    "refused": "the connection was refused, because no server uses this port",
    "dns": "the host name does not exist",
    "tls": "the secure connection failed",
    "certificate": "the certificate of the server is not trusted",
    "timeout": "the connection took too long",
    "proxy": "the proxy refused the connection",
    "connect": "the connection failed",
    "too long": "the URL of the request is too long",
}
_NO_ANSWER: dict[UnknownReason, str] = {
    "reset": "the connection was reset before a response",
    "closed": "the connection was closed before a response",
    "truncated": "the response was cut off",
    "failed": "the connection failed before a response",
}


class ClientError(Exception):
    """A call without a usable result.

    `path` is relative to `/v1`, without its query. `status` is None if no response came. `transient` means
    that the same request may succeed later, but not that repeating it is safe. `after_unknown` means that an
    earlier try of the same write may have been carried out: a 404 to a repeated DELETE then means "already
    deleted", and a 409 to a repeated PATCH may mean "already changed".
    """

    transient = False

    def __init__(self, method: str, path: str, status: int | None = None) -> None:
        self.method = method
        self.path = path
        self.status = status
        self.after_unknown = False
        super().__init__(method, path, status)

    def describe(self) -> str:
        """Return the failure in a few words, without method and path."""
        return f"status {self.status}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.describe()}"


class NotSentError(ClientError):
    """The server was never reached, so the request certainly changed nothing."""

    def __init__(
        self, method: str, path: str, reason: NotSentReason, detail: str = "", route: Route = DEFAULT_ROUTE
    ) -> None:
        super().__init__(method, path)
        self.reason: NotSentReason = reason
        self.detail = detail
        """More about the reason: what is wrong with a certificate, the status of a proxy."""
        self.route = route
        self.transient = reason not in ("certificate", "too long")

    def explanation(self) -> str:
        """Return the reason in words, with its detail."""
        return f"{_NOT_SENT[self.reason]}{f' ({self.detail})' if self.detail else ''}"

    def describe(self) -> str:
        """Return the reason in words."""
        return f"unreachable ({self.explanation()})"


class UnknownOutcomeError(ClientError):
    """The request was sent, and no usable response came back: a write may or may not have happened.

    `reason`: reset, closed (before a response), timeout, truncated (the response was cut off), failed (any
    other fault of the connection), interrupted (by `cancel()`), fault (a 5xx or 408), unreadable (a success
    whose body is not what the API sends), redirect. `seconds` is the time that the client waited, if known.
    """

    def __init__(
        self,
        method: str,
        path: str,
        reason: UnknownReason,
        status: int | None = None,
        retry_after: float | None = None,
        seconds: float | None = None,
        route: Route = DEFAULT_ROUTE,
    ) -> None:
        super().__init__(method, path, status)
        self.route = route
        self.reason: UnknownReason = reason
        self.seconds = seconds
        self.retry_after = retry_after
        self.transient = reason not in ("unreadable", "redirect")

    def describe(self) -> str:
        """Return that no response came (read), or that the result is unknown (write)."""
        if self.method == "GET":  # a read changes nothing, so its result is not "unknown"
            in_time = "in time" if self.seconds is None else f"within {self.seconds:g} s"
            return (
                f"no response {in_time}"
                if self.reason == "timeout"
                else _NO_ANSWER.get(self.reason, self.reason)
            )
        status = f", status {self.status}" if self.status else ""
        return f"the result of the request is unknown ({self.reason}{status})"


class StatusError(ClientError):
    """An error status from the server. `message` is the text of the error body; None without a text."""

    status: int

    def __init__(self, method: str, path: str, status: int, message: str | None = None) -> None:
        super().__init__(method, path, status)
        self.message = message

    def describe(self) -> str:
        """Return the status, and the message of the platform."""
        return f"status {self.status}" + (f": {self.message!r}" if self.message else "")


class UnauthorizedError(StatusError):
    """401: the request has no token, or the server does not accept the token."""


class ForbiddenError(StatusError):
    """403: the user of the token lacks the permission."""


class NotFoundError(StatusError):
    """404 with a JSON body, so from the API itself. A 404 of a proxy or another server is `NotJsonError`."""


class RejectedError(StatusError):
    """Any other 4xx: the server understood the request and changed nothing."""


class ServerFaultError(StatusError):
    """5xx (or 408) to a read, after all retries; or 501 to any request."""

    def __init__(
        self,
        method: str,
        path: str,
        status: int,
        message: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(method, path, status, message)
        self.retry_after = retry_after
        self.transient = status != 501


class RateLimitedError(StatusError):
    """429, and the requested wait is longer than what is left of `max_wait`.

    `retry_after` is the wait that the platform still requests, and `waited` the time that this call has
    already waited; both in seconds.
    """

    def __init__(
        self, method: str, path: str, message: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(method, path, 429, message)
        self.retry_after = retry_after
        self.waited = 0.0

    def describe(self) -> str:
        """Return how long dpsync has waited, and how long GitBook demands to wait."""
        further_wait = (
            "" if self.retry_after is None else f", and GitBook demands another {self.retry_after:.0f} s"
        )
        return f"too many requests (dpsync waited {self.waited:.0f} s{further_wait})"


class RedirectedError(ClientError):
    """3xx to a read. dpsync never follows a redirect, because that would send the token to the target.

    `origin` is the scheme and host of the target.
    """

    def __init__(self, method: str, path: str, status: int, origin: str | None = None) -> None:
        super().__init__(method, path, status)
        self.origin = origin

    def describe(self) -> str:
        """Return the status, and the origin of the target."""
        target = f" to {self.origin!r}" if self.origin else ""
        return f"GitBook redirected the request (status {self.status}){target}"


class NotJsonError(ClientError):
    """A response to a read that is not from the API: a login page, a proxy's error, a cut or empty body.

    `content_type` contains only characters of a media type. `found` describes the fault in fixed words and
    never quotes the body.
    """

    def __init__(self, method: str, path: str, status: int, content_type: str | None, found: str) -> None:
        super().__init__(method, path, status)
        self.content_type = content_type
        self.found = found

    def describe(self) -> str:
        """Return the status, the content type and the fault."""
        content_type = self.content_type or "no content type"
        return f"not a response of the GitBook API (status {self.status}, {content_type}): {self.found}"


class InvalidListError(ClientError):
    """A paginated list that did not end properly, so its items prove nothing. `page` counts from 1."""

    def __init__(self, path: str, fault: ListFault, page: int) -> None:
        super().__init__("GET", path, 200)
        self.fault: ListFault = fault
        self.page = page

    def describe(self) -> str:
        """Return the fault of the list, and its page."""
        return f"the list of objects is incomplete: {self.fault} (page {self.page} of the list)"


class WrongItemCountError(InvalidListError):
    """A complete list whose number of items differs from its count.

    The list changed during the reading, or the response lacks items.
    """


class UnexpectedResponseError(ClientError):
    """A response of another shape than the API's, so its content proves nothing.

    `place` is the path of the item in the response ("items[2]", counted through all pages; "" for the
    response itself), `id` the item's id, if it has one, and `member` the path of the fault in the item.
    `place`, `expected` and `found` are words of dpsync; `id` and `member` may hold text of the platform.
    """

    def __init__(self, path: str, place: str, id: str | None, member: str, expected: str, found: str) -> None:
        super().__init__("GET", path, 200)
        self.place = place
        self.id = id
        self.member = member
        self.expected = expected
        self.found = found

    def describe(self) -> str:
        """Return which part of the response is missing or has another type."""
        location = self.place or "the response"
        if self.id is not None:
            location += f" (id {self.id!r})"
        fault = "is missing" if self.found == "missing" else f"is {self.found}, not {self.expected}"
        return f"in {location}, {self.member!r} {fault}" if self.member else f"{location} {fault}"


class InterruptedRequestError(ClientError):
    """`cancel()` was called: the request was not sent (again), and no earlier try is in doubt."""

    def describe(self) -> str:
        """Return "interrupted"."""
        return "interrupted"


class WriteRefusedError(ClientError):
    """A transport that only reads was given a write: a bug in dpsync, never a fault of the platform."""

    def describe(self) -> str:
        """Return that the client only reads."""
        return "this client sends only GET requests"


class InvalidClientValueError(ClientError):
    """A value from the caller (or, for proxy and certificates, the environment) that the client cannot use.

    The exception does not carry the value, which may be the token, or a URL with a password.
    """

    def __init__(self, part: InvalidPart, problem: str) -> None:
        super().__init__("", "")
        self.part: InvalidPart = part
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.part}: {self.problem}"
