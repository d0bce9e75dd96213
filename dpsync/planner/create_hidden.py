"""Decide how objects are created so that nobody sees them before they are as declared.

The request that creates an object takes some of the fields that hide it (`draft`); others (`condition`,
`hidden`) need a later request. In a visible place, such an object is created hidden by the field that its
kind hides by (`hiding_field`), and the request that sets the rest shows it. Where a server has no such field,
the object is public for a moment (`briefly_visible_fields`), or has too many rights for a moment
(`over_privileged_fields`): the plan asks for confirmation. A live object that is hidden although its entry
does not say so, and that lacks a declared hiding field, was left by a stopped apply (`unfinished`). Nothing
else is ever shown without being declared as visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.registry import SupportedKind
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.planner.compare import Changed, direction, raises
from dpsync.planner.sides import Sides


class HiddenCreation(Struct, frozen=True):
    """The hiding of new objects. `adopted`: entries that the request for their parent creates, too."""

    sides: Sides
    adopted: frozenset[Address]

    def hiding_field(self, resource: Entry) -> Field | None:
        """Return the field that hides a new entry at first; None if that is not needed or not possible."""
        field = self._usable_hiding_field(resource)
        if field is None or self._is_hidden_anyway(resource):
            return None
        if resource.address in self.adopted:
            creator = self.sides.resources[resource.holder or resource.address]
            return (
                field if self.fields_set_later(resource) and self.hiding_field(creator) is not None else None
            )
        if resource.fields.get(field.name) in hidden_by(field):
            return None
        child = self.child_created_with(resource)
        is_needed = self.fields_set_later(resource) or (child is not None and self.fields_set_later(child))
        return field if is_needed else None

    def briefly_visible_fields(self, resource: Entry) -> tuple[Field, ...]:
        """Return the hiding fields of a new entry that are set only after people could see the object."""
        if self._is_hidden_anyway(resource) or self.hiding_field(resource) is not None:
            return ()
        return self.fields_set_later(resource)

    def over_privileged_fields(self, resource: Entry) -> tuple[Field, ...]:
        """Return the fields that give a new entry more access than declared until a later request."""
        sent = self.fields_in_create(resource)
        fields = tuple(
            item
            for item in self.sides.kind(resource).fields
            if isinstance(item.raised, tuple)
            and item.name not in sent
            and (value := resource.fields.get(item.name)) is not None
            and raises(item, value, at_first(item))
        )
        return () if fields and self._is_hidden_anyway(resource) else fields

    def fields_set_later(self, resource: Entry) -> tuple[Field, ...]:
        """Return the fields that hide a new entry and that the request which creates it does not set."""
        sent = self.fields_in_create(resource)
        fields = (item for item in self._hiding_fields(resource) if item.name not in sent)
        if resource.address not in self.adopted and any(
            item.name in sent and item.name in self.sides.kind(resource).visible_when
            for item in self._hiding_fields(resource)
        ):
            return ()
        return tuple(fields)

    def fields_in_create(self, resource: Entry) -> frozenset[str]:
        """Return the names of the fields that the request which creates an entry sends."""
        kind = self.sides.kind(resource)
        if resource.address in self.adopted and resource.holder is not None:
            creator = self.sides.kind(self.sides.resources[resource.holder])
            assert isinstance(creator.create, Call)
            return frozenset(_child_fields(creator.create.body))
        add = kind.lifecycle.add
        if add is not None and resource.pin is not None:  # that call takes nothing but the id
            return frozenset((add.field,))
        return frozenset(item.name for item in kind.fields if item.on in ("create", "both"))

    def child_created_with(self, resource: Entry) -> Entry | None:
        """Return the child that the request for an entry also creates, None if there is none."""
        first = self.sides.lineage.first_child(resource)
        return first if first is not None and first.address in self.adopted else None

    # What an apply has left behind.

    def unfinished(self, resource: Entry, live: LiveObject) -> Field | None:
        """Return the field that hides a live entry because a stopped apply did not finish it, or None."""
        field = self._usable_hiding_field(resource)
        if (
            field is None
            or field.name in resource.fields
            or live.fields.get(field.name) not in hidden_by(field)
        ):
            return None
        first = self._created_child(resource)
        is_unfinished = self._lacks_hiding_field(resource, live) or (
            first is not None and self._is_child_unfinished(*first, field)
        )
        return field if is_unfinished else None

    def hidden_with_unfinished(self, resource: Entry, live: LiveObject) -> Field | None:
        """Return the field that hides an entry created with an unfinished parent, until the parent is shown.

        The next run recognizes the unfinished parent by the fields that this entry lacks, so they are set
        last.
        """
        parent = self.sides.resources.get(resource.holder) if resource.holder is not None else None
        live_parent = self.sides.live(parent.address) if parent is not None else None
        if parent is None or live_parent is None or self.unfinished(parent, live_parent) is None:
            return None
        first, field = self._created_child(parent), self._usable_hiding_field(resource)
        if (
            field is None
            or first is None
            or first[0] is not resource
            or not self._lacks_hiding_field(resource, live)
        ):
            return None
        return None if resource.fields.get(field.name) in hidden_by(field) else field

    def _created_child(self, resource: Entry) -> tuple[Entry, LiveObject] | None:
        """Return the child that the request for an entry created: the first one, both in the files and live.

        Entries that were added later come after that child until it is finished.
        """
        creates_child = getattr(self.sides.kind(resource).create, "also_creates", None)
        first = self.sides.lineage.first_child(resource) if creates_child else None
        live, live_parent = (
            self.sides.live(entry.address) if entry is not None else None for entry in (first, resource)
        )
        if first is None or live is None or live_parent is None:
            return None
        live_children = self.sides.snapshot.lanes.get(live_parent.identity, ())
        return (first, live) if live.identity in live_children[:1] else None

    def _is_child_unfinished(self, first: Entry, live: LiveObject, field: Field) -> bool:
        """Return whether the child created with an entry is not finished, or is hidden itself."""
        hidden = live.fields.get(field.name) in hidden_by(field)
        return self._lacks_hiding_field(first, live) or (
            hidden and first.fields.get(field.name) in hidden_by(field)
        )

    def _lacks_hiding_field(self, resource: Entry, live: LiveObject) -> bool:
        """Return whether a hiding field of an entry was never set, so the object is as it was created.

        A field whose value differs in the git base was not left by an apply and does not count.
        """
        earlier = self.sides.names.in_base(resource, live)
        return any(
            live.fields.get(item.name) in (None, item.absent)
            and (earlier is None or earlier.fields.get(item.name) == resource.fields[item.name])
            for item in self._hiding_fields(resource)
        )

    # What hides.

    def _hiding_fields(self, resource: Entry) -> Iterator[Field]:
        """Yield the fields that make an entry less visible than the defaults do.

        Ignored fields are not in the entry (`Sides.resources`). Entries that were not selected have no such
        fields.
        """
        if self.sides.policy.left_out(resource.address):
            return
        for item in self.sides.kind(resource).fields:
            value = resource.fields.get(item.name)
            if value is not None and direction(item, at_first(item), value) == "withdraw":
                yield item

    def _usable_hiding_field(self, resource: Entry) -> Field | None:
        """Return the field that hides an entry, if the server takes it both on create and on update."""
        kind = self.sides.kind(resource)
        field = kind.hides
        if (
            field is None
            or field.name in kind.unsupported_fields
            or field.via is not None
            or field.on != "both"
        ):
            return None
        return None if self.sides.policy.ignored(resource.address, field.name) else field

    def _is_hidden_anyway(self, resource: Entry) -> bool:
        """Return whether nobody sees an entry before it is as declared.

        That is so if the entry, or a place around it, is hidden.
        """
        kind = self.sides.kind(resource)
        if any(
            kind.field(name).absent not in visible_values
            for name, visible_values in kind.visible_when.items()
            if _is_flag(kind, name)
        ):
            return True
        container = resource.holder or resource.parent
        while container is not None:
            entry = self.sides.resources[container]
            if self._hides_contents(entry):
                return True
            container = entry.holder or entry.parent
        return False

    def _hides_contents(self, entry: Entry) -> bool:
        """Return whether an entry is hidden now, or is hidden before anything inside of it is written."""
        kind, live = self.sides.kind(entry), self.sides.live(entry.address)
        if hides_itself(kind, live.fields if live is not None else {}):
            return True
        return any(
            self._declares_hidden(kind, kind.field(name), entry)
            for name in kind.visible_when
            if _is_flag(kind, name)
        )

    def _declares_hidden(self, kind: SupportedKind, item: Field, entry: Entry) -> bool:
        """Return whether an entry declares to be hidden by this flag, and a request can do so at once."""
        if item.name not in entry.fields or entry.fields[item.name] in kind.visible_when[item.name]:
            return False
        if item.name in kind.unsupported_fields or self.sides.policy.ignored(entry.address, item.name):
            return False
        return self.sides.live(entry.address) is not None or item.name in self.fields_in_create(entry)


def at_first(field: Field) -> Any:
    """Return the value of a field of a new object whose entry leaves the field out."""
    return field.platform_default if field.absent is None else field.absent


def hides_itself(kind: Kind, fields: Mapping[str, Any]) -> bool:
    """Return whether a flag of an object with these fields hides the object and its contents."""
    for name, visible_values in kind.visible_when.items():
        value = fields.get(name)
        if (
            _is_flag(kind, name)
            and (kind.field(name).absent if value is None else value) not in visible_values
        ):
            return True
    return False


def _is_flag(kind: Kind, name: str) -> bool:
    return isinstance(kind.field(name).type, Flag)


def hiding(field: Field) -> Changed:
    """Return the field and value that hide a new entry until the rest of it is set."""
    return Changed(field, hidden_by(field)[0], field.absent)


def showing(resource: Entry, field: Field) -> tuple[Changed, ...]:
    """Return the change that shows an entry that was created hidden; nothing if its entry keeps it hidden."""
    after = resource.fields.get(field.name, field.absent)
    return () if after in hidden_by(field) else (Changed(field, after, hidden_by(field)[0]),)


def hidden_by(field: Field) -> tuple[Any, ...]:
    """Return a tuple with the one value of a field that hides."""
    assert isinstance(field.exposure, tuple)
    return field.exposure[:1]


def _child_fields(body: Any) -> Iterator[str]:
    """Yield the names of the first child's fields that a request template refers to."""
    if isinstance(body, dict):
        for part in body.values():
            yield from _child_fields(part)
    elif isinstance(body, str) and body.startswith("$child."):
        yield body.removeprefix("$child.")
