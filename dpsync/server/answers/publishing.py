"""Redirects of a site, its share links, the access of its visitors."""

from ..request.context import Context
from ..sites.publishing import visitor_auth as settings_of
from ..store import Record
from .shared import Json, located, set_only
from .urls import shared_url


def _location(ctx: Context, record: Record, what: str) -> str:
    return located(ctx, f"/orgs/{record.organization}/sites/{record.scope}/{what}/{record.id}")


def redirect(ctx: Context, record: Record) -> Json:
    return {
        "object": "site-redirect",
        "id": record.id,
        "source": record.ref,
        **record.doc,
        "urls": {"location": _location(ctx, record, "redirects")},
    }


def share_link(ctx: Context, record: Record) -> Json:
    """Its secret is in its URL, and nowhere else."""
    site = ctx.load("site", record.scope)
    if site is None:
        raise LookupError(f"the share link {record.id!r} is of no site")
    return {
        "object": "site-share-link",
        "id": record.id,
        **record.doc,
        "urls": {
            "location": _location(ctx, record, "share-links"),
            "published": shared_url(ctx, site, record.ref),
        },
    }


def visitor_auth(ctx: Context, site: Record) -> Json:
    return set_only(settings_of(ctx.store, site))
