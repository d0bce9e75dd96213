"""Where a visitor who asks for a path of a site is sent."""

from typing import Any
from urllib.parse import quote

from ... import answers
from ...answers.urls import place_url, section_url, site_url
from ...content import tree
from ...errors import missing
from ...request.context import Context
from ...sites.navigation import PLACE, REDIRECT, SECTION, Navigation, read
from ...spaces import revisions
from ...store import Record

Json = dict[str, Any]


def get_target(ctx: Context) -> Json:
    """404 where nobody is sent: also by a draft, and where the site, or what it leads to, is not reached."""
    site, source = ctx.site(), ctx.query.source
    found = _matching(ctx, site, source)
    target = _target(ctx, read(ctx.store, site), found) if found and site_url(ctx, site) else None
    if found is None or target is None:
        raise missing("redirect of", source)
    if found.doc["captureWildcard"] and found.ref.endswith("*"):
        rest = source.removeprefix(found.ref[:-1]).lstrip("/")
        target = target.rstrip("/") + "/" + quote(rest, safe="/%?&=+:@,;~#")
    return {"target": target, "redirect": answers.redirect(ctx, found)}


def _matching(ctx: Context, site: Record, source: str) -> Record | None:
    """The redirect of exactly this source, else the longest that ends with a `*` and begins like it."""
    live = [found for found in ctx.store.find(REDIRECT, scope=site.id) if not found.doc["draft"]]
    exact = [found for found in live if found.ref == source]
    begins = [found for found in live if found.ref.endswith("*") and source.startswith(found.ref[:-1])]
    return next(iter(exact), None) or max(begins, key=lambda found: len(found.ref), default=None)


def _target(ctx: Context, nav: Navigation, found: Record) -> str | None:
    destination: Json = found.doc["destination"]
    if destination["kind"] == "external":
        return str(destination["url"])
    if destination["kind"] == "site-section":
        return section_url(ctx, nav.site, nav.node(SECTION, destination["siteSectionId"]))
    place = nav.node(PLACE, destination["siteSpaceId"])
    home = place_url(ctx, nav.site, place)
    if home is None or destination["kind"] == "site-space":
        return home
    space = ctx.load("space", place.ref)
    page = (
        tree.find(revisions.active(ctx.store, space).doc["pages"], destination["pageId"]) if space else None
    )
    return home + quote(tree.path_of(*page)) if page else None
