"""How many spaces members and teams may view, without resolving a role for each space and member.

Spaces in the same collection, with the same level and on the same sites are alike to everybody who was given
no role on one of them and created none of them. They are counted in these groups; a role is resolved once
for each group and kind of viewer. The groups follow the writes of single records.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ..store import Record, Store
from .resolution import Content, Rules, Surroundings, content_of
from .roles import Role, Standing

SITE_SPACE = "site-space"
"""A record that shows a space (`ref`) on a site (`scope`)."""
Group = tuple[str, Role, tuple[str, ...]]
"""The collection that spaces are in ("" the top), their level, and the sites that show them."""


class SpaceGroups:
    """The spaces of one organization in groups, with the collections and sites that their roles depend on."""

    def __init__(self, rules: Rules, records: Iterable[Record]) -> None:
        self._rules = rules
        self._spaces: dict[str, tuple[Content, str]] = {}
        """Each space, with the collection that it is in."""
        self._collections: dict[str, tuple[Content, str]] = {}
        self._sites: dict[str, tuple[Content, str]] = {}
        self._shown: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """By space how often each site shows it."""
        self._created: defaultdict[str, set[str]] = defaultdict(set)
        """By user the spaces that the user created."""
        self._sizes: Counter[Group] = Counter()
        self._seen: dict[Standing, tuple[set[Group], set[Group]]] = {}
        """By viewer (see `_viewer`) the groups that are seen, and those that were looked at."""
        self._totals: dict[tuple[Standing, ...], int] = {}
        """How many spaces are in the groups that all of these viewers see."""
        self._creators: set[str] = set()
        """Of the collections and sites whose level is null. It is as old as `_seen`."""
        for record in records:
            self.change(None, record)

    def change(self, before: Record | None, after: Record | None) -> None:
        """Follow a record that was created (`before` is None), changed or removed (`after` is None)."""
        for record, there in ((before, False), (after, True)):
            if record is None:
                continue
            if record.kind == "space":
                self._change_space(record, there=there)
            elif record.kind == SITE_SPACE and self._rules.sites:
                self._resize(record.ref, -1)
                self._shown[record.ref][record.scope] += 1 if there else -1
                self._resize(record.ref, 1)
            elif record.kind == "collection" or (record.kind == "site" and self._rules.sites):
                self._change_around(record, there=there)

    def _change_space(self, record: Record, *, there: bool) -> None:
        space = content_of(record)
        if there:
            self._spaces[space.id] = space, record.parent
            self._created[space.creator].add(space.id)
            self._resize(space.id, 1)
        else:
            self._resize(space.id, -1)
            self._created[space.creator].discard(space.id)
            del self._spaces[space.id]

    def _change_around(self, record: Record, *, there: bool) -> None:
        known = self._collections if record.kind == "collection" else self._sites
        if there:
            known[record.id] = content_of(record), record.parent
        else:
            del known[record.id]
        self._seen.clear()
        self._totals.clear()

    def _resize(self, space: str, by: int) -> None:
        """Count a space in the group that it is in now, or no longer."""
        if space in self._spaces:
            group = self._group(space)
            self._sizes[group] += by
            if self._sizes[group] == 0:
                del self._sizes[group]
            self._totals.clear()

    def _group(self, space: str) -> Group:
        content, collection = self._spaces[space]
        return collection, content.level, self._showing(space)

    def _showing(self, space: str) -> tuple[str, ...]:
        return tuple(sorted(site for site, times in self._shown[space].items() if times))

    def sites_of(self, space: str) -> tuple[Content, ...]:
        """Return the sites that show a space."""
        return tuple(self._sites[id][0] for id in self._showing(space) if id in self._sites)

    def visible(self, standings: Sequence[Standing]) -> int:
        """Return how many spaces all of these may view."""
        asked = [standing for standing in standings if standing.role != "admin"]
        viewers = tuple(map(self._viewer, asked))
        seen = [self._groups_seen_by(viewer) for viewer in viewers]
        if viewers not in self._totals:
            common = set(self._sizes).intersection(*seen)
            self._totals[viewers] = sum(self._sizes[group] for group in common)
        found = self._totals[viewers]
        for id in set().union(*map(self._special, asked)):
            content, group = self._spaces[id][0], self._group(id)
            around = self._surroundings(group)
            found += all(self._rules.resolve(one, content, around) is not None for one in asked)
            found -= all(group in one for one in seen)
        return found

    def _special(self, standing: Standing) -> set[str]:
        """Return the spaces that a member was given a role on, or created."""
        given = {id for kind, id, _ in standing.grants if kind == "space" and id in self._spaces}
        return given | self._created[standing.user] if standing.user else given

    def _groups_seen_by(self, viewer: Standing) -> set[Group]:
        """Return the groups of which a viewer sees the spaces that are not special to the viewer."""
        seen, looked_at = self._seen.setdefault(viewer, (set(), set()))
        for group in self._sizes.keys() - looked_at:
            looked_at.add(group)
            sample = Content("space", "", group[1])
            if self._rules.resolve(viewer, sample, self._surroundings(group)) is not None:
                seen.add(group)
        return seen

    def _viewer(self, standing: Standing) -> Standing:
        """Return a standing without what makes no difference to groups, so that many members share one."""
        if not self._seen:
            around = (*self._collections.values(), *self._sites.values())
            self._creators = {content.creator for content, _ in around if content.level is None}
        grants = frozenset(grant for grant in standing.grants if grant[0] != "space")
        user = standing.user if standing.user in self._creators else ""
        return Standing(True, standing.role and "read", grants, user=user)

    def _surroundings(self, group: Group) -> Surroundings:
        collections, at = [], group[0]
        while at in self._collections:
            collection, at = self._collections[at]
            collections.append(collection)
        sites = (self._sites[id][0] for id in group[2] if id in self._sites)
        return Surroundings(tuple(collections), tuple(sites))


def space_groups(store: Store, organization: str, rules: Rules) -> SpaceGroups:
    """Return the groups of the spaces that are in an organization now."""
    kinds = ("space", "collection", *(("site", SITE_SPACE) if rules.sites else ()))
    return SpaceGroups(rules, (one for kind in kinds for one in store.find(kind, organization=organization)))
