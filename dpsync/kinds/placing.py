"""What a thing lies in: what a field of it names, or, where that is null, what the thing belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from dpsync.kinds.kind import Kind, ListOrder
from dpsync.kinds.registry import Registry
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import LiveId, Ref


def declared_place(place: str, entry: Entry) -> Address | None:
    """The entry that an entry is declared to lie in, by its field `place`.

    None where that says nothing, or names something by its id.
    """
    if place not in entry.fields:
        return None
    value = entry.fields[place]
    if value is None:
        return entry.parent
    return value.address if isinstance(value, Ref) else None


def ordered_by(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> tuple[Address, ListOrder] | None:
    """The entry in which an entry lies, and the list by which that can order it; None where there is none."""
    order = registry.list_order(entry.kind)
    place = declared_place(order.by, entry) if order is not None else None
    holder = entries.get(place) if place is not None else None
    listed = registry.list_orders(entry.kind).get(holder.kind) if holder is not None else None
    return (holder.address, listed) if holder is not None and listed is not None else None


def live_place(kind: Kind, place: str, live: LiveObject) -> Identity | None:
    """The object that a live one of this kind lies in, by its field `place`."""
    value = live.fields.get(place)
    return (kind.field(place).type.refers[0], value.id) if isinstance(value, LiveId) else live.parent
