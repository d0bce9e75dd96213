"""A docs organization as plain data: what is live and what is wanted are two of these.

Things know each other by key; a thing that is live has an id. `repair` restores what the platform and
the format ask of every organization, so that the mutations need not.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Fields = dict[str, Any]

ROLES = ("admin", "create", "review", "edit", "comment", "read", "guest")
LEVELS = (*ROLES, "inherit")
CALLER = "u0"
WORDS = ("guides", "news", "help", "start", "api", "more", "faq", "ideas")


class Draw:
    """Decisions. The smallest decision is always "nothing special", which is where hypothesis shrinks to."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._count = 0
        self.crowded = False
        """Titles, paths and basenames come from few words, so that what the platform picks is often taken."""

    def chance(self, probability: float) -> bool:
        return self._source.random() >= 1 - probability

    def number(self, least: int, most: int) -> int:
        return self._source.randint(least, most)

    def pick(self, items: Sequence[T]) -> T:
        return items[self._source.randint(0, len(items) - 1)]

    def some(self, items: Sequence[T], least: int = 0) -> list[T]:
        """Return some of the items in a random order."""
        left, found = list(items), []
        for _ in range(self.number(min(least, len(left)), len(left))):
            found.append(left.pop(self.number(0, len(left) - 1)))
        return found

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.some(items, least=len(items))

    def fresh(self, word: str) -> str:
        """Return an unused name; its first letter is drawn, so that keys sort in any order."""
        self._count += 1
        return f"{self.pick('mnabcxyz')}-{word}{self._count}"

    def word(self, otherwise: str) -> str:
        return self.pick(WORDS) if self.crowded and self.chance(0.8) else self.fresh(otherwise)


@dataclass
class Thing:
    """A team, a collection, a space or a site. `id` is None for what is not live."""

    key: str
    id: str | None
    fields: Fields


@dataclass
class Team(Thing):
    people: dict[str, str] = field(default_factory=dict)


@dataclass
class Collection(Thing):
    parent: str | None = None


@dataclass
class Space(Thing):
    collection: str | None = None


@dataclass
class Node(Thing):
    """`type` is section-group, section or space; `shows` is the key of the space that a site space shows."""

    type: str = "section"
    shows: str = ""
    children: list[Node] = field(default_factory=list)


@dataclass
class Site(Thing):
    flat: bool = False
    schema: Fields | None = None
    structure: list[Node] = field(default_factory=list)

    def nodes(self, *types: str) -> list[Node]:
        return [node for node in walk(self.structure) if not types or node.type in types]

    def holders(self) -> list[list[Node]]:
        """Every list of siblings."""
        return [self.structure, *(node.children for node in self.nodes("section", "section-group"))]

    def places(self) -> list[list[Node]]:
        """Every list of site spaces."""
        return [self.structure] if self.flat else [node.children for node in self.nodes("section")]

    def list_of(self, wanted: Node) -> list[Node]:
        return next(nodes for nodes in self.holders() if any(node is wanted for node in nodes))

    def take(self, node: Node) -> None:
        nodes = self.list_of(node)
        nodes[:] = [other for other in nodes if other is not node]


@dataclass
class Organization:
    """`spaces` stand in their order on the platform."""

    key: str
    id: str
    fields: Fields
    members: dict[str, str] = field(default_factory=dict)
    sso: set[str] = field(default_factory=set)
    teams: list[Team] = field(default_factory=list)
    collections: list[Collection] = field(default_factory=list)
    spaces: list[Space] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    def copy(self) -> Organization:
        return copy.deepcopy(self)

    def inside(self, collection: str) -> set[str]:
        """Return the keys of a collection and of all collections below it."""
        found = {collection}
        for other in self.collections:
            if other.parent == collection:
                found |= self.inside(other.key)
        return found


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from walk(node.children)


def without(things: list[T], gone: T) -> list[T]:
    return [thing for thing in things if thing is not gone]


# --- values -----------------------------------------------------------------------------------------


def merge_rules(draw: Draw, members: Sequence[str], inherit: bool) -> Fields:
    kind = draw.pick(["rules", "none", *(["inherit"] if inherit else [])])
    if kind != "rules":
        return {"type": kind}
    rules: list[Fields] = []
    if draw.chance(0.5):
        rules.append({"rule": "require_at_least_one_review"})
    if draw.chance(0.6):
        rules.append({"rule": "require_specific_reviewers", "users": draw.some(members, least=1)})
    return {"type": "rules", "rules": rules}


def team_fields(draw: Draw) -> Fields:
    return {"title": draw.fresh("Team")}


