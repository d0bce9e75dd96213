"""Check right before a write that GitBook is still in the state that the plan was made for.

`FreshReads.check` reads again the list or tree that a step (request) writes to. It objects if the object of
the step was changed since the plan, or if somebody else created it. `FreshReads.possible_results` finds the
object that a request without a response may have created.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from dpsync.apply.task import LiveIds, StaleStep, StepTask
from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFoundError
from dpsync.identity.keys import NaturalKeys
from dpsync.identity.similarity import competing_entries, new_objects_matching
from dpsync.kinds.registry import Registry
from dpsync.live.reading_state import declares_separate_parts, with_separate_parts
from dpsync.live.sources import ReadSource, SourceReader
from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.planner.compare import object_digest

ObjectsByIdentity = dict[Identity, LiveObject]
_NOW_SYNCED: Final = "somebody connected this object to a repository (Git Sync) after the plan was made"


class _WriteTarget(Struct):
    """A list or tree that steps of the plan write to. Its lock is held during a check."""

    source: ReadSource
    changes: list[Change] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stale_reasons: dict[str, str] = field(default_factory=dict)
    """Why a change can no longer be carried out, by address."""
    writes_at_last_read: int | None = None
    """Number of writes that this apply had sent at the last read; None before the first read."""
    owner: LiveObject | None = None
    """The owner of a tree, if the platform may start to sync the owner with a repository (Git Sync)."""
    writing_steps: set[str] = field(default_factory=set)
    """The steps that this apply has sent or is about to send. After the first one, the list differs because
    of this apply, and is not read again."""


class FreshReads:
    """Reads the current state of what a plan writes to, and compares it with the plan's snapshot.

    Thread-safe.
    """

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        desired: Desired,
        snapshot: Snapshot,
        ids: LiveIds,
        changes: Iterable[Change],
        parallelism: int,
    ) -> None:
        """Collect the lists and trees to which the plan writes, to read them later. Sends no request."""
        self.registry = registry
        self.desired = desired
        self.snapshot = snapshot
        self.ids = ids
        self.sources = SourceReader(
            client, registry, parallelism, snapshot.objects.values(), snapshot.trees_without_wrapper
        )
        self._lock = threading.Lock()
        self._write_count = 0
        self._reads_of_owners: dict[str, tuple[int | None, ObjectsByIdentity]] = {}
        """Number of writes before the read, and the objects read, by URL of a list of tree owners."""
        self._owners_lock = threading.Lock()
        self._targets_by_url: dict[str, _WriteTarget] = {}
        self._targets_by_step: dict[str, _WriteTarget] = {}
        """The list or tree that a step writes to, by step id, for steps without an objection."""
        for change in changes:
            source = self.source(change) if change.steps else None
            if source is not None:
                owner = self._tree_owner(change)
                self._targets_by_url.setdefault(source.url, _WriteTarget(source, owner=owner)).changes.append(
                    change
                )

    # --- checks ---------------------------------------------------------------------------------------

    def find_stale_changes(self) -> dict[str, str]:
        """Return what changed since the plan was made, by address.

        Reads every list and tree that the plan writes to.
        """
        stale: dict[str, str] = {}
        for reasons in self.sources.map_parallel(
            self._refresh_target, [self._targets_by_url[url] for url in sorted(self._targets_by_url)]
        ):
            stale |= reasons
        return stale

    def check(self, task: StepTask) -> StaleStep | None:
        """Return an objection if the object that a step writes was changed since the plan, otherwise None.

        Once this apply has written to a list or tree, it differs because of that, and is not read again.
        """
        source = self.source(task.change)
        target = self._targets_by_url.get(source.url) if source is not None else None
        if target is None:
            return None
        with target.lock:
            if not target.writing_steps and target.writes_at_last_read != self._write_count:
                self._refresh_target(target)
            reason = target.stale_reasons.get(task.change.address)
            if reason is None:
                # Under the same lock, or another step's write could be taken for somebody else's.
                target.writing_steps.add(task.step.id)
                self._targets_by_step[task.step.id] = target
        return StaleStep("stale", reason) if reason is not None else None

    def note_not_sent(self, task: StepTask) -> None:
        """Note that a step was not sent, so its list or tree is unchanged."""
        target = self._targets_by_step.pop(task.step.id, None)
        if target is not None:
            with target.lock:
                target.writing_steps.discard(task.step.id)

    def note_sending(self) -> None:
        """Note that a write is about to be sent, so earlier reads may be out of date."""
        with self._lock:
            self._write_count += 1

    def _refresh_target(self, target: _WriteTarget) -> dict[str, str]:
        """Read a list or tree again, and return why changes in it are stale, by address."""
        target.writes_at_last_read = self._write_count
        target.stale_reasons = self._stale_changes(self.read(target.source), target.changes)
        if target.owner is not None:
            current = self._read_owners(target.owner).get(target.owner.identity)
            repository = current.synced_repository if current is not None else None
            if repository is not None and repository != target.owner.synced_repository:
                addresses = (change.address for change in target.changes)
                target.stale_reasons |= dict.fromkeys(addresses, _NOW_SYNCED)
        return target.stale_reasons

    def _stale_changes(self, objects: ObjectsByIdentity, changes: Iterable[Change]) -> dict[str, str]:
        """Return why changes are stale, by address: somebody else created, changed or deleted the object.

        `objects` has the current objects of the list or tree.
        """
        reasons: dict[str, str] = {}
        objects_by_id = {(item.kind, item.id): item for item in objects.values()}
        new = self._new_objects(objects)
        for change in changes:
            if change.id is None:
                entry = self.desired.entries[change.location]
                if new and new_objects_matching(
                    self._natural_keys(entry, objects), entry, self._unclaimed(entry, new)
                ):
                    reasons[change.address] = "somebody else created this object after the plan was made"
                continue
            live = objects_by_id.get((change.kind, change.id))
            if live is None:
                if change.action != "delete" and not any(step.verb == "restore" for step in change.steps):
                    reasons[change.address] = "this object was deleted after the plan was made"
            elif object_digest(self._with_parts(change, live), change.watched) != change.digest:
                planned = self.snapshot.objects.get(live.identity)
                is_now_synced = (
                    live.synced_repository is not None
                    and planned is not None
                    and live.synced_repository != planned.synced_repository
                )
                reasons[change.address] = (
                    _NOW_SYNCED if is_now_synced else "this object was changed after the plan was made"
                )
        return reasons

    # --- trees that a repository owns by now ----------------------------------------------------------

    def _tree_owner(self, change: Change) -> LiveObject | None:
        """Return the live site (or other owner) whose tree contains a node, to check it before a write.

        If somebody connects the site to a repository with Git Sync meanwhile, the repository sets the tree,
        and dpsync must not write to it. Return None if that cannot happen.
        """
        kind = self.registry[change.kind]
        if not kind.is_node:
            return None
        owner_kind = self.registry[self.registry.tree_owner(kind)]
        may_become_synced = owner_kind.git_sync is not None and owner_kind.git_sync.is_rechecked_before_write
        chain = self._parent_chain(change) if may_become_synced else None
        return next(
            (
                self.snapshot.objects.get(identity)
                for identity in chain or ()
                if identity[0] == owner_kind.name
            ),
            None,
        )

    def _read_owners(self, owner: LiveObject) -> ObjectsByIdentity:
        """Return the current objects of the list that contains the owner of a tree, such as all sites.

        The list is read at most once between two writes.
        """
        with self._owners_lock:
            write_count, objects = self._reads_of_owners.get(owner.source_url, (None, {}))
            if write_count != self._write_count:
                write_count = self._write_count
                objects = self.read(ReadSource(owner.source_url, owner.kind, owner.parent))
                self._reads_of_owners[owner.source_url] = write_count, objects
            return objects

    # --- reads ----------------------------------------------------------------------------------------

    def _with_parts(self, change: Change, live: LiveObject) -> LiveObject:
        """Return a live object with the separately read parts that its entry declares.

        The plan compared the object with these parts.
        """
        entry = self.desired.entries.get(change.location)
        chain = self._parent_chain(change)
        if entry is None or chain is None or not declares_separate_parts(self.registry[change.kind], entry):
            return live
        return with_separate_parts(self.sources, self.registry, entry, live, chain)

    def read(self, source: ReadSource) -> ObjectsByIdentity:
        """Return the current objects of a source by identity; {} if the parent does not exist."""
        try:
            return {item.identity: item for item in self.sources.read(source)}
        except NotFoundError:
            return {}

    def source(self, change: Change) -> ReadSource | None:
        """Return where the object of a change is read; None if its parent is not created yet."""
        kind = self.registry[change.kind]
        if kind.parent is None:
            # The organization itself: one object by its own URL.
            live = self.snapshot.objects[kind.name, str(change.id)]
            return ReadSource(live.source_url, kind.name, None)
        chain = self._parent_chain(change)
        if chain is None:
            return None
        return self.sources.source_below(kind, chain)

    def _parent_chain(self, change: Change) -> list[Identity] | None:
        """Return the parents of a change's object, from the direct parent up.

        None if one of them is not created yet.
        """
        kind = self.registry[change.kind]
        if change.id is not None and kind.has_unique_id:
            live = self.snapshot.objects.get((change.kind, change.id))
            return self.snapshot.ancestors(live) if live else None
        chain: list[Identity] = []
        address: Address | None = change.location.owner_of_list(kind.key)
        if change.id is None:
            address = self.desired.entries[change.location].parent
        while address is not None:
            entry = self.desired.entries[address]
            id = self.ids.get(address)
            if id is None:
                return None
            chain.append((entry.kind, id))
            address = entry.parent
        return chain

    # --- new objects ----------------------------------------------------------------------------------

    def possible_results(
        self, entry: Entry, objects: ObjectsByIdentity, id: str | None = None
    ) -> list[LiveObject]:
        """Return the new objects that an entry's request without a response may have created.

        Only a result with exactly one object tells what the request created. If another entry that is not
        created yet could be the object, too, the object is in the result several times, so it tells nothing.

        Args:
            id: The id of the created object, if it is known before the request.
        """
        if id is not None:
            return [live for live in objects.values() if (live.kind, live.id) == (entry.kind, id)]
        keys = self._natural_keys(entry, objects)
        matches = new_objects_matching(keys, entry, self._unclaimed(entry, self._new_objects(objects)))
        if len(matches) != 1:
            return matches
        not_created = (
            other
            for other in self.desired.entries.values()
            if (other.kind, other.parent) == (entry.kind, entry.parent)
            and other.address != entry.address
            and self.ids.get(other.address) is None
        )
        return matches * (1 + len(competing_entries(keys, matches[0], not_created)))

    def _new_objects(self, objects: ObjectsByIdentity) -> list[LiveObject]:
        """Return the objects that did not exist when the plan was made."""
        return [live for live in objects.values() if live.identity not in self.snapshot.objects]

    def _unclaimed(self, entry: Entry, new: list[LiveObject]) -> list[LiveObject]:
        """Return the new objects of an entry's kind and parent that no other entry of this apply created."""
        parent = self.ids.get(entry.parent) if entry.parent is not None else None
        return [
            item
            for item in new
            if item.kind == entry.kind
            and (entry.parent is None or item.parent is None or item.parent[1] == parent)
            and not any(
                (other := self.desired.entries.get(address))
                and (other.kind, other.parent) == (entry.kind, entry.parent)
                for address in self.ids.addresses(item.id)
            )
        ]

    def _natural_keys(self, keyed_entry: Entry, objects: ObjectsByIdentity) -> NaturalKeys:
        """Return the functions to compare the natural keys of an entry's kind with the current objects."""
        return NaturalKeys(
            self.registry[keyed_entry.kind],
            self._referenced_id,
            lambda entry: self.desired.entries.get(entry.children[0]) if entry.children else None,
            lambda item: [other for other in objects.values() if other.holder == item.identity],
        )

    def _referenced_id(self, address: Address) -> str | None:
        """Return the id that a reference to an entry contains: the id of its output if it has one."""
        entry = self.desired.entries.get(address)
        outputs = self.registry[entry.kind].platform_work.outputs if entry is not None else None
        if outputs is None:
            return self.ids.get(address)
        return self.ids.get(address.child(outputs.kind)) or self.snapshot.outputs.get(address)
