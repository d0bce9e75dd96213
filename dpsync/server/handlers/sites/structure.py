"""Operations on the navigation of a site: sections, section groups, site spaces, links, and their order.

The profile `reference` ignores members of a body that are additions to the reference.
"""

from collections.abc import Iterable

from ... import responses
from ...errors import bad_request, conflict, not_found
from ...models.sites import SECTIONED_SITE
from ...records.sibling_order import end_position, insert_sibling, same_order, write_positions
from ...request.changes import changed_fields
from ...request.context import Context
from ...request.paging import list_page
from ...sites.navigation import (
    EXTERNAL_LINK,
    GROUP,
    KINDS_BY_API_TYPE,
    SECTION,
    SITE_SPACE,
    Navigation,
    add_section,
    add_site_space,
    check_depth,
    move_root_into_section,
    move_to_parent,
    read_navigation,
    remove_section,
    remove_site_space,
    set_default,
)
from ...sites.publishing import is_valid_share_key, visible_navigation
from ...store import Json, Record
from ..spaces.spaces import add_space


def _load_navigation(ctx: Context) -> Navigation:
    return visible_navigation(ctx, ctx.site_from_path())


def _load_shared_navigation(ctx: Context) -> Navigation:
    """Return the navigation. Raise 404 if the caller passes a secret that opens no active share link."""
    nav, key = _load_navigation(ctx), ctx.query.shareKey
    if (
        key is not None
        and nav.site.doc["visibility"] == "share-link"
        and not is_valid_share_key(ctx, nav.site, key)
    ):
        raise not_found("share link of the site", nav.site.id)
    return nav


def _list_nodes(ctx: Context, nav: Navigation, found: list[tuple[tuple[int, ...], Record]]) -> Json:
    visible = [entry for entry in found if entry[1].id not in nav.hidden_ids]
    return list_page(
        ctx, visible, lambda entry: responses.node(ctx, nav, entry[1]), lambda entry: list(entry[0])
    )


def _body_fields(ctx: Context, *added: str) -> Json:
    """Return the given members of the body. The profile `reference` ignores the members in `added`."""
    given: Json = ctx.body.sent_fields()
    return (
        given if ctx.has_additions else {field: value for field, value in given.items() if field not in added}
    )


def _pick_set_fields(given: Json, *fields: str) -> Json:
    return {field: given[field] for field in fields if given.get(field)}


def _check_path_unused(node: Record, given: Json, others: Iterable[Record], where: str) -> None:
    """Raise 409 if another node has the path."""
    path = given.get("path")
    if path is not None and any(other.doc["path"] == path and other is not node for other in others):
        raise conflict(f"body.path: {path!r} is taken {where}")


def get_structure(ctx: Context) -> Json:
    return responses.structure(ctx, _load_navigation(ctx))


def _space_from_body(ctx: Context, nav: Navigation, title: str | None) -> Record:
    """Return the space that the body names. Null creates a new, empty space, except in `reference`."""
    organization = nav.site.organization
    if ctx.body.spaceId is None and ctx.has_additions:
        ctx.require_role(ctx.find_organization(organization), "create")
        return add_space(ctx, organization, "", {"title": (title or "Untitled")[:50]})
    if ctx.body.spaceId is None:
        raise bad_request("body.spaceId: required")
    return ctx.space_from_body(ctx.body.spaceId, organization, "body.spaceId")


# --- sections -------------------------------------------------------------------------------------


def list_sections(ctx: Context) -> Json:
    nav = _load_shared_navigation(ctx)
    return _list_nodes(ctx, nav, nav.nodes_in_order(SECTION))


def create_section(ctx: Context) -> Json:
    """Create a section with the given space as its first site space.

    The path is a slug of the title; the default title is the title of the space. On a site without sections,
    the site spaces at the root first move into a section with the title of the site.
    """
    nav, body = _load_navigation(ctx), ctx.body
    given = _body_fields(ctx, "siteSectionGroupId", "draft")
    space = _space_from_body(ctx, nav, body.title)
    parent = given.get("siteSectionGroupId") or ""
    if parent:
        nav.require_node(GROUP, parent, "body.siteSectionGroupId")
    move_root_into_section(ctx, nav)
    section = add_section(ctx, nav, body.title or space.doc["title"], parent)
    if more := _pick_set_fields(given, "icon", "draft"):
        section.doc |= more
        ctx.put(section)
    add_site_space(ctx, nav, space, section.id)
    return responses.section(ctx, nav, section)


def update_section(ctx: Context) -> Json:
    nav = _load_navigation(ctx)
    given = _body_fields(ctx, "siteSectionGroupId", "localizedTitle", "localizedDescription", "draft")
    section = nav.require_node(SECTION, ctx.params["siteSectionId"])
    group, default = given.pop("siteSectionGroupId", ...), given.pop("defaultSiteSpace", None)
    given = changed_fields(section.doc, given)
    _check_path_unused(section, given, nav.sections, "in this site")
    if default is not None:
        chosen = nav.require_node(SITE_SPACE, default, "body.defaultSiteSpace")
        if chosen.parent != section.id:
            raise bad_request("body.defaultSiteSpace: must be a site space of this section")
        set_default(ctx, nav.site_spaces_in(section.id), chosen)
    if group is not ...:
        move_to_parent(nav, section, group or "", "body.siteSectionGroupId")
    section.doc.update(given)
    ctx.put(section)
    return responses.section(ctx, nav, section)


