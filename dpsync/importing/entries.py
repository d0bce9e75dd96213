"""Decide which fields of each live object an import writes, and which entries need a pin.

`describe` returns the entries. Default values are left out, except in fields that can make an object more
visible or give more rights: drift does not compare fields that no file contains. A pin is a line `id: …` that
binds an entry to its object. An entry gets one if a plan of the new files would not match it with the object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from dpsync.identity.keys import NaturalKeys
from dpsync.identity.match import match
from dpsync.importing.inventory import Inventory, InventoryObject, first_unused_name
from dpsync.importing.keys import ObjectsById, reference_text
from dpsync.importing.values import (
    NO_SPAN,
    ReferenceNamer,
    UnwritableValueError,
    ValueWriter,
    without_defaults,
)
from dpsync.kinds.kind import Field, Kind, ListOrder, SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Json
from dpsync.kinds.watch_patterns import is_access_default
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.nodes import Span
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import LiveId, Ref, Value, map_leaves


class LeftOut(Struct, frozen=True):
    """An object or a field that is not in the configuration, and why."""

    address: str
    field: str | None
    why: str
    span: Span | None = None
    """The position in the navigation file that is converted."""


class RequiredSecret(Struct, frozen=True):
    """A variable that must be set to a secret before the next apply can write the field."""

    name: str
    address: str
    field: str


class DescribedEntry(Struct):
    """One object with the fields that are written, in the order of its kind."""

    found_object: InventoryObject
    fields: dict[str, Any] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


class DescribedEntries(Struct):
    """The entries of an import by address, and the objects and fields that are left out."""

    by_address: dict[Address, DescribedEntry] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    required_secrets: list[RequiredSecret] = field(default_factory=list)


EXPLICIT_NULL: Final = object()
"""A missing value that needs a line, which is written as null."""


def describe(registry: Registry, inventory: Inventory, full: bool = False) -> DescribedEntries:
    """Return the entries of all objects with a key; with `full`, defaults are written, too."""
    return _EntryDescriber(registry, inventory, full).describe()


def value_to_write(
    kind: Kind, field_: Field, live: LiveObject, key: str, full: bool, watched: bool = False
) -> Any:
    """Return the live value of a field if an entry with this key needs it, otherwise None.

    EXPLICIT_NULL is a live value of null that must be written. By default, a value is left out if a new
    object has this value anyway. Values of fields that can widen access are written, because drift does not
    compare fields that no file contains.

    Args:
        kind: The kind of the object.
        field_: The field.
        live: The live object.
        key: The key of the entry. A field with the same default value needs no line.
        full: Whether default values are written, too.
        watched: Whether the policy watches the field, so that the default value needs no line.
    """
    if (
        field_.is_parent_reference
        or field_.name == kind.key_field
        or field_.response_path is None
        or field_.written_in == "neither"
    ):
        return None
    value = live.fields.get(field_.name)
    if value == {} and isinstance(field_.response_path, Mapping):
        return None  # the response contained none of the parts of the value
    if field_.name == kind.default_key_field and value == key:
        return None
    if field_.required or field_.name == kind.shorthand_field:
        return value
    partly = isinstance(field_.type, Json) and field_.type.is_partial
    if watched and not full and field_.is_watchable and value == field_.default_value:
        return None
    if full or field_.can_widen_access:
        if value is None:
            return None if field_.null_effect == "refused" else EXPLICIT_NULL
        return None if partly and value == {} else value  # {}: no key of the value is managed
    if value in (field_.value_when_absent, field_.platform_default):
        return None
    if isinstance(field_.type, Json) and field_.type.is_partial:
        absent = field_.value_when_absent if field_.platform_default is None else field_.platform_default
        return without_defaults(value, absent, field_.type.json_schema)
    return value


def default_for_empty_entry(kind: Kind, live: LiveObject) -> dict[str, Any]:
    """Return one field with its default value, for an entry that has no other line; {} without such a field.

    `Partners: { active: true }` says more than `Partners: {}`. And drift compares an object that its parent
    has exactly once only if the object has an entry.
    """
    for field_ in kind.fields:
        if is_access_default(kind, field_) and live.fields.get(field_.name) == field_.default_value:
            return {field_.name: field_.default_value}
    return {}


def not_imported_comment(names: str, why: str) -> str:
    """Return the comment "Not imported: NAMES. WHY" about things that are not in the files."""
    return f"Not imported: {names}. {why[:1].upper()}{why[1:]}"


def difference_from_inherited(field_: Field, value: Any, inherited: Any) -> Any:
    """Return the part of a value that differs from the inherited value; None if all of it is inherited."""
    shape = field_.type.json_schema if isinstance(field_.type, Json) and field_.type.is_partial else None
    if shape is None or value is EXPLICIT_NULL:
        return None if value == inherited else value
    return without_defaults(value, inherited, shape)


class _EntryDescriber:
    """Describes the entries of an inventory."""

    def __init__(self, registry: Registry, inventory: Inventory, full: bool) -> None:
        """Prepare to describe the objects of an inventory. `full`: whether to write default values, too."""
        self.registry = registry
        self.inventory = inventory
        self.full = full
        self.objects_by_id = ObjectsById(inventory)
        self.entries = DescribedEntries()
        self.variables: set[str] = set()
        self._ids_inside: dict[tuple[str, str], dict[Identity | None, list[str]]] = {}
        """The ids inside each object, by kind and reference field."""

    def describe(self) -> DescribedEntries:
        """Return the entries of all objects that can be written, with pins (`id: …`) where necessary.

        Left out are objects that cannot be written, objects below or in them, and navigation nodes that
        Git Sync manages.
        """
        left_out_ids: set[int] = set()
        for obj in self.inventory.objects:
            parent = obj.parent
            if parent is not None:
                git_sync = parent.kind.git_sync
                is_in_synced_tree = (
                    obj.kind.is_node
                    and git_sync is not None
                    and git_sync.includes_tree
                    and parent.live.synced_repository is not None
                )
                if id(parent) in left_out_ids or id(obj.holder) in left_out_ids or is_in_synced_tree:
                    left_out_ids.add(id(obj))
                    continue
            entry = self._describe_entry(obj)
            if entry is None:
                left_out_ids.add(id(obj))
            else:
                self.entries.by_address[obj.address] = entry
        if left_out_ids:
            self._describe_again_without(left_out_ids)
        _add_pins(self.registry, self.inventory, self.entries, self.objects_by_id)
        return self.entries

    def _describe_again_without(self, left_out_ids: set[int]) -> None:
        """Describe all entries again without these objects, because references to them must become ids.

        `left_out_ids` are Python ids (`id()`) of inventory objects. Reasons for whole objects are kept, and
        reasons for fields are found again.
        """
        self.inventory.objects = [obj for obj in self.inventory.objects if id(obj) not in left_out_ids]
        for obj in self.inventory.objects:
            obj.nodes_inside = [node for node in obj.nodes_inside if id(node) not in left_out_ids]
        outputs = self.inventory.outputs
        self.inventory.outputs = {
            key: maker for key, maker in outputs.items() if id(maker) not in left_out_ids
        }
        self.inventory.index_children()
        left_out = self.entries.left_out
        again = _EntryDescriber(self.registry, self.inventory, self.full)
        again.entries.left_out = [note for note in left_out if note.field is None]
        self.entries = again.describe()

    def _describe_entry(self, obj: InventoryObject) -> DescribedEntry | None:
        """Return the entry of one object; None if no valid entry can be written for it.

        An object or a value that cannot be written is added to the list of left-out parts, with the reason.
        """
        entry = DescribedEntry(obj)
        shape = obj.kind.shape
        if isinstance(shape, NodeShape) and len(obj.nodes_inside) < shape.min_children:
            child_nouns = " or ".join(self.registry[name].noun for name in shape.child_kinds)
            self._leave_out(obj, None, f"the {obj.kind.noun} contains no {child_nouns}")
            return None
        name_reference = self._reference_namer(obj)
        if (problem := self._find_key_problem(obj, name_reference)) is not None:
            self._leave_out(obj, None, problem)
            return None
        synced = self._leave_out_synced(entry)
        for field_ in obj.kind.fields:
            if field_.name in synced and not field_.required:
                continue
            value = self._live_value(field_, obj)
            if value is None:
                if field_.required and field_.name not in (obj.kind.key_field, obj.kind.default_key_field):
                    self._leave_out(
                        obj, None, f"GitBook returns no value for the required field {field_.name}"
                    )
                    return None
                continue
            if value is EXPLICIT_NULL:
                entry.fields[field_.name] = None
                continue
            if (
                field_.mutually_exclusive_with is not None
                and entry.fields.get(field_.mutually_exclusive_with) is not None
            ):
                self._leave_out(
                    obj,
                    field_.name,
                    f"an entry cannot have both {field_.mutually_exclusive_with} and {field_.name}",
                )
                continue
            value_writer = ValueWriter(
                name_reference,
                self._variable_namer(obj, field_),
                json_in_own_file=isinstance(shape, SingleEntry) and obj.kind.is_always_shorthand,
            )
            try:
                entry.fields[field_.name] = value_writer.yaml_value(field_.type, value)
            except UnwritableValueError as why:
                if field_.required:
                    self._leave_out(obj, None, f"dpsync cannot write the required field {field_.name}: {why}")
                    return None
                self._leave_out(obj, field_.name, str(why))
                entry.comments.append(not_imported_comment(field_.name, str(why)))
        if not entry.fields:
            entry.fields |= default_for_empty_entry(obj.kind, obj.live)
        return entry

    def _find_key_problem(self, obj: InventoryObject, name_reference: ReferenceNamer) -> str | None:
        """Return why the value that identifies an object cannot be the key of its entry; None if it can.

        Only some kinds have a field whose value is the key (`key_field`).
        """
        name = obj.kind.key_field
        if name is None:
            return None
        type_, value = obj.kind.field(name).type, obj.live.fields.get(name)
        if isinstance(value, LiveId) and name_reference(type_.referenced_kinds, value.id) is None:
            return "the key of the entry would refer to an object without an entry"
        try:
            ValueWriter(name_reference, lambda _: "").yaml_value(type_, value)
        except UnwritableValueError as why:
            return f"the {name} cannot be the key of an entry: {why}"
        return None

    def _leave_out_synced(self, entry: DescribedEntry) -> tuple[str, ...]:
        """Return the fields that GitBook syncs with a git repository (Git Sync), which the files leave out.

        These fields, and the navigation tree if it is synced, are added to the list of left-out parts.
        """
        obj = entry.found_object
        synced, repository = obj.kind.git_sync, obj.live.synced_repository
        if synced is None or repository is None:
            return ()
        fields = synced.synced_fields(repository.synced_with_owner)
        words = [name for name in fields if not obj.kind.field(name).required]
        words += [self.registry.tree_key(obj.kind.name)] if synced.includes_tree else []
        for word in words:
            why = f"GitBook syncs the {word} with {repository.name}"
            self._leave_out(obj, word, why)
            entry.comments.append(not_imported_comment(word, why))
        return fields

    def _live_value(self, field_: Field, obj: InventoryObject) -> Any:
        """Return the value that an import writes for a field; EXPLICIT_NULL for null, None for no line.

        An object that inherits values, such as a customization, writes only what differs from them.
        """
        if isinstance(field_, ListOrder):
            return self._listed_order(field_, obj)
        watched = is_access_default(obj.kind, field_) and not self._is_null_at_top_level(field_, obj)
        value = value_to_write(obj.kind, field_, obj.live, obj.key, self.full, watched)
        if value is None or obj.kind.inherits_from_kind is None:
            return value
        if value is EXPLICIT_NULL:
            return None  # null in the file would mean that the object inherits the value
        inherited_kind = self.registry[obj.kind.inherits_from_kind]
        owner = next(
            (parent for parent in obj.with_ancestors() if parent.kind.name in inherited_kind.parents), None
        )
        objects = self.inventory.children(owner, [inherited_kind]) if owner is not None else []
        if not objects:
            return value
        return difference_from_inherited(field_, value, objects[0].live.fields.get(field_.name))

    def _is_null_at_top_level(self, field_: Field, obj: InventoryObject) -> bool:
        """Return whether null in a field means that the object is in the ordered list of its parent.

        For example, a collection without a parent collection is in the list of the organization. Then the
        null must be written, because the order of the list contains the object.
        """
        parent = obj.parent
        if parent is None or obj.live.fields.get(field_.name) is not None:
            return False
        orders = [
            order
            for order in parent.kind.list_orders
            if (order.item_kind, order.place_field) == (obj.kind.name, field_.name)
        ]
        return any(
            len(self.inventory.orders.get((parent.live.identity, order.name), ())) > 1 for order in orders
        )

    def _listed_order(self, order: ListOrder, obj: InventoryObject) -> Value:
        """Return the ids of the objects inside an object in their live order; None for fewer than two.

        Objects that are in the order, but are placed in another object, are left out.
        """
        reference_field = (order.item_kind, order.place_field)
        if reference_field not in self._ids_inside:
            self._ids_inside[reference_field] = self.inventory.ids_by_parent(
                self.registry[order.item_kind], order.place_field
            )
        inside_ids = set(self._ids_inside[reference_field].get(obj.live.identity, ()))
        ids = self.inventory.orders.get((obj.live.identity, order.name), [])
        listed = [LiveId(id) for id in ids if id in inside_ids]
        return listed if len(listed) > 1 else None

    def _reference_namer(self, obj: InventoryObject) -> ReferenceNamer:
        """Return a function that names the objects to which fields of `obj` refer, by their keys."""

        def name_reference(kinds: tuple[str, ...], id: str) -> str | None:
            target = self.objects_by_id.find(kinds, id, obj)
            return reference_text(target) if target is not None else None

        return name_reference

    def _variable_namer(self, obj: InventoryObject, field_: Field) -> Callable[[tuple[str, ...]], str]:
        """Return a function that returns an unused variable name for a secret, such as ACME_SITES_DOCS_TOKEN.

        Its argument is the path of the secret in the field. The variable is added to the required secrets,
        which a person must set.
        """

        def name_variable(path: tuple[str, ...]) -> str:
            """Return an unused variable name for the secret at a path, and record it as required."""
            words = [*(segment for segment in obj.address.segments), field_.name, *path]
            name = re.sub(r"[^A-Z0-9]+", "_", "_".join(words).upper()).strip("_")
            name = f"_{name}" if name[:1].isdigit() else name
            variable = first_unused_name(name, self.variables.__contains__, "_")
            self.variables.add(variable)
            self.entries.required_secrets.append(
                RequiredSecret(variable, str(obj.address), ".".join((field_.name, *path)))
            )
            return variable

        return name_variable

    def _leave_out(self, obj: InventoryObject, name: str | None, why: str) -> None:
        """Note that an object, or its field `name`, is not in the files."""
        self.entries.left_out.append(LeftOut(str(obj.address), name, why))


# Pins.


def _add_pins(
    registry: Registry, inventory: Inventory, entries: DescribedEntries, known: ObjectsById
) -> None:
    """Pin each entry that a plan would not match with its object by the written fields.

    A pin is a line `id: …` that binds the entry to the object. Parents are matched before their children, as
    in a plan.
    """
    pinning = _PinFinder(registry, entries, known)
    pinning.ids |= {obj.address: obj.live.id for obj in inventory.objects_of_kind(registry.root.name)}
    for kind in registry.in_dependency_order:
        parents = {
            id(obj.parent): obj.parent
            for obj in inventory.objects_of_kind(kind.name)
            if obj.parent is not None
        }
        for parent in sorted(parents.values(), key=lambda obj: obj.address):
            pinning.pin_where_needed(kind, inventory.children(parent, [kind]))


class _PinFinder:
    """Finds the entries that need a pin, a line `id: …` in the file."""

    def __init__(self, registry: Registry, entries: DescribedEntries, known: ObjectsById) -> None:
        self.registry = registry
        self.entries = entries
        self.objects_by_id = known
        self.ids: dict[Address, str] = {}
        """The ids of matched entries so far. As in a plan, kinds are matched in the registry's order."""

    def pin_where_needed(self, kind: Kind, siblings: list[InventoryObject]) -> None:
        """Pin the siblings of one kind that a plan would not match with their own entries.

        A pin is a line `id: …` in an entry. If pinning these is not enough, all siblings are pinned. Some
        kinds need no pin, because the key or the position of an entry identifies the object.
        """
        by_identity = {obj.live.identity: obj for obj in siblings}

        def first_child(entry: Entry) -> Entry | None:
            """Return the entry of the first navigation node inside an entry, if any."""
            nodes = self.entries.by_address[entry.address].found_object.nodes_inside
            return self._loaded_entry(nodes[0]) if nodes else None

        def children(live: LiveObject) -> list[LiveObject]:
            return [node.live for node in by_identity[live.identity].nodes_inside]

        if not (
            isinstance(kind.shape, SingleEntry) or kind.key_field is not None or kind.is_always_shorthand
        ):
            natural_keys = NaturalKeys(kind, self.ids.get, first_child, children)
            unmatched = self._wrongly_matched(natural_keys, siblings)
            for obj in unmatched:
                obj.pinned = True
            if unmatched and self._wrongly_matched(natural_keys, siblings):
                for obj in siblings:
                    obj.pinned = True
        self.ids |= {obj.address: obj.live.id for obj in siblings}

    def _wrongly_matched(self, view: NaturalKeys, siblings: list[InventoryObject]) -> list[InventoryObject]:
        """Return the unpinned objects that a plan of the new files would not match with their own entries.

        The match of an object is missing, ambiguous, or another object.
        """
        result = match(view, [self._loaded_entry(obj) for obj in siblings], [obj.live for obj in siblings])
        ambiguous_addresses = {diagnostic.address for diagnostic in result.diagnostics}
        return [
            obj
            for obj in siblings
            if not obj.pinned
            and (
                str(obj.address) in ambiguous_addresses
                or obj.address not in result.matches
                or result.matches[obj.address].id != obj.live.id
            )
        ]

    def _loaded_entry(self, obj: InventoryObject) -> Entry:
        """Return the entry of an object as it will be when the new files are loaded."""
        kind = obj.kind
        entry = self.entries.by_address[obj.address]
        written = {
            *entry.fields,
            kind.key_field,
            kind.default_key_field,
            *(field_.name for field_ in kind.fields if field_.is_parent_reference),
        }
        fields = {
            field_.name: self._loaded_value(field_, obj)
            for field_ in kind.fields
            if field_.name in written and field_.response_path is not None
        }
        return Entry(
            kind.name, obj.address, obj.key, obj.parent.address if obj.parent else None,
            obj.holder.address if obj.holder else None, fields, NO_SPAN, {},
            obj.live.id if obj.pinned else None,
        )  # fmt: skip

    def _loaded_value(self, field_: Field, obj: InventoryObject) -> Value:
        """Return the value of a field as it will be loaded: with references to entries."""

        def name(leaf: Value) -> Value:
            """Replace an id by a reference to the entry with this id, if there is one."""
            if isinstance(leaf, LiveId):
                target = self.objects_by_id.find(field_.type.referenced_kinds, leaf.id, obj)
                return Ref(target.address) if target is not None else leaf
            return leaf

        return map_leaves(obj.live.fields.get(field_.name), name)
