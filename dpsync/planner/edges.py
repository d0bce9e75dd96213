"""Order steps: an edge says that one step must be done before another one.

`order_edges` applies every rule in `_RULES`. A rule is a function from decisions and steps to edges. The
order of siblings and unique values have modules of their own (sibling_order.py, unique_values.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from dpsync.kinds.kind import Field
from dpsync.model.address import Address
from dpsync.model.change import Phase, Verb
from dpsync.model.desired import Entry
from dpsync.model.snapshot import Identity
from dpsync.model.values import references
from dpsync.planner.compare import inherited_from
from dpsync.planner.create_hidden import hides_itself
from dpsync.planner.decide import Decisions, Nesting, self_nesting_fields
from dpsync.planner.deletions import referenced_ids
from dpsync.planner.stepset import Edge, Edges, StepDraft, StepSet, in_dependency_order
from dpsync.planner.visibility import Visibility

EdgeRule = Callable[[Decisions, StepSet], Iterator[Edge]]


def order_edges(decisions: Decisions, steps: StepSet) -> list[Edge]:
    """Return every edge except those of sibling order and unique values."""
    rule_edges = [edge for rule in _RULES for edge in rule(decisions, steps)]
    return [*rule_edges, *_clear_before_recreating(decisions, steps, Edges(rule_edges))]


def _create_before_use(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Send a step only after every id in it is known: of its object, of its parent, of its references."""
    for draft in steps.steps.values():
        needed = draft.referenced_addresses() | {draft.address}
        resource = decisions.sides.desired.entries.get(draft.address)
        if resource is not None and resource.parent is not None:
            needed.add(resource.parent)
        yield from draft.waits_for(
            *(creator for address in needed if (creator := steps.creating_step(address)))
        )


