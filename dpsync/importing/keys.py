"""Choose a key for each live object: short, readable, unique in its mapping, and the same in each import.

`name_objects` sets the key and the address of each object. A natural key is the value of a field that
identifies the object; other keys are made from the title. Keys in the ids file stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from dpsync.config.yaml_reader import FORBIDDEN_IN_VALUE
from dpsync.importing.inventory import Inventory, InventoryObject, first_unused_name
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import EntryMapping, Kind, SingleEntry, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import List, Object, OneOf, Reference, Table, Type
from dpsync.model.address import LOCAL_KEY, Address
from dpsync.model.ids import LinesByAddress, RecordedLine, is_id
from dpsync.model.values import LiveId, Value, leaves

MAX_KEY_CHARS = 60


def slugify(text: str) -> str:
    """Convert a text to a key of lowercase letters, digits and hyphens; "" if no character remains.

    "Release Notes (2024)" becomes "release-notes-2024".
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:MAX_KEY_CHARS].strip("-")


def name_objects(
    registry: Registry, inventory: Inventory, recorded: Mapping[str, LinesByAddress] | None = None
) -> list[InventoryObject]:
    """Set the key and address of every object in the inventory.

    Remove and return the objects that can have no key; objects below them are removed, too. `recorded` has
    the lines of the ids file by organization id: an object with a line keeps the key of its entry.
    """
    naming = _KeyChooser(registry, inventory, recorded or {})
    for kind in (registry.root, *(kind for kind in registry.in_dependency_order if kind.parent is not None)):
        for obj in inventory.objects_of_kind(kind.name):
            naming.choose_key(obj)
    left_out_ids = {id(obj) for obj in naming.without_key}
    inventory.objects = [
        obj
        for obj in inventory.objects
        if not any(id(ancestor) in left_out_ids for ancestor in obj.with_ancestors())
    ]
    inventory.index_children()
    return naming.without_key


def ids_lines(inventory: Inventory) -> dict[str, LinesByAddress]:
    """Return the lines for the ids file, by organization id and address.

    A line may have a second id: that of the object that GitBook creates with the entry, which is its output
    (the space of a translation) or its first navigation node.
    """
    output_ids = {id(maker): output_id for (_, output_id), maker in inventory.outputs.items()}
    lines_by_organization: dict[str, dict[Address, RecordedLine]] = {}
    for obj in inventory.objects:
        *_, organization = obj.with_ancestors()
        lines = lines_by_organization.setdefault(organization.live.id, {})
        if obj.kind.has_ids_line and is_id(obj.live.id):
            first_child_id = (
                obj.nodes_inside[0].live.id if obj.kind.has_second_id and obj.nodes_inside else None
            )
            lines[obj.address] = RecordedLine(
                obj.address, obj.live.id, output_ids.get(id(obj), first_child_id)
            )
    return dict(lines_by_organization)


class ObjectsById:
    """Objects and outputs by kind and id, to find the object that an id in a field refers to."""

    def __init__(self, inventory: Inventory) -> None:
        self._by_id: dict[tuple[str, str], list[InventoryObject]] = {}
        for obj in inventory.objects:
            self._by_id.setdefault((obj.kind.name, obj.live.id), []).append(obj)
        for identity, maker in inventory.outputs.items():
            self._by_id.setdefault(identity, []).append(maker)

    def find(self, kinds: Iterable[str], wanted_id: str, referrer: InventoryObject) -> InventoryObject | None:
        """Return the object with an id that a key in the entry of `referrer` can refer to, otherwise None.

        A key can refer only to objects in lists of `referrer` itself or of one of its parents.
        """
        ancestor_ids = {id(ancestor) for ancestor in referrer.with_ancestors()}
        for kind in kinds:
            for obj in self._by_id.get((kind, wanted_id), ()):
                if id(_tree_owner_or_parent(obj)) in ancestor_ids:
                    return obj
        return None


def _tree_owner_or_parent(obj: InventoryObject) -> InventoryObject | None:
    """Return the parent of an object; for a navigation node, the object with the tree, such as a site."""
    owner = obj.parent
    while (
        owner is not None and isinstance(obj.kind.shape, TreeNode) and isinstance(owner.kind.shape, TreeNode)
    ):
        owner = owner.parent
    return owner


