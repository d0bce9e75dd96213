"""Handle flags that exactly one sibling has (such as "default"), and values that an entry inherits.

`ExclusiveFlags`: after a delete of the sibling with the flag, GitBook chooses another one. It is an
error if all remaining siblings declare not to have the flag. `inherited_values_to_write`: GitBook
returns only the effective value of a field. If the plan changes the value that an object inherits, dpsync
must first write the entry's value as the object's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator

import msgspec
from msgspec import Struct

from dpsync.kinds.kind import Field, Kind
from dpsync.model.change import Effect
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import Value, canonical_json
from dpsync.planner.compare import FieldChange, equals_live, inherited_from, managed_fields, without_inherited
from dpsync.planner.sides import Sides


class _FlagGroup(Struct):
    """The objects of which exactly one can have a flag, such as the site spaces of a section ("default")."""

    live_holders: list[Identity] = msgspec.field(default_factory=list)
    """Live objects that have the flag now."""
    remaining: list[LiveObject] = msgspec.field(default_factory=list)
    """Live objects, with or without the flag, that the plan does not delete."""
    created: list[Entry] = msgspec.field(default_factory=list)
    """Entries whose objects the plan creates."""
    is_declared: bool = False
    """Whether an entry declares to have the flag."""


_FlagKey = tuple[str, str, Identity]
"""Kind, name of the flag, and owner of the group; ("", address) for an owner that is not live."""


class ExclusiveFlags:
    """The flags of which the platform keeps exactly one in each parent (the default among siblings).

    `is_deleted` returns whether the plan deletes an object, `is_blocked` whether an entry is blocked.
    """

    def __init__(
        self, sides: Sides, is_deleted: Callable[[Identity], bool], is_blocked: Callable[[Entry], bool]
    ) -> None:
        """Collect the group of each exclusive flag from live objects and entries that are not ignored."""
        self.sides = sides
        self._is_deleted = is_deleted
        self._flags = [
            (kind, flag, flag.exclusive_within)
            for kind in sides.registry.in_dependency_order
            for flag in kind.fields
            if flag.exclusive_within is not None
        ]
        self._groups: dict[_FlagKey, _FlagGroup] = defaultdict(_FlagGroup)
        self._flags_by_holder: dict[Identity, list[_FlagKey]] = defaultdict(list)
        kinds = {kind.name for kind, _, _ in self._flags}
        for live in sides.snapshot.objects.values():
            if live.kind in kinds:
                self._add_live_object(live)
        for entry in sides.entries.values():
            if entry.kind in kinds and not sides.policy.is_ignored(entry.address) and not is_blocked(entry):
                self._add_entry(entry)

    def _add_live_object(self, live: LiveObject) -> None:
        """Put a live object into the group of each exclusive flag of its kind."""
        for kind, flag, owner_kind in self._flags_of(live.kind):
            owner = self.sides.hierarchy.live_ancestor(live, owner_kind)
            if owner is None:
                continue
            key = kind.name, flag.name, owner
            group = self._groups[key]
            if live.fields.get(flag.name) is True:
                group.live_holders.append(live.identity)
                self._flags_by_holder[live.identity].append(key)
            if not self._is_deleted(live.identity):
                group.remaining.append(live)

    def _add_entry(self, entry: Entry) -> None:
        """Put an entry into the group of siblings of which exactly one has a flag, for each such flag."""
        for kind, flag, owner_kind in self._flags_of(entry.kind):
            address = self.sides.hierarchy.ancestor(entry, owner_kind)
            if address is None:
                continue
            owner = self.sides.live(address)
            group = self._groups[kind.name, flag.name, owner.identity if owner else ("", str(address))]
            group.is_declared = group.is_declared or entry.fields.get(flag.name) is True
            if self.sides.live(entry.address) is None:
                group.created.append(entry)

    def _flags_of(self, kind_name: str) -> list[tuple[Kind, Field, str]]:
        """Return the exclusive flags of a kind: kind, field, and kind of the owner of the group."""
        return [(kind, flag, owner_kind) for kind, flag, owner_kind in self._flags if kind.name == kind_name]

    def entries_forced_to_have_flag(self) -> Iterator[tuple[Entry, Field]]:
        """Yield the first entry of each group in which all remaining entries declare not to have the flag.

        One of them would get the flag nevertheless, because the platform always gives it to one object. The
        plan reports this as an error.
        """
        for (kind_name, flag_name, _), group in sorted(self._groups.items()):
            is_new_group = not group.live_holders and not group.remaining
            all_holders_deleted = bool(group.live_holders) and all(
                self._is_deleted(identity) for identity in group.live_holders
            )
            if group.is_declared or not (is_new_group or all_holders_deleted):
                continue
            addresses = [self.sides.names.declared.get(live.identity) for live in group.remaining]
            entries = [self.sides.entries.get(address) if address else None for address in addresses]
            remaining = [*entries, *group.created]
            refusing = [
                entry for entry in remaining if entry is not None and entry.fields.get(flag_name) is False
            ]
            if refusing and len(refusing) == len(remaining):
                yield refusing[0], self.sides.registry[kind_name].field(flag_name)

    def live_holder_id(self, entry: Entry, flag: Field) -> str | None:
        """Return the id of the live object that loses a flag to an entry; None if no object has the flag."""
        for kind, candidate, owner_kind in self._flags_of(entry.kind):
            address = self.sides.hierarchy.ancestor(entry, owner_kind)
            owner = self.sides.live(address) if address is not None else None
            if candidate.name == flag.name and owner is not None:
                group = self._groups[kind.name, candidate.name, owner.identity]
                return next(
                    (self.sides.snapshot.objects[identity].id for identity in group.live_holders), None
                )
        return None

    def platform_choice_effects(self, deleted: list[Identity]) -> tuple[Effect, ...]:
        """Return an effect for each flag that the platform gives to another object after these deletes.

        That is the case if a deleted object has the flag, other objects of the group remain, and no entry
        declares the flag.
        """
        effects: dict[str, Effect] = {}
        for key in (key for identity in deleted for key in self._flags_by_holder.get(identity, ())):
            (_, flag, owner), group = key, self._groups[key]
            if not group.is_declared and (group.remaining or group.created):
                address = str(self.sides.names.address(owner))
                text = f"GitBook will set {flag} on another object"
                effects[address] = Effect(address=address, what=text, counts=False)
        return tuple(effects[address] for address in sorted(effects))


def inherited_values_to_write(
    sides: Sides,
    entry: Entry,
    live: LiveObject,
    changes: Collection[FieldChange],
    written_fields: Collection[str],
) -> Iterator[FieldChange]:
    """Yield the inherited values of an entry that must be written as its own before they change.

    `changes` has the fields that this plan changes on the object from which the entry inherits,
    `written_fields` the fields of this entry that the plan writes anyway.
    """
    changing = {change.field.name: change for change in changes}
    source = inherited_from(sides, entry)
    for field in managed_fields(sides, entry) if changing else ():
        change = changing.get(field.name)
        if change is None or field.name in written_fields or entry.fields[field.name] is None:
            continue
        declared = sides.values.with_references(field, entry.fields[field.name], entry)
        live_value = sides.values.with_references(field, live.fields.get(field.name), live)
        new_inherited = change.field.type.merge_over_live(change.before, change.after)
        effective = without_inherited(
            _effective_value(live_value, change.before, new_inherited), new_inherited, declared
        )
        if not equals_live(field, declared, effective):
            yield FieldChange(field, declared, live_value, source)


def _effective_value(live: Value, before: Value, after: Value) -> Value:
    """Return what the platform returns once the inherited value changes from `before` to `after`.

    Parts of the live value that equal `before` count as inherited, so they change too. All others stay.
    """
    if canonical_json(live) == canonical_json(before):
        return after
    if isinstance(live, dict) and isinstance(before, dict) and isinstance(after, dict):
        names = [*live, *(name for name in after if name not in live)]
        parts = {name: _effective_value(live.get(name), before.get(name), after.get(name)) for name in names}
        return {name: part for name, part in parts.items() if part is not None}
    return live
