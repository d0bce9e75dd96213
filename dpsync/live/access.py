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
from dpsync.client.errors import ClientError, Forbidden
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.kinds.editions import writing_flag
from dpsync.kinds.kind import Kind, One, Pages
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import expand, split_query
from dpsync.live.decode import compose


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
    """What a token may do with the things of a kind; None where it cannot be told.

    `inside` is the kind of the object in which that was tried; None: right below the organization.
    """

    kind: Kind
    read: bool | None
    write: bool | None
    inside: Kind | None = None


def caller(client: ReadClient) -> Mapping[str, Any]:
    """The user whose token it is. Raises ClientError."""
    found = client.get("/user")
    return found if isinstance(found, dict) else {}


def organization(client: ReadClient, registry: Registry, id: str) -> Mapping[str, Any]:
    """One organization as the token sees it. Raises ClientError."""
    found = client.get(expand(registry, registry.root, registry.root.at, id, ()))
    return found if isinstance(found, dict) else {}


def organization_called(client: ReadClient, registry: Registry, name: str) -> Mapping[str, Any] | None:
    """The organization with this natural key, None where the token sees none. Raises ClientError."""
    root = registry.root
    if root.find is None:
        return None
    (key,) = root.identity
    return next((item for item in client.pages(root.find.path) if item.get(str(key)) == name), None)


def allowed(client: ReadClient, registry: Registry, live: Mapping[str, Any]) -> Iterator[Allowed]:
    """What the token may do in a live organization, for each kind that is right below it, and in one of each.

    What is in sites, spaces or teams is tried in the first of them that the token sees. A kind whose list
    cannot be read for another reason than a refusal is None. Raises ClientError when the platform cannot be
    reached any more.
    """
    flags = live.get("permissions")
    flags = flags if isinstance(flags, dict) else {}
    chain = ((registry.root.name, compose(live, registry.root.id) or ""),)
    yield Allowed(registry.root, True, _flag(flags, registry.root))
    for kind in sorted(registry.children(registry.root.name), key=lambda kind: kind.name):
        read, first = _tried(client, registry, kind, chain)
        yield Allowed(kind, read, _flag(flags, kind))
        if first is not None:
            yield from _inside(client, registry, kind, ((kind.name, first), *chain))


def _inside(
    client: ReadClient, registry: Registry, around: Kind, chain: tuple[tuple[str, str], ...]
) -> Iterator[Allowed]:
    """What the token may do with the kinds in one object; what is read together is tried once."""
    tried: dict[str, bool | None] = {}
    for kind in sorted(registry.children(around.name), key=lambda kind: kind.name):
        path = kind.read.path
        if isinstance(kind.read, One) and "{id}" in kind.at:
            continue  # where it is says only the object around it, when it is read as a whole
        if path not in tried:
            tried[path] = _tried(client, registry, kind, chain)[0]
        yield Allowed(kind, tried[path], None, around)


def _tried(
    client: ReadClient, registry: Registry, kind: Kind, chain: tuple[tuple[str, str], ...]
) -> tuple[bool | None, str | None]:
    """Whether a kind may be read there, and the id of the first object that is."""
    path, query = split_query(expand(registry, kind, kind.read.path, None, chain))
    page = {"limit": "1"} if isinstance(kind.read, Pages) and not kind.read.unpaged else {}
    try:
        found = client.get(path, {**(query or {}), **page})
    except Forbidden:
        return False, None
    except ClientError:
        return None, None
    items = found.get("items") if isinstance(found, dict) else None
    first = items[0] if isinstance(items, list) and items else None
    return True, compose(first, kind.id) if isinstance(kind.read, Pages) else None


def _flag(flags: Mapping[str, Any], kind: Kind) -> bool | None:
    name = writing_flag(kind)
    value = flags.get(name) if name else None
    return value if isinstance(value, bool) else None
