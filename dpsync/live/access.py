"""What a platform says to a token: who it belongs to, what it may read and write, the clock, the rate limit.

It sends GET alone, and a handful of requests: one for each kind right below an organization.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from dpsync.client.client import ReadClient
from dpsync.client.errors import ClientError, Forbidden, NotFound
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.kinds.kind import Kind, Pages
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import expand, split_query
from dpsync.kinds.writers import writing_flag


class HeaderReader:
    """A transport that keeps the headers of the last answer, and how far its clock is ahead of this one."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.headers: Mapping[str, str] = {}
        self.ahead: float | None = None
        """Seconds; None where an answer has no date."""

    def send(self, request: Request) -> Response:
        started = time.time()
        response = self._inner.send(request)
        self.headers = response.headers
        self.ahead = _ahead(response.headers.get("date", ""), (started + time.time()) / 2)
        return response

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()

    def rate_limit(self) -> tuple[int, int] | None:
        """How many requests are left of how many; None where the platform does not say it."""
        left, most = (self.headers.get(f"x-ratelimit-{name}", "").strip() for name in ("remaining", "limit"))
        return (int(left), int(most)) if left.isdecimal() and most.isdecimal() else None


def _ahead(date: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return None


class Allowed(Struct, frozen=True):
    """What a token may do with the things of a kind; None where it cannot be told."""

    kind: Kind
    read: bool | None
    write: bool | None


def caller(client: ReadClient) -> Mapping[str, Any]:
    """The user whose token it is. Raises ClientError."""
    found = client.get("/user")
    return found if isinstance(found, dict) else {}


def organization(client: ReadClient, registry: Registry, id: str) -> Mapping[str, Any]:
    """One organization as the token sees it. Raises ClientError."""
    found = client.get(expand(registry, registry.root, registry.root.at, id, ()))
    return found if isinstance(found, dict) else {}


def allowed(client: ReadClient, registry: Registry, live: Mapping[str, Any]) -> Iterator[Allowed]:
    """What the token may do in a live organization, for each kind that is right below it.

    A kind whose list cannot be read for another reason than a refusal is None. Raises ClientError when the
    platform cannot be reached any more.
    """
    flags = live.get("permissions")
    flags = flags if isinstance(flags, dict) else {}
    chain = ((registry.root.name, str(live.get("id", ""))),)
    yield Allowed(registry.root, True, _flag(flags, registry.root))
    for kind in sorted(registry.children(registry.root.name), key=lambda kind: kind.name):
        path, query = split_query(expand(registry, kind, kind.read.path, None, chain))
        yield Allowed(kind, _readable(client, kind, path, query), _flag(flags, kind))


def _readable(client: ReadClient, kind: Kind, path: str, query: Mapping[str, str] | None) -> bool | None:
    page = {"limit": "1"} if isinstance(kind.read, Pages) and not kind.read.unpaged else {}
    try:
        client.get(path, {**(query or {}), **page})
    except Forbidden:
        return False
    except NotFound:
        return None
    except ClientError:
        return None
    return True


def _flag(flags: Mapping[str, Any], kind: Kind) -> bool | None:
    name = writing_flag(kind)
    value = flags.get(name) if name else None
    return value if isinstance(value, bool) else None
