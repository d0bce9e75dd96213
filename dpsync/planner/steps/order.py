"""The order of siblings, reached with the fewest moves.

A longest increasing subsequence stays in place and only the rest is moved: n − LIS moves, which is minimal.
Siblings that are not declared keep their place; they are never counted and never moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Hashable)


class Move(Struct, Generic[T], frozen=True):
    """Put `item` right behind `after`, or, when that is None, right in front of `before`."""

    item: T
    after: T | None
    before: T | None


def moves(present: Sequence[T], wanted: Sequence[T]) -> list[Move[T]]:
    """The fewest moves after which the items of `wanted` stand in that order among `present`.

    Every wanted item must be present. To be carried out in the order given.
    """
    position = {item: index for index, item in enumerate(present)}
    keep = set(longest_increasing([position[item] for item in wanted]))
    staying = [item for item in wanted if position[item] in keep]
    result: list[Move[T]] = []
    for index, item in enumerate(wanted):
        if position[item] in keep:
            continue
        if index:
            result.append(Move(item, wanted[index - 1], None))
        else:
            result.append(Move(item, None, staying[0]))
    return result


def after_moves(present: Sequence[T], made: Sequence[Move[T]]) -> list[T]:
    """What `present` is after moves: each item that moves comes with the one that it is put beside."""
    moving = {move.item for move in made}
    ahead = {move.before: move.item for move in made if move.after is None}
    behind = {move.after: move.item for move in made if move.after is not None}
    found: list[T] = []
    for staying in (one for one in present if one not in moving):
        waiting = [ahead[staying]] if staying in ahead else []
        for first in (*waiting, staying):
            at: T | None = first
            while at is not None:
                found.append(at)
                at = behind.get(at)
    return found


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """One longest strictly increasing subsequence; of several, always the same one."""
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
