"""External links in the navigation of a site: siblings of sections and groups."""

from typing import Any

from ... import answers
from ...records.order import end
from ...request.context import Context
from ...sites.navigation import GROUP, LINK, read, reparent, wrap_root
from ...store import Record

Json = dict[str, Any]


def create_link(ctx: Context) -> Json:
    """At the end of the group named, else of the root. On a flat site the site spaces at the root first move
    into a section.
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
