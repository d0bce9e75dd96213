"""What an apply has deleted is restored where the platform can do that, or made anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dpsync.kinds.kind import Call
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry, Scope
from dpsync.model.entries.snapshot import LiveObject
from dpsync.model.findings.span import Span
from dpsync.model.plans.change import Change
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.reversal.values import CannotComeBack, value_of


def restore(entries: RevertedEntries, recorded: RecordedChange) -> None:
    """Want back what a change has deleted, or a new one in its place; else a note says why not."""
    change, address = recorded.change, recorded.location
    kind = entries.registry[change.kind]
    for effect in change.effects:
        entries.note(effect.address, f"it went along when {address} was deleted: it may not come back")
    scope = address.place
    place = entries.session.desired.scopes.get(scope)
    if kind.lifecycle.restore is None or change.id is None:
        why = _cannot_be_made(entries, change, scope)
        if why is not None:
            entries.note(address, f"it was deleted and does not come back: {why}")
        elif place is not None:
            _make_anew(entries, recorded, scope, place)
        return
    if place is None:
        entries.note(address, f"it was deleted: to restore it, declare {scope} with id: {change.id}")
        return
    if any(entry.pin == change.id for entry in entries.resources.values()):
        return
    days = kind.lifecycle.restore.days
    key = f"restored-{change.id}"
    at = scope.child(key)
    span = Span.start_of("restored")
    entries.resources[at] = Entry(
        kind=change.kind, address=at, key=key, parent=place.parent, holder=None, fields={},
        span=span, spans={}, pin=change.id,
    )  # fmt: skip
    entries.restored[change.address] = at
    entries.note(
        address,
        f"it is restored, which the platform allows for {days} days, with what was in it;"
        f" to keep it, give it an entry with id: {change.id}",
    )


def _cannot_be_made(entries: RevertedEntries, change: Change, scope: Address) -> str | None:
    """Why no new one is made in its place; None where one can be."""
    kind, was = entries.registry[change.kind], {item.field for item in change.was}
    if kind.in_tree:
        return "its place in the navigation is in no plan. With its entry, apply makes a new one"
    if not isinstance(kind.create, Call) or not was:
        return "no request makes one like it"
    if scope not in entries.session.desired.scopes or scope not in entries.now.snapshot.scopes:
        return f"{scope} is not declared any more. With its entry, apply makes a new one"
    lacking = {one.name for one in kind.fields if one.required and one.name not in was}
    if kind.natural is not None and (kind.natural not in was or kind.field(kind.natural).type.refers):
        lacking.add(kind.natural)
    if lacking:
        return f"a new one needs {', '.join(sorted(lacking))}, which no plan has as it is written"
    live = _like(entries, change, scope)
    return f"{entries.names.address(live.identity)} is like it, and is there by now" if live else None


def _like(entries: RevertedEntries, change: Change, scope: Address) -> LiveObject | None:
    """What is live where it was, and is recognised by the same values."""
    was = {item.field: item.before for item in change.was}
    kind, display = entries.registry[change.kind], entries.now.sides.values.display
    for identity in entries.now.snapshot.scopes[scope]:
        live = entries.now.snapshot.objects[identity]
        now = {
            one.name: display(one, live.fields.get(one.name), live)
            for one in kind.fields
            if live.kind == change.kind
        }
        for names in kind.identity:
            key = (names,) if isinstance(names, str) else names
            if all(_part(was, one) is not None and _part(was, one) == _part(now, one) for one in key):
                return live
    return None


def _lacks(entries: RevertedEntries, recorded: RecordedChange) -> str | None:
    """A value without which none is made, and that cannot be had; None where it has all."""
    for name in recorded.was:
        try:
            value_of(recorded.was, entries.registry[recorded.change.kind].field(name), entries.named)
        except CannotComeBack as unknown:
            return f"{name}: {unknown}"
    return None


def _make_anew(entries: RevertedEntries, recorded: RecordedChange, scope: Address, place: Scope) -> None:
    """Want a new one with the values of before. What refers to it is known when all of them are."""
    change, kind = recorded.change, entries.registry[recorded.change.kind]
    named = recorded.was.get(kind.natural or "")
    key = named if isinstance(named, str) else f"anew-{change.id}"
    at = scope.child(key)
    if at in entries.resources:
        entries.note(change.location, f"it was deleted and does not come back: {at} is declared by now")
        return
    entries.resources[at] = Entry(
        kind=change.kind, address=at, key=key, parent=place.parent, holder=None, fields={},
        span=Span.start_of("made anew"), spans={}, new=True,
    )  # fmt: skip
    entries.restored[change.address] = at
    entries.anew[at] = recorded
    entries.note(
        change.location,
        "it is made anew, with a new id: what was in it or named it is not in it again."
        f" To keep it, give it an entry in {scope}, or the next apply may delete it",
    )


def fill_in(entries: RevertedEntries) -> None:
    """Give what is made anew its values of before. What lacks one that making it needs is not made."""
    while lacking := {at: name for at, one in entries.anew.items() if (name := _lacks(entries, one))}:
        for at, name in lacking.items():
            change = entries.anew.pop(at).change
            del entries.resources[at], entries.restored[change.address]
            entries.note(
                change.location, f"it was deleted and does not come back: a new one needs its {name}"
            )
    for at, recorded in entries.anew.items():
        kind = entries.registry[recorded.change.kind]
        fields = {name: value_of(recorded.was, kind.field(name), entries.named) for name in recorded.was}
        entries.resources[at] = replace(entries.resources[at], fields=fields)
        lost = [one.name for one in kind.writable_fields if one.type.may_be_secret or one.source is None]
        if lost:
            entries.note(recorded.location, f"in no plan is what it had as {', '.join(sorted(lost))}")


def _part(values: Any, name: str) -> Any:
    """A value by its name, with dots between the members that lead to it; None where there is none."""
    for part in name.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values
