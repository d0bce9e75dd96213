"""Find the present and earlier names of entries and live objects.

`Hierarchy` walks up and down the hierarchy: entries as the files have them, live objects as they were read.
`Names` returns the addresses and titles of live objects. `FormerNames` returns what live objects were called
before, by the ids file, the git base, and earlier commits.

`FormerNames.objects_at` returns one object: the first source with the address decides, so that a permission
for one object does not apply to another. `FormerNames.addresses_of` returns the names of all sources, so
that an object remains protected if it is renamed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from urllib.parse import unquote

from msgspec import Struct, field

from dpsync.identity.match import match_earlier_entries
from dpsync.kinds.kind import Field, Kind, SingleEntry
from dpsync.kinds.places import PlaceTypes
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import AncestorIds
from dpsync.model.address import Address, Pattern, encode_segment
from dpsync.model.desired import NO_BASE, Base, Desired, Entry, Lookup
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId

DIRECT_PARENT = "parent"
"""Stands for the parent, in place of a kind."""


class Hierarchy(Struct, frozen=True, dict=True):
    """The hierarchy of entries and of live objects, upwards and downwards."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot

    # Entries.

    def live_id_or_placeholder(self, address: Address) -> str:
        """Return the live id of an entry, or its address in braces, for request paths."""
        return self.snapshot.live_id(address) or f"{{{address}}}"

    def ancestor_ids(self, entry: Entry) -> AncestorIds:
        """Return kind and id of the ancestors of an entry, the nearest first."""
        return [(above.kind, self.live_id_or_placeholder(above.address)) for above in self._ancestors(entry)]

    def ancestor(self, entry: Entry, kind: str) -> Address | None:
        """Return the nearest ancestor of an entry with this kind; the parent for the kind `DIRECT_PARENT`."""
        if kind == DIRECT_PARENT:
            return entry.parent
        return next((above.address for above in self._ancestors(entry) if above.kind == kind), None)

    def _ancestors(self, entry: Entry) -> Iterator[Entry]:
        around = entry.parent
        while around is not None:
            above = self.desired.entries[around]
            yield above
            around = above.parent

    def first_child(self, entry: Entry) -> Entry | None:
        return self.desired.entries.get(entry.children[0]) if entry.children else None

    def preorder(self, children: Iterable[Address]) -> Iterator[Address]:
        """Yield the nodes of a tree in the order of the file: each node before its children."""
        for address in children:
            yield address
            yield from self.preorder(self.desired.entries[address].children)

    def subtree(self, address: Address) -> list[Address]:
        """Return the entries at and below an address, in the order of addresses."""
        return at_or_below(self._sorted_addresses, address)

    @cached_property
    def _sorted_addresses(self) -> list[Address]:
        return sorted(self.desired.entries)

    # Live objects.

    def live_ancestor(self, item: LiveObject, kind: str) -> Identity | None:
        """Return the nearest ancestor of this kind; for the kind `DIRECT_PARENT`, the parent."""
        if kind == DIRECT_PARENT:
            return item.parent
        return next((above for above in self.snapshot.ancestors(item) if above[0] == kind), None)

    def live_ancestors_and_self(self, item: Entry | LiveObject) -> list[Identity]:
        """Return the live objects of an item and its ancestors, the nearest first."""
        if isinstance(item, LiveObject):
            return [item.identity, *self.snapshot.ancestors(item)]
        own = self.snapshot.live_id(item.address)
        above = [(kind, id) for kind, id in self.ancestor_ids(item) if not id.startswith("{")]
        return [(item.kind, own), *above] if own else above

    def contents(self, holder: Identity) -> Iterator[LiveObject]:
        """Yield all live objects inside a live object, at any depth, such as the spaces in a collection."""
        waiting, seen = [holder], {holder}
        while waiting:
            for live in self._contents[waiting.pop()]:
                if live.identity not in seen:
                    seen.add(live.identity)
                    waiting.append(live.identity)
                    yield live

    @cached_property
    def _contents(self) -> dict[Identity, list[LiveObject]]:
        held: dict[Identity, list[LiveObject]] = defaultdict(list)
        for live in self.snapshot.objects.values():
            for item in self.registry[live.kind].fields:
                value = live.fields.get(item.name)
                if is_container_field(item) and isinstance(value, LiveId):
                    held[item.type.referenced_kinds[0], value.id].append(live)
                    break
        return held


