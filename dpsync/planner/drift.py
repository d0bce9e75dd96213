"""A plan seen the other way round: what is live instead of what the files say, and who moved.

Pure. The comparison is the planner's own, so that drift and plan can never disagree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from dpsync.model.address import Address
from dpsync.model.desired import Policy, Resource
from dpsync.model.drift import Drift, Drifted, FieldDrift, Mover, Renamed
from dpsync.model.plan import Change, Kept, Plan
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import Ref
from dpsync.planner.compare import same
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
        refusals=plan.refusals,
        base=plan.base,
        base_from=plan.base_from,
        requests=plan.requests,
        origins=plan.origins,
    )


def _without(kept: Iterable[Kept], told: Collection[str]) -> Iterator[Kept]:
    for item in kept:
        left = tuple(address for address in item.addresses if address not in told)
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
            yield item.model_copy(update={"fields": left, "place": None, "moved": _together(left)})


def _together(parts: Sequence[FieldDrift]) -> Mover:
    movers = {part.moved for part in parts}
    return movers.pop() if len(movers) == 1 else "both" if movers else "unknown"


class _Witness:
    """Asks the git base who moved."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.before = sides.base.desired
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
        moved: Mover = "unknown"
        if self.before is not None:
            moved = "platform" if Address.parse(change.address) in self.before.resources else "file"
        return self._perhaps(change.address, change.kind, change.label, moved)

    def _perhaps(self, address: str, kind: str, label: str, moved: Mover) -> Drifted:
        """An entry that is not live, with what it may be called now."""
        live = self.candidates.get(Address.parse(address), ())
        return Drifted(
            address=address,
            kind=kind,
            what="missing",
            label=label,
            moved=moved,
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
            moved=self._who_left_it(self._identity(change)),
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
                    label = self.sides.names.label(live)
                    yield Drifted(
                        address=address,
                        kind=live.kind,
                        what="undeclared",
                        label=label,
                        id=live.id,
                        moved=self._who_left_it(identity),
                        in_tree=self.sides.registry[live.kind].in_tree,
                        kept=True,
                    )

    def _who_left_it(self, identity: Identity | None) -> Mover:
        """Who is behind something undeclared: it was made on the platform, or its entry was removed."""
        if self.before is None:
            return "unknown"
        return "file" if identity in self.sides.names.earlier_addresses else "platform"

    def _identity(self, change: Change) -> Identity | None:
        objects = self.sides.snapshot.objects.values()
        mine = (item.identity for item in objects if (item.kind, item.id) == (change.kind, change.id))
        return next((one for one in mine if str(self.sides.names.address(one)) == change.address), None)

    def _different(self, change: Change) -> Drifted:
        resource = self.sides.resources[Address.parse(change.address)]
        fields = tuple(
            FieldDrift(
                field=item.field,
                live=item.before,
                file=item.after,
                known=item.known,
                moved=self._field(resource, item.field) if item.known else "file",
            )
            for item in change.differences
        )
        movers = {part.moved for part in fields} | ({self._place(resource)} if change.moved else set())
        return Drifted(
            address=change.address,
            kind=change.kind,
            what="different",
            label=change.label,
            id=change.id,
            fields=fields,
            place=change.moved,
            moved=movers.pop() if len(movers) == 1 else "both",
        )

    def _earlier(self, address: Address) -> Resource | None:
        """The entry of the git base that this one was."""
        if self.before is None:
            return None
        live = self.sides.live(address)
        named = self.sides.names.earlier_addresses.get(live.identity) if live else None
        return self.before.resources.get(named or address)

    def _field(self, resource: Resource, name: str) -> Mover:
        if self.before is None:
            return "unknown"
        earlier, live = self._earlier(resource.address), self.sides.live(resource.address)
        if earlier is None or name not in earlier.fields or live is None:
            return "file"
        field = self.sides.kind(resource).field(name)
        then = self.sides.values.normal(field, earlier.fields[name], resource)
        now = self.sides.values.normal(field, live.fields.get(name), live)
        if same(field, resource.fields[name], then):
            return "platform"
        return "file" if same(field, then, now) else "both"

    def _place(self, resource: Resource) -> Mover:
        """Who changed the order of the siblings."""
        wanted, then = self._siblings(resource)
        if not wanted or not then:
            return "unknown" if self.before is None else "file"
        if _in_common(wanted, then) == _in_common(then, wanted):
            return "platform"
        now = self._live_order(resource)
        return "file" if _in_common(now, then) == _in_common(then, now) else "both"

    def _siblings(self, resource: Resource) -> tuple[Sequence[Address], Sequence[Address]]:
        """The siblings in order, as the files have them and as the git base had them."""
        holder = self._holder(resource)
        earlier = self._earlier(holder) if holder else None
        if holder is None or earlier is None:
            return (), ()
        order = self.sides.registry.list_order(resource.kind)
        if order is None:
            return self.sides.desired.resources[holder].children, earlier.children
        return _addresses(self.sides.resources[holder], order.name), _addresses(earlier, order.name)

    def _holder(self, resource: Resource) -> Address | None:
        order = self.sides.registry.list_order(resource.kind)
        if order is not None:
            at = resource.fields.get(order.by)
            return at.address if isinstance(at, Ref) else None
        return resource.holder or resource.parent

    def _live_order(self, resource: Resource) -> Sequence[Address]:
        holder = self._holder(resource)
        live = self.sides.live(holder) if holder else None
        lane = self.sides.snapshot.lanes.get(live.identity, ()) if live else ()
        return [self.sides.names.declared[one] for one in lane if one in self.sides.names.declared]


def _addresses(resource: Resource, name: str) -> Sequence[Address]:
    return [item.address for item in resource.fields.get(name) or () if isinstance(item, Ref)]


def _in_common(mine: Sequence[Address], other: Sequence[Address]) -> list[Address]:
    return [address for address in mine if address in other]
