"""Whether the platform is still what the plan rests on: asked again right before a write.

Lists and trees are read again before they are written to. A step whose object was changed since, or whose
object somebody else has made meanwhile, is not carried out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFound
from dpsync.identity.view import View
from dpsync.kinds.base import Kind
from dpsync.kinds.registry import Registry
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Resource
from dpsync.model.plan import Change
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.values import LiveId
from dpsync.planner.compare import object_digest


@dataclass(frozen=True)
class _Checked:
    """What a fresh read has shown, and how many writes had been sent by then."""

    writes: int
    stale: dict[str, str]


@dataclass
class Fresh:
    """Fresh reads against the snapshot. `ids` are the ids by address, growing while things are made."""

    client: ReadClient
    registry: Registry
    desired: Desired
    snapshot: Snapshot
    ids: dict[Address, str]
    sources: Sources = field(init=False)
    _checked: dict[str, _Checked] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.sources = Sources(self.client, self.registry, 1)

    def source(self, change: Change) -> Source | None:
        """Where the object of a change is read; None when its parent is not made yet."""
        kind = self.registry[change.kind]
        if kind.parent is None:
            # The organization itself: one object by its own URL.
            live = self.snapshot.objects[kind.name, str(change.id)]
            return Source(live.source, kind.name, None)
        chain = self._chain(change)
        if chain is None:
            return None
        if kind.in_tree:
            owner = self.registry.tree_owner(kind)
            while chain[0][0] != owner:
                chain = chain[1:]
        return self.sources.source(kind, chain[0], chain)

    def _chain(self, change: Change) -> list[Identity] | None:
        kind = self.registry[change.kind]
        if change.id is not None and kind.own_id:
            live = self.snapshot.objects.get((change.kind, change.id))
            return self.snapshot.above(live) if live else None
        chain: list[Identity] = []
        around: Address | None = Address.parse(change.address).parent(kind.key)
        if change.id is None:
            around = self.desired.resources[Address.parse(change.address)].parent
        while around is not None:
            resource = self.desired.resources[around]
            id = self.ids.get(around)
            if id is None:
                return None
            chain.append((resource.kind, id))
            around = resource.parent
        return chain

    def stale(self, source: Source, changes: Iterable[Change], writes: int = 0) -> dict[str, str]:
        """By address, why a change that is read here can no longer be carried out.

        `writes` is how many writes this apply has sent. A source is read again as long as others were sent
        since it was last read, until the first write to it: from then on it changes by our own doing.
        """
        with self._lock:
            lock = self._locks.setdefault(source.url, threading.Lock())
        with lock:
            checked = self._checked.get(source.url)
            if checked is None or (checked.writes != writes and source.url not in self._written):
                checked = _Checked(writes, self._compare(self.read(source), changes))
                self._checked[source.url] = checked
            return checked.stale

    def written(self, source: Source) -> None:
        """A step is about to write to what this source reads."""
        self._written.add(source.url)

    def read(self, source: Source) -> dict[Identity, LiveObject]:
        try:
            return {item.identity: item for item in self.sources.read(source)}
        except NotFound:
            return {}

    def _compare(self, now: dict[Identity, LiveObject], changes: Iterable[Change]) -> dict[str, str]:
        found: dict[str, str] = {}
        here = {(item.kind, item.id): item for item in now.values()}
        for change in changes:
            if change.id is None:
                if self._made_meanwhile(change, now):
                    found[change.address] = "somebody else has made it since the plan was made"
                continue
            live = here.get((change.kind, change.id))
            if live is None:
                if change.action != "delete" and not any(step.verb == "restore" for step in change.steps):
                    found[change.address] = "it is gone since the plan was made"
            elif object_digest(live, self._names(change)) != change.digest:
                found[change.address] = "it was changed since the plan was made"
        return found

    def _names(self, change: Change) -> set[str]:
        if change.action == "delete":
            return self.registry[change.kind].lasting
        resource = self.desired.resources[Address.parse(change.address)]
        return set(resource.fields)

    def _made_meanwhile(self, change: Change, now: dict[Identity, LiveObject]) -> bool:
        resource = self.desired.resources[Address.parse(change.address)]
        return bool(self.candidates(resource, now.values()))

    def candidates(self, resource: Resource, now: Iterable[LiveObject]) -> list[LiveObject]:
        """Objects that this entry would be, neither in the snapshot nor made by this apply."""
        kind = self.registry[resource.kind]
        taken = {
            id
            for address, id in self.ids.items()
            if (other := self.desired.resources.get(address))
            and other.kind == kind.name
            and other.parent == resource.parent
        }
        everything = list(now)
        new = [
            item
            for item in everything
            if item.kind == kind.name
            and item.identity not in self.snapshot.objects
            and item.id not in taken
            and (
                resource.parent is None
                or item.parent is None
                or item.parent[1] == self.ids.get(resource.parent)
            )
        ]
        view = View(
            kind,
            self._bound,
            lambda entry: self.desired.resources.get(entry.children[0]) if entry.children else None,
            lambda item: [other for other in everything if other.holder == item.identity],
        )
        for key in kind.identity:
            value = view.wanted(resource, key)
            hits = [item for item in new if value is not None and view.has(item, key, value)]
            if hits:
                best = max(view.near(resource, item) for item in hits)
                return [item for item in hits if view.near(resource, item) == best]
        return []

    def _bound(self, address: Address) -> str | None:
        """The id that a reference means: what was put out, where the entry puts something out."""
        resource = self.desired.resources.get(address)
        outputs = self.registry[resource.kind].outputs if resource is not None else None
        if outputs is None:
            return self.ids.get(address)
        return self.ids.get(address.child(outputs.kind)) or self.snapshot.outputs.get(address)

    def what_is_inside(self, kind: Kind, id: str, owner: LiveObject) -> list[str]:
        """What a holder contains right now: it is deleted only when this is empty."""
        chain = self.snapshot.above(owner)
        found: list[str] = []
        for other, item in self.registry.referring(kind.name):
            at = chain
            if other.in_tree:
                tree_owner = self.registry.tree_owner(other)
                while at[0][0] != tree_owner:
                    at = at[1:]
            source = self.sources.source(other, at[0], at)
            inside = (live for live in self.read(source).values() if live.kind == other.name)
            found += [live.id for live in inside if live.fields.get(item.name) == LiveId(id)]
        return found
