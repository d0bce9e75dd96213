"""What was worked out before, for one version of the state: answers as JSON text, and what callers are.

When anything at all is written, all of it is forgotten; nobody has to know which answers a write changes.
"""

from collections.abc import Callable, Hashable
from typing import Any

from pydantic_core import to_json

from .access import Standing
from .levels import SpaceGroups

MOST = 50_000
MOST_LISTS = 100


class Remembered:
    """`version` is that of the state when it was last asked for; -1: never."""

    def __init__(self) -> None:
        self.version = -1
        self.texts: dict[Hashable, bytes] = {}
        self.standings: dict[tuple[str, str], Standing] = {}
        self.space_groups: dict[str, SpaceGroups] = {}
        self.stood: set[str] = set()
        """The organizations of which every member's standing is known."""
        self._counts: dict[Hashable, int] = {}
        self._lists: dict[Hashable, list[Any]] = {}
        self._numbers: dict[Standing, int] = {}
        self._world: str | None = None

    def at(self, version: int) -> "Remembered":
        """What holds for this version of the state."""
        if version != self.version or len(self.texts) + len(self._counts) > MOST:
            self.texts.clear()
            self.standings.clear()
            self.space_groups.clear()
            self.stood.clear()
            self._counts.clear()
            self._lists.clear()
            self._numbers.clear()
            self._world = None
            self.version = version
        return self

    def world(self, look_up: Callable[[], str]) -> str:
        """The name of the world, looked up when it is not known."""
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

    def count(self, key: Hashable, count: Callable[[], int]) -> int:
        """The size of a list, counted when it is not known."""
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = count()
        return found

    def ordered(self, key: Hashable, make: Callable[[], list[Any]]) -> list[Any]:
        """A sorted list, of which each request shows a page. Nobody may change it."""
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) >= MOST_LISTS:
                self._lists.clear()
            found = self._lists[key] = make()
        return found
