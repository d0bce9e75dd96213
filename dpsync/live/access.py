"""Read what a token may read and write, and who last changed an object.

`access_by_kind` tries each kind directly below an organization, and in the first object of each such kind.
`last_events` reads the newest audit events. Everything here sends GET requests only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final

from msgspec import Struct, field

from dpsync.client.client import ReadClient, quote
from dpsync.client.errors import ClientError, ForbiddenError, InterruptedRequestError, NotFoundError
from dpsync.client.transport import Request, Response, Stats, Transport
from dpsync.kinds.kind import Kind, ListRead, SingleRead
from dpsync.kinds.profiles import Profile, write_permission_flag
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import fill_path_template, split_query
from dpsync.live.decode import fill_id_template
from dpsync.model.drift import LastEvent


class HeaderReader:
    """Transport wrapper that keeps the headers of the last response, and the platform's clock difference.

    `dpsync doctor` reads the rate limit and the clock difference from it.
    """

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.headers: Mapping[str, str] = {}
        self.clock_offset: float | None = None
        """Seconds that the platform's clock is ahead of the local clock; None without a Date header."""

    def send(self, request: Request) -> Response:
        """Send a request, and keep the headers of the response."""
        started = time.time()
        response = self._inner.send(request)
        self.headers = response.headers
        self.clock_offset = _clock_difference(response.headers.get("date", ""), (started + time.time()) / 2)
        return response

    def close(self) -> None:
        self._inner.close()

    def stats(self) -> Stats:
        return self._inner.stats()

    def rate_limit(self) -> tuple[int, int] | None:
        """Return the remaining and the maximum number of requests; None if the last response had neither."""
        remaining, limit = (
            self.headers.get(f"x-ratelimit-{name}", "").strip() for name in ("remaining", "limit")
        )
        return (int(remaining), int(limit)) if remaining.isdecimal() and limit.isdecimal() else None


def _clock_difference(date: str, now: float) -> float | None:
    """Return the seconds from `now` (Unix time) to the time in a Date header; None for an invalid header."""
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return None


class KindAccess(Struct, frozen=True):
    """What a token may do with the objects of a kind.

    `can_read` and `can_write` are None if dpsync cannot tell. `parent_kind` is the kind of the object below
    which dpsync tried to read, such as a site for redirects; None stands for the organization.
    """

    kind: Kind
    can_read: bool | None
    can_write: bool | None
    parent_kind: Kind | None = None


def token_user(client: ReadClient) -> Mapping[str, Any]:
    """Return the response body for the user who owns the token, {} for another shape. Raises ClientError."""
    user = client.get("/user")
    return user if isinstance(user, dict) else {}


def organization(client: ReadClient, registry: Registry, id: str) -> Mapping[str, Any]:
    """Return the response body of an organization as the token sees it. Raises ClientError."""
    body = client.get(fill_path_template(registry, registry.root, registry.root.url_path, id, ()))
    return body if isinstance(body, dict) else {}


def find_organization(client: ReadClient, registry: Registry, name: str) -> Mapping[str, Any] | None:
    """Return the organization whose natural key is `name`, None if the token sees none.

    Raises ClientError.
    """
    root = registry.root
    if root.search_list is None:
        return None
    (key,) = root.natural_keys
    return next((item for item in client.pages(root.search_list.path) if item.get(str(key)) == name), None)


def access_by_kind(
    client: ReadClient, registry: Registry, organization: Mapping[str, Any]
) -> Iterator[KindAccess]:
    """Yield the token's access to each kind in an organization, found by trying one GET for each list.

    For kinds with children, such as sites, spaces and teams, the children are tried in the first object that
    the token sees. `can_read` is None if a request fails for another reason than a missing permission.
    `can_write` is known only for the kinds that have a flag in the organization's `permissions`.

    Args:
        organization: The response body of the organization.

    Raises:
        ClientError: The platform does not answer any more.
    """
    flags = organization.get("permissions")
    flags = flags if isinstance(flags, dict) else {}
    chain = ((registry.root.name, fill_id_template(organization, registry.root.id_path) or ""),)
    yield KindAccess(registry.root, True, _may_write(flags, registry.root))
    for kind in sorted(registry.children(registry.root.name), key=lambda kind: kind.name):
        read, first = _try_read(client, registry, kind, chain)
        yield KindAccess(kind, read, _may_write(flags, kind))
        if first is not None:
            yield from _access_below(client, registry, kind, ((kind.name, first), *chain))


