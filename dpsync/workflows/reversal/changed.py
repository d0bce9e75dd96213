"""Restore the previous field values of objects that an apply changed."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.model.change import Difference
from dpsync.workflows.reversal.entries import CannotRestore, RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange


def restore_fields(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Set the previous values in the entry of a change. Record why other fields are not reverted."""
    change, address = recorded.change, recorded.address
    entry, noun = entries.resources.get(address), entries.registry[change.kind].noun
    if entry is None or entry.kind != change.kind or entries.live_id(address) != change.id:
        live = entries.exists(recorded)
        missing = f"your files no longer contain an entry for this {noun}"
        entries.record_not_reverted(address, missing if live else f"this {noun} no longer exists")
        return
    if change.moved or any(step.verb == "move" or step.phase == "place" for step in change.steps):
        entries.record_not_reverted(
            address,
            f"dpsync cannot restore the position of this {noun}, because the plan does not contain the "
            "previous position",
        )
    fields = dict(entry.fields)
    for item in change.differences:
        kept_because = _reason_to_keep_value(entries, recorded, item)
        if kept_because is not None:
            fields.pop(item.field, None)
            if kept_because:
                entries.record_not_reverted(address.field(item.field), kept_because)
            continue
        if item.taken_from is not None:
            restore_moved_flag(entries, recorded, item)
            fields.pop(item.field, None)
            continue
        try:
            field = entries.registry[change.kind].field(item.field)
            fields[item.field] = entries.references.value_of(recorded.before, field)
            entries.changed_orders.add((address, item.field))
        except CannotRestore as unknown:
            fields.pop(item.field, None)
            entries.record_not_reverted(address.field(item.field), str(unknown))
    for effect in change.effects:
        entries.record_not_reverted(
            effect.address,
            f"this object changed together with {change.address}, so dpsync cannot restore this object",
        )
    entries.touched.add(address)
    entries.resources[address] = replace(entry, fields=fields, pin=change.id)


def restore_moved_flag(entries: RevertedEntries, recorded: RecordedChange, item: Difference) -> None:
    """Set a flag that only one sibling can have (such as `default`) on the object that had it before."""
    kind = recorded.change.kind
    for address, entry in entries.resources.items():
        if entry.kind == kind and entries.live_id(address) == item.taken_from:
            entries.resources[address] = replace(entry, fields={**entry.fields, item.field: True})
            entries.touched.add(address)
            return
    noun = entries.registry[kind].noun
    reason = f"your files contain no entry for the {noun} that had {item.field} before (id {item.taken_from})"
    entries.record_not_reverted(recorded.address.field(item.field), reason)


def _reason_to_keep_value(entries: RevertedEntries, recorded: RecordedChange, item: Difference) -> str | None:
    """Return why a field keeps its value; "" if it has the previous value; None if it is to be restored."""
    change = recorded.change
    writable = {one.name for one in entries.registry[change.kind].writable_fields}
    if item.field not in writable or entries.registry[change.kind].field(item.field).nest:
        return "the API cannot change this field alone"
    refused, before = ("refused", "by hand"), recorded.before.get(item.field)
    if before is None and entries.registry[change.kind].field(item.field).null in refused:
        return "the field had no value before, and the API cannot clear the field"
    if not item.known:
        return "the API does not return the previous value"
    since = entries.later_changes.get(recorded.address)
    differences = since.differences if since is not None else ()
    now = next((one for one in differences if one.field == item.field), None)
    if now is None:
        return None
    if now.before == item.before:
        return ""
    return "somebody has changed this field since the apply"
