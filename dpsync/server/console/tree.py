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
    found = sorted(store.find("organization"), key=_creation_order)
    return [(one.id, one.doc["title"]) for one in found]


def load_organization_tree(store: Store, id: str) -> OrganizationTree | None:
    """Return the tree of an organization, or None if the organization does not exist."""
    record = store.get("organization", id)
    if record is None:
        return None
    spaces = store.find("space", organization=id)
    titles = {space.id: space.doc["title"] for space in spaces}
    sites = sorted(store.find("site", organization=id), key=_creation_order)
    navigations = [read_navigation(store, site) for site in sites]
    by_space = Counter(place.ref for one in navigations for place in one.site_spaces)
    return OrganizationTree(
        id,
        record.doc["title"],
        _api_path("orgs", id),
        tuple(_site_tree(one, titles) for one in navigations),
        _space_tree(store.find("collection", organization=id), spaces, by_space),
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
            below = tuple(_navigation_lines(nav, node.id, titles, path))
            yield TreeLine(
                doc["title"], "", _tags(group=True, draft=draft), f"{path}/structure", GROUP, draft, below
            )
        else:
            below = tuple(_site_space_lines(nav, node.id, titles, path))
            tags = _tags(default=doc["default"], draft=draft, conditional=bool(doc.get("condition")))
            yield TreeLine(doc["title"], f"/{doc['path']}", tags, f"{path}/structure", SECTION, draft, below)


def _site_space_lines(nav: Navigation, section: str, titles: dict[str, str], path: str) -> Iterator[TreeLine]:
    for place in nav.site_spaces_in(section):
        doc, draft = place.doc, bool(place.doc.get("draft"))
        tags = _tags(
            default=doc["default"], hidden=doc["hidden"], draft=draft, conditional=bool(doc.get("condition"))
        )
        title = doc.get("title") or titles.get(place.ref, place.ref)
        link, unseen = _api_path("spaces", place.ref), bool(doc["hidden"] or draft)
        yield TreeLine(title, f"/{doc['path']}", tags, link, SITE_SPACE, unseen)


def _tags(**said: bool) -> tuple[str, ...]:
    return tuple(name for name, holds in said.items() if holds)


# --- spaces ---------------------------------------------------------------------------------------


def _space_tree(
    collections: list[Record], spaces: list[Record], sites_per_space: Counter[str]
) -> tuple[TreeLine, ...]:
    """Return collections with their contents and spaces, in order of position.

    If positions are equal, collections come before spaces.
    """
    inside: dict[str, list[Record]] = {}
    for record in (*collections, *spaces):
        inside.setdefault(record.parent, []).append(record)

    def lines(parent: str) -> Iterator[TreeLine]:
        for one in sorted(inside.get(parent, ()), key=lambda one: (one.position, one.kind, one.seq)):
            if one.kind == "collection":
                path = _api_path("collections", one.id)
                yield TreeLine(
                    one.doc["title"], one.id, (), path, "collection", children=tuple(lines(one.id))
                )
            else:
                yield _space_line(one, sites_per_space[one.id])

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
        below = (
            TreeLine(_display_name(store, one.ref), one.ref, _tags(owner=one.doc["role"] == "owner"))
            for one in memberships
        )
        path = _api_path("orgs", organization, "teams", team.id)
        yield TreeLine(team.doc["title"], team.id, (), path, "team", children=tuple(below))


def _member_lines(store: Store, organization: str) -> Iterator[TreeLine]:
    for member in sorted(store.find("member", organization=organization), key=_creation_order):
        role = member.doc["role"] or "guest"
        tags = (role, *_tags(disabled=bool(member.doc.get("disabled"))))
        path = _api_path("orgs", organization, "members", member.ref)
        yield TreeLine(_display_name(store, member.ref), member.ref, tags, path, "member")


def _display_name(store: Store, user: str) -> str:
    found = store.get("user", user)
    return str((found.doc.get("displayName") if found else None) or user)
