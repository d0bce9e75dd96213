"""Plan the moves that bring siblings (children of one parent in an order) into the declared order.

`fewest_moves` returns the fewest moves: the items of a longest increasing subsequence stay. Undeclared
siblings keep their positions; they are neither counted nor moved. `sibling_moves` adds edges, so that each
ordered list ("lane") has only one request in flight. Siblings are created in the declared order, because
GitBook appends new ones. Moves start from the order after all creates.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence, Set
from itertools import pairwise
from typing import Generic, TypeVar

from msgspec import Struct, field

from dpsync.kinds.address_patterns import declared_container
from dpsync.kinds.kind import Kind, ListOrder
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.model.address import Address
from dpsync.model.change import Blocked
from dpsync.model.desired import Entry, Scope
from dpsync.model.snapshot import Identity
from dpsync.model.values import Ref
from dpsync.planner.blocks import Blocking
from dpsync.planner.decide import Decisions
from dpsync.planner.requests import RequestBuilder
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import Edge, Edges, StepDraft, StepSet, in_dependency_order

T = TypeVar("T", bound=Hashable)


class SiblingMove(Struct, Generic[T], frozen=True):
    """A move of `item` directly after `after` or, if that is None, directly before `before`."""

    item: T
    after: T | None
    before: T | None


def fewest_moves(current: Sequence[T], target: Sequence[T]) -> list[SiblingMove[T]]:
    """Return the fewest moves that bring the items of `target` into that order within `current`.

    `current` must contain all items of `target`; other items keep their positions. The moves must be
    carried out in the returned order.
    """
    position = {item: index for index, item in enumerate(current)}
    kept_positions = set(longest_increasing([position[item] for item in target]))
    staying = [item for item in target if position[item] in kept_positions]
    moves: list[SiblingMove[T]] = []
    for index, item in enumerate(target):
        if position[item] in kept_positions:
            continue
        if index:
            moves.append(SiblingMove(item, target[index - 1], None))
        else:
            moves.append(SiblingMove(item, None, staying[0]))
    return moves


def after_moves(current: Sequence[T], moves: Sequence[SiblingMove[T]]) -> list[T]:
    """Return the items of `current` in the order that results from moves (made by `fewest_moves`).

    Each move puts an item directly after another item, or before the first item that stays.
    """
    moved = {move.item for move in moves}
    before_item = {move.before: move.item for move in moves if move.after is None}
    after_item = {move.after: move.item for move in moves if move.after is not None}
    order: list[T] = []
    for unmoved in (item for item in current if item not in moved):
        preceding = [before_item[unmoved]] if unmoved in before_item else []
        for start in (*preceding, unmoved):
            current_item: T | None = start
            while current_item is not None:
                order.append(current_item)
                current_item = after_item.get(current_item)
    return order


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return a longest strictly increasing subsequence; of several, always the same one.

    For example, [3, 1, 2] gives [1, 2]. The algorithm is patience sorting.
    """
    tails: list[int] = []  # the smallest last number of a subsequence of each length
    ends: list[int] = []  # the index of that number
    predecessors: list[int | None] = []  # for each number, the index of its predecessor in the subsequence
    for index, number in enumerate(numbers):
        length = bisect_left(tails, number)
        predecessors.append(ends[length - 1] if length else None)
        if length == len(tails):
            tails.append(number)
            ends.append(index)
        else:
            tails[length] = number
            ends[length] = index
    result: list[int] = []
    cursor: int | None = ends[-1] if ends else None
    while cursor is not None:
        result.append(numbers[cursor])
        cursor = predecessors[cursor]
    return result[::-1]


class SiblingMoves(Struct, frozen=True):
    """The moves of siblings, and the edges that allow only one request per ordered list at a time."""

    moves: tuple[StepDraft, ...]
    edges: tuple[Edge, ...]
    order_unsupported: tuple[Blocked, ...]
    """The objects that the platform cannot move among their siblings."""
    out_of_place: frozenset[Address]
    """Siblings that must move but were not selected, so that no other sibling can be placed next to them."""


def sibling_moves(decisions: Decisions, steps: StepSet, edges: Edges) -> SiblingMoves:
    """Return the moves that bring siblings into the declared order, and edges (which step waits for which).

    The requests of one ordered list (a "lane") are sent one after the other, in an order that agrees with
    `edges`.
    """
    finder = _SiblingMoveFinder(
        decisions.sides, steps, edges, RequestBuilder(decisions.sides), decisions.blocking
    )
    finder.add_tree_moves()
    finder.add_list_moves()
    finder.add_sibling_id_edges()
    return SiblingMoves(
        tuple(finder.moves),
        tuple(finder.new_edges),
        tuple(finder.order_unsupported),
        frozenset(finder.out_of_place),
    )


