"""Resolve the role of a member on a space, collection or site before and after a plan, and compare the two.

Two rules exist (`AccessRule`). *Precedence*: the first source that gives a role decides (the place itself,
its own level, the sites that show it, the collections around it, the organization). *Strongest*: the
strongest of all these roles counts, and sites give none. Some sources are doubtful: their lists are not in
the files, or GitBook does not document how roles combine. A gain is certain only if it happens whatever
the doubtful sources do, else possible. Input: two `AccessState`s of plain values; the functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.kinds.profiles import AccessRule
from dpsync.kinds.shared.fields import ROLES_ASCENDING_WITH_GUEST

Key = Any
"""Any hashable value that identifies a place, a member or a team, before and after the plan."""
RoleRange = tuple[int, int]
"""The weakest and the strongest possible role: positions in `ROLES_ASCENDING_WITH_GUEST`, 0 for no access."""
ADMIN: Final = len(ROLES_ASCENDING_WITH_GUEST) - 1
NO_ROLE: Final[RoleRange] = (0, 0)
"""Certainly no role: no access to a place or, in the organization, a guest."""
ANY_ROLE: Final[RoleRange] = (0, ADMIN)
ANY_ROLE_BELOW_ADMIN: Final[RoleRange] = (0, ADMIN - 1)
NOT_A_GUEST: Final[RoleRange] = (1, ADMIN - 1)
RESOLVED_PLACE: Final = "own"
"""Stands in a source for the place whose access is resolved, so that similar places have equal sources."""
PERSON, LEVEL, UNREAD, DEFAULT_ROLE, UNKNOWN = "person", "level", "unread", "default role", "unknown"
"""Stand in a source for the giver if that is not a team. `PERSON` is a role of the member's own."""


class RoleDoubt(Struct, frozen=True):
    """Why it is uncertain that a role counts. `text` may contain `{}` for the name of `place`.

    An example: "the permissions of {}", because the list with the roles on a space was not read.
    """

    text: str
    is_missing_in_files: bool = False
    """Whether `text` names something that the files lack; otherwise, something that is undocumented."""
    place: Key = None


PERMISSIONS_UNREAD: Final = RoleDoubt("the permissions of {}", is_missing_in_files=True, place=RESOLVED_PLACE)
LEVEL_UNREAD: Final = RoleDoubt("the default level of {}", is_missing_in_files=True, place=RESOLVED_PLACE)
SITES_UNREAD: Final = RoleDoubt("the structure of every site", is_missing_in_files=True)
COLLECTION_UNREAD: Final = RoleDoubt("all collections and spaces", is_missing_in_files=True)
MEMBERS_UNREAD: Final = RoleDoubt("all members", is_missing_in_files=True)
SEVERAL_SITES: Final = RoleDoubt("GitBook does not document how the roles of several sites combine")
MEMBER_AND_TEAM: Final = RoleDoubt("GitBook does not document how the roles of a member and of teams combine")
NESTED_COLLECTIONS: Final = RoleDoubt("GitBook does not document how nested collections combine")
GUEST_INSIDE: Final = RoleDoubt(
    "GitBook does not document whether a guest's role on a site or collection also applies to its spaces"
)
SITE_LEVEL_ON_SPACES: Final = RoleDoubt(
    "GitBook does not document whether the level of a site also applies to its spaces"
)


class RoleSource(Struct, frozen=True):
    """One role that a place (a space, collection or site) gives to a member, a team, or all by its level."""

    place: Key
    grantee: Key
    role: RoleRange
    doubts: frozenset[RoleDoubt] = frozenset()
    """The reasons why the role may not apply."""

    @property
    def identifier(self) -> tuple[Key, Key]:
        """Return the place and the grantee: the same for a source before and after, whatever its role is."""
        return self.place, self.grantee


