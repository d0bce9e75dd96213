"""Operations on redirects of a site, and the target of a visitor who opens a path.

Each source is unique in a site. Published URLs are case-insensitive, so sources that differ only in case
count as the same source. Deleting a section or site space deletes redirects to it.
"""

from urllib.parse import quote

from ... import responses
from ...content import page_tree
from ...errors import ApiError, bad_request, conflict, not_found
from ...request.changes import changed_fields
from ...request.context import Context
from ...request.paging import list_page
from ...responses.urls import section_url, site_space_url, site_url
from ...sites.navigation import REDIRECT, SECTION, SITE_SPACE, Navigation, read_navigation, redirect_target
from ...spaces import revisions
from ...store import Json, Record

_SORT_KEYS = {
    "createdAt": lambda found: [found.seq],
    "updatedAt": lambda found: [found.doc["updatedAt"], found.seq],
    "source": lambda found: [found.ref],
}


def list_redirects(ctx: Context) -> Json:
    site, query = ctx.site_from_path(), ctx.query
    found = ctx.store.find(REDIRECT, scope=site.id)
    if query.search:
        found = [redirect for redirect in found if query.search.casefold() in redirect.ref.casefold()]
    if query.draft is not None:
        found = [redirect for redirect in found if redirect.doc["draft"] == query.draft]
    key = _SORT_KEYS[query.orderBy]
    return list_page(ctx, sorted(found, key=key), lambda redirect: responses.redirect(ctx, redirect), key)


def _redirects_by_source(ctx: Context, site: Record) -> dict[str, Record]:
    """Return the redirects of a site, keyed by case-folded source."""
    return {redirect.ref.casefold(): redirect for redirect in ctx.store.find(REDIRECT, scope=site.id)}


def create_redirect(ctx: Context) -> Json:
    site, given = ctx.site_from_path(), ctx.body.sent_fields()
    _check_source_unused(ctx, site, given["source"])
    return responses.redirect(ctx, _create(ctx, read_navigation(ctx.store, site), given, "body.destination"))


def _check_source_unused(ctx: Context, site: Record, source: str, but: str = "") -> None:
    other = _redirects_by_source(ctx, site).get(source.casefold())
    if other is not None and other.id != but:
        raise conflict(f"body.source: the redirect {other.id!r} already has the source {other.ref!r}")


def _create(ctx: Context, nav: Navigation, given: Json, field: str) -> Record:
    destination, leads_to = _resolve_destination(ctx, nav, given["destination"], field)
    doc = {
        "destination": destination,
        "captureWildcard": given.get("captureWildcard", False),
        "permanent": given.get("permanent", False),
        "draft": given.get("draft", False),
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
    }
    site = nav.site
    made = Record(
        REDIRECT, ctx.new_id(REDIRECT), doc, site.organization, site.id, leads_to, ref=given["source"]
    )
    ctx.put(made)
    return made


def update_redirect(ctx: Context) -> Json:
    site, given = ctx.site_from_path(), ctx.body.sent_fields()
    found = _find_redirect(ctx, site)
    if found is None:
        raise not_found("redirect", ctx.params["siteRedirectId"])
    _update(ctx, read_navigation(ctx.store, site), found, given, "body.destination")
    return responses.redirect(ctx, found)


def _update(ctx: Context, nav: Navigation, found: Record, given: Json, field: str) -> None:
    source = given.pop("source", found.ref)
    given = changed_fields(found.doc, given)
    if source == found.ref and not given:
        return
    if source != found.ref:
        _check_source_unused(ctx, nav.site, source, found.id)
    if "destination" in given:
        given["destination"], found.parent = _resolve_destination(ctx, nav, given["destination"], field)
    found.ref = source
    found.doc |= {**given, "updatedAt": ctx.timestamp}
    ctx.put(found)


def delete_redirect(ctx: Context) -> None:
    found = _find_redirect(ctx, ctx.site_from_path())
    if found is not None:
        ctx.remove(found)


def _find_redirect(ctx: Context, site: Record) -> Record | None:
    found = ctx.store.get(REDIRECT, ctx.params["siteRedirectId"])
    return found if found is not None and found.scope == site.id else None


# --- where it leads -------------------------------------------------------------------------------


def _resolve_destination(ctx: Context, nav: Navigation, given: Json, field: str) -> tuple[Json, str]:
    """Return the destination as the API returns it, and the node on which it depends."""
    if given["kind"] == "external":
        return given, ""
    if given["kind"] == "site-section":
        return given, redirect_target(nav.require_node(SECTION, given["siteSectionId"], field))
    if given["kind"] == "path":
        given = _resolve_path(ctx, nav, given["spaceId"], given["path"], field)
    place = nav.require_node(SITE_SPACE, given["siteSpaceId"], field)
    if given["kind"] == "site-page" and page_tree.find_page(_pages(ctx, place), given["pageId"]) is None:
        raise not_found(f"{field}: page", given["pageId"])
    return given, redirect_target(place)


