"""Make the response bodies for spaces and collections.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..access.roles import permission_flags
from ..request.context import CHANGE_REQUEST, Context
from ..sites.navigation import SITE_SPACE
from ..sites.publishing import is_draft
from ..spaces.merge_rules import may_merge_any
from ..spaces.revisions import active_revision_id
from ..store import Json, Record
from .comments import count_open_comments
from .git_sync import git_sync
from .shared import APP_URL, api_url, without_none
from .urls import site_space_url

_VISIBILITIES_BY_OPENNESS = ("public", "unlisted", "share-link", "visitor-auth")


def collection(ctx: Context, record: Record) -> Json:
    """Return the response body for a collection with the permissions of the caller."""
    answer = {
        "object": "collection",
        "id": record.id,
        "title": record.doc["title"],
        "organization": record.organization,
        "defaultLevel": record.doc["defaultLevel"],
        "urls": {"location": api_url(ctx, f"/collections/{record.id}"), "app": f"{APP_URL}/c/{record.id}"},
        "permissions": permission_flags("collection", ctx.role_on(record)),
    }
    if record.doc.get("description"):
        answer["description"] = record.doc["description"]
    if record.parent:
        answer["parent"] = record.parent
    return answer


def space(ctx: Context, record: Record) -> Json:
    """Return the response body for a space, with its visibility, URLs and counts.

    In the API version `published`, sites do not affect the visibility.
    """
    visibility, url = visibility_and_url(ctx, record)
    urls = {"location": api_url(ctx, f"/spaces/{record.id}"), "app": f"{APP_URL}/s/{record.id}"}
    if url:
        urls["published"] = url
        if visibility == "public":
            urls["public"] = url
    requests = ctx.store.find(CHANGE_REQUEST, scope=record.id)
    permissions = permission_flags("space", ctx.role_on(record))
    if not ctx.accepts_change_requests(record):
        permissions |= {"edit": False, "merge": False}
    permissions["merge"] = permissions["merge"] and may_merge_any(ctx, record, requests)
    doc = dict(record.doc)
    doc.pop("createdBy", None)  # not part of the API
    default_level = doc.pop("defaultLevel")
    if not ctx.is_published_profile:
        doc.pop("type", None)
    doc.pop("gitSync", None)
    if icon := doc.pop("icon", None):
        urls["icon"] = icon
    answer = {
        "object": "space",
        "id": record.id,
        **without_none(doc),
        **git_sync(ctx, record),
        "visibility": _visibility_without_sites(record) if ctx.is_published_profile else visibility,
        "defaultLevel": default_level,
        "organization": record.organization,
        "revision": active_revision_id(record),
        "comments": count_open_comments(ctx.store, record.id),
        "changeRequests": len(requests),
        "changeRequestsOpen": sum(request.parent == "open" for request in requests),
        "changeRequestsDraft": sum(request.parent == "draft" for request in requests),
        "urls": urls,
        "permissions": permissions,
    }
    if record.parent:
        answer["parent"] = record.parent
    if ctx.has_additions:
        answer.setdefault("emoji", "")
    return answer


def visibility_and_url(ctx: Context, space: Record) -> tuple[str, str | None]:
    """Return (visibility of a space, its published URL); the URL is None if no published site shows it.

    If several published sites show the space, the most open site decides, or the oldest one of these.
    """
    candidates = []
    for site_space in ctx.store.find(SITE_SPACE, ref=space.id):
        site = ctx.load("site", site_space.scope)
        if site is not None and site.doc["published"] and not is_draft(ctx, site_space):
            candidates.append(
                (
                    _VISIBILITIES_BY_OPENNESS.index(site.doc["visibility"]),
                    site.seq,
                    site.doc["visibility"],
                    site,
                    site_space,
                )
            )
    if candidates:
        _, _, visibility, site, site_space = min(candidates, key=lambda candidate: candidate[:2])
        return visibility, site_space_url(ctx, site, site_space)
    return _visibility_without_sites(space), None


def _visibility_without_sites(space: Record) -> str:
    """Return the visibility of a space without regard to sites, as the API version `published` does."""
    return "in-collection" if space.parent else "private"
