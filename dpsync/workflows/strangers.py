"""Live things that no entry is, and entries that are perhaps one of them under another name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpsync.model.address import Address, Pattern
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject, Match
from dpsync.planner.drift import candidates
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides
from dpsync.workflows.session import Planned


def undeclared(
    planned: Planned, patterns: Sequence[Pattern]
) -> tuple[Mapping[Address, LiveObject], list[Diagnostic]]:
    """What the patterns name of everything that was read and that nobody declares, and what names nothing."""
    sides = planned.sides
    known = {
        sides.names.address(identity): sides.snapshot.objects[identity]
        for identities in sides.snapshot.scopes.values()
        for identity in identities
        if identity not in sides.names.declared
    }
    found: dict[Address, LiveObject] = {}
    problems, addresses = [], sorted(known)
    for pattern in patterns:
        named = [address for address in addresses if pattern.matches(address)]
        found |= {address: known[address] for address in named}
        if not named:
            message = f'"{pattern.text}" names nothing that was read and that no entry declares'
            hint = (
                "drift names such things; a place that no file declares is read when policy: watch names it"
            )
            problems.append(Diagnostic("unknown-address", message, hint=hint))
    return found, problems


def renamed(planned: Planned, patterns: Sequence[Pattern]) -> Planned:
    """The plan with each named entry that is not live taken for the one live thing that looks like it."""
    sides = planned.sides
    taken: dict[Address, Match] = {}
    for address, live in candidates(sides).items():
        named = any(pattern.covers(address) or pattern.matches(address) for pattern in patterns)
        if named and len(live) == 1 and live[0].id not in {match.id for match in taken.values()}:
            taken[address] = Match(live[0].id, "looks", first=False)
    if not taken:
        return planned
    snapshot = replace(sides.snapshot, matches={**sides.snapshot.matches, **taken})
    again = Sides(sides.registry, sides.desired, snapshot, sides.options, sides.base)
    return Planned(make_plan(again), again)
