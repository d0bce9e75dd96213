"""Decide for each change of an apply whether a revert can undo it, and edit the desired entries accordingly.

`restore_fields` restores previous values, `select_deletions` selects created objects to delete, and
`restore_or_recreate` restores or re-creates deleted objects. Each function edits a `RevertedEntries` and
records there what is not reverted. Objects that somebody has changed or used since the apply stay.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dpsync.kinds.kind import Call, Kind
from dpsync.model.address import Address
from dpsync.model.change import Change, Difference
from dpsync.model.desired import Entry, Scope
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.text import format_command
from dpsync.model.values import Value
from dpsync.workflows.revert_entries import NotRestorableError, RecordedChange, RevertedEntries


def restore_fields(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Set the values before an apply in the entry of an object that the apply changed.

    Fields that are not reverted are removed from the entry, so that they stay as they are live, and recorded
    with the reason.
    """
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
        except NotRestorableError as error:
            fields.pop(item.field, None)
            entries.record_not_reverted(address.field(item.field), str(error))
    for effect in change.effects:
        entries.record_not_reverted(
            effect.address,
            f"this object changed together with {change.address}, so dpsync cannot restore this object",
        )
    entries.touched.add(address)
    entries.resources[address] = replace(entry, fields=fields, pin=change.id)


def restore_moved_flag(entries: RevertedEntries, recorded: RecordedChange, item: Difference) -> None:
    """Give a flag that only one sibling can have (as `default`) back to the object that had it before.

    If the files contain no entry for that object, record that the flag is not reverted.
    """
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
    """Return why a field keeps its live value; None if the previous value is to be restored.

    The reason is "" if the field has the previous value already.
    """
    change = recorded.change
    writable = {candidate.name for candidate in entries.registry[change.kind].writable_fields}
    if item.field not in writable or entries.registry[change.kind].field(item.field).is_parent_reference:
        return "the API can change this field only together with other fields"
    unclearable, before = ("refused", "by hand"), recorded.before.get(item.field)
    if before is None and entries.registry[change.kind].field(item.field).null_effect in unclearable:
        return "the field had no value before, and the API cannot clear the field"
    if not item.known:
        return "the API does not return the previous value"
    later_change = entries.later_changes.get(recorded.address)
    differences = later_change.differences if later_change is not None else ()
    difference = next((candidate for candidate in differences if candidate.field == item.field), None)
    if difference is None:
        return None
    if difference.before == item.before:
        return ""
    return "somebody has changed this field since the apply"


def select_deletions(entries: RevertedEntries) -> set[Address]:
    """Return the addresses of the objects that the apply created and that the revert deletes.

    Record why the others stay. An object that the API cannot delete is deleted only with an ancestor.
    """
    created = [record for record in entries.changes if record.change.action == "create"]
    candidates = {record.address for record in created if _may_delete(entries, record)}
    for address in sorted(candidates):
        kind = entries.registry[entries.resources[address].kind]
        ancestors = {*address.self_and_ancestors()} - {address}
        if not isinstance(kind.delete, Call) and not ancestors & candidates:
            entries.record_not_reverted(address, f"the API cannot delete {kind.noun_with_article}")
            candidates.discard(address)
    return candidates


def outputs_of_created_objects(entries: RevertedEntries, addresses: set[Address]) -> set[Identity]:
    """Return the objects that the platform created for these entries, such as the space of a translation."""
    identities = set()
    for address in addresses:
        outputs = entries.registry[entries.resources[address].kind].platform_work.outputs
        id = entries.comparison.snapshot.outputs.get(address)
        if outputs is not None and id is not None:
            identities.add((outputs.kind, id))
    return identities


def _may_delete(entries: RevertedEntries, recorded: RecordedChange) -> bool:
    """Return whether a revert may delete an object that the apply created.

    It may if the object still exists, and nobody has changed or used it. Otherwise, record why it stays.
    """
    address, change = recorded.address, recorded.change
    live, later_change = entries.comparison.sides.live(address), entries.later_changes.get(address)
    kind = entries.registry[change.kind]
    if address not in entries.resources:
        if live is None and kind.is_node and entries.exists(recorded):
            entries.record_not_reverted(
                address, f"your files no longer contain an entry for this {kind.noun}"
            )
        return False
    if live is None:
        return False
    if recorded.id is not None and live.id != recorded.id:
        return False
    if live.identity in entries.reasons_to_keep:
        entries.record_not_reverted(address, entries.reasons_to_keep[live.identity])
        return False
    differences = later_change.differences if later_change is not None else ()
    if not recorded.applied.complete:
        # The later requests of this change were not sent, so their fields may differ.
        sent_fields = {
            field.name
            for field in kind.fields
            if field.written_in in ("create", "both") and field.own_call is None
        }
        differences = tuple(difference for difference in differences if difference.field in sent_fields)
    if differences or (later_change is not None and later_change.moved and recorded.applied.complete):
        fields = ", ".join(difference.field for difference in differences) or "position"
        entries.record_not_reverted(
            address, f"somebody has changed this {kind.noun} since the apply ({fields})"
        )
        return False
    return True