SourceGroup = frozenset[RoleSource]
SourcesByPrecedence = tuple[SourceGroup, ...]
"""The sources by precedence: the place, its level, sites, collections, the organization. Any may be empty."""
_DOUBTS_OF_SEVERAL_PLACES: Final = (
    MEMBER_AND_TEAM,
    MEMBER_AND_TEAM,
    SEVERAL_SITES,
    NESTED_COLLECTIONS,
    MEMBER_AND_TEAM,
)
"""By step: the doubt that applies if several places give different roles."""


class AccessState(Struct, frozen=True, dict=True):
    """Everything that access depends on, before or after the plan. A missing key in a mapping is unknown.

    A place is a space, collection or site.
    """

    members: Mapping[Key, RoleRange]
    """The members of the organization by their roles there."""
    teams: Mapping[Key, frozenset[Key]]
    """The members of each team whose list was read."""
    member_roles: Mapping[Key, Mapping[Key, RoleRange]]
    """By place: the roles of members on that place, as far as they were read."""
    team_roles: Mapping[Key, Mapping[Key, RoleRange]]
    fully_read_places: frozenset[Key]
    """The places whose permissions were all read."""
    levels: Mapping[Key, RoleRange | None]
    """The default level of each place; None if the place inherits."""
    collection_of: Mapping[Key, Key | None]
    """The collection that contains each space or collection; None at the top."""
    sites_showing: Mapping[Key, frozenset[Key]]
    """By space: the sites that show the space."""
    sites_read: bool
    """Whether `can_be_shown_by_sites` contains every site with its whole structure."""
    unread_levels: bool
    """Whether a site that `can_be_shown_by_sites` may lack has a default level."""

    @cached_property
    def teams_of(self) -> Mapping[Key, frozenset[Key]]:
        """Return the teams of each member, without teams whose members were not read."""
        teams_by_member: dict[Key, set[Key]] = {}
        for team, members in self.teams.items():
            for member in members:
                teams_by_member.setdefault(member, set()).add(team)
        return {member: frozenset(teams) for member, teams in teams_by_member.items()}

    @cached_property
    def places_of(self) -> Mapping[Key, tuple[Key, ...]]:
        """Return, by member or team, the spaces, collections and sites on which it has a role."""
        places_by_grantee: dict[Key, list[Key]] = {}
        for roles_by_place in (self.member_roles, self.team_roles):
            for place, roles in roles_by_place.items():
                for grantee in roles:
                    places_by_grantee.setdefault(grantee, []).append(place)
        return {grantee: tuple(places) for grantee, places in places_by_grantee.items()}

    @cached_property
    def contents(self) -> Mapping[Key, tuple[Key, ...]]:
        """Return, by collection, the objects directly inside, and by site the spaces that the site shows."""
        contents: dict[Key, list[Key]] = {}
        for key, container in self.collection_of.items():
            contents.setdefault(container, []).append(key)
        for space, sites in self.sites_showing.items():
            for site in sites:
                contents.setdefault(site, []).append(space)
        return {place: tuple(keys) for place, keys in contents.items()}

    def dependents(self, place: Key) -> Iterator[Key]:
        """Yield the spaces and collections whose members can get a role from a collection or site.

        These are the contents of a collection at any depth, or the spaces on a site. A change of the
        collection or site can change the access to each of them.
        """
        pending, seen = [place], {place}
        while pending:
            for key in self.contents.get(pending.pop(), ()):
                if key not in seen:
                    seen.add(key)
                    pending.append(key)
                    yield key

    def enclosing_collections(self, place: Key) -> tuple[tuple[Key, ...], bool]:
        """Return the collections around a space or collection, innermost first, and whether all are known."""
        collections: list[Key] = []
        while place in self.collection_of:
            collection = self.collection_of[place]
            if collection is None or collection in collections:
                return tuple(collections), True
            collections.append(collection)
            place = collection
        return tuple(collections), False


