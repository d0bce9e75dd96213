"""The order of siblings in the navigation of a site."""

from typing import Any

from ... import answers
from ...errors import bad, conflict
from ...records.order import place, renumber, same_order
from ...request.context import Context
from ...sites.navigation import GROUP, KINDS, PLACE, SECTION, Navigation, read
from ...sites.publishing import navigation_of
from ...store import Record

Json = dict[str, Any]


def move_section(ctx: Context) -> Json:
    return _move(ctx, SECTION, ctx.params["siteSectionId"])


def move_group(ctx: Context) -> Json:
    return _move(ctx, GROUP, ctx.params["siteSectionGroupId"])


def move_site_space(ctx: Context) -> Json:
    return _move(ctx, PLACE, ctx.params["siteSpaceId"])


def _move(ctx: Context, kind: str, id: str) -> Json:
    """409 when the order stays as it is."""
    nav = navigation_of(ctx, ctx.site())
    node = nav.node(kind, id)
    position = ctx.body.position.given() if ctx.body else {}
    if not _sort(ctx, nav, node, position):
        raise conflict("operation would not result in any update")
    return answers.node(ctx, navigation_of(ctx, nav.site), node)


def sort_structure(ctx: Context) -> Json:
    """One sibling to another place. It may be the place it has."""
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
    """`{type: site-section, siteSection: ID}` or `{type: site-section, id: ID}` as (kind, id)."""
    pointer = position.get(side)
    if pointer is None:
        return None
    id = pointer.get("id") or pointer.get(_NAMES[pointer["type"]])
    if not id:
        raise bad(f"body.position.{side}: invalid position: names no neighbour")
    return KINDS[pointer["type"]], id
