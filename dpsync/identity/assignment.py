"""Which assignments of objects to entries are certain, where each entry has some candidates. Pure graph work.

An assignment gives no object away twice. The best ones serve as many entries of the best rank as possible,
then as many of the next rank, and so on. What all best assignments have in common is certain. The rest is
for somebody else to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node")


def certain(candidates: Mapping[Node, Sequence[str]], rank: Mapping[Node, int]) -> dict[Node, str]:
    """The objects that entries have in every best assignment. Rank 0 is served first."""
    given = _best(candidates, rank)
    holder = {item: entry for entry, item in given.items()}
    onward = {
        entry: [holder[item] for item in objects if item in holder and holder[item] != entry]
        for entry, objects in candidates.items()
    }
    # Whoever could take a free object, or the object of somebody who could, has another choice.
    free = {entry for entry in given if any(item not in holder for item in candidates[entry])}
    choosing = _reaching(onward, free)
    choosing |= _in_circles(onward)
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
    return _reached(_backward(onward), goal)


def _backward(onward: Mapping[Node, Sequence[Node]]) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {entry: [] for entry in onward}
    for entry, others in onward.items():
        for other in others:
            found[other].append(entry)
    return found


def _in_circles(onward: Mapping[Node, Sequence[Node]]) -> set[Node]:
    """The entries from which a way leads back to themselves: Kosaraju's two passes."""
    order: list[Node] = []
    seen: set[Node] = set()
    for start in onward:
        pending = [(start, False)]
        while pending:
            at, done = pending.pop()
            if done:
                order.append(at)
            elif at not in seen:
                seen.add(at)
                pending.append((at, True))
                pending += [(other, False) for other in onward[at]]
    backward, found = _backward(onward), set[Node]()
    placed: set[Node] = set()
    for start in reversed(order):
        component = _unplaced(backward, start, placed)
        if len(component) > 1:
            found |= component
    return found


def _unplaced(backward: Mapping[Node, Sequence[Node]], start: Node, placed: set[Node]) -> set[Node]:
    component: set[Node] = set()
    pending = [start]
    while pending:
        at = pending.pop()
        if at not in placed:
            placed.add(at)
            component.add(at)
            pending += backward[at]
    return component
