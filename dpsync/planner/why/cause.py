"""Three values, one cause: what the git base said, what the files say, what is live.

Pure: fields are compared as their kinds declare it, places by which of two siblings comes first.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Hashable, Iterable, Mapping
from enum import Enum
from itertools import pairwise
from typing import Final

from dpsync.kinds.kind import Field
from dpsync.model.entries.values import Value
from dpsync.model.plans.cause import Cause, common_cause
from dpsync.planner.decide.compare import same


class Nothing(Enum):
    """What stands where there is no value, not even null."""

    UNKNOWN = "there is no base, or nobody can tell what it said"
    UNSAID = "the commit does not name the field"


UNKNOWN: Final = Nothing.UNKNOWN
UNSAID: Final = Nothing.UNSAID

_MANY: Final = 200
"""Of more moves in one list than these, pairs of which both move are not looked at, and of more siblings that
one passes the nearest: there are too many."""


def of_field(
    field: Field,
    base: Value | Nothing,
    here: Value,
    live: Value,
    earlier: Iterable[Value | Nothing] = (),
    never_applied: bool = False,
) -> Cause | None:
    """The cause of a field that can be read; None where the three tell of no edit.

    `earlier` is what commits before the base said, as far as they had the entry, or could have had it. It is
    asked only where the base is not live, the latest commit first. `never_applied`: it is known that nobody
    applied the entry since it was declared.
    """
    unsaid = isinstance(base, Nothing)
    if same(field, here, live):
        return None if unsaid or _as_before(field, here, base) else "same edit twice"
    if base is UNKNOWN:
        return "origin unknown"
    if unsaid or same(field, base, live):
        return "edited here"
    edited = not _as_before(field, here, base)
    if never_applied:
        return "edited here" if edited else "not applied yet"
    doubtful = False
    for value in earlier:
        if isinstance(value, Nothing):
            doubtful = True
        elif same(field, value, live):
            return "edited here" if edited else "not applied yet"
    if edited:
        return "both"
    # It was added after one of these commits, whose applying nobody can see; or what it said cannot be told.
    return "origin unknown" if doubtful else "changed outside"


def _as_before(field: Field, here: Value, base: Value) -> bool:
    """Whether what the files say is what the base said; what they leave unsaid now does not count."""
    return same(field, here, base) or (base is None and here == field.absent)


Ranks = Mapping[Hashable, int]
"""An order of siblings: by each of them how many stand before it."""


def ranks(order: Iterable[Hashable]) -> Ranks:
    return {item: number for number, item in enumerate(order)}


def of_places(
    moving: Collection[Hashable], base: Ranks, here: Ranks, live: Ranks, earlier: Iterable[Ranks] = ()
) -> dict[Hashable, Cause | None]:
    """The causes of the moves in one list of siblings: `moving` are all that are moved in it.

    Of two siblings that change places it is told who has put them the other way round. Those that stay tell
    first. Of two that both move, it counts for what those that stay do not explain. None where one passes
    nobody: it comes from elsewhere.
    """

    mine = [item for item in here if item in moving]
    staying = _Staying([item for item in here if item not in moving], here, live)
    if (everywhere := _of_every_pair(base, here, live, earlier)) is not None:
        return {item: everywhere if staying.passed_by(item) else None for item in mine}

    def among(item: Hashable, others: Iterable[Hashable]) -> dict[Hashable, Cause]:
        return {
            other: _of_pair(item, other, base, live, earlier)
            for other in others
            if other != item
            if (now := _first(live, item, other)) is not None and now != _first(here, item, other)
        }

    first = {item: set(among(item, staying.passed_by(item)).values()) for item in mine}
    if len(mine) > _MANY:
        return {item: common_cause(found) for item, found in first.items()}
    causes = {}
    for item, found in first.items():
        more = {cause for other, cause in among(item, mine).items() if cause not in first[other]}
        causes[item] = common_cause(found | more)
    return causes


class _Staying:
    """The siblings that stay: in one order here and live, so that those that somebody passes lie together.

    But for those that were not selected or that a policy ignores: they may stay in another order than here.
    """

    def __init__(self, items: Iterable[Hashable], here: Ranks, live: Ranks) -> None:
        self._items = [item for item in items if item in live]
        self._here, self._live = here, live
        self._ranks_here = [here[item] for item in self._items]
        self._ranks_live = [live[item] for item in self._items]
        self._ordered = all(before < after for before, after in pairwise(self._ranks_live))

    def passed_by(self, item: Hashable) -> list[Hashable]:
        """The siblings between its live place and its place here; of many the nearest to here."""
        if item not in self._live:
            return []
        if not self._ordered:
            return [
                other
                for other in self._items
                if _first(self._live, item, other) != _first(self._here, item, other)
            ]
        to = bisect(self._ranks_here, self._here[item])
        was = bisect(self._ranks_live, self._live[item])
        return self._items[to : min(was, to + _MANY)] if to < was else self._items[max(was, to - _MANY) : to]


def _of_every_pair(base: Ranks, here: Ranks, live: Ranks, earlier: Iterable[Ranks]) -> Cause | None:
    """The cause of every pair, where only one side has changed the order; None where both have."""
    if _agree(base, live):
        return "edited here"
    if not _agree(base, here) or any(item not in base for item in here if item in live):
        return None
    past = [then for then in earlier if any(item in then for item in here)]
    if not past:
        return "changed outside"
    return "not applied yet" if any(_has_all(then, here) and _agree(then, live) for then in past) else None


def _has_all(order: Ranks, items: Iterable[Hashable]) -> bool:
    return all(item in order for item in items)


def _agree(one: Ranks, other: Ranks) -> bool:
    """Whether what is in both stands in one order."""
    common = [other[item] for item in sorted(one.keys() & other.keys(), key=one.__getitem__)]
    return all(before < after for before, after in pairwise(common))


def _of_pair(item: Hashable, other: Hashable, base: Ranks, live: Ranks, earlier: Iterable[Ranks]) -> Cause:
    now = _first(live, item, other)
    if _first(base, item, other) in (now, None):
        return "edited here"
    return (
        "not applied yet" if any(_first(then, item, other) == now for then in earlier) else "changed outside"
    )


def _first(order: Ranks, one: Hashable, other: Hashable) -> bool | None:
    """Whether one stands before another; None where one of them is not there."""
    return order[one] < order[other] if one in order and other in order else None
