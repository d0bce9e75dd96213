"""The changes of a plan, from decisions and steps: one for each thing, with its labels and requests.

A plan lists them by address, but siblings that have an order in that order. The list says nothing about
the order in which they are carried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from dpsync.model.address import Address
from dpsync.model.change import Cause, Change, Difference, Effect, Removed, Step
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity, LiveObject, MatchedBy
from dpsync.model.values import Ref
from dpsync.planner.decide import transfers
from dpsync.planner.decide.compare import Changed, object_digest
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.decide.deletions import effects
from dpsync.planner.inputs.lineage import Lineage
from dpsync.planner.steps.stepset import PlannedSteps
from dpsync.planner.why.labels import Labels

_NOT_REPORTED: Final = frozenset({MatchedBy.LINE, MatchedBy.KEY, MatchedBy.PLACE})


def changes(decisions: Decisions, steps: PlannedSteps) -> list[Change]:
    """Every change of the plan, deletes last."""
    moving = frozenset(
        address
        for address in steps.drafts.by_address
        if any(step.verb == "move" for step in steps.of(address))
    )
    maker = _Changes(decisions, steps, Labels(decisions.sides, moving))
    listed = sorted(maker.addresses(), key=Listing(decisions.sides.lineage).key)
    return sorted(map(maker.change, listed), key=lambda change: change.action == "delete")


class _Changes(Struct, frozen=True):
    decisions: Decisions
    steps: PlannedSteps
    labels: Labels

    def addresses(self) -> set[Address]:
        """What has steps; and children that are made along with their parent, though no request is theirs."""
        entries = self.decisions.entries
        along = {address for address in self.decisions.adopted if address in entries}
        return self.steps.drafts.by_address.keys() | {
            address for address in along if entries[address].live is None or entries[address].display
        }

    def change(self, address: Address) -> Change:
        sides = self.decisions.sides
        resource = sides.resources.get(address)
        steps = self.steps.of(address)
        if resource is None:
            return self._delete(address)
        live = sides.live(address)
        match = sides.snapshot.matches.get(address)
        if match is not None and match.by in _NOT_REPORTED:
            match = None
        entry = self.decisions.entries.get(address)
        display = entry.display if entry else ()
        moves = [step for step in steps if step.verb == "move"]
        cause = self._cause(resource, live, steps)
        return Change(
            address=str(address),
            kind=resource.kind,
            action="create" if live is None else "update",
            label=sides.names.label(resource),
            id=live.id if live else None,
            matched=match.by if match else None,
            matched_detail=match.detail if match else "",
            digest=object_digest(live, resource.fields) if live else None,
            watched=tuple(sorted(resource.fields)) if live else (),
            inside=self._inside(resource) if live is None else None,
            differences=tuple(
                self._difference(resource, item, self._of_field(resource, item, live, cause))
                for item in display
                if live is not None or not item.field.nest or self._inside(resource) is not None
            )
            + self._transferred(resource),
            cause=cause,
            effects=tuple(self._taken_away(resource, live, display)),
            moved=moves[0].summary if moves else None,
            steps=steps,
        )

    def _difference(self, resource: Entry, item: Changed, cause: Cause | None) -> Difference:
        found = item.difference(self.decisions.sides.values, resource, cause)
        if item.field.one_per is None or item.after is not True:
            return found
        return found.model_copy(
            update={"taken_from": self.decisions.exclusive.live_holder_id(resource, item.field)}
        )

    def _cause(self, resource: Entry, live: LiveObject | None, steps: tuple[Step, ...]) -> Cause | None:
        """Return the label of a create, a restore or a move."""
        if live is None or any(step.verb == "restore" for step in steps):
            return self.labels.created(resource.address)
        return self.labels.placed(resource) if resource.address in self.labels.moving else None

    def _of_field(
        self, resource: Entry, item: Changed, live: LiveObject | None, created: Cause | None
    ) -> Cause | None:
        if item.inherited is not None:
            return self._of_inherited(item)
        return created if live is None else self.labels.of(resource, item)

    def _taken_away(
        self, resource: Entry, live: LiveObject | None, display: tuple[Changed, ...]
    ) -> Iterator[Effect]:
        """What goes because another field gets a value, and is no difference of its own."""
        kind, said = self.decisions.sides.kind(resource), {item.field.name for item in display}
        for item in display if live is not None else ():
            name = item.field.instead_of
            if live is None or name is None or name in said or item.after is None:
                continue
            if (lost := live.fields.get(name)) is not None:
                what = (
                    f"the {name} ({lost}) is removed, because {kind.one} can have only one of {name} "
                    f"and {item.field.name}"
                )
                yield Effect(address=str(resource.address.field(name)), what=what, counts=False)

    def _of_inherited(self, item: Changed) -> Cause | None:
        """Return the label of the entry from which a field inherits its value so far."""
        around = self.decisions.entries.get(item.inherited) if item.inherited is not None else None
        assert around is not None
        change = next(one for one in around.display if one.field.name == item.field.name)
        return self.labels.of(around.resource, change)

    def _transferred(self, resource: Entry) -> tuple[Difference, ...]:
        sides, address = self.decisions.sides, resource.address
        if address not in sides.snapshot.transferred:
            return ()
        return (transfers.difference(sides.names, address, self.labels.parent(resource)),)

    @staticmethod
    def _inside(resource: Entry) -> str | None:
        """The node that encloses another one, where the address of that one does not say so."""
        said = resource.holder is None or resource.address.is_in(resource.holder)
        return None if said else str(resource.holder)

    def _was(self, live: LiveObject) -> Iterator[Difference]:
        """The values with which it could be made anew. Where it stands among its siblings is none of them."""
        sides, kind = self.decisions.sides, self.decisions.sides.kind(live)
        orders = {order.name for order in kind.list_orders}
        for field in kind.writable_fields:
            value, type_ = live.fields.get(field.name), field.form(live.fields.get(field.formed_by or ""))
            if value is None or type_.may_be_secret or field.nest or field.name in orders:
                continue
            yield Difference(field=field.name, before=sides.values.display(field, value, live))

    def _delete(self, address: Address) -> Change:
        sides, deletions = self.decisions.sides, self.decisions.deletions
        identity = deletions.addresses[address]
        live = deletions.roots[identity]
        along = effects(sides.names, deletions.cascade, identity)
        cascaded = [lost for lost, name in deletions.cascade.by_root.get(identity, ()) if not name]
        return Change(
            address=str(address),
            kind=live.kind,
            action="delete",
            label=sides.names.label(live),
            id=live.id,
            digest=object_digest(live, sides.kind(live).lasting),
            watched=tuple(sorted(sides.kind(live).lasting)),
            cause=self.labels.removed(identity),
            effects=along + self.decisions.exclusive.chosen_by_the_platform([identity, *cascaded]),
            was=tuple(self._was(live)),
            removed=self._removed(identity),
            steps=self.steps.of(address),
        )

    def _removed(self, identity: Identity) -> Removed | None:
        """Return the newest entry that git has for a live object; a revert deletes only what it created."""
        sides = self.decisions.sides
        entry = sides.removals.entry(identity) if sides.desired.policy.only is None else None
        return Removed(address=str(entry.address), file=entry.span.file) if entry is not None else None


Key = tuple[tuple[str, int, str], ...]
Segments = tuple[str, ...]


class Listing(Struct, frozen=True, dict=True):
    """The places of declared entries among their siblings, where the configuration gives them an order."""

    lineage: Lineage

    @cached_property
    def _places(self) -> Mapping[Segments, tuple[str, int]]:
        """Before what an entry is sorted, and its number, by the segments of its address."""
        found: dict[Segments, tuple[str, int]] = {}
        for kind in self.lineage.registry.ordered:
            for order in kind.list_orders:
                found.update(self._listed(kind.name, order.name))
        for scope in self.lineage.desired.scopes.values():
            if self.lineage.registry[scope.kinds[0]].in_tree:
                children = self.lineage.desired.resources[scope.parent].children
                for number, address in enumerate(self.lineage.preorder(children)):
                    found[address.segments] = ("", number)
        return found

    def _listed(self, kind: str, name: str) -> Iterator[tuple[Segments, tuple[str, int]]]:
        """What a list orders stands together, where the first of it by name would stand."""
        for holder in self.lineage.desired.resources.values():
            if holder.kind != kind:
                continue
            listed = [ref.address for ref in holder.fields.get(name) or () if isinstance(ref, Ref)]
            first = min(listed).last if listed else ""
            for number, address in enumerate(listed):
                yield address.segments, (first, number)

    def key(self, address: Address) -> Key:
        """What changes are sorted by."""
        segments = address.segments
        return tuple(
            (*self._places.get(segments[: depth + 1], (segment, 0)), segment)
            for depth, segment in enumerate(segments)
        )
