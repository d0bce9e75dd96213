"""Read and change the navigation of one site as one value: groups, sections, external links, site spaces.

Groups, sections and links are siblings at the root or in a group. Site spaces are siblings in a section, or
at the root of a site without groups, sections and links. Exactly one section of a site is the default,
including the sections in groups, and exactly one site space of each section (or of the root).
"""

from collections.abc import Iterator

from msgspec import Struct

from ..content.slugs import unique_slug
from ..errors import bad_request, not_found
from ..records.sibling_order import end_position
from ..request.context import Context
from ..store import Record, Store

GROUP, SECTION, SITE_SPACE, EXTERNAL_LINK = "section-group", "section", "site-space", "external-link"
KINDS_BY_API_TYPE = {
    "site-section-group": GROUP,
    "site-section": SECTION,
    "site-space": SITE_SPACE,
    "site-external-link": EXTERNAL_LINK,
}
MAX_DEPTH = 50
REDIRECT = "redirect"
"""Record kind of redirects. `scope` is the site, `ref` the source, `parent` the target (see
`redirect_target`).
"""
SITE_SPACE_CUSTOMIZATION = "site-space-customization"
"""Record kind of the overrides of a site space. Both have the same id."""


class Navigation(Struct):
    """All nodes of the navigation of a site."""

    site: Record
    groups: list[Record]
    sections: list[Record]
    site_spaces: list[Record]
    links: list[Record]
    hidden_ids: frozenset[str] = frozenset()
    """The nodes that are not shown to the caller, but still use their paths and positions."""

    @property
    def has_sections(self) -> bool:
        """Return whether the site has groups, sections or links, so that no site space is at the root."""
        return bool(self.groups or self.sections or self.links)

    def children(self, parent: str) -> list[Record]:
        """Return the groups, sections and links in a group, or at the root (`""`), in order."""
        nodes = [node for node in (*self.groups, *self.sections, *self.links) if node.parent == parent]
        return sorted(nodes, key=lambda node: (node.position, node.seq))

    def site_spaces_in(self, section: str) -> list[Record]:
        """Return the site spaces of a section, or of the root (`""`), in order."""
        return [site_space for site_space in self.site_spaces if site_space.parent == section]

    def walk(
        self, parent: str = "", prefix: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], Record]]:
        """Yield groups, sections and links, each before its children, with a key that sorts in this order."""
        for node in self.children(parent):
            key = (*prefix, node.position, node.seq)
            yield key, node
            if node.kind == GROUP:
                yield from self.walk(node.id, key)

    def nodes_in_order(self, kind: str) -> list[tuple[tuple[int, ...], Record]]:
        """Return every node of one kind in the order of the navigation, with sort keys."""
        if kind != SITE_SPACE:
            return [(key, node) for key, node in self.walk() if node.kind == kind]
        entries: list[tuple[tuple[int, ...], Record]] = []
        entries += [
            ((site_space.position, site_space.seq), site_space) for site_space in self.site_spaces_in("")
        ]
        for key, section in self.nodes_in_order(SECTION):
            entries += [
                ((*key, site_space.position, site_space.seq), site_space)
                for site_space in self.site_spaces_in(section.id)
            ]
        return entries

    @property
    def nodes(self) -> list[Record]:
        """Return all nodes of the navigation."""
        return [*self.groups, *self.sections, *self.site_spaces, *self.links]

    def siblings(self, node: Record) -> list[Record]:
        """Return the nodes with the same parent as a node, including the node, in order."""
        return self.site_spaces_in(node.parent) if node.kind == SITE_SPACE else self.children(node.parent)

    def require_node(self, kind: str, id: str, field: str = "") -> Record:
        """Return a node of this site. Raise 404 if it does not exist; `field` is the member that named it."""
        node = self.find_node(kind, id)
        if node is None:
            raise not_found(f"{field}: {kind}" if field else kind, id)
        return node

    def visible_nodes(self, nodes: list[Record]) -> list[Record]:
        """Return the nodes that are shown to the caller."""
        return [node for node in nodes if node.id not in self.hidden_ids]

    def find_node(self, kind: str, id: str) -> Record | None:
        """Return a node of this site, or None if it does not exist or is hidden from the caller."""
        pool = {
            GROUP: self.groups,
            SECTION: self.sections,
            SITE_SPACE: self.site_spaces,
            EXTERNAL_LINK: self.links,
        }[kind]
        return next((node for node in pool if node.id == id and id not in self.hidden_ids), None)

    def default_section(self) -> Record | None:
        """Return the default section, or None if the site has no sections."""
        return next((section for section in self.sections if section.doc["default"]), None)

    def group_ids_below(self, group: str) -> set[str]:
        """Return the ids of a group and of all groups below it."""
        ids = {group}
        for child in self.groups:
            if child.parent == group:
                ids |= self.group_ids_below(child.id)
        return ids


def read_navigation(store: Store, site: Record) -> Navigation:
    """Read the navigation of a site from the store."""
    groups, sections, site_spaces, links = (
        store.find(kind, scope=site.id) for kind in (GROUP, SECTION, SITE_SPACE, EXTERNAL_LINK)
    )
    return Navigation(site, groups, sections, site_spaces, links)


# --- making nodes ---------------------------------------------------------------------------------


