"""Whether the platform is still what the plan rests on: asked again right before a write.

Lists and trees are read again before they are written to. A step whose object was changed since, or whose
object somebody else has made meanwhile, is not carried out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from dpsync.apply.task import Ids, Objection, Task
from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFound
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.similarity import could_be, rivals
from dpsync.kinds.registry import Registry
from dpsync.live.reading import has_parts, with_parts
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.planner.compare import object_digest

Read = dict[Identity, LiveObject]
_SYNCED: Final = "somebody connected this object to a repository (Git Sync) after the plan was made"


class _Place(Struct):
    """One list or tree that steps write to. Its lock is held while it is checked."""

    source: Source
    changes: list[Change] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stale: dict[str, str] = field(default_factory=dict)
    """By address, why a change can no longer be carried out."""
    writes_before: int | None = None
    """How many writes this apply had sent when it was last read; None before the first reading."""
    owner: LiveObject | None = None
    """What a tree belongs to, where the platform may begin to keep that as a repository has it."""
    writing: set[str] = field(default_factory=set)
    """The steps that this apply has sent to it, or is about to send. Once there is one, it differs because of
    that, and is not read again."""


class Fresh:
    """Fresh reads against the snapshot that a plan rests on."""

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        desired: Desired,
        snapshot: Snapshot,
        ids: Ids,
        changes: Iterable[Change],
        parallelism: int,
    ) -> None:
        self.registry = registry
        self.desired = desired
        self.snapshot = snapshot
        self.ids = ids
        self.sources = Sources(client, registry, parallelism, snapshot.objects.values(), snapshot.unwrapped)
        self._lock = threading.Lock()
        self._sent = 0
        self._owners: dict[str, tuple[int | None, Read]] = {}
        """By list of owners of trees: what was in it, after how many writes."""
        self._owners_lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._writes: dict[str, _Place] = {}
        """By step that nothing objects to: what it writes to."""
        for change in changes:
            source = self.source(change) if change.steps else None
            if source is not None:
                owner = self._tree_owner(change)
                self._places.setdefault(source.url, _Place(source, owner=owner)).changes.append(change)

    # Checks.

    def preflight(self) -> dict[str, str]:
        """By address, what has changed since the plan was made. Reads every place that is written to."""
        stale: dict[str, str] = {}
        for found in self.sources.map(self._read_again, [self._places[url] for url in sorted(self._places)]):
            stale |= found
        return stale

    def unchanged(self, task: Task) -> Objection | None:
        """Whether what a step writes to is as it was planned."""
        source = self.source(task.change)
        place = self._places.get(source.url) if source is not None else None
        if place is None:
            return None
        with place.lock:
            if not place.writing and place.writes_before != self._sent:
                self._read_again(place)
            reason = place.stale.get(task.change.address)
            if reason is None:
                # In the same breath: else another step's write could be taken for somebody else's.
                place.writing.add(task.step.id)
                self._writes[task.step.id] = place
        return Objection("stale", reason) if reason is not None else None

    def not_sent(self, task: Task) -> None:
        """A step was not sent after all: what it would have written to is as it was."""
        place = self._writes.pop(task.step.id, None)
        if place is not None:
            with place.lock:
                place.writing.discard(task.step.id)

    def sending(self) -> None:
        """A write is about to be sent: what was read before may have changed."""
        with self._lock:
            self._sent += 1

    def _read_again(self, place: _Place) -> dict[str, str]:
        place.writes_before = self._sent
        place.stale = self._compare(self.read(place.source), place.changes)
        if place.owner is not None and self._is_synced_by_now(place.owner):
            place.stale |= dict.fromkeys((change.address for change in place.changes), _SYNCED)
        return place.stale

    def _compare(self, now: Read, changes: Iterable[Change]) -> dict[str, str]:
        found: dict[str, str] = {}
        here = {(item.kind, item.id): item for item in now.values()}
        new = self._new(now)
        for change in changes:
            if change.id is None:
                resource = self.desired.resources[change.location]
                if new and could_be(self._view(resource, now), resource, self._beside(resource, new)):
                    found[change.address] = "somebody else created this object after the plan was made"
                continue
            live = here.get((change.kind, change.id))
            if live is None:
                if change.action != "delete" and not any(step.verb == "restore" for step in change.steps):
                    found[change.address] = "this object was deleted after the plan was made"
            elif object_digest(self._with_parts(change, live), change.watched) != change.digest:
                planned = self.snapshot.objects.get(live.identity)
                begun = live.synced is not None and planned is not None and live.synced != planned.synced
                found[change.address] = (
                    _SYNCED if begun else "this object was changed after the plan was made"
                )
        return found

    # What has another owner by now.

    def _tree_owner(self, change: Change) -> LiveObject | None:
        """What the tree of a node belongs to, where it is live and may get a repository that decides it."""
        kind = self.registry[change.kind]
        if not kind.in_tree:
            return None
        around = self.registry[self.registry.tree_owner(kind)]
        begins = around.synced is not None and around.synced.asked_again
        chain = self._chain(change) if begins else None
        return next((self.snapshot.objects.get(one) for one in chain or () if one[0] == around.name), None)

    def _is_synced_by_now(self, owner: LiveObject) -> bool:
        """Whether the platform keeps it as a repository has it, and did not when the plan was made."""
        now = self._owners_now(owner).get(owner.identity)
        return now is not None and now.synced is not None and now.synced != owner.synced

    def _owners_now(self, owner: LiveObject) -> Read:
        """The list that an owner is in, read once for all of them between two writes."""
        with self._owners_lock:
            seen, found = self._owners.get(owner.source, (None, {}))
            if seen != self._sent:
                seen = self._sent
                found = self.read(Source(owner.source, owner.kind, owner.parent))
                self._owners[owner.source] = seen, found
            return found

    # Reads.

    def _with_parts(self, change: Change, live: LiveObject) -> LiveObject:
        """A live object with the parts of its values that need a request of their own, as the plan saw it."""
        resource = self.desired.resources.get(change.location)
        chain = self._chain(change)
        if resource is None or chain is None or not has_parts(self.registry[change.kind], resource):
            return live
        return with_parts(self.sources, self.registry, resource, live, chain)

    def read(self, source: Source) -> Read:
        try:
            return {item.identity: item for item in self.sources.read(source)}
        except NotFound:
            return {}

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
        return self.sources.below(kind, chain)

    def _chain(self, change: Change) -> list[Identity] | None:
        kind = self.registry[change.kind]
        if change.id is not None and kind.own_id:
            live = self.snapshot.objects.get((change.kind, change.id))
            return self.snapshot.above(live) if live else None
        chain: list[Identity] = []
        around: Address | None = change.location.parent(kind.key)
        if change.id is None:
            around = self.desired.resources[change.location].parent
        while around is not None:
            resource = self.desired.resources[around]
            id = self.ids.get(around)
            if id is None:
                return None
            chain.append((resource.kind, id))
            around = resource.parent
        return chain

    # What is new.

    def found(self, resource: Entry, now: Read, id: str | None = None) -> list[LiveObject]:
        """The new objects that an entry could be whose request got no answer; only one is an answer.

        One that another entry could be as well, which is not made yet either, counts as several. Where its
        `id` is known before, that one is meant.
        """
        if id is not None:
            return [item for item in now.values() if (item.kind, item.id) == (resource.kind, id)]
        view = self._view(resource, now)
        hits = could_be(view, resource, self._beside(resource, self._new(now)))
        if len(hits) != 1:
            return hits
        unmade = (
            other
            for other in self.desired.resources.values()
            if (other.kind, other.parent) == (resource.kind, resource.parent)
            and other.address != resource.address
            and self.ids.get(other.address) is None
        )
        return hits * (1 + len(rivals(view, hits[0], unmade)))

    def _new(self, now: Read) -> list[LiveObject]:
        """What was not there when the plan was made."""
        return [item for item in now.values() if item.identity not in self.snapshot.objects]

    def _beside(self, resource: Entry, new: list[LiveObject]) -> list[LiveObject]:
        """The new objects of an entry's kind and parent that no other entry has become."""
        parent = self.ids.get(resource.parent) if resource.parent is not None else None
        return [
            item
            for item in new
            if item.kind == resource.kind
            and (resource.parent is None or item.parent is None or item.parent[1] == parent)
            and not any(
                (other := self.desired.resources.get(address))
                and (other.kind, other.parent) == (resource.kind, resource.parent)
                for address in self.ids.addresses(item.id)
            )
        ]

    def _view(self, resource: Entry, now: Read) -> NaturalKeys:
        return NaturalKeys(
            self.registry[resource.kind],
            self._bound,
            lambda entry: self.desired.resources.get(entry.children[0]) if entry.children else None,
            lambda item: [other for other in now.values() if other.holder == item.identity],
        )

    def _bound(self, address: Address) -> str | None:
        """The id that a reference means. For an entry with an output, that is the id of the output."""
        resource = self.desired.resources.get(address)
        outputs = self.registry[resource.kind].platform.outputs if resource is not None else None
        if outputs is None:
            return self.ids.get(address)
        return self.ids.get(address.child(outputs.kind)) or self.snapshot.outputs.get(address)