def restore_or_recreate(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Add an entry that restores or re-creates an object that the apply deleted.

    If neither is possible, or other objects were deleted or changed together with it, record that. GitBook
    can restore some kinds of objects, with their content, for some days.
    """
    change, address = recorded.change, recorded.address
    kind, scope = entries.registry[change.kind], entries.session.desired.scopes.get(address.list_address)
    if _still_exists(entries, recorded):
        return
    for difference in change.was:
        if kind.field(difference.field).exclusive_within is not None and difference.before is True:
            owner = entries.current.find_parent(change.location, kind) or address
            entries.record_not_reverted(
                owner, f"GitBook moved {difference.field} to another object when {change.address} was deleted"
            )
    for effect in change.effects:
        entries.record_not_reverted(
            effect.address, f"this object was deleted or changed together with {change.address}"
        )
    if scope is None and not kind.is_node:
        entries.record_not_reverted(
            address,
            f"this {kind.noun} was deleted, and your files no longer contain "
            f"{address.list_address.list_address}",
        )
    elif kind.lifecycle.restore is None or change.id is None:
        reason = _reason_not_to_create(entries, recorded)
        if reason is not None:
            entries.record_not_reverted(address, f"this {kind.noun} was deleted, and {reason}")
        elif scope is not None:
            _declare_new_object(entries, recorded, scope)
    elif scope is not None and not any(entry.pin == change.id for entry in entries.resources.values()):
        key = f"restored-{change.id}"
        entries.resources[scope.address.child(key)] = _make_entry(change, scope, key, change.id)
        entries.restored[change.address] = scope.address.child(key)
        entries.record_restored(
            address,
            f"dpsync restores this {kind.noun} with its content "
            f"(possible for {kind.lifecycle.restore.days} days after the delete)."
            f' {_keep_instruction(kind, change)}add an entry with "id: {change.id}"',
        )


def _still_exists(entries: RevertedEntries, recorded: RecordedChange) -> bool:
    """Return whether a deleted object still exists, for example because its delete failed."""
    kind, snapshot = entries.registry[recorded.change.kind], entries.comparison.snapshot
    if kind.has_unique_id:
        return entries.exists(recorded)
    objects = (
        snapshot.objects[identity] for identity in snapshot.scopes.get(recorded.address.list_address, ())
    )
    return any(live.kind == kind.name and live.id == recorded.id for live in objects)


def _make_entry(change: Change, scope: Scope, key: str, pin: str | None = None) -> Entry:
    """Return an entry without fields for a deleted object, pinned to its id or marked as new."""
    return Entry(
        kind=change.kind, address=scope.address.child(key), key=key, parent=scope.parent, holder=None,
        fields={}, span=scope.span, spans={}, pin=pin, new=pin is None,
    )  # fmt: skip


def _reason_not_to_create(entries: RevertedEntries, recorded: RecordedChange) -> str | None:
    """Return why dpsync cannot re-create a deleted object, as part of a sentence; None if it can."""
    change = recorded.change
    kind, previous = (
        entries.registry[change.kind],
        {difference.field: difference.before for difference in change.was},
    )
    if kind.is_node:
        return (
            f"the plan does not record where the {kind.noun} was in the navigation. "
            f"To create the {kind.noun} again, add an entry and run {format_command('apply')}"
        )
    if not isinstance(kind.create, Call) or not (previous or _is_grant(kind)):
        return f"dpsync cannot create {kind.noun_with_article} again"
    if kind.platform_work.outputs is not None:
        noun = entries.registry[kind.platform_work.outputs.kind].noun
        return f"together with a new {kind.noun}, GitBook would create a new {noun}"
    if recorded.address.list_address not in entries.comparison.snapshot.scopes:
        return f"this token cannot read {recorded.address.list_address}"
    missing = {
        field.name for field in kind.fields if field.is_required(previous) and field.name not in previous
    }
    if kind.key_field is not None and kind.key_field not in previous and not _is_grant(kind):
        missing.add(kind.key_field)
    if missing:
        return f"a new {kind.noun} needs {', '.join(sorted(missing))}, which the plan does not contain"
    live = _find_similar_object(entries, recorded)
    if live is None:
        return None
    return f"another {kind.noun} has the same name now: {entries.names.address(live.identity)}"


def _is_grant(kind: Kind) -> bool:
    """Return whether objects of a kind have the id of the object that they refer to, as a team member has."""
    return kind.key_field is not None and kind.field(kind.key_field).response_path == kind.id_path


def _find_similar_object(entries: RevertedEntries, recorded: RecordedChange) -> LiveObject | None:
    """Return a live object in the same list with the same natural key, such as the title; None without.

    It may be the deleted object, created again by somebody else. Then a revert must not create another one.
    """
    previous = {difference.field: difference.before for difference in recorded.change.was}
    kind, displayed = entries.registry[recorded.change.kind], entries.comparison.sides.values.to_display
    for identity in entries.comparison.snapshot.scopes[recorded.address.list_address]:
        live = entries.comparison.snapshot.objects[identity]
        live_values = {
            field.name: displayed(field, live.fields.get(field.name), live)
            for field in kind.fields
            if live.kind == kind.name
        }
        for names in kind.natural_keys:
            key = (names,) if isinstance(names, str) else names
            if all(
                _nested_value(previous, field_name) is not None
                and _nested_value(previous, field_name) == _nested_value(live_values, field_name)
                for field_name in key
            ):
                return live
    return None


def _declare_new_object(entries: RevertedEntries, recorded: RecordedChange, scope: Scope) -> None:
    """Add an entry for a new object in place of a deleted one. `set_previous_values` sets its fields later.

    If the files contain an entry at the same address now, only record that the object is not reverted.
    """
    change, kind = recorded.change, entries.registry[recorded.change.kind]
    natural = change.id if _is_grant(kind) else recorded.deleted.get(kind.key_field or "")
    entry = _make_entry(change, scope, natural if isinstance(natural, str) else f"recreated-{change.id}")
    if entry.address in entries.resources:
        entries.record_not_reverted(
            recorded.address,
            f"this {kind.noun} was deleted, and your files contain the entry {entry.address} now",
        )
        return
    entries.resources[entry.address] = entry
    entries.restored[change.address] = entry.address
    entries.recreated[entry.address] = recorded
    new_id = (
        f"dpsync creates this {kind.noun} again with a new id. "
        f"The previous content of the {kind.noun} and references to the "
        f"{kind.noun} are lost"
    )
    head = f"dpsync creates this {kind.noun} again" if _is_grant(kind) else new_id
    to_keep = (
        f"{_keep_instruction(kind, change)}add an entry to {scope.address}. "
        f"Otherwise, the next apply may delete this {kind.noun}"
    )
    entries.record_restored(recorded.address, f"{head}. {to_keep}")


def _keep_instruction(kind: Kind, change: Change) -> str:
    """Return the start of a sentence about how to keep an object that a revert brings back.

    If git had the object's entry, the sentence starts with the command that shows the commit to undo.
    """
    start = f"To keep this {kind.noun}, "
    if change.removed is None:
        return start
    log = f"git log -p -- {shlex.quote(change.removed.file)}"
    return f"{start}undo the commit that removed the entry (to find the commit: {log}), or "


def set_previous_values(entries: RevertedEntries) -> None:
    """Set the previous values in the entries of re-created objects.

    If a value cannot be restored, the object is not re-created. Repeats, because other objects may refer to
    it.
    """
    while missing_values := {
        address: name
        for address, record in entries.recreated.items()
        if (name := _find_missing_value(entries, record))
    }:
        for address, name in missing_values.items():
            recorded = entries.recreated.pop(address)
            del entries.resources[address], entries.restored[recorded.change.address]
            entries.notes = [note for note in entries.notes if note.address != str(recorded.address)]
            noun = entries.registry[recorded.change.kind].noun
            entries.record_not_reverted(
                recorded.address, f"this {noun} was deleted, and a new {noun} needs {name}"
            )
    for address, recorded in entries.recreated.items():
        kind = entries.registry[recorded.change.kind]
        fields = {
            name: entries.references.value_of(recorded.deleted, kind.field(name)) for name in recorded.deleted
        }
        if _is_grant(kind):
            fields |= _grant_fields(entries, recorded)
        entries.resources[address] = replace(entries.resources[address], fields=fields)
        unknown_fields = [
            field.name
            for field in kind.writable_fields
            if field.type.may_be_secret or field.response_path is None
        ]
        if unknown_fields:
            entries.record_not_reverted(
                recorded.address, f"a plan never contains the values of {', '.join(sorted(unknown_fields))}"
            )


def _grant_fields(entries: RevertedEntries, recorded: RecordedChange) -> dict[str, Value]:
    """Return the reference from a grant to the team, member or other object that has the grant's id.

    Raises NotRestorableError if there is no such object.
    """
    kind, id = entries.registry[recorded.change.kind], recorded.change.id
    assert kind.key_field is not None
    assert id is not None
    return {
        kind.key_field: entries.references.reference_to_id(
            id, kind.field(kind.key_field), recorded.address.organization_key
        )
    }


def _find_missing_value(entries: RevertedEntries, recorded: RecordedChange) -> str | None:
    """Return the first field whose value a re-created object cannot have, with the reason; None without one.

    The record may lack a part of the value, or an object to which the value refers may be gone.
    """
    for name in recorded.deleted:
        try:
            entries.references.value_of(recorded.deleted, entries.registry[recorded.change.kind].field(name))
        except NotRestorableError as error:
            return f"{name}: {error}"
    kind = entries.registry[recorded.change.kind]
    if _is_grant(kind):
        try:
            _grant_fields(entries, recorded)
        except NotRestorableError as error:
            return f"{kind.key_field}: {error}"
    return None


def _nested_value(values: Any, name: str) -> Any:
    """Return the value at a dotted name (`a.b`) in nested mappings; None if it is missing."""
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values
