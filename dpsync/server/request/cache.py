"""Cache results for one version of the state: answers as JSON, counts, and the standings of callers.

Every write clears all answers, so no code has to know which answers a write changes. Counts and standings
follow the writes of this process one by one, so the next request need not compute them again. A write of
another process clears the whole cache.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pydantic_core import to_json

from ..access.roles import Standing
from ..access.standings import standing_of
from ..access.visible_spaces import SpaceGroups
from ..store import Change, Record

MOST = 50_000
MOST_LISTS = 100


class StateCache:
    """The cache. `version` is the version of the state to which it belongs, or -1 if it is empty."""

    def __init__(self) -> None:
        self.version = -1
        self.texts: dict[Hashable, bytes] = {}
        self.standings: dict[tuple[str, str], Standing] = {}
        self.space_groups: dict[str, SpaceGroups] = {}
        self.stood: set[str] = set()
        """The organizations of which every member's standing is known."""
        self._counts: dict[Hashable, int] = {}
        self._counted: dict[str, set[tuple[str, ...]]] = {}
        """By which columns records of a kind were counted."""
        self._lists: dict[Hashable, tuple[frozenset[str], list[Any]]] = {}
        self._numbers: dict[Standing, int] = {}
        self._world: dict[str, str] | None = None

    def at(self, version: int) -> "StateCache":
        """Return the cache for this version of the state.

        If the version has changed, or the cache is too large, the cache is cleared first.
        """
        if version != self.version or len(self.texts) + len(self._counts) > MOST:
            self._forget_answers()
            self.standings.clear()
            self.space_groups.clear()
            self.stood.clear()
            self._counts.clear()
            self._counted.clear()
            self._lists.clear()
            self.version = version
        return self

    def follow(self, version: int, changes: Sequence[Change] | None) -> None:
        """Update the cache for a transaction of this process that led to this version.

        The store calls this with its lock held. All other methods are called under this lock, too.
        """
        if changes is None or version != self.version + 1:
            return  # then nothing holds any more, and `at` sees that
        self.version = version
        self._forget_answers()
        for before, after in changes:
            for record, one in ((before, -1), (after, 1)):
                if record is not None:
                    self._count_with(record, one)
                    self._stand_anew(record)
                    self._lists = {
                        key: kept for key, kept in self._lists.items() if record.kind not in kept[0]
                    }
            self._regroup(before, after)

    def _forget_answers(self) -> None:
        self.texts.clear()
        self._numbers.clear()
        self._world = None

    def _count_with(self, record: Record, one: int) -> None:
        for columns in self._counted.get(record.kind, ()):
            key = (record.kind, *((column, getattr(record, column)) for column in columns))
            if key in self._counts:
                self._counts[key] += one

    def _stand_anew(self, record: Record) -> None:
        user = standing_of(record)
        if user is None:
            self.standings.clear()
        elif user:
            self.standings.pop((record.organization, user), None)
        if user != "":
            self.stood.discard(record.organization)

    def _regroup(self, before: Record | None, after: Record | None) -> None:
        for record, sides in ((before, (before, None)), (after, (None, after))):
            groups = self.space_groups.get(record.organization) if record is not None else None
            if groups is not None:
                groups.change(*sides)

    def world(self, look_up: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Return the headers that name the world, calling `look_up` if they are not cached."""
        if self._world is None:
            self._world = look_up()
        return self._world

    def number(self, standing: Standing) -> int:
        """Return a number for a standing. Callers with equal rights get the same number."""
        return self._numbers.setdefault(standing, len(self._numbers))

    def text(self, key: Hashable, render: Callable[[], Any]) -> bytes:
        """Return the answer for a key as JSON, calling `render` if it is not cached."""
        found = self.texts.get(key)
        if found is None:
            found = self.texts[key] = to_json(render())
        return found

    def count(self, kind: str, where: dict[str, str], count: Callable[[], int]) -> int:
        """Return the number of records of a kind with these columns, calling `count` if it is not cached."""
        key = (kind, *where.items())
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = count()
            self._counted.setdefault(kind, set()).add(tuple(where))
        return found

    def ordered(self, key: Hashable, of: frozenset[str], make: Callable[[], list[Any]]) -> list[Any]:
        """Return a sorted list of records of the kinds `of`, calling `make` if it is not cached.

        Each request shows one page of the list. No caller may change the list.
        """
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) >= MOST_LISTS:
                self._lists.clear()
            found = self._lists[key] = of, make()
        return found[1]
