"""A plain oracle: who may do what in a small organization, by every reading of what is not documented.

It shares nothing with the planner: worlds are dictionaries, and each role is looked up anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Literal, NamedTuple

ROLES = ("guest", "read", "comment", "edit", "review", "create", "admin")
LEVELS = ("inherit", "inherit", "inherit", "guest", "read", "edit", "create")
MEMBERS = ("ada", "bo", "cy", "di", "guy")
TEAMS = ("t", "u")
COLLECTIONS = ("c", "e")
SITES = ("d", "f")
SPACES = ("x", "y", "z")
Place = tuple[Literal["space", "collection", "site"], str]
PLACES: tuple[Place, ...] = (
    *(("space", key) for key in SPACES), *(("collection", key) for key in COLLECTIONS),
    *(("site", key) for key in SITES),
)  # fmt: skip
Pair = tuple[str, Place]


@dataclass
class World:
    """One side of a plan. Places that are in no mapping do not exist."""

    members: dict[str, str] = field(default_factory=dict)
    teams: dict[str, set[str]] = field(default_factory=dict)
    levels: dict[Place, str] = field(default_factory=dict)
    inside: dict[Place, str | None] = field(default_factory=dict)
    links: set[tuple[str, str]] = field(default_factory=set)
    """Site and space."""
    people: dict[Place, dict[str, str]] = field(default_factory=dict)
    groups: dict[Place, dict[str, str]] = field(default_factory=dict)

    def given(self, member: str, place: Place) -> list[int]:
        """Return the roles on the place itself of a member and of the member's teams."""
        own = [self.people.get(place, {}).get(member)]
        own += [
            role for team, role in self.groups.get(place, {}).items() if member in self.teams.get(team, ())
        ]
        return [ROLES.index(role) for role in own if role is not None]

    def around(self, place: Place) -> list[Place]:
        """Return the collections around a space or collection, innermost first."""
        found: list[Place] = []
        inside = self.inside.get(place)
        while inside is not None:
            found.append(("collection", inside))
            inside = self.inside.get(("collection", inside))
        return found


class Reading(NamedTuple):
    """One way to read what the platform does not document."""

    strongest: bool
    """Of a member's and a team's role, and of several sites: the strongest counts, else the weakest."""
    all_sites: bool
    """Site roles count only where every site that shows the space gives one."""
    site_levels: bool
    outer: Literal["first", "no", "strongest"]
    """Which collection counts of several around a place."""
    guests: bool
    """Whether the roles of guests on sites and collections reach what is inside."""


READINGS = [Reading(*one) for one in product(
    (True, False), (True, False), (True, False), ("first", "no", "strongest"), (True, False)
)]  # fmt: skip


def role(world: World, member: str, place: Place, reading: Reading) -> int:
    """Return the role of a member on a place by precedence; 0: no access."""
    organization = ROLES.index(world.members[member])
    if organization == ROLES.index("admin"):
        return organization
    pick = max if reading.strongest else min
    if own := world.given(member, place):
        return pick(own)
    guest = organization == 0
    if (level := world.levels[place]) != "inherit":
        return 0 if guest else ROLES.index(level)
    reached = not guest or reading.guests

    def of(around: Place, levels: bool) -> list[int]:
        if reached and (roles := world.given(member, around)):
            return [pick(roles)]
        level = world.levels[around]
        return [ROLES.index(level)] if levels and not guest and level != "inherit" else []

    if place[0] == "space":
        sites = [of(("site", site), reading.site_levels) for site, space in world.links if space == place[1]]
        roles = [one for found in sites for one in found]
        if roles and (all(sites) or not reading.all_sites):
            return pick(roles)
    collections = world.around(place)
    if reading.outer == "no":
        collections = collections[: 1 if place[0] == "space" else 0]
    found = [one for collection in collections for one in of(collection, True)]
    if found:
        return max(found) if reading.outer == "strongest" else found[0]
    return organization


def strongest_role(world: World, member: str, place: Place) -> int:
    """Return the role by the rule of the other editions: the strongest one; sites give none."""
    organization = ROLES.index(world.members[member])
    if organization == ROLES.index("admin"):
        return organization
    path = [place, *(world.around(place) if place[0] != "site" else [])]
    roles = [one for around in path for one in world.given(member, around)]
    if organization:
        levels = [world.levels[around] for around in path]
        level = next((one for one in levels if one != "inherit"), ROLES[organization])
        roles.append(ROLES.index(level))
    return max(roles, default=0)


@dataclass
class Gains:
    """What changes between two worlds, over all readings."""

    certain: set[Pair]
    possible: set[Pair]


def gains(before: World, after: World, *, precedence: bool) -> Gains:
    pairs = {(member, place) for member in before.members for place in before.levels}
    pairs = {(member, place) for member, place in pairs if member in after.members and place in after.levels}
    every: list[set[Pair]] = []
    for reading in READINGS if precedence else READINGS[:1]:

        def of(world: World, pair: Pair, reading: Reading = reading) -> int:
            return role(world, *pair, reading) if precedence else strongest_role(world, *pair)

        every.append({pair for pair in pairs if of(after, pair) > of(before, pair)})
    return Gains(set.intersection(*every), set.union(*every))


# Random worlds.


