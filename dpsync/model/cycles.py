"""Circles among things that lead to each other: pure, for whatever the things are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
Onward = Mapping[T, Sequence[T]]
"""Each thing with those that it leads to, all of which are things of it."""
MOST: Final = 10
"""Names of a circle that are told. Its beginning shows what is wrong, and nobody reads ten thousand."""


def circles(things: Iterable[T], around: Callable[[T], T | None]) -> Iterator[tuple[T, ...]]:
    """Where going from a thing to what is around it leads back to it: each circle once, in linear time.

    Every thing of a circle is in the next one, and the last one in the first.
    """
    done: set[T] = set()
    for start in things:
        path: dict[T, int] = {}
        at: T | None = start
        while at is not None and at not in done:
            done.add(at)
            path[at] = len(path)
            at = around(at)
        if at is not None and at in path:
            yield tuple(path)[path[at] :]


def knots(onward: Onward[T]) -> Iterator[set[T]]:
    """Sets of several things of which each leads to every other one, as large as can be: Kosaraju's two
    passes, in linear time.
    """
    order: list[T] = []
    seen: set[T] = set()
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
    back, placed = backward(onward), set[T]()
    for start in reversed(order):
        knot = _unplaced(back, start, placed)
        if len(knot) > 1:
            yield knot


def openers(onward: Onward[T]) -> set[T]:
    """Some things without which no circle is left: of a single circle the one that comes first in `onward`.

    In each knot those to which a walk comes back while it is still on the way from them: in linear time.
    """
    found: set[T] = set()
    for knot in knots(onward):
        done: set[T] = set()
        for start in (one for one in onward if one in knot):
            way: dict[T, Iterator[T]] = {}
            at: T | None = start if start not in done else None
            while at is not None:
                inside = way.setdefault(at, (one for one in onward[at] if one in knot))
                following = next((one for one in inside if one in way or one not in done), None)
                if following is None:
                    done.add(at)
                    del way[at]
                    at = next(reversed(way), None)
                elif following in way:
                    found.add(following)
                else:
                    at = following
    return found


def backward(onward: Onward[T]) -> dict[T, list[T]]:
    """Each thing with those that lead to it."""
    found: dict[T, list[T]] = {thing: [] for thing in onward}
    for thing, others in onward.items():
        for other in others:
            found[other].append(thing)
    return found


def _unplaced(back: Onward[T], start: T, placed: set[T]) -> set[T]:
    found: set[T] = set()
    pending = [start]
    while pending:
        at = pending.pop()
        if at not in placed:
            placed.add(at)
            found.add(at)
            pending += back[at]
    return found


def beginning_with(first: T, circle: tuple[T, ...]) -> tuple[T, ...]:
    """The same circle from another of its things on."""
    index = circle.index(first)
    return (*circle[index:], *circle[:index])


def chain(names: Sequence[str], link: str) -> str:
    """The names from one to the next; of a long circle the first ones and the last."""
    if len(names) <= MOST:
        return link.join(names)
    return link.join([*names[: MOST - 1], f"… ({len(names) - MOST} more)", names[-1]])
