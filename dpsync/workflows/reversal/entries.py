"""The entries of a configuration while a revert gives them the values from before an apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dpsync.config.declaring.recorded import IncompleteValue
from dpsync.kinds.kind import Field
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.snapshot import Identity
from dpsync.model.entries.values import LiveId, Ref, Value, transform
from dpsync.model.plans.change import Change
from dpsync.model.plans.remark import Note
from dpsync.planner.inputs.sides import Sides
from dpsync.workflows.reversal.addresses import CurrentAddresses
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.session import Planned, Session


class CannotRestore(Exception):
    """A previous value cannot be written again. The message says why."""


class References:
    """The references in recorded values, as they are now.

    `restored` has the new addresses of deleted objects by their recorded addresses, `former_ids` their ids.
    """

    def __init__(
        self,
        current: CurrentAddresses,
        resources: Mapping[Address, Entry],
        sides: Sides,
        restored: Mapping[str, Address],
        former_ids: Mapping[Address, str] = MappingProxyType({}),
    ) -> None:
        self._current = current
        self._resources = resources
        self._objects = sides.snapshot.objects
        self._restored = restored
        self._former_ids = former_ids
        self._by_name = {str(sides.names.address(identity)): identity for identity in self._objects}

    def value_of(self, recorded: Mapping[str, Value | IncompleteValue], field: Field) -> Value:
        """Return a recorded value with present references. Raises CannotRestore."""
        value = recorded[field.name]
        if isinstance(value, IncompleteValue):
            raise CannotRestore(str(value))
        kinds = field.type.refers
        return transform(
            value,
            lambda leaf: self._current_reference(str(leaf.address), kinds) if isinstance(leaf, Ref) else leaf,
        )

    def with_id(self, id: str, field: Field, organization: str) -> Ref | LiveId:
        """Return the reference to the object of an organization that had an id. Raises CannotRestore."""
        for address, entry in self._resources.items():
            same = address.first == organization and self._former_ids.get(address, entry.pin) == id
            if same and entry.kind in field.type.refers:
                return Ref(address)
        for name, identity in self._by_name.items():
            same = Address.parse(name).first == organization and self._objects[identity].id == id
            if same and identity[0] in field.type.refers:
                return LiveId(id)
        raise CannotRestore(f"{id} does not exist any more")

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
            raise CannotRestore(f"the previous value refers to {name}, which does not exist any more")
        if identity[0] not in kinds:
            one = self._current.registry[identity[0]].one
            raise CannotRestore(f"the previous value refers to {name}, which is now {one}")
        return LiveId(self._objects[identity].id)


class RevertedEntries:
    """The entries so far.

    `now` is the plan from the values that the apply wrote to what is live: a difference in it was made since.
    `used` has the created objects that must stay, each with the reason.
    """

    def __init__(
        self,
        session: Session,
        done: Sequence[RecordedChange],
        now: Planned,
        current: CurrentAddresses,
        used: Mapping[Identity, str],
    ) -> None:
        self.session = session
        self.registry = session.registry
        self.done = done
        self.now = now
        self.current = current
        self.used = used
        self.names = now.sides.names
        self.resources = dict(session.desired.resources)
        self.left: list[Note] = []
        """What the revert does not restore."""
        self.notes: list[Note] = []
        """What the revert restores in another way than it was."""
        self.touched: set[Address] = set()
        self.orders: set[tuple[Address, str]] = set()
        """Orders of siblings that the apply has changed."""
        self.restored: dict[str, Address] = {}
        """By the recorded address of each object that the apply deleted, the address of its new entry."""
        self.recreated: dict[Address, RecordedChange] = {}
        """By the address of each re-created object, the change that deleted the former object."""
        self.differs: dict[Address, Change] = {change.location: change for change in now.plan.changes}
        self.former_ids: dict[Address, str] = {}
        """The former ids of objects that are re-created, by the addresses of their new entries."""
        self.references = References(current, self.resources, now.sides, self.restored, self.former_ids)

    def leave(self, address: object, reason: str) -> None:
        """Record why an object or a field is left as it is."""
        self.left.append(Note(address=str(address), text=f"Not reverted: {reason}", severity="warning"))

    def note_restored(self, address: object, text: str) -> None:
        """Record that an object is restored in another form than it had."""
        self.notes.append(Note(address=str(address), text=text, severity="warning"))

    def id_of(self, address: Address) -> str | None:
        """Return the id of the live object at an address."""
        live = self.now.sides.live(address)
        return None if live is None else live.id

    def exists(self, recorded: RecordedChange) -> bool:
        """Return whether the object of a change is live, with or without an entry."""
        objects = self.now.snapshot.objects.values()
        return any(
            one.kind == recorded.change.kind and one.id == recorded.id and not one.deleted for one in objects
        )