def world(random: Random) -> World:
    """Draw a whole organization with a few roles."""
    made = World()
    made.members = {member: random.choice(ROLES[1:6]) for member in MEMBERS}
    made.members |= {"ada": "admin", "guy": "guest"}
    made.teams = {team: {one for one in MEMBERS if random.random() < 0.4} for team in TEAMS}
    for place in PLACES:
        made.levels[place] = random.choice(LEVELS)
        made.people[place], made.groups[place] = {}, {}
        for member in MEMBERS[1:]:
            if random.random() < 0.2:
                made.people[place][member] = random.choice(ROLES[1:])
        for team in TEAMS:
            if random.random() < 0.2:
                made.groups[place][team] = random.choice(ROLES[1:])
    for space in SPACES:
        made.inside["space", space] = random.choice((None, None, *COLLECTIONS))
        made.links |= {(site, space) for site in SITES if random.random() < 0.4}
    made.inside |= {("collection", "c"): None, ("collection", "e"): random.choice((None, "c"))}
    return made


def changed(random: Random, before: World, hidden: set[tuple[str, Place]]) -> World:
    """Draw what a plan makes of a world. Lists that are `hidden` stay as they are."""
    after = deepcopy(before)
    for _ in range(random.randint(1, 4)):
        random.choice(_CHANGES)(random, after, hidden)
    return after


def _person(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    place = random.choice(list(world.levels))
    if ("people", place) not in hidden:
        _turn(random, world.people[place], random.choice(MEMBERS[1:]))


def _group(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    place = random.choice(list(world.levels))
    if ("groups", place) not in hidden and world.teams:
        _turn(random, world.groups[place], random.choice(list(world.teams)))


def _turn(random: Random, roles: dict[str, str], who: str) -> None:
    """Add a role, change it or take it away."""
    if who in roles and random.random() < 0.5:
        del roles[who]
    else:
        roles[who] = random.choice(ROLES[1:])


def _level(random: Random, world: World, _: set[tuple[str, Place]]) -> None:
    world.levels[random.choice(list(world.levels))] = random.choice(LEVELS)


def _link(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    sites = [key for kind, key in world.levels if kind == "site"]
    if sites and ("structure", ("site", site := random.choice(sites))) not in hidden:
        world.links ^= {(site, random.choice(SPACES))}


def _move(random: Random, world: World, _: set[tuple[str, Place]]) -> None:
    collections = [key for kind, key in world.levels if kind == "collection"]
    world.inside["space", random.choice(SPACES)] = random.choice((None, *collections))


def _nest(random: Random, world: World, _: set[tuple[str, Place]]) -> None:
    if ("collection", "c") in world.levels and ("collection", "e") in world.levels:
        world.inside["collection", "e"] = random.choice((None, "c"))


def _join(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    teams = [team for team in world.teams if ("members", ("site", team)) not in hidden]
    if teams:
        world.teams[random.choice(teams)] ^= {random.choice(MEMBERS[1:])}


def _organization(random: Random, world: World, _: set[tuple[str, Place]]) -> None:
    world.members[random.choice(MEMBERS[1:])] = random.choice(ROLES)


def _delete(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    """Delete a site or a collection."""
    place = _not_hidden(random, hidden)
    if place is not None and place in world.levels:
        remove(world, place)


def without_one(random: Random, world: World, hidden: set[tuple[str, Place]]) -> World:
    """Leave out a site or a collection, so that a plan creates it."""
    left = deepcopy(world)
    if (place := _not_hidden(random, hidden)) is not None:
        remove(left, place)
    return left


def _not_hidden(random: Random, hidden: set[tuple[str, Place]]) -> Place | None:
    """Draw a site or a collection of which everything is read."""
    hiding = {place for _, place in hidden}
    around = [place for place in PLACES if place[0] != "space" and place not in hiding]
    return random.choice(around) if around else None


def remove(world: World, place: Place) -> None:
    """Remove a site or a collection. What is in a collection goes up."""
    for places in (world.levels, world.people, world.groups):
        places.pop(place, None)
    world.links = {link for link in world.links if ("site", link[0]) != place}
    up = world.inside.pop(place, None)
    for inside, around in world.inside.items():
        if ("collection", around) == place:
            world.inside[inside] = up


def _disband(random: Random, world: World, hidden: set[tuple[str, Place]]) -> None:
    """Delete a team."""
    if hidden or not world.teams:
        return
    team = random.choice(list(world.teams))
    del world.teams[team]
    for roles in world.groups.values():
        roles.pop(team, None)


_CHANGES = (
    _person, _person, _person, _group, _group, _level, _level, _link, _link, _move, _nest, _join,
    _organization, _delete, _disband,
)  # fmt: skip


def hidden_lists(random: Random) -> set[tuple[str, Place]]:
    """Draw the lists that the files do not declare: permissions, structures, the members of teams."""
    lists: list[tuple[str, Place]] = [(name, place) for name in ("people", "groups") for place in PLACES]
    lists += [("structure", ("site", key)) for key in SITES]
    lists += [("members", ("site", team)) for team in TEAMS]
    share = random.choice((0.0, 0.1, 0.4))
    return {one for one in lists if random.random() < share}


def reaches(world: World, place: Place) -> Iterator[Place]:
    """Yield a place and what may give access to it."""
    yield place
    if place[0] == "space":
        yield from (("site", site) for site, space in world.links if space == place[1])
    yield from world.around(place)
