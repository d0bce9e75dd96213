"""The navigation of one site as one value: groups, sections, external links and site spaces.

Groups, sections and links are siblings at the root or in a group. Site spaces are siblings in a section, or
at the root of a site without groups, sections and links. Exactly one section of a site is the default,
including the sections in groups, and exactly one site space of each section (or of the root).
"""

from collections.abc import Iterator

from msgspec import Struct

from ..content.slugs import unique_slug
from ..errors import bad, missing
from ..records.order import end
from ..request.context import Context
from ..store import Record, Store

GROUP, SECTION, PLACE, LINK = "section-group", "section", "site-space", "external-link"
KINDS = {
    "site-section-group": GROUP,
    "site-section": SECTION,
    "site-space": PLACE,
    "site-external-link": LINK,
}
DEEPEST = 50
REDIRECT = "redirect"
"""`scope` is its site, `ref` its source, `parent` the node that it leads to: see `target`."""
OVERRIDES = "site-space-customization"
"""Of the site space with the same id."""


class Navigation(Struct):
    site: Record
    groups: list[Record]
    sections: list[Record]
    places: list[Record]
    links: list[Record]
    unseen: frozenset[str] = frozenset()
    """Nodes that are there, and take their paths and places, but are not shown to the caller."""

    @property
    def sectioned(self) -> bool:
        return bool(self.groups or self.sections or self.links)

    def children(self, parent: str) -> list[Record]:
        """Return the groups, sections and links in a group, or at the root (`""`), in order."""
        found = [node for node in (*self.groups, *self.sections, *self.links) if node.parent == parent]
        return sorted(found, key=lambda node: (node.position, node.seq))

    def places_in(self, section: str) -> list[Record]:
        """Return the site spaces of a section, or of the root (`""`), in order."""
        return [place for place in self.places if place.parent == section]

    def walk(
        self, parent: str = "", prefix: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], Record]]:
        """Yield groups, sections and links, each before its children, with a key that sorts in this order."""
        for node in self.children(parent):
            key = (*prefix, node.position, node.seq)
            yield key, node
            if node.kind == GROUP:
                yield from self.walk(node.id, key)

    def ordered(self, kind: str) -> list[tuple[tuple[int, ...], Record]]:
        """Return every node of one kind in the order of the navigation, with sort keys."""
        if kind != PLACE:
            return [(key, node) for key, node in self.walk() if node.kind == kind]
        found: list[tuple[tuple[int, ...], Record]] = []
        found += [((place.position, place.seq), place) for place in self.places_in("")]
        for key, section in self.ordered(SECTION):
            found += [((*key, place.position, place.seq), place) for place in self.places_in(section.id)]
        return found

    @property
    def nodes(self) -> list[Record]:
        return [*self.groups, *self.sections, *self.places, *self.links]

    def siblings(self, node: Record) -> list[Record]:
        return self.places_in(node.parent) if node.kind == PLACE else self.children(node.parent)

    def node(self, kind: str, id: str, field: str = "") -> Record:
        """Return a node of this site. Raise 404 if it does not exist; `field` is the member that named it."""
        found = self.present(kind, id)
        if found is None:
            raise missing(f"{field}: {kind}" if field else kind, id)
        return found

    def visible(self, nodes: list[Record]) -> list[Record]:
        return [node for node in nodes if node.id not in self.unseen]

    def present(self, kind: str, id: str) -> Record | None:
        pool = {GROUP: self.groups, SECTION: self.sections, PLACE: self.places, LINK: self.links}[kind]
        return next((node for node in pool if node.id == id and id not in self.unseen), None)

    def default_section(self) -> Record | None:
        return next((section for section in self.sections if section.doc["default"]), None)

    def inside(self, group: str) -> set[str]:
        """Return the ids of a group and of all groups below it."""
        found = {group}
        for child in self.groups:
            if child.parent == group:
                found |= self.inside(child.id)
        return found


def read(store: Store, site: Record) -> Navigation:
    groups, sections, places, links = (
        store.find(kind, scope=site.id) for kind in (GROUP, SECTION, PLACE, LINK)
    )
    return Navigation(site, groups, sections, places, links)


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
        end(nav.children(parent)),
    )
    ctx.put(section)
    nav.sections.append(section)
    return section