def _resolve_path(ctx: Context, nav: Navigation, space: str, path: str, field: str) -> Json:
    """Return the destination of a path of a space, on the first site space that shows the space.

    The destination is the page at the path, or the site space if the path is empty.
    """
    place = next((found for _, found in nav.nodes_in_order(SITE_SPACE) if found.ref == space), None)
    if place is None:
        raise not_found(f"{field}: a site space of this site that shows the space", space)
    path = path.strip("/")
    if not path:
        return {"kind": "site-space", "siteSpaceId": place.id}
    id = page_tree.page_ids_by_path(_pages(ctx, place)).get(path)
    if id is None:
        raise not_found(f"{field}: page at the path", path)
    return {"kind": "site-page", "siteSpaceId": place.id, "pageId": id}


def _pages(ctx: Context, site_space: Record) -> list[Json]:
    space = ctx.load("space", site_space.ref)
    pages: list[Json] = revisions.active_revision(ctx.store, space).doc["pages"] if space else []
    return pages


# --- many at once ---------------------------------------------------------------------------------


def put_redirects(ctx: Context) -> Json:
    """Write many redirects in order. A failure is an `error` in the results and changes nothing."""
    site = ctx.site_from_path()
    nav, by_source = read_navigation(ctx.store, site), _redirects_by_source(ctx, site)
    results = [
        _put_one(ctx, nav, by_source, item, f"body.redirects.{index}")
        for index, item in enumerate(ctx.body.sent_fields()["redirects"])
    ]
    return {"results": results}


def _put_one(ctx: Context, nav: Navigation, by_source: dict[str, Record], item: Json, where: str) -> Json:
    source = item["source"].casefold()
    try:
        status, made = _apply_item(ctx, nav, by_source.get(source), dict(item), where)
    except ApiError as error:
        if ctx.is_published_profile:
            draft = item.get("intent") == "draft"
            return {"source": item["source"], "status": "error", "draft": draft, "error": error.message}
        return {"source": item["source"], "status": "error", **error.body()}
    by_source.pop(source, None)
    if made is not None:
        by_source[source] = made
    if ctx.is_published_profile:
        more = {"id": made.id, "draft": made.doc["draft"]} if made else {"draft": False}
        return {"source": item["source"], "status": status, **more}
    answer = {"redirect": responses.redirect(ctx, made)} if made else {}
    return {"source": item["source"], "status": status, **answer}


def _apply_item(
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
            raise bad_request(
                f"{where}.destination: required, because {item['source']!r} has no redirect yet"
            )
        return "created", _create(ctx, nav, item, f"{where}.destination")
    _update(ctx, nav, found, item, f"{where}.destination")
    return "published" if intent == "publish" else "updated", found


def get_redirect_target(ctx: Context) -> Json:
    """Return the URL that a path redirects to.

    Raise 404 if there is no live redirect, or if the site or the destination is not published.
    """
    site, source = ctx.site_from_path(), ctx.query.source
    found = _match_redirect(ctx, site, source)
    target = (
        _target_url(ctx, read_navigation(ctx.store, site), found) if found and site_url(ctx, site) else None
    )
    if found is None or target is None:
        raise not_found("redirect of", source)
    if found.doc["captureWildcard"] and found.ref.endswith("*"):
        rest = source[len(found.ref) - 1 :].lstrip("/")
        target = target.rstrip("/") + "/" + quote(rest, safe="/%?&=+:@,;~#")
    return {"target": target, "redirect": responses.redirect(ctx, found)}


def _match_redirect(ctx: Context, site: Record, source: str) -> Record | None:
    """Return the live redirect for a path: an exact match, or else the longest matching `*` pattern."""
    path = source.casefold()
    live = {path: found for path, found in _redirects_by_source(ctx, site).items() if not found.doc["draft"]}
    begins = [pattern for pattern in live if pattern.endswith("*") and path.startswith(pattern[:-1])]
    return live.get(path) or live.get(max(begins, key=len, default=""))


def _target_url(ctx: Context, nav: Navigation, found: Record) -> str | None:
    destination: Json = found.doc["destination"]
    if destination["kind"] == "external":
        return str(destination["url"])
    if destination["kind"] == "site-section":
        return section_url(ctx, nav.site, nav.require_node(SECTION, destination["siteSectionId"]))
    place = nav.require_node(SITE_SPACE, destination["siteSpaceId"])
    home = site_space_url(ctx, nav.site, place)
    if home is None or destination["kind"] == "site-space":
        return home
    space = ctx.load("space", place.ref)
    page = (
        page_tree.find_page(revisions.active_revision(ctx.store, space).doc["pages"], destination["pageId"])
        if space
        else None
    )
    return home + quote(page_tree.page_path(*page)) if page else None
