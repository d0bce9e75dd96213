"""Restore or re-create the objects that an apply deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dpsync.kinds.kind import Call, Kind
from dpsync.model.change import Change
from dpsync.model.desired import Entry, Scope
from dpsync.model.snapshot import LiveObject
from dpsync.model.text import command
from dpsync.model.values import Value
from dpsync.workflows.reversal.entries import CannotRestore, RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange


def restore_or_recreate(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Add an entry that restores or re-creates the deleted object, or record why neither is possible."""
    change, address = recorded.change, recorded.address
    kind, scope = entries.registry[change.kind], entries.session.desired.scopes.get(address.place)
    if _still_exists(entries, recorded):
        return
    for item in change.was:
        if kind.field(item.field).one_per is not None and item.before is True:
            owner = entries.current.find_parent(change.location, kind) or address
            entries.record_not_reverted(
                owner, f"GitBook moved {item.field} to another object when {change.address} was deleted"
            )
    for effect in change.effects:
        entries.record_not_reverted(
            effect.address, f"this object was deleted or changed together with {change.address}"
        )
    if scope is None and not kind.in_tree:
        entries.record_not_reverted(
            address, f"this {kind.noun} was deleted, and your files no longer contain {address.place.place}"
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
            f' To keep this {kind.noun}, add an entry with "id: {change.id}"',
        )


def _still_exists(entries: RevertedEntries, recorded: RecordedChange) -> bool:
    """Return whether the object still exists, for example because its delete failed."""
    kind, snapshot = entries.registry[recorded.change.kind], entries.comparison.snapshot
    if kind.own_id:
        return entries.exists(recorded)
    place = (snapshot.objects[one] for one in snapshot.scopes.get(recorded.address.place, ()))
    return any(live.kind == kind.name and live.id == recorded.id for live in place)


def _make_entry(change: Change, scope: Scope, key: str, pin: str | None = None) -> Entry:
    return Entry(
        kind=change.kind, address=scope.address.child(key), key=key, parent=scope.parent, holder=None,
        fields={}, span=scope.span, spans={}, pin=pin, new=pin is None,
    )  # fmt: skip


def _reason_not_to_create(entries: RevertedEntries, recorded: RecordedChange) -> str | None:
    """Return why dpsync cannot re-create the object; None if it can."""
    change = recorded.change
    kind, previous = entries.registry[change.kind], {item.field: item.before for item in change.was}
    if kind.in_tree:
        return (
            "the plan does not contain the position in the navigation. "
            f"To create the {kind.noun} again, add an entry and run {command('apply')}"
        )
    if not isinstance(kind.create, Call) or not (previous or _is_grant(kind)):
        return f"dpsync cannot create {kind.one} again"
    if kind.platform.outputs is not None:
        noun = entries.registry[kind.platform.outputs.kind].noun
        return f"together with a new {kind.noun}, GitBook would create a new {noun}"
    if recorded.address.place not in entries.comparison.snapshot.scopes:
        return f"this token cannot read {recorded.address.place}"
    missing = {one.name for one in kind.fields if one.needed(previous) and one.name not in previous}
    if kind.natural is not None and kind.natural not in previous and not _is_grant(kind):
        missing.add(kind.natural)
    if missing:
        return f"a new {kind.noun} needs {', '.join(sorted(missing))}, which the plan does not contain"
    live = _find_similar_object(entries, recorded)
    if live is None:
        return None
    return f"another {kind.noun} has the same name now: {entries.names.address(live.identity)}"


def _is_grant(kind: Kind) -> bool:
    """Return whether an object of this kind has the id of the object that it refers to (a team member)."""
    return kind.natural is not None and kind.field(kind.natural).source == kind.id


def _find_similar_object(entries: RevertedEntries, recorded: RecordedChange) -> LiveObject | None:
    """Return the live object in the same scope with the same identifying values (such as the title)."""
    previous = {item.field: item.before for item in recorded.change.was}
    kind, display = entries.registry[recorded.change.kind], entries.comparison.sides.values.display
    for identity in entries.comparison.snapshot.scopes[recorded.address.place]:
        live = entries.comparison.snapshot.objects[identity]
        now = {
            one.name: display(one, live.fields.get(one.name), live)
            for one in kind.fields
            if live.kind == kind.name
        }
        for names in kind.identity:
            key = (names,) if isinstance(names, str) else names
            if all(
                _nested_value(previous, one) is not None
                and _nested_value(previous, one) == _nested_value(now, one)
                for one in key
            ):
                return live
    return None


def _declare_new_object(entries: RevertedEntries, recorded: RecordedChange, scope: Scope) -> None:
    """Add an entry for a new object. `set_previous_values` sets the fields later."""
    change, kind = recorded.change, entries.registry[recorded.change.kind]
    natural = change.id if _is_grant(kind) else recorded.deleted.get(kind.natural or "")
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
        f"To keep this {kind.noun}, add an entry to {scope.address}. "
        f"Otherwise, the next apply may delete this {kind.noun}"
    )
    entries.record_restored(recorded.address, f"{head}. {to_keep}")


def set_previous_values(entries: RevertedEntries) -> None:
    """Set the previous values of re-created objects. Skip an object if a value cannot be restored."""
    while missing_values := {
        at: name for at, one in entries.recreated.items() if (name := _find_missing_value(entries, one))
    }:
        for at, name in missing_values.items():
            recorded = entries.recreated.pop(at)
            del entries.resources[at], entries.restored[recorded.change.address]
            entries.notes = [note for note in entries.notes if note.address != str(recorded.address)]
            noun = entries.registry[recorded.change.kind].noun
            entries.record_not_reverted(
                recorded.address, f"this {noun} was deleted, and a new {noun} needs {name}"
            )
    for at, recorded in entries.recreated.items():
        kind = entries.registry[recorded.change.kind]
        fields = {
            name: entries.references.value_of(recorded.deleted, kind.field(name)) for name in recorded.deleted
        }
        if _is_grant(kind):
            fields |= _grant_fields(entries, recorded)
        entries.resources[at] = replace(entries.resources[at], fields=fields)
        lost = [one.name for one in kind.writable_fields if one.type.may_be_secret or one.source is None]
        if lost:
            entries.record_not_reverted(
                recorded.address, f"a plan never contains the values of {', '.join(sorted(lost))}"
            )


def _grant_fields(entries: RevertedEntries, recorded: RecordedChange) -> dict[str, Value]:
    """Return the reference from a grant to the team, member or other object that has the grant's id.

    Raises CannotRestore if there is no such object.
    """
    kind, id = entries.registry[recorded.change.kind], recorded.change.id
    assert kind.natural is not None
    assert id is not None
    return {
        kind.natural: entries.references.reference_to_id(id, kind.field(kind.natural), recorded.address.first)
    }


def _find_missing_value(entries: RevertedEntries, recorded: RecordedChange) -> str | None:
    """Return the first field that cannot be restored, with the reason; None if there is none."""
    for name in recorded.deleted:
        try:
            entries.references.value_of(recorded.deleted, entries.registry[recorded.change.kind].field(name))
        except CannotRestore as unknown:
            return f"{name}: {unknown}"
    kind = entries.registry[recorded.change.kind]
    try:
        _ = _grant_fields(entries, recorded) if _is_grant(kind) else None
    except CannotRestore as unknown:
        return f"{kind.natural}: {unknown}"
    return None


def _nested_value(values: Any, name: str) -> Any:
    """Return the value at a dotted name in nested mappings; None if it is missing."""
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values
