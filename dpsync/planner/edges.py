"""Edges between steps that follow from the declarations: what must exist first, what must be done first.

Each rule is a function from decisions and steps to edges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from dpsync.kinds.base import Field
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.snapshot import Identity
from dpsync.model.values import references
from dpsync.planner.cascade import named_ids
from dpsync.planner.decisions import Decisions
from dpsync.planner.nesting import Nesting, own_places
from dpsync.planner.stepset import Edge, Edges, StepDraft, StepSet, by_needs

Rule = Callable[[Decisions, StepSet], Iterator[Edge]]


def edges(decisions: Decisions, steps: StepSet) -> list[Edge]:
    """Every edge except those of lanes and unique values."""
    found = [edge for rule in _RULES for edge in rule(decisions, steps)]
    return [*found, *_cleared(decisions, steps, Edges(found))]


def _made_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """A step is sent when every id in it is known: of its object, of its parent, of what it names."""
    for draft in steps.steps.values():
        named = draft.refers() | {draft.address}
        resource = decisions.sides.desired.resources.get(draft.address)
        if resource is not None and resource.parent is not None:
            named.add(resource.parent)
        yield from draft.waits_for(*(maker for address in named if (maker := steps.maker(address))))


def _restored_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """What is restored or transferred has its id already, and yet must be there before it is named."""
    sides = decisions.sides
    restored = {
        address: maker
        for address in steps.makers
        if (maker := steps.maker(address)) and maker.verb in ("restore", "transfer")
    }
    for address, drafts in steps.by_address.items() if restored else ():
        resource = sides.resources.get(address)
        if resource is None:
            continue
        around = [resource, *(sides.resources[child] for child in resource.children[:1])]
        named = {ref for one in around for value in one.fields.values() for ref in references(value)}
        for draft in drafts:
            yield from draft.waits_for(*(restored[other] for other in named & restored.keys()))


def _acts_last(_: Decisions, steps: StepSet) -> Iterator[Edge]:
    """An act comes after what is written to its object; the result of one is awaited when it was sent."""
    for drafts in steps.by_address.values():
        for number, draft in enumerate(drafts):
            if draft.verb == "act":
                yield from draft.waits_for(*drafts[:number])
            elif draft.verb == "await":
                yield from draft.waits_for(*(other for other in drafts if other.verb == "act"))


def _after(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """A kind, or a field, may say which other kinds around it must be finished first."""
    sides = decisions.sides
    by_place: _ByPlace = defaultdict(list)
    for address in steps.by_address:
        if (resource := sides.resources.get(address)) is not None:
            by_place[resource.kind, resource.parent].append(resource)
    for address, drafts in steps.by_address.items():
        if (resource := sides.resources.get(address)) is None:
            continue
        kind = sides.kind(resource)
        for draft in drafts:
            # A step that makes something less visible is never held back: every other step waits for it.
            fields = draft.fields if draft.phase != "withdraw" else ()
            words = {*kind.after, *(word for name in fields for word in kind.field(name).after)}
            if words and draft.verb != "delete":
                yield from draft.waits_for(*_beside(steps, resource, words, by_place))


_ByPlace = dict[tuple[str, Address | None], list[Resource]]
"""The entries that have steps, by kind and parent."""


def _beside(steps: StepSet, resource: Resource, words: set[str], by_place: _ByPlace) -> Iterator[StepDraft]:
    """Steps of the named kinds below this object or any around it; "children" are all below itself."""
    for word in sorted(words):
        for around in resource.address.upward():
            for other in by_place.get((word, around), ()):
                if other is not resource:
                    yield from (step for step in steps.of(other.address) if step.verb != "delete")
    if "children" in words:
        inside = (step for step in steps.below(resource.address) if step.address != resource.address)
        yield from (step for step in inside if step.verb != "delete")


def _placed_from_the_top(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """An object that lies in others of its kind (a collection) is moved after all of those were moved.

    So everything above it is where it stays, and no move can close a circle for a moment, even when two
    objects change places.
    """
    sides = decisions.sides

    def stays(address: Address, item: Field) -> bool:
        moved = (step for step in steps.of(address, "place") if item.name in step.fields)
        return sides.live(address) is not None and next(moved, None) is None

    for kind, item in own_places(sides):
        nesting = Nesting(sides, kind, item, stays)
        circular = {part for circle in nesting.circles() for part in circle}
        placing = {
            address: step
            for address in steps.by_address
            for step in steps.of(address, "place")
            if item.name in step.fields and address not in circular
        }
        for address, step in placing.items():
            # The nearest one waits for the next one itself.
            above = (placing[one] for one in nesting.above(address) if one in placing)
            yield from step.waits_for(*islice(above, 1))


def _cleared(decisions: Decisions, steps: StepSet, edges: Edges) -> Iterator[Edge]:
    """Where a tree is built anew, its first new node is made when the last old one was deleted.

    The old ones go one after the other, so that what is made need only wait for the last of them. Their order
    agrees with the other edges.
    """
    if not any(step.phase == "clear" for step in steps.steps.values()):
        return
    for address, scope in decisions.sides.desired.scopes.items():
        if decisions.sides.registry[scope.kinds[0]].in_tree:
            inside = list(steps.below(address))
            clearing = by_needs([step for step in inside if step.phase == "clear"], edges)
            for before, step in pairwise(clearing):
                yield from step.waits_for(before)
            for step in inside:
                yield from step.waits_for(*(clearing[-1:] if step.phase != "clear" else ()))


def _exposure(_: Decisions, steps: StepSet) -> Iterator[Edge]:
    """An object is hidden before anything in it is touched, and shown when everything in it is done."""
    for step in steps.steps.values():
        if step.phase not in ("expose", "withdraw"):
            continue
        for other in steps.below(step.address):
            if other is step or (other.verb == "create" and other.address == step.address):
                continue
            if step.phase == "withdraw" == other.phase and other.address == step.address:
                continue  # two of its fields come down: either may be first
            if step.phase == "withdraw":
                yield from other.waits_for(step)
            elif other.phase not in ("expose", "withdraw") or other.address != step.address:
                yield from step.waits_for(other)


def _guarded(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Where at least one must hold a value (an admin), a new holder gets it before an old one loses it.

    One new holder is enough for all who lose it.
    """
    for kind in decisions.sides.registry.ordered:
        if kind.guard is None:
            continue
        gain: dict[Address | None, list[StepDraft]] = defaultdict(list)
        lose: dict[Address | None, list[StepDraft]] = defaultdict(list)
        for step in (step for drafts in steps.by_address.values() for step in drafts):
            resource = decisions.sides.resources.get(step.address)
            if resource is None:
                if step.verb == "delete" and decisions.deletions.addresses[step.address][0] == kind.name:
                    lose[step.address.parent(kind.key)].append(step)
            elif resource.kind == kind.name and (kind.guard.field in step.fields or step.verb == "create"):
                holds = resource.fields.get(kind.guard.field) == kind.guard.value
                (gain if holds else lose)[resource.parent].append(step)
        for parent, losing in lose.items():
            for step in losing:
                yield from step.waits_for(*gain[parent][:1])


def _deletes(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Whatever names an object that is deleted is deleted, or gets another value, before that."""
    sides, deletions = decisions.sides, decisions.deletions
    own: dict[Identity, StepDraft] = {}
    for root in deletions.roots:
        own[root] = steps.of(sides.names.address(root), "delete", "clear")[0]
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
                        yield from step.waits_for(own[deleted[live.identity]])
                    elif live.identity in sides.names.declared:
                        writers = steps.of(sides.names.declared[live.identity])
                        yield from step.waits_for(*(other for other in writers if item.name in other.fields))


_RULES: tuple[Rule, ...] = (
    _made_first,
    _restored_first,
    _acts_last,
    _after,
    _placed_from_the_top,
    _exposure,
    _guarded,
    _deletes,
)
