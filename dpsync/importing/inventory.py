"""Collect the live objects of an import, and name live objects as the files do.

`read_inventory` reads each list, tree and single (an object that its parent has exactly once) of the
organizations, level by level. An object that GitBook creates as the output of another one is left out.
A list that the token may not read, or that GitBook does not support, becomes an `UnreadableSource`.
`Naming` maps live objects to the keys of their entries in an existing configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Final

from msgspec import Struct, field

from dpsync.client.client import ReadClient
from dpsync.client.errors import ForbiddenError, NotFoundError
from dpsync.config.discovery import Files
from dpsync.kinds.address_patterns import live_container
from dpsync.kinds.kind import Kind, SingleEntry
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import AncestorIds, fill_path_template
from dpsync.live.sources import SourceReader
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId


def first_unused_name(wanted: str, is_taken: Callable[[str], bool], joint: str = "-") -> str:
    """Return the wanted name, such as `news`, or the first unused name of `news-2`, `news-3` and so on."""
    numbered = (f"{wanted}{joint}{number}" for number in count(2))
    return next(name for name in numbered if not is_taken(name)) if is_taken(wanted) else wanted


class Naming(Struct, frozen=True):
    """The configuration and the live objects, named by the keys of the configuration."""

    registry: Registry
    desired: Desired
    snapshot: Snapshot

    def live_object(self, resource: Entry) -> LiveObject | None:
        """Return the live object of an entry; None if there is none."""
        id = self.snapshot.live_id(resource.address)
        if id is None:
            return None
        parent = self.desired.entries[resource.parent] if resource.parent else None
        owner = (parent.kind, self.snapshot.live_id(parent.address) or "") if parent else None
        return self.snapshot.objects.get(self.registry[resource.kind].identity_of(id, owner))

    def reference_namer(self, referrer: Entry) -> Callable[[tuple[str, ...], str], str | None]:
        """Return a function that returns the key for a reference to a live object, given its kinds and id.

        `referrer` is the entry with the reference. The function knows the entries in its organization, and
        the objects without an entry to which the files refer (lookups). It returns None for other objects.
        """
        organization = referrer.address.segments[:1]

        def name(kinds: tuple[str, ...], id: str) -> str | None:
            for address, resource in self.desired.entries.items():
                if address.segments[:1] != organization:
                    continue
                own = resource.kind in kinds and self.snapshot.live_id(address) == id
                if own or self.snapshot.outputs.get(address) == id:
                    return self._reference_text(resource)
            for address, lookup in self.desired.lookups.items():
                if lookup.kind in kinds and self.snapshot.live_id(address) == id:
                    return lookup.key
            return None

        return name

    def _reference_text(self, resource: Entry) -> str:
        """Return the text of a reference to an entry: its key, for a nested navigation node `PARENT/KEY`."""
        kind = self.registry[resource.kind]
        parent = self.desired.entries.get(resource.parent) if resource.parent else None
        inside = parent is not None and isinstance(self.registry[parent.kind].shape, NodeShape)
        return (
            f"{parent.key}/{resource.key}"
            if parent and inside and isinstance(kind.shape, NodeShape)
            else resource.key
        )


class NamingWithFiles(Naming, frozen=True):
    """The configuration, the live objects and the files of the project."""

    files: Files


FORBIDDEN_REASON: Final = "the token has no read permission. Import with the token of an administrator."


class InventoryObject(Struct, eq=False):
    """A live object that an import read, with its parent. The key and address are set later.

    `holder` is the navigation node that directly contains this node. `pinned`: the entry gets a line `id: …`.
    """

    kind: Kind
    live: LiveObject
    parent: InventoryObject | None = None
    holder: InventoryObject | None = None
    nodes_inside: list[InventoryObject] = field(default_factory=list)
    """Nodes directly in this one, in order."""
    key: str = ""
    address: Address = field(default_factory=lambda: Address(()))
    pinned: bool = False

    @property
    def url_chain(self) -> AncestorIds:
        """Return the kinds and ids from this object up to the root, as URLs need them."""
        parent_chain = self.parent.url_chain if self.parent else ()
        return ((self.kind.name, self.live.id), *parent_chain)

    def with_ancestors(self) -> Iterable[InventoryObject]:
        """Yield this object and all its parents."""
        current: InventoryObject | None = self
        while current is not None:
            yield current
            current = current.parent


class UnreadableSource(Struct, frozen=True):
    """A list, tree or single (an object that its parent has exactly once) that could not be read, and why."""

    kind: Kind
    parent: InventoryObject
    why: str
    is_supported: bool = True
    """Whether the platform supports the request, perhaps with another token."""

    @property
    def address(self) -> Address:
        """Return the address of the unreadable list or single object in the files, such as `acme/sites`."""
        return self.parent.address.child(*self.kind.key.split("."))


class Inventory(Struct):
    """All objects that an import read.

    `outputs` has, by kind and id, the object that creates another object as its output: the platform itself
    creates outputs, so `objects` does not contain them.
    """

    objects: list[InventoryObject] = field(default_factory=list)
    outputs: dict[tuple[str, str], InventoryObject] = field(default_factory=dict)
    orders: dict[tuple[Identity, str], list[str]] = field(default_factory=dict)
    """The ids in live order, by object and name of the list order."""
    unreadable: list[UnreadableSource] = field(default_factory=list)
    _children: dict[int, list[InventoryObject]] = field(default_factory=dict)

    def objects_of_kind(self, kind: str) -> list[InventoryObject]:
        """Return the objects of one kind."""
        return [obj for obj in self.objects if obj.kind.name == kind]

    def ids_by_parent(self, kind: Kind, parent_field: str) -> dict[Identity | None, list[str]]:
        """Return the ids of a kind's objects in live order, by the object that contains them.

        `parent_field` is the field that refers to the containing object; None stands for the organization.
        """
        ids_by_parent: dict[Identity | None, list[str]] = {}
        for obj in self.objects_of_kind(kind.name):
            ids_by_parent.setdefault(live_container(kind, parent_field, obj.live), []).append(obj.live.id)
        return ids_by_parent

    def children(self, parent: InventoryObject, kinds: Iterable[Kind]) -> list[InventoryObject]:
        """Return the children of an object that are of these kinds."""
        names = {kind.name for kind in kinds}
        return [obj for obj in self._children.get(id(parent), []) if obj.kind.name in names]

    def index_children(self) -> None:
        """Index the objects by parent. Call this after everything is read."""
        self._children = {}
        for obj in self.objects:
            if obj.parent is not None:
                self._children.setdefault(id(obj.parent), []).append(obj)


def live_organizations(client: ReadClient, registry: Registry) -> list[LiveObject]:
    """Return the organizations that the token can read. Raises ClientError."""
    root = registry.root
    assert root.search_list is not None
    return [*SourceReader(client, registry, 1).read_parentless_list(root, root.search_list.path)]


def read_inventory(
    client: ReadClient,
    registry: Registry,
    named: Sequence[str],
    parallelism: int,
    full: bool,
) -> Inventory:
    """Read the organizations that are named by id or natural key, or all that the token can read.

    With `full`, settings of single navigation nodes are read, too, with one request for each node.
    """
    reader = _InventoryReader(client, registry, parallelism, full)
    level = reader.read_organizations(named)
    while level:
        reader.inventory.objects += level
        level = reader.read_children(level)
    reader.read_orders()
    reader.inventory.index_children()
    return reader.inventory


class _InventoryReader:
    """Reads the objects of organizations level by level into an inventory."""

    def __init__(self, client: ReadClient, registry: Registry, parallelism: int, full: bool) -> None:
        self.registry = registry
        self.full = full
        self.observer = client.observer
        self.sources = SourceReader(client, registry, parallelism)
        self.inventory = Inventory()

    def read_organizations(self, named: Sequence[str]) -> list[InventoryObject]:
        """Read the organizations with these ids or names; without names, all that the token can read.

        Raises DiagnosticError for a name that matches no organization.
        """
        root = self.registry.root
        assert root.search_list is not None
        listed = self.sources.read_parentless_list(root, root.search_list.path)
        keys = [key for key in root.natural_keys if isinstance(key, str)]
        missing = [
            name for name in named if not any(_is_named(organization, name, keys) for organization in listed)
        ]
        if missing or not listed:
            raise DiagnosticError([_no_organization_error(name) for name in missing or [""]], Exit.FAILED)
        return [
            InventoryObject(root, organization)
            for organization in listed
            if not named or any(_is_named(organization, name, keys) for name in named)
        ]

    def read_children(self, level: list[InventoryObject]) -> list[InventoryObject]:
        """Read all lists, trees and single objects whose parents are the objects in `level`, in parallel.

        Return the new objects, without outputs: objects that GitBook itself creates for another object, such
        as the space of a translation. Unreadable lists are added to the inventory.
        """
        lists_to_read = [
            (kind, parent)
            for kind in self.registry.in_dependency_order
            for parent in level
            if parent.kind.name in kind.parents and self._needs_request(kind, parent)
        ]
        self.observer.expect_reads(len(lists_to_read))

        def read(kind: Kind, parent: InventoryObject) -> tuple[LiveObject, ...] | UnreadableSource:
            """Return the objects of a kind below a parent, or why they cannot be read."""
            source = self.sources.source(kind, parent.live.identity, parent.url_chain)
            try:
                return self.sources.read(source)
            except NotFoundError:
                return UnreadableSource(kind, parent, "GitBook does not return this list", is_supported=False)
            except ForbiddenError:
                return UnreadableSource(kind, parent, FORBIDDEN_REASON)

        lists = self.sources.map_parallel(lambda pair: read(*pair), lists_to_read)
        children: list[InventoryObject] = []
        for (_, parent), objects in zip(lists_to_read, lists, strict=True):
            if isinstance(objects, UnreadableSource):
                self.inventory.unreadable.append(objects)
            else:
                children += self._found_objects(parent, objects)
        for obj in children:
            outputs = obj.kind.platform_work.outputs
            if outputs is None:
                continue
            id_field = next(field_ for field_ in obj.kind.fields if field_.response_path == outputs.id_field)
            value = obj.live.fields.get(id_field.name)
            if isinstance(value, LiveId):
                self.inventory.outputs[outputs.kind, value.id] = obj
        return [obj for obj in children if (obj.kind.name, obj.live.id) not in self.inventory.outputs]

    def _needs_request(self, kind: Kind, parent: InventoryObject) -> bool:
        """Return whether reading the objects of a kind below a parent takes a request of its own.

        A tree is read once for all kinds of its nodes. The settings of a node (a single object) are read only
        with `full`; otherwise they are added to the unreadable lists, as skipped.
        """
        if isinstance(parent.kind.shape, NodeShape):
            # The answer with a tree contains all nodes. The settings of a node (a single) would need one
            # request for each node, and are rare.
            if isinstance(kind.shape, SingleEntry) and self.full:
                return True
            if isinstance(kind.shape, SingleEntry):
                self.inventory.unreadable.append(
                    UnreadableSource(
                        kind,
                        parent,
                        f"skipped (one request for each {parent.kind.noun}). Import it with --full or --add.",
                    )
                )
            return not isinstance(kind.shape, NodeShape | SingleEntry)
        if not isinstance(kind.shape, NodeShape):
            return True
        first = next(node for node in self.registry.tree_kinds(kind.key) if parent.kind.name in node.parents)
        return kind is first

    def _found_objects(self, parent: InventoryObject, objects: Iterable[LiveObject]) -> list[InventoryObject]:
        """Return the objects of one list or tree below `parent`, each with its parent and its holder.

        The holder of a navigation node is the node that directly contains it. `objects` has each node after
        its holder.
        """
        objects_by_identity: dict[Identity, InventoryObject] = {parent.live.identity: parent}
        for live in objects:
            parent_object = objects_by_identity.get(live.parent or parent.live.identity, parent)
            holder = objects_by_identity.get(live.holder) if live.holder else None
            obj = InventoryObject(self.registry[live.kind], live, parent_object, holder)
            objects_by_identity[live.identity] = obj
            if isinstance(obj.kind.shape, NodeShape):
                (holder or parent_object).nodes_inside.append(obj)
        _, *new_objects = objects_by_identity.values()
        return new_objects

    def read_orders(self) -> None:
        """Record the live order of siblings outside of navigation trees.

        The order is that of the list that was read, unless the kind has a separate request for the order.
        """
        for kind in self.registry.in_dependency_order:
            for order in kind.list_orders:
                ordered = self.registry[order.item_kind]
                ids_by_holder = self.inventory.ids_by_parent(ordered, order.place_field)
                holders = [
                    obj
                    for obj in self.inventory.objects_of_kind(kind.name)
                    if obj.live.identity in ids_by_holder
                ]
                if order.live_order_read is None:
                    known = {
                        (holder.live.identity, order.name): ids_by_holder[holder.live.identity]
                        for holder in holders
                    }
                    self.inventory.orders |= known
                else:
                    self._read_orders(order.name, ordered, holders, order.live_order_read.path)

    def _read_orders(self, name: str, ordered: Kind, holders: list[InventoryObject], path: str) -> None:
        """Read the order of the objects in each of the holders, with one request per holder, in parallel.

        `name` is the name of the order, `ordered` the kind of the ordered objects, and `path` the path
        template of the request. An order that the token may not read is added to the unreadable lists.
        """
        lists = self.sources.map_parallel(lambda holder: self._read_order(holder, path), holders)
        for holder, ids in zip(holders, lists, strict=True):
            if ids is None:
                self.inventory.unreadable.append(
                    UnreadableSource(
                        ordered,
                        holder,
                        f"its order: {FORBIDDEN_REASON}",
                    )
                )
            else:
                self.inventory.orders[holder.live.identity, name] = ids

    def _read_order(self, holder: InventoryObject, path: str) -> list[str] | None:
        """Return the ids in the order of a list; None if the token may not read the order."""
        (_, id_), *parent_chain = holder.url_chain
        url = fill_path_template(self.registry, holder.kind, path, id_, parent_chain)
        try:
            return [id for id, _ in self.sources.read_ids_and_bodies(url)]
        except ForbiddenError:
            return None


def _is_named(organization: LiveObject, name: str, keys: list[str]) -> bool:
    """Return whether a name is the id of an organization, or its value in one of the fields `keys`."""
    return name == organization.id or any(name == organization.fields.get(key) for key in keys)


def _no_organization_error(name: str) -> Diagnostic:
    """Return the error that the token can read no organization with a name; "" for no organization at all."""
    if not name:
        return Diagnostic(
            "no-organization",
            "this token can read no organization",
            hint="check which user the token belongs to",
        )
    message = f'this token can read no organization "{name}"'
    return Diagnostic(
        "no-organization",
        message,
        hint="check the name of the organization, and which user the token belongs to",
    )