def _access_below(
    client: ReadClient, registry: Registry, parent_kind: Kind, chain: tuple[tuple[str, str], ...]
) -> Iterator[KindAccess]:
    """Yield the token's access to the child kinds of one object, without those that no plain GET can read.

    Kinds that are read by the same path are tried once. `chain` has kind and id of the object and its
    parents.
    """
    tried: dict[str, bool | None] = {}
    for kind in sorted(registry.children(parent_kind.name), key=lambda kind: kind.name):
        path = kind.read.path
        if isinstance(kind.read, SingleRead) and "{id}" in kind.url_path:
            continue  # only the parent, read as a whole, contains the id for this path
        if path not in tried:
            tried[path] = _try_read(client, registry, kind, chain)[0]
        yield KindAccess(kind, tried[path], None, parent_kind)


def _try_read(
    client: ReadClient, registry: Registry, kind: Kind, chain: tuple[tuple[str, str], ...]
) -> tuple[bool | None, str | None]:
    """Send one GET to find out whether the token may read objects of a kind in a parent (`chain`).

    Return True, False (403) or None (the request failed otherwise), and the id of the first object in the
    list, None if the list is empty.
    """
    path, query = split_query(fill_path_template(registry, kind, kind.read.path, None, chain))
    page = {"limit": "1"} if isinstance(kind.read, ListRead) and not kind.read.is_unpaged else {}
    try:
        body = client.get(path, {**(query or {}), **page})
    except ForbiddenError:
        return False, None
    except ClientError:
        return None, None
    items = body.get("items") if isinstance(body, dict) else None
    first = items[0] if isinstance(items, list) and items else None
    return True, fill_id_template(first, kind.id_path) if isinstance(kind.read, ListRead) else None


def _may_write(flags: Mapping[str, Any], kind: Kind) -> bool | None:
    """Return whether the organization's `permissions` allow writing a kind; None if no flag says it."""
    name = write_permission_flag(kind)
    value = flags.get(name) if name else None
    return value if isinstance(value, bool) else None


EVENTS_PER_PAGE: Final = 100
"""Number of newest events to read with one request."""
MAX_PAGES: Final = 10
"""Maximum number of objects without such an event for which one more request each is sent."""


class LastEvents(Struct):
    """The last audit event of each object (by id), and the reason if the audit events cannot be read."""

    by_id: dict[str, LastEvent] = field(default_factory=dict)
    unreadable_reason: str | None = None


def last_events(client: ReadClient, profile: Profile, organization: str, ids: Sequence[str]) -> LastEvents:
    """Return the last audit event of each object, so that a drift report can name who changed the object.

    Sends at most 1 + 10 requests: one for the newest events of the organization, then one for each object
    without an event among these. An event counts for the object whose id it contains, whatever the event's
    action is.
    """
    last = LastEvents()
    if not ids or not profile.has_operation("GET", "/orgs/{}/audit-events"):
        return last
    path = f"/orgs/{quote(organization)}/audit-events"
    try:
        newest = list(_parse_events(client.get(path, {"limit": EVENTS_PER_PAGE})))
        last.by_id = _newest_by_id(newest, ids)
        if len(newest) >= EVENTS_PER_PAGE:
            for id in [id for id in ids if id not in last.by_id][:MAX_PAGES]:
                events = _parse_events(client.get(path, {"limit": 1, "target": id}))
                last.by_id |= _newest_by_id(events, [id])
    except InterruptedRequestError:
        raise
    except (ForbiddenError, NotFoundError):
        last.unreadable_reason = f"this token cannot read the audit events (GET {path})"
    except ClientError:
        last.unreadable_reason = f"dpsync could not read the audit events (GET {path})"
    return last


def _newest_by_id(events: Iterable[tuple[str, LastEvent]], ids: Sequence[str]) -> dict[str, LastEvent]:
    """Return the newest event of each object in `ids`, by id. `events` are ordered from newest to oldest."""
    known_ids, newest = set(ids), dict[str, LastEvent]()
    for id, event in events:
        if id in known_ids:
            newest.setdefault(id, event)
    return newest


def _parse_events(body: Any) -> Iterator[tuple[str, LastEvent]]:
    """Yield target id and event of each audit event in a response. Skip items of an unexpected shape."""
    items = body.get("items") if isinstance(body, dict) else None
    for item in items if isinstance(items, list) else ():
        actor, target = _nested_object(item, "actor"), _nested_object(item, "target")
        actor_name = actor.get("label") or actor.get("id")
        action, time = (
            (item.get("action"), item.get("occurredAt")) if isinstance(item, dict) else (None, None)
        )
        id = target.get("id")
        if (
            isinstance(actor_name, str)
            and isinstance(action, str)
            and isinstance(time, str)
            and isinstance(id, str)
        ):
            yield id, LastEvent(action=action, actor=actor_name, at=time)


def _nested_object(item: Any, name: str) -> dict[str, Any]:
    """Return the member `name` of a JSON object if the member is itself an object, else {}."""
    value = item.get(name) if isinstance(item, dict) else None
    return value if isinstance(value, dict) else {}
