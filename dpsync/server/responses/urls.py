"""Compute the published URLs of a site, its sections and its site spaces; None if nobody can open them.

A basename or path may be any text: each is encoded as one segment of the URL.

The URL of a site with the visibility `share-link` contains the secret of a share link. The answers for the
site contain such a URL only if the caller passes the secret as `shareKey`.
"""

from urllib.parse import quote

from ..request.context import Context
from ..sites.navigation import SECTION
from ..sites.publishing import is_draft, is_valid_share_key
from ..store import Record


def published_url(ctx: Context, site: Record, key: str | None) -> str | None:
    """Return the URL of a published site, or None if `key` does not open the site."""
    if not site.doc["published"]:
        return None
    if site.doc["visibility"] != "share-link":
        return base_url(ctx, site)
    return share_link_url(ctx, site, str(key)) if is_valid_share_key(ctx, site, key) else None


def share_link_url(ctx: Context, site: Record, key: str) -> str:
    """Return the URL of a site with the secret of a share link."""
    return f"{base_url(ctx, site)}{key}/"


def base_url(ctx: Context, site: Record) -> str:
    """Return the URL of a site: at its proxy, else its own host name, else the organization's host name."""
    if origin := site.doc.get("proxy"):
        return f"https://{origin}/"
    if hostname := site.doc.get("hostname"):
        return f"https://{hostname}/"
    organization = ctx.load("organization", site.organization)
    host = (organization.doc.get("hostname") if organization else None) or site.organization
    return f"https://{quote_segment(host)}.docs.example/{quote_segment(site.doc['basename'])}/"


def quote_segment(text: str) -> str:
    """Return a text as one segment of a URL."""
    return quote(text, safe="")


def site_url(ctx: Context, site: Record) -> str | None:
    """Return the URL of a site, or None if it is unpublished or needs a `shareKey` that the query lacks."""
    return published_url(ctx, site, getattr(ctx.query, "shareKey", None))


def section_url(ctx: Context, site: Record, section: Record) -> str | None:
    """Return the URL of a section, or None. The default section has the URL of the site."""
    base = None if is_draft(ctx, section) else site_url(ctx, site)
    return base if base is None or section.doc["default"] else f"{base}{quote_segment(section.doc['path'])}/"


def site_space_url(ctx: Context, site: Record, site_space: Record) -> str | None:
    """Return the URL of a site space, or None. The default site space has the URL of its section."""
    section = ctx.load(SECTION, site_space.parent) if site_space.parent else None
    base = section_url(ctx, site, section) if section else site_url(ctx, site)
    if site_space.doc.get("draft"):
        return None
    return (
        base
        if base is None or site_space.doc["default"]
        else f"{base}{quote_segment(site_space.doc['path'])}/"
    )
