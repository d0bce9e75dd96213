"""Compare undeclared objects with the values in `policy: watch` patterns.

`import` writes such a pattern for each object that it cannot write as an entry. Without an entry, only the
pattern contains the expected value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from msgspec import Struct

from dpsync.kinds.types import INVALID
from dpsync.kinds.watching import format_value, parse_value
from dpsync.model.address import Address, Pattern
from dpsync.model.drift import Drifted, FieldDrift
from dpsync.model.plan import Origin
from dpsync.model.snapshot import Identity
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.why.remarks import where


class WatchedValues(Struct, frozen=True):
    """Undeclared objects whose values differ from the policy, and by address the line of the pattern."""

    found: tuple[Drifted, ...]
    origins: Mapping[str, Origin]


def watched_values(
    sides: Sides, origins: Mapping[str, Origin], is_selected: Callable[[Address], bool]
) -> WatchedValues:
    """Return the selected objects that differ from a pattern with a value.

    `origins` has the line of each pattern.
    """
    fields: dict[Identity, dict[str, FieldDrift]] = defaultdict(dict)
    lines: dict[str, Origin] = {}
    for pattern in sides.desired.policy.watch_values:
        for identity in sides.names.undeclared_matching(pattern):
            drift = _difference(sides, pattern, identity)
            if drift is None or not is_selected(sides.names.address(identity)):
                continue
            fields[identity][drift.field] = drift
            origin = origins.get(where("watch", pattern))
            if origin is not None:
                lines.setdefault(str(sides.names.address(identity)), origin)
    found = []
    for identity, differences in sorted(fields.items()):
        live = sides.snapshot.objects[identity]
        found.append(
            Drifted(
                address=str(sides.names.address(identity)),
                kind=live.kind,
                what="different",
                label=sides.names.label(live),
                id=live.id,
                fields=tuple(differences.values()),
                kept=True,
            )
        )
    return WatchedValues(tuple(found), lines)


def _difference(sides: Sides, pattern: Pattern, identity: Identity) -> FieldDrift | None:
    """Return how a live field differs from a pattern; None if it does not, or if the field is ignored."""
    live, name = sides.snapshot.objects[identity], pattern.field or ""
    address = sides.names.address(identity)
    field = next((one for one in sides.kind(live).fields if one.name == name), None)
    left_alone = sides.policy.ignored(address, name) or sides.policy.forgotten(identity)
    if field is None or left_alone:
        return None
    value, wanted = live.fields.get(name), parse_value(field, pattern.value or "")
    if wanted is INVALID or format_value(field, value) == format_value(field, wanted):
        return None
    then = sides.labels.compared
    known = then is None or any(one.text == pattern.text for one in then.desired.policy.watch_values)
    return FieldDrift(field=name, live=value, file=wanted, cause=None if known else "edited here")