def reference_text(obj: InventoryObject) -> str:
    """Return the text of a reference to an object: its key, for a nested navigation node `PARENT/KEY`."""
    owner = _tree_owner_or_parent(obj)
    if not isinstance(obj.kind.shape, TreeNode) or owner is None:
        return obj.key
    list_address = owner.address.child(*obj.kind.key.split("."))
    return "/".join(obj.address.segments[len(list_address.segments) :])


class _KeyChooser:
    """Gives keys and addresses to the objects of an inventory."""

    def __init__(
        self, registry: Registry, inventory: Inventory, recorded: Mapping[str, LinesByAddress]
    ) -> None:
        self.registry = registry
        self.inventory = inventory
        self.objects_by_id = ObjectsById(inventory)
        self.used: set[tuple[Address, str, str]] = set()
        """The used keys: the address below which keys are unique, the group of kinds, and the key."""
        self.objects_by_key: dict[tuple[Address, str, str], InventoryObject] = {}
        """The object with each key in `used`."""
        self.without_key: list[InventoryObject] = []
        self.shared_key_sets = _shared_key_sets(registry)
        self.places = PlaceTypes(registry)
        self.recorded = recorded
        self.recorded_addresses: dict[tuple[str, str, str], Address] = {}
        """The recorded address of an object, by its organization, kind and id."""
        self.reserved_keys: set[tuple[Address, str, str]] = set()
        """The recorded keys of live objects, which no other object may get."""

    def _reserve_recorded_keys(self, organization: InventoryObject) -> None:
        """Reserve the keys in the ids file for the live objects of an organization: they stay the same.

        The address of each object in the ids file is kept in `recorded_addresses`.
        """
        live = {(obj.kind.name, obj.live.id) for obj in self.inventory.objects}
        id = organization.live.id
        for recorded_address, line in self.recorded.get(id, {}).items():
            address = Address((organization.key, *recorded_address.segments_in_organization))
            for kind in self.places.kinds(address):
                if (kind.name, line.id) in live:
                    self.recorded_addresses[id, kind.name, line.id] = address
                    # The scope in which the key must be unique: see `choose_key`.
                    if isinstance(kind.shape, TreeNode):
                        scope = (address.list_address, "node")
                    else:
                        group = self.shared_key_sets.get(kind.name, kind.name)
                        scope = (address.owner_of_list(kind.key), group)
                    self.reserved_keys.add((*scope, address.last_segment))

    def _recorded_or_free_key(
        self, obj: InventoryObject, list_address: Address, scope: tuple[Address, str]
    ) -> str:
        """Return the key that an object has in the ids file, otherwise a free key made from its title.

        An object that has moved to another list gets a new key. `scope` is where the key must be unique.
        """
        *_, organization = obj.with_ancestors()
        if obj is organization:
            addresses = self.recorded.get(organization.live.id, ())
            recorded_key = next((address.organization_key for address in addresses), None)
            return self._free_key(scope, recorded_key or self._key_from_title(obj))
        address = self.recorded_addresses.get((organization.live.id, obj.kind.name, obj.live.id))
        if address is not None and address.list_address == list_address:
            key = address.last_segment
            if (*scope, key) not in self.used:
                return key
        return self._free_key(scope, self._key_from_title(obj))

    def choose_key(self, obj: InventoryObject) -> None:
        """Set the key and the address of an object whose parent has an address.

        If the key is the value of a field, and that value is missing, invalid or used by another object, the
        object is added to `without_key` instead.
        """
        kind, parent = obj.kind, obj.parent
        if isinstance(kind.shape, SingleEntry):
            assert parent is not None
            obj.address = parent.address.child(*kind.key.split("."))
            return
        parent_address = parent.address if parent is not None else Address(())
        list_address = parent_address
        if parent is not None and not (isinstance(kind.shape, TreeNode) and obj.holder is parent):
            list_address = parent_address.child(*kind.key.split("."))
        if isinstance(kind.shape, TreeNode):
            scope = (list_address, "node")
        else:
            scope = (parent_address, self.shared_key_sets.get(kind.name, kind.name))
        key = (
            self._natural_key(obj, kind.key_field)
            if kind.key_field
            else self._recorded_or_free_key(obj, list_address, scope)
        )
        folded = self._folded_key(kind, key)
        holder = self.objects_by_key.get((*scope, folded)) if kind.key_field else None
        if not key or holder is not None or FORBIDDEN_IN_VALUE.search(key):
            if holder is not None:
                holder.pinned = True  # both objects have this key: only the id distinguishes them
            self.without_key.append(obj)
            return
        self.used.add((*scope, folded))
        self.objects_by_key[(*scope, folded)] = obj
        obj.key, obj.address = key, list_address.child(folded)
        if obj.parent is None:
            self._reserve_recorded_keys(obj)

    def _natural_key(self, obj: InventoryObject, name: str) -> str:
        """Return the value of a field as a key: a text, or the key of the referenced object."""
        value = obj.live.fields.get(name)
        if isinstance(value, LiveId):
            target = self.objects_by_id.find(obj.kind.field(name).type.referenced_kinds, value.id, obj)
            return target.key if target is not None else ""
        return value if isinstance(value, str) else ""

    def _folded_key(self, kind: Kind, key: str) -> str:
        """Return the form of a key that is equal for equivalent keys, such as an e-mail in lowercase.

        The key of some kinds is the value of a field, or the key of an object that the field refers to.
        """
        if kind.key_field is None:
            return key
        type_ = kind.field(kind.key_field).type
        for name in type_.referenced_kinds:
            target = self.registry[name]
            if target.key_field:
                return str(target.field(target.key_field).type.fold_for_key(key))
        return str(type_.fold_for_key(key))

    def _free_key(self, scope: tuple[Address, str], preferred_key: str) -> str:
        """Return the preferred key, or the first key with a number after it that is not used in the scope.

        `scope` is the address below which keys are unique, and the group of kinds that share keys. Words with
        a meaning in patterns cannot be keys of organizations, whose scope is the empty address.
        """
        scope_address, _ = scope
        pattern_words = () if scope_address.segments else self.registry.pattern_words

        def is_taken(key: str) -> bool:
            scoped_key = (*scope, key)
            return key in pattern_words or scoped_key in self.used or scoped_key in self.reserved_keys

        return first_unused_name(preferred_key, is_taken)

    def _key_from_title(self, obj: InventoryObject) -> str:
        """Return a slug of the values that identify an object, or else of its title or its kind's name.

        Some kinds have a field whose value is the key by default.
        """
        kind = obj.kind
        if isinstance(kind.shape, EntryMapping) and kind.shape.default_key_field:
            own = obj.live.fields.get(kind.shape.default_key_field)
            if isinstance(own, str) and LOCAL_KEY.fullmatch(own):
                return own
        for key in kind.natural_keys:
            parts = [self._identity_text(obj, part) for part in ((key,) if isinstance(key, str) else key)]
            if (word := slugify("-".join(part for part in parts if part))) and all(parts):
                return word
        title = obj.live.fields.get(kind.title_field)
        return slugify(title if isinstance(title, str) else "") or slugify(kind.noun) or "entry"

    def _identity_text(self, obj: InventoryObject, part: str) -> str:
        """Return one part of a natural key as text: a value, or the keys of the objects that it refers to.

        `part` is a field, or `FIELD.MEMBER`. "" for a part such as `$child.space`, which is no field.
        """
        if part.startswith("$"):
            return ""
        name, _, member = part.partition(".")
        value: Value = obj.live.fields.get(name)
        if member:
            value = value.get(member) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
        ids = [leaf for leaf in leaves(value) if isinstance(leaf, LiveId)]
        targets = (
            self.objects_by_id.find(obj.kind.field(name).type.referenced_kinds, leaf.id, obj) for leaf in ids
        )
        return "-".join(target.key for target in targets if target is not None)


def _shared_key_sets(registry: Registry) -> dict[str, str]:
    """Return for each kind that shares its keys with others the name of the shared set of keys.

    Kinds share keys if a field may refer to any of them, or if GitBook creates the object of one kind (the
    output) for an object of the other.
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
    """Yield the kinds that each reference in a type, or in its parts, may refer to."""
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