def delete_section(ctx: Context) -> None:
    nav = _load_navigation(ctx)
    if section := nav.find_node(SECTION, ctx.params["siteSectionId"]):
        remove_section(ctx, nav, section)


# --- section groups -------------------------------------------------------------------------------


def list_groups(ctx: Context) -> Json:
    """List all groups, also nested ones, each group before its children."""
    nav = _load_navigation(ctx)
    return _list_nodes(ctx, nav, nav.nodes_in_order(GROUP))


def create_group(ctx: Context) -> Json:
    nav, body = _load_navigation(ctx), ctx.body
    parent = body.parent or ""
    if parent:
        nav.require_node(GROUP, parent, "body.parent")
        check_depth(nav, parent, "body.parent")
    sections = [nav.require_node(SECTION, id, "body.sections") for id in dict.fromkeys(body.sections)]
    move_root_into_section(ctx, nav)
    given = _body_fields(ctx, "draft")
    doc: Json = {
        "title": body.title,
        **_pick_set_fields(given, "icon", "draft"),
    }
    position = end_position(nav.children(parent))
    group = Record(GROUP, ctx.new_id(GROUP), doc, nav.site.organization, nav.site.id, parent, position)
    ctx.put(group)
    nav.groups.append(group)
    for section in sections:
        move_to_parent(nav, section, group.id, "body.sections")
        ctx.put(section)
    return responses.group(ctx, nav, group)


def update_group(ctx: Context) -> Json:
    nav, given = _load_navigation(ctx), _body_fields(ctx, "parentSectionGroupId", "localizedTitle", "draft")
    group = nav.require_node(GROUP, ctx.params["siteSectionGroupId"])
    parent = given.pop("parentSectionGroupId", ...)
    if parent is not ...:
        move_to_parent(nav, group, parent or "", "body.parentSectionGroupId")
    group.doc.update(given)
    ctx.put(group)
    return responses.group(ctx, nav, group)


def delete_group(ctx: Context) -> None:
    """Delete a group. Its children move to the position of the group in its parent."""
    nav = _load_navigation(ctx)
    group = nav.find_node(GROUP, ctx.params["siteSectionGroupId"])
    if group is None:
        return
    inside, ordered = nav.children(group.id), []
    for sibling in nav.children(group.parent):
        ordered += inside if sibling is group else [sibling]
    ctx.remove(group)
    for node in inside:
        node.parent = group.parent
        ctx.put(node)
    write_positions(ctx.store, ordered, inside)


def add_group_section(ctx: Context) -> Json:
    """Move a section to the end of the group. A section that is already in the group stays in place."""
    nav = _load_navigation(ctx)
    group = nav.require_node(GROUP, ctx.params["siteSectionGroupId"])
    section = nav.require_node(SECTION, ctx.body.sectionId, "body.sectionId")
    move_to_parent(nav, section, group.id, "body.sectionId")
    ctx.put(section)
    return responses.group(ctx, nav, group)


def remove_group_section(ctx: Context) -> None:
    """Move a section to the end of the root."""
    nav = _load_navigation(ctx)
    section = nav.find_node(SECTION, ctx.params["siteSectionId"])
    if section is not None and section.parent == ctx.params["siteSectionGroupId"]:
        move_to_parent(nav, section, "", "")
        ctx.put(section)


# --- site spaces ----------------------------------------------------------------------------------


def list_site_spaces(ctx: Context) -> Json:
    nav, wanted = _load_shared_navigation(ctx), ctx.query.default
    found = nav.nodes_in_order(SITE_SPACE)
    if wanted is not None:
        found = [entry for entry in found if entry[1].doc["default"] == wanted]
    return _list_nodes(ctx, nav, found)


def create_site_space(ctx: Context) -> Json:
    """Add a site space to the given section, or else to the default section, or else to the root.

    Sites with groups or links, and sites of the type `site`, cannot have site spaces at the root. If such a
    site has no section, a section with the title of the site is created for the site space.
    """
    nav, section_id = _load_navigation(ctx), ctx.body.sectionId
    given = _body_fields(ctx, "title", "pageId", "draft")
    space = _space_from_body(ctx, nav, given.get("title"))
    section = nav.default_section()
    if section_id is not None:
        section = nav.require_node(SECTION, section_id, "body.sectionId")
    made = add_site_space(ctx, nav, space, section.id if section else "")
    if more := _pick_set_fields(given, "title", "pageId", "draft"):
        made.doc |= more
        ctx.put(made)
    if not nav.sections and (nav.has_sections or nav.site.doc["type"] == SECTIONED_SITE):
        move_root_into_section(ctx, nav)
    return responses.site_space(ctx, nav, made)


