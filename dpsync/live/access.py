"""Read what a token may read and write, and who changed an object last.

What a platform says to a token: who it belongs to, what it may read and write, the clock, the rate limit.

It sends GET alone, and a handful of requests: one for each kind right below an organization.

Who did something last: the audit events of an organization, where the platform has them (GET only).

They are for people alone. An event counts for an object whose id it names, whatever it did: what an action
means is for the platform to say, and no value is in it. What cannot be told is not guessed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final

from msgspec import Struct, field

from dpsync.client.client import ReadClient, quote
from dpsync.client.errors import ClientError, Forbidden, Interrupted, NotFound
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.kinds.editions import Profile, writing_flag
from dpsync.kinds.kind import Kind, One, Pages
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import expand, split_query
from dpsync.live.decode import compose
from dpsync.model.drift import LastEvent


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


PAGE: Final = 100
"""The newest events, which one request answers with."""
MOST: Final = 10
"""For how many objects that are not among these one more request is sent each."""


class LastEvents(Struct):
    """The last event of each object that one was found for, and why none could be read."""

    by_id: dict[str, LastEvent] = field(default_factory=dict)
    refused: str | None = None


def last_events(client: ReadClient, profile: Profile, organization: str, ids: Sequence[str]) -> LastEvents:
    """The last audit event of each of these objects of an organization; 1 + 10 requests at most."""
    found = LastEvents()
    if not ids or not profile.has("GET", "/orgs/{}/audit-events"):
        return found
    path = f"/orgs/{quote(organization)}/audit-events"
    try:
        newest = list(_events(client.get(path, {"limit": PAGE})))
        found.by_id = _last(newest, ids)
        if len(newest) >= PAGE:
            for id in [one for one in ids if one not in found.by_id][:MOST]:
                found.by_id |= _last(_events(client.get(path, {"limit": 1, "target": id})), [id])
    except Interrupted:
        raise
    except (Forbidden, NotFound):
        found.refused = f"this token cannot read the audit events (GET {path})"
    except ClientError:
        found.refused = f"dpsync could not read the audit events (GET {path})"
    return found


def _last(events: Iterable[tuple[str, LastEvent]], ids: Sequence[str]) -> dict[str, LastEvent]:
    """The first of these for each id: the newest comes first."""
    wanted, found = set(ids), dict[str, LastEvent]()
    for id, event in events:
        if id in wanted:
            found.setdefault(id, event)
    return found


def _events(answer: Any) -> Iterator[tuple[str, LastEvent]]:
    """The events of an answer, each with the id of what it is about; what has another shape says nothing."""
    items = answer.get("items") if isinstance(answer, dict) else None
    for item in items if isinstance(items, list) else ():
        actor, target = _member(item, "actor"), _member(item, "target")
        who = actor.get("label") or actor.get("id")
        what, at = (item.get("action"), item.get("occurredAt")) if isinstance(item, dict) else (None, None)
        id = target.get("id")
        if isinstance(who, str) and isinstance(what, str) and isinstance(at, str) and isinstance(id, str):
            yield id, LastEvent(action=what, actor=who, at=at)


def _member(item: Any, name: str) -> dict[str, Any]:
    found = item.get(name) if isinstance(item, dict) else None
    return found if isinstance(found, dict) else {}
