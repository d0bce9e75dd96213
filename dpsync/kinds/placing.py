"""What a thing lies in: what a field of it names, or, where that is null, what the thing belongs to.

Also the navigation path of a thing: the paths of the nodes from the root to the node that shows the thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from dpsync.kinds.kind import Kind, ListOrder
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Ref, Value, references

NavigationPath = tuple[Address, tuple[str, ...]]
"""The owner of a navigation, and the `path` of each node from the root to the node that shows an object."""


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


def declared_navigation_paths(
    registry: Registry, entries: Mapping[Address, Entry]
) -> Mapping[Address, set[NavigationPath]]:
    """Return, by entry, the navigation paths at which the files show the entry.

    A node is left out if the files do not declare the `path` of the node and of each node above.
    """
    found: dict[Address, set[NavigationPath]] = defaultdict(set)
    for entry in entries.values():
        shown = references(_shown_reference(registry[entry.kind], entry.fields))
        if shown and (place := _declared_path(registry, entries, entry)) is not None:
            for address in shown:
                found[address].add(place)
    return found


def _declared_path(
    registry: Registry, entries: Mapping[Address, Entry], entry: Entry
) -> NavigationPath | None:
    paths: list[str] = []
    at: Entry | None = entry
    while at is not None and isinstance(registry[at.kind].shape, NodeShape):
        if (path := _node_path(registry[at.kind], at.fields)) is None:
            return None
        paths.append(path)
        at = entries.get(at.parent) if at.parent is not None else None
    return (at.address, tuple(reversed(paths))) if at is not None else None


def live_navigation_paths(
    registry: Registry, nodes: Iterable[LiveObject]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the id of each object that the nodes of one navigation show, and the object's navigation path."""
    by_identity = {node.identity: node for node in nodes}
    for node in by_identity.values():
        shown = _shown_reference(registry[node.kind], node.fields)
        paths: list[str] = []
        at: LiveObject | None = node if isinstance(shown, LiveId) else None
        while at is not None and (path := _node_path(registry[at.kind], at.fields)) is not None:
            paths.append(path)
            if at.parent not in by_identity:
                assert isinstance(shown, LiveId)
                yield shown.id, tuple(reversed(paths))
                break
            at = by_identity[at.parent]


def _shown_reference(kind: Kind, fields: Mapping[str, Value]) -> Value:
    """Return the reference of a navigation node to the object that it shows; None if it shows no object."""
    if not isinstance(kind.shape, NodeShape):
        return None
    return next((fields.get(field.name) for field in kind.fields if field.access == "shows"), None)


def _node_path(kind: Kind, fields: Mapping[str, Value]) -> str | None:
    """Return the `path` of a node (the first natural key of its kind), in the form used for comparison."""
    key = kind.identity[0]
    value = kind.field(key).type.fold(fields.get(key)) if isinstance(key, str) else None
    return value if isinstance(value, str) else None
