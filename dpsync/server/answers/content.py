"""Spaces and collections."""

from ..access import flags
from ..context import Context
from ..navigation import PLACE
from ..store import Record
from .shared import API, APP, Json, set_only
from .urls import place_url

_OPENNESS = ("public", "unlisted", "share-link", "visitor-auth")


def collection(ctx: Context, record: Record) -> Json:
    answer = {
        "object": "collection",
        "id": record.id,
        "title": record.doc["title"],
        "organization": record.organization,
        "defaultLevel": record.doc["defaultLevel"],
        "urls": {"location": f"{API}/collections/{record.id}", "app": f"{APP}/c/{record.id}"},
        "permissions": flags("collection", ctx.level(record)),
    }
    if record.doc.get("description"):
        answer["description"] = record.doc["description"]
    if record.parent:
        answer["parent"] = record.parent
    return answer


def space(ctx: Context, record: Record) -> Json:
    visibility, url = _shown(ctx, record)
    urls = {"location": f"{API}/spaces/{record.id}", "app": f"{APP}/s/{record.id}"}
    if url:
        urls["published"] = url
        if visibility == "public":
            urls["public"] = url
    doc = dict(record.doc)
    default_level = doc.pop("defaultLevel")
    answer = {
        "object": "space",
        "id": record.id,
        **set_only(doc),
        "visibility": visibility,
        "defaultLevel": default_level,
        "organization": record.organization,
        "revision": f"rev-{record.id}",
        "comments": 0,
        "changeRequests": 0,
        "changeRequestsOpen": 0,
        "changeRequestsDraft": 0,
        "urls": urls,
        "permissions": flags("space", ctx.level(record)),
    }
    if record.parent:
        answer["parent"] = record.parent
    return answer


def _shown(ctx: Context, space: Record) -> tuple[str, str | None]:
    """The audience of a space and where it is published: the most open published site showing it decides."""
    sites = []
    for place in ctx.store.find(PLACE, ref=space.id):
        site = ctx.load("site", place.scope)
        if site is not None and site.doc["published"]:
            sites.append(
                (_OPENNESS.index(site.doc["visibility"]), site.seq, site.doc["visibility"], site, place)
            )
    if sites:
        _, _, visibility, site, place = min(sites, key=lambda found: found[:2])
        return visibility, place_url(ctx, site, place)
    return ("in-collection" if space.parent else "private"), None