def add_section(ctx: Context, nav: Navigation, title: str, parent: str = "") -> Record:
    """Add an empty section at the end of its parent. The first section of a site becomes the default."""
    doc = {
        "title": title if len(title) >= 2 else f"Section {title}".strip(),
        "path": unique_slug(title, {section.doc["path"] for section in nav.sections}, "section"),
        "default": not nav.sections,
    }
    section = Record(
        SECTION,
        ctx.new_id(SECTION),
        doc,
        nav.site.organization,
        nav.site.id,
        parent,
        end_position(nav.children(parent)),
    )
    ctx.put(section)
    nav.sections.append(section)
    return section


def add_site_space(ctx: Context, nav: Navigation, space: Record, section: str = "") -> Record:
    """Add a site space, which shows a space, at the end of a section, or of the top level (`section=""`).

    The first site space there is the default.
    """
    siblings = nav.site_spaces_in(section)
    doc = {
        "path": unique_slug(space.doc["title"], {site_space.doc["path"] for site_space in siblings}, "space"),
        "default": not siblings,
        "hidden": False,
    }
    site_space = Record(
        SITE_SPACE,
        ctx.new_id(SITE_SPACE),
        doc,
        nav.site.organization,
        nav.site.id,
        section,
        end_position(siblings),
        space.id,
    )
    ctx.put(site_space)
    nav.site_spaces.append(site_space)
    return site_space


def move_root_into_section(ctx: Context, nav: Navigation) -> None:
    """Move the site spaces at the top level of a site into a new section with the title of the site.

    Called before the first section is added: a site has site spaces at its top level, or sections and groups,
    but never both. GitBook does not document what happens to the site spaces then. Here, visitors still see
    them.
    """
    if not (root_site_spaces := nav.site_spaces_in("")):
        return
    section = add_section(ctx, nav, nav.site.doc["title"])
    for site_space in root_site_spaces:
        site_space.parent = section.id
        ctx.put(site_space)


# --- parents ------------------------------------------------------------------------------------


def move_to_parent(nav: Navigation, node: Record, parent: str, field: str) -> None:
    """Move a node to the end of another group, or of the top level (`""`), unless it is there already.

    Raise an error with the name of the request's `field` if the group does not exist, would be inside itself,
    or if groups would be nested too deeply. The caller stores the node.
    """
    if parent == node.parent:
        return
    if parent:
        nav.require_node(GROUP, parent, field)
        if node.kind == GROUP and parent in nav.group_ids_below(node.id):
            raise bad_request(f"{field}: a group cannot be inside itself or inside a group below itself")
        if node.kind == GROUP:
            check_depth(nav, parent, field, _group_height(nav, node.id))
    node.position = end_position(nav.children(parent))
    node.parent = parent


def check_depth(nav: Navigation, parent: str, field: str, height: int = 1) -> None:
    """Raise 400 if groups would be nested too deeply for a readable answer."""
    depth, group = height, parent
    while group:
        depth, group = depth + 1, nav.require_node(GROUP, group).parent
    if depth > MAX_DEPTH:
        raise bad_request(f"{field}: groups are nested at most {MAX_DEPTH} deep")


def _group_height(nav: Navigation, group: str) -> int:
    """Return how many levels of groups a group has, including itself."""
    return 1 + max((_group_height(nav, child.id) for child in nav.groups if child.parent == group), default=0)


# --- keeping the defaults -------------------------------------------------------------------------


def set_default(ctx: Context, siblings: list[Record], default: Record | None) -> None:
    """Make the chosen node the only default, or no node if it is None."""
    for node in siblings:
        is_default = default is not None and node.id == default.id
        if node.doc["default"] != is_default:
            node.doc["default"] = is_default
            ctx.put(node)


def redirect_target(node: Record) -> str:
    """Return the `parent` of redirects to a section or site space."""
    return f"{node.kind}:{node.id}"


def remove_site_space(ctx: Context, nav: Navigation, site_space: Record) -> None:
    """Remove a site space. If it was the default, the first remaining sibling becomes the default."""
    ctx.remove(site_space)
    nav.site_spaces.remove(site_space)
    remaining = nav.site_spaces_in(site_space.parent)
    if site_space.doc["default"] and remaining:
        set_default(ctx, remaining, remaining[0])


def remove_section(ctx: Context, nav: Navigation, section: Record) -> None:
    """Remove a section with its site spaces. If it was the default, the first remaining one replaces it."""
    ctx.remove(section)
    nav.site_spaces = [site_space for site_space in nav.site_spaces if site_space.parent != section.id]
    nav.sections.remove(section)
    remaining = [node for _, node in nav.nodes_in_order(SECTION)]
    if section.doc["default"] and remaining:
        set_default(ctx, remaining, remaining[0])


def remove_space_from_site(ctx: Context, site_space: Record) -> None:
    """Remove the site space of a space that is deleted. Remove its section, too, if it is empty then."""
    site = ctx.store.get("site", site_space.scope)
    if site is None:
        return
    nav = read_navigation(ctx.store, site)
    remove_site_space(ctx, nav, nav.require_node(SITE_SPACE, site_space.id))
    if site_space.parent and not nav.site_spaces_in(site_space.parent):
        remove_section(ctx, nav, nav.require_node(SECTION, site_space.parent))
