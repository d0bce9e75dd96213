"""Both sides of a plan made of plain values: no files, no server, no threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Desired, Limits, Policy, Resource, Scope
from dpsync.model.snapshot import LiveObject, Match, Snapshot
from dpsync.model.span import Span
from dpsync.planner.decisions import Decisions, decide
from dpsync.planner.edges import connect
from dpsync.planner.requests import Requests
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import StepSet
from dpsync.planner.unique import UniqueValues
from dpsync.planner.writing import write_steps

from .lab import REGISTRY

SPAN = Span("dpsync.yaml", 1, 1, 1, 2)
ACME = Address.root("acme")


@dataclass
class Case:
    """One organization. `wanted` and `live` are by kind and key: a live thing's id is its kind and key.

    What is on both sides under one key is one thing. Values of kinds in trees are not for this.
    """

    wanted: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    live: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    prune: Sequence[str] = ()
    protect: Sequence[str] = ()
    ignore: Sequence[str] = ()
    limits: Limits = field(default_factory=lambda: Limits(1000, 1000))
    confirm: Sequence[str] = ()
    user: str | None = None

    def sides(self) -> Sides:
        resources = {ACME: _entry("organization", ACME, "acme", None, {})}
        matches = {ACME: Match("acme", "pin")}
        organization = LiveObject("organization", "acme", None, None, {"title": "Acme"}, "/orgs/acme")
        objects = {organization.identity: organization}
        scopes: dict[Address, Scope] = {}
        held: dict[Address, tuple[tuple[str, str], ...]] = {}
        for kind in sorted({*self.wanted, *self.live}):
            place = ACME.child(REGISTRY[kind].key)
            natural = REGISTRY[kind].natural
            for key, fields in self.live.get(kind, {}).items():
                known = {natural: key, **fields} if natural else fields
                item = LiveObject(
                    kind, f"{kind}-{key}", organization.identity, None, known, place.segments[-1],
                    own_id=REGISTRY[kind].own_id,
                )  # fmt: skip
                objects[item.identity] = item
                held[place] = (*held.get(place, ()), item.identity)
                if key in self.wanted.get(kind, {}):
                    matches[place.child(key)] = Match(item.id, "title")
            for key, fields in self.wanted.get(kind, {}).items():
                resources[place.child(key)] = _entry(kind, place.child(key), key, ACME, fields)
            if kind in self.wanted:
                scopes[place] = Scope(place, ACME, (kind,), SPAN)
        return Sides(
            REGISTRY,
            Desired(resources, scopes, policy=self._policy()),
            Snapshot(objects, matches, {place: held.get(place, ()) for place in scopes}, {}, user=self.user),
            Options(tuple(self.confirm)),
        )

    def _policy(self) -> Policy:
        words = REGISTRY.words
        prune, protect, ignore = (
            tuple(Pattern.parse(text, words) for text in texts)
            for texts in (self.prune, self.protect, self.ignore)
        )
        return Policy(prune, protect, ignore, self.limits)

    def decisions(self) -> Decisions:
        return decide(self.sides())

    def steps(self) -> StepSet:
        """The steps with the edges between them."""
        decisions = self.decisions()
        steps = write_steps(decisions)
        UniqueValues(decisions.sides, steps, Requests(decisions.sides), decisions.deletions).settle_all()
        connect(decisions, steps)
        return steps


def _entry(
    kind: str, address: Address, key: str, parent: Address | None, fields: Mapping[str, Any]
) -> Resource:
    pin = fields.get("id")
    values = {name: value for name, value in fields.items() if name != "id"}
    return Resource(kind, address, key, parent, None, values, SPAN, {}, pin)


def before(steps: StepSet, first: str, then: str) -> bool:
    """Whether one step can only be sent when another one is done."""
    waiting, seen = [then], set[str]()
    while waiting:
        for needed in steps.steps[waiting.pop()].needs - seen:
            seen.add(needed)
            waiting.append(needed)
    return first in seen