class Subject(Struct, frozen=True):
    """A person, or a group of persons, whose access is compared.

    - `person`: one member
    - `group`: some member of a team whose members are unknown
    - `others`: everybody with one role in the organization and no role of their own on the way
    - `unlisted`: somebody with a role in a list that was not read
    """

    kind: Literal["person", "group", "others", "unlisted"]
    key: Key = None
    before: RoleRange = ANY_ROLE_BELOW_ADMIN
    """The role in the organization."""
    after: RoleRange = ANY_ROLE_BELOW_ADMIN
    first_members: tuple[Key, ...] = ()
    """The first few members of `others`, if all lists with members were read."""
    number: int = 0
    """The number of members of `others`, if `first_members` is set."""

    @property
    def doubts(self) -> frozenset[RoleDoubt]:
        """Return why the subject's role in the organization is uncertain, nothing if the role is known."""
        if self.kind == "group":
            return frozenset({_unread_team(self.key)})
        is_role_known = self.before[0] == self.before[1] and self.after[0] == self.after[1]
        return frozenset() if is_role_known or self.kind == "unlisted" else frozenset({MEMBERS_UNREAD})


class AccessGain(Struct, frozen=True):
    """A stronger role after the plan than before it. It is possible but not certain if `certain` is false.

    `sources` identifies the role sources that differ in `precedence_step`, the first step with a difference.
    """

    certain: bool
    before: RoleRange
    after: RoleRange
    sources: frozenset[tuple[Key, Key]]
    precedence_step: int
    doubts: frozenset[RoleDoubt] = field(default_factory=frozenset)


class AccessPlace(Struct, frozen=True):
    """A space, collection or site whose access is resolved."""

    key: Key
    can_be_shown_by_sites: bool = False
    """Whether the place is a space, which sites can show."""
    can_be_in_collections: bool = True
    """Whether the place can be in a collection, so it is not a site."""
    has_permission_list: bool = True
    """Whether a list contains the place; otherwise it stands for unlisted spaces, which any site may show."""


class AccessComparison(Struct, frozen=True):
    """Compare the access before and after a plan under the rule by which the platform combines roles."""

    rule: AccessRule
    before: AccessState
    after: AccessState

    def gain(self, subject: Subject, place: AccessPlace) -> AccessGain | None:
        """Return the stronger role that the plan gives a subject on a place, None if certainly none.

        The subject is a member or a group of members; the place is a space, collection or site. The result is
        certain or only possible, and then has the doubts (what was not read or is undocumented).
        """
        old = self.sources(self.before, subject, subject.before, place)
        new = self.sources(self.after, subject, subject.after, place)
        gain = _gain_by_precedence(old, new) if self.rule == "precedence" else _gain_by_strength(old, new)
        if gain is None or gain.certain:
            return gain
        return replace(gain, doubts=gain.doubts | subject.doubts)

    def cache_key(self, subject: Subject, places_around: tuple[tuple[Key, ...], ...]) -> Any:
        """Return a cache key: two members with equal keys gain the same access to a place.

        `places_around` contains, for before and after, the place and all places that give access to it. The
        key consists of the member's role in the organization and the roles in each of these places.
        """
        roles = []
        for state, places in zip((self.before, self.after), places_around, strict=True):
            teams = state.teams_of.get(subject.key, frozenset())
            for place in places:
                own = state.member_roles.get(place, {}).get(subject.key)
                team_roles = state.team_roles.get(place, {})
                roles.append((own, frozenset(team for team in teams if team in team_roles)))
        return subject.before, subject.after, tuple(roles)

    def sources(
        self, state: AccessState, subject: Subject, role: RoleRange, place: AccessPlace
    ) -> SourcesByPrecedence:
        """Return where a subject's role on a place can come from: one set of sources for each step.

        By the rule "precedence" there are five steps, and a later step counts only if no earlier step
        certainly gives a role: the place, its default level, sites, collections, the organization. By the
        rule "strongest" all sources are one step. `role` is the subject's role in the organization.
        """
        collector = _RoleCollector(state, subject, role)
        place_sources = frozenset(collector.place_sources(place.key, RESOLVED_PLACE))
        collections, all_known = (
            state.enclosing_collections(place.key) if place.can_be_in_collections else ((), True)
        )
        if self.rule == "strongest":
            sources = set(place_sources)
            for collection in collections:
                sources |= set(collector.place_sources(collection, collection))
            if not all_known:
                sources.add(_unknown_source(UNKNOWN, UNKNOWN, COLLECTION_UNREAD))
            sources |= set(collector.default_sources((place.key, *collections), all_known))
            return (frozenset(sources),)
        level_sources = frozenset(collector.level_sources(place.key, RESOLVED_PLACE))
        if _is_certain(level_sources):
            return (place_sources, level_sources, frozenset(), frozenset(), frozenset())
        is_space = place.can_be_shown_by_sites
        site_sources = frozenset(collector.site_sources(place)) if is_space else frozenset()
        collection_sources = frozenset(
            collector.collection_sources(collections, all_known, nested=not is_space)
        )
        organization_sources = frozenset(collector.organization_sources())
        return (place_sources, level_sources, site_sources, collection_sources, organization_sources)


