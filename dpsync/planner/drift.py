"""A plan seen the other way round: what is live instead of what the files say.

Pure. The comparison is the planner's own, so that drift and plan can never disagree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.desired import Policy
from dpsync.model.drift import Drift, Drifted, FieldDrift, Renamed
from dpsync.model.plan import Plan
from dpsync.model.remark import Kept
from dpsync.model.snapshot import LiveObject
from dpsync.planner.causes import Causes
from dpsync.planner.decisions import decide
from dpsync.planner.lookalikes import lookalikes
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides
from dpsync.planner.unwritten import with_unwritten


def candidates(sides: Sides) -> dict[Address, tuple[LiveObject, ...]]:
    """By entry that is not live, the live things that look like it and that no entry is: renamed, perhaps."""
    found = lookalikes(sides, decide(sides).blocking)
    return {one.resource.address: one.live for one in found if one.by_looks}


def find_drift(sides: Sides, plan: Plan, everything: bool = False) -> Drift:
    """The drift behind a plan that was made of these sides.

    With `everything` also what is undeclared in the places that the policy watches.
    """
    witness = _Witness(sides)
    appeared = tuple(witness.appeared(plan)) if everything else ()
    return Drift(
        platform=plan.platform,
        organizations=plan.organizations,
        environment=plan.environment,
        environments=plan.environments,
        profile=plan.profile,
        part=plan.part,
        found=(*witness.each(plan), *appeared),
        ignored=tuple(_ignored(sides, plan)),
        blocked=plan.blocked,
        unread=_unread(sides),
        kept=tuple(_without(plan.kept, {item.address for item in appeared})),
        waiting=plan.waiting,
        trouble=plan.trouble,
        notes=plan.notes,
        unwatched=plan.unwatched,
        same_edit_twice=plan.same_edit_twice,
        refusals=plan.refusals,
        base=plan.base,
        base_from=plan.base_from,
        requests=plan.requests,
        origins=plan.origins,
    )


def _without(kept: Iterable[Kept], reported: Collection[str]) -> Iterator[Kept]:
    for item in kept:
        left = tuple(address for address in item.addresses if address not in reported)
        if left:
            yield item.model_copy(update={"addresses": left})


def _unread(sides: Sides) -> tuple[str, ...]:
    """What could not be compared, as far as somebody watches it."""
    snapshot = sides.snapshot
    places = (*snapshot.unread, *snapshot.unwatched)
    found = [str(address) for address in places if not sides.policy.ignored(address)]
    found += [f"{at}#{name}" for at, name in snapshot.unread_fields if not sides.policy.ignored(at, name)]
    return tuple(sorted(found))


def _ignored(sides: Sides, plan: Plan) -> Iterator[Drifted]:
    """What would be drift, too, if no policy said to ignore it."""
    policy = sides.desired.policy
    if not policy.ignore:
        return
    strict: Policy = replace(policy, ignore=())
    everything = replace(sides, desired=replace(sides.desired, policy=strict))
    known = {change.address: change for change in plan.changes}
    for item in _Witness(everything).each(make_plan(everything)):
        change = known.get(item.address)
        if change is None:
            yield item
            continue
        named = {difference.field for difference in change.differences}
        left = tuple(part for part in item.fields if part.field not in named)
        if left:
            yield item.model_copy(update={"fields": left, "place": None, "cause": None})


class _Witness:
    """Tells each change of a plan from the platform."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.causes = Causes(sides)
        self.candidates = candidates(sides)

    def each(self, plan: Plan) -> Iterator[Drifted]:
        for change in with_unwritten(self.sides, plan).changes:
            if change.action == "create":
                yield self._missing(change)
            elif change.action == "delete":
                yield self._undeclared(change)
            elif change.differences or change.moved:
                yield self._different(change)

    def _missing(self, change: Change) -> Drifted:
        """An entry that is not live, with what it may be called now."""
        live = self.candidates.get(Address.parse(change.address), ())
        return Drifted(
            address=change.address,
            kind=change.kind,
            what="missing",
            label=change.label,
            cause=change.cause,
            renamed=tuple(
                Renamed(
                    address=str(self.sides.names.address(item.identity)),
                    id=item.id,
                    label=self.sides.names.label(item),
                )
                for item in live
            ),
        )

    def _undeclared(self, change: Change) -> Drifted:
        return Drifted(
            address=change.address,
            kind=change.kind,
            what="undeclared",
            label=change.label,
            id=change.id,
            cause=change.cause,
            in_tree=self.sides.registry[change.kind].in_tree,
        )

    def appeared(self, plan: Plan) -> Iterator[Drifted]:
        """What is kept in the places that the policy watches."""
        watch = self.sides.desired.policy.watch
        for kept in plan.kept:
            place = Address.parse(kept.place)
            if not any(pattern.matches(place) for pattern in watch):
                continue
            for identity in self.sides.snapshot.scopes[place]:
                address = str(self.sides.names.address(identity))
                if address in kept.addresses:
                    live = self.sides.snapshot.objects[identity]
                    yield Drifted(
                        address=address,
                        kind=live.kind,
                        what="undeclared",
                        label=self.sides.names.label(live),
                        id=live.id,
                        cause=self.causes.removed(identity),
                        in_tree=self.sides.registry[live.kind].in_tree,
                        kept=True,
                    )

    @staticmethod
    def _different(change: Change) -> Drifted:
        return Drifted(
            address=change.address,
            kind=change.kind,
            what="different",
            label=change.label,
            id=change.id,
            fields=tuple(
                FieldDrift(
                    field=item.field, live=item.before, file=item.after, known=item.known, cause=item.cause
                )
                for item in change.differences
            ),
            place=change.moved,
            cause=change.cause,
        )
