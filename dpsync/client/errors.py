"""What a call can end with, as exceptions that carry facts. Their text is for a log, never to be parsed.

The types tell apart what a writer must know: `NotSent` certainly changed nothing, `Unknown` may have. Text
that came from the platform is an attribute as it came; `str()` shows it escaped.
"""

from __future__ import annotations

from typing import Final, Literal

from dpsync.client.proxy import Way

NotSentReason = Literal["refused", "dns", "tls", "certificate", "timeout", "proxy", "connect", "too long"]
UnknownReason = Literal[
    "reset", "closed", "timeout", "truncated", "failed", "interrupted", "fault", "unreadable", "redirect"
]
Part = Literal["url", "token", "path", "segment", "body", "proxy", "certificates"]
ListFault = Literal[
    "cursor repeated",
    "bad cursor",
    "item repeated",
    "no items",
    "an item is not an object",
    "the response is not a list of objects",
    "too many pages",
    "the count is not a number",
    "the number of items differs from the count",
]

USUAL: Final = Way()
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
    """A call that gave no usable result.

    `path` is relative to `/v1`, without its query. `status` is None where no answer came. `transient`: the
    same request may fare better in a moment (not: repeating it is safe). `after_unknown`: an earlier try of
    the same write may have been carried out, so a 404 to a repeated DELETE means "gone", a 409 to a PATCH
    perhaps "already so".
    """

    transient = False

    def __init__(self, method: str, path: str, status: int | None = None) -> None:
        self.method = method
        self.path = path
        self.status = status
        self.after_unknown = False
        super().__init__(method, path, status)

    def what(self) -> str:
        """The failure in a few words, without method and path."""
        return f"status {self.status}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.what()}"


class NotSent(ClientError):
    """The server was never reached: the request certainly did nothing."""

    def __init__(
        self, method: str, path: str, reason: NotSentReason, detail: str = "", way: Way = USUAL
    ) -> None:
        super().__init__(method, path)
        self.reason: NotSentReason = reason
        self.detail = detail
        """More about the reason: what is wrong with a certificate, the status of a proxy."""
        self.way = way
        self.transient = reason not in ("certificate", "too long")

    def explanation(self) -> str:
        """The reason as words."""
        return f"{_NOT_SENT[self.reason]}{f' ({self.detail})' if self.detail else ''}"

    def what(self) -> str:
        return f"unreachable ({self.explanation()})"


class Unknown(ClientError):
    """The request left, and no usable answer came back: a write may or may not have happened.

    `reason`: reset, closed (before an answer), timeout, truncated (an answer that was cut off), failed (any
    other fault of the connection), interrupted (`cancel()` was called meanwhile), fault (an answer of 5xx or
    408), unreadable (a success whose body is not what the API sends), redirect. `seconds`: how long it was
    waited for, where that is known.
    """

    def __init__(
        self,
        method: str,
        path: str,
        reason: UnknownReason,
        status: int | None = None,
        retry_after: float | None = None,
        seconds: float | None = None,
        way: Way = USUAL,
    ) -> None:
        super().__init__(method, path, status)
        self.way = way
        self.reason: UnknownReason = reason
        self.seconds = seconds
        self.retry_after = retry_after
        self.transient = reason not in ("unreadable", "redirect")

    def what(self) -> str:
        if self.method == "GET":  # a read leaves nothing behind that could be unknown
            in_time = "in time" if self.seconds is None else f"within {self.seconds:g} s"
            return (
                f"no response {in_time}"
                if self.reason == "timeout"
                else _NO_ANSWER.get(self.reason, self.reason)
            )
        status = f", status {self.status}" if self.status else ""
        return f"the result of the request is unknown ({self.reason}{status})"


class Answered(ClientError):
    """The server refused with a status. `message` is the text of its error body, None without one."""

    status: int

    def __init__(self, method: str, path: str, status: int, message: str | None = None) -> None:
        super().__init__(method, path, status)
        self.message = message

    def what(self) -> str:
        return f"status {self.status}" + (f": {self.message!r}" if self.message else "")


