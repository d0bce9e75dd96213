"""Operations on redirects of a site, and the target of a visitor who opens a path.

Each source is unique in a site. Published URLs are case-insensitive, so sources that differ only in case
count as the same source. Deleting a section or site space deletes redirects to it.
"""

from urllib.parse import quote

from ... import answers
from ...answers.urls import place_url, section_url, site_url
from ...content import tree
from ...errors import ApiError, bad, conflict, missing
from ...request.changes import changes
from ...request.context import Context
from ...request.paging import list_page
from ...sites.navigation import PLACE, REDIRECT, SECTION, Navigation, read, target
from ...spaces import revisions
from ...store import Json, Record

_ORDERS = {
    "createdAt": lambda found: [found.seq],
    "updatedAt": lambda found: [found.doc["updatedAt"], found.seq],
    "source": lambda found: [found.ref],
}


def list_redirects(ctx: Context) -> Json:
    site, query = ctx.site(), ctx.query
    found = ctx.store.find(REDIRECT, scope=site.id)
    if query.search:
        found = [redirect for redirect in found if query.search.casefold() in redirect.ref.casefold()]
    if query.draft is not None:
        found = [redirect for redirect in found if redirect.doc["draft"] == query.draft]
    key = _ORDERS[query.orderBy]
    return list_page(ctx, sorted(found, key=key), lambda redirect: answers.redirect(ctx, redirect), key)


def _redirects_by_source(ctx: Context, site: Record) -> dict[str, Record]:
    """Return the redirects of a site, keyed by case-folded source."""
    return {redirect.ref.casefold(): redirect for redirect in ctx.store.find(REDIRECT, scope=site.id)}


def create_redirect(ctx: Context) -> Json:
    site, given = ctx.site(), ctx.body.given()
    _check_free(ctx, site, given["source"])
    return answers.redirect(ctx, _create(ctx, read(ctx.store, site), given, "body.destination"))


def _check_free(ctx: Context, site: Record, source: str, but: str = "") -> None:
    other = _redirects_by_source(ctx, site).get(source.casefold())
    if other is not None and other.id != but:
        raise conflict(f"body.source: the redirect {other.id!r} already has the source {other.ref!r}")


def _create(ctx: Context, nav: Navigation, given: Json, field: str) -> Record:
    destination, leads_to = _resolved(ctx, nav, given["destination"], field)
    doc = {
        "destination": destination,
        "captureWildcard": given.get("captureWildcard", False),
        "permanent": given.get("permanent", False),
        "draft": given.get("draft", False),
        "createdAt": ctx.stamp,
        "updatedAt": ctx.stamp,
    }
    site = nav.site
    made = Record(
        REDIRECT, ctx.new_id(REDIRECT), doc, site.organization, site.id, leads_to, ref=given["source"]
    )
    ctx.put(made)
    return made


def update_redirect(ctx: Context) -> Json:
    site, given = ctx.site(), ctx.body.given()
    found = _named(ctx, site)
    if found is None:
        raise missing("redirect", ctx.params["siteRedirectId"])
    _change(ctx, read(ctx.store, site), found, given, "body.destination")
    return answers.redirect(ctx, found)


def _change(ctx: Context, nav: Navigation, found: Record, given: Json, field: str) -> None:
    source = given.pop("source", found.ref)
    given = changes(found.doc, given)
    if source == found.ref and not given:
        return
    if source != found.ref:
        _check_free(ctx, nav.site, source, found.id)
    if "destination" in given:
        given["destination"], found.parent = _resolved(ctx, nav, given["destination"], field)
    found.ref = source
    found.doc |= {**given, "updatedAt": ctx.stamp}
    ctx.put(found)


def delete_redirect(ctx: Context) -> None:
    found = _named(ctx, ctx.site())
    if found is not None:
        ctx.remove(found)


def _named(ctx: Context, site: Record) -> Record | None:
    found = ctx.store.get(REDIRECT, ctx.params["siteRedirectId"])
    return found if found is not None and found.scope == site.id else None


# --- where it leads -------------------------------------------------------------------------------


def _resolved(ctx: Context, nav: Navigation, given: Json, field: str) -> tuple[Json, str]:
    """Return the destination as the API returns it, and the node on which it depends."""
    if given["kind"] == "external":
        return given, ""
    if given["kind"] == "site-section":
        return given, target(nav.node(SECTION, given["siteSectionId"], field))
    if given["kind"] == "path":
        given = _at_path(ctx, nav, given["spaceId"], given["path"], field)
    place = nav.node(PLACE, given["siteSpaceId"], field)
    if given["kind"] == "site-page" and tree.find(_pages(ctx, place), given["pageId"]) is None:
        raise missing(f"{field}: page", given["pageId"])
    return given, target(place)


