"""Check, right before a delete, that it deletes what the plan shows and nothing else.

`DeleteChecks.check` reads the lists of the object to delete (team members, site redirects) right before
its request. Lists that concern many deletes (site navigations, roles on spaces) are read once before the
first delete, after every other write, and again after as many deletes as there are such lists, at least
`READ_INTERVAL`. So it misses an object that another client adds within one batch, or between a read and the
request: the API has no conditional deletes. The contents of an object that can be restored (a space) are not
read again, because they are restored with the object.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dpsync.apply.task import StaleStep, StepTask
from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFoundError
from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import DeleteEvidenceReader
from dpsync.live.sources import ReadSource
from dpsync.model.address import Address, FieldAddress
from dpsync.model.desired import Desired
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.planner.deletions import Cascade, Loss, find_cascade, referenced_ids
from dpsync.planner.history import Names, names_without_base

READ_INTERVAL: Final = 100
"""Minimum number of deletes for which one read of the shared lists is valid."""


class DeleteChecks:
    """Checks of the deletes of one plan. Thread-safe."""

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        desired: Desired,
        snapshot: Snapshot,
        plan: Plan,
        parallelism: int,
    ) -> None:
        self._client, self._registry = client, registry
        self._desired = desired.without_unsupported(snapshot.not_readable, snapshot.not_readable_fields)
        self._snapshot, self._parallelism = snapshot, parallelism
        self._names = names_without_base(registry, self._desired, snapshot)
        self._lock = threading.Lock()
        self._written_fields = {
            (change.address, item.field) for change in plan.changes for item in change.differences
        }
        self._has_early_deletes = any(
            step.phase == "clear" for change in plan.changes for step in change.steps
        )
        self._roots = self._deleted_objects(plan)
        self._changed_before_delete = {
            self._roots[change.address]
            for change in plan.changes
            if change.address in self._roots and any(step.verb != "delete" for step in change.steps)
        }
        self._cascade = self._planned_cascade(plan)
        self._sent_deletes: set[Identity] = set()
        """Objects whose delete was sent or is about to be sent."""
        self._stale_reasons: Mapping[Identity, str] | None = None
        """Why a delete is stale, by object; None if the shared lists must be read again."""
        self._deletes_until_next_read = 0
        """Number of further deletes for which the last read of the shared lists is valid."""
        self._objects_by_source: dict[str, set[Identity]] = defaultdict(set)
        for item in snapshot.objects.values() if self._roots else ():
            self._objects_by_source[item.source_url].add(item.identity)
        self._evidence_reader = DeleteEvidenceReader(client, registry, snapshot, parallelism)

    def _deleted_objects(self, plan: Plan) -> dict[str, Identity]:
        """Return the live object of each delete, by address."""
        deleted = {
            (change.kind, change.id): set[str]()
            for change in plan.changes
            if any(step.verb == "delete" for step in change.steps)
        }
        for change in plan.changes:
            if (change.kind, change.id) in deleted:
                deleted[change.kind, change.id].add(change.address)
        found = {}
        for identity, item in self._snapshot.objects.items() if deleted else ():
            addresses = deleted.get((item.kind, item.id))
            if addresses and (address := str(self._names.address(identity))) in addresses:
                found[address] = identity
        return found

    def _planned_cascade(self, plan: Plan) -> Cascade:
        """Return what the plan's deletes remove by cascade."""
        made = (change.location for change in plan.changes if change.action == "create")
        holders = {self._desired.entries[address].holder for address in made}

        def receives_new_object(live: LiveObject) -> bool:
            address = self._names.declared.get(live.identity)
            return address is not None and address in holders

        return find_cascade(self._names, self._roots.values(), self._is_written, receives_new_object)

    def _is_written(self, live: LiveObject, item: Field) -> bool:
        """Return whether the plan writes a field of an object."""
        return (str(self._names.declared.get(live.identity)), item.name) in self._written_fields

    # --- the check ------------------------------------------------------------------------------------

    def check(self, task: StepTask) -> StaleStep | None:
        """Return an objection if a delete would remove anything else than the plan shows, otherwise None.

        Call this before every step, because a write of any step makes earlier reads out of date.
        """
        root = self._roots.get(task.change.address)
        if task.step.verb != "delete" or root is None:
            if task.step.phase != "expose":  # exposing steps run with the deletes and do not affect them
                with self._lock:
                    self._stale_reasons = None
            return None
        with self._lock:
            if self._stale_reasons is None or not self._deletes_until_next_read:
                self._stale_reasons = self._read_shared_lists()
            reason = self._stale_reasons.get(root)
        inside = {} if reason is not None else self._read_contents(root)
        with self._lock:
            reason = reason or self._content_difference(inside)
            if reason is not None:
                return StaleStep("stale", reason)
            self._deletes_until_next_read = max(0, self._deletes_until_next_read - 1)
            self._sent_deletes.add(root)
        return None

    # --- the object's own lists -----------------------------------------------------------------------

    def _read_contents(self, root: Identity) -> dict[str, dict[Identity, LiveObject]]:
        """Return the current objects in each list of the deleted object and of its cascade, by URL."""
        along = [identity for identity, name in self._cascade.losses_by_root.get(root, ()) if not name]
        objects = [self._snapshot.objects[identity] for identity in (root, *along)]
        own = [item for item in objects if self._registry[item.kind].lifecycle.restore is None]
        found = {
            source.url: self._read_list(source)
            for item in own
            for source in self._evidence_reader.content_sources(item)
        }
        return {url: now for url, now in found.items() if now is not None}

    def _read_list(self, source: ReadSource) -> dict[Identity, LiveObject] | None:
        """Return the current objects of a list; None if the parent of the list does not exist any more."""
        try:
            return {item.identity: item for item in self._evidence_reader.sources.read(source)}
        except NotFoundError:
            return None

    def _content_difference(self, inside: Mapping[str, Mapping[Identity, LiveObject]]) -> str | None:
        """Return the first difference between the current contents and the plan, as a sentence."""
        for url, now in inside.items():
            then = self._objects_by_source[url]
            for identity in sorted(now.keys() - then - self._snapshot.output_identities):
                return _not_in_plan(str(self._address_of_new_object(now[identity])))
            for identity in sorted(then - now.keys()):
                if not self._is_deleted_by_apply((identity, "")):
                    return _kept_now(str(self._names.address(identity)))
            for identity in sorted(then & now.keys()):
                if self._is_changed_since_plan(now[identity]):
                    return _changed_since_plan(str(self._names.address(identity)))
        return None

    def _address_of_new_object(self, item: LiveObject) -> Address:
        """Return the address of an object that the plan did not know."""
        snapshot = replace(self._snapshot, objects={**self._snapshot.objects, item.identity: item})
        return names_without_base(self._registry, self._desired, snapshot).address(item.identity)

    # --- the shared lists -----------------------------------------------------------------------------

    def _read_shared_lists(self) -> dict[Identity, str]:
        """Read the shared lists again, and return why deletes are stale, by object."""
        left = set(self._roots.values()) - self._sent_deletes
        around = DeleteEvidenceReader(
            self._client, self._registry, self._snapshot, self._parallelism, again=True
        )
        found = Cascade(frozenset(left))
        while around.read_dependents([*left, *found.objects], with_contents=False):
            names = names_without_base(self._registry, self._desired, around.snapshot)
            found = find_cascade(names, left, self._may_still_be_written, lambda _: False)
        self._deletes_until_next_read = max(READ_INTERVAL, len(around.sources.objects))
        return self._stale_deletes(around.snapshot, found)

    def _may_still_be_written(self, live: LiveObject, item: Field) -> bool:
        """Return whether this apply may still write a field: early deletes come before other writes."""
        return self._has_early_deletes and self._is_written(live, item)

    def _stale_deletes(self, now: Snapshot, cascade: Cascade) -> dict[Identity, str]:
        """Return why deletes are stale, by object: compare the current cascade with the planned one."""
        names = names_without_base(self._registry, self._desired, now)
        # An object that somebody else deleted meanwhile is no reason to stop: its delete is a 404.
        there = {root for root in cascade.roots if root in now.objects}
        stale: dict[Identity, str] = {}
        for identity, url in now.delete_evidence.unreadable_dependents.items():
            for root in _roots_of(cascade, identity) & there:
                stale[root] = (
                    "this token can no longer read the objects that GitBook would also delete: "
                    f"GET {url} is not allowed"
                )
        for root in there:
            if self._is_changed_since_plan(now.objects[root]):
                stale[root] = "this object was changed after the plan was made"
        for lost in cascade.all_losses:
            if lost not in self._cascade.roots_by_loss:
                for root in cascade.roots_by_loss[lost] & there:
                    stale.setdefault(root, _not_in_plan(_loss_text(names, lost)))
        for lost in self._cascade.all_losses:
            if lost not in cascade.roots_by_loss and not self._is_deleted_by_apply(lost):
                for root in self._cascade.roots_by_loss[lost] & there:
                    stale.setdefault(root, _kept_now(_loss_text(self._names, lost)))
        for identity in self._cascade.objects:
            if identity in cascade.objects and self._is_changed_since_plan(now.objects[identity]):
                for root in cascade.roots_by_loss[identity, ""] & there:
                    stale.setdefault(root, _changed_since_plan(_loss_text(self._names, (identity, ""))))
        for root, inside in cascade.contents_kept_inside.items():
            left = sorted(
                str(names.address(item.identity))
                for item in inside
                if not self._delete_was_sent(item.identity)
            )
            if left:
                stale.setdefault(root, f"this object is not empty: {', '.join(left)}")
        return stale

    def _is_changed_since_plan(self, live: LiveObject) -> bool:
        """Return whether a deleted object was changed since the plan, for example renamed or moved.

        Changes by this apply do not count: a flag that only one object can have and that moved to another
        object, the name of an object that was deleted, and the fields that it writes. Values with parts that
        have their own request are not compared.
        """
        then, kind = self._snapshot.objects[live.identity], self._registry[live.kind]
        if live.identity in self._changed_before_delete:
            return False
        for name in kind.lasting_fields:
            item = kind.field(name)
            before, after = then.fields.get(name), live.fields.get(name)
            if before == after or item.exclusive_within is not None:
                continue
            if item.separate_read_paths or self._is_written(then, item):
                continue
            meant = {
                self._names.referenced_object(then, one, id)
                for one in item.referenced_kinds
                for id in referenced_ids(item, before)
            }
            if not any(self._is_deleted_by_apply((one, "")) for one in meant):
                return True
        return False

    def _is_deleted_by_apply(self, lost: Loss) -> bool:
        """Return whether deletes that this apply sent explain why something is missing."""
        causes = self._cascade.roots_by_loss.get(lost, frozenset())
        return self._delete_was_sent(lost[0]) or any(self._delete_was_sent(cause) for cause in causes)

    def _delete_was_sent(self, root: Identity) -> bool:
        """Return whether the delete of an object, or of an object that deletes it by cascade, was sent."""
        waiting, seen = [root], {root}
        while waiting:
            one = waiting.pop()
            if one in self._sent_deletes:
                return True
            more = self._cascade.redundant_roots.get(one, frozenset()) - seen
            seen |= more
            waiting += more
        return False


def _roots_of(cascade: Cascade, identity: Identity) -> frozenset[Identity]:
    """Return the deletes that remove an object, directly or by cascade."""
    return (
        frozenset({identity})
        if identity in cascade.roots
        else cascade.roots_by_loss.get((identity, ""), frozenset())
    )


def _loss_text(names: Names, lost: Loss) -> str:
    """Return the address of a lost object or field."""
    identity, field = lost
    return str(FieldAddress(names.address(identity), field or None))


def _not_in_plan(name: str) -> str:
    return f"{name} would also be deleted, but the plan does not list this object"


def _changed_since_plan(name: str) -> str:
    return f"{name} would also be deleted, but was changed after the plan was made"


def _kept_now(name: str) -> str:
    return f"{name} would now be kept, but the plan lists this object as deleted"
