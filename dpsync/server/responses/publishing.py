"""Make the response bodies for a published site: profile, redirects, share links, visitor authentication.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from collections.abc import Iterator

from ..integrations.installations import INSTALLATION, SITE_INSTALLATION, integration_of, is_enabled
from ..request.context import Context
from ..sites.customization import site_customization, site_space_customizations
from ..sites.navigation import Navigation
from ..sites.publishing import visitor_auth as settings_of
from ..sites.publishing import without_drafts
from ..store import Json, Record
from .integrations import installation, placement
from .shared import api_url, without_none
from .sites import site
from .structure import structure
from .urls import share_link_url


def _site_object_url(ctx: Context, record: Record, collection: str) -> str:
    """Return the API URL of an object of a site, in the collection with this name."""
    return api_url(ctx, f"/orgs/{record.organization}/sites/{record.scope}/{collection}/{record.id}")


def redirect(ctx: Context, record: Record) -> Json:
    """Return the response body for a redirect of a site."""
    return {
        "object": "site-redirect",
        "id": record.id,
        "source": record.ref,
        **record.doc,
        "urls": {"location": _site_object_url(ctx, record, "redirects")},
    }


def share_link(ctx: Context, record: Record) -> Json:
    """Return the response body for a share link. Its secret appears only in the published URL."""
    site = ctx.load("site", record.scope)
    if site is None:
        raise LookupError(f"the share link {record.id!r} belongs to no site")
    return {
        "object": "share-link",
        "id": record.id,
        **record.doc,
        "urls": {
            "location": _site_object_url(ctx, record, "share-links"),
            "published": share_link_url(ctx, site, record.ref),
        },
    }


def visitor_auth(ctx: Context, site: Record) -> Json:
    """Return the response body for the visitor authentication of a site."""
    return {"object": "publishing-auth", **without_none(settings_of(ctx.store, site))}


_SCRIPT_SCOPE, _COOKIE_SCOPE = "site:script:inject", "site:script:cookies"


def published_site(ctx: Context, nav: Navigation) -> Json:
    """Return the response body for a published site with its structure, customizations and scripts.

    Drafts are left out; hidden site spaces are included.
    """
    published, settings = without_drafts(nav), site_customization(ctx, nav.site)
    return {
        "object": "published-content-site",
        "site": site(ctx, nav.site),
        "structure": structure(ctx, published),
        "customizations": {
            "site": settings,
            "siteSpaces": site_space_customizations(ctx, published, settings),
        },
        "scripts": list(_active_scripts(ctx, nav.site)),
    }


def _active_scripts(ctx: Context, site_record: Record) -> Iterator[Json]:
    """Yield the scripts of the integrations that are active on the site and have the scope to inject one."""
    placements = {record.scope: record for record in ctx.store.find(SITE_INSTALLATION, ref=site_record.id)}
    for installation_record in ctx.store.find(INSTALLATION, organization=site_record.organization):
        integration, site_placement = (
            integration_of(ctx, installation_record),
            placements.get(installation_record.id),
        )
        if integration is None or not is_enabled(
            integration, installation_record, site_placement, SITE_INSTALLATION
        ):
            continue
        if _SCRIPT_SCOPE not in integration.doc["scopes"]:
            continue
        answer = (
            placement(ctx, site_placement, False)
            if site_placement
            else installation(ctx, installation_record)
        )
        script = {
            "script": f"{answer['urls']['publicEndpoint']}/script",
            "cookies": _COOKIE_SCOPE in integration.doc["scopes"],
        }
        policy = {"contentSecurityPolicy": integration.doc.get("contentSecurityPolicy")}
        yield {**script, **without_none(policy)}
