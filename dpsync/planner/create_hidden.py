"""Decide how objects are created so that nobody sees them before they are as declared.

A create request takes some of the fields that hide an object (`draft`); others (`condition`, `hidden`) need a
later request. In a visible place, such an object is created hidden (`hiding_field`), and a later request
shows it. Without such a field, the object is public for a moment (`briefly_visible_fields`), or has too many
rights (`over_privileged_fields`): the plan asks for confirmation. A live object that is hidden although its
entry does not say so was left by a stopped apply (`field_hiding_unfinished`). Nothing else is ever shown
undeclared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.planner.compare import FieldChange, visibility_change, widens_access
from dpsync.planner.sides import Sides


class HiddenCreation(Struct, frozen=True):
    """Decide which field hides a new object until it is as declared, and which request shows it.

    `created_with_parent`: the entries whose objects are created by the create request of their parent.
    """

    sides: Sides
    created_with_parent: frozenset[Address]

    def hiding_field(self, entry: Entry) -> Field | None:
        """Return the field that hides a new object at first; None if that is not needed or not possible.

        Hiding is needed if the create request cannot set all fields that make the object, or the child that
        the same request creates, less visible. A child is hidden only if its parent is hidden as well.
        """
        field = self._usable_hiding_field(entry)
        if field is None or self._is_hidden_anyway(entry):
            return None
        if entry.address in self.created_with_parent:
            creator = self.sides.entries[entry.holder or entry.address]
            if not self.fields_set_later(entry) or self.hiding_field(creator) is None:
                return None
            return field
        if entry.fields.get(field.name) in hiding_values(field):
            return None
        child = self.child_created_with(entry)
        is_needed = self.fields_set_later(entry) or (child is not None and self.fields_set_later(child))
        return field if is_needed else None

    def briefly_visible_fields(self, entry: Entry) -> tuple[Field, ...]:
        """Return the fields that hide a new object and are set only after people could see the object.

        The plan asks for a confirmation of these.
        """
        if self._is_hidden_anyway(entry) or self.hiding_field(entry) is not None:
            return ()
        return self.fields_set_later(entry)

    def over_privileged_fields(self, entry: Entry) -> tuple[Field, ...]:
        """Return the fields that give a new object more access than declared until a later request.

        Such a field has a scale of values, is not in the create request, and its initial value is higher than
        the declared one.
        """
        sent = self.fields_in_create(entry)
        fields = tuple(
            field
            for field in self.sides.kind(entry).fields
            if isinstance(field.widens_when, tuple)
            and field.name not in sent
            and (value := entry.fields.get(field.name)) is not None
            and widens_access(field, value, initial_value(field))
        )
        return () if fields and self._is_hidden_anyway(entry) else fields

    def fields_set_later(self, entry: Entry) -> tuple[Field, ...]:
        """Return the fields that make a new object less visible and that the create request does not set.

        Return none if the create request sets another field that hides the object completely.
        """
        sent = self.fields_in_create(entry)
        fields = (field for field in self._hiding_fields(entry) if field.name not in sent)
        if entry.address not in self.created_with_parent and any(
            field.name in sent and field.name in self.sides.kind(entry).visible_when
            for field in self._hiding_fields(entry)
        ):
            return ()
        return tuple(fields)

    def fields_in_create(self, entry: Entry) -> frozenset[str]:
        """Return the names of the fields of an entry that the request which creates its object sends."""
        kind = self.sides.kind(entry)
        if entry.address in self.created_with_parent and entry.holder is not None:
            creator = self.sides.kind(self.sides.entries[entry.holder])
            assert isinstance(creator.create, Call)
            return frozenset(_child_fields(creator.create.body))
        create_with_id = kind.lifecycle.create_with_id
        if create_with_id is not None and entry.pin is not None:
            # That call sends only the id and this field.
            return frozenset((create_with_id.field,))
        return frozenset(field.name for field in kind.fields if field.written_in in ("create", "both"))

    def child_created_with(self, entry: Entry) -> Entry | None:
        """Return the first child of an entry if the entry's create request also creates the child."""
        first = self.sides.hierarchy.first_child(entry)
        return first if first is not None and first.address in self.created_with_parent else None

    # What an apply has left behind.

    def field_hiding_unfinished(self, entry: Entry, live: LiveObject) -> Field | None:
        """Return the field by which a stopped apply left a live object hidden, None for other objects.

        The object was left so if it is hidden although its entry does not say so, and if the object, or the
        child created with it, lacks a declared field that makes it less visible.
        """
        field = self._usable_hiding_field(entry)
        if (
            field is None
            or field.name in entry.fields
            or live.fields.get(field.name) not in hiding_values(field)
        ):
            return None
        is_unfinished = self._lacks_hiding_field(entry, live)
        if not is_unfinished and (created_child := self._created_child(entry)) is not None:
            child, live_child = created_child
            is_child_hidden = live_child.fields.get(field.name) in hiding_values(field)
            is_declared_hidden = child.fields.get(field.name) in hiding_values(field)
            is_unfinished = self._lacks_hiding_field(child, live_child) or (
                is_child_hidden and is_declared_hidden
            )
        return field if is_unfinished else None

    def field_hiding_child_of_unfinished(self, entry: Entry, live: LiveObject) -> Field | None:
        """Return the field that keeps a child hidden while its parent is unfinished, None for other entries.

        The child was created by the create request of the parent. If an apply is stopped again, the next run
        recognizes the unfinished parent by the fields that this child lacks, so these fields are set last.
        """
        parent = self.sides.entries.get(entry.holder) if entry.holder is not None else None
        live_parent = self.sides.live(parent.address) if parent is not None else None
        if parent is None or live_parent is None or self.field_hiding_unfinished(parent, live_parent) is None:
            return None
        created_child, field = self._created_child(parent), self._usable_hiding_field(entry)
        if (
            field is None
            or created_child is None
            or created_child[0] is not entry
            or not self._lacks_hiding_field(entry, live)
        ):
            return None
        return None if entry.fields.get(field.name) in hiding_values(field) else field

    def _created_child(self, parent: Entry) -> tuple[Entry, LiveObject] | None:
        """Return the child that was created by the same request as its live parent, as entry and live object.

        That is the first child if it is the first one both in the files and live: dpsync adds other children
        only after that child until it is finished. Return None if the create request creates no child.
        """
        creates_child = getattr(self.sides.kind(parent).create, "first_child_id_path", None)
        child = self.sides.hierarchy.first_child(parent) if creates_child else None
        live_child = self.sides.live(child.address) if child is not None else None
        live_parent = self.sides.live(parent.address)
        if child is None or live_child is None or live_parent is None:
            return None
        live_children = self.sides.snapshot.sibling_order.get(live_parent.identity, ())
        return (child, live_child) if live_child.identity in live_children[:1] else None

    def _lacks_hiding_field(self, entry: Entry, live: LiveObject) -> bool:
        """Return whether a declared field that hides a live object was never set, so an apply was stopped.

        A field whose value differs in the git base does not count: it was changed after that apply.
        """
        earlier = self.sides.names.base_entry(entry, live)
        return any(
            live.fields.get(field.name) in (None, field.value_when_absent)
            and (earlier is None or earlier.fields.get(field.name) == entry.fields[field.name])
            for field in self._hiding_fields(entry)
        )

    # What hides.

    def _hiding_fields(self, entry: Entry) -> Iterator[Field]:
        """Yield the declared fields of an entry whose values make the object less visible than the defaults.

        Fields that the policy ignores are not in the entry (`Sides.entries` leaves them out). For an entry
        that the user did not select, yield nothing: this plan does not write it.
        """
        if self.sides.policy.is_unselected(entry.address):
            return
        for field in self.sides.kind(entry).fields:
            value = entry.fields.get(field.name)
            if value is not None and visibility_change(field, initial_value(field), value) == "withdraw":
                yield field

    def _usable_hiding_field(self, entry: Entry) -> Field | None:
        """Return the field that can hide a new object until it is complete; None without such a field.

        The server must take the field both in the create request and in the update request. None also if the
        policy ignores the field, or if the entry hides the object by it anyway.
        """
        kind = self.sides.kind(entry)
        field = kind.hiding_field
        if (
            field is None
            or field.name in kind.unsupported_fields
            or field.own_call is not None
            or field.written_in != "both"
        ):
            return None
        return None if self.sides.policy.is_ignored(entry.address, field.name) else field

    def _is_hidden_anyway(self, entry: Entry) -> bool:
        """Return whether nobody can see a new object before it is as declared.

        That is so if new objects of the kind are hidden, or if an object around it is hidden.
        """
        kind = self.sides.kind(entry)
        if any(
            kind.field(name).value_when_absent not in visible_values
            for name, visible_values in kind.visible_when.items()
            if _is_flag(kind, name)
        ):
            return True
        container = entry.holder or entry.parent
        while container is not None:
            container_entry = self.sides.entries[container]
            if self._hides_contents(container_entry):
                return True
            container = container_entry.holder or container_entry.parent
        return False

    def _hides_contents(self, entry: Entry) -> bool:
        """Return whether an object is hidden now, or is hidden before anything inside is written.

        The latter is so if the entry declares a flag that hides the object, and an update of the live object
        or the create request sets the flag.
        """
        kind, live = self.sides.kind(entry), self.sides.live(entry.address)
        if hides_itself(kind, live.fields if live is not None else {}):
            return True
        for name, visible_values in kind.visible_when.items():
            if (
                _is_flag(kind, name)
                and name in entry.fields
                and entry.fields[name] not in visible_values
                and name not in kind.unsupported_fields
                and not self.sides.policy.is_ignored(entry.address, name)
                and (live is not None or name in self.fields_in_create(entry))
            ):
                return True
        return False