def update_site_space(ctx: Context) -> Json:
    nav, given = _load_navigation(ctx), _body_fields(ctx, "pageId", "draft")
    place = nav.require_node(SITE_SPACE, ctx.params["siteSpaceId"])
    space, given = given.pop("spaceId", place.ref), changed_fields(place.doc, given)
    _check_path_unused(place, given, nav.siblings(place), "next to this site space")
    if space != place.ref:
        place.ref = ctx.space_from_body(space, nav.site.organization, "body.spaceId").id
    place.doc.update(given)
    ctx.put(place)
    return responses.site_space(ctx, nav, place)


def delete_site_space(ctx: Context) -> None:
    """Delete a site space. Its section may be empty afterwards."""
    nav = _load_navigation(ctx)
    if place := nav.find_node(SITE_SPACE, ctx.params["siteSpaceId"]):
        remove_site_space(ctx, nav, place)


# --- the order of siblings ----------------------------------------------------------------------


def move_section(ctx: Context) -> Json:
    return _move_among_siblings(ctx, SECTION, ctx.params["siteSectionId"])


def move_group(ctx: Context) -> Json:
    return _move_among_siblings(ctx, GROUP, ctx.params["siteSectionGroupId"])


def move_site_space(ctx: Context) -> Json:
    return _move_among_siblings(ctx, SITE_SPACE, ctx.params["siteSpaceId"])


def _move_among_siblings(ctx: Context, kind: str, id: str) -> Json:
    """Move a node among its siblings. Raise 409 if the order stays the same."""
    nav = _load_navigation(ctx)
    node = nav.require_node(kind, id)
    position = ctx.body.position.sent_fields() if ctx.body else {}
    if not _move_to_position(ctx, nav, node, position):
        raise conflict("operation would not result in any update")
    return responses.node(ctx, visible_navigation(ctx, nav.site), node)


def sort_structure(ctx: Context) -> Json:
    """Move a node among its siblings. The order may stay the same."""
    nav, body = read_navigation(ctx.store, ctx.site_from_path()), ctx.body
    node = nav.require_node(KINDS_BY_API_TYPE[body.item.type], body.item.id, "body.item")
    _move_to_position(ctx, nav, node, body.position.sent_fields())
    return responses.node(ctx, read_navigation(ctx.store, nav.site), node)


def _move_to_position(ctx: Context, nav: Navigation, node: Record, position: Json) -> bool:
    now = nav.siblings(node)
    ordered = insert_sibling(
        now, node, _parse_neighbor(position, "before"), _parse_neighbor(position, "after")
    )
    if same_order(now, ordered):
        return False
    write_positions(ctx.store, ordered, [node])
    return True


_POSITION_FIELDS = {
    "site-section": "siteSection",
    "site-space": "siteSpace",
    "site-section-group": "siteSectionGroup",
    "site-external-link": "siteExternalLink",
}


def _parse_neighbor(position: Json, side: str) -> tuple[str, str] | None:
    """Return (kind, id) of `{type: site-section, siteSection: ID}` or `{type: site-section, id: ID}`."""
    pointer = position.get(side)
    if pointer is None:
        return None
    id = pointer.get("id") or pointer.get(_POSITION_FIELDS[pointer["type"]])
    if not id:
        raise bad_request(f"body.position.{side}: invalid position: names no neighbor")
    return KINDS_BY_API_TYPE[pointer["type"]], id


# --- external links: siblings of sections and groups --------------------------------------------


def create_link(ctx: Context) -> Json:
    """Create an external link at the end of the given group, or of the root.

    On a site without sections, the site spaces at the root first move into a section.
    """
    nav, given = read_navigation(ctx.store, ctx.site_from_path()), ctx.body.sent_fields()
    parent = given.pop("parent", None) or ""
    if parent:
        nav.require_node(GROUP, parent, "body.parent")
    move_root_into_section(ctx, nav)
    position = end_position(nav.children(parent))
    link = Record(
        EXTERNAL_LINK, ctx.new_id(EXTERNAL_LINK), given, nav.site.organization, nav.site.id, parent, position
    )
    ctx.put(link)
    return responses.external_link(ctx, link)


def update_link(ctx: Context) -> Json:
    nav, given = read_navigation(ctx.store, ctx.site_from_path()), ctx.body.sent_fields()
    link = nav.require_node(EXTERNAL_LINK, ctx.params["siteExternalLinkId"])
    if "parent" in given:
        move_to_parent(nav, link, given.pop("parent") or "", "body.parent")
    link.doc |= given
    ctx.put(link)
    return responses.external_link(ctx, link)


def delete_link(ctx: Context) -> None:
    site = ctx.site_from_path()
    link = ctx.store.get(EXTERNAL_LINK, ctx.params["siteExternalLinkId"])
    if link is not None and link.scope == site.id:
        ctx.remove(link)
