"""How many spaces a member, or a team, may view, without looking at each space for each of them.

All spaces that are in one collection and have one default level are alike to whoever was given nothing on one
of them. So they are counted in these groups. What is open to everybody who is no guest is one sum; besides
that only what somebody was given is looked at. Both follow the writes of single spaces and collections.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..store import Record, Store
from .roles import Role, Standing

Group = tuple[str, Role]
"""The collection that spaces are in ("" the top), and their default level."""


class SpaceGroups:
    """The spaces of one organization, in groups."""

    def __init__(self, spaces: Iterable[Record], collections: Iterable[Record]) -> None:
        self._sizes: defaultdict[str, Counter[Role]] = defaultdict(Counter)
        self._collections: dict[str, Record] = {}
        self._inside: defaultdict[str, set[str]] = defaultdict(set)
        """The collections in each collection."""
        self._open: int | None = None
        """How many spaces are open to everybody who is no guest; None: to be counted."""
        self.total = 0
        for collection in collections:
            self.collection(None, collection)
        for space in spaces:
            self.space(None, space)

    def space(self, before: Record | None, after: Record | None) -> None:
        """One was made, changed or removed."""
        for space, one in ((before, -1), (after, 1)):
            if space is not None:
                parent, level = group = _group(space)
                self._sizes[parent][level] += one
                self.total += one
                if self._open is not None and self._is_open(group):
                    self._open += one

    def collection(self, before: Record | None, after: Record | None) -> None:
        """The same for a collection."""
        if before is not None:
            del self._collections[before.id]
            self._inside[before.parent].discard(before.id)
        if after is not None:
            self._collections[after.id] = after
            self._inside[after.parent].add(after.id)
        if before is None or after is None or _group(before) != _group(after):
            self._open = None

    def visible(self, standings: Sequence[Standing], space: Callable[[str], Record | None]) -> int:
        """How many of them all of these have a level on. `space` finds one of the organization by its id."""
        asked = [standing for standing in standings if standing.role != "admin"]
        if not asked:
            return self.total
        opened = [self._below(_given(standing, "collection")) for standing in asked]
        guests = [below for standing, below in zip(asked, opened, strict=True) if standing.role is None]

        def seen(group: Group, standing: Standing, below: set[str]) -> bool:
            return group[0] in below or (standing.role is not None and self._is_open(group))

        def seen_by_all(group: Group) -> bool:
            return all(seen(group, *one) for one in zip(asked, opened, strict=True))

        found = 0 if guests else self._open_to_all()
        for parent in set.intersection(*(guests or opened)):
            for level, size in self._sizes[parent].items() if parent in self._sizes else ():
                if seen_by_all((parent, level)) and (guests or not self._is_open((parent, level))):
                    found += size
        alone = [_given(standing, "space") for standing in asked]
        for one in filter(None, map(space, set().union(*alone))):
            group = _group(one)
            if not seen_by_all(group) and all(
                one.id in ids or seen(group, standing, below)
                for ids, standing, below in zip(alone, asked, opened, strict=True)
            ):
                found += 1
        return found

    def _open_to_all(self) -> int:
        if self._open is None:
            groups = ((parent, level) for parent, levels in self._sizes.items() for level in levels)
            self._open = sum(self._sizes[group[0]][group[1]] for group in groups if self._is_open(group))
        return self._open

    def _is_open(self, group: Group) -> bool:
        """To everybody who is no guest."""
        parent, level = group
        levels = (level, *(around.doc.get("defaultLevel", "inherit") for around in self._around(parent)))
        return next((one for one in levels if one != "inherit"), "inherit") is not None

    def _around(self, parent: str) -> Iterator[Record]:
        """The collections around, the innermost first."""
        while (collection := self._collections.get(parent)) is not None:
            yield collection
            parent = collection.parent

    def _below(self, ids: set[str]) -> set[str]:
        """These collections and all that are in them."""
        found, waiting = set[str](), [id for id in ids if id in self._collections]
        while waiting:
            id = waiting.pop()
            if id not in found:
                found.add(id)
                waiting += self._inside.get(id, ())
        return found


def _given(standing: Standing, kind: str) -> set[str]:
    """What somebody was given a role on."""
    return {id for on, id, role in standing.grants if on == kind and role is not None}


def space_groups(store: Store, organization: str) -> SpaceGroups:
    spaces, collections = (store.find(kind, organization=organization) for kind in ("space", "collection"))
    return SpaceGroups(spaces, collections)


def _group(space: Record) -> Group:
    return space.parent, space.doc.get("defaultLevel", "inherit")