def is_container_field(item: Field) -> bool:
    """Return whether a field names the object that contains an object."""
    return item.is_parent_reference or (item.own_call is not None and bool(item.type.referenced_kinds))


def at_or_below(addresses: list[Address], address: Address) -> list[Address]:
    """Return those of sorted addresses that are at or below an address."""
    start = bisect_left(addresses, address)
    return list(takewhile(lambda other: other.is_at_or_below(address), addresses[start:]))


def names_without_base(registry: Registry, desired: Desired, snapshot: Snapshot) -> Names:
    """Return the names of a configuration and a snapshot without a git base."""
    return Names(registry, desired, snapshot, NO_BASE, Hierarchy(registry, desired, snapshot))


class Names(Struct, frozen=True, dict=True):
    """The addresses and titles of objects, in the files and in the git base."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    base: Base
    lineage: Hierarchy
    _unmanaged: dict[Identity, Address] = field(default_factory=dict)

    @cached_property
    def declared(self) -> dict[Identity, Address]:
        """The address of each live object with an entry or a lookup."""
        known = {identity: address for address, identity in self.identities.items()}
        for address, lookup in self.desired.lookups.items():
            if identity := self.identity(address, lookup):
                known[identity] = address
        return known

    @cached_property
    def identities(self) -> dict[Address, Identity]:
        """The live object of each entry, without entries that have none."""
        return {
            address: identity
            for address, resource in self.desired.entries.items()
            if (identity := self.identity(address, resource))
        }

    def identity(self, address: Address, item: Entry | Lookup) -> Identity | None:
        """Return the live object of an entry or lookup; None if there is none."""
        id = self.snapshot.live_id(address)
        if id is None:
            return None
        owner = None
        if item.parent is not None:
            owner = self.desired.entries[item.parent].kind, self.snapshot.live_id(item.parent) or ""
        return self.registry[item.kind].identity_of(id, owner)

    def referenced_object(self, item: Entry | LiveObject, kind: str, id: str) -> Identity:
        """Return the object that an id in a field of `item` means.

        If ids of the kind are not unique (members), it is the object in the organization of `item`.
        """
        if kind not in self.registry or (target := self.registry[kind]).has_unique_id:
            return kind, id
        around = next(
            (above for above in self.lineage.live_ancestors_and_self(item) if above[0] in target.parents),
            None,
        )
        return target.identity_of(id, around)

    def address(self, identity: Identity) -> Address:
        """Return the address of a live object: of its entry, or for an unmanaged object by title."""
        if identity in self.declared:
            return self.declared[identity]
        if identity not in self._unmanaged:
            self._unmanaged[identity] = self._unmanaged_address(self.snapshot.objects[identity])
        return self._unmanaged[identity]

    def _unmanaged_address(self, item: LiveObject) -> Address:
        if isinstance(self.kind(item).shape, SingleEntry):
            return self._list_address(item)  # there is only one in each parent
        title = self._title(item)
        alone = self._title_counts[item.parent, self.kind(item).key, title] == 1
        return self._list_address(item).unmanaged_child(title, None if alone else item.id)

    def label(self, item: Entry | LiveObject) -> str:
        """Return the title of an entry or live object, for messages."""
        kind = self.kind(item)
        if isinstance(item, LiveObject):
            return self._title(item)
        value = item.fields.get(kind.title_field)
        return value if isinstance(value, str) else item.key

    def all_addresses(self, identity: Identity) -> set[Address]:
        """Return all addresses of an undeclared object: by title, by title and id, and in the git base."""
        item = self.snapshot.objects[identity]
        place, title = self._list_address(item), self._title(item)
        single = isinstance(self.kind(item).shape, SingleEntry)
        names = {place} if single else {place.unmanaged_child(title), place.unmanaged_child(title, item.id)}
        return names | ({self.base_addresses[identity]} if identity in self.base_addresses else set())

    def undeclared_matching(self, pattern: Pattern) -> Iterator[Identity]:
        """Yield the undeclared objects that match a pattern, among the objects that were read.

        A pattern with an id (`[Title~id]`) matches the object with this id even if the title differs.
        """
        _, tilde, id = pattern.last_segment.removesuffix("]").rpartition("~")
        for place, identities in self.snapshot.scopes.items():
            if not pattern.list_pattern.matches(place):
                continue
            for identity in identities:
                if identity in self.declared or identity not in self.snapshot.objects:
                    continue
                same_id = bool(tilde) and encode_segment(self.snapshot.objects[identity].id) == id
                if same_id or any(map(pattern.matches, self.all_addresses(identity))):
                    yield identity

    def _list_address(self, item: LiveObject) -> Address:
        if item.parent is None:
            return Address(())
        kind = self.kind(item)
        parent = self.address(item.parent)
        inside = self.registry[item.parent[0]].key == kind.key and item.parent[0] in kind.parents
        return parent if inside and item.holder == item.parent else parent.child(*kind.key.split("."))

    def _title(self, item: LiveObject) -> str:
        kind = self.kind(item)
        value = item.fields.get(kind.title_field)
        if isinstance(value, LiveId):
            return self._referenced_title(item, kind.field(kind.title_field).type.referenced_kinds, value.id)
        if isinstance(value, dict):  # translations: take the first language
            value = value[min(value)] if value else None
        return str(value) if value else item.id

    def _referenced_title(self, item: LiveObject, kinds: tuple[str, ...], id: str) -> str:
        """Return the name of the object to which the title field of `item` refers, as files write the name.

        The API answer with `item` contains the name as well (`referenced_title_path`), so the name is the
        same whether or not the referenced object was read.
        """
        targets = [
            (self.registry[kind], self.referenced_object(item, kind, id))
            for kind in kinds
            if kind in self.registry
        ]
        for _, identity in targets:
            if declared := self.declared.get(identity):
                return unquote(declared.last_segment)
        for kind, identity in targets:
            live = self.snapshot.objects.get(identity)
            if title := item.referenced_title or (self._title(live) if live is not None else None):
                return str(kind.field(kind.title_field).type.fold_for_key(title))
        return id

    @cached_property
    def referenced_titles(self) -> dict[Identity, str]:
        """Titles of the objects to which title fields of live objects refer, such as e-mails of members."""
        return {
            self.referenced_object(item, name, value.id): item.referenced_title
            for item in self.snapshot.objects.values()
            if item.referenced_title is not None
            and isinstance(value := item.fields.get(self.kind(item).title_field), LiveId)
            for name in self.kind(item).field(self.kind(item).title_field).type.referenced_kinds
        }

    @cached_property
    def _title_counts(self) -> Counter[tuple[Identity | None, str, str]]:
        """The number of undeclared objects for each parent, kind key and title."""
        return Counter(
            (item.parent, self.kind(item).key, self._title(item))
            for identity, item in self.snapshot.objects.items()
            if identity not in self.declared
        )

    def kind(self, item: Entry | LiveObject) -> Kind:
        return self.registry[item.kind]

    # In the git base.

    @cached_property
    def objects_of_base_entries(self) -> dict[Address, Identity]:
        """The live object of each entry of the git base."""
        if self.base.desired is None:
            return {}
        return match_earlier_entries(self.registry, self.base.desired, self.desired, self.snapshot)

    @cached_property
    def base_addresses(self) -> dict[Identity, Address]:
        """The address that a live object has in the git base."""
        return {identity: address for address, identity in self.objects_of_base_entries.items()}

    def base_entry(self, entry: Entry, live: LiveObject) -> Entry | None:
        """Return the entry that the git base has for the live object of an entry."""
        if self.base.desired is None:
            return None
        address = self.base_addresses.get(live.identity, entry.address)
        return self.base.desired.entries.get(address)


class FormerNames(Struct, frozen=True, dict=True):
    """The earlier addresses of live objects. Commits before the base are read only if they are needed."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    base: Base
    names: Names
    _addresses_by_object: dict[Identity, frozenset[Address]] = field(default_factory=dict)
    _objects_by_commit: dict[int, Mapping[Address, Identity]] = field(default_factory=dict)
    _addresses_by_commit: dict[int, Mapping[Identity, set[Address]]] = field(default_factory=dict)

    # What an address meant.

    def objects_at(self, address: Address) -> frozenset[Identity] | None:
        """Return the live object that an address meant; empty if it was deleted, None if nothing knows it."""
        records = self.snapshot.recorded_ids
        for lines in (records.lines, records.base_lines):
            if (line := lines.get(address)) is not None:
                return frozenset(self._objects_of_line(line))
        if address in self.names.objects_of_base_entries:
            return frozenset({self.names.objects_of_base_entries[address]})
        for number, then in enumerate(self.base.earlier_configurations):
            if address in then.entries and address in (found := self._objects_in_commit(number, then)):
                return frozenset({found[address]})
        return None

    def undeclared_named_by(self, pattern: Pattern) -> frozenset[Identity]:
        """Return the undeclared objects that a pattern without wildcards means.

        For `[Title]`, these are all objects with the title; the caller decides about several.
        """
        if pattern.last_segment.startswith("["):
            found = {
                identity
                for identity in self.snapshot.objects
                if identity not in self.names.declared
                and any(map(pattern.matches, self.addresses_of(identity)))
            }
        else:
            found = set().union(
                *(self.objects_at(address) or () for address in self.addresses_named_by(pattern))
            )
        return frozenset(identity for identity in found if identity not in self.names.declared)

    def matches_anything(self, pattern: Pattern) -> bool:
        """Return whether a pattern matches an entry, a line of the ids file, or a live or former object.

        A line counts even if its object was deleted.
        """
        records, desired = self.snapshot.recorded_ids, self.desired
        known = (desired.entries, desired.unsupported, desired.lookups, records.lines, records.base_lines)
        if any(pattern.matches(address) for places in known for address in places):
            return True
        if any(
            pattern.matches(name)
            for identity in self.snapshot.objects
            for name in self.addresses_of(identity)
        ):
            return True
        return any(self.objects_at(address) for address in self.addresses_named_by(pattern))

    def addresses_named_by(self, pattern: Pattern) -> Iterator[Address]:
        """Yield the address that a pattern names; for "*" as organization, one address per organization."""
        organization, *rest = pattern.segments
        if organization != "*":
            yield Address(pattern.segments)
            return
        root = self.registry.root.name
        for address, entry in self.desired.entries.items():
            if entry.kind == root:
                yield Address((*address.segments, *rest))

    # What an object was called.

    def addresses_of(self, identity: Identity) -> frozenset[Address]:
        """Return all addresses of an object, now and before, except those from commits before the base."""
        if identity not in self._addresses_by_object:
            self._addresses_by_object[identity] = frozenset(self._all_addresses(identity))
        return self._addresses_by_object[identity]

    def lines_of(self, identity: Identity) -> Mapping[Address, RecordedLine]:
        """Return the lines of an object in the present ids file, and other lines in that of the base."""
        return self._lines_by_object.get(identity, {})

    def addresses_in_commit(
        self, number: int, earlier_configuration: Desired, identity: Identity
    ) -> set[Address]:
        """Return the addresses of an object in the base (0) or in an earlier commit, by natural keys."""
        if number not in self._addresses_by_commit:
            known = (
                self.names.objects_of_base_entries
                if number == 0
                else self._objects_in_commit(number - 1, earlier_configuration)
            )
            found: dict[Identity, set[Address]] = defaultdict(set)
            for address, one in known.items():
                found[one].add(address)
            self._addresses_by_commit[number] = found
        return self._addresses_by_commit[number].get(identity, set())

    def addresses_before_base(
        self, identity: Identity, is_wanted: Callable[[Address], bool]
    ) -> frozenset[Address]:
        """Return the addresses of an object in the commits before the base with a `is_wanted` address."""
        found: set[Address] = set()
        for number, then in enumerate(self.base.earlier_configurations):
            if any(map(is_wanted, then.entries)):
                found |= {at for at, one in self._objects_in_commit(number, then).items() if one == identity}
        return frozenset(found)

    def _all_addresses(self, identity: Identity) -> Iterator[Address]:
        item, now = self.snapshot.objects[identity], self.names.address(identity)
        yield now
        yield from self._lines_by_object.get(identity, ())
        if identity in self.names.base_addresses:
            yield self.names.base_addresses[identity]
        if identity in self.names.declared:
            return
        place = now.list_address
        yield self.address_with_id(identity)
        kind = self.registry[item.kind]
        natural = item.fields.get(kind.key_field) if kind.key_field is not None else None
        if isinstance(natural, str):
            yield place.child(self.registry.fold_key(kind, natural))
        if item.parent is not None and item.parent in self.snapshot.objects:
            around = self.names.address(item.parent)
            inside = now.segments[len(around.segments) :]
            if inside and now.is_at_or_below(around):
                yield from (Address((*name.segments, *inside)) for name in self.addresses_of(item.parent))

    def address_with_id(self, identity: Identity) -> Address:
        """Return the address of an undeclared object with its id, which never means another object."""
        item, now = self.snapshot.objects[identity], self.names.address(identity)
        return now.list_address.unmanaged_child(self.names.label(item), item.id)

    # What has lost its entry.

    @cached_property
    def lost_entry_unfinished(self) -> Mapping[Identity, bool]:
        """The undeclared objects that lost their entry in a change that no apply has finished.

        The value says whether an entry with the address still exists, with a name that no live object has.
        The line of the object decides. For an object without a line, the git base decides, and if the ids
        file has no line at all, earlier commits: they have an entry of the object, and no entry at that
        address is live.
        """
        known = self.desired.entries.keys() | self.desired.unsupported.keys()
        records = self.snapshot.recorded_ids
        unmarked = [line for at, line in records.lines.items() if at not in known and not line.kept]
        found = {identity: False for line in unmarked for identity in self._objects_of_line(line)}
        gone = known - self.names.identities.keys()
        with_line = {line.id for line in records.lines.values()}
        for former in self._former_entries():
            for address, identity in former.items():
                without_line = self.snapshot.objects[identity].id not in with_line
                if without_line and (address not in known or address in gone):
                    found[identity] = found.get(identity, False) or address in gone
            if not records.organizations_without_lines:
                break
        return {one: entry_exists for one, entry_exists in found.items() if one not in self.names.declared}

    def _former_entries(self) -> Iterator[Mapping[Address, Identity]]:
        """Return the live objects of the entries of each known commit, the git base first."""
        lines = self.snapshot.recorded_ids.base_lines.values()
        by_line = {line.address: identity for line in lines for identity in self._objects_of_line(line)}
        yield {**self.names.objects_of_base_entries, **by_line}
        yield from (
            self._objects_in_commit(number, then)
            for number, then in enumerate(self.base.earlier_configurations)
        )

    # By lines and commits.

    @cached_property
    def _lines_by_object(self) -> Mapping[Identity, dict[Address, RecordedLine]]:
        found: dict[Identity, dict[Address, RecordedLine]] = defaultdict(dict)
        records = self.snapshot.recorded_ids
        for line in (*records.base_lines.values(), *records.lines.values()):
            for identity in self._objects_of_line(line):
                found[identity][line.address] = line
        return found

    def _objects_of_line(self, line: RecordedLine) -> Iterator[Identity]:
        if line.id in self._objects_by_id:
            kinds = {kind.name for kind in self._places.kinds(line.address)}
            yield from (identity for identity in self._objects_by_id[line.id] if identity[0] in kinds)

    @cached_property
    def _objects_by_id(self) -> Mapping[str, list[Identity]]:
        found: dict[str, list[Identity]] = defaultdict(list)
        for identity, item in self.snapshot.objects.items():
            found[item.id].append(identity)
        return found

    @cached_property
    def _places(self) -> PlaceTypes:
        return PlaceTypes(self.registry)

    def _objects_in_commit(self, number: int, earlier_configuration: Desired) -> Mapping[Address, Identity]:
        if number not in self._objects_by_commit:
            self._objects_by_commit[number] = match_earlier_entries(
                self.registry, earlier_configuration, self.desired, self.snapshot
            )
        return self._objects_by_commit[number]