def add_place(ctx: Context, nav: Navigation, space: Record, section: str = "") -> Record:
    """Add a site space at the end of a section, or of the root. The first site space there is the default."""
    siblings = nav.places_in(section)
    doc = {
        "path": unique_slug(space.doc["title"], {place.doc["path"] for place in siblings}, "space"),
        "default": not siblings,
        "hidden": False,
    }
    place = Record(
        PLACE, ctx.new_id(PLACE), doc, nav.site.organization, nav.site.id, section, end(siblings), space.id
    )
    ctx.put(place)
    nav.places.append(place)
    return place


def wrap_root(ctx: Context, nav: Navigation) -> None:
    """Move the site spaces at the root of a site into a first section with the title of the site.

    A site has site spaces at its root, or sections and groups, but never both. GitBook does not document what
    happens to the site spaces when the first section is created. Here, nothing that visitors see disappears.
    """
    if not (rooted := nav.places_in("")):
        return
    section = add_section(ctx, nav, nav.site.doc["title"])
    for place in rooted:
        place.parent = section.id
        ctx.put(place)


# --- parents ------------------------------------------------------------------------------------


def reparent(nav: Navigation, node: Record, parent: str, field: str) -> None:
    """Move a node to the end of another group, or of the root (`""`), unless it is there already."""
    if parent == node.parent:
        return
    if parent:
        nav.node(GROUP, parent, field)
        if node.kind == GROUP and parent in nav.inside(node.id):
            raise bad(f"{field}: a group cannot be inside itself or inside a group below itself")
        if node.kind == GROUP:
            check_depth(nav, parent, field, _height(nav, node.id))
    node.position = end(nav.children(parent))
    node.parent = parent


def check_depth(nav: Navigation, parent: str, field: str, below: int = 1) -> None:
    """Raise 400 if groups would be nested too deeply for a readable answer."""
    depth, at = below, parent
    while at:
        depth, at = depth + 1, nav.node(GROUP, at).parent
    if depth > DEEPEST:
        raise bad(f"{field}: groups are nested at most {DEEPEST} deep")


def _height(nav: Navigation, group: str) -> int:
    return 1 + max((_height(nav, child.id) for child in nav.groups if child.parent == group), default=0)


# --- keeping the defaults -------------------------------------------------------------------------


def make_default(ctx: Context, among: list[Record], chosen: Record | None) -> None:
    """Make the chosen node the only default, or no node if it is None."""
    for node in among:
        wanted = chosen is not None and node.id == chosen.id
        if node.doc["default"] != wanted:
            node.doc["default"] = wanted
            ctx.put(node)


def target(node: Record) -> str:
    """Return the `parent` of redirects to a section or site space."""
    return f"{node.kind}:{node.id}"


def remove_place(ctx: Context, nav: Navigation, place: Record) -> None:
    """Remove a site space. If it was the default, the first remaining sibling becomes the default."""
    ctx.remove(place)
    nav.places.remove(place)
    left = nav.places_in(place.parent)
    if place.doc["default"] and left:
        make_default(ctx, left, left[0])


def remove_section(ctx: Context, nav: Navigation, section: Record) -> None:
    """Remove a section with its site spaces. If it was the default, the first remaining one replaces it."""
    ctx.remove(section)
    nav.places = [place for place in nav.places if place.parent != section.id]
    nav.sections.remove(section)
    left = [node for _, node in nav.ordered(SECTION)]
    if section.doc["default"] and left:
        make_default(ctx, left, left[0])


def take_out(ctx: Context, place: Record) -> None:
    """Remove the site space of a space that is deleted. Remove its section, too, if it is empty then."""
    site = ctx.store.get("site", place.scope)
    if site is None:
        return
    nav = read(ctx.store, site)
    remove_place(ctx, nav, nav.node(PLACE, place.id))
    if place.parent and not nav.places_in(place.parent):
        remove_section(ctx, nav, nav.node(SECTION, place.parent))
