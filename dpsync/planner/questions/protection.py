"""Patterns of `protect` that name one thing, while nobody can tell any more which: they stop deletes.

Such a thing may have been renamed on the platform after its entry was removed, or its line may be lost. Then
it could be any of those that would be deleted in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dpsync.kinds.kind import Call
from dpsync.kinds.places import Places
from dpsync.model.entries.address import Address, Pattern
from dpsync.model.findings.question import Refusal
from dpsync.model.texts.words import some
from dpsync.planner.decide.decisions import Decisions


def unknown_protections(decided: Decisions) -> Iterator[Refusal]:
    """A refusal for each of these patterns with a place in which something would be deleted."""
    if decided.deletions.roots:
        yield from _UnknownProtections(decided).refusals()


class _UnknownProtections:
    def __init__(self, decided: Decisions) -> None:
        self.decided, self.sides = decided, decided.sides

    def refusals(self) -> Iterator[Refusal]:
        for pattern in self.sides.desired.policy.protect:
            place = self._place(pattern)
            names = self._deleted_in(place) if place is not None else []
            if names:
                yield Refusal(
                    code="protected",
                    address=pattern.text,
                    message="it is protected, and nobody can tell any more which live object it is: neither "
                    f"the ids file nor git does. It could be one of what would be deleted: {some(names)}",
                    way_out="name it as it is called now, [Title]; or take the line away when it is gone",
                )

    def _place(self, pattern: Pattern) -> Pattern | None:
        """The place of the first thing on the way to what a pattern names that nothing knows."""
        for end in range(2, len(pattern.segments) + 1):
            if "*" in pattern.segments[end - 1]:
                return None
            part = Pattern(pattern.text, pattern.segments[:end])
            kinds = self._places.kinds(Address(part.segments))
            if any(isinstance(kind.delete, Call) for kind in kinds) and self._is_unknown(part, pattern):
                return Pattern(pattern.text, part.segments[:-1])
        return None

    def _is_unknown(self, part: Pattern, whole: Pattern) -> bool:
        """A title was somebody's only where the git base protects it already: a new line may be for later."""
        title = part.segments[-1].startswith("[")
        before = self.sides.base.desired.policy.protect if self.sides.base.desired is not None else ()
        if title and ("~" in part.segments[-1] or whole not in before):
            return False
        return not self.sides.former.knows(part)

    def _deleted_in(self, place: Pattern) -> list[str]:
        found = []
        for identity in self.decided.deletions.everything:
            names = self.sides.former.of(identity)
            if any(place.covers(Address(name.segments[:-1])) for name in names):
                found.append(str(self.sides.names.address(identity)))
        return sorted(found)

    @cached_property
    def _places(self) -> Places:
        return Places(self.sides.registry)
