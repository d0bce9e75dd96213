"""From the configuration and a reading client to a snapshot: what is live, and which entry it is.

Only what the configuration asks for is read. Identity is needed between reads (a site must be recognised
before its navigation can be read), so kinds are read and matched in the registry's order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFound
from dpsync.identity.match import View, match, no_such_id
from dpsync.kinds.base import Kind, Single, Tree
from dpsync.kinds.base import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand
from dpsync.live.decode import decode, pointer
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Resource, Scope
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.snapshot import Identity, LiveObject, Match, Snapshot
from dpsync.model.values import LiveId


def read_snapshot(client: ReadClient, registry: Registry, desired: Desired, parallelism: int = 4) -> Snapshot:
    """Read and match. Raises ClientError for failed reads, DiagnosticError for what needs an answer."""
    reader = _Reader(client, registry, desired, parallelism)
    reader.organizations()
    for kind in registry.ordered:
        if kind.parent is not None:
            reader.kind(kind)
    reader.pins_without_parent()
    return reader.snapshot()


@dataclass
class _Reader:
    client: ReadClient
    registry: Registry
    desired: Desired
    parallelism: int
    sources: Sources = field(init=False)
    matches: dict[Address, Match] = field(default_factory=dict)
    objects: dict[Identity, LiveObject] = field(default_factory=dict)
    scopes: dict[Address, list[Identity]] = field(default_factory=dict)
    lanes: dict[Identity, tuple[Identity, ...]] = field(default_factory=dict)
    put_out: set[Identity] = field(default_factory=set)
    outputs: dict[Address, str | None] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = Sources(self.client, self.registry, self.parallelism)
        self._by_parent: dict[tuple[str, Address | None], list[Resource]] = defaultdict(list)
        for resource in self.desired.resources.values():
            self._by_parent[resource.kind, resource.parent].append(resource)
        needed = (lookup for lookup in self.desired.lookups.values())
        self._looked_up = {(lookup.kind, lookup.parent) for lookup in needed}

    # Organizations.

    def organizations(self) -> None:
        root = self.registry.root
        mine = self._by_parent[root.name, None]
        if any(resource.pin is None for resource in mine) and root.find is not None:
            self._find(root, [resource for resource in mine if resource.pin is None])
        pinned = [resource for resource in mine if resource.pin]
        found = self.sources.map(lambda resource: self._organization(root, resource), pinned)
        for resource, live in zip(pinned, found, strict=True):
            self._organization_is(resource, live, "pin")
        self._stop(Exit.FAILED)

    def _organization(self, root: Kind, resource: Resource) -> LiveObject | None:
        source = Source(self._own_url(root, str(resource.pin)), root.name, None)
        try:
            return self.sources.read(source)[0]
        except NotFound:
            return None

    def _find(self, root: Kind, mine: list[Resource]) -> None:
        assert root.find is not None
        key = root.identity[0]
        assert isinstance(key, str)
        # The list's items are whole, so nothing else is read for an organization that is found by its key.
        listed = self.sources.pages(root.find.path)
        live = [decode(root, item, None, self._own_url(root, str(pointer(item, root.id)))) for item in listed]
        for resource in mine:
            wanted = resource.fields.get(key)
            hit = next((item for item in live if item.fields.get(key) == wanted), None)
            self._organization_is(resource, hit, key)

    def _own_url(self, root: Kind, id: str) -> str:
        return expand(self.registry, root, root.read.path, id, ())

    def _organization_is(self, resource: Resource, live: LiveObject | None, by: str) -> None:
        if live is None:
            named = resource.pin or resource.fields.get(str(self.registry.root.identity[0]))
            self.diagnostics.append(
                Diagnostic(
                    "DP310",
                    f'there is no organization "{named}" that this token may see',
                    resource.where("id" if resource.pin else str(self.registry.root.identity[0])),
                    str(resource.address),
                    "check the id and whose token it is; an organization is never created",
                )
            )
            return
        self.objects[live.identity] = live
        self.matches[resource.address] = Match(live.id, by)

    # Everything below an organization.

    def kind(self, kind: Kind) -> None:
        """Read what is known to be needed by now, then match the entries of this kind."""
        self.sources.fetch(self._needed())
        self._put_out()
        for parent in self._parents(kind):
            self._match(kind, parent)

    def pins_without_parent(self) -> None:
        """A pinned entry is never created, also not along with what should hold it."""
        for address, resource in sorted(self.desired.resources.items()):
            if resource.pin is not None and address not in self.matches:
                self.diagnostics.append(no_such_id(self.registry[resource.kind], resource))
        self._stop(Exit.INVALID)

    def _parents(self, kind: Kind) -> list[Address]:
        """The bound objects below which this kind is declared or looked up, in the order of addresses."""
        named = {
            resource.parent for resource in self.desired.resources.values() if resource.kind == kind.name
        }
        named |= {scope.parent for scope in self.desired.scopes.values() if kind.name in scope.kinds}
        named |= {parent for name, parent in self._looked_up if name == kind.name}
        return sorted(parent for parent in named if parent is not None and parent in self.matches)

    def _needed(self) -> Iterable[Source]:
        for scope in self.desired.scopes.values():
            if scope.parent in self.matches:
                yield self._source(self.registry[scope.kinds[0]], scope.parent)
                for kind in self._putting_out(scope):
                    yield self._source(kind, scope.parent)
        for name, parent in self._looked_up:
            if parent in self.matches:
                yield self._source(self.registry[name], parent)

    def _putting_out(self, scope: Scope) -> list[Kind]:
        """Kinds whose outputs lie in this scope: unless they are known, their results look like strangers."""
        owner = self._resource(scope.parent).kind
        return [
            kind
            for kind in self.registry.children(owner)
            if kind.outputs and kind.outputs.kind in scope.kinds and kind.name not in scope.kinds
        ]

    def _put_out(self) -> None:
        """Note what belongs to something else, before any of its kind is matched."""
        for kind in self.registry.ordered:
            if kind.outputs is None:
                continue
            field = next(item for item in kind.fields if item.source == kind.outputs.read)
            for item in (item for objects in self.sources.objects.values() for item in objects):
                value = item.fields.get(field.name) if item.kind == kind.name else None
                if isinstance(value, LiveId):
                    self.put_out.add((kind.outputs.kind, value.id))

    def _source(self, kind: Kind, parent: Address) -> Source:
        owner = self._resource(parent)
        identity = (owner.kind, self.matches[parent].id)
        return self.sources.source(kind, identity, self.chain(parent))

    def chain(self, address: Address) -> Chain:
        chain: list[tuple[str, str]] = []
        around: Address | None = address
        while around is not None:
            resource = self._resource(around)
            chain.append((resource.kind, self.matches[around].id))
            around = resource.parent
        return chain

    def _resource(self, address: Address) -> Resource:
        return self.desired.resources[address]

    def _match(self, kind: Kind, parent: Address) -> None:
        owner = (self._resource(parent).kind, self.matches[parent].id)
        source = self._source(kind, self._tree_owner(kind, parent))
        everything = self.sources.objects[source.url]
        live = [
            item
            for item in everything
            if item.kind == kind.name and item.parent == owner and item.identity not in self.put_out
        ]
        self.objects |= {item.identity: item for item in live}
        self._note_scope(kind, parent, source, everything)
        wanted = self._by_parent[kind.name, parent]
        if isinstance(kind.shape, Single):
            self.matches |= {
                resource.address: Match(item.id, "place") for resource in wanted for item in live[:1]
            }
        else:
            view = View(
                kind,
                self._bound,
                self._first_child,
                lambda item: [o for o in everything if o.holder == item.identity],
            )
            found = match(view, wanted, live)
            self.matches |= found.matches
            self.diagnostics += found.diagnostics
        self._look_up(kind, parent, live)
        self._bind_outputs(kind, wanted)
        self._stop(Exit.INVALID)

    def _tree_owner(self, kind: Kind, parent: Address) -> Address:
        """A tree hangs below its owner, however deep the node is."""
        at = parent
        if isinstance(kind.read, Tree):
            owner = self.registry.tree_owner(kind)
            while self._resource(at).kind != owner:
                above = self._resource(at).parent
                assert above is not None
                at = above
        return at

    def _note_scope(
        self, kind: Kind, parent: Address, source: Source, everything: tuple[LiveObject, ...]
    ) -> None:
        scope = self.desired.scopes.get(parent.child(*kind.key.split(".")))
        if scope is None:
            return
        known = self.scopes.setdefault(scope.address, [])
        if known:
            return
        known += [item.identity for item in everything if item.identity not in self.put_out]
        self.objects |= {item.identity: item for item in everything if item.identity not in self.put_out}
        if isinstance(kind.shape, NodeShape) and source.owner is not None:
            lanes: dict[Identity, list[Identity]] = defaultdict(list)
            for item in everything:
                lanes[item.holder or source.owner].append(item.identity)
            self.lanes |= {key: tuple(items) for key, items in lanes.items()}

    def _bound(self, address: Address) -> str | None:
        found = self.matches.get(address)
        return found.id if found else None

    def _first_child(self, resource: Resource) -> Resource | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def _look_up(self, kind: Kind, parent: Address, live: list[LiveObject]) -> None:
        """Bind what is named by its natural key without being declared."""
        for lookup in self.desired.lookups.values():
            if lookup.kind != kind.name or lookup.parent != parent or kind.natural is None:
                continue
            fold = kind.field(kind.natural).type.fold
            hit = next((item for item in live if fold(item.fields.get(kind.natural)) == lookup.key), None)
            if hit is not None:
                self.matches[lookup.address] = Match(hit.id, kind.natural)
                continue
            message = f'there is no {kind.noun} "{lookup.key}" on the platform'
            hint = f"invite them, or declare {kind.key}: to see who is missing"
            self.diagnostics.append(Diagnostic("DP304", message, lookup.span, str(lookup.address), hint))

    def _bind_outputs(self, kind: Kind, wanted: list[Resource]) -> None:
        if kind.outputs is None:
            return
        field = next(item for item in kind.fields if item.source == kind.outputs.read)
        for resource in wanted:
            found = self.matches.get(resource.address)
            value = self.objects[kind.name, found.id].fields.get(field.name) if found else None
            self.outputs[resource.address] = value.id if isinstance(value, LiveId) else None

    def _stop(self, code: Exit) -> None:
        if self.diagnostics:
            raise DiagnosticError(self.diagnostics, code)

    # The end.

    def snapshot(self) -> Snapshot:
        self._read_orders()
        return Snapshot(
            objects=self.objects,
            matches=self.matches,
            scopes={address: tuple(items) for address, items in self.scopes.items()},
            lanes=self.lanes,
            outputs=self.outputs,
            user=self._user(),
            requests=self.client.requests,
        )

    def _read_orders(self) -> None:
        """The present order where an order is declared and no tree has it: one list per holding object."""
        for kind in self.registry.ordered:
            order = kind.order
            if order is None or order.read is None or order.within is None or order.field is None:
                continue
            holders = [
                resource
                for resource in self.desired.resources.values()
                if resource.kind in kind.field(order.within).type.refers
                and order.field in resource.fields
                and resource.address in self.matches
            ]
            lists = self.sources.map(lambda holder, read=order.read: self._order(holder, read.path), holders)
            for holder, ids in zip(holders, lists, strict=True):
                self.lanes[holder.kind, self.matches[holder.address].id] = tuple(
                    (kind.name, id) for id in ids
                )

    def _order(self, holder: Resource, path: str) -> list[str]:
        kind = self.registry[holder.kind]
        chain = self.chain(holder.address)
        url = expand(self.registry, kind, path, chain[0][1], chain[1:])
        return [str(pointer(item, "id")) for item in self.sources.pages(url)]

    def _user(self) -> str | None:
        """Whose token it is; asked only where that person could be removed or demoted."""
        guarded = any(
            guard.own
            for scope in self.desired.scopes.values()
            for guard in (self.registry[name].guard for name in scope.kinds)
            if guard is not None
        )
        if not guarded:
            return None
        return str(pointer(self.client.get("/user"), "id"))
