"""Count the spaces that members and teams may view, without resolving a role for each space and member.

Spaces in the same collection, with the same level (default role) and on the same sites form a group. A viewer
who has no role on a space and did not create it has the same role on each space of a group. So a role is
resolved once for each group and kind of viewer. Each write of a record updates the groups.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ..store import Record, Store
from .resolution import AccessRules, Containers, ProtectedObject, protected_object
from .roles import OrganizationAccess, Role

SITE_SPACE = "site-space"
"""Record kind that shows a space (`ref`) on a site (`scope`)."""
GroupKey = tuple[str, Role, tuple[str, ...]]
"""What the spaces of a group share: their collection ("" for the top level), their level, and the sites
that show them.
"""


class SpaceGroups:
    """The spaces of one organization in groups, with the collections and sites that their roles depend on."""

    def __init__(self, rules: AccessRules, records: Iterable[Record]) -> None:
        self._rules = rules
        self._spaces: dict[str, tuple[ProtectedObject, str]] = {}
        """Each space with the id of its collection."""
        self._collections: dict[str, tuple[ProtectedObject, str]] = {}
        self._sites: dict[str, tuple[ProtectedObject, str]] = {}
        self._sites_by_space: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """For each space, how often each site shows the space."""
        self._spaces_by_creator: defaultdict[str, set[str]] = defaultdict(set)
        """The spaces that each user created."""
        self._group_sizes: Counter[GroupKey] = Counter()
        self._groups_by_viewer: dict[OrganizationAccess, tuple[set[GroupKey], set[GroupKey]]] = {}
        """For each viewer (see `_shared_viewer`), the visible groups and the groups checked so far."""
        self._visible_counts: dict[tuple[OrganizationAccess, ...], int] = {}
        """Number of spaces in the groups that all of these viewers see."""
        self._creators: set[str] = set()
        """The creators of collections and sites with the level null, if `_groups_by_viewer` is set."""
        for record in records:
            self.update(None, record)

    def update(self, before: Record | None, after: Record | None) -> None:
        """Update the groups after a write of a space, collection, site or site space.

        `before` is the record before the write, None if it is new. `after` is None if it was deleted.
        """
        for record, exists in ((before, False), (after, True)):
            if record is None:
                continue
            if record.kind == "space":
                self._update_space(record, exists=exists)
            elif record.kind == SITE_SPACE and self._rules.uses_sites:
                self._resize(record.ref, -1)
                self._sites_by_space[record.ref][record.scope] += 1 if exists else -1
                self._resize(record.ref, 1)
            elif record.kind == "collection" or (record.kind == "site" and self._rules.uses_sites):
                self._update_container(record, exists=exists)

    def _update_space(self, record: Record, *, exists: bool) -> None:
        """Add or remove a space in the groups; `exists` is False if the record was removed or changed."""
        space = protected_object(record)
        if exists:
            self._spaces[space.id] = space, record.parent
            self._spaces_by_creator[space.creator].add(space.id)
            self._resize(space.id, 1)
        else:
            self._resize(space.id, -1)
            self._spaces_by_creator[space.creator].discard(space.id)
            del self._spaces[space.id]

    def _update_container(self, record: Record, *, exists: bool) -> None:
        """Store or forget a collection or site, and drop all results, because roles may depend on it."""
        objects = self._collections if record.kind == "collection" else self._sites
        if exists:
            objects[record.id] = protected_object(record), record.parent
        else:
            del objects[record.id]
        self._groups_by_viewer.clear()
        self._visible_counts.clear()

    def _resize(self, space: str, change: int) -> None:
        """Add `change` to the size of the group that the space is in now."""
        if space in self._spaces:
            group = self._group_of(space)
            self._group_sizes[group] += change
            if self._group_sizes[group] == 0:
                del self._group_sizes[group]
            self._visible_counts.clear()

    def _group_of(self, space: str) -> GroupKey:
        """Return the group of a space: spaces with the same group have the same role for most viewers."""
        content, collection = self._spaces[space]
        return collection, content.level, self._sites_showing(space)

    def _sites_showing(self, space: str) -> tuple[str, ...]:
        """Return the ids of the sites that show a space, sorted so that they can be part of a group key."""
        return tuple(sorted(site for site, times in self._sites_by_space[space].items() if times))

    def sites_showing(self, space: str) -> tuple[ProtectedObject, ...]:
        """Return the sites that show a space."""
        return tuple(self._sites[id][0] for id in self._sites_showing(space) if id in self._sites)

    def count_visible(self, accesses: Sequence[OrganizationAccess]) -> int:
        """Return the number of spaces that all of these members may view.

        Admins see every space, so they do not restrict the count. First count whole groups. Then correct
        the count for the individual spaces, in which a member may have another role than in the group.
        """
        members = [access for access in accesses if access.role != "admin"]
        viewers = tuple(map(self._shared_viewer, members))
        visible_groups = [self._groups_seen_by(viewer) for viewer in viewers]
        if viewers not in self._visible_counts:
            common = set(self._group_sizes).intersection(*visible_groups)
            self._visible_counts[viewers] = sum(self._group_sizes[group] for group in common)
        count = self._visible_counts[viewers]
        for id in set().union(*map(self._individual_spaces, members)):
            content, group = self._spaces[id][0], self._group_of(id)
            containers = self._containers(group)
            count += all(self._rules.resolve(member, content, containers) is not None for member in members)
            count -= all(group in member for member in visible_groups)
        return count

    def _individual_spaces(self, access: OrganizationAccess) -> set[str]:
        """Return the spaces that a member created or has a direct role on."""
        direct = {id for kind, id, _ in access.grants if kind == "space" and id in self._spaces}
        return direct | self._spaces_by_creator[access.user_id] if access.user_id else direct

    def _groups_seen_by(self, viewer: OrganizationAccess) -> set[GroupKey]:
        """Return the groups that a viewer sees, apart from the viewer's individual spaces."""
        visible, checked = self._groups_by_viewer.setdefault(viewer, (set(), set()))
        for group in self._group_sizes.keys() - checked:
            checked.add(group)
            sample = ProtectedObject("space", "", group[1])
            if self._rules.resolve(viewer, sample, self._containers(group)) is not None:
                visible.add(group)
        return visible

    def _shared_viewer(self, access: OrganizationAccess) -> OrganizationAccess:
        """Return a member's access, simplified so that members who see the same groups have equal values.

        The results for groups are cached by this value. Any role in the organization counts as `read`. The
        user id is kept only for users who created a collection or site that others cannot see (level null).
        """
        if not self._groups_by_viewer:
            containers = (*self._collections.values(), *self._sites.values())
            self._creators = {content.creator for content, _ in containers if content.level is None}
        grants = frozenset(grant for grant in access.grants if grant[0] != "space")
        user = access.user_id if access.user_id in self._creators else ""
        return OrganizationAccess(True, access.role and "read", grants, user_id=user)

    def _containers(self, group: GroupKey) -> Containers:
        """Return the collections and sites from which the spaces of a group may inherit a role."""
        collection_id, _, site_ids = group
        collections = []
        while collection_id in self._collections:
            collection, collection_id = self._collections[collection_id]
            collections.append(collection)
        sites = (self._sites[id][0] for id in site_ids if id in self._sites)
        return Containers(tuple(collections), tuple(sites))


def load_space_groups(store: Store, organization: str, rules: AccessRules) -> SpaceGroups:
    """Return the groups for the current spaces of an organization."""
    kinds = ("space", "collection", *(("site", SITE_SPACE) if rules.uses_sites else ()))
    return SpaceGroups(
        rules, (record for kind in kinds for record in store.find(kind, organization=organization))
    )
