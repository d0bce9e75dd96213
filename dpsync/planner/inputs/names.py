"""What things are called: the addresses of live objects, the titles that people know them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import unquote

from msgspec import Struct, field

from dpsync.identity.match import remember
from dpsync.kinds.kind import Kind, Single
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern, encode
from dpsync.model.desired import NOT_ASKED, Base, Desired, Entry, Lookup
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId
from dpsync.planner.inputs.lineage import Lineage


def names_of(registry: Registry, desired: Desired, snapshot: Snapshot) -> Names:
    """The names of two sides, where nobody has asked what the git base had."""
    return Names(registry, desired, snapshot, NOT_ASKED, Lineage(registry, desired, snapshot))


class Names(Struct, frozen=True, dict=True):
    """The names of one pair of sides, and those that the git base had for the same objects."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot
    base: Base
    lineage: Lineage
    _unmanaged: dict[Identity, Address] = field(default_factory=dict)

    @cached_property
    def declared(self) -> dict[Identity, Address]:
        """The address of each recognised live object; looked-up ones are among them."""
        known = {identity: address for address, identity in self.identities.items()}
        for address, lookup in self.desired.lookups.items():
            if identity := self.identity(address, lookup):
                known[identity] = address
        return known

    @cached_property
    def identities(self) -> dict[Address, Identity]:
        """The identity of the object that each entry is; entries that are not live are not among them."""
        return {
            address: identity
            for address, resource in self.desired.resources.items()
            if (identity := self.identity(address, resource))
        }

    def identity(self, address: Address, item: Entry | Lookup) -> Identity | None:
        """The identity of the object that an entry is, or that was looked up; None when it is not live."""
        id = self.snapshot.bound(address)
        if id is None:
            return None
        owner = None
        if item.parent is not None:
            owner = self.desired.resources[item.parent].kind, self.snapshot.bound(item.parent) or ""
        return self.registry[item.kind].identity_of(id, owner)

    def named(self, item: Entry | LiveObject, kind: str, id: str) -> Identity:
        """The object that an id in a field of `item` means: of people, the one in its own organization."""
        if kind not in self.registry or (target := self.registry[kind]).own_id:
            return kind, id
        around = next((above for above in self.lineage.around(item) if above[0] in target.parents), None)
        return target.identity_of(id, around)

    def address(self, identity: Identity) -> Address:
        """The address of a live object: its entry's, or that of an unmanaged object."""
        if identity in self.declared:
            return self.declared[identity]
        if identity not in self._unmanaged:
            self._unmanaged[identity] = self._unmanaged_address(self.snapshot.objects[identity])
        return self._unmanaged[identity]

    def _unmanaged_address(self, item: LiveObject) -> Address:
        if isinstance(self.kind(item).shape, Single):
            return self._place(item)  # what it is in says which one it is
        title = self._title(item)
        alone = self._same_title[item.parent, self.kind(item).key, title] == 1
        return self._place(item).unmanaged(title, None if alone else item.id)

    def label(self, item: Entry | LiveObject) -> str:
        """The title by which people know an item."""
        kind = self.kind(item)
        if isinstance(item, LiveObject):
            return self._title(item)
        value = item.fields.get(kind.title)
        return value if isinstance(value, str) else item.key

    def every_address(self, identity: Identity) -> set[Address]:
        """Every address of an undeclared object: by title, by title and id, and the one in the git base."""
        item = self.snapshot.objects[identity]
        place, title = self._place(item), self._title(item)
        single = isinstance(self.kind(item).shape, Single)
        names = {place} if single else {place.unmanaged(title), place.unmanaged(title, item.id)}
        return names | ({self.earlier_addresses[identity]} if identity in self.earlier_addresses else set())

    def undeclared_matching(self, pattern: Pattern) -> Iterator[Identity]:
        """Yield the undeclared objects that match a pattern, among the objects that were read.

        A pattern with an id (`[Title~id]`) matches the object with this id even if the title differs.
        """
        _, tilde, id = pattern.last.removesuffix("]").rpartition("~")
        for place, identities in self.snapshot.scopes.items():
            if not pattern.place.matches(place):
                continue
            for identity in identities:
                if identity in self.declared or identity not in self.snapshot.objects:
                    continue
                same_id = bool(tilde) and encode(self.snapshot.objects[identity].id) == id
                if same_id or any(map(pattern.matches, self.every_address(identity))):
                    yield identity

    def _place(self, item: LiveObject) -> Address:
        if item.parent is None:
            return Address(())
        kind = self.kind(item)
        parent = self.address(item.parent)
        inside = self.registry[item.parent[0]].key == kind.key and item.parent[0] in kind.parents
        return parent if inside and item.holder == item.parent else parent.child(*kind.key.split("."))

    def _title(self, item: LiveObject) -> str:
        kind = self.kind(item)
        value = item.fields.get(kind.title)
        if isinstance(value, LiveId):
            return self._referenced_title(item, kind.field(kind.title).type.refers, value.id)
        if isinstance(value, dict):  # of terms in several languages the first one
            value = value[min(value)] if value else None
        return str(value) if value else item.id

    def _referenced_title(self, item: LiveObject, kinds: tuple[str, ...], id: str) -> str:
        """Return the name of the object to which the title field of `item` refers, as files write the name.

        The API answer with `item` contains the name as well (`title_at`), so the name is the same whether or
        not the referenced object was read.
        """
        targets = [
            (self.registry[kind], self.named(item, kind, id)) for kind in kinds if kind in self.registry
        ]
        for _, identity in targets:
            if declared := self.declared.get(identity):
                return unquote(declared.last)
        for kind, identity in targets:
            live = self.snapshot.objects.get(identity)
            if title := item.title or (self._title(live) if live is not None else None):
                return str(kind.field(kind.title).type.fold(title))
        return id

    @cached_property
    def referenced_titles(self) -> dict[Identity, str]:
        """Titles of the objects to which title fields of live objects refer, such as e-mails of members."""
        return {
            self.named(item, name, value.id): item.title
            for item in self.snapshot.objects.values()
            if item.title is not None and isinstance(value := item.fields.get(self.kind(item).title), LiveId)
            for name in self.kind(item).field(self.kind(item).title).type.refers
        }

    @cached_property
    def _same_title(self) -> Counter[tuple[Identity | None, str, str]]:
        """How many undeclared objects of one place have one title."""
        return Counter(
            (item.parent, self.kind(item).key, self._title(item))
            for identity, item in self.snapshot.objects.items()
            if identity not in self.declared
        )

    def kind(self, item: Entry | LiveObject) -> Kind:
        return self.registry[item.kind]

    # In the git base.

    @cached_property
    def remembered(self) -> dict[Address, Identity]:
        """The live objects that the entries of the git base are."""
        if self.base.desired is None:
            return {}
        return remember(self.registry, self.base.desired, self.desired, self.snapshot)

    @cached_property
    def earlier_addresses(self) -> dict[Identity, Address]:
        """The address that a live object has in the git base."""
        return {identity: address for address, identity in self.remembered.items()}

    def in_base(self, resource: Entry, live: LiveObject) -> Entry | None:
        """The entry that the git base has for the live object of an entry."""
        if self.base.desired is None:
            return None
        address = self.earlier_addresses.get(live.identity, resource.address)
        return self.base.desired.resources.get(address)