class Unauthorized(Answered):
    """401: no token, or one that is not accepted (any more)."""


class Forbidden(Answered):
    """403: the token's user may not do this."""


class NotFound(Answered):
    """404 in the API's own words (a JSON body). A 404 that a proxy or another server made up is `NotJson`."""


class Rejected(Answered):
    """Any other 4xx: the request was understood, and nothing was done."""


class ServerFault(Answered):
    """5xx (or 408) to a read, after every try; 501 to anything."""

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


class RateLimited(Answered):
    """429, and the wait that was asked for is longer than what is left of `max_wait`.

    `retry_after` is the wait still asked for, `waited` the time this call has waited already; in seconds.
    """

    def __init__(
        self, method: str, path: str, message: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(method, path, 429, message)
        self.retry_after = retry_after
        self.waited = 0.0

    def what(self) -> str:
        asked = "" if self.retry_after is None else f", and GitBook demands another {self.retry_after:.0f} s"
        return f"too many requests (dpsync waited {self.waited:.0f} s{asked})"


class Redirected(ClientError):
    """3xx to a read: never followed, since the token would go along. `origin`: the scheme and host."""

    def __init__(self, method: str, path: str, status: int, origin: str | None = None) -> None:
        super().__init__(method, path, status)
        self.origin = origin

    def what(self) -> str:
        to = f" to {self.origin!r}" if self.origin else ""
        return f"GitBook redirected the request (status {self.status}){to}"


class NotJson(ClientError):
    """An answer to a read that is not what the API sends: a login page, a proxy's error, a cut or empty body.

    `content_type` is reduced to the characters of a media type; `found` says what is wrong in fixed words and
    never quotes the body.
    """

    def __init__(self, method: str, path: str, status: int, content_type: str | None, found: str) -> None:
        super().__init__(method, path, status)
        self.content_type = content_type
        self.found = found

    def what(self) -> str:
        kind = self.content_type or "no content type"
        return f"not a response of the GitBook API (status {self.status}, {kind}): {self.found}"


class BadList(ClientError):
    """A list that did not end properly: nothing may be concluded from it. `page` counts from 1."""

    def __init__(self, path: str, fault: ListFault, page: int) -> None:
        super().__init__("GET", path, 200)
        self.fault: ListFault = fault
        self.page = page

    def what(self) -> str:
        return f"the list of objects is incomplete: {self.fault} (page {self.page} of the list)"


class Miscounted(BadList):
    """A list that has ended, with more or fewer items than it says: it moved meanwhile, or is not whole."""


class BadAnswer(ClientError):
    """An answer of another shape than the API's: nothing may be concluded from it.

    `place` leads to the item in the answer ("items[2]", pages counted through; "" for the answer itself),
    `id` is the item's, where it has one, `member` leads to what is wrong in it. Place, expected and found are
    words of ours; id and member may hold text of the platform.
    """

    def __init__(self, path: str, place: str, id: str | None, member: str, expected: str, found: str) -> None:
        super().__init__("GET", path, 200)
        self.place = place
        self.id = id
        self.member = member
        self.expected = expected
        self.found = found

    def what(self) -> str:
        where = self.place or "the response"
        if self.id is not None:
            where += f" (id {self.id!r})"
        wrong = "is missing" if self.found == "missing" else f"is {self.found}, not {self.expected}"
        return f"in {where}, {self.member!r} {wrong}" if self.member else f"{where} {wrong}"


class Interrupted(ClientError):
    """`cancel()` was called: the request was not sent (again), and no try of it is in doubt."""

    def what(self) -> str:
        return "interrupted"


class WriteRefused(ClientError):
    """A transport that only reads was handed a write: a fault of this program, never of the platform."""

    def what(self) -> str:
        return "this client sends only GET requests"


class Malformed(ClientError):
    """What the caller (or, for proxy and certificates, the environment) gave cannot be used at all.

    The value itself is not carried: it may be the token, or a URL with a password.
    """

    def __init__(self, part: Part, problem: str) -> None:
        super().__init__("", "")
        self.part: Part = part
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.part}: {self.problem}"
