"""Handle flags that exactly one sibling has, and values that an entry inherits.

`ExclusiveFlags` covers flags of which the platform always has one in a place, such as the default among
siblings. If the holder is deleted and no entry declares the flag, the platform chooses another one, and
dpsync does not predict which. One case is an error before the apply: all that are left declare not to have
the flag.

`inherited_values_to_write` covers fields whose live value is inherited. The platform returns the effective
value, so nobody can see whose it is. If this plan changes the inherited value, the entry's value must be
written as its own: otherwise it would follow that change. A value that is its own already is written again
without effect.
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
    """The objects that can have one flag in one place after the apply."""

    live_holders: list[Identity] = msgspec.field(default_factory=list)
    """Live objects that have the flag now."""
    remaining: list[LiveObject] = msgspec.field(default_factory=list)
    created: list[Entry] = msgspec.field(default_factory=list)
    is_declared: bool = False
    """Whether an entry declares the flag."""

    def note_declaration(self, entry: Entry, flag: Field) -> None:
        self.is_declared = self.is_declared or entry.fields.get(flag.name) is True


_FlagKey = tuple[str, str, Identity]
"""Kind, name of the flag, and owner of the place; the owner's address if it is not live."""


class ExclusiveFlags:
    """All exclusive flags with their places.

    `is_deleted` returns whether an object is deleted, `is_blocked` whether an entry is blocked.
    """

    def __init__(
        self, sides: Sides, is_deleted: Callable[[Identity], bool], is_blocked: Callable[[Entry], bool]
    ) -> None:
        self.sides = sides
        self._deleted = is_deleted
        self._flags = [
            (kind, item, item.exclusive_within)
            for kind in sides.registry.in_dependency_order
            for item in kind.fields
            if item.exclusive_within is not None
        ]
        self._places: dict[_FlagKey, _FlagGroup] = defaultdict(_FlagGroup)
        self._flags_by_holder: dict[Identity, list[_FlagKey]] = defaultdict(list)
        kinds = {kind.name for kind, _, _ in self._flags}
        for live in sides.snapshot.objects.values():
            if live.kind in kinds:
                self._add_live(live)
        for resource in sides.entries.values():
            if (
                resource.kind in kinds
                and not sides.policy.is_ignored(resource.address)
                and not is_blocked(resource)
            ):
                self._add_entry(resource)

    def _add_live(self, live: LiveObject) -> None:
        for kind, item, place_kind in self._flags_of(live.kind):
            owner = self.sides.hierarchy.live_ancestor(live, place_kind)
            if owner is None:
                continue
            key = kind.name, item.name, owner
            place = self._places[key]
            if live.fields.get(item.name) is True:
                place.live_holders.append(live.identity)
                self._flags_by_holder[live.identity].append(key)
            if not self._deleted(live.identity):
                place.remaining.append(live)

    def _add_entry(self, entry: Entry) -> None:
        for kind, item, place_kind in self._flags_of(entry.kind):
            address = self.sides.hierarchy.ancestor(entry, place_kind)
            if address is None:
                continue
            owner = self.sides.live(address)
            place = self._places[kind.name, item.name, owner.identity if owner else ("", str(address))]
            place.note_declaration(entry, item)
            if self.sides.live(entry.address) is None:
                place.created.append(entry)

    def _flags_of(self, name: str) -> list[tuple[Kind, Field, str]]:
        """Return the exclusive flags of a kind."""
        return [(kind, item, place_kind) for kind, item, place_kind in self._flags if kind.name == name]

    def entries_forced_to_have_flag(self) -> Iterator[tuple[Entry, Field]]:
        """Yield an entry that would get a flag although it, like all others, declares not to have it."""
        for (name, flag, _), place in sorted(self._places.items()):
            new = not place.live_holders and not place.remaining
            lost = bool(place.live_holders) and all(
                self._deleted(identity) for identity in place.live_holders
            )
            if place.is_declared or not (new or lost):
                continue
            addresses = [self.sides.names.declared.get(live.identity) for live in place.remaining]
            entries = [self.sides.entries.get(address) if address else None for address in addresses]
            remaining = [*entries, *place.created]
            refusing = [entry for entry in remaining if entry is not None and entry.fields.get(flag) is False]
            if refusing and len(refusing) == len(remaining):
                yield refusing[0], self.sides.registry[name].field(flag)

    def live_holder_id(self, entry: Entry, flag: Field) -> str | None:
        """Return the id of the live object that loses a flag to an entry; None if no object has the flag."""
        for kind, item, place_kind in self._flags_of(entry.kind):
            address = self.sides.hierarchy.ancestor(entry, place_kind)
            owner = self.sides.live(address) if address is not None else None
            if item.name == flag.name and owner is not None:
                place = self._places[kind.name, item.name, owner.identity]
                return next(
                    (self.sides.snapshot.objects[identity].id for identity in place.live_holders), None
                )
        return None

    def platform_choice_effects(self, deleted: list[Identity]) -> tuple[Effect, ...]:
        """Return an effect for each flag that the platform gives to another object after these deletes."""
        effects: dict[str, Effect] = {}
        for key in (key for identity in deleted for key in self._flags_by_holder.get(identity, ())):
            (_, flag, owner), place = key, self._places[key]
            if not place.is_declared and (place.remaining or place.created):
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

    `changes`: the fields that this plan changes on the entry from which values are inherited.
    `written_fields`: the fields of this entry that the plan writes anyway.
    """
    changing = {item.field.name: item for item in changes}
    inherited = inherited_from(sides, entry)
    for field in managed_fields(sides, entry) if changing else ():
        item = changing.get(field.name)
        if item is None or field.name in written_fields or entry.fields[field.name] is None:
            continue
        wanted = sides.values.with_references(field, entry.fields[field.name], entry)
        now = sides.values.with_references(field, live.fields.get(field.name), live)
        after = item.field.type.merge_over_live(item.before, item.after)
        effective = without_inherited(_effective_value(now, item.before, after), after, wanted)
        if not equals_live(field, wanted, effective):
            yield FieldChange(field, wanted, now, inherited)


def _effective_value(now: Value, before: Value, after: Value) -> Value:
    """Return the effective value once the inherited value is `after`; equal parts count as inherited."""
    if canonical_json(now) == canonical_json(before):
        return after
    if isinstance(now, dict) and isinstance(before, dict) and isinstance(after, dict):
        names = [*now, *(name for name in after if name not in now)]
        parts = {name: _effective_value(now.get(name), before.get(name), after.get(name)) for name in names}
        return {name: part for name, part in parts.items() if part is not None}
    return now
