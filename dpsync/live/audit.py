"""Who did something last: the audit events of an organization, where the platform has them (GET only).

They are for people alone. An event counts for an object whose id it names, whatever it did: what an action
means is for the platform to say, and no value is in it. What cannot be told is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct, field

from dpsync.client.client import ReadClient, quote
from dpsync.client.errors import ClientError, Forbidden, Interrupted, NotFound
from dpsync.kinds.editions import Profile
from dpsync.model.drift import LastEvent

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
