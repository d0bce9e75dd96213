"""Choose a key for each live object: short, readable, unique in its mapping, and the same in each import.

`name_objects` sets keys and addresses. A natural key is the value of a field; other keys are made from the
title of the object.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from dpsync.config.yaml_reader import FORBIDDEN_IN_VALUE
from dpsync.importing.inventory import FoundObject, Inventory, first_unused_name
from dpsync.kinds.kind import EntryMapping, Kind, SingleEntry, TreeNode
from dpsync.kinds.places import PlaceTypes
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import List, Object, OneOf, Reference, Table, Type
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.ids import LinesByAddress, RecordedLine, is_id
from dpsync.model.values import LiveId, Value, leaves

MAX_KEY_CHARS = 60


def slugify(text: str) -> str:
    """Return a text as a key of lowercase letters, digits and hyphens; "" if no character remains."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:MAX_KEY_CHARS].strip("-")


def name_objects(
    registry: Registry, inventory: Inventory, recorded: Mapping[str, LinesByAddress] | None = None
) -> list[FoundObject]:
    """Set the key and address of every object. Remove and return the objects that can have no key.

    `recorded` has the lines of the ids file by organization id: an object with a line keeps the key of its
    entry.
    """
    naming = _KeyChooser(registry, inventory, recorded or {})
    for kind in (registry.root, *(kind for kind in registry.in_dependency_order if kind.parent is not None)):
        for item in inventory.objects_of_kind(kind.name):
            naming.choose_key(item)
    left = {id(item) for item in naming.without_key}
    inventory.objects = [
        item for item in inventory.objects if not any(id(one) in left for one in item.with_ancestors())
    ]
    inventory.index_children()
    return naming.without_key


def ids_lines(inventory: Inventory) -> dict[str, LinesByAddress]:
    """Return the lines for the ids file by organization id."""
    along = {id(maker): made for (_, made), maker in inventory.outputs.items()}
    found: dict[str, dict[Address, RecordedLine]] = {}
    for item in inventory.objects:
        *_, organization = item.with_ancestors()
        lines = found.setdefault(organization.live.id, {})
        if item.kind.has_ids_line and is_id(item.live.id):
            inside = item.nodes_inside[0].live.id if item.kind.has_second_id and item.nodes_inside else None
            lines[item.address] = RecordedLine(item.address, item.live.id, along.get(id(item), inside))
    return dict(found)


class ObjectsById:
    """Objects and outputs by kind and id, to find the object that an id in a field refers to."""

    def __init__(self, whole: Inventory) -> None:
        self._by_id: dict[tuple[str, str], list[FoundObject]] = {}
        for item in whole.objects:
            self._by_id.setdefault((item.kind.name, item.live.id), []).append(item)
        for identity, maker in whole.outputs.items():
            self._by_id.setdefault(identity, []).append(maker)

    def find(self, kinds: Iterable[str], wanted: str, beside: FoundObject) -> FoundObject | None:
        """Return the object with this id that a key can name in the entry of `beside`, otherwise None.

        The owner of the object's list must be `beside` or one of its parents.
        """
        around = {id(above) for above in beside.with_ancestors()}
        for kind in kinds:
            for item in self._by_id.get((kind, wanted), ()):
                if id(_tree_owner_or_parent(item)) in around:
                    return item
        return None


def _tree_owner_or_parent(item: FoundObject) -> FoundObject | None:
    """Return the parent of an object; for a navigation node, the owner of its tree."""
    above = item.parent
    while (
        above is not None and isinstance(item.kind.shape, TreeNode) and isinstance(above.kind.shape, TreeNode)
    ):
        above = above.parent
    return above


def reference_text(item: FoundObject) -> str:
    """Return the text of a reference: the key, or for a nested navigation node both keys."""
    owner = _tree_owner_or_parent(item)
    if not isinstance(item.kind.shape, TreeNode) or owner is None:
        return item.key
    place = owner.address.child(*item.kind.key.split("."))
    return "/".join(item.address.segments[len(place.segments) :])


