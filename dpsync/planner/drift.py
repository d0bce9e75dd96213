"""Turn a plan into drift: describe how live objects differ from the files, instead of what to change.

Input: `Sides` (files and live objects) and the plan made from them. Output: `Drift`, with an item for each
object that is missing, undeclared or different. `find_drift` reads the planner's own decisions, so drift and
plan cannot disagree. The module is pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from dpsync.kinds.address_patterns import container_and_order
from dpsync.model.address import Address
from dpsync.model.change import Cause, Change, Difference
from dpsync.model.desired import Entry, Policy
from dpsync.model.drift import Drift, Drifted, FieldDrift, Renamed
from dpsync.model.plan import DeleteDecision, Plan, count_deletes
from dpsync.model.snapshot import Identity
from dpsync.planner.changes import watched_values
from dpsync.planner.compare import widens_access
from dpsync.planner.decide import decide
from dpsync.planner.delete_questions import deletes_over_limits, effective_limits, undecided_deletes
from dpsync.planner.identity_questions import possibly_renamed_entries
from dpsync.planner.labels import Labels
from dpsync.planner.plan import make_plan, with_all_differences
from dpsync.planner.rebound_ids import find_candidates
from dpsync.planner.selection import find_selection
from dpsync.planner.sides import Sides


def find_drift(sides: Sides, plan: Plan, with_watched: bool = False) -> Drift:
    """Return how the platform differs from the files; `plan` was made from both (`sides`).

    With `with_watched`, include undeclared objects in the lists that the policy watches. Objects that grant
    access come first.
    """
    finder = _DriftFinder(sides, plan)
    differences = tuple(finder.find())
    watched = watched_values(sides, plan.origins, finder.is_selected)
    undeclared = tuple(finder.undeclared_in_watched()) if with_watched else ()
    without_watched_values = (item for item in undeclared if item.address not in watched.origins)
    all_drift = (*differences, *watched.drifted, *without_watched_values)
    reported = {drifted.address for drifted in (*watched.drifted, *undeclared)}
    kept = []
    for kept_objects in plan.kept:
        remaining = tuple(address for address in kept_objects.addresses if address not in reported)
        if remaining:
            kept.append(kept_objects.model_copy(update={"addresses": remaining}))
    policy, snapshot = sides.policy, sides.snapshot
    places = (*snapshot.not_readable, *snapshot.not_readable_watched)
    not_compared = [str(address) for address in places if not policy.is_ignored(address)]
    not_compared += [
        str(address.field(name))
        for address, name in snapshot.not_readable_fields
        if not policy.is_ignored(address, name)
    ]
    return Drift(
        **{**plan.comparison_fields, "kept": tuple(kept), "origins": {**plan.origins, **watched.origins}},
        overlay=sides.desired.overlay,
        found=tuple(sorted(all_drift, key=lambda item: not item.opens)),
        ignored=tuple(_ignored(sides, differences)),
        unread=tuple(sorted(not_compared)),
    )


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
    """Describe the changes and blocked entries of a plan as drift of the platform."""

    def __init__(self, sides: Sides, plan: Plan) -> None:
        """Make the planner's decisions again, and collect what drift needs besides the plan."""
        self.sides = sides
        self.plan = plan
        self.decisions = decide(sides)
        self.undecided = undecided_deletes(self.decisions)
        self.deletes_over_limits = deletes_over_limits(
            effective_limits(sides.desired.policy, sides.base, sides.names), plan.changes
        )
        self.blocked_moves = {
            address: blocked.place
            for blocked in plan.blocked
            if blocked.place is not None and sides.live(address := blocked.location) is not None
        }
        moved = {change.location for change in plan.changes if change.moved}
        self.labels = Labels(sides, frozenset(moved | self.blocked_moves.keys()))
        self.candidates = possibly_renamed_entries(self.decisions, find_candidates(sides))
        self.selected = find_selection(sides)

    def find(self) -> Iterator[Drifted]:
        """Yield the drift of each object: of the plan's changes, then what the plan cannot change."""
        reported = set[Address]()
        for change in with_all_differences(self.sides, self.plan).changes:
            address = change.location
            reported.add(address)
            if change.action == "delete":
                yield self._undeclared_object(change)
            elif self._is_missing(address):
                yield self._missing_entry(address, change.cause)
            elif self._live_differences(change) or change.moved or address in self.blocked_moves:
                yield self._different_object(change)
        deletions = self.decisions.deletions
        # Undeclared objects whose delete the plan leaves out.
        for identity in sorted({*deletions.unreadable_dependents, *deletions.blocked_by_contents}):
            if self.is_selected(self.sides.names.address(identity)):
                yield self._kept_object(identity)
        yield from self._undone_moves(reported)
        # Entries that are not live and that the plan does not create, because they are blocked.
        for address in self.sides.entries:
            is_left_alone = self.sides.policy.is_ignored(address) or not self.is_selected(address)
            if address not in reported and self._is_missing(address) and not is_left_alone:
                yield self._missing_entry(address, self.labels.create_label(address))

    @staticmethod
    def _live_differences(change: Change) -> tuple[Difference, ...]:
        """Return the differences between the live object of a change and the files.

        A value that the plan writes only because an inherited value changes is no difference.
        """
        return tuple(difference for difference in change.differences if difference.inherited is None)

    def _is_missing(self, address: Address) -> bool:
        """Return whether an entry is not live, or is live only as a deleted object that can be restored."""
        live = self.sides.live(address)
        return live is None or live.deleted

    def _undone_moves(self, reported: Collection[Address]) -> Iterator[Drifted]:
        """Yield the drift of objects in another parent or position than declared that no request can move.

        Addresses in `reported` are left out.
        """
        for address in sorted(self.blocked_moves.keys() - reported):
            live = self.sides.live(address)
            entry = self.sides.entries[address]
            yield Drifted(
                address=str(address),
                kind=entry.kind,
                what="different",
                label=self.sides.names.label(entry),
                id=live.id if live is not None else None,
                place=self.blocked_moves[address],
                order=self._ordering_list(entry),
                cause=self.labels.position_label(entry),
            )

    def _ordering_list(self, entry: Entry) -> str | None:
        """Return the address of the list field that orders an entry among its siblings, None without one."""
        order_list = container_and_order(self.sides.registry, self.sides.entries, entry)
        return str(order_list[0].field(order_list[1].name)) if order_list is not None else None

    def _missing_entry(self, address: Address, cause: Cause | None) -> Drifted:
        """Return the drift of an entry without a live object.

        `renamed` lists live objects without an entry that may be the object of this entry under another name.
        """
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

    def is_selected(self, address: Address) -> bool:
        """Return whether the user selected an address; every address is if the user selected none."""
        return self.selected is None or address in self.selected.addresses

    def _kept_object(self, identity: Identity) -> Drifted:
        """Return the drift of a live object that has no entry and that the plan keeps."""
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
        """Return the drift of a live object without an entry that the plan deletes.

        The drift says which `--confirm` values an apply needs (`confirm`), and how many objects are deleted
        together with the object (`along`).
        """
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
        """Return what a user would have to confirm in a plan with only the delete of `root`.

        These are the addresses of content that needs a confirmation by address, and the number of deletes if
        other content is deleted or the delete exceeds the limits.
        """
        causes, undecided = self.decisions.deletions.cascade.roots_by_loss, self.undecided

        def is_deleted_with_root(identity: Identity) -> bool:
            """Return whether deleting `root` deletes an object: `root` itself or one deleted with it."""
            return root in {identity, *causes.get((identity, ""), ())}

        names = [
            str(self.sides.names.address(identity))
            for identity in undecided.need_address
            if is_deleted_with_root(identity)
        ]
        exceeds_limits = change.location in self.deletes_over_limits and root not in undecided.need_address
        needs_number = exceeds_limits or any(map(is_deleted_with_root, undecided.need_number))
        return DeleteDecision(
            number=count_deletes([change]).total if needs_number else None, names=tuple(names)
        )

    def undeclared_in_watched(self) -> Iterator[Drifted]:
        """Yield, as drift, the live objects without an entry in the lists that `policy.watch` names.

        Objects that a `watch` pattern with a value names are known, and left out.
        """
        policy, names = self.sides.desired.policy, self.sides.names
        known = {
            identity for pattern in policy.watch_values for identity in names.undeclared_matching(pattern)
        }
        for kept in self.plan.kept:
            list_address = Address.parse(kept.place)
            if not any(pattern.matches(list_address) for pattern in policy.watch):
                continue
            for identity in self.sides.snapshot.scopes[list_address]:
                if identity not in known and str(names.address(identity)) in kept.addresses:
                    yield self._kept_object(identity)

    def _different_object(self, change: Change) -> Drifted:
        """Return the drift of an object whose fields, parent or position differ from its entry."""
        entry = self.sides.entries[change.location]
        blocked_move = self.blocked_moves.get(change.location)
        place = change.moved or blocked_move
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
            order=self._ordering_list(entry) if place else None,
            cause=change.cause or (self.labels.position_label(entry) if blocked_move else None),
        )

    def _field_drift(self, change: Change, difference: Difference) -> FieldDrift:
        """Return the drift of a field, which opens access if a change from file to live value would.

        A field whose live value is unknown, and a redirect, never count as opening access.
        """
        kind = self.sides.registry[change.kind]
        field = next((field for field in kind.fields if field.name == difference.field), None)
        can_open = field is not None and kind.redirects is None and difference.known
        return FieldDrift(
            field=difference.field,
            live=difference.before,
            file=difference.after,
            known=difference.known,
            cause=difference.cause,
            watched=difference.field not in self.sides.desired.entries[change.location].fields,
            opens=can_open
            and field is not None
            and widens_access(field, difference.after, difference.before),
        )
