"""Answers for spaces and collections."""

from ..access.roles import flags
from ..request.context import CHANGE_REQUEST, Context
from ..sites.navigation import PLACE
from ..sites.publishing import is_draft
from ..spaces.merge_rules import may_merge_any
from ..spaces.revisions import active_id
from ..store import Json, Record
from .comments import open_comments
from .git_sync import git_sync
from .shared import APP, located, set_only
from .urls import place_url

_OPENNESS = ("public", "unlisted", "share-link", "visitor-auth")


def collection(ctx: Context, record: Record) -> Json:
    answer = {
        "object": "collection",
        "id": record.id,
        "title": record.doc["title"],
        "organization": record.organization,
        "defaultLevel": record.doc["defaultLevel"],
        "urls": {"location": located(ctx, f"/collections/{record.id}"), "app": f"{APP}/c/{record.id}"},
        "permissions": flags("collection", ctx.level(record)),
    }
    if record.doc.get("description"):
        answer["description"] = record.doc["description"]
    if record.parent:
        answer["parent"] = record.parent
    return answer


def space(ctx: Context, record: Record) -> Json:
    visibility, url = published(ctx, record)
    urls = {"location": located(ctx, f"/spaces/{record.id}"), "app": f"{APP}/s/{record.id}"}
    if url:
        urls["published"] = url
        if visibility == "public":
            urls["public"] = url
    requests = ctx.store.find(CHANGE_REQUEST, scope=record.id)
    permissions = flags("space", ctx.level(record))
    if not ctx.accepts_change_requests(record):
        permissions |= {"edit": False, "merge": False}
    permissions["merge"] = permissions["merge"] and may_merge_any(ctx, record, requests)
    doc = dict(record.doc)
    doc.pop("createdBy", None)  # not part of the API
    default_level = doc.pop("defaultLevel")
    if not ctx.published:
        doc.pop("type", None)
    doc.pop("gitSync", None)
    if icon := doc.pop("icon", None):
        urls["icon"] = icon
    answer = {
        "object": "space",
        "id": record.id,
        **set_only(doc),
        **git_sync(ctx, record),
        "visibility": _own_visibility(record) if ctx.published else visibility,
        "defaultLevel": default_level,
        "organization": record.organization,
        "revision": active_id(record),
        "comments": open_comments(ctx.store, record.id),
        "changeRequests": len(requests),
        "changeRequestsOpen": sum(request.parent == "open" for request in requests),
        "changeRequestsDraft": sum(request.parent == "draft" for request in requests),
        "urls": urls,
        "permissions": permissions,
    }
    if record.parent:
        answer["parent"] = record.parent
    if ctx.full:
        answer.setdefault("emoji", "")
    return answer


def published(ctx: Context, space: Record) -> tuple[str, str | None]:
    """Return the visibility of a space and its published URL, or None as the URL if it is not published.

    If several published sites show the space, the most open site decides.
    """
    sites = []
    for place in ctx.store.find(PLACE, ref=space.id):
        site = ctx.load("site", place.scope)
        if site is not None and site.doc["published"] and not is_draft(ctx, place):
            sites.append(
                (_OPENNESS.index(site.doc["visibility"]), site.seq, site.doc["visibility"], site, place)
            )
    if sites:
        _, _, visibility, site, place = min(sites, key=lambda found: found[:2])
        return visibility, place_url(ctx, site, place)
    return _own_visibility(space), None


def _own_visibility(space: Record) -> str:
    """Return the visibility of a space without regard to sites, as the `published` edition does."""
    return "in-collection" if space.parent else "private"
