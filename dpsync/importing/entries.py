"""Decide which fields of each live object an import writes, and which entries need a pin.

`describe` returns the entries. Default values are left out, except in fields that can make an object more
visible or give more rights: drift does not compare fields that no file contains. The matcher of the planner
decides which entries need a pin, so that a plan of the new files matches every object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from dpsync.identity.keys import NaturalKeys
from dpsync.identity.match import match
from dpsync.importing.inventory import FoundObject, Inventory, first_free
from dpsync.importing.keys import Known, referred_to_as
from dpsync.importing.values import NOWHERE, Named, Unwritable, Writing, trimmed
from dpsync.kinds.kind import Field, Kind, ListOrder, Single
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Json
from dpsync.kinds.watching import is_access_default
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Span
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Ref, Value, transform


class LeftOut(Struct, frozen=True):
    """An object or a field that is not in the configuration, and why."""

    address: str
    field: str | None
    why: str
    span: Span | None = None
    """The position in the navigation file that is converted."""


class ToSet(Struct, frozen=True):
    """A variable that must be set to a secret before the next apply can write the field."""

    name: str
    address: str
    field: str


class DescribedEntry(Struct):
    """One object with the fields that are written, in the order of its kind."""

    found: FoundObject
    fields: dict[str, Any] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


class DescribedEntries(Struct):
    """All entries by address, with notes about what is left out."""

    by_address: dict[Address, DescribedEntry] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    to_set: list[ToSet] = field(default_factory=list)


NONE: Final = object()
"""A missing value that needs a line, which is written as null."""


def describe(registry: Registry, whole: Inventory, full: bool = False) -> DescribedEntries:
    """Return the entries of all objects with a key; with `full`, defaults are written, too."""
    return _Describing(registry, whole, full).describe()


def worth_writing(
    kind: Kind, field_: Field, live: LiveObject, key: str, full: bool, watched: bool = False
) -> Any:
    """Return the live value of a field if an entry with this key needs it, otherwise None.

    NONE is a live value of null that must be written. By default, a value is left out if a new object has
    this value anyway. `watched`: the policy watches the field, so that the default value needs no line.
    """
    if field_.nest or field_.name == kind.natural or field_.source is None or field_.on == "neither":
        return None
    value = live.fields.get(field_.name)
    if value == {} and isinstance(field_.source, Mapping):
        return None  # none of the parts that lie apart was there
    if field_.name == kind.default and value == key:
        return None
    if field_.required or field_.name == kind.shorthand:
        return value
    partly = isinstance(field_.type, Json) and field_.type.partial
    if watched and not full and field_.watchable and value == field_.default_value:
        return None
    if full or field_.security:
        if value is None:
            return None if field_.null == "refused" else NONE
        return None if partly and value == {} else value  # no member of it is managed
    if value in (field_.absent, field_.platform_default):
        return None
    if isinstance(field_.type, Json) and field_.type.partial:
        absent = field_.absent if field_.platform_default is None else field_.platform_default
        return trimmed(value, absent, field_.type.shape)
    return value


def one_default(kind: Kind, live: LiveObject) -> dict[str, Any]:
    """Return a field with its default value, for an entry that has no other line.

    `Partners: { active: true }` says more than `Partners: {}`. And drift compares a single only if the single
    has an entry.
    """
    for field_ in kind.fields:
        if is_access_default(kind, field_) and live.fields.get(field_.name) == field_.default_value:
            return {field_.name: field_.default_value}
    return {}


def not_imported(what: str, why: str) -> str:
    """Return the comment about something that is not in the files."""
    return f"Not imported: {what}. {why[:1].upper()}{why[1:]}"


def beside_inherited(field_: Field, value: Any, inherited: Any) -> Any:
    """Return the part of a value that differs from the inherited value; None if all of it is inherited."""
    shape = field_.type.shape if isinstance(field_.type, Json) and field_.type.partial else None
    if shape is None or value is NONE:
        return None if value == inherited else value
    return trimmed(value, inherited, shape)


class _Describing:
    """Describes the entries of an inventory."""

    def __init__(self, registry: Registry, whole: Inventory, full: bool) -> None:
        self.registry = registry
        self.whole = whole
        self.full = full
        self.known = Known(whole)
        self.made = DescribedEntries()
        self.variables: set[str] = set()
        self._held: dict[tuple[str, str], dict[Identity | None, list[str]]] = {}
        """The ids inside each object, by kind and reference field."""

    def describe(self) -> DescribedEntries:
        left: set[int] = set()
        for item in self.whole.objects:
            above = item.parent
            if above is not None and (id(above) in left or id(item.holder) in left or _syncs(above, item)):
                left.add(id(item))
                continue
            entry = self._describe_entry(item)
            if entry is None:
                left.add(id(item))
            else:
                self.made.by_address[item.address] = entry
        if left:
            self._describe_without(left)
        _pin(self.registry, self.whole, self.made, self.known)
        return self.made

    def _describe_without(self, left: set[int]) -> None:
        """Describe all entries again without these objects, because references to them must become ids."""
        self.whole.objects = [item for item in self.whole.objects if id(item) not in left]
        for item in self.whole.objects:
            item.inside = [node for node in item.inside if id(node) not in left]
        outputs = self.whole.outputs
        self.whole.outputs = {key: maker for key, maker in outputs.items() if id(maker) not in left}
        self.whole.index()
        left_out = self.made.left_out
        again = _Describing(self.registry, self.whole, self.full)
        again.made.left_out = [note for note in left_out if note.field is None]
        self.made = again.describe()

    def _describe_entry(self, item: FoundObject) -> DescribedEntry | None:
        """Return the entry of one object; None if a required part cannot be written."""
        entry = DescribedEntry(item)
        shape = item.kind.shape
        if isinstance(shape, NodeShape) and len(item.inside) < shape.least:
            holds = " or ".join(self.registry[name].noun for name in shape.holds)
            self._leave_out(item, None, f"the {item.kind.noun} contains no {holds}")
            return None
        named = self._named(item)
        if (problem := self._find_key_problem(item, named)) is not None:
            self._leave_out(item, None, problem)
            return None
        synced = self._leave_out_synced(entry)
        for field_ in item.kind.fields:
            if field_.name in synced and not field_.required:
                continue
            value = self._live_value(field_, item)
            if value is None:
                if field_.required and field_.name not in (item.kind.natural, item.kind.default):
                    self._leave_out(
                        item, None, f"GitBook returns no value for the required field {field_.name}"
                    )
                    return None
                continue
            if value is NONE:
                entry.fields[field_.name] = None
                continue
            if field_.instead_of is not None and entry.fields.get(field_.instead_of) is not None:
                self._leave_out(
                    item, field_.name, f"an entry cannot have both {field_.instead_of} and {field_.name}"
                )
                continue
            writing = Writing(
                named,
                self._variable_namer(item, field_),
                in_file=isinstance(shape, Single) and item.kind.only_short,
            )
            try:
                entry.fields[field_.name] = writing.value(field_.type, value)
            except Unwritable as why:
                if field_.required:
                    self._leave_out(
                        item, None, f"dpsync cannot write the required field {field_.name}: {why}"
                    )
                    return None
                self._leave_out(item, field_.name, str(why))
                entry.comments.append(not_imported(field_.name, str(why)))
        if not entry.fields:
            entry.fields |= one_default(item.kind, item.live)
        return entry

    def _find_key_problem(self, item: FoundObject, named: Named) -> str | None:
        """Return why an entry cannot have the natural key of an object; None if it can."""
        name = item.kind.natural
        if name is None:
            return None
        type_, value = item.kind.field(name).type, item.live.fields.get(name)
        if isinstance(value, LiveId) and named(type_.refers, value.id) is None:
            return "the key of the entry would refer to an object without an entry"
        try:
            Writing(named, lambda _: "").value(type_, value)
        except Unwritable as why:
            return f"the {name} cannot be the key of an entry: {why}"
        return None

    def _leave_out_synced(self, entry: DescribedEntry) -> tuple[str, ...]:
        """Return the fields that Git Sync determines, and note those that are left out therefore."""
        item = entry.found
        synced, repository = item.kind.synced, item.live.synced
        if synced is None or repository is None:
            return ()
        fields = synced.decided(repository.together)
        words = [name for name in fields if not item.kind.field(name).required]
        words += [self.registry.tree_word(item.kind.name)] if synced.tree else []
        for word in words:
            why = f"GitBook syncs the {word} with {repository.name}"
            self._leave_out(item, word, why)
            entry.comments.append(not_imported(word, why))
        return fields

    def _live_value(self, field_: Field, item: FoundObject) -> Any:
        """Return the live value that is written, or NONE for null; None if nothing is written."""
        if isinstance(field_, ListOrder):
            return self._listed_order(field_, item)
        watched = is_access_default(item.kind, field_) and not self._places_at_the_top(field_, item)
        value = worth_writing(item.kind, field_, item.live, item.key, self.full, watched)
        if value is None or item.kind.inherits is None:
            return value
        if value is NONE:
            return None  # the entry around it has no value either: null would say that the object inherits it
        inherited_object = self._inherited(item, item.kind.inherits)
        return (
            value
            if inherited_object is None
            else beside_inherited(field_, value, inherited_object.fields.get(field_.name))
        )

    def _places_at_the_top(self, field_: Field, item: FoundObject) -> bool:
        """Return whether null in this field puts an object into an ordered list of the organization."""
        above = item.parent
        if above is None or item.live.fields.get(field_.name) is not None:
            return False
        orders = [
            order for order in above.kind.list_orders if (order.of, order.by) == (item.kind.name, field_.name)
        ]
        return any(len(self.whole.orders.get((above.live.identity, order.name), ())) > 1 for order in orders)

    def _inherited(self, item: FoundObject, kind: str) -> LiveObject | None:
        """Return the object whose values this object inherits; None if that object was not read."""
        parents = self.registry[kind].parents
        owner = next((parent for parent in item.above() if parent.kind.name in parents), None)
        objects = self.whole.below(owner, [self.registry[kind]]) if owner is not None else []
        return objects[0].live if objects else None

    def _listed_order(self, order: ListOrder, item: FoundObject) -> Value:
        """Return the order of the objects inside; None if there are fewer than two."""
        named = (order.of, order.by)
        if named not in self._held:
            self._held[named] = self.whole.held(self.registry[order.of], order.by)
        inside = set(self._held[named].get(item.live.identity, ()))
        ids = self.whole.orders.get((item.live.identity, order.name), [])
        listed = [LiveId(id) for id in ids if id in inside]
        return listed if len(listed) > 1 else None

    def _named(self, item: FoundObject) -> Named:
        def named(kinds: tuple[str, ...], id: str) -> str | None:
            target = self.known.find(kinds, id, item)
            return referred_to_as(target) if target is not None else None

        return named

    def _variable_namer(self, item: FoundObject, field_: Field) -> Callable[[tuple[str, ...]], str]:
        def name(path: tuple[str, ...]) -> str:
            words = [*(segment for segment in item.address.segments), field_.name, *path]
            wanted = re.sub(r"[^A-Z0-9]+", "_", "_".join(words).upper()).strip("_")
            wanted = f"_{wanted}" if wanted[:1].isdigit() else wanted
            variable = first_free(wanted, self.variables.__contains__, "_")
            self.variables.add(variable)
            self.made.to_set.append(ToSet(variable, str(item.address), ".".join((field_.name, *path))))
            return variable

        return name

    def _leave_out(self, item: FoundObject, name: str | None, why: str) -> None:
        self.made.left_out.append(LeftOut(str(item.address), name, why))


# Pins.


def _syncs(owner: FoundObject, item: FoundObject) -> bool:
    """Return whether an object is a node of a tree that GitBook syncs with a repository."""
    synced = owner.kind.synced
    return item.kind.in_tree and synced is not None and synced.tree and owner.live.synced is not None


def _pin(registry: Registry, whole: Inventory, made: DescribedEntries, known: Known) -> None:
    """Pin each entry that the matcher would not match with its object by the written fields."""
    pinning = _Pinning(registry, made, known)
    pinning.ids |= {item.address: item.live.id for item in whole.of(registry.root.name)}
    for kind in registry.ordered:
        parents = {id(item.parent): item.parent for item in whole.of(kind.name) if item.parent is not None}
        for parent in sorted(parents.values(), key=lambda item: item.address):
            pinning.pin_where_needed(kind, whole.below(parent, [kind]))


class _Pinning:
    """Finds the entries that need a pin."""

    def __init__(self, registry: Registry, made: DescribedEntries, known: Known) -> None:
        self.registry = registry
        self.made = made
        self.known = known
        self.ids: dict[Address, str] = {}
        """The ids of matched entries so far. As in a plan, kinds are matched in the registry's order."""

    def pin_where_needed(self, kind: Kind, siblings: list[FoundObject]) -> None:
        if not (isinstance(kind.shape, Single) or kind.natural is not None or kind.only_short):
            self._pin_unmatched(kind, siblings)
        self.ids |= {item.address: item.live.id for item in siblings}

    def _pin_unmatched(self, kind: Kind, siblings: list[FoundObject]) -> None:
        view = NaturalKeys(kind, self.ids.get, self._first_child, self._children(siblings))
        wrong = self._wrongly_matched(view, siblings)
        for item in wrong:
            item.pinned = True
        if wrong and self._wrongly_matched(view, siblings):
            for item in siblings:
                item.pinned = True

    def _wrongly_matched(self, view: NaturalKeys, siblings: list[FoundObject]) -> list[FoundObject]:
        """Return the objects without a pin that the matcher would not match, or match with another entry."""
        found = match(view, [self._loaded_entry(item) for item in siblings], [item.live for item in siblings])
        asked = {item.address for item in found.diagnostics}
        return [
            item
            for item in siblings
            if not item.pinned
            and (
                str(item.address) in asked
                or item.address not in found.matches
                or found.matches[item.address].id != item.live.id
            )
        ]

    def _first_child(self, resource: Entry) -> Entry | None:
        inside = self.made.by_address[resource.address].found.inside
        return self._loaded_entry(inside[0]) if inside else None

    def _children(self, siblings: list[FoundObject]) -> Callable[[LiveObject], list[LiveObject]]:
        by_identity = {item.live.identity: item for item in siblings}
        return lambda live: [node.live for node in by_identity[live.identity].inside]

    def _loaded_entry(self, item: FoundObject) -> Entry:
        """Return the entry as the loaded configuration will have it."""
        kind = item.kind
        entry = self.made.by_address[item.address]
        written = {
            *entry.fields,
            kind.natural,
            kind.default,
            *(field_.name for field_ in kind.fields if field_.nest),
        }
        fields = {
            field_.name: self._loaded_value(field_, item)
            for field_ in kind.fields
            if field_.name in written and field_.source is not None
        }
        return Entry(
            kind.name, item.address, item.key, item.parent.address if item.parent else None,
            item.holder.address if item.holder else None, fields, NOWHERE, {},
            item.live.id if item.pinned else None,
        )  # fmt: skip

    def _loaded_value(self, field_: Field, item: FoundObject) -> Value:
        def name(leaf: Value) -> Value:
            if isinstance(leaf, LiveId):
                target = self.known.find(field_.type.refers, leaf.id, item)
                return Ref(target.address) if target is not None else leaf
            return leaf

        return transform(item.live.fields.get(field_.name), name)
