"""Sites and their navigation."""

from ..context import Context
from ..navigation import GROUP, PLACE, SECTION, Navigation
from ..store import Record
from .content import space
from .shared import API, APP, Json, set_only
from .urls import place_url, section_url, site_url


def site(ctx: Context, record: Record) -> Json:
    doc = dict(record.doc)
    origin = doc.pop("proxy", None)
    answer = {
        "object": "site",
        "id": record.id,
        **set_only(doc),
        "siteSpaces": ctx.store.count(PLACE, scope=record.id),
        "features": [],
        "urls": {
            "location": f"{API}/orgs/{record.organization}/sites/{record.id}",
            "app": f"{APP}/o/{record.organization}/sites/{record.id}",
        },
    }
    if origin:
        answer["proxy"] = {"origin": origin, "target": f"https://proxy.docs.example/sites/{record.id}"}
    if doc["published"]:
        answer["urls"]["published"] = site_url(ctx, record)
    return answer


def site_space(ctx: Context, nav: Navigation, record: Record) -> Json:
    shown = ctx.load("space", record.ref)
    if shown is None:
        raise LookupError(f"site space {record.id} shows the absent space {record.ref}")
    doc = record.doc
    answer = {
        "object": "site-space",
        "id": record.id,
        "path": doc["path"],
        "space": space(ctx, shown),
        "title": shown.doc["title"],
        "default": doc["default"],
        "hidden": doc["hidden"],
        "hasAdvancedCustomizationFeature": False,
        "urls": {"published": place_url(ctx, nav.site, record)} if nav.site.doc["published"] else {},
    }
    if record.parent:
        answer["section"] = record.parent
    if doc.get("condition") is not None:
        answer["condition"] = doc["condition"]
    return answer


def section(ctx: Context, nav: Navigation, record: Record) -> Json:
    answer = {
        "object": "site-section",
        "id": record.id,
        **set_only(record.doc),
        "siteSpaces": [site_space(ctx, nav, place) for place in nav.places_in(record.id)],
        "urls": {"published": section_url(ctx, nav.site, record)} if nav.site.doc["published"] else {},
    }
    if record.parent:
        answer["sectionGroup"] = record.parent
    return answer


def group(ctx: Context, nav: Navigation, record: Record) -> Json:
    """With the additions, `children` holds sections and nested groups in their order, and `sections` the
    former alone.

    Without them it holds sections, and nested groups are found by their own `sectionGroup`.
    """
    children = nav.children(record.id)
    if not ctx.full:
        children = [child for child in children if child.kind == SECTION]
    shown = [node(ctx, nav, child) for child in children]
    answer = {"object": "site-section-group", "id": record.id, **set_only(record.doc), "children": shown}
    if ctx.full:
        answer["sections"] = [child for child in shown if child["object"] == "site-section"]
    if record.parent:
        answer["sectionGroup"] = record.parent
    return answer


def node(ctx: Context, nav: Navigation, record: Record) -> Json:
    if record.kind == GROUP:
        return group(ctx, nav, record)
    return section(ctx, nav, record) if record.kind == SECTION else site_space(ctx, nav, record)


def structure(ctx: Context, nav: Navigation) -> Json:
    if nav.sectioned:
        return {"type": "sections", "structure": [node(ctx, nav, child) for child in nav.children("")]}
    return {"type": "siteSpaces", "structure": [site_space(ctx, nav, place) for place in nav.places_in("")]}
