"""Fields that no entry declares and the policy watches: the platform's default stands for a line.

Nothing is ever written because of them. Drift tells that one has moved; `import --update` gives it a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsync.model.entries.desired import Resource
from dpsync.model.entries.snapshot import LiveObject
from dpsync.model.entries.values import Value
from dpsync.model.plans.cause import Cause
from dpsync.planner.decide.compare import Changed, in_base, same
from dpsync.planner.inputs.sides import Sides


def watched_defaults(sides: Sides, resource: Resource) -> Mapping[str, Value]:
    """The defaults of the fields that the policy watches and this entry does not declare."""
    named = {one.field for one in sides.desired.policy.watch_fields if one.matches(resource.address)}
    undeclared = named - resource.fields.keys()
    return {
        field.name: field.platform_default
        for field in (sides.kind(resource).fields if undeclared else ())
        if field.name in undeclared and field.watchable
        if not sides.policy.ignored(resource.address, field.name)
    }


def moved_defaults(sides: Sides, resource: Resource, live: LiveObject) -> Iterator[Changed]:
    """Those that are live with another value, as far as the platform says what they are."""
    for name, default in watched_defaults(sides, resource).items():
        field, value = sides.kind(resource).field(name), live.fields.get(name)
        after = sides.values.normal(field, default, resource)
        before = sides.values.normal(field, value, live)
        if value is not None and not same(field, after, before):
            yield Changed(field, after, before)


def why_moved(sides: Sides, resource: Resource, live: LiveObject, name: str) -> Cause:
    """Why such a field is not the default: somebody took its line away here, or else nobody did it here."""
    if sides.base.desired is None:
        return "origin unknown"
    before = in_base(sides, resource, live)
    return "edited here" if before is not None and name in before.fields else "changed outside"