def _at_path(ctx: Context, nav: Navigation, space: str, path: str, field: str) -> Json:
    """Return the destination of a path of a space, on the first site space that shows the space.

    The destination is the page at the path, or the site space if the path is empty.
    """
    place = next((found for _, found in nav.ordered(PLACE) if found.ref == space), None)
    if place is None:
        raise missing(f"{field}: a site space of this site that shows the space", space)
    path = path.strip("/")
    if not path:
        return {"kind": "site-space", "siteSpaceId": place.id}
    id = tree.paths(_pages(ctx, place)).get(path)
    if id is None:
        raise missing(f"{field}: page at the path", path)
    return {"kind": "site-page", "siteSpaceId": place.id, "pageId": id}


def _pages(ctx: Context, place: Record) -> list[Json]:
    space = ctx.load("space", place.ref)
    pages: list[Json] = revisions.active(ctx.store, space).doc["pages"] if space else []
    return pages


# --- many at once ---------------------------------------------------------------------------------


def put_redirects(ctx: Context) -> Json:
    """Write many redirects in order. A failure is an `error` in the results and changes nothing."""
    site = ctx.site()
    nav, by_source = read(ctx.store, site), _redirects_by_source(ctx, site)
    results = [
        _put_one(ctx, nav, by_source, item, f"body.redirects.{index}")
        for index, item in enumerate(ctx.body.given()["redirects"])
    ]
    return {"results": results}


def _put_one(ctx: Context, nav: Navigation, by_source: dict[str, Record], item: Json, where: str) -> Json:
    source = item["source"].casefold()
    try:
        status, made = _done(ctx, nav, by_source.get(source), dict(item), where)
    except ApiError as error:
        if ctx.published:
            draft = item.get("intent") == "draft"
            return {"source": item["source"], "status": "error", "draft": draft, "error": error.message}
        return {"source": item["source"], "status": "error", **error.body()}
    by_source.pop(source, None)
    if made is not None:
        by_source[source] = made
    if ctx.published:
        more = {"id": made.id, "draft": made.doc["draft"]} if made else {"draft": False}
        return {"source": item["source"], "status": status, **more}
    answer = {"redirect": answers.redirect(ctx, made)} if made else {}
    return {"source": item["source"], "status": status, **answer}


def _done(
    ctx: Context, nav: Navigation, found: Record | None, item: Json, where: str
) -> tuple[str, Record | None]:
    intent = item.pop("intent", "live")
    if "destination" in item and item["destination"] is None:
        if found is not None:
            ctx.remove(found)
        return "deleted", None
    item["draft"] = intent == "draft"
    if found is None:
        if "destination" not in item:
            raise bad(f"{where}.destination: required, because {item['source']!r} has no redirect yet")
        return "created", _create(ctx, nav, item, f"{where}.destination")
    _change(ctx, nav, found, item, f"{where}.destination")
    return "published" if intent == "publish" else "updated", found


def get_target(ctx: Context) -> Json:
    """Return the URL that a path redirects to.

    Raise 404 if there is no live redirect, or if the site or the destination is not published.
    """
    site, source = ctx.site(), ctx.query.source
    found = _matching(ctx, site, source)
    target = _target(ctx, read(ctx.store, site), found) if found and site_url(ctx, site) else None
    if found is None or target is None:
        raise missing("redirect of", source)
    if found.doc["captureWildcard"] and found.ref.endswith("*"):
        rest = source[len(found.ref) - 1 :].lstrip("/")
        target = target.rstrip("/") + "/" + quote(rest, safe="/%?&=+:@,;~#")
    return {"target": target, "redirect": answers.redirect(ctx, found)}


def _matching(ctx: Context, site: Record, source: str) -> Record | None:
    """Return the live redirect for a path: an exact match, or else the longest matching `*` pattern."""
    path = source.casefold()
    live = {path: found for path, found in _redirects_by_source(ctx, site).items() if not found.doc["draft"]}
    begins = [pattern for pattern in live if pattern.endswith("*") and path.startswith(pattern[:-1])]
    return live.get(path) or live.get(max(begins, key=len, default=""))


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