class _RoleCollector(Struct, frozen=True):
    """Collect the sources that may give a subject (a member or a group of members) a role on a place.

    `state` is the access before or after the plan. In methods, `place` is a space, collection or site, and
    `name` its name in the sources: `RESOLVED_PLACE` for the place whose access is resolved, else the place.
    """

    state: AccessState
    subject: Subject
    role: RoleRange
    """The subject's role in the organization."""

    @property
    def is_guest(self) -> bool:
        """Return whether the subject is certainly a guest: a guest has no role in the organization."""
        return self.role[1] == 0

    def place_sources(self, place: Key, name: Key) -> Iterator[RoleSource]:
        """Yield the roles that the permissions of a place give to the subject, as a member or through teams.

        If the permissions of the place were not all read, also yield a source with an unknown role. A subject
        of the kind "others" has no role on any place.
        """
        member_roles, team_roles = (
            self.state.member_roles.get(place, {}),
            self.state.team_roles.get(place, {}),
        )
        subject = self.subject
        if subject.kind == "person" and subject.key in member_roles:
            yield RoleSource(name, PERSON, member_roles[subject.key])
        for team, role in team_roles.items() if subject.kind == "person" else ():
            if team not in self.state.teams:
                yield RoleSource(name, team, role, frozenset({_unread_team(team)}))
            elif team in self.state.teams_of.get(subject.key, ()):
                yield RoleSource(name, team, role)
        for grantee, role in (*member_roles.items(), *team_roles.items()) if subject.kind == "group" else ():
            doubts = {_unread_team(subject.key)} if grantee != subject.key else set()
            yield RoleSource(name, grantee, role, frozenset(doubts))
        if subject.kind != "others" and place not in self.state.fully_read_places:
            unread = RoleDoubt("the permissions of {}", is_missing_in_files=True, place=place)
            doubt = PERMISSIONS_UNREAD if name == RESOLVED_PLACE else unread
            yield _unknown_source(name, UNREAD, doubt)

    def level_sources(self, place: Key, name: Key) -> Iterator[RoleSource]:
        """Yield the role by the default level of a place; nothing if the place inherits its level.

        The level applies to all members except guests, and except admins, who have access to everything. The
        role is 0 (no access) for a guest, and may be 0 for a subject that may be a guest.
        """
        if place not in self.state.levels:
            yield _unknown_source(name, LEVEL, LEVEL_UNREAD)
        elif (level := self.state.levels[place]) is not None:
            low, high = level
            if self.is_guest:
                low = high = 0
            elif self.role[0] == 0:
                low = 0
            yield RoleSource(name, LEVEL, (low, high))

    def site_sources(self, space: AccessPlace) -> Iterator[RoleSource]:
        """Yield the roles that the subject has by the permissions and levels of the sites that show a space.

        Sites whose structure was not read may show the space as well: they count as one more possible site.
        If several sites give roles, all these sources are doubtful.
        """
        by_site: list[list[RoleSource]] = []
        for site in sorted(self.state.sites_showing.get(space.key, ()), key=str):
            sources = [self._with_guest_doubt(source) for source in self.place_sources(site, site)]
            if not self.is_guest and not _is_certain(sources):
                sources += (
                    _add_doubt(source, SITE_LEVEL_ON_SPACES) for source in self.level_sources(site, site)
                )
            by_site.append(sources)
        if not (self.state.sites_read and space.has_permission_list):
            unread_site: list[RoleSource] = []
            if self.subject.kind != "others":
                unread_site.append(_unknown_source(UNKNOWN, UNREAD, SITES_UNREAD))
            elif self.state.unread_levels:
                unread_site.append(_unknown_source(UNKNOWN, LEVEL, SITES_UNREAD))
            by_site.append(unread_site)
        several = len(by_site) > 1 and not all(map(_is_certain, by_site))
        for source in (source for sources in by_site for source in sources):
            yield _add_doubt(source, SEVERAL_SITES) if several else source

    def collection_sources(
        self, collections: tuple[Key, ...], all_known: bool, *, nested: bool
    ) -> Iterator[RoleSource]:
        """Yield the roles by the permissions and levels of the collections around a place, innermost first.

        Args:
            collections: The collections that contain the place.
            all_known: Whether these are certainly all; otherwise, one more source is unknown.
            nested: Whether already the innermost collection is doubtful, because the place is a collection:
                how the roles of nested collections combine is undocumented.
        """
        for collection in collections:
            doubt = NESTED_COLLECTIONS if nested else None
            sources = [
                self._with_guest_doubt(source) for source in self.place_sources(collection, collection)
            ]
            if not self.is_guest and not _is_certain(sources):
                sources += self.level_sources(collection, collection)
            yield from (_add_doubt(source, doubt) if doubt else source for source in sources)
            nested = True
        if not all_known:
            yield _unknown_source(UNKNOWN, LEVEL, COLLECTION_UNREAD)

    def organization_sources(self) -> Iterator[RoleSource]:
        """Yield the subject's role in the organization, which applies if no other source gives a role."""
        yield RoleSource(DEFAULT_ROLE, DEFAULT_ROLE, self.role)

    def default_sources(self, places: tuple[Key, ...], all_known: bool) -> Iterator[RoleSource]:
        """Yield the nearest default level of these places, else the role in the organization.

        A guest has neither.

        Args:
            places: The place whose access is resolved, then the collections around it, innermost first.
            all_known: Whether these are certainly all collections around the place.
        """
        if self.is_guest:
            return
        for place in places:
            sources = list(self.level_sources(place, RESOLVED_PLACE if place == places[0] else place))
            yield from sources
            if _is_certain(sources):
                return
        if all_known:
            yield from self.organization_sources()

    def _with_guest_doubt(self, source: RoleSource) -> RoleSource:
        """Return a source on a site or collection, doubtful if the subject may be a guest.

        Whether a guest's role on a site or collection also applies to the objects inside is undocumented.
        """
        return _add_doubt(source, GUEST_INSIDE) if self.role[0] == 0 else source


