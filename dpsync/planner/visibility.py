"""Find what surrounds an object and therefore decides, besides its own fields, who can see the object.

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

_Directions = tuple[Callable[[Address], Iterator[Address]], ...]


class Visibility:
    """The surroundings of addresses, cached."""

    def __init__(self, decisions: Decisions) -> None:
        self._sides = decisions.sides
        self._known: dict[tuple[Address, _Directions], tuple[Address, ...]] = {}

    def surroundings(self, address: Address) -> tuple[Address, ...]:
        """Return everything around an address, now or after the plan, without the address itself."""
        return self._find_surroundings(
            address, (self._direct_surroundings_now, self._direct_surroundings_after)
        )

    def surroundings_now(self, address: Address) -> tuple[Address, ...]:
        """Return everything around an address before the moves, without the address itself."""
        return self._find_surroundings(address, (self._direct_surroundings_now,))

    def surroundings_after(self, address: Address) -> tuple[Address, ...]:
        """Return everything around an address after the moves, without the address itself."""
        return self._find_surroundings(address, (self._direct_surroundings_after,))

    def _find_surroundings(self, address: Address, ways: _Directions) -> tuple[Address, ...]:
        if (address, ways) not in self._known:
            found: dict[Address, None] = {address: None}
            waiting = [address]
            while waiting:
                at = waiting.pop()
                for other in chain(at.self_and_ancestors(), *(way(at) for way in ways)):
                    if other not in found:
                        found[other] = None
                        waiting.append(other)
            del found[address]
            self._known[address, ways] = tuple(found)
        return self._known[address, ways]

    def hidden_before(self, address: Address) -> bool:
        """Return whether a live node is inside a hidden node now."""
        live = self._live_objects.get(address)
        at = live.holder if live is not None else None
        while at is not None and (above := self._sides.snapshot.objects.get(at)) is not None:
            if hides_itself(self._sides.kind(above), above.fields):
                return True
            at = above.holder
        return False

    def hidden_after(self, address: Address) -> bool:
        """Return whether an entry will be inside a hidden node."""
        sides, at = self._sides, self._sides.entries[address].holder
        while at is not None:
            above, live = sides.entries[at], sides.live(at)
            said = {
                name: value for name, value in above.fields.items() if not sides.policy.is_ignored(at, name)
            }
            if hides_itself(sides.kind(above), {**(live.fields if live is not None else {}), **said}):
                return True
            at = above.holder
        return False

    def moves_across_hidden(self, steps: StepSet) -> Iterator[tuple[StepDraft, bool]]:
        """Yield the steps that move a live node out of a hidden node (true) or into one (false)."""
        for address, drafts in steps.by_address.items():
            if address not in self._live_objects or address not in self._sides.entries:
                continue
            moving = [step for step in drafts if step.phase == "place"]
            if moving and (hidden := self.hidden_before(address)) != self.hidden_after(address):
                yield from ((step, hidden) for step in moving)

    def can_precede_moves(self, step: StepDraft, steps: StepSet) -> bool:
        """Return whether a step can precede the moves of a tree: it needs no node that the plan creates."""
        if step.phase not in (None, "withdraw"):
            return False
        makers = (steps.creating_step(ref) for ref in step.referenced_addresses())
        made = (self._sides.entries.get(maker.address) for maker in makers if maker is not None)
        return not any(entry is not None and self._sides.kind(entry).is_node for entry in made)

    def _direct_surroundings_after(self, address: Address) -> Iterator[Address]:
        if (entry := self._sides.entries.get(address)) is not None:
            if entry.holder is not None:
                yield entry.holder
            yield from self._redirect_targets(self._sides.kind(entry), entry)

    def _direct_surroundings_now(self, address: Address) -> Iterator[Address]:
        if (live := self._live_objects.get(address)) is not None:
            if live.holder is not None and live.holder in self._sides.snapshot.objects:
                yield self._sides.names.address(live.holder)
            yield from self._redirect_targets(self._sides.kind(live), live)

    def _redirect_targets(self, kind: Kind, item: Entry | LiveObject) -> Iterator[Address]:
        """Yield the targets of a redirect."""
        sides = self._sides
        for field in kind.fields if kind.redirects is not None else ():
            value = item.fields.get(field.name)
            yield from references(value)
            for id in sorted(referenced_ids(field, value)):
                named = (sides.names.referenced_object(item, name, id) for name in field.referenced_kinds)
                yield from (sides.names.address(one) for one in named if one in sides.snapshot.objects)

    @cached_property
    def _live_objects(self) -> dict[Address, LiveObject]:
        """The live nodes of trees, which may be in a node that their address does not show, and redirects."""
        sides = self._sides
        return {
            sides.names.address(identity): live
            for identity, live in sides.snapshot.objects.items()
            if sides.kind(live).is_node or sides.kind(live).redirects is not None
        }
