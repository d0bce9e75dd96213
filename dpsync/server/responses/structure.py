"""Make the response bodies for the navigation of a site: site spaces, sections, groups and external links.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..request.context import Context
from ..sites.navigation import EXTERNAL_LINK, GROUP, SECTION, Navigation
from ..store import Json, Record
from .content import space
from .shared import without_none
from .urls import section_url, site_space_url

_TYPES_WITHOUT_CUSTOMIZATION = ("basic", "legacy-basic")


def site_space(ctx: Context, nav: Navigation, record: Record) -> Json:
    """Return the response body for a site space with the space that it shows."""
    space_record = ctx.load("space", record.ref)
    if space_record is None:
        raise LookupError(f"the site space {record.id} shows the space {record.ref}, which does not exist")
    doc = record.doc
    answer = {
        "object": "site-space",
        "id": record.id,
        "path": doc["path"],
        "space": space(ctx, space_record),
        "title": doc.get("title") or space_record.doc["title"],
        "default": doc["default"],
        "hidden": doc["hidden"],
        "hasAdvancedCustomizationFeature": nav.site.doc["type"] not in _TYPES_WITHOUT_CUSTOMIZATION,
        "urls": without_none({"published": site_space_url(ctx, nav.site, record)}),
    }
    if record.parent:
        answer["section"] = record.parent
    if doc.get("condition") is not None:
        answer["condition"] = doc["condition"]
    if ctx.has_additions:
        answer |= without_none({"draft": doc.get("draft", False), "pageId": doc.get("pageId")})
    return answer


def section(ctx: Context, nav: Navigation, record: Record) -> Json:
    """Return the response body for a section with its site spaces."""
    return {
        "object": "site-section",
        **_common_fields(ctx, record),
        "siteSpaces": [
            site_space(ctx, nav, item) for item in nav.visible_nodes(nav.site_spaces_in(record.id))
        ],
        "urls": without_none({"published": section_url(ctx, nav.site, record)}),
    }


def _common_fields(ctx: Context, record: Record) -> Json:
    """Return the members that sections, groups and links share."""
    answer = {"id": record.id, **without_none({"draft": False, **record.doc})}
    if not ctx.has_additions:
        for added in ("draft", "localizedTitle", "localizedDescription"):
            answer.pop(added, None)
    if record.parent:
        answer["sectionGroup"] = record.parent
    return answer


def group(ctx: Context, nav: Navigation, record: Record) -> Json:
    """Return the response body for a group of sections.

    In the API version `reference`, `children` has only sections, and a nested group names its parent in
    `sectionGroup`. In the other API versions, `children` has sections, nested groups and external links in
    order, and `sections` has only the sections.
    """
    children = nav.visible_nodes(nav.children(record.id))
    if not ctx.has_additions:
        children = [child for child in children if child.kind == SECTION]
    nodes = [node(ctx, nav, child) for child in children]
    answer = {"object": "site-section-group", **_common_fields(ctx, record), "children": nodes}
    if ctx.has_additions:
        answer["sections"] = [child for child in nodes if child["object"] == "site-section"]
    return answer


def external_link(ctx: Context, record: Record) -> Json:
    """Return the response body for an external link in the navigation."""
    return {"object": "site-external-link", **_common_fields(ctx, record)}


def node(ctx: Context, nav: Navigation, record: Record) -> Json:
    """Return the response body for a group, external link, section or site space."""
    if record.kind == GROUP:
        return group(ctx, nav, record)
    if record.kind == EXTERNAL_LINK:
        return external_link(ctx, record)
    return section(ctx, nav, record) if record.kind == SECTION else site_space(ctx, nav, record)


def structure(ctx: Context, nav: Navigation) -> Json:
    """Return the response body for the structure of a site.

    In the API version `reference` it lists every section and no group; each section names its group in
    `sectionGroup`.
    """
    if not nav.has_sections:
        nodes = nav.site_spaces_in("")
    else:
        nodes = nav.children("") if ctx.has_additions else [item for _, item in nav.nodes_in_order(SECTION)]
    kind = "sections" if nav.has_sections else "siteSpaces"
    return {"type": kind, "structure": [node(ctx, nav, item) for item in nav.visible_nodes(nodes)]}
