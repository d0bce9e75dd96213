"""Circles in "each is in at most one other": pure, for whatever the things are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
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


def beginning_with(first: T, circle: tuple[T, ...]) -> tuple[T, ...]:
    """The same circle from another of its things on."""
    index = circle.index(first)
    return (*circle[index:], *circle[:index])


def chain(names: Sequence[str], link: str) -> str:
    """The names from one to the next; of a long circle the first ones and the last."""
    if len(names) <= MOST:
        return link.join(names)
    return link.join([*names[: MOST - 1], f"… ({len(names) - MOST} more)", names[-1]])
