"""Plan the moves that bring siblings into the declared order.

`fewest_moves` returns the fewest moves: the items of a longest increasing subsequence stay. Undeclared
siblings keep their positions; they are neither counted nor moved.

`sibling_moves` adds edges, so that each ordered list ("lane") has only one request in flight. Siblings are
created in the declared order, because GitBook appends new ones. Moves start from the order after all
creates.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence, Set
from itertools import pairwise
from typing import Generic, TypeVar

from msgspec import Struct, field

from dpsync.kinds.kind import Kind, ListOrder
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.places import declared_container
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


def fewest_moves(current: Sequence[T], wanted: Sequence[T]) -> list[SiblingMove[T]]:
    """Return the fewest moves that bring the items of `wanted` into that order within `current`.

    `current` must contain all wanted items. The moves must be carried out in the returned order.
    """
    position = {item: index for index, item in enumerate(current)}
    keep = set(longest_increasing([position[item] for item in wanted]))
    staying = [item for item in wanted if position[item] in keep]
    result: list[SiblingMove[T]] = []
    for index, item in enumerate(wanted):
        if position[item] in keep:
            continue
        if index:
            result.append(SiblingMove(item, wanted[index - 1], None))
        else:
            result.append(SiblingMove(item, None, staying[0]))
    return result


def after_moves(current: Sequence[T], moves: Sequence[SiblingMove[T]]) -> list[T]:
    """Return `current` as it is after the moves."""
    moving = {move.item for move in moves}
    ahead = {move.before: move.item for move in moves if move.after is None}
    behind = {move.after: move.item for move in moves if move.after is not None}
    found: list[T] = []
    for staying in (one for one in current if one not in moving):
        waiting = [ahead[staying]] if staying in ahead else []
        for first in (*waiting, staying):
            at: T | None = first
            while at is not None:
                found.append(at)
                at = behind.get(at)
    return found


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return a longest strictly increasing subsequence; of several, always the same one."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for index, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(ends[at - 1] if at else None)
        if at == len(tails):
            tails.append(number)
            ends.append(index)
        else:
            tails[at] = number
            ends[at] = index
    result: list[int] = []
    step: int | None = ends[-1] if ends else None
    while step is not None:
        result.append(numbers[step])
        step = before[step]
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
    """Return the moves that bring siblings into order, with the edges of each lane.

    The order of requests within a lane follows the edges in `edges` where it is free.
    """
    finder = _SiblingMoveFinder(
        decisions.sides, steps, edges, RequestBuilder(decisions.sides), decisions.blocking
    )
    finder.add_tree_moves()
    finder.add_list_moves()
    finder.add_sibling_id_edges()
    found = tuple(finder.found_edges), tuple(finder.order_unsupported), frozenset(finder.out_of_place)
    return SiblingMoves(tuple(finder.moves), *found)


class _SiblingMoveFinder(Struct, frozen=True):
    """The search for the moves and edges of each lane. It reads steps and changes none."""

    sides: Sides
    steps: StepSet
    edges: Edges
    """The edges of the other rules."""
    requests: RequestBuilder
    blocking: Blocking
    moves: list[StepDraft] = field(default_factory=list)
    found_edges: list[Edge] = field(default_factory=list)
    order_unsupported: list[Blocked] = field(default_factory=list)
    out_of_place: set[Address] = field(default_factory=set)

    def add_tree_moves(self) -> None:
        """Add one lane for each declared tree."""
        freeing = self._releasing_steps()
        for address in sorted(self.sides.desired.scopes):
            scope = self.sides.desired.scopes[address]
            if isinstance(self.sides.registry[scope.kinds[0]].shape, NodeShape):
                self._add_moves_of_tree(scope, freeing[address])

    def _releasing_steps(self) -> dict[Address, list[StepDraft]]:
        """Return the steps that free a value, by the declared lists that contain them."""
        found: dict[Address, list[StepDraft]] = defaultdict(list)
        for address, steps in self.steps.by_address.items():
            freeing = [step for step in steps if step.phase == "free"]
            for around in address.self_and_ancestors() if freeing else ():
                if around in self.sides.desired.scopes:
                    found[around] += freeing
        return found

    def _add_moves_of_tree(self, scope: Scope, freeing: list[StepDraft]) -> None:
        owner = self.sides.desired.entries[scope.parent]
        nodes = [self.sides.entries[address] for address in self.sides.hierarchy.preorder(owner.children)]
        renames = [
            step for node in nodes if self.sides.live(node.address) for step in self._update_steps(node)
        ]
        lane = freeing + in_dependency_order(renames, self.edges)
        for node in nodes:
            if self.sides.live(node.address) is None:
                lane += self.steps.steps_of(node.address, "create", "update", "place")
            else:
                lane += self.steps.steps_of(node.address, "place")
        for node in nodes:
            lane += self.steps.steps_of(node.address, "default")
        lane += self._tree_moves(owner, nodes)
        self.found_edges.extend(_edges_in_sequence(lane))

    def _update_steps(self, node: Entry) -> list[StepDraft]:
        return self.steps.steps_of(node.address, "update", "link")

    def _tree_moves(self, owner: Entry, nodes: list[Entry]) -> list[StepDraft]:
        found: list[StepDraft] = []
        for holder in [owner, *nodes]:
            children = holder.children
            live = self.sides.live(holder.address)
            before = self.sides.snapshot.sibling_order.get(live.identity, ()) if live else ()
            if tuple(map(self.sides.names.declared.get, before)) == children:
                continue  # in order already
            there = set(before)
            known = [child for child in children if self._will_be_in_list(child, there)]
            found += self._tree_siblings(self._order_after_creates(before, known), known)
        return found

    def _tree_siblings(self, then: list[Address], wanted: list[Address]) -> list[StepDraft]:
        """Return the moves in a list of nodes, for each kind separately if the kinds have no common order."""
        kinds = {self._kind(address).name: self._kind(address) for address in wanted}
        if all(kind.order is not None and not kind.order.orders_kinds_separately for kind in kinds.values()):
            return self._plan_moves(then, wanted)
        found = []
        for name, kind in sorted(kinds.items()):
            same_kind = [item for item in then if self._kind(item).name == name]
            mine = [address for address in wanted if self._kind(address).name == name]
            if kind.order is not None:
                found += self._plan_moves(same_kind, mine)
            else:
                self._report_unmovable(same_kind, mine)
        return found

    def _kind(self, address: Address) -> Kind:
        return self.sides.kind(self.sides.entries[address])

    def _report_unmovable(self, then: list[Address], wanted: list[Address]) -> None:
        for move in fewest_moves(then, self._without_ignored(wanted)):
            if self.sides.policy.is_unselected(move.item):
                continue
            nest = self._kind(move.item).parent_reference_field
            if nest is None or not self.blocking.is_field_blocked(move.item, nest):
                where = f"after {move.after}" if move.after is not None else f"before {move.before}"
                self._add_blocked(move.item, where)

    def _add_blocked(self, address: Address, where: str) -> None:
        reason = self.sides.registry.profile.missing_operation_text(
            f"moving {self._kind(address).noun_with_article}"
        )
        todo = f"move the object {where} in GitBook, or move the entry in your file"
        self.order_unsupported.append(Blocked(address=str(address), reason=reason, todo=todo, place=where))

    def _will_be_in_list(self, address: Address, before: Set[Identity]) -> bool:
        """Return whether a sibling will be in the list that contains `before` now."""
        live = self.sides.live(address)
        if self.sides.policy.is_unselected(address):
            return live is not None and live.identity in before
        return live is not None or address in self.steps.creating_steps

    def _order_after_creates(self, before: tuple[Identity, ...], wanted: list[Address]) -> list[Address]:
        """Return the order of the wanted siblings after all creates: staying ones, then arriving ones.

        Other siblings keep their positions, and no sibling is placed next to them.
        """
        declared, here = self.sides.names.declared, set(wanted)
        staying = (declared[identity] for identity in before if identity in declared)
        return list(dict.fromkeys((*(address for address in staying if address in here), *wanted)))

    def add_list_moves(self) -> None:
        """Add one lane for each object with lists that order its children outside of trees."""
        held: dict[tuple[str, Address | None], list[Address]] = defaultdict(list)
        for address, item in self.sides.entries.items():
            if (order := self.sides.registry.list_order(item.kind)) is not None:
                held[item.kind, declared_container(order.place_field, item)].append(address)
        for holder in self.sides.entries.values():
            lane: list[StepDraft] = []
            for order in self.sides.kind(holder).list_orders:
                if order.name in holder.fields:
                    lane += self._list_steps(order, holder, held[order.item_kind, holder.address])
            self.found_edges.extend(_edges_in_sequence(lane))

    def add_sibling_id_edges(self) -> None:
        """Add edges so that a move follows the steps that determine the ids of its siblings."""
        for step in self.moves:
            makers = (self.steps.creating_step(ref) for ref in step.referenced_addresses())
            self.found_edges.extend(step.waits_for(*(maker for maker in makers if maker is not None)))

    def _list_steps(self, order: ListOrder, holder: Entry, held: list[Address]) -> list[StepDraft]:
        """Return the steps of a list: first those by which siblings arrive, then the moves."""
        listed = [ref.address for ref in holder.fields[order.name] or () if isinstance(ref, Ref)]
        live = self.sides.live(holder.address)
        before = self.sides.snapshot.siblings(live.identity, order.item_kind) if live else ()
        there = set(before)
        known = [address for address in listed if self._will_be_in_list(address, there)]
        # A dict keeps the order of addresses and has fast lookups.
        here = {address: None for address in held if not self.sides.policy.is_unselected(address)}
        staying = [
            address
            for identity in before
            if (address := self.sides.names.declared.get(identity)) is not None
            and (address in here or not self._leaves_list(address, order.place_field))
        ]
        present = set(staying)
        arriving = [address for address in dict.fromkeys((*known, *here)) if address not in present]
        lane = [step for address in arriving for step in self._arrival_steps(address, order.place_field)]
        then = [*staying, *arriving]
        if order.move_order is not None:
            lane += self._plan_moves(then, known)
        else:
            self._report_unmovable(then, known)
        return lane

    def _leaves_list(self, address: Address, place: str) -> bool:
        resource = self.sides.entries.get(address)
        return (
            resource is not None and place in resource.fields and not self.sides.policy.is_unselected(address)
        )

    def _arrival_steps(self, address: Address, place: str) -> list[StepDraft]:
        return [
            step
            for step in self.steps.steps_of(address, "create", "restore", "transfer", "place")
            if step.phase != "place" or place in step.fields
        ]

    def _without_ignored(self, wanted: list[Address]) -> list[Address]:
        """Return the siblings without ignored ones, which keep their positions like undeclared ones."""
        return [address for address in wanted if not self.sides.policy.is_unmanaged(address)]

    def _plan_moves(self, then: list[Address], wanted: list[Address]) -> list[StepDraft]:
        found = []
        for move in fewest_moves(then, self._without_ignored(wanted)):
            side, other = ("after", move.after) if move.after is not None else ("before", move.before)
            assert other is not None
            if self.sides.policy.is_unselected(move.item):
                self.out_of_place.add(move.item)
                continue
            resource, neighbour = self.sides.entries[move.item], self.sides.entries[other]
            found.append(self.requests.move(resource, side, neighbour))
        self.moves.extend(found)
        return found


def _edges_in_sequence(lane: list[StepDraft]) -> Iterator[Edge]:
    return (Edge(step.id, before.id, may_have_failed=True) for before, step in pairwise(lane))
