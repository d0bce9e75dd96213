"""Operations on the navigation of a site: sections, section groups, site spaces, links, and their order.

The profile `reference` ignores members of a body that are additions to the reference.
"""

from collections.abc import Iterable

from ... import answers
from ...errors import bad, conflict, missing
from ...models.sites import SECTIONED_SITE
from ...records.order import end, place, renumber, same_order
from ...request.changes import changes
from ...request.context import Context
from ...request.paging import list_page
from ...sites.navigation import (
    GROUP,
    KINDS,
    LINK,
    PLACE,
    SECTION,
    Navigation,
    add_place,
    add_section,
    check_depth,
    make_default,
    read,
    remove_place,
    remove_section,
    reparent,
    wrap_root,
)
from ...sites.publishing import navigation_of, opens
from ...store import Json, Record
from ..spaces.spaces import new_space


def _read(ctx: Context) -> Navigation:
    return navigation_of(ctx, ctx.site())


def _read_shared(ctx: Context) -> Navigation:
    """Return the navigation. Raise 404 if the caller passes a secret that opens no active share link."""
    nav, key = _read(ctx), ctx.query.shareKey
    if key is not None and nav.site.doc["visibility"] == "share-link" and not opens(ctx, nav.site, key):
        raise missing("share link of the site", nav.site.id)
    return nav


def _list(ctx: Context, nav: Navigation, found: list[tuple[tuple[int, ...], Record]]) -> Json:
    visible = [entry for entry in found if entry[1].id not in nav.unseen]
    return list_page(
        ctx, visible, lambda entry: answers.node(ctx, nav, entry[1]), lambda entry: list(entry[0])
    )


def _given(ctx: Context, *added: str) -> Json:
    """Return the given members of the body. The profile `reference` ignores the members in `added`."""
    given: Json = ctx.body.given()
    return given if ctx.full else {field: value for field, value in given.items() if field not in added}


def _set(given: Json, *fields: str) -> Json:
    return {field: given[field] for field in fields if given.get(field)}


def _check_path(node: Record, given: Json, others: Iterable[Record], where: str) -> None:
    """Raise 409 if another node has the path."""
    path = given.get("path")
    if path is not None and any(other.doc["path"] == path and other is not node for other in others):
        raise conflict(f"body.path: {path!r} is taken {where}")


def get_structure(ctx: Context) -> Json:
    return answers.structure(ctx, _read(ctx))


def _named_space(ctx: Context, nav: Navigation, title: str | None) -> Record:
    """Return the space that the body names. Null creates a new, empty space, except in `reference`."""
    organization = nav.site.organization
    if ctx.body.spaceId is None and ctx.full:
        ctx.demand(ctx.find_organization(organization), "create")
        return new_space(ctx, organization, "", {"title": (title or "Untitled")[:50]})
    if ctx.body.spaceId is None:
        raise bad("body.spaceId: required")
    return ctx.named_space(ctx.body.spaceId, organization, "body.spaceId")


# --- sections -------------------------------------------------------------------------------------


def list_sections(ctx: Context) -> Json:
    nav = _read_shared(ctx)
    return _list(ctx, nav, nav.ordered(SECTION))


def create_section(ctx: Context) -> Json:
    """Create a section with the given space as its first site space.

    The path is a slug of the title; the default title is the title of the space. On a site without sections,
    the site spaces at the root first move into a section with the title of the site.
    """
    nav, body = _read(ctx), ctx.body
    given = _given(ctx, "siteSectionGroupId", "draft")
    space = _named_space(ctx, nav, body.title)
    parent = given.get("siteSectionGroupId") or ""
    if parent:
        nav.node(GROUP, parent, "body.siteSectionGroupId")
    wrap_root(ctx, nav)
    section = add_section(ctx, nav, body.title or space.doc["title"], parent)
    if more := _set(given, "icon", "draft"):
        section.doc |= more
        ctx.put(section)
    add_place(ctx, nav, space, section.id)
    return answers.section(ctx, nav, section)


def update_section(ctx: Context) -> Json:
    nav = _read(ctx)
    given = _given(ctx, "siteSectionGroupId", "localizedTitle", "localizedDescription", "draft")
    section = nav.node(SECTION, ctx.params["siteSectionId"])
    group, default = given.pop("siteSectionGroupId", ...), given.pop("defaultSiteSpace", None)
    given = changes(section.doc, given)
    _check_path(section, given, nav.sections, "in this site")
    if default is not None:
        chosen = nav.node(PLACE, default, "body.defaultSiteSpace")
        if chosen.parent != section.id:
            raise bad("body.defaultSiteSpace: must be a site space of this section")
        make_default(ctx, nav.places_in(section.id), chosen)
    if group is not ...:
        reparent(nav, section, group or "", "body.siteSectionGroupId")
    section.doc.update(given)
    ctx.put(section)
    return answers.section(ctx, nav, section)