def initial_value(field: Field) -> Any:
    """Return the value that a field of a new object has if its entry leaves the field out."""
    return field.platform_default if field.value_when_absent is None else field.value_when_absent


def hides_itself(kind: Kind, fields: Mapping[str, Any]) -> bool:
    """Return whether an object with these fields is hidden, and thereby its contents, by one of its flags."""
    for name, visible_values in kind.visible_when.items():
        value = fields.get(name)
        if (
            _is_flag(kind, name)
            and (kind.field(name).value_when_absent if value is None else value) not in visible_values
        ):
            return True
    return False


def _is_flag(kind: Kind, name: str) -> bool:
    """Return whether the type of a field is a flag: true or false."""
    return isinstance(kind.field(name).type, Flag)


def hide_change(field: Field) -> FieldChange:
    """Return the change that hides a new object until its other fields are set."""
    return FieldChange(field, hiding_values(field)[0], field.value_when_absent)


def show_changes(entry: Entry, field: Field) -> tuple[FieldChange, ...]:
    """Return the change that shows an object created hidden; nothing if the entry declares it as hidden."""
    after = entry.fields.get(field.name, field.value_when_absent)
    return () if after in hiding_values(field) else (FieldChange(field, after, hiding_values(field)[0]),)


def hiding_values(field: Field) -> tuple[Any, ...]:
    """Return a tuple with the value of a field that hides the object: the lowest of its scale."""
    assert isinstance(field.exposure, tuple)
    return field.exposure[:1]


def _child_fields(body: Any) -> Iterator[str]:
    """Yield the names of the first child's fields in a request template: `title` for "$child.title"."""
    if isinstance(body, dict):
        for part in body.values():
            yield from _child_fields(part)
    elif isinstance(body, str) and body.startswith("$child."):
        yield body.removeprefix("$child.")
