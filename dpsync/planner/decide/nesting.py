"""What things of one kind will be in: each in at most one other (a collection in a collection).

What is declared will be in what its entry says, everything else stays where it is live. So a chain may lead
through objects that nobody declares. A chain that comes back to its beginning is a circle, and cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct, field

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.cycles import beginning_with, circles
from dpsync.model.snapshot import Identity
from dpsync.model.values import LiveId, Ref
from dpsync.planner.inputs.sides import Sides

Item = Address | Identity
"""Something declared by its address, anything else by what it is live."""
Stays = Callable[[Address, Field], bool]


def own_places(registry: Registry) -> Iterator[tuple[Kind, Field]]:
    """The fields by which objects of a kind are in others of the same kind."""
    for kind in registry.ordered:
        yield from ((kind, item) for other, item in registry.referring(kind.name) if other is kind)


class Nesting(Struct, frozen=True):
    """The chains of one kind. `stays` tells which entries are not moved, whatever they declare."""

    sides: Sides
    kind: Kind
    place: Field
    stays: Stays
    _known: dict[Item, Item | None] = field(default_factory=dict)

    def holder(self, item: Item) -> Item | None:
        """The object that one will be in; None for an outermost one, and for one that will be gone."""
        if item not in self._known:
            self._known[item] = self._holder(item)
        return self._known[item]

    def above(self, item: Item) -> Iterator[Item]:
        """Everything that an object will be in, from the nearest outward; in a circle each once."""
        seen: set[Item] = {item}
        at = self.holder(item)
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = self.holder(at)

    def circles(self) -> Iterator[tuple[Item, ...]]:
        """Every circle once: each item is in the next one, the last one in the first.

        It begins with an entry that says where it is to be: that is what could be changed about it.
        """
        resources = self.sides.resources
        mine: list[Item] = [name for name in sorted(resources) if resources[name].kind == self.kind.name]
        for circle in circles(mine, self.holder):
            entries = [item for item in circle if isinstance(item, Address)]
            saying = [item for item in entries if self.place.name in resources[item].fields]
            yield beginning_with(min(saying or entries), circle)

    def _holder(self, item: Item) -> Item | None:
        sides, name = self.sides, self.place.name
        if isinstance(item, Address):
            resource, live = sides.resources.get(item), sides.live(item)
            if resource is not None and name in resource.fields and not self._left(item):
                return self._item(sides.values.normal(self.place, resource.fields[name], resource))
        else:
            live = sides.snapshot.objects.get(item)
        return self._item(sides.values.normal(self.place, live.fields.get(name), live)) if live else None

    def _left(self, address: Address) -> bool:
        return self.sides.policy.left_out(address) or self.stays(address, self.place)

    def _item(self, value: object) -> Item | None:
        if isinstance(value, Ref):
            return value.address
        return (self.kind.name, value.id) if isinstance(value, LiveId) else None
