"""Which assignments of objects to entries are certain, where each entry has some candidates. Pure graph work.

An assignment gives no object away twice. The best ones serve as many entries of the best rank as possible,
then as many of the next rank, and so on. What all best assignments have in common is certain. The rest is
for somebody else to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from dpsync.model.cycles import backward, knots

Node = TypeVar("Node")


def certain(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """The objects that entries have in every best assignment. The lowest rank is served first."""
    given = _best(candidates, rank)
    holder = {item: entry for entry, item in given.items()}
    onward = {
        entry: [holder[item] for item in objects if item in holder and holder[item] != entry]
        for entry, objects in candidates.items()
    }
    # Whoever could take a free object, or the object of somebody who could, has another choice.
    free = {entry for entry in given if any(item not in holder for item in candidates[entry])}
    choosing = _reaching(onward, free)
    choosing |= {entry for knot in knots(onward) for entry in knot}
    for level in set(rank.values()):
        # Of equals one is served and another is not: it could be the other way round.
        without = {entry for entry in candidates if entry not in given and rank[entry] == level}
        could = _reached(onward, without)
        supplied = {entry for entry in could if entry in given and rank[entry] == level}
        leading = _reaching(onward, supplied)
        choosing |= could & leading
    return {entry: item for entry, item in given.items() if entry not in choosing}


def _best(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """One best assignment: entries by rank, each along a path on which the ones before it make room."""
    given: dict[Node, str] = {}
    holder: dict[str, Node] = {}
    for entry in sorted(candidates, key=lambda one: rank[one]):
        came_from: dict[str, Node] = {}
        pending, end = [entry], None
        while pending and end is None:
            at = pending.pop()
            for item in candidates[at]:
                if item in came_from:
                    continue
                came_from[item] = at
                if item not in holder:
                    end = item
                    break
                pending.append(holder[item])
        while end is not None:
            taker = came_from[end]
            left = given.get(taker)
            given[taker], holder[end] = end, taker
            end = left
    return given


def _reached(onward: Mapping[Node, Sequence[Node]], start: set[Node]) -> set[Node]:
    """Everything that is found from some entries onward, these included."""
    seen: set[Node] = set()
    pending = list(start)
    while pending:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            pending += onward[at]
    return seen


def _reaching(onward: Mapping[Node, Sequence[Node]], goal: set[Node]) -> set[Node]:
    """Everything from which some entries are found onward, these included."""
    return _reached(backward(onward), goal)
