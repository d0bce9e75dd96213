"""Cache results for one version of the stored state: responses as JSON, counts, and the access of callers.

Every write clears all responses, so no code has to know which responses a write changes. Counts and accesses
follow the writes of this process one by one, so the next request need not compute them again. A write of
another process clears the whole cache.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pydantic_core import to_json

from ..access.organization_access import affected_user
from ..access.roles import OrganizationAccess
from ..access.visible_spaces import SpaceGroups
from ..store import Record, RecordChange

MAX_ENTRIES = 50_000
MAX_LISTS = 100


class StateCache:
    """The cache. `version` is the version of the state to which it belongs, or -1 if it is empty."""

    def __init__(self) -> None:
        self.version = -1
        self.responses: dict[Hashable, bytes] = {}
        self.access_by_user: dict[tuple[str, str], OrganizationAccess] = {}
        self.space_groups: dict[str, SpaceGroups] = {}
        self.loaded_organizations: set[str] = set()
        """The organizations of which the access of every member is cached."""
        self._counts: dict[Hashable, int] = {}
        self._counted_columns: dict[str, set[tuple[str, ...]]] = {}
        """For each kind, the combinations of columns by which its records were counted."""
        self._lists: dict[Hashable, tuple[frozenset[str], list[Any]]] = {}
        self._access_numbers: dict[OrganizationAccess, int] = {}
        self._world_headers: dict[str, str] | None = None

    def at_version(self, version: int) -> "StateCache":
        """Return the cache for this version of the state.

        If the version has changed, or the cache is too large, the cache is cleared first.
        """
        if version != self.version or len(self.responses) + len(self._counts) > MAX_ENTRIES:
            self._clear_responses()
            self.access_by_user.clear()
            self.space_groups.clear()
            self.loaded_organizations.clear()
            self._counts.clear()
            self._counted_columns.clear()
            self._lists.clear()
            self.version = version
        return self

    def apply_changes(self, version: int, changes: Sequence[RecordChange] | None) -> None:
        """Update the cache after a transaction of this process, which changed the data to this version.

        `changes` has (record before, record after) with None for no record. If it is None, or if another
        process wrote between, nothing is done: `at_version` will clear the outdated cache. The store calls
        this with its lock held. All other methods are called under this lock, too.
        """
        if changes is None or version != self.version + 1:
            return
        self.version = version
        self._clear_responses()
        for before, after in changes:
            for record, delta in ((before, -1), (after, 1)):
                if record is None:
                    continue
                for columns in self._counted_columns.get(record.kind, ()):
                    key = (record.kind, *((column, getattr(record, column)) for column in columns))
                    if key in self._counts:
                        self._counts[key] += delta
                self._invalidate_access(record)
                self._lists = {
                    key: entry for key, entry in self._lists.items() if record.kind not in entry[0]
                }
            # First remove the old record and then add the new one: they may be in different organizations.
            for record, before_and_after in ((before, (before, None)), (after, (None, after))):
                groups = self.space_groups.get(record.organization) if record is not None else None
                if groups is not None:
                    groups.update(*before_and_after)

    def _clear_responses(self) -> None:
        """Drop all response bodies, the numbers of accesses, and the headers that name the world."""
        self.responses.clear()
        self._access_numbers.clear()
        self._world_headers = None

    def _invalidate_access(self, record: Record) -> None:
        """Drop the cached access of each user whose access may depend on a written record."""
        user = affected_user(record)
        if user is None:
            self.access_by_user.clear()
        elif user:
            self.access_by_user.pop((record.organization, user), None)
        if user != "":
            self.loaded_organizations.discard(record.organization)

    def world_headers(self, load: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Return the headers that name the world, calling `load` if they are not cached."""
        if self._world_headers is None:
            self._world_headers = load()
        return self._world_headers

    def access_number(self, access: OrganizationAccess) -> int:
        """Return a number for the access of a caller. Callers with equal rights get the same number."""
        return self._access_numbers.setdefault(access, len(self._access_numbers))

    def response_json(self, key: Hashable, render: Callable[[], Any]) -> bytes:
        """Return the answer for a key as JSON, calling `render` if it is not cached."""
        response = self.responses.get(key)
        if response is None:
            response = self.responses[key] = to_json(render())
        return response

    def cached_count(self, kind: str, where: dict[str, str], count: Callable[[], int]) -> int:
        """Return the number of records of a kind with these columns, calling `count` if it is not cached."""
        key = (kind, *where.items())
        number = self._counts.get(key)
        if number is None:
            number = self._counts[key] = count()
            self._counted_columns.setdefault(kind, set()).add(tuple(where))
        return number

    def cached_list(self, key: Hashable, kinds: frozenset[str], build: Callable[[], list[Any]]) -> list[Any]:
        """Return a sorted list of records of these kinds, calling `build` if it is not cached.

        Each request shows one page of the list. No caller may change the list.
        """
        entry = self._lists.get(key)
        if entry is None:
            if len(self._lists) >= MAX_LISTS:
                self._lists.clear()
            entry = self._lists[key] = kinds, build()
        return entry[1]