def delete_section(ctx: Context) -> None:
    nav = _read(ctx)
    if section := nav.present(SECTION, ctx.params["siteSectionId"]):
        remove_section(ctx, nav, section)


# --- section groups -------------------------------------------------------------------------------


def list_groups(ctx: Context) -> Json:
    """List all groups, also nested ones, each group before its children."""
    nav = _read(ctx)
    return _list(ctx, nav, nav.ordered(GROUP))


def create_group(ctx: Context) -> Json:
    nav, body = _read(ctx), ctx.body
    parent = body.parent or ""
    if parent:
        nav.node(GROUP, parent, "body.parent")
        check_depth(nav, parent, "body.parent")
    sections = [nav.node(SECTION, id, "body.sections") for id in dict.fromkeys(body.sections)]
    wrap_root(ctx, nav)
    given = _given(ctx, "draft")
    doc: Json = {
        "title": body.title,
        **_set(given, "icon", "draft"),
    }
    position = end(nav.children(parent))
    group = Record(GROUP, ctx.new_id(GROUP), doc, nav.site.organization, nav.site.id, parent, position)
    ctx.put(group)
    nav.groups.append(group)
    for section in sections:
        reparent(nav, section, group.id, "body.sections")
        ctx.put(section)
    return answers.group(ctx, nav, group)


def update_group(ctx: Context) -> Json:
    nav, given = _read(ctx), _given(ctx, "parentSectionGroupId", "localizedTitle", "draft")
    group = nav.node(GROUP, ctx.params["siteSectionGroupId"])
    parent = given.pop("parentSectionGroupId", ...)
    if parent is not ...:
        reparent(nav, group, parent or "", "body.parentSectionGroupId")
    group.doc.update(given)
    ctx.put(group)
    return answers.group(ctx, nav, group)


def delete_group(ctx: Context) -> None:
    """Delete a group. Its children move to the position of the group in its parent."""
    nav = _read(ctx)
    group = nav.present(GROUP, ctx.params["siteSectionGroupId"])
    if group is None:
        return
    inside, ordered = nav.children(group.id), []
    for sibling in nav.children(group.parent):
        ordered += inside if sibling is group else [sibling]
    ctx.remove(group)
    for node in inside:
        node.parent = group.parent
        ctx.put(node)
    renumber(ctx.store, ordered, inside)


def add_group_section(ctx: Context) -> Json:
    """Move a section to the end of the group. A section that is already in the group stays in place."""
    nav = _read(ctx)
    group = nav.node(GROUP, ctx.params["siteSectionGroupId"])
    section = nav.node(SECTION, ctx.body.sectionId, "body.sectionId")
    reparent(nav, section, group.id, "body.sectionId")
    ctx.put(section)
    return answers.group(ctx, nav, group)


def remove_group_section(ctx: Context) -> None:
    """Move a section to the end of the root."""
    nav = _read(ctx)
    section = nav.present(SECTION, ctx.params["siteSectionId"])
    if section is not None and section.parent == ctx.params["siteSectionGroupId"]:
        reparent(nav, section, "", "")
        ctx.put(section)


# --- site spaces ----------------------------------------------------------------------------------


def list_site_spaces(ctx: Context) -> Json:
    nav, wanted = _read_shared(ctx), ctx.query.default
    found = nav.ordered(PLACE)
    if wanted is not None:
        found = [entry for entry in found if entry[1].doc["default"] == wanted]
    return _list(ctx, nav, found)


def create_site_space(ctx: Context) -> Json:
    """Add a site space to the given section, or else to the default section, or else to the root.

    Sites with groups or links, and sites of the type `site`, cannot have site spaces at the root. If such a
    site has no section, a section with the title of the site is created for the site space.
    """
    nav, section_id = _read(ctx), ctx.body.sectionId
    given = _given(ctx, "title", "pageId", "draft")
    space = _named_space(ctx, nav, given.get("title"))
    section = nav.default_section()
    if section_id is not None:
        section = nav.node(SECTION, section_id, "body.sectionId")
    made = add_place(ctx, nav, space, section.id if section else "")
    if more := _set(given, "title", "pageId", "draft"):
        made.doc |= more
        ctx.put(made)
    if not nav.sections and (nav.sectioned or nav.site.doc["type"] == SECTIONED_SITE):
        wrap_root(ctx, nav)
    return answers.site_space(ctx, nav, made)


