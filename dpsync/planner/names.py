"""Find the present and former names of entries and live objects.

`Hierarchy` walks up and down the hierarchy: entries as in the files, live objects as they were read. `Names`
returns the addresses and titles of live objects. `FormerNames` searches former names in the ids file, the git
base (the commit compared with), and earlier commits: `objects_at` returns the object of the first source that
knows an address, so that a permission applies to one object only; `addresses_of` returns the names of all
sources, so that a renamed object remains protected.
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
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Field, Kind, SingleEntry
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
        """Return kind and id of each ancestor of an entry, the nearest first.

        An ancestor that is not live has its address in braces instead of an id.
        """
        return [
            (ancestor.kind, self.live_id_or_placeholder(ancestor.address))
            for ancestor in self._ancestors(entry)
        ]

    def ancestor(self, entry: Entry, kind: str) -> Address | None:
        """Return the nearest ancestor of an entry with this kind; the parent for the kind `DIRECT_PARENT`."""
        if kind == DIRECT_PARENT:
            return entry.parent
        return next((ancestor.address for ancestor in self._ancestors(entry) if ancestor.kind == kind), None)

    def _ancestors(self, entry: Entry) -> Iterator[Entry]:
        """Yield the ancestors of an entry, the nearest first."""
        address = entry.parent
        while address is not None:
            ancestor = self.desired.entries[address]
            yield ancestor
            address = ancestor.parent

    def first_child(self, entry: Entry) -> Entry | None:
        """Return the first child of an entry; None if it has no children."""
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
        """The addresses of all entries, sorted for `at_or_below`."""
        return sorted(self.desired.entries)

    # Live objects.

    def live_ancestor(self, live: LiveObject, kind: str) -> Identity | None:
        """Return the nearest live ancestor of this kind; the parent for the kind `DIRECT_PARENT`."""
        if kind == DIRECT_PARENT:
            return live.parent
        return next((ancestor for ancestor in self.snapshot.ancestors(live) if ancestor[0] == kind), None)

    def live_ancestors_and_self(self, item: Entry | LiveObject) -> list[Identity]:
        """Return the identities of an entry or live object and of its live ancestors, the nearest first."""
        if isinstance(item, LiveObject):
            return [item.identity, *self.snapshot.ancestors(item)]
        live_id = self.snapshot.live_id(item.address)
        ancestors = [(kind, id) for kind, id in self.ancestor_ids(item) if not id.startswith("{")]
        return [(item.kind, live_id), *ancestors] if live_id else ancestors

    def contents(self, container: Identity) -> Iterator[LiveObject]:
        """Yield all live objects inside a container (a collection), at any depth."""
        waiting, seen = [container], {container}
        while waiting:
            for live in self._direct_contents[waiting.pop()]:
                if live.identity not in seen:
                    seen.add(live.identity)
                    waiting.append(live.identity)
                    yield live

    @cached_property
    def _direct_contents(self) -> dict[Identity, list[LiveObject]]:
        """The live objects directly inside each container, by the container fields of the objects."""
        contents: dict[Identity, list[LiveObject]] = defaultdict(list)
        for live in self.snapshot.objects.values():
            for container_field in self.registry[live.kind].fields:
                value = live.fields.get(container_field.name)
                if is_container_field(container_field) and isinstance(value, LiveId):
                    contents[container_field.type.referenced_kinds[0], value.id].append(live)
                    break
        return contents


def is_container_field(field: Field) -> bool:
    """Return whether a field names the container of an object, such as the collection of a space."""
    return field.is_parent_reference or (field.own_call is not None and bool(field.type.referenced_kinds))


def at_or_below(addresses: list[Address], address: Address) -> list[Address]:
    """Return the addresses of a sorted list that are at or below an address, by binary search."""
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
    hierarchy: Hierarchy
    _unmanaged: dict[Identity, Address] = field(default_factory=dict)

    @cached_property
    def declared(self) -> dict[Identity, Address]:
        """The address of each live object with an entry or a lookup.

        A lookup is an object that the files only name, such as a member, without an entry of its own.
        """
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
            for address, entry in self.desired.entries.items()
            if (identity := self.identity(address, entry))
        }

    def identity(self, address: Address, item: Entry | Lookup) -> Identity | None:
        """Return the live object of an entry, or of an object that the files only name; None without one."""
        id = self.snapshot.live_id(address)
        if id is None:
            return None
        parent = None
        if item.parent is not None:
            parent = self.desired.entries[item.parent].kind, self.snapshot.live_id(item.parent) or ""
        return self.registry[item.kind].identity_of(id, parent)

    def referenced_object(self, item: Entry | LiveObject, kind: str, id: str) -> Identity:
        """Return the identity of the object that an id in a field of `item` means.

        If ids of the kind are not unique (members), it is the object in the organization of `item`.
        """
        if kind not in self.registry or (target := self.registry[kind]).has_unique_id:
            return kind, id
        owner = next(
            (
                ancestor
                for ancestor in self.hierarchy.live_ancestors_and_self(item)
                if ancestor[0] in target.parents
            ),
            None,
        )
        return target.identity_of(id, owner)

    def address(self, identity: Identity) -> Address:
        """Return the address of a live object: of its entry, else by title (`acme/teams/[Sales]`).

        If several undeclared siblings have the title, the address contains the id: `acme/teams/[Sales~id]`.
        """
        if identity in self.declared:
            return self.declared[identity]
        if identity not in self._unmanaged:
            live = self.snapshot.objects[identity]
            address = self._list_address(live)
            if not isinstance(self.kind(live).shape, SingleEntry):  # else there is only one in each parent
                title = self._title(live)
                is_unique = self._title_counts[live.parent, self.kind(live).key, title] == 1
                address = address.unmanaged_child(title, None if is_unique else live.id)
            self._unmanaged[identity] = address
        return self._unmanaged[identity]

    def label(self, item: Entry | LiveObject) -> str:
        """Return the title of an entry or live object, for messages."""
        kind = self.kind(item)
        if isinstance(item, LiveObject):
            return self._title(item)
        value = item.fields.get(kind.title_field)
        return value if isinstance(value, str) else item.key

    def all_addresses(self, identity: Identity) -> set[Address]:
        """Return all addresses by which the policy may name a live object without an entry.

        These are the address by title (`[Title]`), by title and id (`[Title~id]`), and the address of its
        entry in the git base (the commit compared with).
        """
        live = self.snapshot.objects[identity]
        list_address, title = self._list_address(live), self._title(live)
        is_single = isinstance(self.kind(live).shape, SingleEntry)
        names = (
            {list_address}
            if is_single
            else {list_address.unmanaged_child(title), list_address.unmanaged_child(title, live.id)}
        )
        return names | ({self.base_addresses[identity]} if identity in self.base_addresses else set())

    def undeclared_matching(self, pattern: Pattern) -> Iterator[Identity]:
        """Yield the undeclared objects that match a pattern, among the objects that were read.

        A pattern with an id (`[Title~id]`) matches the object with this id even if the title differs.
        """
        _, tilde, id = pattern.last_segment.removesuffix("]").rpartition("~")
        for list_address, identities in self.snapshot.scopes.items():
            if not pattern.list_pattern.matches(list_address):
                continue
            for identity in identities:
                if identity in self.declared or identity not in self.snapshot.objects:
                    continue
                has_same_id = bool(tilde) and encode_segment(self.snapshot.objects[identity].id) == id
                if has_same_id or any(map(pattern.matches, self.all_addresses(identity))):
                    yield identity

    def _list_address(self, live: LiveObject) -> Address:
        """Return the address of the list that contains a live object, such as `acme/teams`.

        For a node inside another node of its tree, it is the address of the other node.
        """
        if live.parent is None:
            return Address(())
        kind = self.kind(live)
        parent = self.address(live.parent)
        is_nested = self.registry[live.parent[0]].key == kind.key and live.parent[0] in kind.parents
        return parent if is_nested and live.holder == live.parent else parent.child(*kind.key.split("."))

    def _title(self, live: LiveObject) -> str:
        """Return the title of a live object; its id if it has no title."""
        kind = self.kind(live)
        value = live.fields.get(kind.title_field)
        if isinstance(value, LiveId):
            return self._referenced_title(live, kind.field(kind.title_field).type.referenced_kinds, value.id)
        if isinstance(value, dict):  # translations: take the first language
            value = value[min(value)] if value else None
        return str(value) if value else live.id

    def _referenced_title(self, item: LiveObject, kinds: tuple[str, ...], id: str) -> str:
        """Return the name of the object to which the title field of `item` refers (the e-mail of a user).

        The name is written as in the files. The API answer with `item` contains the name as well
        (`referenced_title_path`), so the name is the same whether or not the referenced object was read.
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
            self.referenced_object(live, kind_name, value.id): live.referenced_title
            for live in self.snapshot.objects.values()
            if live.referenced_title is not None
            and isinstance(value := live.fields.get(self.kind(live).title_field), LiveId)
            for kind_name in self.kind(live).field(self.kind(live).title_field).type.referenced_kinds
        }

    @cached_property
    def _title_counts(self) -> Counter[tuple[Identity | None, str, str]]:
        """The number of undeclared objects for each parent, kind key and title."""
        return Counter(
            (live.parent, self.kind(live).key, self._title(live))
            for identity, live in self.snapshot.objects.items()
            if identity not in self.declared
        )

    def kind(self, item: Entry | LiveObject) -> Kind:
        """Return the kind of an entry or a live object."""
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
    """The former addresses of live objects, in the ids file, the git base, and earlier commits.

    Commits before the base are read only if they are needed, because that takes long.
    """

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
        """Return the live objects that an address meant, by the first source that knows the address.

        The sources are the ids file, its version in the git base (the commit compared with), the entries in
        the git base, and earlier commits. The result is empty if the object was deleted, None if no source
        knows the address.
        """
        records = self.snapshot.recorded_ids
        for lines in (records.lines, records.base_lines):
            if (line := lines.get(address)) is not None:
                return frozenset(self._objects_of_line(line))
        if address in self.names.objects_of_base_entries:
            return frozenset({self.names.objects_of_base_entries[address]})
        for number, configuration in enumerate(self.base.earlier_configurations):
            if address in configuration.entries and address in (
                objects := self._objects_in_commit(number, configuration)
            ):
                return frozenset({objects[address]})
        return None

    def undeclared_named_by(self, pattern: Pattern) -> frozenset[Identity]:
        """Return the undeclared objects that a pattern without wildcards means.

        For `[Title]`, these are all objects with the title; the caller decides what to do with several.
        """
        if pattern.last_segment.startswith("["):
            identities = {
                identity
                for identity in self.snapshot.objects
                if identity not in self.names.declared
                and any(map(pattern.matches, self.addresses_of(identity)))
            }
        else:
            identities = set().union(
                *(self.objects_at(address) or () for address in self.addresses_named_by(pattern))
            )
        return frozenset(identity for identity in identities if identity not in self.names.declared)

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
        organization, *rest_of_path = pattern.segments
        if organization != "*":
            yield Address(pattern.segments)
            return
        root = self.registry.root.name
        for address, entry in self.desired.entries.items():
            if entry.kind == root:
                yield Address((*address.segments, *rest_of_path))

    # What an object was called.

    def addresses_of(self, identity: Identity) -> frozenset[Address]:
        """Return all present and former addresses of an object, except those in commits before the base."""
        if identity not in self._addresses_by_object:
            self._addresses_by_object[identity] = frozenset(self._find_addresses(identity))
        return self._addresses_by_object[identity]

    def lines_of(self, identity: Identity) -> Mapping[Address, RecordedLine]:
        """Return the lines of an object in the present ids file and in that of the git base, by address."""
        return self._lines_by_object.get(identity, {})

    def addresses_in_commit(
        self, number: int, earlier_configuration: Desired, identity: Identity
    ) -> set[Address]:
        """Return the addresses of an object in one commit, found by natural keys; compute each commit once.

        `number` is 0 for the git base, the configuration in the commit compared with, and counts on towards
        earlier commits. `earlier_configuration` is the configuration in that commit.
        """
        if number not in self._addresses_by_commit:
            objects = (
                self.names.objects_of_base_entries
                if number == 0
                else self._objects_in_commit(number - 1, earlier_configuration)
            )
            addresses: dict[Identity, set[Address]] = defaultdict(set)
            for address, object_identity in objects.items():
                addresses[object_identity].add(address)
            self._addresses_by_commit[number] = addresses
        return self._addresses_by_commit[number].get(identity, set())

    def addresses_before_base(
        self, identity: Identity, is_wanted: Callable[[Address], bool]
    ) -> frozenset[Address]:
        """Return the addresses of an object in those earlier commits that contain an `is_wanted` address."""
        addresses: set[Address] = set()
        for number, configuration in enumerate(self.base.earlier_configurations):
            if any(map(is_wanted, configuration.entries)):
                objects = self._objects_in_commit(number, configuration)
                addresses |= {address for address, other in objects.items() if other == identity}
        return frozenset(addresses)

    def _find_addresses(self, identity: Identity) -> Iterator[Address]:
        """Yield all addresses of an object, present and former, without caching.

        These are the present address, those of its ids lines and of the git base, and for an undeclared
        object also those with its id and its natural key, and those under former addresses of its parent.
        """
        live, address = self.snapshot.objects[identity], self.names.address(identity)
        yield address
        yield from self._lines_by_object.get(identity, ())
        if identity in self.names.base_addresses:
            yield self.names.base_addresses[identity]
        if identity in self.names.declared:
            return
        list_address = address.list_address
        yield self.address_with_id(identity)
        kind = self.registry[live.kind]
        natural_key = live.fields.get(kind.key_field) if kind.key_field is not None else None
        if isinstance(natural_key, str):
            yield list_address.child(self.registry.fold_key(kind, natural_key))
        if live.parent is not None and live.parent in self.snapshot.objects:
            parent_address = self.names.address(live.parent)
            path_in_parent = address.segments[len(parent_address.segments) :]
            if path_in_parent and address.is_at_or_below(parent_address):
                yield from (
                    Address((*former_parent.segments, *path_in_parent))
                    for former_parent in self.addresses_of(live.parent)
                )

    def address_with_id(self, identity: Identity) -> Address:
        """Return the unambiguous address of an undeclared object, with its id (`acme/teams/[Title~id]`)."""
        live, address = self.snapshot.objects[identity], self.names.address(identity)
        return address.list_address.unmanaged_child(self.names.label(live), live.id)

    # What has lost its entry.

    @cached_property
    def lost_entry_unfinished(self) -> Mapping[Identity, bool]:
        """The live objects that lost their entry in a change that no apply has finished.

        The value is True if an entry at the former address still exists and has no live object: perhaps the
        entry stands for another object now. The ids line of an object tells its former address. For an object
        without a line, the git base does, and if the ids file has no line at all, earlier commits.
        """
        declared_addresses = self.desired.entries.keys() | self.desired.unsupported.keys()
        records = self.snapshot.recorded_ids
        lines_without_entry = [
            line for path, line in records.lines.items() if path not in declared_addresses and not line.kept
        ]
        lost = {identity: False for line in lines_without_entry for identity in self._objects_of_line(line)}
        not_live = declared_addresses - self.names.identities.keys()
        ids_with_line = {line.id for line in records.lines.values()}
        for former_entries in self._former_entries():
            for address, identity in former_entries.items():
                without_line = self.snapshot.objects[identity].id not in ids_with_line
                if without_line and (address not in declared_addresses or address in not_live):
                    lost[identity] = lost.get(identity, False) or address in not_live
            if not records.organizations_without_lines:
                break
        declared = self.names.declared
        return {identity: exists for identity, exists in lost.items() if identity not in declared}

    def _former_entries(self) -> Iterator[Mapping[Address, Identity]]:
        """Yield, for one commit after the other, the live objects by address of their entry in that commit.

        The git base (the commit compared with) is the first; its ids file has precedence over names.
        """
        lines = self.snapshot.recorded_ids.base_lines.values()
        by_line = {line.address: identity for line in lines for identity in self._objects_of_line(line)}
        yield {**self.names.objects_of_base_entries, **by_line}
        yield from (
            self._objects_in_commit(number, configuration)
            for number, configuration in enumerate(self.base.earlier_configurations)
        )

    # By lines and commits.

    @cached_property
    def _lines_by_object(self) -> Mapping[Identity, dict[Address, RecordedLine]]:
        """The lines of each object by address, in the present ids file and in that of the git base."""
        lines: dict[Identity, dict[Address, RecordedLine]] = defaultdict(dict)
        records = self.snapshot.recorded_ids
        for line in (*records.base_lines.values(), *records.lines.values()):
            for identity in self._objects_of_line(line):
                lines[identity][line.address] = line
        return lines

    def _objects_of_line(self, line: RecordedLine) -> Iterator[Identity]:
        """Yield the live objects that a line of the ids file means: those with its id and a fitting kind."""
        if line.id in self._objects_by_id:
            kinds = {kind.name for kind in self._place_types.kinds(line.address)}
            yield from (identity for identity in self._objects_by_id[line.id] if identity[0] in kinds)

    @cached_property
    def _objects_by_id(self) -> Mapping[str, list[Identity]]:
        """The live objects with each id; ids of different kinds can be equal."""
        identities: dict[str, list[Identity]] = defaultdict(list)
        for identity, live in self.snapshot.objects.items():
            identities[live.id].append(identity)
        return identities

    @cached_property
    def _place_types(self) -> PlaceTypes:
        """The kinds that can be at an address."""
        return PlaceTypes(self.registry)

    def _objects_in_commit(self, number: int, earlier_configuration: Desired) -> Mapping[Address, Identity]:
        """Return the live objects of the entries of an earlier commit, by natural keys; cached."""
        if number not in self._objects_by_commit:
            self._objects_by_commit[number] = match_earlier_entries(
                self.registry, earlier_configuration, self.desired, self.snapshot
            )
        return self._objects_by_commit[number]