def _unread_team(team: Key) -> RoleDoubt:
    """Return the doubt about a role that a team gives: the members of the team were not read."""
    return RoleDoubt("the members of {}", is_missing_in_files=True, place=team)


def _unknown_source(place: Key, grantee: Key, doubt: RoleDoubt) -> RoleSource:
    """Return a source that may give any role or none, because the files lack what `doubt` names."""
    return RoleSource(place, grantee, ANY_ROLE, frozenset({doubt}))


def _add_doubt(source: RoleSource, doubt: RoleDoubt) -> RoleSource:
    """Return a copy of a source with one more reason why its role may not apply."""
    return RoleSource(source.place, source.grantee, source.role, source.doubts | {doubt})


def _is_certain(sources: Iterable[RoleSource]) -> bool:
    """Return whether one of the sources certainly applies, so that sources of later steps do not count."""
    return any(not source.doubts for source in sources)


def _doubts(sources: Iterable[RoleSource]) -> frozenset[RoleDoubt]:
    """Return the doubts of all sources together."""
    return frozenset(doubt for source in sources for doubt in source.doubts)


# Comparing two sides.


class _PossibleRoles(Struct, frozen=True):
    """The weakest and the strongest possible role on a place, and the doubts that make the role uncertain."""

    role: RoleRange
    doubts: frozenset[RoleDoubt]