def update_site_space(ctx: Context) -> Json:
    nav, given = _read(ctx), _given(ctx, "pageId", "draft")
    place = nav.node(PLACE, ctx.params["siteSpaceId"])
    space, given = given.pop("spaceId", place.ref), changes(place.doc, given)
    _check_path(place, given, nav.siblings(place), "next to this site space")
    if space != place.ref:
        place.ref = ctx.named_space(space, nav.site.organization, "body.spaceId").id
    place.doc.update(given)
    ctx.put(place)
    return answers.site_space(ctx, nav, place)


def delete_site_space(ctx: Context) -> None:
    """Delete a site space. Its section may be empty afterwards."""
    nav = _read(ctx)
    if place := nav.present(PLACE, ctx.params["siteSpaceId"]):
        remove_place(ctx, nav, place)


# --- the order of siblings ----------------------------------------------------------------------


def move_section(ctx: Context) -> Json:
    return _move(ctx, SECTION, ctx.params["siteSectionId"])


def move_group(ctx: Context) -> Json:
    return _move(ctx, GROUP, ctx.params["siteSectionGroupId"])


def move_site_space(ctx: Context) -> Json:
    return _move(ctx, PLACE, ctx.params["siteSpaceId"])


def _move(ctx: Context, kind: str, id: str) -> Json:
    """Move a node among its siblings. Raise 409 if the order stays the same."""
    nav = _read(ctx)
    node = nav.node(kind, id)
    position = ctx.body.position.given() if ctx.body else {}
    if not _sort(ctx, nav, node, position):
        raise conflict("operation would not result in any update")
    return answers.node(ctx, navigation_of(ctx, nav.site), node)


def sort_structure(ctx: Context) -> Json:
    """Move a node among its siblings. The order may stay the same."""
    nav, body = read(ctx.store, ctx.site()), ctx.body
    node = nav.node(KINDS[body.item.type], body.item.id, "body.item")
    _sort(ctx, nav, node, body.position.given())
    return answers.node(ctx, read(ctx.store, nav.site), node)


def _sort(ctx: Context, nav: Navigation, node: Record, position: Json) -> bool:
    now = nav.siblings(node)
    ordered = place(now, node, _pointed(position, "before"), _pointed(position, "after"))
    if same_order(now, ordered):
        return False
    renumber(ctx.store, ordered, [node])
    return True


_NAMES = {
    "site-section": "siteSection",
    "site-space": "siteSpace",
    "site-section-group": "siteSectionGroup",
    "site-external-link": "siteExternalLink",
}


def _pointed(position: Json, side: str) -> tuple[str, str] | None:
    """Return (kind, id) of `{type: site-section, siteSection: ID}` or `{type: site-section, id: ID}`."""
    pointer = position.get(side)
    if pointer is None:
        return None
    id = pointer.get("id") or pointer.get(_NAMES[pointer["type"]])
    if not id:
        raise bad(f"body.position.{side}: invalid position: names no neighbor")
    return KINDS[pointer["type"]], id


# --- external links: siblings of sections and groups --------------------------------------------


def create_link(ctx: Context) -> Json:
    """Create an external link at the end of the given group, or of the root.

    On a site without sections, the site spaces at the root first move into a section.
    """
    nav, given = read(ctx.store, ctx.site()), ctx.body.given()
    parent = given.pop("parent", None) or ""
    if parent:
        nav.node(GROUP, parent, "body.parent")
    wrap_root(ctx, nav)
    position = end(nav.children(parent))
    link = Record(LINK, ctx.new_id(LINK), given, nav.site.organization, nav.site.id, parent, position)
    ctx.put(link)
    return answers.external_link(ctx, link)


def update_link(ctx: Context) -> Json:
    nav, given = read(ctx.store, ctx.site()), ctx.body.given()
    link = nav.node(LINK, ctx.params["siteExternalLinkId"])
    if "parent" in given:
        reparent(nav, link, given.pop("parent") or "", "body.parent")
    link.doc |= given
    ctx.put(link)
    return answers.external_link(ctx, link)


def delete_link(ctx: Context) -> None:
    site = ctx.site()
    link = ctx.store.get(LINK, ctx.params["siteExternalLinkId"])
    if link is not None and link.scope == site.id:
        ctx.remove(link)
