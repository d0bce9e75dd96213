"""Read an organization as a tree for the console (the web page of the local server).

Input: the store. Output: lines of a tree: sites with their navigation, spaces, teams, members.
"""

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
    """An organization with everything that the console lists."""

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
        tuple(
            TreeLine(
                space.doc["title"],
                f"deleted {space.doc['deletedAt']}",
                (),
                _api_path("spaces", space.id),
                "space",
            )
            for space in store.find("deleted-space", organization=id)
        ),
        tuple(_team_lines(store, id)),
        tuple(_member_lines(store, id)),
    )


def _creation_order(record: Record) -> int:
    """Return the sort key of a record for the order of creation."""
    return record.seq


def _api_path(*segments: str) -> str:
    """Return the path of a resource in the API, such as `/v1/orgs/acme`."""
    return "/".join(("/v1", *(quote(segment, safe="") for segment in segments)))


# --- sites ----------------------------------------------------------------------------------------


def _site_tree(nav: Navigation, titles: dict[str, str]) -> SiteTree:
    """Return the tree of a site. `titles` has the titles of spaces by id."""
    site = nav.site
    path = _api_path("orgs", site.organization, "sites", site.id)
    lines = (
        _navigation_lines(nav, "", titles, path) if nav.has_sections else _site_space_lines(nav, "", titles)
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
    """Yield a line for each group, section and link in `parent`, with their children.

    `parent` is a group, or "" for the top level. `titles` has the titles of spaces by id, and `path` is the
    API path of the site.
    """
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
            children = tuple(_site_space_lines(nav, node.id, titles))
            tags = _tags(default=doc["default"], draft=draft, conditional=bool(doc.get("condition")))
            yield TreeLine(
                doc["title"], f"/{doc['path']}", tags, f"{path}/structure", SECTION, draft, children
            )


def _site_space_lines(nav: Navigation, section: str, titles: dict[str, str]) -> Iterator[TreeLine]:
    """Yield a line for each site space in a section, or at the top level ("")."""
    for site_space in nav.site_spaces_in(section):
        doc, draft = site_space.doc, bool(site_space.doc.get("draft"))
        tags = _tags(
            default=doc["default"], hidden=doc["hidden"], draft=draft, conditional=bool(doc.get("condition"))
        )
        title = doc.get("title") or titles.get(site_space.ref, site_space.ref)
        link, hidden = _api_path("spaces", site_space.ref), bool(doc["hidden"] or draft)
        yield TreeLine(title, f"/{doc['path']}", tags, link, SITE_SPACE, hidden)


def _tags(**flags: bool) -> tuple[str, ...]:
    """Return the names of the flags that are set, as labels of a line."""
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

    def lines_in(parent: str) -> Iterator[TreeLine]:
        """Yield the lines of the collections and spaces in a collection ("" for the top level)."""
        children = children_by_parent.get(parent, ())
        for item in sorted(children, key=lambda child: (child.position, child.kind, child.seq)):
            doc = item.doc
            if item.kind == "collection":
                path = _api_path("collections", item.id)
                yield TreeLine(
                    doc["title"], item.id, (), path, "collection", children=tuple(lines_in(item.id))
                )
                continue
            is_styleguide = doc.get("type") == "styleguide"
            tags = [] if sites_per_space[item.id] or is_styleguide else ["in no site"]
            tags += ["style guide"] if is_styleguide else []
            tags += ["locked"] if doc["editMode"] == "locked" else []
            tags += ["synced with git"] if doc.get("gitSync") else []
            yield TreeLine(doc["title"], item.id, tuple(tags), _api_path("spaces", item.id), "space")

    return tuple(lines_in(""))


# --- people ---------------------------------------------------------------------------------------


def _team_lines(store: Store, organization: str) -> Iterator[TreeLine]:
    """Yield a line for each team, with its members as children."""
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
    """Yield a line for each member, labeled with the role."""
    for member in sorted(store.find("member", organization=organization), key=_creation_order):
        role = member.doc["role"] or "guest"
        tags = (role, *_tags(disabled=bool(member.doc.get("disabled"))))
        path = _api_path("orgs", organization, "members", member.ref)
        yield TreeLine(_display_name(store, member.ref), member.ref, tags, path, "member")


def _display_name(store: Store, user: str) -> str:
    """Return the display name of a user, or the id of a user without one."""
    record = store.get("user", user)
    return str((record.doc.get("displayName") if record else None) or user)
