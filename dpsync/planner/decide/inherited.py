"""What an entry shows as declared only because something around it says so, while that becomes otherwise.

An answer has what holds, so nobody can see whose a value is. Where the one around changes in this plan, a
value that both have now is written to the entry as its own: else it would go with that change, and the entry
would not be as declared until another apply. A value that is its own already is written once more, and stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value, canonical
from dpsync.planner.decide.compare import Changed, inherited_from, managed, same, without_inherited
from dpsync.planner.inputs.sides import Sides


def kept_as_own(
    sides: Sides, resource: Entry, live: LiveObject, around: Collection[Changed], but: Collection[str]
) -> Iterator[Changed]:
    """The fields of an entry that are live as declared, and would not be once these of the one around are
    written. `but`: fields that are written anyway.
    """
    changing = {item.field.name: item for item in around}
    inherited = inherited_from(sides, resource)
    for field in managed(sides, resource) if changing else ():
        item = changing.get(field.name)
        if item is None or field.name in but or resource.fields[field.name] is None:
            continue
        wanted = sides.values.normal(field, resource.fields[field.name], resource)
        now = sides.values.normal(field, live.fields.get(field.name), live)
        after = item.field.type.over(item.before, item.after)
        then = without_inherited(_held(now, item.before, after), after, wanted)
        if not same(field, wanted, then):
            yield Changed(field, wanted, now, inherited)


def _held(now: Value, before: Value, after: Value) -> Value:
    """What holds once the value around has become `after`, where each part that both have is inherited."""
    if canonical(now) == canonical(before):
        return after
    if isinstance(now, dict) and isinstance(before, dict) and isinstance(after, dict):
        names = [*now, *(name for name in after if name not in now)]
        parts = {name: _held(now.get(name), before.get(name), after.get(name)) for name in names}
        return {name: part for name, part in parts.items() if part is not None}
    return now
