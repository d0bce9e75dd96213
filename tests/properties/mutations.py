"""What a team does to its configuration between two applies, as small changes drawn at random.

Each takes the wanted organization and changes it in place. `Managed` says which parts the configuration
declares at all; the rest of the organization is left as it is live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .organizations import (
    ROLES,
    Draw,
    Node,
    Organization,
    Site,
    Thing,
    add_node,
    collection_fields,
    group_fields,
    merge_rules,
    new_collection,
    new_place,
    new_site,
    new_space,
    new_team,
    organization_fields,
    place_fields,
    repair,
    schema,
    section_fields,
    site_fields,
    space_fields,
    team_fields,
    without,
)

PARTS = ("members", "teams", "collections", "spaces", "sites")


@dataclass
class Managed:
    """`parts` of the organization that are declared, and teams and sites whose insides are not."""

    parts: set[str] = field(default_factory=lambda: set(PARTS))
    unmanaged_people: set[str] = field(default_factory=set)
    unmanaged_structures: set[str] = field(default_factory=set)

    def structures(self, org: Organization) -> list[Site]:
        return [site for site in org.sites if site.key not in self.unmanaged_structures] * (
            "sites" in self.parts
        )


Mutation = Callable[[Draw, Organization, Managed], None]


def wanted_organization(draw: Draw, live: Organization, managed: Managed, steps: int) -> Organization:
    """Return a copy of the live organization after some changes to its managed parts."""
    wanted = live.copy()
    if draw.chance(0.04):
        _drop_everything(wanted, managed)
    for _ in range(steps):
        part = draw.pick(["organization", "tree", "tree", "tree", *sorted(managed.parts)])
        draw.pick(_BY_PART[part])(draw, wanted, managed)
        repair(draw, wanted)
    repair(draw, wanted)
    return wanted


def _drop_everything(org: Organization, managed: Managed) -> None:
    if "spaces" in managed.parts and "sites" in managed.parts and not managed.unmanaged_structures:
        org.spaces.clear()
        if "collections" in managed.parts:
            org.collections.clear()
    for part in {"teams", "sites"} & managed.parts:
        getattr(org, part).clear()


# --- the same for all -------------------------------------------------------------------------------


def exchange(draw: Draw, things: Sequence[Thing], name: str) -> None:
    """Two or three things pass a value round."""
    ring = draw.some(things, least=2)[:3]
    values = [thing.fields[name] for thing in ring]
    for thing, value in zip(ring, [*values[1:], *values[:1]], strict=True):
        thing.fields[name] = value


def change(draw: Draw, thing: Thing, fresh: dict[str, object]) -> None:
    """Change some fields, except `default` and fields that can be set only on create."""
    for name in draw.some([name for name in fresh if name not in ("default", "type")], least=1)[:3]:
        # A language can be set and changed, never taken away.
        if not (name == "language" and fresh[name] is None):
            thing.fields[name] = fresh[name]


def _rename(draw: Draw, things: Sequence[Thing], fields: Callable[[Draw], dict[str, object]]) -> None:
    if things:
        thing = draw.pick(things)
        thing.fields["title"] = fields(draw)["title"]


# --- people -----------------------------------------------------------------------------------------


def remove_member(draw: Draw, org: Organization, managed: Managed) -> None:
    """Not the last owner of a team whose people are not managed: that is refused."""
    kept = {
        user
        for team in org.teams
        if "teams" not in managed.parts or team.key in managed.unmanaged_people
        if list(team.people.values()).count("owner") == 1
        for user, role in team.people.items()
        if role == "owner"
    }
    others = [user for user in list(org.members)[1:] if user not in kept]
    if others:
        gone = draw.pick(others)
        del org.members[gone]
        for team in org.teams:
            team.people.pop(gone, None)


def change_role(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.members[draw.pick(list(org.members))] = draw.pick(ROLES)


def mark_sso(draw: Draw, org: Organization, _managed: Managed) -> None:
    """Set SSO for a member. SSO can be set, and never removed."""
    org.sso.add(draw.pick(list(org.members)))


def add_team(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.teams.append(new_team(draw, org))


def remove_team(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.teams:
        org.teams = without(org.teams, draw.pick(org.teams))


def rename_team(draw: Draw, org: Organization, _managed: Managed) -> None:
    _rename(draw, org.teams, team_fields)


def exchange_teams(draw: Draw, org: Organization, _managed: Managed) -> None:
    exchange(draw, org.teams, "title")


def change_people(draw: Draw, org: Organization, managed: Managed) -> None:
    teams = [team for team in org.teams if team.key not in managed.unmanaged_people]
    if teams:
        team = draw.pick(teams)
        team.people = {user: draw.pick(["member", "owner"]) for user in draw.some(list(org.members))}


# --- collections and spaces -------------------------------------------------------------------------


def add_collection(draw: Draw, org: Organization, _managed: Managed) -> None:
    made = new_collection(draw, org)
    if org.collections and draw.chance(0.3):
        draw.pick(org.collections).parent = made.key  # a new one around an old one
        made.parent = None
    org.collections.append(made)


def remove_collection(draw: Draw, org: Organization, managed: Managed) -> None:
    """Remove a collection and move its content to its parent.

    Spaces that are not managed cannot move, so a collection that contains one of them stays.
    """
    held = {space.collection for space in org.spaces} if "spaces" not in managed.parts else set()
    free = [other for other in org.collections if other.key not in held]
    if not free:
        return
    gone = draw.pick(free)
    org.collections = without(org.collections, gone)
    for item in org.collections:
        item.parent = gone.parent if item.parent == gone.key else item.parent
    for space in org.spaces:
        space.collection = gone.parent if space.collection == gone.key else space.collection


def change_collection(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.collections:
        change(draw, draw.pick(org.collections), collection_fields(draw))


def exchange_collections(draw: Draw, org: Organization, _managed: Managed) -> None:
    exchange(draw, org.collections, "title")


def move_collection(draw: Draw, org: Organization, _managed: Managed) -> None:
    if not org.collections:
        return
    moving = draw.pick(org.collections)
    free = [other.key for other in org.collections if other.key not in org.inside(moving.key)]
    moving.parent = draw.pick([None, *free])


def invert_collections(draw: Draw, org: Organization, _managed: Managed) -> None:
    """Swap a collection with its parent: A ⊃ B becomes B ⊃ A."""
    nested = [other for other in org.collections if other.parent]
    if nested:
        inner = draw.pick(nested)
        outer = next(other for other in org.collections if other.key == inner.parent)
        inner.parent, outer.parent = outer.parent, inner.key


def add_space(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.spaces.insert(draw.number(0, len(org.spaces)), new_space(draw, org))


def remove_space(draw: Draw, org: Organization, managed: Managed) -> None:
    """Not one that is shown where the structure is not managed: the platform decides on that."""
    shown = {
        node.shows
        for site in org.sites
        if "sites" not in managed.parts or site.key in managed.unmanaged_structures
        for node in site.nodes("space")
    }
    free = [space for space in org.spaces if space.key not in shown]
    if free:
        org.spaces = without(org.spaces, draw.pick(free))


def change_space(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.spaces:
        change(draw, draw.pick(org.spaces), space_fields(draw, list(org.members)))


def exchange_spaces(draw: Draw, org: Organization, _managed: Managed) -> None:
    exchange(draw, org.spaces, "title")


def move_space(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.spaces:
        draw.pick(org.spaces).collection = draw.pick([None, *(other.key for other in org.collections)])


def reorder_spaces(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.spaces = draw.shuffled(org.spaces)


# --- sites ------------------------------------------------------------------------------------------


def add_site(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.sites.append(new_site(draw, org, 2))


def remove_site(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.sites:
        org.sites = without(org.sites, draw.pick(org.sites))


def change_site(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.sites:
        change(draw, draw.pick(org.sites), site_fields(draw))


def change_schema(draw: Draw, org: Organization, _managed: Managed) -> None:
    if org.sites:
        draw.pick(org.sites).schema = schema(draw)


def exchange_basenames(draw: Draw, org: Organization, _managed: Managed) -> None:
    exchange(draw, org.sites, "basename")


def default_content(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.fields["defaultContent"] = draw.pick([None, *(site.key for site in org.sites)])


def change_organization(draw: Draw, org: Organization, _managed: Managed) -> None:
    fresh = organization_fields(draw, list(org.members))
    del fresh["defaultContent"]
    change(draw, Thing("", "", org.fields), fresh)


def change_rules(draw: Draw, org: Organization, _managed: Managed) -> None:
    org.fields["mergeRules"] = merge_rules(draw, list(org.members), inherit=False)


# --- navigation -------------------------------------------------------------------------------------


def _tree(change: Callable[[Draw, Organization, Site], None]) -> Mutation:
    def mutation(draw: Draw, org: Organization, managed: Managed) -> None:
        sites = managed.structures(org)
        if sites and org.spaces:
            change(draw, org, draw.pick(sites))

    return mutation


def _reorder(draw: Draw, _org: Organization, site: Site) -> None:
    nodes = draw.pick(site.holders())
    nodes[:] = draw.shuffled(nodes)


def _add_node(draw: Draw, org: Organization, site: Site) -> None:
    if site.flat:
        _add_place(draw, org, site)
    else:
        add_node(draw, org, site)


def _add_place(draw: Draw, org: Organization, site: Site) -> None:
    lists = site.places()
    if lists:
        nodes = draw.pick(lists)
        nodes.insert(draw.number(0, len(nodes)), new_place(draw, org))


def _remove_node(draw: Draw, _org: Organization, site: Site) -> None:
    """Remove a node. The children of a group may take its place; the content of a section is removed."""
    nodes = site.nodes()
    if not nodes:
        return
    gone = draw.pick(nodes)
    siblings = site.list_of(gone)
    at = next(index for index, node in enumerate(siblings) if node is gone)
    siblings[at : at + 1] = gone.children if gone.type == "section-group" and draw.chance(0.7) else []


def _reparent(draw: Draw, _org: Organization, site: Site) -> None:
    nodes = site.nodes("section", "section-group")
    if not nodes:
        return
    moving = draw.pick(nodes)
    site.take(moving)
    target = draw.pick([site.structure, *(group.children for group in site.nodes("section-group"))])
    target.insert(draw.number(0, len(target)), moving)


def _invert(draw: Draw, _org: Organization, site: Site) -> None:
    """Swap a group with a group inside it: A ⊃ B becomes B ⊃ A."""
    groups = site.nodes("section-group")
    nested = [(outer, inner) for outer in groups for inner in outer.children if inner.type == "section-group"]
    if not nested:
        return
    outer, inner = draw.pick(nested)
    siblings = site.list_of(outer)
    at = next(index for index, node in enumerate(siblings) if node is outer)
    outer.children[:] = [node for node in outer.children if node is not inner]
    siblings[at] = inner
    inner.children.insert(draw.number(0, len(inner.children)), outer)


def _wrap(draw: Draw, _org: Organization, site: Site) -> None:
    """Put a new group around some siblings."""
    lists = [] if site.flat else [site.structure, *(group.children for group in site.nodes("section-group"))]
    nodes = draw.pick(lists) if lists else []
    chosen = draw.some(nodes, least=1)
    if chosen:
        group = Node(draw.fresh("g"), None, group_fields(draw), "section-group", children=chosen)
        nodes[:] = [node for node in nodes if not any(node is other for other in chosen)]
        nodes.insert(draw.number(0, len(nodes)), group)


def _exchange_paths(draw: Draw, _org: Organization, site: Site) -> None:
    exchange(draw, draw.pick([site.nodes("section"), *site.places()]), "path")


def _exchange_titles(draw: Draw, _org: Organization, site: Site) -> None:
    exchange(draw, site.nodes(draw.pick(["section", "section-group"])), "title")


def _change_node(draw: Draw, _org: Organization, site: Site) -> None:
    nodes = site.nodes()
    if nodes:
        node = draw.pick(nodes)
        fresh = {"section": section_fields, "section-group": group_fields, "space": place_fields}[node.type]
        change(draw, node, fresh(draw))


def _show_another(draw: Draw, org: Organization, site: Site) -> None:
    nodes = site.nodes("space")
    if nodes:
        draw.pick(nodes).shows = draw.pick(org.spaces).key


def _default(draw: Draw, _org: Organization, site: Site) -> None:
    nodes = draw.pick([site.nodes("section"), *site.places()])
    if nodes:
        chosen = draw.pick(nodes)
        for node in nodes:
            node.fields["default"] = node is chosen


def _replace(draw: Draw, org: Organization, site: Site) -> None:
    """Another one takes the path of one that goes."""
    nodes = draw.pick(site.places()) if site.places() else []
    if nodes:
        at = draw.number(0, len(nodes) - 1)
        path = nodes[at].fields["path"]
        nodes[at] = new_place(draw, org)
        nodes[at].fields["path"] = path


_BY_PART: dict[str, list[Mutation]] = {
    "organization": [change_organization, change_rules, default_content],
    "members": [remove_member, change_role, change_role, mark_sso],
    "teams": [add_team, remove_team, rename_team, exchange_teams, change_people, change_people],
    "collections": [
        add_collection, remove_collection, change_collection, exchange_collections,
        move_collection, move_collection, invert_collections,
    ],
    "spaces": [
        add_space, remove_space, remove_space, change_space, exchange_spaces, move_space, move_space,
        reorder_spaces,
    ],
    "sites": [add_site, remove_site, change_site, change_site, change_schema, exchange_basenames],
    "tree": [
        _tree(mutation)
        for mutation in (
            _reorder, _reorder, _add_node, _add_node, _add_place, _remove_node, _reparent, _reparent, _invert,
            _wrap, _exchange_paths, _exchange_titles, _change_node, _show_another, _default, _replace,
        )
    ],
}  # fmt: skip
