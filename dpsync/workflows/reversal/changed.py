"""What an apply has changed gets its values of before."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.model.plans.change import Change, Difference
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.reversal.values import CannotComeBack, value_of


def take_back(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Give an entry the values from before a change; of a field that keeps its value a note says why."""
    change, address = recorded.change, recorded.location
    entry = entries.resources.get(address)
    if entry is None or entry.kind != change.kind or entries.id_of(address) != change.id:
        entries.note(address, "it is gone, in no file any more, or another one by now: it is left as it is")
        return
    if change.moved or any(step.verb == "move" or step.phase == "place" for step in change.steps):
        entries.note(address, "its place among its siblings may stay another one: no plan says what it was")
    fields = dict(entry.fields)
    for item in change.differences:
        why = _kept(entries, change, item)
        if why is not None:
            fields.pop(item.field, None)
            if why:
                entries.note(address.field(item.field), why)
            continue
        try:
            field = entries.registry[change.kind].field(item.field)
            fields[item.field] = value_of(recorded.before, field, entries.named)
            entries.orders.add((address, item.field))
        except CannotComeBack as unknown:
            fields.pop(item.field, None)
            entries.note(address.field(item.field), f"it is not taken back: {unknown}")
    for effect in change.effects:
        entries.note(effect.address, "it went along with that change: it does not come back by itself")
    entries.touched.add(address)
    entries.resources[address] = replace(entry, fields=fields, pin=change.id)


def _kept(entries: RevertedEntries, change: Change, item: Difference) -> str | None:
    """Why a field is left as it is, "" where it is as before already; None: it is taken back."""
    writable = {one.name for one in entries.registry[change.kind].writable_fields}
    if item.field not in writable or entries.registry[change.kind].field(item.field).nest:
        return "it is not taken back: no request writes it by itself"
    refused = ("refused", "by hand")
    if item.before is None and entries.registry[change.kind].field(item.field).null in refused:
        return "it is not taken back: it had no value before, and no request takes one away"
    if not item.known:
        return "it is not taken back: what it was before cannot be read"
    since = entries.differs.get(change.location)
    differences = since.differences if since is not None else ()
    now = next((one for one in differences if one.field == item.field), None)
    if now is None:
        return None
    if now.before == item.before:
        return ""
    return "somebody has changed it since: it is left as it is"
