"""Check, right before a delete, that it deletes what the plan shows and nothing else.

The lists in the object to delete (team members, site redirects) are read right before its request. Lists that
concern many deletes (site navigations, roles on spaces) are read before the first delete, after every other
write, and again after many deletes (`READ_INTERVAL`). dpsync misses an object that another client adds
between a read and the request: the API has no conditional deletes. The contents of an object that can be
restored (a space) are not read again.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from dpsync.apply.task import StaleStep, StepTask
from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFoundError
from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import DeleteEvidenceReader
from dpsync.model.address import FieldAddress
from dpsync.model.desired import Desired
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.planner.deletions import Cascade, Loss, find_cascade, referenced_ids
from dpsync.planner.names import Names, names_without_base

READ_INTERVAL: Final = 100
"""Minimum number of deletes for which one read of the shared lists is valid."""


class DeleteChecks:
    """Checks of the deletes of one plan, called before each step of the apply. Thread-safe."""

    def __init__(
        self,
        client: ReadClient,
        registry: Registry,
        desired: Desired,
        snapshot: Snapshot,
        plan: Plan,
        parallelism: int,
    ) -> None:
        """Find out what the deletes of the plan remove, to compare later reads with it. Sends no request."""
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
        """Return the identity of each object that a step of the plan deletes, by address.

        A change has only the kind and the id of its object. Some ids are unique only within a parent: a
        member of two teams has the same id in both. So one kind and id can have several addresses, and the
        address decides which of the live objects is meant.
        """
        deleted_addresses = {
            (change.kind, change.id): set[str]()
            for change in plan.changes
            if any(step.verb == "delete" for step in change.steps)
        }
        for change in plan.changes:
            if (change.kind, change.id) in deleted_addresses:
                deleted_addresses[change.kind, change.id].add(change.address)
        identities = {}
        for identity, item in self._snapshot.objects.items() if deleted_addresses else ():
            addresses = deleted_addresses.get((item.kind, item.id))
            if addresses and (address := str(self._names.address(identity))) in addresses:
                identities[address] = identity
        return identities

    def _planned_cascade(self, plan: Plan) -> Cascade:
        """Return the objects and field values that GitBook also removes when it carries out the deletes.

        Fields that the plan writes are not cleared, and nodes that get a new child are not empty.
        """
        created = (change.location for change in plan.changes if change.action == "create")
        holders = {self._desired.entries[address].holder for address in created}

        def receives_new_object(live: LiveObject) -> bool:
            """Return whether the plan creates an object directly inside a live object."""
            address = self._names.declared.get(live.identity)
            return address is not None and address in holders

        return find_cascade(self._names, self._roots.values(), self._is_written, receives_new_object)

    def _is_written(self, live: LiveObject, item: Field) -> bool:
        """Return whether the plan writes a field of a live object."""
        return (str(self._names.declared.get(live.identity)), item.name) in self._written_fields

    # --- the check ------------------------------------------------------------------------------------

    def check(self, task: StepTask) -> StaleStep | None:
        """Return an objection if a delete would remove anything else than the plan shows, otherwise None.

        Call this before every step, because the write of any step makes earlier reads out of date.
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
        """Read the contents of an object to delete (`root`) and of the objects deleted with it, by list URL.

        Lists whose parent does not exist any more are left out, as are those of objects that can be restored
        after the delete.
        """
        cascaded = [identity for identity, name in self._cascade.losses_by_root.get(root, ()) if not name]
        objects = [self._snapshot.objects[identity] for identity in (root, *cascaded)]
        unrestorable = [item for item in objects if self._registry[item.kind].lifecycle.restore is None]
        contents = {}
        for item in unrestorable:
            for source in self._evidence_reader.content_sources(item):
                with suppress(NotFoundError):
                    listed = self._evidence_reader.sources.read(source)
                    contents[source.url] = {content.identity: content for content in listed}
        return contents

    def _content_difference(self, contents: Mapping[str, Mapping[Identity, LiveObject]]) -> str | None:
        """Return the first difference between the current contents and the plan as a sentence, None if equal.

        `contents` has the current objects by URL of their list. What this apply deleted or changed does not
        count.
        """
        for url, current in contents.items():
            planned = self._objects_by_source[url]
            for identity in sorted(current.keys() - planned - self._snapshot.output_identities):
                objects = {**self._snapshot.objects, identity: current[identity]}
                snapshot = replace(self._snapshot, objects=objects)
                names = names_without_base(self._registry, self._desired, snapshot)
                return _not_in_plan(str(names.address(identity)))
            for identity in sorted(planned - current.keys()):
                if not self._is_deleted_by_apply((identity, "")):
                    return _kept_now(str(self._names.address(identity)))
            for identity in sorted(planned & current.keys()):
                if self._is_changed_since_plan(current[identity]):
                    return _changed_since_plan(str(self._names.address(identity)))
        return None

    # --- the shared lists -----------------------------------------------------------------------------

    def _read_shared_lists(self) -> dict[Identity, str]:
        """Read the lists that concern many deletes again, and return why deletes are stale, by object."""
        open_roots = set(self._roots.values()) - self._sent_deletes
        evidence = DeleteEvidenceReader(
            self._client, self._registry, self._snapshot, self._parallelism, rereads=True
        )
        cascade = Cascade(frozenset(open_roots))
        while evidence.read_dependents([*open_roots, *cascade.objects], with_contents=False):
            names = names_without_base(self._registry, self._desired, evidence.snapshot)
            cascade = find_cascade(names, open_roots, self._may_still_be_written, lambda _: False)
        self._deletes_until_next_read = max(READ_INTERVAL, len(evidence.sources.objects))
        return self._stale_deletes(evidence.snapshot, cascade)

    def _may_still_be_written(self, live: LiveObject, item: Field) -> bool:
        """Return whether this apply may still write a field.

        Only if the plan has early deletes: all other deletes come after the writes.
        """
        return self._has_early_deletes and self._is_written(live, item)

    def _stale_deletes(self, current: Snapshot, cascade: Cascade) -> dict[Identity, str]:
        """Return why deletes are stale, by object: compare what each would remove now with the plan.

        A delete is stale if it would remove more or less than planned, if what it removes was changed since
        the plan, or if dpsync cannot read what it would remove. `cascade` is what the deletes remove now,
        `self._cascade` what they were planned to remove.
        """
        names = names_without_base(self._registry, self._desired, current)

        def deletes_removing(identity: Identity) -> frozenset[Identity]:
            """Return the objects whose delete requests remove an object."""
            if identity in cascade.roots:
                return frozenset({identity})
            return cascade.roots_by_loss.get((identity, ""), frozenset())

        # An object that somebody else deleted meanwhile is no reason to stop: its delete is a 404.
        existing_roots = {root for root in cascade.roots if root in current.objects}
        stale: dict[Identity, str] = {}
        for identity, url in current.delete_evidence.unreadable_dependents.items():
            for root in deletes_removing(identity) & existing_roots:
                stale[root] = (
                    "this token can no longer read the objects that GitBook would also delete: "
                    f"GET {url} is not allowed"
                )
        for root in existing_roots:
            if self._is_changed_since_plan(current.objects[root]):
                stale[root] = "this object was changed after the plan was made"
        for loss in cascade.all_losses:
            if loss not in self._cascade.roots_by_loss:
                for root in cascade.roots_by_loss[loss] & existing_roots:
                    stale.setdefault(root, _not_in_plan(_loss_text(names, loss)))
        for loss in self._cascade.all_losses:
            if loss not in cascade.roots_by_loss and not self._is_deleted_by_apply(loss):
                for root in self._cascade.roots_by_loss[loss] & existing_roots:
                    stale.setdefault(root, _kept_now(_loss_text(self._names, loss)))
        for identity in self._cascade.objects:
            if identity in cascade.objects and self._is_changed_since_plan(current.objects[identity]):
                for root in cascade.roots_by_loss[identity, ""] & existing_roots:
                    stale.setdefault(root, _changed_since_plan(_loss_text(self._names, (identity, ""))))
        for root, objects in cascade.contents_kept_inside.items():
            remaining = sorted(
                str(names.address(item.identity))
                for item in objects
                if not self._delete_was_sent(item.identity)
            )
            if remaining:
                stale.setdefault(root, f"this object is not empty: {', '.join(remaining)}")
        return stale

    def _is_changed_since_plan(self, live: LiveObject) -> bool:
        """Return whether an object that is deleted was changed since the plan, for example renamed or moved.

        Changes by this apply do not count: a flag that only one object can have and that moved to another
        object, the name of an object that was deleted, and the fields that it writes. Values with parts that
        have their own request are not compared.
        """
        planned, kind = self._snapshot.objects[live.identity], self._registry[live.kind]
        if live.identity in self._changed_before_delete:
            return False
        for name in kind.lasting_fields:
            item = kind.field(name)
            planned_value, live_value = planned.fields.get(name), live.fields.get(name)
            if planned_value == live_value or item.exclusive_within is not None:
                continue
            if item.separate_read_paths or self._is_written(planned, item):
                continue
            referenced = {
                self._names.referenced_object(planned, kind_name, id)
                for kind_name in item.referenced_kinds
                for id in referenced_ids(item, planned_value)
            }
            if not any(self._is_deleted_by_apply((identity, "")) for identity in referenced):
                return True
        return False

    def _is_deleted_by_apply(self, loss: Loss) -> bool:
        """Return whether deletes that this apply sent explain why an object or a field's value is missing."""
        causes = self._cascade.roots_by_loss.get(loss, frozenset())
        return self._delete_was_sent(loss[0]) or any(self._delete_was_sent(cause) for cause in causes)

    def _delete_was_sent(self, root: Identity) -> bool:
        """Return whether a delete was sent that removes this object: its own, or that of another object."""
        to_check, seen = [root], {root}
        while to_check:
            deleted = to_check.pop()
            if deleted in self._sent_deletes:
                return True
            covering_roots = self._cascade.redundant_roots.get(deleted, frozenset()) - seen
            seen |= covering_roots
            to_check += covering_roots
        return False


def _loss_text(names: Names, loss: Loss) -> str:
    """Return the address of an object, or of a field, that a delete removes."""
    identity, field = loss
    return str(FieldAddress(names.address(identity), field or None))


def _not_in_plan(name: str) -> str:
    """Return the reason for a delete that would remove an object that the plan does not list."""
    return f"{name} would also be deleted, but the plan does not list this object"


def _changed_since_plan(name: str) -> str:
    """Return the reason for a delete that would remove an object that was changed since the plan."""
    return f"{name} would also be deleted, but was changed after the plan was made"


def _kept_now(name: str) -> str:
    """Return the reason for a delete that would no longer remove an object that the plan lists as deleted."""
    return f"{name} would now be kept, but the plan lists this object as deleted"
