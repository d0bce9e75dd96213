"""Turn a plan into drift: describe how live objects differ from the files, instead of what to change.

`find_drift` compares with the planner itself, so drift and plan cannot disagree. The module is pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from dpsync.kinds.places import container_and_order
from dpsync.model.address import Address
from dpsync.model.change import Cause, Change, Difference, Kept
from dpsync.model.desired import Entry, Policy
from dpsync.model.drift import Drift, Drifted, FieldDrift, Renamed
from dpsync.model.plan import DeleteDecision, Plan, count_deletes
from dpsync.model.snapshot import Identity, Snapshot
from dpsync.planner.changes import watched_values
from dpsync.planner.compare import widens_access
from dpsync.planner.decide import decide
from dpsync.planner.delete_questions import deletes_over_limits, effective_limits, undecided_deletes
from dpsync.planner.identity_questions import possibly_renamed_entries
from dpsync.planner.labels import Labels
from dpsync.planner.plan import make_plan, with_all_differences
from dpsync.planner.policy import EffectivePolicy
from dpsync.planner.rebound_ids import find_candidates
from dpsync.planner.selection import find_selection
from dpsync.planner.sides import Sides


def find_drift(sides: Sides, plan: Plan, with_watched: bool = False) -> Drift:
    """Return the drift behind a plan that was made from these sides.

    With `with_watched`, include undeclared objects in the places that the policy watches.
    """
    finder = _DriftFinder(sides, plan)
    differences = tuple(finder.find())
    watched = watched_values(sides, plan.origins, finder.is_selected)
    appeared = tuple(finder.undeclared_in_watched()) if with_watched else ()
    unwatched = (drifted for drifted in appeared if drifted.address not in watched.origins)
    all_drift = (*differences, *watched.drifted, *unwatched)
    kept = tuple(_without_reported(plan.kept, {item.address for item in (*watched.drifted, *appeared)}))
    return Drift(
        **{**plan.comparison_fields, "kept": kept, "origins": {**plan.origins, **watched.origins}},
        overlay=sides.desired.overlay,
        found=tuple(sorted(all_drift, key=lambda item: not item.opens)),
        ignored=tuple(_ignored(sides, differences)),
        unread=_not_readable_addresses(sides.snapshot, sides.policy),
    )


def _without_reported(kept_objects: Iterable[Kept], reported: Collection[str]) -> Iterator[Kept]:
    """Yield the kept objects without those that are reported as drift."""
    for kept in kept_objects:
        remaining = tuple(address for address in kept.addresses if address not in reported)
        if remaining:
            yield kept.model_copy(update={"addresses": remaining})


def _not_readable_addresses(snapshot: Snapshot, policy: EffectivePolicy) -> tuple[str, ...]:
    """Return the addresses that could not be compared, without ignored ones."""
    places = (*snapshot.not_readable, *snapshot.not_readable_watched)
    unread = [str(address) for address in places if not policy.is_ignored(address)]
    unread += [
        str(address.field(name))
        for address, name in snapshot.not_readable_fields
        if not policy.is_ignored(address, name)
    ]
    return tuple(sorted(unread))


def _ignored(sides: Sides, differences: Iterable[Drifted]) -> Iterator[Drifted]:
    """Yield the objects and fields that `policy.ignore` excludes from the reported `differences`.

    These are found by planning once more without `ignore`; objects and fields in `differences` are left out.
    """
    policy = sides.desired.policy
    if not policy.ignore:
        return
    strict: Policy = replace(policy, ignore=())
    everything = replace(sides, loaded=replace(sides.loaded, policy=strict))
    reported = {
        drifted.address: {difference.field for difference in drifted.fields} for drifted in differences
    }
    for drifted in _DriftFinder(everything, make_plan(everything)).find():
        if drifted.address not in reported:
            yield drifted
            continue
        remaining = tuple(
            difference for difference in drifted.fields if difference.field not in reported[drifted.address]
        )
        if remaining:
            yield drifted.model_copy(
                update={"fields": remaining, "place": None, "order": None, "cause": None}
            )


class _DriftFinder:
    """Describe the changes of a plan as drift of the platform."""

    def __init__(self, sides: Sides, plan: Plan) -> None:
        self.sides = sides
        self.plan = plan
        self.decisions = decide(sides)
        self.undecided = undecided_deletes(self.decisions)
        self.deletes_over_limits = deletes_over_limits(
            effective_limits(sides.desired.policy, sides.base, sides.names), plan.changes
        )
        self.out_of_place = {
            address: blocked.place
            for blocked in plan.blocked
            if blocked.place is not None and sides.live(address := blocked.location) is not None
        }
        moved = {change.location for change in plan.changes if change.moved}
        self.labels = Labels(sides, frozenset(moved | self.out_of_place.keys()))
        self.candidates = possibly_renamed_entries(self.decisions, find_candidates(sides))
        self.selected = find_selection(sides)

    def find(self) -> Iterator[Drifted]:
        """Yield the drift of each object."""
        reported = set[Address]()
        for change in with_all_differences(self.sides, self.plan).changes:
            address = change.location
            reported.add(address)
            if change.action == "delete":
                yield self._undeclared_object(change)
            elif self._is_missing(address):
                yield self._missing_entry(address, change.cause)
            elif self._live_differences(change) or change.moved or address in self.out_of_place:
                yield self._different_object(change)
        yield from self._left_out_deletes()
        yield from self._out_of_place(reported)
        yield from self._missing_entries(reported)

    @staticmethod
    def _live_differences(change: Change) -> tuple[Difference, ...]:
        """Return the differences between live object and files, without values that the plan only keeps."""
        return tuple(difference for difference in change.differences if difference.inherited is None)

    def _is_missing(self, address: Address) -> bool:
        """Return whether an entry is not live, or is live only as a deleted object that can be restored."""
        live = self.sides.live(address)
        return live is None or live.deleted

    def _out_of_place(self, reported: Collection[Address]) -> Iterator[Drifted]:
        """Yield objects in the wrong place that no request can move and that do not differ otherwise."""
        for address in sorted(self.out_of_place.keys() - reported):
            live = self.sides.live(address)
            entry = self.sides.entries[address]
            yield Drifted(
                address=str(address),
                kind=entry.kind,
                what="different",
                label=self.sides.names.label(entry),
                id=live.id if live is not None else None,
                place=self.out_of_place[address],
                order=self._ordering_list(entry),
                cause=self.labels.position_label(entry),
            )

    def _ordering_list(self, entry: Entry) -> str | None:
        """Return the address of the list that orders an entry among its siblings, None if no list does."""
        order_list = container_and_order(self.sides.registry, self.sides.entries, entry)
        return str(order_list[0].field(order_list[1].name)) if order_list is not None else None

    def _missing_entries(self, reported: Collection[Address]) -> Iterator[Drifted]:
        """Yield entries that are not live and that no plan creates, because they are blocked."""
        for address in self.sides.entries:
            is_left_alone = self.sides.policy.is_ignored(address) or not self.is_selected(address)
            if address not in reported and self._is_missing(address) and not is_left_alone:
                yield self._missing_entry(address, self.labels.create_label(address))

    def _missing_entry(self, address: Address, cause: Cause | None) -> Drifted:
        """Return an entry that is not live, with live objects that may be the entry renamed."""
        objects, candidates = self.sides.snapshot.objects, self.candidates.get(address)
        entry = self.sides.entries[address]
        return Drifted(
            address=str(address),
            kind=entry.kind,
            what="missing",
            label=self.sides.names.label(entry),
            cause=cause,
            renamed=tuple(
                Renamed(
                    address=str(self.sides.names.address(candidate.identity)),
                    id=candidate.id,
                    label=self.sides.names.label(candidate),
                )
                for candidate in (
                    objects[identity] for identity in (candidates.candidates if candidates else ())
                )
            ),
        )

    def _left_out_deletes(self) -> Iterator[Drifted]:
        """Yield undeclared objects whose delete the plan leaves out (`Deletions.unseen` and `held`)."""
        for identity in sorted(
            {*self.decisions.deletions.unreadable_dependents, *self.decisions.deletions.blocked_by_contents}
        ):
            if self.is_selected(self.sides.names.address(identity)):
                yield self._kept_object(identity)

    def is_selected(self, address: Address) -> bool:
        """Return whether an address belongs to the selection; every address does if nothing was selected."""
        return self.selected is None or address in self.selected.addresses

    def _kept_object(self, identity: Identity) -> Drifted:
        """Return an undeclared object that the plan keeps."""
        live = self.sides.snapshot.objects[identity]
        return Drifted(
            address=str(self.sides.names.address(identity)),
            kind=live.kind,
            what="undeclared",
            label=self.sides.names.label(live),
            id=live.id,
            cause=self.labels.delete_label(identity),
            in_tree=self.sides.registry[live.kind].is_node,
            kept=True,
            opens=self.sides.registry[live.kind].creation_widens_access,
        )

    def _undeclared_object(self, change: Change) -> Drifted:
        """Return an undeclared object that the plan deletes."""
        root = self.decisions.deletions.addresses[change.location]
        return Drifted(
            confirm=self._delete_decision(root, change).answers,
            along=count_deletes([change]).cascaded,
            address=change.address,
            kind=change.kind,
            what="undeclared",
            label=change.label,
            id=change.id,
            cause=change.cause,
            in_tree=self.sides.registry[change.kind].is_node,
            opens=self.sides.registry[change.kind].creation_widens_access,
        )

    def _delete_decision(self, root: Identity, change: Change) -> DeleteDecision:
        """Return the decision that a plan with only this delete needs."""
        causes, undecided = self.decisions.deletions.cascade.roots_by_loss, self.undecided

        def is_deleted_by_root(identity: Identity) -> bool:
            return root in {identity, *causes.get((identity, ""), ())}

        names = (
            self.sides.names.address(identity)
            for identity in undecided.need_address
            if is_deleted_by_root(identity)
        )
        exceeds_limits = change.location in self.deletes_over_limits and root not in undecided.need_address
        needs_number = exceeds_limits or any(map(is_deleted_by_root, undecided.need_number))
        return DeleteDecision(
            number=count_deletes([change]).total if needs_number else None, names=tuple(map(str, names))
        )

    def undeclared_in_watched(self) -> Iterator[Drifted]:
        """Yield the undeclared objects in watched places, without those that a watched value names."""
        watch = self.sides.desired.policy.watch
        names = self.sides.names
        known = {
            identity
            for pattern in self.sides.desired.policy.watch_values
            for identity in names.undeclared_matching(pattern)
        }
        for kept in self.plan.kept:
            place = Address.parse(kept.place)
            if not any(pattern.matches(place) for pattern in watch):
                continue
            for identity in self.sides.snapshot.scopes[place]:
                if identity not in known and str(names.address(identity)) in kept.addresses:
                    yield self._kept_object(identity)

    def _different_object(self, change: Change) -> Drifted:
        """Return an object whose fields or place differ."""
        address = change.location
        unmoved = self.out_of_place.get(address)
        place = change.moved or unmoved
        fields = tuple(self._field_drift(change, difference) for difference in self._live_differences(change))
        return Drifted(
            address=change.address,
            kind=change.kind,
            what="different",
            label=change.label,
            id=change.id,
            fields=fields,
            opens=any(field.opens for field in fields),
            place=place,
            order=self._ordering_list(self.sides.entries[address]) if place else None,
            cause=change.cause
            or (self.labels.position_label(self.sides.entries[address]) if unmoved else None),
        )

    def _field_drift(self, change: Change, difference: Difference) -> FieldDrift:
        """Return a differing field."""
        kind = self.sides.registry[change.kind]
        declared = next((field for field in kind.fields if field.name == difference.field), None)
        opens = declared is not None and kind.redirects is None and difference.known
        return FieldDrift(
            field=difference.field,
            live=difference.before,
            file=difference.after,
            known=difference.known,
            cause=difference.cause,
            watched=difference.field not in self.sides.desired.entries[change.location].fields,
            opens=opens
            and declared is not None
            and widens_access(declared, difference.after, difference.before),
        )