class _SiblingMoveFinder(Struct, frozen=True):
    """The search for the moves and edges of each lane. It reads steps and changes none."""

    sides: Sides
    steps: StepSet
    edges: Edges
    """The edges of the other rules."""
    requests: RequestBuilder
    blocking: Blocking
    moves: list[StepDraft] = field(default_factory=list)
    new_edges: list[Edge] = field(default_factory=list)
    order_unsupported: list[Blocked] = field(default_factory=list)
    out_of_place: set[Address] = field(default_factory=set)

    def add_tree_moves(self) -> None:
        """Plan the moves of each declared navigation tree, with its requests in sequence (a "lane")."""
        # The steps that release a unique value, by the declared trees and lists that contain them.
        releasing: dict[Address, list[StepDraft]] = defaultdict(list)
        for address, steps in self.steps.by_address.items():
            releasing_steps = [step for step in steps if step.phase == "free"]
            for ancestor in address.self_and_ancestors() if releasing_steps else ():
                if ancestor in self.sides.desired.scopes:
                    releasing[ancestor] += releasing_steps
        for address in sorted(self.sides.desired.scopes):
            scope = self.sides.desired.scopes[address]
            if isinstance(self.sides.registry[scope.kinds[0]].shape, NodeShape):
                self._add_tree_lane(scope, releasing[address])

    def _add_tree_lane(self, scope: Scope, releasing: list[StepDraft]) -> None:
        """Put all writing steps of a tree into one sequence, with the moves at the end.

        The order is: released values, updates, creates and moves into other nodes, defaults, moves among
        siblings.
        """
        owner = self.sides.desired.entries[scope.parent]
        nodes = [self.sides.entries[address] for address in self.sides.hierarchy.preorder(owner.children)]
        renames = [
            step
            for node in nodes
            if self.sides.live(node.address)
            for step in self.steps.steps_of(node.address, "update", "link")
        ]
        lane = releasing + in_dependency_order(renames, self.edges)
        for node in nodes:
            if self.sides.live(node.address) is None:
                lane += self.steps.steps_of(node.address, "create", "update", "place")
            else:
                lane += self.steps.steps_of(node.address, "place")
        for node in nodes:
            lane += self.steps.steps_of(node.address, "default")
        lane += self._plan_tree_moves(owner, nodes)
        self.new_edges.extend(_edges_in_sequence(lane))

    def _plan_tree_moves(self, owner: Entry, nodes: list[Entry]) -> list[StepDraft]:
        """Return the moves among the children of the owner of a tree (a site) and of each of its nodes."""
        moves: list[StepDraft] = []
        for container in [owner, *nodes]:
            children = container.children
            live = self.sides.live(container.address)
            live_order = self.sides.snapshot.sibling_order.get(live.identity, ()) if live else ()
            if tuple(map(self.sides.names.declared.get, live_order)) == children:
                continue  # in order already
            live_siblings = set(live_order)
            known_children = [child for child in children if self._will_be_in_list(child, live_siblings)]
            moves += self._plan_children_moves(
                self._order_after_creates(live_order, known_children), known_children
            )
        return moves

    def _plan_children_moves(self, current: list[Address], target: list[Address]) -> list[StepDraft]:
        """Return the moves that bring the children of one node from the `current` into the `target` order.

        If the platform orders the kinds separately, the moves are planned for each kind separately.
        """
        kinds = {self._kind(address).name: self._kind(address) for address in target}
        if all(kind.order is not None and not kind.order.orders_kinds_separately for kind in kinds.values()):
            return self._plan_moves(current, target)
        moves = []
        for name, kind in sorted(kinds.items()):
            current_of_kind = [address for address in current if self._kind(address).name == name]
            target_of_kind = [address for address in target if self._kind(address).name == name]
            if kind.order is not None:
                moves += self._plan_moves(current_of_kind, target_of_kind)
            else:
                self._report_unmovable(current_of_kind, target_of_kind)
        return moves

    def _kind(self, address: Address) -> Kind:
        """Return the kind of the entry at an address."""
        return self.sides.kind(self.sides.entries[address])

    def _report_unmovable(self, current: list[Address], target: list[Address]) -> None:
        """Report as blocked the siblings in a wrong order that the API cannot move.

        A sibling whose move into this parent is blocked is left out, because that is reported already.
        """
        for move in fewest_moves(current, self._without_ignored(target)):
            if self.sides.policy.is_unselected(move.item):
                continue
            parent_field = self._kind(move.item).parent_reference_field
            if parent_field is None or not self.blocking.is_field_blocked(move.item, parent_field):
                position = f"after {move.after}" if move.after is not None else f"before {move.before}"
                reason = self.sides.registry.profile.missing_operation_text(
                    f"moving {self._kind(move.item).noun_with_article}"
                )
                todo = f"move the object {position} in GitBook, or move the entry in your file"
                self.order_unsupported.append(
                    Blocked(address=str(move.item), reason=reason, todo=todo, place=position)
                )

    def _will_be_in_list(self, address: Address, live_siblings: Set[Identity]) -> bool:
        """Return whether an entry will be in the list that contains `live_siblings` now."""
        live = self.sides.live(address)
        if self.sides.policy.is_unselected(address):
            return live is not None and live.identity in live_siblings
        return live is not None or address in self.steps.creating_steps

    def _order_after_creates(self, live_order: tuple[Identity, ...], target: list[Address]) -> list[Address]:
        """Return the siblings in `target` in their order after all creates: first those that stay.

        Siblings outside `target` are left out: they keep their positions, and no sibling is placed next to
        them.
        """
        declared, target_set = self.sides.names.declared, set(target)
        staying = (declared[identity] for identity in live_order if identity in declared)
        return list(dict.fromkeys((*(address for address in staying if address in target_set), *target)))

    def add_list_moves(self) -> None:
        """Plan the steps of each list that declares the order of its items, outside of navigation trees.

        Edges put all steps of an object's lists in sequence (a lane): only one request is in flight.
        """
        addresses_by_container: dict[tuple[str, Address | None], list[Address]] = defaultdict(list)
        for address, entry in self.sides.entries.items():
            if (order := self.sides.registry.list_order(entry.kind)) is not None:
                addresses_by_container[entry.kind, declared_container(order.place_field, entry)].append(
                    address
                )
        for container in self.sides.entries.values():
            lane: list[StepDraft] = []
            for order in self.sides.kind(container).list_orders:
                if order.name in container.fields:
                    lane += self._list_steps(
                        order, container, addresses_by_container[order.item_kind, container.address]
                    )
            self.new_edges.extend(_edges_in_sequence(lane))

    def add_sibling_id_edges(self) -> None:
        """Add edges so that a move follows the steps that determine the ids of its siblings."""
        for step in self.moves:
            creating_steps = (self.steps.creating_step(ref) for ref in step.referenced_addresses())
            self.new_edges.extend(
                step.waits_for(
                    *(creating_step for creating_step in creating_steps if creating_step is not None)
                )
            )

    def _list_steps(self, order: ListOrder, container: Entry, members: list[Address]) -> list[StepDraft]:
        """Return the steps of one list in sequence: first those that bring objects into it, then the moves.

        `members` are the entries that declare to be in `container`. If the API cannot move the objects,
        report a wrong order instead.
        """
        declared_order = [ref.address for ref in container.fields[order.name] or () if isinstance(ref, Ref)]
        live = self.sides.live(container.address)
        live_order = self.sides.snapshot.siblings(live.identity, order.item_kind) if live else ()
        live_siblings = set(live_order)
        known_siblings = [
            address for address in declared_order if self._will_be_in_list(address, live_siblings)
        ]
        # A dict keeps the order of addresses and has fast lookups.
        selected_members = {
            address: None for address in members if not self.sides.policy.is_unselected(address)
        }
        staying = [
            address
            for identity in live_order
            if (address := self.sides.names.declared.get(identity)) is not None
            and (address in selected_members or not self._is_placed_by_plan(address, order.place_field))
        ]
        present = set(staying)
        arriving = [
            address
            for address in dict.fromkeys((*known_siblings, *selected_members))
            if address not in present
        ]
        lane = [
            step
            for address in arriving
            for step in self.steps.steps_of(address, "create", "restore", "transfer", "place")
            if step.phase != "place" or order.place_field in step.fields
        ]
        current = [*staying, *arriving]
        if order.move_order is not None:
            lane += self._plan_moves(current, known_siblings)
        else:
            self._report_unmovable(current, known_siblings)
        return lane

    def _is_placed_by_plan(self, address: Address, place_field: str) -> bool:
        """Return whether the entry of an object declares its container, and the plan includes the entry."""
        entry = self.sides.entries.get(address)
        is_declared = entry is not None and place_field in entry.fields
        return is_declared and not self.sides.policy.is_unselected(address)

    def _without_ignored(self, addresses: list[Address]) -> list[Address]:
        """Return the siblings without ignored ones, which keep their positions like undeclared ones."""
        return [address for address in addresses if not self.sides.policy.is_unmanaged(address)]

    def _plan_moves(self, current: list[Address], target: list[Address]) -> list[StepDraft]:
        """Add and return the fewest move steps from the `current` to the `target` order of siblings.

        A sibling that was not selected is not moved but noted in `out_of_place`.
        """
        steps = []
        for move in fewest_moves(current, self._without_ignored(target)):
            side, sibling_address = (
                ("after", move.after) if move.after is not None else ("before", move.before)
            )
            assert sibling_address is not None
            if self.sides.policy.is_unselected(move.item):
                self.out_of_place.add(move.item)
                continue
            entry, sibling = self.sides.entries[move.item], self.sides.entries[sibling_address]
            steps.append(self.requests.move(entry, side, sibling))
        self.moves.extend(steps)
        return steps


def _edges_in_sequence(lane: list[StepDraft]) -> Iterator[Edge]:
    """Yield the edges by which each step of a lane waits for the step before, even if that step fails."""
    return (Edge(step.id, before.id, may_have_failed=True) for before, step in pairwise(lane))
