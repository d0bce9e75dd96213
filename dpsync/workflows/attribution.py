"""Add the last audit event of each object to a drift, unless all of its differences were edited here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dpsync.client.client import ReadClient
from dpsync.live.access import LastEvents, last_events
from dpsync.model.change import Note
from dpsync.model.drift import Drift, Drifted
from dpsync.planner.sides import Sides


def with_last_events(client: ReadClient, sides: Sides, drift: Drift) -> Drift:
    """The same drift. No request is sent where nothing has drifted, nor where no server has such events."""
    wanted: dict[str, list[str]] = defaultdict(list)
    ids = {item.address: id for item in drift.found if (id := _id(sides, item)) is not None}
    for address, id in ids.items():
        wanted[address.partition("/")[0]].append(id)
    events = {
        root: last_events(client, sides.registry.profile, organization.id, wanted[root])
        for root in wanted
        if (organization := next((one for one in drift.organizations if one.address == root), None))
    }
    if not any(one.by_id or one.refused for one in events.values()):
        return drift
    found = (
        item.model_copy(update={"last_event": _event(events, ids, item.address)}) for item in drift.found
    )
    notes = (*drift.notes, *_notes(events))
    return drift.model_copy(update={"found": tuple(found), "notes": notes, "requests": client.requests})


def _id(sides: Sides, item: Drifted) -> str | None:
    """Return the id of an object with a difference that may be from outside; None if all were edited here.

    Where an id names a thing only together with what it is in, an event may be about another one.
    """
    labels = [part.cause for part in item.fields] or [item.cause]
    if item.place is not None:
        labels.append(item.cause)
    if set(labels) == {"edited here"} or not sides.registry[item.kind].own_id:
        return None
    missing = sides.snapshot.missing.get(item.location)
    return item.id or (missing.id if missing is not None else None)


def _event(events: dict[str, LastEvents], ids: dict[str, str], address: str) -> object:
    known = events.get(address.partition("/")[0])
    return known.by_id.get(ids.get(address, "")) if known is not None else None


def _notes(events: dict[str, LastEvents]) -> Iterator[Note]:
    for root, one in events.items():
        if one.refused is not None:
            yield Note(address=root, text=f"dpsync cannot show who changed objects: {one.refused}")
