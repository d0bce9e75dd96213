"""Find the present entries of recorded objects by object id, because their keys may have changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from urllib.parse import unquote

from msgspec.structs import replace

from dpsync.kinds.kind import Kind, Single
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry, Scope
from dpsync.model.snapshot import Snapshot
from dpsync.workflows.reversal.recorded import RecordedChange


class CurrentAddresses:
    """The present addresses of recorded objects.

    `ids` maps the addresses at the time of the apply to object ids. `snapshot` has the live objects, matched
    with the entries of `desired`.
    """

    def __init__(
        self, registry: Registry, desired: Desired, snapshot: Snapshot, ids: Mapping[str, str]
    ) -> None:
        self.registry = registry
        self.desired = desired
        self.ids = ids
        self._by_id: dict[tuple[str, str], list[Address]] = defaultdict(list)
        for address, match in snapshot.matches.items():
            entry = desired.resources.get(address)
            if entry is not None:
                self._by_id[entry.kind, match.id].append(address)

    def find(self, address: Address, kinds: Collection[str]) -> Address | None:
        """Return the present address of the object that had a recorded address; None if it has no entry.

        The object must be of one of the `kinds`.
        """
        id = self.ids.get(str(address))
        for kind in map(self.registry.__getitem__, kinds):
            candidates = self._by_id.get((kind.name, id), ()) if id is not None else ()
            if len(candidates) == 1 and kind.own_id:
                return candidates[0]
            parent = self.find_parent(address, kind)
            for candidate in candidates:
                if self.desired.resources[candidate].parent == parent:
                    return candidate
            if id is None and parent is not None:
                entry = self.desired.resources.get(self.with_parent(parent, address, kind))
                if entry is not None and entry.kind == kind.name:
                    return entry.address
        return None

    def find_parent(self, address: Address, kind: Kind) -> Address | None:
        """Return the present address of the parent that an object of this kind had at a recorded address."""
        owner = self._recorded_parent(address, kind)
        kinds = (self.registry.tree_owner(kind),) if kind.in_tree else kind.parents
        return self.find(owner, kinds) if owner.segments else None

    def with_parent(self, parent: Address, address: Address, kind: Kind) -> Address:
        """Return the address with another parent and the same key."""
        return Address(
            (*parent.segments, *address.segments[len(self._recorded_parent(address, kind).segments) :])
        )

    def _recorded_parent(self, address: Address, kind: Kind) -> Address:
        """Return the recorded address of the parent. For a navigation node, this is the site's address."""
        if kind.in_tree:
            return Address(
                address.segments[: self._segment_count(self.registry[self.registry.tree_owner(kind)])]
            )
        words = len(kind.key.split("."))
        return Address(address.segments[: -words if isinstance(kind.shape, Single) else -words - 1])

    def _segment_count(self, kind: Kind) -> int:
        """Return the number of segments that an address of this kind has."""
        if not kind.parents:
            return 1
        return self._segment_count(self.registry[kind.parents[0]]) + len(kind.key.split(".")) + 1


def with_recorded_pins(desired: Desired, snapshot: Snapshot, ids: Mapping[str, str]) -> Desired:
    """Return the configuration with a pin for each unmatched entry whose recorded object still exists."""
    matched = {
        (desired.resources[at].kind, one.id)
        for at, one in snapshot.matches.items()
        if at in desired.resources
    }
    live = {(one.kind, one.id) for one in snapshot.objects.values() if one.own_id} - matched
    pinned = {
        address: replace(entry, pin=ids[str(address)])
        for address, entry in desired.resources.items()
        if address not in snapshot.matches and (entry.kind, ids.get(str(address))) in live
    }
    return replace(desired, resources={**desired.resources, **pinned}) if pinned else desired


def with_missing_entries(
    current: CurrentAddresses, recorded: Collection[RecordedChange], missing: Collection[Address]
) -> tuple[Desired, list[RecordedChange]]:
    """Return the configuration with an entry for each recorded object, and the changes at present addresses.

    For each object without an entry, this adds an entry without fields and, if necessary, the scope of the
    entry. Navigation nodes get no entry, because an entry does not determine the position of a node.
    `missing` has the recorded addresses of objects that do not exist any more.
    """
    resources, scopes = dict(current.desired.resources), dict(current.desired.scopes)
    changes = []
    for record in recorded:
        kind, address = current.registry[record.change.kind], record.change.location
        parent = current.find_parent(address, kind)
        at = current.find(address, (kind.name,)) if record.change.action != "delete" else None
        if at is not None:
            changes.append(replace(record, address=at))
            continue
        if parent is None:
            changes.append(record)
            continue
        at = current.with_parent(parent, address, kind)
        scope_address = parent.child(*kind.key.split("."))
        if not kind.in_tree:
            add_scope(current.registry, resources, scopes, parent, kind)
        if (
            record.change.action != "delete"
            and not kind.in_tree
            and record.id is not None
            and address not in missing
        ):
            if at in resources:
                at = Address((*scope_address.segments, f"{at.last}-{record.id}"))
            key = unquote(at.last)
            resources[at] = Entry(
                kind=kind.name, address=at, key=key, parent=parent, holder=None, spans={}, pin=record.id,
                fields={kind.natural: key} if kind.natural else {}, span=scopes[scope_address].span,
            )  # fmt: skip
        changes.append(replace(record, address=at))
    for record in changes:
        outputs = current.registry[record.change.kind].platform.outputs
        if (
            outputs is not None
            and record.address in resources
            and (parent := resources[record.address].parent)
        ):
            add_scope(current.registry, resources, scopes, parent, current.registry[outputs.kind])
    return replace(current.desired, resources=resources, scopes=scopes), changes


def add_scope(
    registry: Registry,
    resources: Mapping[Address, Entry],
    scopes: dict[Address, Scope],
    parent: Address,
    kind: Kind,
) -> None:
    """Add the scope of a kind to a parent entry if it is missing, so that dpsync reads its objects."""
    scope_address = parent.child(*kind.key.split("."))
    if scope_address not in scopes:
        owner = resources[parent]
        kinds = tuple(one.name for one in registry.places(owner.kind)[kind.key])
        scopes[scope_address] = Scope(scope_address, parent, kinds, owner.span)