def _restore_before_use(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Restore or transfer an object before a step refers to it, although its id is known already."""
    sides = decisions.sides
    restored = {
        address: maker
        for address in steps.creating_steps
        if (maker := steps.creating_step(address)) and maker.verb in ("restore", "transfer")
    }
    for address, drafts in steps.by_address.items() if restored else ():
        resource = sides.entries.get(address)
        if resource is None:
            continue
        entries = [resource, *(sides.entries[child] for child in resource.children[:1])]
        referenced = {
            ref for entry in entries for value in entry.fields.values() for ref in references(value)
        }
        for draft in drafts:
            yield from draft.waits_for(*(restored[other] for other in referenced & restored.keys()))


def _user_actions_last(_: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Send acts after all other writes to the object, and await the result after sending the act."""
    for drafts in steps.by_address.values():
        for number, draft in enumerate(drafts):
            if draft.verb == "act":
                yield from draft.waits_for(*drafts[:number])
            elif draft.verb == "await":
                yield from draft.waits_for(*(other for other in drafts if other.verb == "act"))


def _steps_after_declared_kinds(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Wait for the kinds that a kind or a field declares in `after`."""
    sides = decisions.sides
    by_place: _ByPlace = defaultdict(list)
    for address in steps.by_address:
        if (resource := sides.entries.get(address)) is not None:
            by_place[resource.kind, resource.parent].append(resource)
    for address, drafts in steps.by_address.items():
        if (resource := sides.entries.get(address)) is None:
            continue
        kind = sides.kind(resource)
        for draft in drafts:
            # A step that makes something less visible is never held back: every other step waits for it.
            fields = draft.fields if draft.phase != "withdraw" else ()
            words = {
                *kind.steps_after_kinds,
                *(word for name in fields for word in kind.field(name).written_after),
            }
            if words and draft.verb != "delete":
                yield from draft.waits_for(*_steps_of_kinds(steps, resource, words, by_place))


def _own_value_before_inherited(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Write the own value of an entry before the value that it would inherit otherwise.

    The platform returns the effective value: after a change of the inherited value, an unwritten own value
    would look like somebody else's change. A value to keep must have been written, or it would follow that
    change.
    """
    sides = decisions.sides
    for address, drafts in steps.by_address.items():
        resource = sides.entries.get(address)
        other = inherited_from(sides, resource) if resource is not None else None
        if other is not None:
            entry = decisions.entries.get(address)
            keeps = entry is not None and any(item.inherited_from for item in entry.separately_written)
            yield from (
                Edge(last.id, first.id, not keeps) for first in drafts for last in steps.steps_of(other)
            )


_ByPlace = dict[tuple[str, Address | None], list[Entry]]
"""The entries that have steps, by kind and parent."""


def _steps_of_kinds(steps: StepSet, entry: Entry, words: set[str], by_place: _ByPlace) -> Iterator[StepDraft]:
    """Yield the steps of the named kinds below an object or below any object around it.

    The word "children" stands for all steps below the object itself.
    """
    for word in sorted(words):
        for around in entry.address.self_and_ancestors():
            for other in by_place.get((word, around), ()):
                if other is not entry:
                    yield from (step for step in steps.steps_of(other.address) if step.verb != "delete")
    if "children" in words:
        inside = (step for step in steps.steps_below(entry.address) if step.address != entry.address)
        yield from (step for step in inside if step.verb != "delete")


def _move_outer_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Move an object inside others of its kind (a collection) after all objects around it were moved.

    Then everything above the object is in its final place, and no move can create a temporary circle, even
    when two objects change places.
    """
    sides = decisions.sides

    def stays(address: Address, item: Field) -> bool:
        moved = (step for step in steps.steps_of(address, "place") if item.name in step.fields)
        return sides.live(address) is not None and next(moved, None) is None

    for kind, item in self_nesting_fields(sides.registry):
        nesting = Nesting(sides, kind, item, stays)
        circular = {part for circle in nesting.cycles() for part in circle}
        placing = {
            address: step
            for address in steps.by_address
            for step in steps.steps_of(address, "place")
            if item.name in step.fields and address not in circular
        }
        for address, step in placing.items():
            # The nearest container waits for the next one itself.
            above = (placing[container] for container in nesting.containers(address) if container in placing)
            yield from step.waits_for(*islice(above, 1))


def _clear_before_recreating(decisions: Decisions, steps: StepSet, edges: Edges) -> Iterator[Edge]:
    """In a tree that is re-created, create the first new node after the last old node is deleted.

    The old nodes are deleted one after the other, in an order that agrees with the other edges, so a new node
    needs only one edge to the last of them.
    """
    if not any(step.phase == "clear" for step in steps.steps.values()):
        return
    for address, scope in decisions.sides.desired.scopes.items():
        if decisions.sides.registry[scope.kinds[0]].is_node:
            inside = list(steps.steps_below(address))
            clearing = in_dependency_order([step for step in inside if step.phase == "clear"], edges)
            for before, step in pairwise(clearing):
                yield from step.waits_for(before)
            for step in inside:
                yield from step.waits_for(*(clearing[-1:] if step.phase != "clear" else ()))


def _hide_first_show_last(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Hide an object before anything inside of it changes, and show it when all of that is done."""
    withdrawing, exposing = (
        _steps_by_phase(decisions, steps, "withdraw"),
        _steps_by_phase(decisions, steps, "expose"),
    )
    revealing = _deletes_that_reveal_contents(decisions, steps)
    if not (withdrawing or exposing or revealing):
        return
    visibility = Visibility(decisions)
    last = {step.id: holder for holder, _, step in _children_hidden_with_parent(decisions, steps)}
    for address, drafts in steps.by_address.items():
        for above in (address, *visibility.surroundings(address)):
            below = above != address and address.is_at_or_below(above)
            for step in drafts:
                if step.verb == "create" and above == address:
                    continue
                if step.phase != "withdraw":
                    yield from step.waits_for(*withdrawing.get(above, ()))
                if (step.phase == "expose" and not below) or last.get(step.id) == above:
                    continue
                for show in exposing.get(above, ()):
                    if show.address == above or step.phase != "expose":
                        yield from show.waits_for(step)
            if above in revealing and above != address:
                # The contents become visible as soon as the hidden object is deleted.
                inside = (step for step in drafts if step.phase != "expose")
                yield from revealing[above].waits_for(*inside)


def _show_children_after_parent(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Hide a child that was created with a hidden parent before the parent is shown; show the child later."""
    for holder, field, step in _children_hidden_with_parent(decisions, steps):
        showing = [other for other in steps.steps_of(holder) if field.name in other.fields]
        yield from step.waits_for(*showing)
        for show in showing:
            yield from show.waits_for(*steps.steps_of(step.address, "withdraw"))


def _children_hidden_with_parent(
    decisions: Decisions, steps: StepSet
) -> Iterator[tuple[Address, Field, StepDraft]]:
    """Yield the parent of such an object, the field that hides both, and the step that shows the object."""
    for address, entry in decisions.entries.items():
        if entry.hiding_field is not None and not entry.has_create_request and entry.entry.holder is not None:
            # A new child is shown by its update. For a live one, only the step that shows it waits.
            shows: Verb | Phase = "update" if entry.live is None else "expose"
            for step in steps.steps_of(address, shows):
                yield entry.entry.holder, entry.hiding_field, step


def _deletes_that_reveal_contents(decisions: Decisions, steps: StepSet) -> dict[Address, StepDraft]:
    """Return the deletes of hidden objects whose contents move out of them and become visible."""
    deletes = {}
    for address, identity in decisions.deletions.addresses.items():
        live, kind = decisions.deletions.roots[identity], decisions.sides.registry[identity[0]]
        if hides_itself(kind, live.fields) and kind.lifecycle.on_delete == "lifted":
            deletes[address] = steps.steps_of(address, "delete", "clear")[0]
    return deletes


def _steps_by_phase(decisions: Decisions, steps: StepSet, phase: Phase) -> dict[Address, list[StepDraft]]:
    """Return the steps of a phase by the address that they hide or show.

    A step for an object that lets people in, such as a share link, counts for the parent.
    """
    sides = decisions.sides
    steps_by_address: dict[Address, list[StepDraft]] = defaultdict(list)
    for step in steps.steps.values():
        if step.phase == phase:
            entry = sides.entries[step.address]
            lets_in = sides.kind(entry).opens_parent and entry.parent is not None
            steps_by_address[entry.parent if lets_in and entry.parent is not None else step.address].append(
                step
            )
    return steps_by_address


def _change_while_hidden(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Change an object before it moves out of a hidden place, and after it moves into one.

    Changes inside of a tree come before its moves in both cases; what becomes visible by that is reported
    (exposures.py).
    """
    visibility, sides = Visibility(decisions), decisions.sides
    moving = {step.address: (step, out) for step, out in visibility.moves_across_hidden(steps)}
    for address, drafts in steps.by_address.items() if moving else ():
        new, entry = sides.live(address) is None, sides.entries.get(address)
        in_tree = entry is not None and sides.kind(entry).is_node
        coming_out = (
            moving[above] for above in (address, *visibility.surroundings_now(address)) if above in moving
        )
        for move in (move for move, out in coming_out if out and not new):
            before = (
                step for step in drafts if step.verb == "update" and visibility.can_precede_moves(step, steps)
            )
            yield from move.waits_for(*before)
        going_in = (
            moving[above] for above in (address, *visibility.surroundings_after(address)) if above in moving
        )
        for move in (move for move, out in going_in if not out):
            for step in drafts:
                later = step.verb in ("create", "update") and step.phase not in ("withdraw", "free")
                if later and (new or not in_tree or step.phase == "expose"):
                    yield from step.waits_for(move)


def _add_before_removing(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Where at least one object must hold a value (an admin), add a new holder before removing an old one.

    One new holder is enough for all that lose the value.
    """
    for kind in decisions.sides.registry.in_dependency_order:
        if kind.guard is None:
            continue
        gain: dict[Address | None, list[StepDraft]] = defaultdict(list)
        lose: dict[Address | None, list[StepDraft]] = defaultdict(list)
        for step in (step for drafts in steps.by_address.values() for step in drafts):
            resource = decisions.sides.entries.get(step.address)
            if resource is None:
                if step.verb == "delete" and decisions.deletions.addresses[step.address][0] == kind.name:
                    lose[step.address.owner_of_list(kind.key)].append(step)
            elif resource.kind == kind.name and (kind.guard.field in step.fields or step.verb == "create"):
                holds = resource.fields.get(kind.guard.field) == kind.guard.value
                (gain if holds else lose)[resource.parent].append(step)
        for parent, losing in lose.items():
            for step in losing:
                yield from step.waits_for(*gain[parent][:1])


def _delete_references_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Delete or change everything that refers to a deleted object before that object."""
    sides, deletions = decisions.sides, decisions.deletions
    own: dict[Identity, StepDraft] = {}
    for root in deletions.roots:
        own[root] = steps.steps_of(sides.names.address(root), "delete", "clear")[0]
    deleted = deletions.roots_by_contained
    for live in sides.snapshot.objects.values() if deleted else ():
        for item in sides.kind(live).reference_fields:
            for id in sorted(referenced_ids(item, live.fields.get(item.name))):
                for target in (
                    sides.names.referenced_object(live, name, id) for name in item.referenced_kinds
                ):
                    if target not in deleted:
                        continue
                    step = own[deleted[target]]
                    if live.identity in deleted:
                        yield from step.waits_for(own[deleted[live.identity]])
                    elif live.identity in sides.names.declared:
                        writers = steps.steps_of(sides.names.declared[live.identity])
                        yield from step.waits_for(*(other for other in writers if item.name in other.fields))


_RULES: tuple[EdgeRule, ...] = (
    _create_before_use,
    _restore_before_use,
    _user_actions_last,
    _steps_after_declared_kinds,
    _own_value_before_inherited,
    _move_outer_first,
    _hide_first_show_last,
    _show_children_after_parent,
    _change_while_hidden,
    _add_before_removing,
    _delete_references_first,
)
