"""What differs between an entry and its live object: declared, readable fields, both sides normalised."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind, ListOrder
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject, MatchedBy
from dpsync.model.values import PLAIN, Value, canonical, digest, has_null
from dpsync.planner.inputs.answers import SEND, Answer
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.inputs.values import Values


class Changed(Struct, frozen=True):
    """A field that must be written: the wanted value and the live one, both in their normal form."""

    field: Field
    after: Value
    before: Value
    inherited: Address | None = None
    """Whose value it has so far, where it is as wanted now and would not be after this plan."""

    def difference(self, values: Values, resource: Entry, cause: Cause | None) -> Difference:
        """The same as a plan shows it."""
        return Difference(
            field=self.field.name,
            before=values.display(self.field, self.field.type.narrow(self.before, self.after), resource),
            after=values.display(self.field, self.after, resource),
            known=self.field.source is not None,
            cause=cause,
            inherited=str(self.inherited) if self.inherited is not None else None,
        )


def managed(sides: Sides, resource: Entry) -> Iterator[Field]:
    """The fields that this entry declares, that some call can write and that no repository decides."""
    kind = sides.kind(resource)
    match = sides.snapshot.matches.get(resource.address)
    renamed = match is not None and match.by is MatchedBy.PREVIOUSLY
    synced = sides.synced.fields
    for field in kind.writable_fields:
        fixed = field.name == kind.natural and not renamed
        if field.name in resource.fields and not fixed and (resource.address, field.name) not in synced:
            yield field


def changed(sides: Sides, resource: Entry, live: LiveObject) -> list[Changed]:
    """The fields of a live object that are not as wanted."""
    found, kind = [], sides.kind(resource)
    for field in managed(sides, resource):
        wanted, there = resource.fields[field.name], live.fields.get(field.name)
        equal = wanted == there and type(wanted) in PLAIN and type(wanted) is type(there)
        if equal and not field.may_be_unread:
            continue  # nearly every field of nearly every entry
        after = sides.values.normal(field, wanted, resource)
        before = sides.values.normal(field, there, live)
        readable = field.source is not None
        if has_null(after):
            before = without_inherited(before, _inherited_value(sides, resource, field), after)
        if (
            (readable and not same(field, after, before))
            or _lacks_processed_part(kind, field, wanted, live)
            or _unread_changed(sides, resource, field, live)
        ):
            found.append(Changed(field, after, before))
    return found


def inherited_from(sides: Sides, resource: Entry) -> Address | None:
    """Return the entry from which an entry inherits unset fields; None if the kind inherits nothing."""
    inherits = sides.kind(resource).inherits
    if inherits is None:
        return None
    other = sides.registry[inherits]
    owners = (sides.lineage.ancestor(resource, parent) for parent in other.parents)
    return next((owner.child(*other.key.split(".")) for owner in owners if owner is not None), None)


def _inherited_value(sides: Sides, resource: Entry, field: Field) -> Value:
    """Return the live value that an entry without its own value has; None if it inherits none."""
    around = inherited_from(sides, resource)
    live = sides.live(around) if around is not None else None
    return None if live is None else sides.values.normal(field, live.fields.get(field.name), live)


def without_inherited(before: Value, inherited: Value, after: Value) -> Value:
    """Return a live value without the parts that the wanted value clears and that are inherited.

    An answer contains the inherited value of each part that the object has no value for.
    """
    if after is None:
        return None if inherited is not None and canonical(before) == canonical(inherited) else before
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return before
    above = inherited if isinstance(inherited, dict) else {}
    parts = {
        name: without_inherited(part, above.get(name), after[name]) if name in after else part
        for name, part in before.items()
    }
    return {name: part for name, part in parts.items() if part is not None or name not in after}


def write_only(field: Field, value: Value) -> Value:
    """The part of a field's value that the platform never gives back, None when there is none."""
    if value is None or isinstance(field, ListOrder):
        return None
    return value if field.source is None else field.type.unread(value)


