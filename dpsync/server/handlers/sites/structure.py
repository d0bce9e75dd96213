"""Handle the API operations on the navigation of a site: sections, section groups, site spaces and links.

A site space is the position of a space in a site. The API version (profile) `reference` ignores members of a
body that only the other versions have.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
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
    """Return the navigation of the site in the path, as the caller sees it."""
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


def _list_nodes(ctx: Context, nav: Navigation, entries: list[tuple[tuple[int, ...], Record]]) -> Json:
    """Return the requested page of navigation nodes. `entries` are (sort key, node)."""
    visible = [entry for entry in entries if entry[1].id not in nav.hidden_ids]
    return list_page(
        ctx, visible, lambda entry: responses.node(ctx, nav, entry[1]), lambda entry: list(entry[0])
    )


def _body_fields(ctx: Context, *additions: str) -> Json:
    """Return the members that the request body has, for a create or update of a navigation node.

    The API version `reference` ignores the members in `additions`, because its documentation lacks them.
    """
    fields: Json = ctx.body.sent_fields()
    return (
        fields
        if ctx.has_additions
        else {field: value for field, value in fields.items() if field not in additions}
    )


def _pick_set_fields(fields: Json, *names: str) -> Json:
    """Return the named fields that have a value."""
    return {field: fields[field] for field in names if fields.get(field)}


def _check_path_unused(node: Record, changes: Json, others: Iterable[Record], where: str) -> None:
    """Raise 409 if another node has the path."""
    path = changes.get("path")
    if path is not None and any(other.doc["path"] == path and other is not node for other in others):
        raise conflict(f"body.path: {path!r} is taken {where}")


def get_structure(ctx: Context) -> Json:
    """Return the whole navigation of a site."""
    return responses.structure(ctx, _load_navigation(ctx))


def _space_from_body(ctx: Context, nav: Navigation, title: str | None) -> Record:
    """Return the space that the body names in `spaceId`.

    Null creates a new, empty space, except in the API version `reference`. Raise 400 there.
    """
    organization = nav.site.organization
    if ctx.body.spaceId is None and ctx.has_additions:
        ctx.require_role(ctx.find_organization(organization), "create")
        return add_space(ctx, organization, "", {"title": (title or "Untitled")[:50]})
    if ctx.body.spaceId is None:
        raise bad_request("body.spaceId: required")
    return ctx.space_from_body(ctx.body.spaceId, organization, "body.spaceId")


# --- sections -------------------------------------------------------------------------------------


def list_sections(ctx: Context) -> Json:
    """List the sections of a site in the order of the navigation."""
    nav = _load_shared_navigation(ctx)
    return _list_nodes(ctx, nav, nav.nodes_in_order(SECTION))


def create_section(ctx: Context) -> Json:
    """Create a section with the given space as its first site space.

    The path is a slug of the title; the default title is the title of the space. On a site without sections,
    the site spaces at the top level first move into a section with the title of the site.
    """
    nav, body = _load_navigation(ctx), ctx.body
    fields = _body_fields(ctx, "siteSectionGroupId", "draft")
    space = _space_from_body(ctx, nav, body.title)
    parent = fields.get("siteSectionGroupId") or ""
    if parent:
        nav.require_node(GROUP, parent, "body.siteSectionGroupId")
    move_root_into_section(ctx, nav)
    section = add_section(ctx, nav, body.title or space.doc["title"], parent)
    if set_fields := _pick_set_fields(fields, "icon", "draft"):
        section.doc |= set_fields
        ctx.put(section)
    add_site_space(ctx, nav, space, section.id)
    return responses.section(ctx, nav, section)


def update_section(ctx: Context) -> Json:
    """Update a section: its fields, its group and its default site space.

    A group that the body does not name (`...`) stays; null moves the section to the top level. Raise 409 if
    another section has the path.
    """
    nav = _load_navigation(ctx)
    fields = _body_fields(ctx, "siteSectionGroupId", "localizedTitle", "localizedDescription", "draft")
    section = nav.require_node(SECTION, ctx.params["siteSectionId"])
    group, default = fields.pop("siteSectionGroupId", ...), fields.pop("defaultSiteSpace", None)
    fields = changed_fields(section.doc, fields)
    _check_path_unused(section, fields, nav.sections, "in this site")
    if default is not None:
        default_node = nav.require_node(SITE_SPACE, default, "body.defaultSiteSpace")
        if default_node.parent != section.id:
            raise bad_request("body.defaultSiteSpace: must be a site space of this section")
        set_default(ctx, nav.site_spaces_in(section.id), default_node)
    if group is not ...:
        move_to_parent(nav, section, group or "", "body.siteSectionGroupId")
    section.doc.update(fields)
    ctx.put(section)
    return responses.section(ctx, nav, section)


def delete_section(ctx: Context) -> None:
    """Delete a section with its site spaces. It is not an error if it does not exist."""
    nav = _load_navigation(ctx)
    if section := nav.find_node(SECTION, ctx.params["siteSectionId"]):
        remove_section(ctx, nav, section)


# --- section groups -------------------------------------------------------------------------------


def list_groups(ctx: Context) -> Json:
    """List all groups, also nested ones, each group before its children."""
    nav = _load_navigation(ctx)
    return _list_nodes(ctx, nav, nav.nodes_in_order(GROUP))


def create_group(ctx: Context) -> Json:
    """Create a group at the end of its parent (a group or the top level), and move sections into it.

    On a site without sections, the site spaces at the top level first move into a section. Raise 404 for an
    unknown parent or section.
    """
    nav, body = _load_navigation(ctx), ctx.body
    parent = body.parent or ""
    if parent:
        nav.require_node(GROUP, parent, "body.parent")
        check_depth(nav, parent, "body.parent")
    sections = [nav.require_node(SECTION, id, "body.sections") for id in dict.fromkeys(body.sections)]
    move_root_into_section(ctx, nav)
    fields = _body_fields(ctx, "draft")
    doc: Json = {
        "title": body.title,
        **_pick_set_fields(fields, "icon", "draft"),
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
    """Update a group, or move it to the end of another group.

    A parent that the body does not name (`...`) stays; null moves the group to the top level.
    """
    nav, fields = _load_navigation(ctx), _body_fields(ctx, "parentSectionGroupId", "localizedTitle", "draft")
    group = nav.require_node(GROUP, ctx.params["siteSectionGroupId"])
    parent = fields.pop("parentSectionGroupId", ...)
    if parent is not ...:
        move_to_parent(nav, group, parent or "", "body.parentSectionGroupId")
    group.doc.update(fields)
    ctx.put(group)
    return responses.group(ctx, nav, group)


def delete_group(ctx: Context) -> None:
    """Delete a group. Its children move to the position of the group in its parent."""
    nav = _load_navigation(ctx)
    group = nav.find_node(GROUP, ctx.params["siteSectionGroupId"])
    if group is None:
        return
    group_children, ordered = nav.children(group.id), []
    for sibling in nav.children(group.parent):
        ordered += group_children if sibling is group else [sibling]
    ctx.remove(group)
    for node in group_children:
        node.parent = group.parent
        ctx.put(node)
    write_positions(ctx.store, ordered, group_children)


def add_group_section(ctx: Context) -> Json:
    """Move a section to the end of the group. A section that is already in the group stays in place."""
    nav = _load_navigation(ctx)
    group = nav.require_node(GROUP, ctx.params["siteSectionGroupId"])
    section = nav.require_node(SECTION, ctx.body.sectionId, "body.sectionId")
    move_to_parent(nav, section, group.id, "body.sectionId")
    ctx.put(section)
    return responses.group(ctx, nav, group)


def remove_group_section(ctx: Context) -> None:
    """Remove a section from a group: move the section to the end of the top level."""
    nav = _load_navigation(ctx)
    section = nav.find_node(SECTION, ctx.params["siteSectionId"])
    if section is not None and section.parent == ctx.params["siteSectionGroupId"]:
        move_to_parent(nav, section, "", "")
        ctx.put(section)


# --- site spaces ----------------------------------------------------------------------------------


def list_site_spaces(ctx: Context) -> Json:
    """List the site spaces in the order of the navigation, optionally only default ones or only others."""
    nav, default = _load_shared_navigation(ctx), ctx.query.default
    entries = nav.nodes_in_order(SITE_SPACE)
    if default is not None:
        entries = [entry for entry in entries if entry[1].doc["default"] == default]
    return _list_nodes(ctx, nav, entries)


def create_site_space(ctx: Context) -> Json:
    """Add a site space to the given section, or else to the default section, or else to the top level.

    Sites with groups or links, and sites of the type `site`, cannot have site spaces at the top level. If
    such a site has no section, a section with the title of the site is created for the site space.
    """
    nav, section_id = _load_navigation(ctx), ctx.body.sectionId
    fields = _body_fields(ctx, "title", "pageId", "draft")
    space = _space_from_body(ctx, nav, fields.get("title"))
    section = nav.default_section()
    if section_id is not None:
        section = nav.require_node(SECTION, section_id, "body.sectionId")
    site_space = add_site_space(ctx, nav, space, section.id if section else "")
    if set_fields := _pick_set_fields(fields, "title", "pageId", "draft"):
        site_space.doc |= set_fields
        ctx.put(site_space)
    if not nav.sections and (nav.has_sections or nav.site.doc["type"] == SECTIONED_SITE):
        move_root_into_section(ctx, nav)
    return responses.site_space(ctx, nav, site_space)


def update_site_space(ctx: Context) -> Json:
    """Update a site space, or let it show another space. Raise 409 if a sibling already has the path."""
    nav, fields = _load_navigation(ctx), _body_fields(ctx, "pageId", "draft")
    site_space = nav.require_node(SITE_SPACE, ctx.params["siteSpaceId"])
    space, fields = fields.pop("spaceId", site_space.ref), changed_fields(site_space.doc, fields)
    _check_path_unused(site_space, fields, nav.siblings(site_space), "next to this site space")
    if space != site_space.ref:
        site_space.ref = ctx.space_from_body(space, nav.site.organization, "body.spaceId").id
    site_space.doc.update(fields)
    ctx.put(site_space)
    return responses.site_space(ctx, nav, site_space)


def delete_site_space(ctx: Context) -> None:
    """Delete a site space. Its section may be empty afterwards."""
    nav = _load_navigation(ctx)
    if site_space := nav.find_node(SITE_SPACE, ctx.params["siteSpaceId"]):
        remove_site_space(ctx, nav, site_space)


# --- the order of siblings ----------------------------------------------------------------------


def move_section(ctx: Context) -> Json:
    """Move a section among its siblings."""
    return _move_among_siblings(ctx, SECTION, ctx.params["siteSectionId"])


def move_group(ctx: Context) -> Json:
    """Move a group among its siblings."""
    return _move_among_siblings(ctx, GROUP, ctx.params["siteSectionGroupId"])


def move_site_space(ctx: Context) -> Json:
    """Move a site space among its siblings."""
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
    """Move a node before or after a sibling, and return whether the order changed."""
    siblings = nav.siblings(node)
    ordered = insert_sibling(
        siblings, node, _parse_neighbor(position, "before"), _parse_neighbor(position, "after")
    )
    if same_order(siblings, ordered):
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
    """Return (kind, id) of the sibling that a request's position names, or None if it names none.

    `side` is "before" or "after". A sibling is `{type: site-section, siteSection: ID}`, or with `id` as the
    name of the id. Raise 400 without an id.
    """
    neighbor = position.get(side)
    if neighbor is None:
        return None
    id = neighbor.get("id") or neighbor.get(_POSITION_FIELDS[neighbor["type"]])
    if not id:
        raise bad_request(f"body.position.{side}: invalid position: names no neighbor")
    return KINDS_BY_API_TYPE[neighbor["type"]], id


# --- external links: siblings of sections and groups --------------------------------------------


def create_link(ctx: Context) -> Json:
    """Create an external link in the navigation, at the end of the given group or of the top level.

    On a site without sections, the site spaces at the top level first move into a section, because links
    can only be next to sections and groups.
    """
    nav, fields = read_navigation(ctx.store, ctx.site_from_path()), ctx.body.sent_fields()
    parent = fields.pop("parent", None) or ""
    if parent:
        nav.require_node(GROUP, parent, "body.parent")
    move_root_into_section(ctx, nav)
    position = end_position(nav.children(parent))
    link = Record(
        EXTERNAL_LINK, ctx.new_id(EXTERNAL_LINK), fields, nav.site.organization, nav.site.id, parent, position
    )
    ctx.put(link)
    return responses.external_link(ctx, link)


def update_link(ctx: Context) -> Json:
    """Update an external link, or move it to the end of another group."""
    nav, fields = read_navigation(ctx.store, ctx.site_from_path()), ctx.body.sent_fields()
    link = nav.require_node(EXTERNAL_LINK, ctx.params["siteExternalLinkId"])
    if "parent" in fields:
        move_to_parent(nav, link, fields.pop("parent") or "", "body.parent")
    link.doc |= fields
    ctx.put(link)
    return responses.external_link(ctx, link)


def delete_link(ctx: Context) -> None:
    """Delete an external link. It is not an error if it does not exist."""
    site = ctx.site_from_path()
    link = ctx.store.get(EXTERNAL_LINK, ctx.params["siteExternalLinkId"])
    if link is not None and link.scope == site.id:
        ctx.remove(link)
