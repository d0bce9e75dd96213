"""Redirects of a site, its share links, the access of its visitors."""

from ..context import Context
from ..publishing import visitor_auth as settings_of
from ..store import Record
from .shared import API, Json, set_only
from .urls import shared_url


def _location(record: Record, what: str) -> str:
    return f"{API}/orgs/{record.organization}/sites/{record.scope}/{what}/{record.id}"


def redirect(record: Record) -> Json:
    return {
        "object": "site-redirect",
        "id": record.id,
        "source": record.ref,
        **record.doc,
        "urls": {"location": _location(record, "redirects")},
    }


def share_link(ctx: Context, site: Record, record: Record) -> Json:
    """Its secret is in its URL, and nowhere else."""
    return {
        "object": "site-share-link",
        "id": record.id,
        **record.doc,
        "urls": {
            "location": _location(record, "share-links"),
            "published": shared_url(ctx, site, record.ref),
        },
    }


def visitor_auth(ctx: Context, site: Record) -> Json:
    return set_only(settings_of(ctx.store, site))