def not_known(kind: Kind, field: Field, value: Value, live: LiveObject) -> Value:
    """The part of an entry's value that cannot be read back, None when there is none.

    A part with a request of its own is known if the platform has answered that request, or has no such part
    because it could not process the value that was sent. While the platform is processing the value, the
    future answer is unknown, and the part is not compared with anything else either.
    """
    hidden = write_only(field, value)
    if not field.own_read or not isinstance(hidden, dict):
        return hidden
    known = _returned_parts(field, live)
    settled = kind.is_busy(live.fields) or processing_failed(kind, field, live)
    left = {
        name: part
        for name, part in hidden.items()
        if name not in field.own_read or not (settled or name in known)
    }
    return left or None


def _returned_parts(field: Field, live: LiveObject) -> Collection[str]:
    """Return the names of the parts of a field that the platform has returned."""
    known = live.fields.get(field.name)
    return known.keys() if isinstance(known, dict) else ()


def processing_failed(kind: Kind, field: Field, live: LiveObject) -> bool:
    """Return whether the platform reports that it could not process the last value of a field."""
    return field.name == kind.platform.processed and kind.trouble(live.fields) is not None


def _lacks_processed_part(kind: Kind, field: Field, value: Value, live: LiveObject) -> bool:
    """Return whether the platform lacks a declared, readable part of a value because processing failed."""
    hidden = write_only(field, value)
    if not isinstance(hidden, dict) or not processing_failed(kind, field, live):
        return False
    return bool(field.own_read.keys() & hidden.keys() - set(_returned_parts(field, live)))


def differs_from_base(sides: Sides, resource: Entry, field: Field, live: LiveObject) -> bool:
    """Whether a value that cannot be read back differs from that of the git base.

    An entry that the base does not have was sent when it was made, or is somebody else's work: either way
    nothing says that it changed.
    """
    value = sides.desired.resources[resource.address].fields[field.name]
    hidden, earlier = not_known(sides.kind(live), field, value, live), sides.names.in_base(resource, live)
    if hidden is None or earlier is None:
        return False
    return canonical(write_only(field, earlier.fields.get(field.name))) != canonical(hidden)


def _unread_changed(sides: Sides, resource: Entry, field: Field, live: LiveObject) -> bool:
    """Tell whether a value without a visible difference is sent: the base differs, or it was asked for."""
    if sides.options.proof:
        return False
    asked_for = sides.answers.gives(Answer(SEND, str(resource.address.field(field.name))))
    if asked_for and _can_be_resent(sides, resource, field):
        return True
    return differs_from_base(sides, resource, field, live)


def _can_be_resent(sides: Sides, resource: Entry, field: Field) -> bool:
    """Tell whether sending an unchanged value can have an effect: it cannot be read back, or is processed."""
    value = sides.desired.resources[resource.address].fields[field.name]
    return write_only(field, value) is not None or field.name == sides.kind(resource).platform.processed


def resendable(sides: Sides, resource: Entry) -> Iterator[Answer]:
    """Yield the question whether a field is sent again, for each field where that can have an effect."""
    for field in () if sides.options.proof else managed(sides, resource):
        if _can_be_resent(sides, resource, field):
            yield Answer(SEND, str(resource.address.field(field.name)))


def wanted_anew(sides: Sides, resource: Entry) -> list[Changed]:
    """The fields of an entry that is to be created, without those that a new object has anyway."""
    found = []
    for field in managed(sides, resource):
        after = sides.values.normal(field, resource.fields[field.name], resource)
        has_anyway = after is None or (isinstance(field.type, Flag) and after == field.absent)
        if not has_anyway:
            found.append(Changed(field, after, None))
    return found


def same(field: Field, after: Value, before: Value) -> bool:
    if after is None or before is None:
        return after is None and (before is None or before == field.absent)
    return field.type.same(after, before)


def object_digest(live: LiveObject, names: Collection[str]) -> str:
    """Digest of a live object: kind, id, parent, the named fields, and the repository that decides some."""
    fields = {name: value for name, value in live.fields.items() if name in names}
    owner = [live.synced.name, live.synced.together] if live.synced is not None else []
    return digest([live.kind, live.id, live.parent, live.holder, fields, *owner])
