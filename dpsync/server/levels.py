"""How many spaces a member, or a team, may view, without looking at each space for each of them.

All spaces that are in one collection and have one default level are alike to whoever was given nothing on one
of them. So they are counted once for a state, in these groups; a standing then takes a step for each group,
and one for each space that something was given on.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from .access import Role, Standing
from .store import Record, Store

Group = tuple[str, Role]
"""The collection that spaces are in ("" the top), and their default level."""


class SpaceGroups:
    """The spaces of one organization, in groups."""

    def __init__(self, spaces: Iterable[Record], collections: Iterable[Record]) -> None:
        self._sizes = Counter(map(_group, spaces))
        self._collections = {collection.id: collection for collection in collections}

    def visible(self, standing: Standing, space: Callable[[str], Record | None]) -> int:
        """How many of them somebody has a level on. `space` finds one of the organization by its id."""
        if standing.role == "admin":
            return self._sizes.total()
        given = {(kind, id) for kind, id, role in standing.grants if role is not None}
        opened = {id for kind, id in given if kind == "collection"}
        open_groups = {group for group in self._sizes if self._is_open(group, standing.role, opened)}
        alone = [found for kind, id in given if kind == "space" and (found := space(id)) is not None]
        return sum(self._sizes[group] for group in open_groups) + sum(
            _group(found) not in open_groups for found in alone
        )

    def _is_open(self, group: Group, role: Role, opened: set[str]) -> bool:
        """To a role in the organization, and whoever was given something on these collections."""
        parent, level = group
        around = list(self._around(parent))
        if any(collection.id in opened for collection in around):
            return True
        levels = (level, *(collection.doc.get("defaultLevel", "inherit") for collection in around))
        said = next((one for one in levels if one != "inherit"), role)
        return role is not None and said is not None

    def _around(self, parent: str) -> Iterator[Record]:
        """The collections around, the innermost first."""
        while (collection := self._collections.get(parent)) is not None:
            yield collection
            parent = collection.parent


def space_groups(store: Store, organization: str) -> SpaceGroups:
    spaces, collections = (store.find(kind, organization=organization) for kind in ("space", "collection"))
    return SpaceGroups(spaces, collections)


def _group(space: Record) -> Group:
    return space.parent, space.doc.get("defaultLevel", "inherit")
