"""Find cycles among things that lead to each other, such as entries, steps or redirects, in linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
Onward = Mapping[T, Sequence[T]]
"""Each thing with those that it leads to, all of which are things of it."""
MOST: Final = 10
"""Names of a circle that are told. Its beginning shows what is wrong, and nobody reads ten thousand."""


def circles(things: Iterable[T], around: Callable[[T], T | None]) -> Iterator[tuple[T, ...]]:
    """Yield each cycle once, where each thing leads to at most one other thing, `around(thing)`.

    In the yielded tuple, each thing leads to the next one, and the last one to the first.
    """
    done: set[T] = set()
    for start in things:
        path: dict[T, int] = {}
        current: T | None = start
        while current is not None and current not in done:
            done.add(current)
            path[current] = len(path)
            current = around(current)
        if current is not None and current in path:
            yield tuple(path)[path[current] :]


def knots(onward: Onward[T]) -> Iterator[set[T]]:
    """Yield the strongly connected components of at least two things, with Kosaraju's algorithm."""
    order: list[T] = []
    seen: set[T] = set()
    for start in onward:
        pending = [(start, False)]
        while pending:
            thing, done = pending.pop()
            if done:
                order.append(thing)
            elif thing not in seen:
                seen.add(thing)
                pending.append((thing, True))
                pending += [(other, False) for other in onward[thing]]
    back, placed = backward(onward), set[T]()
    for start in reversed(order):
        component = _reachable_unplaced(back, start, placed)
        if len(component) > 1:
            yield component


def openers(onward: Onward[T]) -> set[T]:
    """Return things whose removal breaks every cycle.

    For a single cycle: the thing that is first in `onward`. In each strongly connected component, a
    depth-first search selects the targets of its back edges.
    """
    targets: set[T] = set()
    for component in knots(onward):
        done: set[T] = set()
        for start in (thing for thing in onward if thing in component):
            path: dict[T, Iterator[T]] = {}
            current: T | None = start if start not in done else None
            while current is not None:
                successors = path.setdefault(
                    current, (thing for thing in onward[current] if thing in component)
                )
                following = next((thing for thing in successors if thing in path or thing not in done), None)
                if following is None:
                    done.add(current)
                    del path[current]
                    current = next(reversed(path), None)
                elif following in path:
                    targets.add(following)
                else:
                    current = following
    return targets


def backward(onward: Onward[T]) -> dict[T, list[T]]:
    """Return the reversed graph: each thing with the things that lead to it."""
    found: dict[T, list[T]] = {thing: [] for thing in onward}
    for thing, others in onward.items():
        for other in others:
            found[other].append(thing)
    return found


def _reachable_unplaced(back: Onward[T], start: T, placed: set[T]) -> set[T]:
    """Return the things that `back` reaches from `start` and that are not yet in `placed`, and place them."""
    reached: set[T] = set()
    pending = [start]
    while pending:
        thing = pending.pop()
        if thing not in placed:
            placed.add(thing)
            reached.add(thing)
            pending += back[thing]
    return reached


def beginning_with(first: T, circle: tuple[T, ...]) -> tuple[T, ...]:
    """Return the same cycle, beginning with another of its things."""
    index = circle.index(first)
    return (*circle[index:], *circle[:index])


def chain(names: Sequence[str], link: str) -> str:
    """Join the names of a cycle; for a long cycle only the first names and the last one."""
    if len(names) <= MOST:
        return link.join(names)
    return link.join([*names[: MOST - 1], f"… ({len(names) - MOST} more)", names[-1]])