def _gain_by_precedence(old: SourcesByPrecedence, new: SourcesByPrecedence) -> AccessGain | None:
    """Return the gain under the rule "precedence", None if the role certainly does not become stronger.

    `old` and `new` contain the sources before and after the plan, one set for each step. The first step that
    certainly gives a role decides. Find the first step that gives a different role after the plan, and
    compare the possible roles from there on.
    """
    doubts: set[RoleDoubt] = set()
    for step, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after or _is_never_stronger(before, after):
            if _is_certain(after):
                return None
            # Whether these sources apply is unknown, but they apply before the plan if they apply after it.
            doubts |= _doubts(after)
            continue
        old_roles, new_roles = _possible_roles(old[step:], step), _possible_roles(new[step:], step)
        if new_roles.role[1] <= old_roles.role[0]:
            return None
        certain = not doubts and new_roles.role[0] > old_roles.role[1]
        all_doubts = frozenset(doubts) | old_roles.doubts | new_roles.doubts
        return AccessGain(
            certain, old_roles.role, new_roles.role, _differing_sources(before, after), step, all_doubts
        )
    return None


def _gain_by_strength(old: SourcesByPrecedence, new: SourcesByPrecedence) -> AccessGain | None:
    """Return the gain under the rule "strongest", None if the role certainly does not become stronger.

    `old` and `new` each contain one set of sources, and the strongest role of a set counts. The gain is
    certain if a certain new source is stronger than every possible role before the plan.
    """
    (before,), (after,) = old, new
    new_sources = after - before
    floor = max((source.role[0] for source in before if not source.doubts), default=0)
    if not any(source.role[1] > floor for source in new_sources):
        return None
    ceiling = max((source.role[1] for source in before), default=0)
    certain_role = max((source.role[0] for source in new_sources if not source.doubts), default=0)
    doubts = _doubts(before | after)
    certain = certain_role > ceiling
    old_role, new_role = (floor, ceiling), (certain_role, max(source.role[1] for source in after))
    return AccessGain(
        certain, old_role, new_role, _differing_sources(before, after), 0, frozenset() if certain else doubts
    )


def _differing_sources(before: SourceGroup, after: SourceGroup) -> frozenset[tuple[Key, Key]]:
    """Return the places and grantees of the sources that only one of two sets of sources contains."""
    return frozenset(source.identifier for source in before ^ after)


def _is_never_stronger(before: SourceGroup, after: SourceGroup) -> bool:
    """Return whether both steps have the same sources, and none has a stronger role after the plan.

    Then nothing is gained in this step, however the platform combines the sources.
    """
    old_sources, new_sources = ({source.identifier: source for source in step} for step in (before, after))
    return old_sources.keys() == new_sources.keys() and all(
        new_sources[name].doubts == source.doubts
        and new_sources[name].role[0] <= source.role[0]
        and new_sources[name].role[1] <= source.role[1]
        for name, source in old_sources.items()
    )


def _possible_roles(steps: SourcesByPrecedence, first: int) -> _PossibleRoles:
    """Return the roles that the sources of these steps may give.

    These are the roles in the first step that certainly gives a role, and in the uncertain steps before that
    step. `first` is the number of the first of these steps in the order of precedence.
    """
    roles: list[RoleRange] = []
    doubts: set[RoleDoubt] = set()
    for number, sources in enumerate(steps, first):
        roles += [source.role for source in sources]
        doubts |= _doubts(sources)
        if _is_certain(sources):
            if len({source.role for source in sources}) > 1:
                several = len({source.place for source in sources}) > 1
                doubts.add(_DOUBTS_OF_SEVERAL_PLACES[number] if several else MEMBER_AND_TEAM)
            break
    else:
        roles.append(NO_ROLE)
    return _PossibleRoles((min(low for low, _ in roles), max(high for _, high in roles)), frozenset(doubts))
