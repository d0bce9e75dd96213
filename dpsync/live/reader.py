"""From the configuration and a reading client to a snapshot: what is live, and which entry it is.

Only what the configuration asks for is read. Identity is needed between reads (a site must be recognised
before its navigation can be read), so kinds are read and matched in the registry's order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpsync.client.client import ReadClient
from dpsync.client.errors import Forbidden, NotFound
from dpsync.identity.candidates import Past
from dpsync.identity.elsewhere import elsewhere
from dpsync.identity.match import match, no_such_id
from dpsync.identity.view import View
from dpsync.kinds.base import Kind, Single
from dpsync.kinds.base import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.base import NOT_ASKED, Base
from dpsync.model.desired import Desired, Resource, Scope
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.snapshot import Identity, LiveObject, Match, Snapshot
from dpsync.model.values import LiveId


def read_snapshot(
    client: ReadClient,
    registry: Registry,
    desired: Desired,
    parallelism: int = 4,
    base: Base = NOT_ASKED,
    known: Mapping[Address, str] | None = None,
) -> Snapshot:
    """Read and match. Raises ClientError for failed reads, DiagnosticError for what needs an answer.

    `known` is which id each address had after the last applies.
    """
    reader = _Reader(client, registry, desired, parallelism, base, known or {})
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
    base: Base
    known: Mapping[Address, str]
    sources: Sources = field(init=False)
    matches: dict[Address, Match] = field(default_factory=dict)
    objects: dict[Identity, LiveObject] = field(default_factory=dict)
    scopes: dict[Address, list[Identity]] = field(default_factory=dict)
    lanes: dict[Identity, tuple[Identity, ...]] = field(default_factory=dict)
    put_out: set[Identity] = field(default_factory=set)
    outputs: dict[Address, str | None] = field(default_factory=dict)
    transferred: set[Address] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = Sources(self.client, self.registry, self.parallelism)
        self._by_parent: dict[tuple[str, Address | None], list[Resource]] = defaultdict(list)
        for resource in self.desired.resources.values():
            self._by_parent[resource.kind, resource.parent].append(resource)
        self._earlier = self.base.desired.resources if self.base.desired else {}
        self._earlier_by_parent: dict[tuple[str, Address | None], dict[Address, Resource]] = defaultdict(dict)
        for address, resource in self._earlier.items():
            self._earlier_by_parent[resource.kind, resource.parent][address] = resource
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
        live = self.sources.whole(root, root.find.path)
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
        if kind.transfer is not None:
            self._elsewhere(kind)

    def _elsewhere(self, kind: Kind) -> None:
        """Entries that are not below their parent, but still below another one that is declared, too."""
        holders = [address for address in sorted(self.matches) if self._holds(address, kind)]
        if len(holders) < 2:
            return
        before: dict[str, list[Resource]] = defaultdict(list)
        for address, earlier in sorted(self._earlier.items()):
            if earlier.kind == kind.name and address not in self.desired.resources:
                before[earlier.key].append(earlier)
        asking = [
            (address, resource, [item for item in before[resource.key] if item.parent != resource.parent])
            for address, resource in sorted(self.desired.resources.items())
            if resource.kind == kind.name and address not in self.matches and resource.parent in self.matches
        ]
        asking = [item for item in asking if item[1].pin or item[1].previously or item[2]]
        if not asking:
            return
        bound = {match.id for address, match in self.matches.items() if self._is_of(address, kind)}
        free = [item for item in self._everywhere(kind, holders) if item.id not in bound]
        view = View(kind, self._bound, self._first_child, lambda _: [])
        for address, resource, was in asking:
            owner = self.matches[address.parent(kind.key)].id
            others = [item for item in free if item.parent is not None and item.parent[1] != owner]
            found = elsewhere(view, resource, others, was)
            if found is not None:
                self.matches[address] = found
                self.transferred.add(address)
                free = [item for item in free if item.id != found.id]

    def _everywhere(self, kind: Kind, holders: list[Address]) -> list[LiveObject]:
        """The objects of a kind below each of these."""
        sources = [self._source(kind, address) for address in holders]
        self.sources.fetch(sources)
        found = [item for source in sources for item in self.sources.objects[source.url]]
        found = [item for item in found if item.kind == kind.name and item.identity not in self.put_out]
        for item in found:
            self.objects.setdefault(item.identity, item)
        return found

    def _holds(self, address: Address, kind: Kind) -> bool:
        resource = self.desired.resources.get(address)
        return resource is not None and resource.kind in kind.parents

    def _is_of(self, address: Address, kind: Kind) -> bool:
        resource = self.desired.resources.get(address)
        return resource is not None and resource.kind == kind.name

    def pins_without_parent(self) -> None:
        """A pinned entry is never created, also not along with what should hold it."""
        for address, resource in sorted(self.desired.resources.items()):
            kind = self.registry[resource.kind]
            added = (
                resource.parent in self.matches
                and kind.creating(resource.pin, resource.fields) != kind.create
            )
            if resource.pin is not None and address not in self.matches and not added:
                self.diagnostics.append(no_such_id(self.registry[resource.kind], resource))
        self._stop(Exit.INVALID)

    def _parents(self, kind: Kind) -> list[Address]:
        """The bound objects below which this kind is declared or looked up, in the order of addresses."""
        named = {
            resource.parent for resource in self.desired.resources.values() if resource.kind == kind.name
        }
        named |= {scope.parent for scope in self.desired.scopes.values() if kind.name in scope.kinds}
        named |= {parent for name, parent in self._looked_up if name == kind.name}
        # What is on something else is lost when that is transferred: it is not there any more.
        there = self.matches.keys() - self.transferred
        return sorted(parent for parent in named if parent is not None and parent in there)

    def _needed(self) -> Iterable[Source]:
        for scope in self.desired.scopes.values():
            if scope.parent in self.matches and scope.parent not in self.transferred:
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
        wanted = self._by_parent[kind.name, parent]
        live += self._deleted(kind, parent, owner, source, wanted, live)
        self.objects |= {item.identity: item for item in live}
        self._note_scope(kind, parent, source, everything)
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
            earlier = self._earlier_by_parent.get((kind.name, parent), {})
            found = match(view, wanted, live, Past(earlier, self._earlier_first_child, self.known))
            self.matches |= found.matches
            self.diagnostics += found.diagnostics
        self._look_up(kind, parent, live)
        self._bind_outputs(kind, wanted)
        self._stop(Exit.INVALID)

    def _deleted(
        self,
        kind: Kind,
        parent: Address,
        owner: Identity,
        source: Source,
        wanted: list[Resource],
        live: list[LiveObject],
    ) -> list[LiveObject]:
        """Pinned objects that were deleted and can be brought back: asked for one by one."""
        if kind.restore is None:
            return []
        ids = {item.id for item in live}
        pins = sorted({resource.pin for resource in wanted if resource.pin and resource.pin not in ids})
        chain = self.chain(parent)
        found = self.sources.map(lambda pin: self.sources.deleted(kind, pin, owner, chain, source.url), pins)
        return [item for item in found if item is not None]

    def _tree_owner(self, kind: Kind, parent: Address) -> Address:
        """A tree hangs below its owner, however deep the node is."""
        at = parent
        if kind.in_tree:
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
        """The id that a reference means: what was put out, where the entry puts something out."""
        if address in self.outputs:
            return self.outputs[address]
        found = self.matches.get(address)
        return found.id if found else None

    def _first_child(self, resource: Resource) -> Resource | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def _earlier_first_child(self, resource: Resource) -> Resource | None:
        return self._earlier.get(resource.children[0]) if resource.children else None

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
        self._read_removed()
        return Snapshot(
            objects=self.objects,
            matches=self.matches,
            scopes={address: tuple(items) for address, items in self.scopes.items()},
            lanes=self.lanes,
            outputs=self.outputs,
            put_out=frozenset(self.put_out),
            transferred=frozenset(self.transferred),
            user=self._user(),
            requests=self.client.requests,
            platform=self.client.url,
        )

    def _read_removed(self) -> None:
        """Places that the git base declares and nobody does any more: what was there is still to be named.

        Nothing depends on it, so that a place which this token may not see is passed over.
        """
        for scope in self.base.desired.scopes.values() if self.base.desired else ():
            kind = self.registry[scope.kinds[0]]
            if scope.address in self.desired.scopes or scope.parent not in self.matches or kind.comes_along:
                continue
            source = self._source(kind, scope.parent)
            try:
                self.sources.fetch([source])
            except (Forbidden, NotFound):
                continue
            for item in self.sources.objects[source.url]:
                if item.identity not in self.put_out:
                    self.objects.setdefault(item.identity, item)

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
        return [id for id, _ in self.sources.named(url)]

    def _user(self) -> str | None:
        """Whose token it is; asked only where that person could be removed or demoted."""
        guarded = any(
            guard.own
            for scope in self.desired.scopes.values()
            for guard in (self.registry[name].guard for name in scope.kinds)
            if guard is not None
        )
        if not guarded or not self.registry.profile.has("GET", "/user"):
            return None
        return self.sources.own_id("/user")
