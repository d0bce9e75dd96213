"""Handle the API operations on redirects of a site, and find the target of a visitor who opens a path.

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
    "createdAt": lambda redirect: [redirect.seq],
    "updatedAt": lambda redirect: [redirect.doc["updatedAt"], redirect.seq],
    "source": lambda redirect: [redirect.ref],
}


def list_redirects(ctx: Context) -> Json:
    """List the redirects of a site, filtered and sorted as the query asks."""
    site, query = ctx.site_from_path(), ctx.query
    redirects = ctx.store.find(REDIRECT, scope=site.id)
    if query.search:
        redirects = [redirect for redirect in redirects if query.search.casefold() in redirect.ref.casefold()]
    if query.draft is not None:
        redirects = [redirect for redirect in redirects if redirect.doc["draft"] == query.draft]
    key = _SORT_KEYS[query.orderBy]
    return list_page(ctx, sorted(redirects, key=key), lambda redirect: responses.redirect(ctx, redirect), key)


def _redirects_by_source(ctx: Context, site: Record) -> dict[str, Record]:
    """Return the redirects of a site, keyed by case-folded source."""
    return {redirect.ref.casefold(): redirect for redirect in ctx.store.find(REDIRECT, scope=site.id)}


def create_redirect(ctx: Context) -> Json:
    """Create a redirect. Raise 409 if another redirect has the same source."""
    site, fields = ctx.site_from_path(), ctx.body.sent_fields()
    _check_source_unused(ctx, site, fields["source"])
    return responses.redirect(ctx, _create(ctx, read_navigation(ctx.store, site), fields, "body.destination"))


def _check_source_unused(ctx: Context, site: Record, source: str, except_id: str = "") -> None:
    """Raise 409 if a redirect other than `except_id` has the source."""
    other = _redirects_by_source(ctx, site).get(source.casefold())
    if other is not None and other.id != except_id:
        raise conflict(f"body.source: the redirect {other.id!r} already has the source {other.ref!r}")


def _create(ctx: Context, nav: Navigation, fields: Json, field: str) -> Record:
    """Store a new redirect of a site. Raise 404 for an unknown destination.

    `field` is the path of the destination in the request body, for messages.
    """
    destination, target_key = _resolve_destination(ctx, nav, fields["destination"], field)
    doc = {
        "destination": destination,
        "captureWildcard": fields.get("captureWildcard", False),
        "permanent": fields.get("permanent", False),
        "draft": fields.get("draft", False),
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
    }
    site = nav.site
    redirect = Record(
        REDIRECT, ctx.new_id(REDIRECT), doc, site.organization, site.id, target_key, ref=fields["source"]
    )
    ctx.put(redirect)
    return redirect


def update_redirect(ctx: Context) -> Json:
    """Update the redirect that the path names. Raise 404 if it does not exist."""
    site, fields = ctx.site_from_path(), ctx.body.sent_fields()
    redirect = _find_redirect(ctx, site)
    if redirect is None:
        raise not_found("redirect", ctx.params["siteRedirectId"])
    _update(ctx, read_navigation(ctx.store, site), redirect, fields, "body.destination")
    return responses.redirect(ctx, redirect)


def _update(ctx: Context, nav: Navigation, redirect: Record, fields: Json, field: str) -> None:
    """Update a redirect. Only changed fields are checked, because an old destination may no longer exist.

    `field` is the path of the destination in the request body, for errors. Raise 409 if another redirect has
    the new source, and 404 for an unknown destination.
    """
    source = fields.pop("source", redirect.ref)
    fields = changed_fields(redirect.doc, fields)
    if source == redirect.ref and not fields:
        return
    if source != redirect.ref:
        _check_source_unused(ctx, nav.site, source, redirect.id)
    if "destination" in fields:
        fields["destination"], redirect.parent = _resolve_destination(ctx, nav, fields["destination"], field)
    redirect.ref = source
    redirect.doc |= {**fields, "updatedAt": ctx.timestamp}
    ctx.put(redirect)


def delete_redirect(ctx: Context) -> None:
    """Delete a redirect. It is not an error if it does not exist."""
    redirect = _find_redirect(ctx, ctx.site_from_path())
    if redirect is not None:
        ctx.remove(redirect)


def _find_redirect(ctx: Context, site: Record) -> Record | None:
    """Return the redirect that the path names, or None."""
    redirect = ctx.store.get(REDIRECT, ctx.params["siteRedirectId"])
    return redirect if redirect is not None and redirect.scope == site.id else None


# --- where it leads -------------------------------------------------------------------------------


def _resolve_destination(ctx: Context, nav: Navigation, destination: Json, field: str) -> tuple[Json, str]:
    """Return (destination as the API returns it, key of the node to which it leads, "" for a URL).

    A path of a space becomes the page or site space at the path. `field` is the path of the destination in
    the request body. Raise 404 if the destination does not exist.
    """
    if destination["kind"] == "external":
        return destination, ""
    if destination["kind"] == "site-section":
        return destination, redirect_target(nav.require_node(SECTION, destination["siteSectionId"], field))
    if destination["kind"] == "path":
        destination = _resolve_path(ctx, nav, destination["spaceId"], destination["path"], field)
    site_space = nav.require_node(SITE_SPACE, destination["siteSpaceId"], field)
    if (
        destination["kind"] == "site-page"
        and page_tree.find_page(_pages(ctx, site_space), destination["pageId"]) is None
    ):
        raise not_found(f"{field}: page", destination["pageId"])
    return destination, redirect_target(site_space)


def _resolve_path(ctx: Context, nav: Navigation, space: str, path: str, field: str) -> Json:
    """Return the destination of a path of a space, on the first site space that shows the space.

    The destination is the page at the path, or the site space if the path is empty. Raise 404 if there is
    none.
    """
    site_space = next((node for _, node in nav.nodes_in_order(SITE_SPACE) if node.ref == space), None)
    if site_space is None:
        raise not_found(f"{field}: a site space of this site that shows the space", space)
    path = path.strip("/")
    if not path:
        return {"kind": "site-space", "siteSpaceId": site_space.id}
    id = page_tree.page_ids_by_path(_pages(ctx, site_space)).get(path)
    if id is None:
        raise not_found(f"{field}: page at the path", path)
    return {"kind": "site-page", "siteSpaceId": site_space.id, "pageId": id}


def _pages(ctx: Context, site_space: Record) -> list[Json]:
    """Return the pages of the space that a site space shows, or [] if the space does not exist."""
    space = ctx.load("space", site_space.ref)
    pages: list[Json] = revisions.active_revision(ctx.store, space).doc["pages"] if space else []
    return pages


# --- many at once ---------------------------------------------------------------------------------


def put_redirects(ctx: Context) -> Json:
    """Write many redirects in order. A failure is an `error` in the results and changes nothing."""
    site = ctx.site_from_path()
    nav, by_source = read_navigation(ctx.store, site), _redirects_by_source(ctx, site)
    results = [
        _put_redirect(ctx, nav, by_source, item, f"body.redirects.{index}")
        for index, item in enumerate(ctx.body.sent_fields()["redirects"])
    ]
    return {"results": results}


def _put_redirect(
    ctx: Context, nav: Navigation, by_source: dict[str, Record], fields: Json, location: str
) -> Json:
    """Write one of many redirects, and return its result, which is an `error` if it failed.

    `by_source` has the redirects of the site by case-folded source, and is updated for the next ones.
    """
    source = fields["source"].casefold()
    try:
        status, redirect = _apply_item(ctx, nav, by_source.get(source), dict(fields), location)
    except ApiError as error:
        if ctx.is_published_profile:
            draft = fields.get("intent") == "draft"
            return {"source": fields["source"], "status": "error", "draft": draft, "error": error.message}
        return {"source": fields["source"], "status": "error", **error.body()}
    by_source.pop(source, None)
    if redirect is not None:
        by_source[source] = redirect
    if ctx.is_published_profile:
        published_fields = (
            {"id": redirect.id, "draft": redirect.doc["draft"]} if redirect else {"draft": False}
        )
        return {"source": fields["source"], "status": status, **published_fields}
    answer = {"redirect": responses.redirect(ctx, redirect)} if redirect else {}
    return {"source": fields["source"], "status": status, **answer}


def _apply_item(
    ctx: Context, nav: Navigation, redirect: Record | None, fields: Json, location: str
) -> tuple[str, Record | None]:
    """Create, update, publish or delete a redirect, and return (outcome, redirect or None if deleted).

    `redirect` is the existing redirect with the source of the item (`fields`), or None. A null destination
    deletes it. The intent `draft` makes it a draft; `publish` and `live` make it live. Raise 400 for a new
    redirect without a destination.
    """
    intent = fields.pop("intent", "live")
    if "destination" in fields and fields["destination"] is None:
        if redirect is not None:
            ctx.remove(redirect)
        return "deleted", None
    fields["draft"] = intent == "draft"
    if redirect is None:
        if "destination" not in fields:
            raise bad_request(
                f"{location}.destination: required, because {fields['source']!r} has no redirect yet"
            )
        return "created", _create(ctx, nav, fields, f"{location}.destination")
    _update(ctx, nav, redirect, fields, f"{location}.destination")
    return "published" if intent == "publish" else "updated", redirect


def get_redirect_target(ctx: Context) -> Json:
    """Return the URL that a path redirects to.

    Raise 404 if there is no live redirect, or if the site or the destination is not published.
    """
    site, source = ctx.site_from_path(), ctx.query.source
    redirect = _match_redirect(ctx, site, source)
    target = (
        _target_url(ctx, read_navigation(ctx.store, site), redirect)
        if redirect and site_url(ctx, site)
        else None
    )
    if redirect is None or target is None:
        raise not_found("redirect of", source)
    if redirect.doc["captureWildcard"] and redirect.ref.endswith("*"):
        path_rest = source[len(redirect.ref) - 1 :].lstrip("/")
        target = target.rstrip("/") + "/" + quote(path_rest, safe="/%?&=+:@,;~#")
    return {"target": target, "redirect": responses.redirect(ctx, redirect)}


def _match_redirect(ctx: Context, site: Record, source: str) -> Record | None:
    """Return the live redirect for a path: an exact match, or else the longest matching `*` pattern."""
    path = source.casefold()
    live = {
        path: redirect
        for path, redirect in _redirects_by_source(ctx, site).items()
        if not redirect.doc["draft"]
    }
    matching_patterns = [
        pattern for pattern in live if pattern.endswith("*") and path.startswith(pattern[:-1])
    ]
    return live.get(path) or live.get(max(matching_patterns, key=len, default=""))


def _target_url(ctx: Context, nav: Navigation, redirect: Record) -> str | None:
    """Return the URL of the destination of a redirect, or None if the destination is not published."""
    destination: Json = redirect.doc["destination"]
    if destination["kind"] == "external":
        return str(destination["url"])
    if destination["kind"] == "site-section":
        return section_url(ctx, nav.site, nav.require_node(SECTION, destination["siteSectionId"]))
    site_space = nav.require_node(SITE_SPACE, destination["siteSpaceId"])
    site_space_base = site_space_url(ctx, nav.site, site_space)
    if site_space_base is None or destination["kind"] == "site-space":
        return site_space_base
    space = ctx.load("space", site_space.ref)
    page = (
        page_tree.find_page(revisions.active_revision(ctx.store, space).doc["pages"], destination["pageId"])
        if space
        else None
    )
    return site_space_base + quote(page_tree.page_path(*page)) if page else None
