"""Checks, right before a delete, that it is what the plan has shown and takes along that and nothing else.

The lists of a deleted thing's own (the members of a team, the redirects of a site) are read right before its
request. Lists that concern many deletes (the navigation of sites, the roles on spaces) are read once before
the first delete, after every other write, and then again after as many deletes as there are such lists, but
at least `BATCH`. So what another client adds is missed only where it is added to such a list within one
batch, or between a reading and the request that follows it: the API has no conditional deletes.

What lies in a thing that can be brought back (a space) is not read again: it comes back with it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dpsync.apply.task import Objection, Task
from dpsync.client.client import ReadClient
from dpsync.client.errors import NotFound
from dpsync.kinds.kind import Field
from dpsync.kinds.registry import Registry
from dpsync.live.delete_evidence import Surroundings
from dpsync.live.sources import Source
from dpsync.model.address import Address, FieldAddress
from dpsync.model.desired import Desired
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Identity, LiveObject, Snapshot
from dpsync.planner.deletions import Cascade, Lost, cascade, named_ids
from dpsync.planner.history import Names, names_of

BATCH: Final = 100
"""How many deletes one reading of the lists that they share is good for; more, where there are more lists."""


class DeleteChecks:
    """What the deletes of one plan take along. Threads share it; a lock lets one of them ask at a time."""

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
        self._desired = desired.without(snapshot.unread, snapshot.unread_fields)
        self._snapshot, self._parallelism = snapshot, parallelism
        self._names = names_of(registry, self._desired, snapshot)
        self._lock = threading.Lock()
        self._writes = {
            (change.address, item.field) for change in plan.changes for item in change.differences
        }
        self._early = any(step.phase == "clear" for change in plan.changes for step in change.steps)
        self._roots = self._identities(plan)
        self._prepared = {
            self._roots[change.address]
            for change in plan.changes
            if change.address in self._roots and any(step.verb != "delete" for step in change.steps)
        }
        self._cascade = self._planned(plan)
        self._sent: set[Identity] = set()
        """Deletes that were sent, or are about to be."""
        self._stale: Mapping[Identity, str] | None = None
        """By delete, what is different now; None when the shared lists must be read again."""
        self._good_for = 0
        """How many more deletes the last reading of the shared lists is good for."""
        self._in_source: dict[str, set[Identity]] = defaultdict(set)
        for item in snapshot.objects.values() if self._roots else ():
            self._in_source[item.source].add(item.identity)
        self._around = Surroundings(client, registry, snapshot, parallelism)

    def _identities(self, plan: Plan) -> dict[str, Identity]:
        """By address, the live object of each delete."""
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

    def _planned(self, plan: Plan) -> Cascade:
        made = (change.location for change in plan.changes if change.action == "create")
        holders = {self._desired.resources[address].holder for address in made}

        def arrives(live: LiveObject) -> bool:
            address = self._names.declared.get(live.identity)
            return address is not None and address in holders

        return cascade(self._names, self._roots.values(), self._written, arrives)

    def _written(self, live: LiveObject, item: Field) -> bool:
        return (str(self._names.declared.get(live.identity)), item.name) in self._writes

    # The check.

    def unchanged(self, task: Task) -> Objection | None:
        """None where a delete would take along what was shown, else the objection.

        It is asked before every step, since a write of any step makes earlier readings out of date.
        """
        root = self._roots.get(task.change.address)
        if task.step.verb != "delete" or root is None:
            if task.step.phase != "expose":  # that is done beside deletes, and changes nothing about them
                with self._lock:
                    self._stale = None
            return None
        with self._lock:
            if self._stale is None or not self._good_for:
                self._stale = self._read_again()
            reason = self._stale.get(root)
        inside = {} if reason is not None else self._inside(root)
        with self._lock:
            reason = reason or self._other_inside(inside)
            if reason is not None:
                return Objection("stale", reason)
            self._good_for = max(0, self._good_for - 1)
            self._sent.add(root)
        return None

    # The lists of its own.

    def _inside(self, root: Identity) -> dict[str, dict[Identity, LiveObject]]:
        """What is now in each list of the deleted object and of the objects that go along with it."""
        along = [identity for identity, name in self._cascade.by_root.get(root, ()) if not name]
        objects = [self._snapshot.objects[identity] for identity in (root, *along)]
        own = [item for item in objects if self._registry[item.kind].lifecycle.restore is None]
        found = {source.url: self._read(source) for item in own for source in self._around.inside(item)}
        return {url: now for url, now in found.items() if now is not None}

    def _read(self, source: Source) -> dict[Identity, LiveObject] | None:
        """What is in a list now; None when the object that the list belongs to does not exist any more."""
        try:
            return {item.identity: item for item in self._around.sources.read(source)}
        except NotFound:
            return None

    def _other_inside(self, inside: Mapping[str, Mapping[Identity, LiveObject]]) -> str | None:
        """The first difference between these lists and what the plan has shown."""
        for url, now in inside.items():
            then = self._in_source[url]
            for identity in sorted(now.keys() - then - self._snapshot.output_identities):
                return _more(str(self._address(now[identity])))
            for identity in sorted(then - now.keys()):
                if not self._explained((identity, "")):
                    return _less(str(self._names.address(identity)))
            for identity in sorted(then & now.keys()):
                if self._is_another(now[identity]):
                    return _other(str(self._names.address(identity)))
        return None

    def _address(self, item: LiveObject) -> Address:
        """The address of something that the plan did not know."""
        snapshot = replace(self._snapshot, objects={**self._snapshot.objects, item.identity: item})
        return names_of(self._registry, self._desired, snapshot).address(item.identity)

    # The lists that deletes share.

    def _read_again(self) -> dict[Identity, str]:
        left = set(self._roots.values()) - self._sent
        around = Surroundings(self._client, self._registry, self._snapshot, self._parallelism, again=True)
        found = Cascade(frozenset(left))
        while around.look([*left, *found.objects], inside=False):
            names = names_of(self._registry, self._desired, around.snapshot)
            found = cascade(names, left, self._still_written, lambda _: False)
        self._good_for = max(BATCH, len(around.sources.objects))
        return self._different(around.snapshot, found)

    def _still_written(self, live: LiveObject, item: Field) -> bool:
        """Whether this apply may still write the field: deletes that make room come before other writes."""
        return self._early and self._written(live, item)

    def _different(self, now: Snapshot, found: Cascade) -> dict[Identity, str]:
        names = names_of(self._registry, self._desired, now)
        # What is gone by now was deleted by somebody else: that its delete finds nothing is no harm.
        there = {root for root in found.roots if root in now.objects}
        stale: dict[Identity, str] = {}
        for identity, url in now.evidence.unseen.items():
            for root in _roots_of(found, identity) & there:
                stale[root] = (
                    "this token can no longer read the objects that GitBook would also delete: "
                    f"GET {url} is not allowed"
                )
        for root in there:
            if self._is_another(now.objects[root]):
                stale[root] = "this object was changed after the plan was made"
        for lost in found.lost:
            if lost not in self._cascade.causes:
                for root in found.causes[lost] & there:
                    stale.setdefault(root, _more(_name(names, lost)))
        for lost in self._cascade.lost:
            if lost not in found.causes and not self._explained(lost):
                for root in self._cascade.causes[lost] & there:
                    stale.setdefault(root, _less(_name(self._names, lost)))
        for identity in self._cascade.objects:
            if identity in found.objects and self._is_another(now.objects[identity]):
                for root in found.causes[identity, ""] & there:
                    stale.setdefault(root, _other(_name(self._names, (identity, ""))))
        for root, inside in found.left_inside.items():
            left = sorted(
                str(names.address(item.identity)) for item in inside if not self._deleted(item.identity)
            )
            if left:
                stale.setdefault(root, f"this object is not empty: {', '.join(left)}")
        return stale

    def _is_another(self, live: LiveObject) -> bool:
        """Whether what is deleted, or goes along, is not what the plan has shown: renamed, say, or moved.

        What this apply may have changed about it does not count: a flag that another one has now, the name of
        what it has deleted, and what it writes itself. A value with parts that are read by requests of their
        own is not compared.
        """
        then, kind = self._snapshot.objects[live.identity], self._registry[live.kind]
        if live.identity in self._prepared:
            return False
        for name in kind.lasting:
            item = kind.field(name)
            before, after = then.fields.get(name), live.fields.get(name)
            if before == after or item.one_per is not None:
                continue
            if item.own_read or self._written(then, item):
                continue
            meant = {self._names.named(then, one, id) for one in item.names for id in named_ids(item, before)}
            if not any(self._explained((one, "")) for one in meant):
                return True
        return False

    def _explained(self, lost: Lost) -> bool:
        """Whether something is no longer there because of what this apply has deleted."""
        causes = self._cascade.causes.get(lost, frozenset())
        return self._deleted(lost[0]) or any(self._deleted(cause) for cause in causes)

    def _deleted(self, root: Identity) -> bool:
        """Whether the delete of an object was sent, or that of something which takes it along."""
        waiting, seen = [root], {root}
        while waiting:
            one = waiting.pop()
            if one in self._sent:
                return True
            more = self._cascade.also.get(one, frozenset()) - seen
            seen |= more
            waiting += more
        return False


def _roots_of(found: Cascade, identity: Identity) -> frozenset[Identity]:
    return frozenset({identity}) if identity in found.roots else found.causes.get((identity, ""), frozenset())


def _name(names: Names, lost: Lost) -> str:
    identity, field = lost
    return str(FieldAddress(names.address(identity), field or None))


def _more(name: str) -> str:
    return f"{name} would also be deleted, but the plan does not list this object"


def _other(name: str) -> str:
    return f"{name} would also be deleted, but was changed after the plan was made"


def _less(name: str) -> str:
    return f"{name} would now be kept, but the plan lists this object as deleted"
