"""Questions about who is who: the live objects that an entry could be, and the answers, as data. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dpsync.kinds.base import Kind
from dpsync.model.address import Address
from dpsync.model.command import command
from dpsync.model.desired import Resource
from dpsync.model.question import Candidate, WayOut
from dpsync.model.snapshot import LiveObject


def candidates(kind: Kind, entry: Resource, items: Mapping[str, LiveObject | None]) -> tuple[Candidate, ...]:
    """What an entry could be, by id; None where nothing but the id is known. `entry` says where it is."""
    place = Address(entry.address.segments[:-1])
    return tuple(_candidate(kind, place, id, item) for id, item in items.items())


def _candidate(kind: Kind, place: Address, id: str, item: LiveObject | None) -> Candidate:
    title = item.fields.get(kind.title) if item is not None else None
    title = title if isinstance(title, str) and title else id
    changed = item.changed if item is not None else None
    return Candidate(address=str(place.unmanaged(title, id)), id=id, title=title, changed=changed)


def it_is(entry: Resource, *ids: str) -> tuple[WayOut, ...]:
    """A pin for each."""
    address = str(entry.address)
    return tuple(WayOut(address=address, add=f"id: {id}", means="it is that one") for id in ids)


def bind(entry: Resource, id: str) -> WayOut:
    """The line of the ids file is for another object."""
    add = command("ids", "--bind", f"{entry.address}={id}")
    return WayOut(address=str(entry.address), add=add, means="it is that one, and its line is wrong")


def forget(entry: Resource, means: str) -> WayOut:
    """The line of the ids file goes."""
    return WayOut(address=str(entry.address), add=command("ids", "--forget", str(entry.address)), means=means)
