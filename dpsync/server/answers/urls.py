"""Where a site and what it shows are published."""

from ..context import Context
from ..navigation import SECTION
from ..store import Record


def site_url(ctx: Context, site: Record) -> str:
    organization = ctx.load("organization", site.organization)
    host = (organization.doc.get("hostname") if organization else None) or site.organization
    return f"https://{host}.docs.example/{site.doc['basename']}/"


def section_url(ctx: Context, site: Record, section: Record) -> str:
    path = "" if section.doc["default"] else f"{section.doc['path']}/"
    return site_url(ctx, site) + path


def place_url(ctx: Context, site: Record, place: Record) -> str:
    section = ctx.load(SECTION, place.parent) if place.parent else None
    base = section_url(ctx, site, section) if section else site_url(ctx, site)
    return base if place.doc["default"] else f"{base}{place.doc['path']}/"
