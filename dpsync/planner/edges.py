"""Order steps (requests): an edge says that one step must be done before another one.

`order_edges` applies every rule in `_RULES`. A rule is a function from decisions (what happens to each
object) and steps to edges. The order of siblings and unique values have modules of their own
(sibling_order.py, unique_values.py).
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
    """Return the edges by which steps wait for others, except for sibling order and unique values."""
    rule_edges = [edge for rule in _RULES for edge in rule(decisions, steps)]
    return [*rule_edges, *_clear_before_recreating(decisions, steps, Edges(rule_edges))]


def _create_before_use(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: send a step after the steps that create its object, its parent, and what it refers to."""
    for draft in steps.steps.values():
        needed = draft.referenced_addresses() | {draft.address}
        entry = decisions.sides.desired.entries.get(draft.address)
        if entry is not None and entry.parent is not None:
            needed.add(entry.parent)
        yield from draft.waits_for(
            *(creator for address in needed if (creator := steps.creating_step(address)))
        )


def _restore_before_use(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: restore or transfer an object before a step refers to it.

    Such an object has an id before the plan (`_create_before_use` does not wait for it), but the object
    cannot be used until then.
    """
    sides = decisions.sides
    restored = {
        address: step
        for address in steps.creating_steps
        if (step := steps.creating_step(address)) and step.verb in ("restore", "transfer")
    }
    for address, drafts in steps.by_address.items() if restored else ():
        entry = sides.entries.get(address)
        if entry is None:
            continue
        # A create request also creates the first child.
        entries = [entry, *(sides.entries[child] for child in entry.children[:1])]
        referenced = {ref for each in entries for value in each.fields.values() for ref in references(value)}
        for draft in drafts:
            yield from draft.waits_for(*(restored[other] for other in referenced & restored.keys()))


def _user_actions_last(_: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: send actions ("act") after all other writes to an object, and "await" after actions.

    A user requests an action such as running a translation; an "await" step polls until the result is
    there.
    """
    for drafts in steps.by_address.values():
        for number, draft in enumerate(drafts):
            if draft.verb == "act":
                yield from draft.waits_for(*drafts[:number])
            elif draft.verb == "await":
                yield from draft.waits_for(*(other for other in drafts if other.verb == "act"))


def _steps_after_declared_kinds(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: send a step after the steps of those kinds that its kind or its fields declare.

    A kind declares `steps_after_kinds`, a field `written_after`: the organization requires a login only
    after its SAML provider is written.
    """
    sides = decisions.sides
    by_place: _ByPlace = defaultdict(list)
    for address in steps.by_address:
        if (entry := sides.entries.get(address)) is not None:
            by_place[entry.kind, entry.parent].append(entry)
    for address, drafts in steps.by_address.items():
        if (entry := sides.entries.get(address)) is None:
            continue
        kind = sides.kind(entry)
        for draft in drafts:
            # A step that makes something less visible is never held back: every other step waits for it.
            fields = draft.fields if draft.phase != "withdraw" else ()
            awaited_kinds = {
                *kind.steps_after_kinds,
                *(kind_name for name in fields for kind_name in kind.field(name).written_after),
            }
            if awaited_kinds and draft.verb != "delete":
                yield from draft.waits_for(*_steps_of_kinds(steps, entry, awaited_kinds, by_place))


def _own_value_before_inherited(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: write an entry's own value before the value that it would inherit changes.

    GitBook returns only the value in effect. If the inherited value changed first, an entry whose own value
    is not written yet would follow that change. If the own value only keeps what is in effect, writing it
    must even have succeeded.
    """
    sides = decisions.sides
    for address, drafts in steps.by_address.items():
        entry = sides.entries.get(address)
        other = inherited_from(sides, entry) if entry is not None else None
        if other is not None:
            decision = decisions.entries.get(address)
            keeps = decision is not None and any(
                change.inherited_from for change in decision.separately_written
            )
            yield from (
                Edge(last.id, first.id, not keeps) for first in drafts for last in steps.steps_of(other)
            )


_ByPlace = dict[tuple[str, Address | None], list[Entry]]
"""The entries that have steps, by kind and parent."""


def _steps_of_kinds(
    steps: StepSet, entry: Entry, kind_names: set[str], by_place: _ByPlace
) -> Iterator[StepDraft]:
    """Yield the non-delete steps of entries of these kinds, directly in an entry or in one of its ancestors.

    The name "children" stands for the steps of everything inside the entry itself.
    """
    for kind_name in sorted(kind_names):
        for ancestor in entry.address.self_and_ancestors():
            for other in by_place.get((kind_name, ancestor), ()):
                if other is not entry:
                    yield from (step for step in steps.steps_of(other.address) if step.verb != "delete")
    if "children" in kind_names:
        nested_steps = (step for step in steps.steps_below(entry.address) if step.address != entry.address)
        yield from (step for step in nested_steps if step.verb != "delete")


def _move_outer_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: move an object (a collection) after the objects that will contain it.

    Then everything around the object is where it will stay, and no move can create a temporary cycle, even
    if two objects exchange their positions.
    """
    sides = decisions.sides

    def stays(address: Address, field: Field) -> bool:
        """Return whether an object keeps its live container, because no step moves the object."""
        moves_of_object = (step for step in steps.steps_of(address, "place") if field.name in step.fields)
        return sides.live(address) is not None and next(moves_of_object, None) is None

    for kind, field in self_nesting_fields(sides.registry):
        nesting = Nesting(sides, kind, field, stays)
        addresses_in_cycles = {member for cycle in nesting.cycles() for member in cycle}
        moves = {
            address: step
            for address in steps.by_address
            for step in steps.steps_of(address, "place")
            if field.name in step.fields and address not in addresses_in_cycles
        }
        for address, step in moves.items():
            # The nearest container waits for the next one itself.
            outer_moves = (
                moves[container] for container in nesting.containers(address) if container in moves
            )
            yield from step.waits_for(*islice(outer_moves, 1))


def _clear_before_recreating(decisions: Decisions, steps: StepSet, edges: Edges) -> Iterator[Edge]:
    """Order steps: if a navigation is re-created, delete all old nodes before the first new one is created.

    The old nodes are deleted one after the other, in an order that agrees with the other edges, so a new
    node needs only one edge: to the last delete.
    """
    if not any(step.phase == "clear" for step in steps.steps.values()):
        return
    for address, scope in decisions.sides.desired.scopes.items():
        if decisions.sides.registry[scope.kinds[0]].is_node:
            steps_in_tree = list(steps.steps_below(address))
            ordered_deletes = in_dependency_order(
                [step for step in steps_in_tree if step.phase == "clear"], edges
            )
            for previous, step in pairwise(ordered_deletes):
                yield from step.waits_for(previous)
            for step in steps_in_tree:
                yield from step.waits_for(*(ordered_deletes[-1:] if step.phase != "clear" else ()))


def _hide_first_show_last(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: hide an object before anything inside it changes, and show it after these changes.

    So nothing is public during an apply that is public neither before nor after it.
    """
    hiding_steps = _steps_by_phase(decisions, steps, "withdraw")
    showing_steps = _steps_by_phase(decisions, steps, "expose")
    revealing_deletes = _deletes_that_reveal_contents(decisions, steps)
    if not (hiding_steps or showing_steps or revealing_deletes):
        return
    visibility = Visibility(decisions)
    parent_of_late_show = {
        step.id: parent for parent, _, step in _children_hidden_with_parent(decisions, steps)
    }
    for address, drafts in steps.by_address.items():
        for surrounding in (address, *visibility.surroundings(address)):
            is_ancestor = surrounding != address and address.is_at_or_below(surrounding)
            for step in drafts:
                if step.verb == "create" and surrounding == address:
                    continue
                if step.phase != "withdraw":
                    yield from step.waits_for(*hiding_steps.get(surrounding, ()))
                if (step.phase == "expose" and not is_ancestor) or parent_of_late_show.get(
                    step.id
                ) == surrounding:
                    continue
                for show in showing_steps.get(surrounding, ()):
                    if show.address == surrounding or step.phase != "expose":
                        yield from show.waits_for(step)
            if surrounding in revealing_deletes and surrounding != address:
                # The contents become visible as soon as the hidden object is deleted.
                steps_inside = (step for step in drafts if step.phase != "expose")
                yield from revealing_deletes[surrounding].waits_for(*steps_inside)


def _show_children_after_parent(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: show a child after its parent, if the child cannot be created hidden itself.

    Such a child is created with a hidden parent, and would be visible as soon as the parent is. So it is
    hidden by an own step before the parent is shown, and shown afterwards.
    """
    for parent, field, step in _children_hidden_with_parent(decisions, steps):
        parent_steps = [other for other in steps.steps_of(parent) if field.name in other.fields]
        yield from step.waits_for(*parent_steps)
        for parent_step in parent_steps:
            yield from parent_step.waits_for(*steps.steps_of(step.address, "withdraw"))


def _children_hidden_with_parent(
    decisions: Decisions, steps: StepSet
) -> Iterator[tuple[Address, Field, StepDraft]]:
    """Yield the navigation nodes that the request for a hidden parent node creates, and that must be hidden.

    Such a child cannot be created hidden itself. Each item is the address of the parent node, the field that
    hides the child, and the step that shows the child.
    """
    for address, decision in decisions.entries.items():
        if (
            decision.hiding_field is not None
            and not decision.has_create_request
            and decision.entry.holder is not None
        ):
            # A new child is shown by its update. For a live one, only the step that shows it waits.
            showing_phase: Verb | Phase = "update" if decision.live is None else "expose"
            for step in steps.steps_of(address, showing_phase):
                yield decision.entry.holder, decision.hiding_field, step


def _deletes_that_reveal_contents(decisions: Decisions, steps: StepSet) -> dict[Address, StepDraft]:
    """Return, by address, the deletes of hidden objects whose contents move up and become visible."""
    deletes = {}
    for address, identity in decisions.deletions.addresses.items():
        live, kind = decisions.deletions.roots[identity], decisions.sides.registry[identity[0]]
        if hides_itself(kind, live.fields) and kind.lifecycle.on_delete == "lifted":
            deletes[address] = steps.steps_of(address, "delete", "clear")[0]
    return deletes


def _steps_by_phase(decisions: Decisions, steps: StepSet, phase: Phase) -> dict[Address, list[StepDraft]]:
    """Return the steps that hide ("withdraw") or show ("expose") objects, by the address of the object.

    A step for an object that gives access to its parent, such as a share link, counts for the parent.
    """
    sides = decisions.sides
    steps_by_address: dict[Address, list[StepDraft]] = defaultdict(list)
    for step in steps.steps.values():
        if step.phase == phase:
            entry = sides.entries[step.address]
            opens_parent = sides.kind(entry).opens_parent and entry.parent is not None
            address = entry.parent if opens_parent and entry.parent is not None else step.address
            steps_by_address[address].append(step)
    return steps_by_address


def _change_while_hidden(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: change an object before it leaves a hidden container, and after it moves into one.

    So nobody sees the object half changed. Changes of navigation nodes come before the moves in both cases;
    exposures.py reports what becomes visible by that.
    """
    visibility, sides = Visibility(decisions), decisions.sides
    moves = {
        step.address: (step, leaves_hidden) for step, leaves_hidden in visibility.moves_across_hidden(steps)
    }
    for address, drafts in steps.by_address.items() if moves else ():
        is_new, entry = sides.live(address) is None, sides.entries.get(address)
        is_node = entry is not None and sides.kind(entry).is_node
        moves_out = (
            moves[surrounding]
            for surrounding in (address, *visibility.surroundings_now(address))
            if surrounding in moves
        )
        for move in (move for move, leaves_hidden in moves_out if leaves_hidden and not is_new):
            earlier_updates = (
                step for step in drafts if step.verb == "update" and visibility.can_precede_moves(step, steps)
            )
            yield from move.waits_for(*earlier_updates)
        moves_in = (
            moves[surrounding]
            for surrounding in (address, *visibility.surroundings_after(address))
            if surrounding in moves
        )
        for move in (move for move, leaves_hidden in moves_in if not leaves_hidden):
            for step in drafts:
                is_write = step.verb in ("create", "update") and step.phase not in ("withdraw", "free")
                if is_write and (is_new or not is_node or step.phase == "expose"):
                    yield from step.waits_for(move)


def _add_before_removing(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: give a guarded value (the role admin) to one member before another one loses it.

    The platform requires at least one member with the value in each parent (organization). One new member
    with the value is enough for all that lose it.
    """
    for kind in decisions.sides.registry.in_dependency_order:
        if kind.guard is None:
            continue
        gaining_steps: dict[Address | None, list[StepDraft]] = defaultdict(list)
        losing_steps: dict[Address | None, list[StepDraft]] = defaultdict(list)
        for step in (step for drafts in steps.by_address.values() for step in drafts):
            entry = decisions.sides.entries.get(step.address)
            if entry is None:
                if step.verb == "delete" and decisions.deletions.addresses[step.address][0] == kind.name:
                    losing_steps[step.address.owner_of_list(kind.key)].append(step)
            elif entry.kind == kind.name and (kind.guard.field in step.fields or step.verb == "create"):
                has_guarded_value = entry.fields.get(kind.guard.field) == kind.guard.value
                (gaining_steps if has_guarded_value else losing_steps)[entry.parent].append(step)
        for parent, losing_steps_of_parent in losing_steps.items():
            for step in losing_steps_of_parent:
                yield from step.waits_for(*gaining_steps[parent][:1])


def _delete_references_first(decisions: Decisions, steps: StepSet) -> Iterator[Edge]:
    """Order steps: delete or change the objects that refer to a deleted object before that object.

    An object may be deleted together with another one; then the delete of that other one counts.
    """
    sides, deletions = decisions.sides, decisions.deletions
    delete_steps: dict[Identity, StepDraft] = {}
    for root in deletions.roots:
        delete_steps[root] = steps.steps_of(sides.names.address(root), "delete", "clear")[0]
    root_of_deleted = deletions.roots_by_contained
    for live in sides.snapshot.objects.values() if root_of_deleted else ():
        for field in sides.kind(live).reference_fields:
            for id in sorted(referenced_ids(field, live.fields.get(field.name))):
                for target in (
                    sides.names.referenced_object(live, name, id) for name in field.referenced_kinds
                ):
                    if target not in root_of_deleted:
                        continue
                    delete_step = delete_steps[root_of_deleted[target]]
                    if live.identity in root_of_deleted:
                        yield from delete_step.waits_for(delete_steps[root_of_deleted[live.identity]])
                    elif live.identity in sides.names.declared:
                        writers = steps.steps_of(sides.names.declared[live.identity])
                        yield from delete_step.waits_for(
                            *(other for other in writers if field.name in other.fields)
                        )


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
