"""What was worked out before, for one version of the state: answers as JSON text, and what callers are.

When anything at all is written, every answer is forgotten: nobody has to know which ones a write changes.
What was counted, and who may do what, follows the writes of this process one by one, so that no write makes
the next request look at everything again. After a write of another process all of it is forgotten.
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
    """`version` is that of the state when it was last asked for; -1: never."""

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
        """What holds for this version of the state."""
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
        """This process has made the state this version. Called with the store's lock held, as all here is."""
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
        """The headers that say which world this is, looked up when they are not known."""
        if self._world is None:
            self._world = look_up()
        return self._world

    def number(self, standing: Standing) -> int:
        """The same for all who may do the same."""
        return self._numbers.setdefault(standing, len(self._numbers))

    def text(self, key: Hashable, render: Callable[[], Any]) -> bytes:
        """The answer under a key, rendered when it is not there."""
        found = self.texts.get(key)
        if found is None:
            found = self.texts[key] = to_json(render())
        return found

    def count(self, kind: str, where: dict[str, str], count: Callable[[], int]) -> int:
        """How many records of a kind have these columns, counted when it is not known."""
        key = (kind, *where.items())
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = count()
            self._counted.setdefault(kind, set()).add(tuple(where))
        return found

    def ordered(self, key: Hashable, of: frozenset[str], make: Callable[[], list[Any]]) -> list[Any]:
        """A sorted list of what is in records `of` these kinds, of which each request shows a page.

        Nobody may change it.
        """
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) >= MOST_LISTS:
                self._lists.clear()
            found = self._lists[key] = of, make()
        return found[1]