class _KeyChooser:
    """Gives keys and addresses to the objects of an inventory."""

    def __init__(self, registry: Registry, whole: Inventory, recorded: Mapping[str, LinesByAddress]) -> None:
        self.registry = registry
        self.inventory = whole
        self.known = ObjectsById(whole)
        self.used: set[tuple[Address, str, str]] = set()
        """The used keys: the address below which keys are unique, the group of kinds, and the key."""
        self.objects_by_key: dict[tuple[Address, str, str], FoundObject] = {}
        """The object with each key in `used`."""
        self.without_key: list[FoundObject] = []
        self.shared_key_sets = _shared_key_sets(registry)
        self.places = PlaceTypes(registry)
        self.recorded = recorded
        self.recorded_addresses: dict[tuple[str, str, str], Address] = {}
        """The recorded address of an object, by its organization, kind and id."""
        self.reserved_keys: set[tuple[Address, str, str]] = set()
        """The recorded keys of live objects, which no other object may get."""

    def _reserve_recorded_keys(self, organization: FoundObject) -> None:
        """Reserve the keys of existing entries for the live objects of an organization."""
        live = {(item.kind.name, item.live.id) for item in self.inventory.objects}
        id = organization.live.id
        for at, line in self.recorded.get(id, {}).items():
            address = Address((organization.key, *at.segments_in_organization))
            for kind in self.places.kinds(address):
                if (kind.name, line.id) in live:
                    self.recorded_addresses[id, kind.name, line.id] = address
                    self.reserved_keys.add((*self._key_scope(kind, address), address.last_segment))

    def _key_scope(self, kind: Kind, address: Address) -> tuple[Address, str]:
        """Return the scope in which the key of an entry at this address must be unique."""
        if isinstance(kind.shape, TreeNode):
            return address.list_address, "node"
        return address.owner_of_list(kind.key), self.shared_key_sets.get(kind.name, kind.name)

    def _recorded_or_free_key(self, item: FoundObject, place: Address, scope: tuple[Address, str]) -> str:
        """Return the key of the object's existing entry, otherwise a free key."""
        *_, organization = item.with_ancestors()
        if item is organization:
            return self._free_key(scope, self._recorded_organization_key(item) or self._key_from_title(item))
        address = self.recorded_addresses.get((organization.live.id, item.kind.name, item.live.id))
        if address is not None and address.list_address == place:
            key = address.last_segment
            if (*scope, key) not in self.used:
                return key
        return self._free_key(scope, self._key_from_title(item))

    def _recorded_organization_key(self, organization: FoundObject) -> str | None:
        """Return the key that an organization has in its recorded lines; None without lines."""
        return next((at.organization_key for at in self.recorded.get(organization.live.id, ())), None)

    def choose_key(self, item: FoundObject) -> None:
        kind, above = item.kind, item.parent
        if isinstance(kind.shape, SingleEntry):
            assert above is not None
            item.address = above.address.child(*kind.key.split("."))
            return
        place = self._parent_address(item)
        scope = (place, "node") if isinstance(kind.shape, TreeNode) else self._key_group(item)
        key = (
            self._natural_key(item, kind.key_field)
            if kind.key_field
            else self._recorded_or_free_key(item, place, scope)
        )
        folded = self._folded_key(kind, key)
        holder = self.objects_by_key.get((*scope, folded)) if kind.key_field else None
        if not key or holder is not None or FORBIDDEN_IN_VALUE.search(key):
            if holder is not None:
                holder.pinned = True  # both objects have this key: only the id distinguishes them
            self.without_key.append(item)
            return
        self.used.add((*scope, folded))
        self.objects_by_key[(*scope, folded)] = item
        item.key, item.address = key, place.child(folded)
        if item.parent is None:
            self._reserve_recorded_keys(item)

    def _parent_address(self, item: FoundObject) -> Address:
        """Return the address above the address of an object."""
        if item.parent is None:
            return Address(())
        inside = isinstance(item.kind.shape, TreeNode) and item.holder is item.parent
        return item.parent.address if inside else item.parent.address.child(*item.kind.key.split("."))

    def _key_group(self, item: FoundObject) -> tuple[Address, str]:
        above = item.parent.address if item.parent else Address(())
        return above, self.shared_key_sets.get(item.kind.name, item.kind.name)

    def _natural_key(self, item: FoundObject, name: str) -> str:
        value = item.live.fields.get(name)
        if isinstance(value, LiveId):
            target = self.known.find(item.kind.field(name).type.referenced_kinds, value.id, item)
            return target.key if target is not None else ""
        return value if isinstance(value, str) else ""

    def _folded_key(self, kind: Kind, key: str) -> str:
        if kind.key_field is None:
            return key
        type_ = kind.field(kind.key_field).type
        for name in type_.referenced_kinds:
            target = self.registry[name]
            if target.key_field:
                return str(target.field(target.key_field).type.fold_for_key(key))
        return str(type_.fold_for_key(key))

    def _free_key(self, scope: tuple[Address, str], wanted: str) -> str:
        """Return the wanted key, or the first free key with a number after it."""
        reserved = () if scope[0].segments else self.registry.pattern_words
        return first_unused_name(wanted, lambda key: key in reserved or self._is_taken((*scope, key)))

    def _is_taken(self, key: tuple[Address, str, str]) -> bool:
        return key in self.used or key in self.reserved_keys

    def _key_from_title(self, item: FoundObject) -> str:
        kind = item.kind
        if isinstance(kind.shape, EntryMapping) and kind.shape.default_key_field:
            own = item.live.fields.get(kind.shape.default_key_field)
            if isinstance(own, str) and LOCAL_KEY.fullmatch(own):
                return own
        for key in kind.natural_keys:
            parts = [self._identity_text(item, part) for part in ((key,) if isinstance(key, str) else key)]
            if (word := slugify("-".join(part for part in parts if part))) and all(parts):
                return word
        title = item.live.fields.get(kind.title_field)
        return slugify(title if isinstance(title, str) else "") or slugify(kind.noun) or "entry"

    def _identity_text(self, item: FoundObject, part: str) -> str:
        """Return one part of a natural key as text: a value, or the keys of the objects that it refers to."""
        if part.startswith("$"):
            return ""
        name, _, member = part.partition(".")
        value: Value = item.live.fields.get(name)
        if member:
            value = value.get(member) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
        ids = [leaf for leaf in leaves(value) if isinstance(leaf, LiveId)]
        targets = (
            self.known.find(item.kind.field(name).type.referenced_kinds, leaf.id, item) for leaf in ids
        )
        return "-".join(target.key for target in targets if target is not None)


def _shared_key_sets(registry: Registry) -> dict[str, str]:
    """Return for each kind that shares its keys with others the name of the shared set of keys.

    Kinds share keys if a field may refer to any of them, or if one is the output of the other.
    """
    shared: dict[str, str] = {}
    pairs = [
        (kind.platform_work.outputs.kind, kind.name)
        for kind in registry.in_dependency_order
        if kind.platform_work.outputs
    ]
    pairs += [
        (kinds[0], other)
        for kind in registry.in_dependency_order
        for field in kind.fields
        for kinds in _reference_kinds(field.type)
        for other in kinds[1:]
    ]
    for first, other in pairs:
        shared[other] = shared.setdefault(first, first)
    return shared


def _reference_kinds(type_: Type) -> Iterable[tuple[str, ...]]:
    match type_:
        case Reference(kinds=kinds):
            yield kinds
        case Object(parts=parts):
            for part in parts.values():
                yield from _reference_kinds(part)
        case OneOf(forms=forms):
            for form in forms.values():
                yield from _reference_kinds(form)
        case List(item_type=of):
            yield from _reference_kinds(of)
        case Table(value_type=values):
            yield from _reference_kinds(values)
