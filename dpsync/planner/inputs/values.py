"""The values of fields in their three forms: as they are compared, as they are shown, as they are sent."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import LiveObject, Snapshot
from dpsync.model.values import PLAIN, LiveId, Ref, Secret, Value, to_plain, transform
from dpsync.planner.inputs.names import Names

NORMAL = PLAIN | {Ref, Secret}
"""The types of values that are their own normal form, whatever is declared."""


class Values(Struct, frozen=True, dict=True):
    """Ids of what is declared become addresses, so that both sides compare as they are; and back again."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    names: Names

    def normal(self, field: Field, value: Value, item: Entry | LiveObject) -> Value:
        """The value of a field of `item` with every id that is declared here turned into its address."""
        if type(value) in NORMAL:
            return value

        if isinstance(value, LiveId):
            return self._declared(field, value, item)
        return transform(
            value, lambda leaf: self._declared(field, leaf, item) if isinstance(leaf, LiveId) else leaf
        )

    def _declared(self, field: Field, id: LiveId, item: Entry | LiveObject) -> Ref | LiveId:
        """A reference to what is declared for an id, else the id."""
        for kind in field.type.refers:
            if address := self.names.declared.get(self.names.named(item, kind, id.id)):
                return Ref(address)
            if address := self._outputs.get(id.id):
                return Ref(address)
        return id

    def display(self, field: Field, value: Value, item: Entry | LiveObject) -> Value:
        """The normal form as plain JSON, for differences; what is known but undeclared shows its address."""

        def name(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                for kind in field.type.refers:
                    if (identity := self.names.named(item, kind, leaf.id)) in self.snapshot.objects:
                        return Ref(self.names.address(identity))
            return leaf

        return to_plain(transform(self.normal(field, value, item), name))

    def known_id(self, address: Address) -> str | None:
        """The id that is sent for a reference to this address, when it is live."""
        return self.snapshot.reference_id(address)

    def sent(self, value: Value) -> Value:
        """Plain JSON as a request carries it: ids for what is live, markers for what is not made yet."""

        def id(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                return leaf.id
            if isinstance(leaf, Ref):
                return self.known_id(leaf.address) or Ref(self.output(leaf.address) or leaf.address)
            return leaf

        return to_plain(transform(value, id))

    def output(self, address: Address) -> Address | None:
        """The address that stands for what the platform makes of an entry; None where it makes nothing."""
        resource = self.desired.resources.get(address)
        outputs = self.registry[resource.kind].platform.outputs if resource is not None else None
        return address.child(outputs.kind) if outputs is not None else None

    @cached_property
    def _outputs(self) -> dict[str, Address]:
        return {id: address for address, id in self.snapshot.outputs.items() if id is not None}
