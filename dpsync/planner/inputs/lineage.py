"""What things are in, and what is in them: entries as the files have them, live objects as they were read."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import takewhile

from msgspec import Struct

from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId

PARENT = "parent"
"""In the place of a kind: the parent, whatever kind that is."""


class Lineage(Struct, frozen=True, dict=True):
    """The one place that walks up and down, on both sides."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot

    # Entries.

    def id(self, address: Address) -> str:
        """For paths: the live id of an entry, or its address in braces."""
        return self.snapshot.bound(address) or f"{{{address}}}"

    def chain(self, resource: Entry) -> Chain:
        """Kind and id of everything above an entry, from the nearest outward."""
        return [(above.kind, self.id(above.address)) for above in self._above(resource)]

    def ancestor(self, resource: Entry, kind: str) -> Address | None:
        """The nearest entry above this one that is of a kind."""
        if kind == PARENT:
            return resource.parent
        return next((above.address for above in self._above(resource) if above.kind == kind), None)

    def _above(self, resource: Entry) -> Iterator[Entry]:
        around = resource.parent
        while around is not None:
            above = self.desired.resources[around]
            yield above
            around = above.parent

    def first_child(self, resource: Entry) -> Entry | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def preorder(self, children: Iterable[Address]) -> Iterator[Address]:
        """The nodes of a tree as they are written: each before its children."""
        for address in children:
            yield address
            yield from self.preorder(self.desired.resources[address].children)

    def below(self, address: Address) -> list[Address]:
        """Every entry at an address and below it, in the order of addresses."""
        return at_or_below(self._sorted, address)

    @cached_property
    def _sorted(self) -> list[Address]:
        return sorted(self.desired.resources)

    # Live objects.

    def live_ancestor(self, item: LiveObject, kind: str) -> Identity | None:
        """The nearest live object of a kind above this one."""
        if kind == PARENT:
            return item.parent
        return next((above for above in self.snapshot.above(item) if above[0] == kind), None)

    def around(self, item: Entry | LiveObject) -> list[Identity]:
        """The live objects of an item itself and of everything above it."""
        if isinstance(item, LiveObject):
            return [item.identity, *self.snapshot.above(item)]
        own = self.snapshot.bound(item.address)
        above = [(kind, id) for kind, id in self.chain(item) if not id.startswith("{")]
        return [(item.kind, own), *above] if own else above

    def inside(self, holder: Identity) -> Iterator[LiveObject]:
        """Everything that lies in a live object, at any depth: the spaces in a collection."""
        waiting, seen = [holder], {holder}
        while waiting:
            for live in self._held[waiting.pop()]:
                if live.identity not in seen:
                    seen.add(live.identity)
                    waiting.append(live.identity)
                    yield live

    @cached_property
    def _held(self) -> dict[Identity, list[LiveObject]]:
        held: dict[Identity, list[LiveObject]] = defaultdict(list)
        for live in self.snapshot.objects.values():
            for item in self.registry[live.kind].fields:
                value = live.fields.get(item.name)
                if is_place(item) and isinstance(value, LiveId):
                    held[item.type.refers[0], value.id].append(live)
                    break
        return held


def is_place(item: Field) -> bool:
    """Whether a field says what an object lies in."""
    return item.nest or (item.via is not None and bool(item.type.refers))


def at_or_below(addresses: list[Address], address: Address) -> list[Address]:
    """Of sorted addresses those at one and below it: what begins alike stands together."""
    start = bisect_left(addresses, address)
    return list(takewhile(lambda other: other.is_in(address), addresses[start:]))
