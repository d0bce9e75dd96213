"""Select the created objects that a revert deletes. Objects that somebody has changed or used stay."""

from __future__ import annotations

from dpsync.kinds.kind import Call
from dpsync.model.address import Address
from dpsync.model.snapshot import Identity
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange


def select_deletions(entries: RevertedEntries) -> set[Address]:
    """Return the addresses of the created objects to delete. Record why the other created objects stay."""
    created = [one for one in entries.changes if one.change.action == "create"]
    candidates = {one.address for one in created if _may_delete(entries, one)}
    for address in sorted(candidates):
        kind = entries.registry[entries.resources[address].kind]
        around = {*address.upward()} - {address}
        if not isinstance(kind.delete, Call) and not around & candidates:
            entries.record_not_reverted(address, f"the API cannot delete {kind.one}")
            candidates.discard(address)
    return candidates


def outputs_of_created_objects(entries: RevertedEntries, addresses: set[Address]) -> set[Identity]:
    """Return the objects that the platform created for these entries, such as the space of a translation."""
    found = set()
    for address in addresses:
        outputs = entries.registry[entries.resources[address].kind].platform.outputs
        id = entries.comparison.snapshot.outputs.get(address)
        if outputs is not None and id is not None:
            found.add((outputs.kind, id))
    return found


def _may_delete(entries: RevertedEntries, recorded: RecordedChange) -> bool:
    """Return whether the created object still exists, unchanged and unused. Record why it must stay."""
    address, change = recorded.address, recorded.change
    live, since = entries.comparison.sides.live(address), entries.later_changes.get(address)
    kind = entries.registry[change.kind]
    if address not in entries.resources:
        if live is None and kind.in_tree and entries.exists(recorded):
            entries.record_not_reverted(
                address, f"your files no longer contain an entry for this {kind.noun}"
            )
        return False
    if live is None:
        return False
    if recorded.id is not None and live.id != recorded.id:
        return False
    if live.identity in entries.used:
        entries.record_not_reverted(address, entries.used[live.identity])
        return False
    differences = since.differences if since is not None else ()
    if not recorded.applied.complete:
        # The later requests of this change were not sent, so their fields may differ.
        sent = {field.name for field in kind.fields if field.on in ("create", "both") and field.via is None}
        differences = tuple(item for item in differences if item.field in sent)
    if differences or (since is not None and since.moved and recorded.applied.complete):
        fields = ", ".join(item.field for item in differences) or "position"
        entries.record_not_reverted(
            address, f"somebody has changed this {kind.noun} since the apply ({fields})"
        )
        return False
    return True
