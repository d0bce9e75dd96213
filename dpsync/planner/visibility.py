"""Find the surroundings of an object: what decides, besides its own fields, who can see the object.

`Visibility.surroundings` returns the objects above an address, now or after the apply, and the targets of a
redirect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain

from dpsync.kinds.kind import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import references
from dpsync.planner.create_hidden import hides_itself
from dpsync.planner.decide import Decisions
from dpsync.planner.deletions import referenced_ids
from dpsync.planner.stepset import StepDraft, StepSet

_NextObjects = tuple[Callable[[Address], Iterator[Address]], ...]
"""Functions from an address to its direct surroundings."""


class Visibility:
    """The objects that decide, besides an object itself, who can see the object; cached.

    These are the objects that contain it, now or after the apply, and the targets of a redirect.
    """

    def __init__(self, decisions: Decisions) -> None:
        self._sides = decisions.sides
        self._cache: dict[tuple[Address, _NextObjects], tuple[Address, ...]] = {}

    def surroundings(self, address: Address) -> tuple[Address, ...]:
        """Return the objects that affect who can see the object at an address, now or after the plan."""
        return self._find_surroundings(
            address, (self._direct_surroundings_now, self._direct_surroundings_after)
        )

    def surroundings_now(self, address: Address) -> tuple[Address, ...]:
        """Return the objects that affect who can see the object at an address, before all moves."""
        return self._find_surroundings(address, (self._direct_surroundings_now,))

    def surroundings_after(self, address: Address) -> tuple[Address, ...]:
        """Return the objects that affect who can see the object at an address, after all moves."""
        return self._find_surroundings(address, (self._direct_surroundings_after,))

    def _find_surroundings(self, address: Address, next_objects: _NextObjects) -> tuple[Address, ...]:
        """Return the ancestors of an address, the objects that `next_objects` yields, and in turn theirs.

        The functions in `next_objects` yield what directly contains an object, now or after the apply, and
        the targets of a redirect.
        """
        if (address, next_objects) not in self._cache:
            surroundings: dict[Address, None] = {address: None}  # a set that keeps its order
            waiting = [address]
            while waiting:
                current = waiting.pop()
                for other in chain(current.self_and_ancestors(), *(step(current) for step in next_objects)):
                    if other not in surroundings:
                        surroundings[other] = None
                        waiting.append(other)
            del surroundings[address]
            self._cache[address, next_objects] = tuple(surroundings)
        return self._cache[address, next_objects]

    def hidden_before(self, address: Address) -> bool:
        """Return whether a live navigation node is inside another node that is hidden now, at any depth."""
        live = self._live_objects.get(address)
        container = live.holder if live is not None else None
        while (
            container is not None
            and (container_object := self._sides.snapshot.objects.get(container)) is not None
        ):
            if hides_itself(self._sides.kind(container_object), container_object.fields):
                return True
            container = container_object.holder
        return False

    def hidden_after(self, address: Address) -> bool:
        """Return whether the navigation node of an entry will be inside a hidden node after the apply."""
        sides, container = self._sides, self._sides.entries[address].holder
        while container is not None:
            entry, live = sides.entries[container], sides.live(container)
            declared = {
                name: value
                for name, value in entry.fields.items()
                if not sides.policy.is_ignored(container, name)
            }
            if hides_itself(sides.kind(entry), {**(live.fields if live is not None else {}), **declared}):
                return True
            container = entry.holder
        return False

    def moves_across_hidden(self, steps: StepSet) -> Iterator[tuple[StepDraft, bool]]:
        """Yield the steps that move a live node out of a hidden node (True) or into one (False)."""
        for address, drafts in steps.by_address.items():
            if address not in self._live_objects or address not in self._sides.entries:
                continue
            moves = [step for step in drafts if step.phase == "place"]
            if moves and (leaves_hidden := self.hidden_before(address)) != self.hidden_after(address):
                yield from ((step, leaves_hidden) for step in moves)

    def can_precede_moves(self, step: StepDraft, steps: StepSet) -> bool:
        """Return whether a step can be sent before the moves of a tree.

        It can if it is an ordinary step or hides something ("withdraw"), and needs no tree node that the
        plan creates.
        """
        if step.phase not in (None, "withdraw"):
            return False
        creating_steps = (steps.creating_step(ref) for ref in step.referenced_addresses())
        created_entries = (
            self._sides.entries.get(creating_step.address)
            for creating_step in creating_steps
            if creating_step is not None
        )
        return not any(entry is not None and self._sides.kind(entry).is_node for entry in created_entries)

    def _direct_surroundings_after(self, address: Address) -> Iterator[Address]:
        """Yield what contains an entry after the apply, and the targets of a redirect."""
        if (entry := self._sides.entries.get(address)) is not None:
            if entry.holder is not None:
                yield entry.holder
            yield from self._redirect_targets(self._sides.kind(entry), entry)

    def _direct_surroundings_now(self, address: Address) -> Iterator[Address]:
        """Yield what contains a live object before the apply, and the targets of a redirect."""
        if (live := self._live_objects.get(address)) is not None:
            if live.holder is not None and live.holder in self._sides.snapshot.objects:
                yield self._sides.names.address(live.holder)
            yield from self._redirect_targets(self._sides.kind(live), live)

    def _redirect_targets(self, kind: Kind, item: Entry | LiveObject) -> Iterator[Address]:
        """Yield the addresses to which a redirect leads: references and ids in its fields.

        Yield nothing for an object that is not a redirect.
        """
        sides = self._sides
        for field in kind.fields if kind.redirects is not None else ():
            value = item.fields.get(field.name)
            yield from references(value)
            for id in sorted(referenced_ids(field, value)):
                targets = (
                    sides.names.referenced_object(item, kind_name, id) for kind_name in field.referenced_kinds
                )
                yield from (
                    sides.names.address(identity)
                    for identity in targets
                    if identity in sides.snapshot.objects
                )

    @cached_property
    def _live_objects(self) -> dict[Address, LiveObject]:
        """The live nodes of trees and live redirects, by address.

        A live node can be in another node than its address says.
        """
        sides = self._sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.kind(live).is_node or sides.kind(live).redirects is not None
        }
