"""Read an organization as a tree for the console: sites with their navigation, spaces, teams, members."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote

from msgspec import Struct

from ..sites.navigation import EXTERNAL_LINK, GROUP, SECTION, SITE_SPACE, Navigation, read_navigation
from ..store import Record, Store


class TreeLine(Struct, frozen=True):
    """One line of a tree. `note` follows the title; `tags` are short labels.

    `link` is the path of the resource in the API, "" for none. `hidden`: readers of the site do not see the
    line.
    """

    title: str
    note: str = ""
    tags: tuple[str, ...] = ()
    link: str = ""
    kind: str = ""
    hidden: bool = False
    children: tuple["TreeLine", ...] = ()


class SiteTree(Struct, frozen=True):
    """A site and its navigation, in the order that readers see."""

    title: str
    link: str
    published: bool
    visibility: str
    navigation: tuple[TreeLine, ...]
    has_sections: bool
    space_count: int


class OrganizationTree(Struct, frozen=True):
    id: str
    title: str
    link: str
    sites: tuple[SiteTree, ...]
    spaces: tuple[TreeLine, ...]
    space_count: int
    deleted_spaces: tuple[TreeLine, ...]
    teams: tuple[TreeLine, ...]
    members: tuple[TreeLine, ...]


def organization_titles(store: Store) -> list[tuple[str, str]]:
    """Return the id and the title of each organization, in order of creation."""
    organizations = sorted(store.find("organization"), key=_creation_order)
    return [(organization.id, organization.doc["title"]) for organization in organizations]


def load_organization_tree(store: Store, id: str) -> OrganizationTree | None:
    """Return the tree of an organization, or None if the organization does not exist."""
    record = store.get("organization", id)
    if record is None:
        return None
    spaces = store.find("space", organization=id)
    titles = {space.id: space.doc["title"] for space in spaces}
    sites = sorted(store.find("site", organization=id), key=_creation_order)
    navigations = [read_navigation(store, site) for site in sites]
    site_counts = Counter(
        site_space.ref for navigation in navigations for site_space in navigation.site_spaces
    )
    return OrganizationTree(
        id,
        record.doc["title"],
        _api_path("orgs", id),
        tuple(_site_tree(navigation, titles) for navigation in navigations),
        _space_tree(store.find("collection", organization=id), spaces, site_counts),
        len(spaces),
        tuple(_deleted_line(space) for space in store.find("deleted-space", organization=id)),
        tuple(_team_lines(store, id)),
        tuple(_member_lines(store, id)),
    )


def _creation_order(record: Record) -> int:
    return record.seq


def _api_path(*segments: str) -> str:
    return "/".join(("/v1", *(quote(segment, safe="") for segment in segments)))


# --- sites ----------------------------------------------------------------------------------------


def _site_tree(nav: Navigation, titles: dict[str, str]) -> SiteTree:
    site = nav.site
    path = _api_path("orgs", site.organization, "sites", site.id)
    lines = (
        _navigation_lines(nav, "", titles, path)
        if nav.has_sections
        else _site_space_lines(nav, "", titles, path)
    )
    return SiteTree(
        site.doc["title"],
        path,
        bool(site.doc["published"]),
        site.doc["visibility"],
        tuple(lines),
        nav.has_sections,
        len(nav.site_spaces),
    )


def _navigation_lines(nav: Navigation, parent: str, titles: dict[str, str], path: str) -> Iterator[TreeLine]:
    for node in nav.children(parent):
        doc, draft = node.doc, bool(node.doc.get("draft"))
        if node.kind == EXTERNAL_LINK:
            tags = _tags(link=True, draft=draft)
            yield TreeLine(
                doc["title"], doc.get("url") or "", tags, f"{path}/structure", EXTERNAL_LINK, draft
            )
        elif node.kind == GROUP:
            children = tuple(_navigation_lines(nav, node.id, titles, path))
            yield TreeLine(
                doc["title"], "", _tags(group=True, draft=draft), f"{path}/structure", GROUP, draft, children
            )
        else:
            children = tuple(_site_space_lines(nav, node.id, titles, path))
            tags = _tags(default=doc["default"], draft=draft, conditional=bool(doc.get("condition")))
            yield TreeLine(
                doc["title"], f"/{doc['path']}", tags, f"{path}/structure", SECTION, draft, children
            )


def _site_space_lines(nav: Navigation, section: str, titles: dict[str, str], path: str) -> Iterator[TreeLine]:
    for site_space in nav.site_spaces_in(section):
        doc, draft = site_space.doc, bool(site_space.doc.get("draft"))
        tags = _tags(
            default=doc["default"], hidden=doc["hidden"], draft=draft, conditional=bool(doc.get("condition"))
        )
        title = doc.get("title") or titles.get(site_space.ref, site_space.ref)
        link, hidden = _api_path("spaces", site_space.ref), bool(doc["hidden"] or draft)
        yield TreeLine(title, f"/{doc['path']}", tags, link, SITE_SPACE, hidden)


def _tags(**flags: bool) -> tuple[str, ...]:
    return tuple(name for name, is_set in flags.items() if is_set)


# --- spaces ---------------------------------------------------------------------------------------


def _space_tree(
    collections: list[Record], spaces: list[Record], sites_per_space: Counter[str]
) -> tuple[TreeLine, ...]:
    """Return collections with their contents and spaces, in order of position.

    If positions are equal, collections come before spaces.
    """
    children_by_parent: dict[str, list[Record]] = {}
    for record in (*collections, *spaces):
        children_by_parent.setdefault(record.parent, []).append(record)

    def lines(parent: str) -> Iterator[TreeLine]:
        for item in sorted(
            children_by_parent.get(parent, ()), key=lambda item: (item.position, item.kind, item.seq)
        ):
            if item.kind == "collection":
                path = _api_path("collections", item.id)
                yield TreeLine(
                    item.doc["title"], item.id, (), path, "collection", children=tuple(lines(item.id))
                )
            else:
                yield _space_line(item, sites_per_space[item.id])

    return tuple(lines(""))


def _space_line(space: Record, sites: int) -> TreeLine:
    doc = space.doc
    tags = [] if sites or doc.get("type") == "styleguide" else ["in no site"]
    tags += ["style guide"] if doc.get("type") == "styleguide" else []
    tags += ["locked"] if doc["editMode"] == "locked" else []
    tags += ["synced with git"] if doc.get("gitSync") else []
    return TreeLine(doc["title"], space.id, tuple(tags), _api_path("spaces", space.id), "space")


def _deleted_line(space: Record) -> TreeLine:
    return TreeLine(
        space.doc["title"], f"deleted {space.doc['deletedAt']}", (), _api_path("spaces", space.id), "space"
    )


# --- people ---------------------------------------------------------------------------------------


def _team_lines(store: Store, organization: str) -> Iterator[TreeLine]:
    for team in sorted(store.find("team", organization=organization), key=_creation_order):
        memberships = sorted(store.find("membership", scope=team.id), key=_creation_order)
        members = (
            TreeLine(
                _display_name(store, membership.ref),
                membership.ref,
                _tags(owner=membership.doc["role"] == "owner"),
            )
            for membership in memberships
        )
        path = _api_path("orgs", organization, "teams", team.id)
        yield TreeLine(team.doc["title"], team.id, (), path, "team", children=tuple(members))


def _member_lines(store: Store, organization: str) -> Iterator[TreeLine]:
    for member in sorted(store.find("member", organization=organization), key=_creation_order):
        role = member.doc["role"] or "guest"
        tags = (role, *_tags(disabled=bool(member.doc.get("disabled"))))
        path = _api_path("orgs", organization, "members", member.ref)
        yield TreeLine(_display_name(store, member.ref), member.ref, tags, path, "member")


def _display_name(store: Store, user: str) -> str:
    record = store.get("user", user)
    return str((record.doc.get("displayName") if record else None) or user)
