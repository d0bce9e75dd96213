"""The entries of a configuration while a revert sets their previous values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsync.config.recorded import IncompleteValue
from dpsync.kinds.kind import Field
from dpsync.model.address import Address
from dpsync.model.change import Change, Note
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity
from dpsync.model.values import LiveId, Ref, Value, transform
from dpsync.planner.sides import Sides
from dpsync.workflows.reversal.addresses import CurrentAddresses
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.session import Planned, Session


class CannotRestore(Exception):
    """A previous value cannot be restored. The message has the reason."""


class References:
    """Converts recorded references to present references.

    `restored` maps the recorded address of a deleted object to the address of its new entry. `recreated`
    maps the address of the new entry to the change that deleted the former object.
    """

    def __init__(
        self,
        current: CurrentAddresses,
        resources: Mapping[Address, Entry],
        sides: Sides,
        restored: Mapping[str, Address],
        recreated: Mapping[Address, RecordedChange],
    ) -> None:
        self._current = current
        self._resources = resources
        self._objects = sides.snapshot.objects
        self._restored = restored
        self._recreated = recreated
        self._by_name = {str(sides.names.address(identity)): identity for identity in self._objects}

    def value_of(self, recorded: Mapping[str, Value | IncompleteValue], field: Field) -> Value:
        """Return the recorded value of a field with present references. Raises CannotRestore."""
        value = recorded[field.name]
        if isinstance(value, IncompleteValue):
            raise CannotRestore(str(value))
        kinds = field.type.refers
        return transform(
            value,
            lambda leaf: self._current_reference(str(leaf.address), kinds) if isinstance(leaf, Ref) else leaf,
        )

    def reference_to_id(self, id: str, field: Field, organization: str) -> Ref | LiveId:
        """Return a reference to the object that had this id in an organization. Raises CannotRestore."""
        for address, entry in self._resources.items():
            former = self._recreated.get(address)
            same = id == (entry.pin if former is None else former.change.id)
            if same and address.first == organization and entry.kind in field.type.refers:
                return Ref(address)
        for name, identity in self._by_name.items():
            same = Address.parse(name).first == organization and self._objects[identity].id == id
            if same and identity[0] in field.type.refers:
                return LiveId(id)
        raise CannotRestore(f"the object with the id {id} no longer exists")

    def _current_reference(self, name: str, kinds: tuple[str, ...]) -> Ref | LiveId:
        address = self._restored.get(name) or self._current.find(Address.parse(name), kinds)
        if address is not None and address in self._resources:
            return Ref(address)
        id = self._current.ids.get(name)
        identity = next(
            (one for one in self._objects if one[0] in kinds and self._objects[one].id == id), None
        )
        identity = identity or self._by_name.get(name)
        if identity is None:
            raise CannotRestore(f"the previous value refers to {name}, which no longer exists")
        if identity[0] not in kinds:
            one = self._current.registry[identity[0]].one
            raise CannotRestore(f"the previous value refers to {name}, which is now {one}")
        return LiveId(self._objects[identity].id)


class RevertedEntries:
    """The entries with the previous values that were set so far.

    `comparison` is a plan that compares the values that the apply wrote with the live values, so each
    difference in this plan was made after the apply. `used` maps each created object that must stay to the
    reason.
    """

    def __init__(
        self,
        session: Session,
        changes: Sequence[RecordedChange],
        comparison: Planned,
        current: CurrentAddresses,
        used: Mapping[Identity, str],
    ) -> None:
        self.session = session
        self.registry = session.registry
        self.changes = changes
        self.comparison = comparison
        self.current = current
        self.used = used
        self.names = comparison.sides.names
        self.resources = dict(session.desired.resources)
        self.not_reverted: list[Note] = []
        """A note for each object or field that the revert does not restore."""
        self.notes: list[Note] = []
        """A note for each restored or re-created object, which needs a new entry in the files."""
        self.touched: set[Address] = set()
        self.changed_orders: set[tuple[Address, str]] = set()
        """The fields with a sibling order that the apply changed."""
        self.restored: dict[str, Address] = {}
        """Maps the recorded address of each deleted object to the address of its new entry."""
        self.recreated: dict[Address, RecordedChange] = {}
        """Maps the address of each re-created object to the change that deleted the former object."""
        self.later_changes: dict[Address, Change] = {
            change.location: change for change in comparison.plan.changes
        }
        self.references = References(current, self.resources, comparison.sides, self.restored, self.recreated)

    def record_not_reverted(self, address: object, reason: str) -> None:
        """Record the reason why an object or a field is not reverted."""
        self.not_reverted.append(
            Note(address=str(address), text=f"Not reverted: {reason}", severity="warning")
        )

    def record_restored(self, address: object, text: str) -> None:
        """Record that an object is restored or re-created, and how to keep the object."""
        self.notes.append(Note(address=str(address), text=text, severity="warning"))

    def live_id(self, address: Address) -> str | None:
        """Return the id of the live object at an address."""
        live = self.comparison.sides.live(address)
        return None if live is None else live.id

    def exists(self, recorded: RecordedChange) -> bool:
        """Return whether the object of a change is live, with or without an entry."""
        objects = self.comparison.snapshot.objects.values()
        return any(
            one.kind == recorded.change.kind and one.id == recorded.id and not one.deleted for one in objects
        )
