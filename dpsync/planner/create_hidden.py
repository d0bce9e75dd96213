"""Decide how objects are created so that nobody sees them before they are as declared.

The request that creates an object takes some of the fields that hide it (`draft`); others (`condition`,
`hidden`) need a later request. In a visible place, such an object is created hidden by the field that its
kind hides by (`hiding_field`), and the request that sets the rest shows it. Where a server has no such field,
the object is public for a moment (`briefly_visible_fields`), or has too many rights for a moment
(`over_privileged_fields`): the plan asks for confirmation. A live object that is hidden although its entry
does not say so, and that lacks a declared hiding field, was left by a stopped apply
(`field_hiding_unfinished`). Nothing else is ever shown without being declared as visible.
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
from dpsync.planner.compare import FieldChange, visibility_change, widens_access
from dpsync.planner.sides import Sides


class HiddenCreation(Struct, frozen=True):
    """The hiding of new objects.

    `created_with_parent`: entries that the request for their parent creates, too.
    """

    sides: Sides
    created_with_parent: frozenset[Address]

    def hiding_field(self, entry: Entry) -> Field | None:
        """Return the field that hides a new entry at first; None if that is not needed or not possible."""
        field = self._usable_hiding_field(entry)
        if field is None or self._is_hidden_anyway(entry):
            return None
        if entry.address in self.created_with_parent:
            creator = self.sides.entries[entry.holder or entry.address]
            return field if self.fields_set_later(entry) and self.hiding_field(creator) is not None else None
        if entry.fields.get(field.name) in hiding_values(field):
            return None
        child = self.child_created_with(entry)
        is_needed = self.fields_set_later(entry) or (child is not None and self.fields_set_later(child))
        return field if is_needed else None

    def briefly_visible_fields(self, entry: Entry) -> tuple[Field, ...]:
        """Return the hiding fields of a new entry that are set only after people could see the object."""
        if self._is_hidden_anyway(entry) or self.hiding_field(entry) is not None:
            return ()
        return self.fields_set_later(entry)

    def over_privileged_fields(self, entry: Entry) -> tuple[Field, ...]:
        """Return the fields that give a new entry more access than declared until a later request."""
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
        """Return the fields that hide a new entry and that the request which creates it does not set."""
        sent = self.fields_in_create(entry)
        fields = (field for field in self._hiding_fields(entry) if field.name not in sent)
        if entry.address not in self.created_with_parent and any(
            field.name in sent and field.name in self.sides.kind(entry).visible_when
            for field in self._hiding_fields(entry)
        ):
            return ()
        return tuple(fields)

    def fields_in_create(self, entry: Entry) -> frozenset[str]:
        """Return the names of the fields that the request which creates an entry sends."""
        kind = self.sides.kind(entry)
        if entry.address in self.created_with_parent and entry.holder is not None:
            creator = self.sides.kind(self.sides.entries[entry.holder])
            assert isinstance(creator.create, Call)
            return frozenset(_child_fields(creator.create.body))
        add = kind.lifecycle.create_with_id
        if add is not None and entry.pin is not None:  # that call takes nothing but the id
            return frozenset((add.field,))
        return frozenset(field.name for field in kind.fields if field.written_in in ("create", "both"))

    def child_created_with(self, entry: Entry) -> Entry | None:
        """Return the child that the request for an entry also creates, None if there is none."""
        first = self.sides.hierarchy.first_child(entry)
        return first if first is not None and first.address in self.created_with_parent else None

    # What an apply has left behind.

    def field_hiding_unfinished(self, entry: Entry, live: LiveObject) -> Field | None:
        """Return the field that hides a live entry because a stopped apply did not finish it, or None."""
        field = self._usable_hiding_field(entry)
        if (
            field is None
            or field.name in entry.fields
            or live.fields.get(field.name) not in hiding_values(field)
        ):
            return None
        first = self._created_child(entry)
        is_unfinished = self._lacks_hiding_field(entry, live) or (
            first is not None and self._is_child_unfinished(*first, field)
        )
        return field if is_unfinished else None

    def field_hiding_child_of_unfinished(self, entry: Entry, live: LiveObject) -> Field | None:
        """Return the field that hides an entry created with an unfinished parent, until the parent is shown.

        The next run recognizes the unfinished parent by the fields that this entry lacks, so they are set
        last.
        """
        parent = self.sides.entries.get(entry.holder) if entry.holder is not None else None
        live_parent = self.sides.live(parent.address) if parent is not None else None
        if parent is None or live_parent is None or self.field_hiding_unfinished(parent, live_parent) is None:
            return None
        first, field = self._created_child(parent), self._usable_hiding_field(entry)
        if (
            field is None
            or first is None
            or first[0] is not entry
            or not self._lacks_hiding_field(entry, live)
        ):
            return None
        return None if entry.fields.get(field.name) in hiding_values(field) else field

    def _created_child(self, parent: Entry) -> tuple[Entry, LiveObject] | None:
        """Return the child that the request for an entry created: the first one, both in the files and live.

        Entries that were added later come after that child until it is finished.
        """
        creates_child = getattr(self.sides.kind(parent).create, "first_child_id_path", None)
        first = self.sides.hierarchy.first_child(parent) if creates_child else None
        live, live_parent = (
            self.sides.live(entry.address) if entry is not None else None for entry in (first, parent)
        )
        if first is None or live is None or live_parent is None:
            return None
        live_children = self.sides.snapshot.sibling_order.get(live_parent.identity, ())
        return (first, live) if live.identity in live_children[:1] else None

    def _is_child_unfinished(self, first: Entry, live: LiveObject, field: Field) -> bool:
        """Return whether the child created with an entry is not finished, or is hidden itself."""
        hidden = live.fields.get(field.name) in hiding_values(field)
        return self._lacks_hiding_field(first, live) or (
            hidden and first.fields.get(field.name) in hiding_values(field)
        )

    def _lacks_hiding_field(self, entry: Entry, live: LiveObject) -> bool:
        """Return whether a hiding field of an entry was never set, so the object is as it was created.

        A field whose value differs in the git base was not left by an apply and does not count.
        """
        earlier = self.sides.names.base_entry(entry, live)
        return any(
            live.fields.get(field.name) in (None, field.value_when_absent)
            and (earlier is None or earlier.fields.get(field.name) == entry.fields[field.name])
            for field in self._hiding_fields(entry)
        )

    # What hides.

    def _hiding_fields(self, entry: Entry) -> Iterator[Field]:
        """Yield the fields that make an entry less visible than the defaults do.

        Ignored fields are not in the entry (`Sides.entries`). Entries that were not selected have no such
        fields.
        """
        if self.sides.policy.is_unselected(entry.address):
            return
        for field in self.sides.kind(entry).fields:
            value = entry.fields.get(field.name)
            if value is not None and visibility_change(field, initial_value(field), value) == "withdraw":
                yield field

    def _usable_hiding_field(self, entry: Entry) -> Field | None:
        """Return the field that hides an entry, if the server takes it both on create and on update."""
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
        """Return whether nobody sees an entry before it is as declared.

        That is so if the entry, or a place around it, is hidden.
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
        """Return whether an entry is hidden now, or is hidden before anything inside of it is written."""
        kind, live = self.sides.kind(entry), self.sides.live(entry.address)
        if hides_itself(kind, live.fields if live is not None else {}):
            return True
        return any(
            self._declares_hidden(kind, kind.field(name), entry)
            for name in kind.visible_when
            if _is_flag(kind, name)
        )

    def _declares_hidden(self, kind: SupportedKind, flag: Field, entry: Entry) -> bool:
        """Return whether an entry declares to be hidden by this flag, and a request can do so at once."""
        if flag.name not in entry.fields or entry.fields[flag.name] in kind.visible_when[flag.name]:
            return False
        if flag.name in kind.unsupported_fields or self.sides.policy.is_ignored(entry.address, flag.name):
            return False
        return self.sides.live(entry.address) is not None or flag.name in self.fields_in_create(entry)


def initial_value(field: Field) -> Any:
    """Return the value of a field of a new object whose entry leaves the field out."""
    return field.platform_default if field.value_when_absent is None else field.value_when_absent


def hides_itself(kind: Kind, fields: Mapping[str, Any]) -> bool:
    """Return whether a flag of an object with these fields hides the object and its contents."""
    for name, visible_values in kind.visible_when.items():
        value = fields.get(name)
        if (
            _is_flag(kind, name)
            and (kind.field(name).value_when_absent if value is None else value) not in visible_values
        ):
            return True
    return False


def _is_flag(kind: Kind, name: str) -> bool:
    return isinstance(kind.field(name).type, Flag)


def hide_change(field: Field) -> FieldChange:
    """Return the field and value that hide a new entry until the rest of it is set."""
    return FieldChange(field, hiding_values(field)[0], field.value_when_absent)


def show_changes(entry: Entry, field: Field) -> tuple[FieldChange, ...]:
    """Return the change that shows an entry that was created hidden; nothing if its entry keeps it hidden."""
    after = entry.fields.get(field.name, field.value_when_absent)
    return () if after in hiding_values(field) else (FieldChange(field, after, hiding_values(field)[0]),)


def hiding_values(field: Field) -> tuple[Any, ...]:
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