def collection_fields(draw: Draw) -> Fields:
    return {
        "title": draw.fresh("Collection"),
        "description": draw.pick([None, "about it", "more about it"]),
        "defaultLevel": draw.pick(LEVELS[::-1]),
    }


def space_fields(draw: Draw, members: Sequence[str]) -> Fields:
    return {
        "title": draw.fresh("Space"),
        "emoji": draw.pick([None, "1f600", "1f4d8"]),
        "editMode": draw.pick(["live", "locked"]),
        "language": draw.pick([None, "en", "fr"]),
        "defaultLevel": draw.pick(LEVELS[::-1]),
        "mergeRules": merge_rules(draw, members, inherit=True),
    }


def site_fields(draw: Draw) -> Fields:
    return {
        "title": draw.word("Site"),
        "basename": draw.word("docs"),
        "type": draw.pick(["basic", "premium"]),
        "visibility": draw.pick(["public", "unlisted", "share-link", "visitor-auth"]),
        "published": draw.chance(0.5),
        "agentsContext": draw.pick(["included", "excluded"]),
        "adaptiveContent": {"enabled": draw.chance(0.5)},
        "proxy": draw.pick([None, "www.example.com/docs", "example.org/help/docs"]),
    }


def section_fields(draw: Draw) -> Fields:
    return {
        "title": draw.word("Section"),
        "path": draw.word("p"),
        "icon": draw.pick([None, "book", "bolt"]),
        "description": draw.pick([None, "what it is about"]),
        "condition": draw.pick([None, "visitor.claims.beta"]),
        "default": False,
    }


def group_fields(draw: Draw) -> Fields:
    return {"title": draw.fresh("Group"), "icon": draw.pick([None, "book"])}


def place_fields(draw: Draw) -> Fields:
    return {
        "path": draw.word("at"),
        "condition": draw.pick([None, "visitor.claims.beta"]),
        "hidden": draw.chance(0.2),
        "default": False,
    }


def schema(draw: Draw) -> Fields:
    plan = {"plan": {"type": "string", "description": "What they pay for"}} if draw.chance(0.5) else {}
    claims = {"beta": {"type": "boolean", "description": "In the beta"}} | plan
    return {"type": "object", "properties": claims, "additionalProperties": False}


def organization_fields(draw: Draw, members: Sequence[str]) -> Fields:
    return {
        "title": draw.fresh("Acme"),
        "emailDomains": draw.some(["acme.example", "acme.test", "mail.example"]),
        "defaultRole": draw.pick(ROLES[::-1]),
        "defaultContent": None,
        "logo": draw.pick([None, "https://acme.example/logo.png", "https://acme.example/new.png"]),
        "inviteLinks": draw.chance(0.5),
        "mergeRules": merge_rules(draw, members, inherit=False),
    }


# --- a live organization ----------------------------------------------------------------------------


def live_organization(draw: Draw, key: str, size: int) -> Organization:
    """Return a random organization with at most about `size` objects of each kind, all with ids."""
    members = {CALLER: "admin"} | {f"u{n}": draw.pick(ROLES[::-1]) for n in range(1, draw.number(1, 4) + 1)}
    draw.crowded = draw.chance(0.4)
    made = Organization(key, f"org-{key}", organization_fields(draw, list(members)), members)
    made.sso = {user for user in members if draw.chance(0.2)}
    for _ in range(draw.number(0, size)):
        made.teams.append(new_team(draw, made))
    for _ in range(draw.number(0, size)):
        made.collections.append(new_collection(draw, made))
    for _ in range(draw.number(0, size * 2)):
        made.spaces.append(new_space(draw, made))
    for _ in range(draw.number(0, max(1, size - 1))):
        made.sites.append(new_site(draw, made, size))
    if made.sites and draw.chance(0.4):
        made.fields["defaultContent"] = draw.pick(made.sites).key
    repair(draw, made, strict=True)
    if draw.chance(0.2):
        _same_titles(draw, made)
    for site in made.sites:
        if site.nodes("section") and draw.chance(0.1):
            draw.pick(site.nodes("section")).children.clear()
    _give_ids(made)
    return made


def _same_titles(_draw: Draw, org: Organization) -> None:
    """Titles that are not unique, as the platform allows it."""
    for things in (org.teams, org.spaces, org.collections):
        if len(things) > 1:
            things[0].fields["title"] = things[1].fields["title"]


def new_team(draw: Draw, org: Organization) -> Team:
    people = draw.some(list(org.members))
    roles = {user: draw.pick(["member", "owner"]) for user in people}
    return Team(draw.fresh("t"), None, team_fields(draw), roles)


