"""Edges between steps that follow from the declarations: what must exist first, what must be done first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice, pairwise

from dpsync.kinds.base import Field, Kind
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.snapshot import Identity
from dpsync.model.values import references
from dpsync.planner.cascade import named_ids
from dpsync.planner.decisions import Decisions
from dpsync.planner.deletions import Deletions
from dpsync.planner.nesting import Nesting, own_places
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import StepDraft, StepSet, by_needs

_ByPlace = dict[tuple[str, Address | None], list[Resource]]
"""The entries that have steps, by kind and parent."""


def connect(decisions: Decisions, step_set: StepSet) -> None:
    """Add every edge except those of lanes and unique values."""
    sides, deletions = decisions.sides, decisions.deletions
    for draft in step_set.steps.values():
        _made_first(sides, step_set, draft)
    _restored_first(sides, step_set)
    by_place: _ByPlace = defaultdict(list)
    for address in step_set.by_address:
        if (resource := sides.resources.get(address)) is not None:
            by_place[resource.kind, resource.parent].append(resource)
    for address, steps in step_set.by_address.items():
        resource = sides.resources.get(address)
        if resource is not None:
            _after(sides, step_set, resource, steps, by_place)
    _placed_from_the_top(sides, step_set)
    _exposure(step_set)
    _guarded(sides, step_set, deletions)
    _deletes(sides, step_set, deletions)
    _cleared(sides, step_set)


def _made_first(sides: Sides, step_set: StepSet, draft: StepDraft) -> None:
    """A step is sent when every id in it is known: of its object, of its parent, of what it names."""
    named = draft.refers() | {draft.address}
    resource = sides.desired.resources.get(draft.address)
    if resource is not None and resource.parent is not None:
        named.add(resource.parent)
    draft.needs |= {step_set.makers[address] for address in named if address in step_set.makers} - {draft.id}


def _restored_first(sides: Sides, step_set: StepSet) -> None:
    """What is restored or transferred has its id already, and yet must be there before it is named."""
    restored = {
        address: id
        for address, id in step_set.makers.items()
        if id in step_set.steps and step_set.steps[id].verb in ("restore", "transfer")
    }
    for address, steps in step_set.by_address.items() if restored else ():
        resource = sides.resources.get(address)
        if resource is None:
            continue
        around = [resource, *(sides.resources[child] for child in resource.children[:1])]
        named = {ref for one in around for value in one.fields.values() for ref in references(value)}
        for step in steps:
            step.needs |= {restored[other] for other in named & restored.keys()} - {step.id}


def _after(
    sides: Sides, step_set: StepSet, resource: Resource, steps: list[StepDraft], by_place: _ByPlace
) -> None:
    """A kind, or a field, may say which other kinds around it must be finished first."""
    kind = sides.kind(resource)
    for step in steps:
        # A step that makes something less visible is never held back: every other step waits for it.
        fields = step.fields if step.phase != "withdraw" else ()
        words = {*kind.after, *(word for name in fields for word in kind.field(name).after)}
        if words and step.verb != "delete":
            step.needs |= {other.id for other in _beside(step_set, resource, words, by_place)} - {step.id}


def _beside(
    step_set: StepSet, resource: Resource, words: set[str], by_place: _ByPlace
) -> Iterator[StepDraft]:
    """Steps of the named kinds below this object or any around it; "children" are all below itself."""
    for word in sorted(words):
        for around in resource.address.upward():
            for other in by_place.get((word, around), ()):
                if other is not resource:
                    yield from (step for step in step_set.of(other.address) if step.verb != "delete")
    if "children" in words:
        inside = (step for step in step_set.below(resource.address) if step.address != resource.address)
        yield from (step for step in inside if step.verb != "delete")


def _placed_from_the_top(sides: Sides, step_set: StepSet) -> None:
    """An object that lies in others of its kind (a collection) is moved after all of those were moved.

    So everything above it is where it stays, and no move can close a circle for a moment, even when two
    objects change places.
    """

    def stays(address: Address, item: Field) -> bool:
        moved = (step for step in step_set.of(address, "place") if item.name in step.fields)
        return sides.live(address) is not None and next(moved, None) is None

    for kind, item in own_places(sides):
        nesting = Nesting(sides, kind, item, stays)
        circular = {part for circle in nesting.circles() for part in circle}
        placing = {
            address: step
            for address in step_set.by_address
            for step in step_set.of(address, "place")
            if item.name in step.fields and address not in circular
        }
        for address, step in placing.items():
            # The nearest one waits for the next one itself.
            above = (placing[one] for one in nesting.above(address) if one in placing)
            step.needs |= {nearest.id for nearest in islice(above, 1)}


def _cleared(sides: Sides, step_set: StepSet) -> None:
    """Where a tree is built anew, its first new node is made when the last old one was deleted.

    The old ones go one after the other, so that what is made need only wait for the last of them.
    """
    if not any(step.phase == "clear" for step in step_set.steps.values()):
        return
    for address, scope in sides.desired.scopes.items():
        if sides.registry[scope.kinds[0]].in_tree:
            steps = list(step_set.below(address))
            clearing = by_needs([step for step in steps if step.phase == "clear"])
            for before, step in pairwise(clearing):
                step.needs.add(before.id)
            for step in steps:
                step.needs |= {last.id for last in clearing[-1:]} if step.phase != "clear" else set()


def _exposure(step_set: StepSet) -> None:
    """An object is hidden before anything in it is touched, and shown when everything in it is done."""
    for step in list(step_set.steps.values()):
        if step.phase not in ("expose", "withdraw"):
            continue
        for other in step_set.below(step.address):
            if other is step or (other.verb == "create" and other.address == step.address):
                continue
            if step.phase == "withdraw" == other.phase and other.address == step.address:
                continue  # two of its fields come down: either may be first
            if step.phase == "withdraw":
                other.needs.add(step.id)
            elif other.phase not in ("expose", "withdraw") or other.address != step.address:
                step.needs.add(other.id)


def _guarded(sides: Sides, step_set: StepSet, deletions: Deletions) -> None:
    """Where at least one must hold a value (an admin), a new holder gets it before an old one loses it.

    One new holder is enough for all who lose it.
    """
    for kind in sides.registry.ordered:
        if kind.guard is None:
            continue
        gain: dict[Address | None, list[str]] = {}
        lose: dict[Address | None, list[StepDraft]] = {}
        for address, steps in step_set.by_address.items():
            for step in steps:
                _sort(sides, deletions, kind, address, step, gain, lose)
        for parent, losing in lose.items():
            for step in losing:
                step.needs.update(gain.get(parent, [])[:1])


def _sort(
    sides: Sides, deletions: Deletions, kind: Kind, address: Address, step: StepDraft,
    gain: dict[Address | None, list[str]], lose: dict[Address | None, list[StepDraft]],
) -> None:  # fmt: skip
    guard = kind.guard
    resource = sides.resources.get(address)
    if guard is None:
        return
    if resource is None:
        if step.verb == "delete" and deletions.addresses[address][0] == kind.name:
            lose.setdefault(address.parent(kind.key), []).append(step)
    elif resource.kind == kind.name and (guard.field in step.fields or step.verb == "create"):
        if resource.fields.get(guard.field) == guard.value:
            gain.setdefault(resource.parent, []).append(step.id)
        else:
            lose.setdefault(resource.parent, []).append(step)


def _deletes(sides: Sides, step_set: StepSet, deletions: Deletions) -> None:
    """Whatever names an object that is deleted is deleted, or gets another value, before that."""
    own: dict[Identity, StepDraft] = {}
    for root in deletions.roots:
        own[root] = step_set.of(sides.names.address(root), "delete", "clear")[0]
    deleted = deletions.inside
    for live in sides.snapshot.objects.values():
        kind = sides.kind(live)
        for item in kind.fields:
            for id in sorted(named_ids(item, live.fields.get(item.name))):
                for target in (sides.names.named(live, name, id) for name in item.names):
                    if target not in deleted:
                        continue
                    step = own[deleted[target]]
                    if live.identity in deleted:
                        step.needs |= {own[deleted[live.identity]].id} - {step.id}
                    elif live.identity in sides.names.declared:
                        writers = step_set.of(sides.names.declared[live.identity])
                        step.needs |= {other.id for other in writers if item.name in other.fields}
