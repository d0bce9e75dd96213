"""In which order a plan lists its changes: by address, but siblings that have an order in that order.

It says nothing about the order in which they are carried out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsync.model.entries.address import Address
from dpsync.model.entries.values import Ref
from dpsync.planner.inputs.sides import Sides

Key = tuple[tuple[str, int, str], ...]
Segments = tuple[str, ...]


@dataclass
class Listing:
    """The places of declared entries among their siblings, where the configuration gives them an order."""

    sides: Sides
    _places: dict[Segments, tuple[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in self.sides.registry.ordered:
            for order in kind.list_orders:
                self._listed(kind.name, order.name)
        for scope in self.sides.desired.scopes.values():
            if self.sides.registry[scope.kinds[0]].in_tree:
                children = self.sides.desired.resources[scope.parent].children
                for number, address in enumerate(self.sides.lineage.preorder(children)):
                    self._places[address.segments] = ("", number)

    def _listed(self, kind: str, name: str) -> None:
        """What a list orders stands together, where the first of it by name would stand."""
        for holder in self.sides.desired.resources.values():
            if holder.kind != kind:
                continue
            listed = [ref.address for ref in holder.fields.get(name) or () if isinstance(ref, Ref)]
            first = min(listed).segments[-1] if listed else ""
            for number, address in enumerate(listed):
                self._places[address.segments] = (first, number)

    def key(self, address: Address) -> Key:
        """What changes are sorted by."""
        segments = address.segments
        return tuple(
            (*self._places.get(segments[: depth + 1], (segment, 0)), segment)
            for depth, segment in enumerate(segments)
        )