def new_collection(draw: Draw, org: Organization) -> Collection:
    parent = draw.pick([None, *(other.key for other in org.collections)])
    return Collection(draw.fresh("c"), None, collection_fields(draw), parent)


def new_space(draw: Draw, org: Organization) -> Space:
    collection = draw.pick([None, *(other.key for other in org.collections)])
    made = Space(draw.fresh("s"), None, space_fields(draw, list(org.members)), collection)
    free = [word for word in WORDS if word not in {space.fields["title"] for space in org.spaces}]
    if draw.crowded and free and draw.chance(0.5):
        made.fields["title"] = draw.pick(free)  # a site space of it gets this word as its path
    return made


def new_site(draw: Draw, org: Organization, size: int) -> Site:
    site = Site(draw.fresh("w"), None, site_fields(draw), flat=draw.chance(0.3))
    if draw.chance(0.5):
        site.schema = schema(draw)
    if not org.spaces:
        return site
    for _ in range(draw.number(0, size + 2)):
        if site.flat:
            site.structure.append(new_place(draw, org))
        else:
            add_node(draw, org, site)
    return site


def new_place(draw: Draw, org: Organization) -> Node:
    return Node(draw.fresh("at"), None, place_fields(draw), "space", draw.pick(org.spaces).key)


def add_node(draw: Draw, org: Organization, site: Site) -> None:
    """Add a section or a group to a random list of siblings."""
    lists = [site.structure, *(group.children for group in site.nodes("section-group"))]
    among = draw.pick(lists)
    if draw.chance(0.35):
        node = Node(draw.fresh("g"), None, group_fields(draw), "section-group")
    else:
        children = [new_place(draw, org) for _ in range(draw.number(1, 3))]
        node = Node(draw.fresh("n"), None, section_fields(draw), "section", children=children)
    among.insert(draw.number(0, len(among)), node)


def _give_ids(org: Organization) -> None:
    for thing in (*org.teams, *org.collections, *org.spaces, *org.sites):
        thing.id = f"{org.key}-{thing.key}"
    for site in org.sites:
        for node in site.nodes():
            node.id = f"{org.key}-{node.key}"


# --- what must hold ---------------------------------------------------------------------------------


def repair(draw: Draw, org: Organization, strict: bool = False) -> None:
    """Nothing names what is gone, unique values are unique; with `strict` every list has its default."""
    _members(draw, org)
    collections = {collection.key for collection in org.collections}
    for collection in org.collections:
        collection.parent = collection.parent if collection.parent in collections else None
    for space in org.spaces:
        space.collection = space.collection if space.collection in collections else None
    _distinct(draw, org.sites, "basename")
    for site in org.sites:
        _site(draw, org, site, strict)
    if org.fields["defaultContent"] not in {site.key for site in org.sites}:
        org.fields["defaultContent"] = None


def _members(draw: Draw, org: Organization) -> None:
    org.members[CALLER] = "admin"
    org.sso &= set(org.members)
    for team in org.teams:
        team.people = {user: role for user, role in team.people.items() if user in org.members}
        if "owner" not in team.people.values():
            team.people[draw.pick(list(org.members))] = "owner"
    for fields in (org.fields, *(space.fields for space in org.spaces)):
        rules = fields["mergeRules"].get("rules", [])
        for rule in rules:
            if "users" in rule:
                rule["users"] = [user for user in rule["users"] if user in org.members] or [CALLER]


def _site(draw: Draw, org: Organization, site: Site, strict: bool) -> None:
    spaces = {space.key for space in org.spaces}
    for nodes in site.places():
        nodes[:] = [node for node in nodes if node.shows in spaces]
    for section in site.nodes("section"):
        if not section.children and org.spaces and draw.chance(0.5):
            section.children.append(new_place(draw, org))
        elif not section.children:
            site.take(section)
    _distinct(draw, site.nodes("section"), "path")
    for nodes in site.places():
        _distinct(draw, nodes, "path")
    for nodes in (site.nodes("section"), *site.places()):
        _one_default(nodes, strict)


def _distinct(draw: Draw, things: Sequence[Thing], name: str) -> None:
    seen: set[str] = set()
    for thing in things:
        while thing.fields[name] in seen:
            thing.fields[name] = draw.fresh("other")
        seen.add(thing.fields[name])


def _one_default(nodes: Sequence[Node], strict: bool) -> None:
    chosen = next((node for node in nodes if node.fields["default"]), nodes[0] if nodes and strict else None)
    for node in nodes:
        node.fields["default"] = node is chosen
