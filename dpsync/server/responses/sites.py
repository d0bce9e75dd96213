"""Make the response body for a site.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from collections.abc import Iterator

from ..access.roles import permission_flags
from ..models.sites import SECTIONED_SITE
from ..request.context import Context
from ..sites.navigation import REDIRECT, SECTION, SITE_SPACE
from ..sites.publishing import CUSTOMIZATION, visible_navigation
from ..store import Json, Record
from .git_sync import git_sync
from .shared import APP_URL, api_url, without_none
from .urls import site_url


def site(ctx: Context, record: Record) -> Json:
    """Return the response body for a site, with its URLs and the features that it uses."""
    doc = dict(record.doc)
    plan = "ultimate" if doc["type"] == SECTIONED_SITE else doc["type"]
    if ctx.has_additions:
        site_space_count = ctx.store.count(SITE_SPACE, scope=record.id)
    else:
        nav = visible_navigation(ctx, record)
        site_space_count = len(nav.visible_nodes(nav.site_spaces))
    doc.pop("createdBy", None)  # not part of the API
    origin = doc.pop("proxy", None)
    doc.pop("gitSync", None)
    level = doc.pop("defaultLevel", "inherit")
    answer = {
        "object": "site",
        "id": record.id,
        **without_none(doc),
        **git_sync(ctx, record),
        "siteSpaces": site_space_count,
        "features": [
            {"id": id, "plan": plan, "frozen": False, **extra_fields}
            for id, extra_fields in _used_features(ctx, record)
        ],
        "urls": without_none(
            {
                "location": api_url(ctx, f"/orgs/{record.organization}/sites/{record.id}"),
                "app": f"{APP_URL}/o/{record.organization}/sites/{record.id}",
                "published": site_url(ctx, record),
                "preview": f"{APP_URL}/preview/sites/{record.id}" if ctx.has_additions else None,
            }
        ),
    }
    if origin:
        answer["proxy"] = {"origin": origin, "target": f"https://proxy.docs.example/sites/{record.id}"}
    if ctx.is_published_profile:
        del answer["agentsContext"]
        if record.ref:
            answer["styleguide"] = {"kind": "space", "space": record.ref}
    if ctx.has_additions:
        answer["appliedType"] = plan
        answer["defaultLevel"] = level
        answer["permissions"] = permission_flags("site", ctx.role_on(record))
    return answer


_VISIBILITY_FEATURES = {
    "public": "sites-public-visibility",
    "unlisted": "sites-unlisted-visibility",
    "share-link": "sites-share-links",
    "visitor-auth": "sites-visitor-authentication",
}
_FIELD_FEATURES = {
    "hostname": "sites-custom-domain",
    "proxy": "sites-custom-subdirectory",
    "ads": "sites-ads",
}


def _used_features(ctx: Context, record: Record) -> Iterator[tuple[str, Json]]:
    """Yield the paid features that the site uses, each as (id, further members)."""
    yield _VISIBILITY_FEATURES[record.doc["visibility"]], {}
    yield from ((feature, {}) for field, feature in _FIELD_FEATURES.items() if record.doc.get(field))
    if (record.doc.get("adaptiveContent") or {}).get("enabled"):
        yield "sites-adaptive-content", {}
    if ctx.store.count(SECTION, scope=record.id):
        yield "sites-sections", {}
    if ctx.store.count(REDIRECT, scope=record.id):
        yield "sites-redirects", {}
    if customization := ctx.store.get(CUSTOMIZATION, record.id):
        yield "sites-basic-customization", {"customizations": list(_used_customizations(customization.doc))}


def _used_customizations(settings: Json) -> Iterator[str]:
    """Return the names of the customizations that a site uses."""
    header, footer = settings.get("header") or {}, settings.get("footer") or {}
    styling = settings.get("styling") or {}
    used = {
        "header-logo": header.get("logo"),
        "header-primary-link": header.get("primaryLink"),
        "theme-preset": styling.get("theme"),
        "footer-logo": footer.get("logo"),
        "footer-links": footer.get("groups"),
        "footer-copyright": footer.get("copyright"),
        "semantic-colors": any(
            styling.get(f"{name}Color") for name in ("info", "success", "warning", "danger")
        ),
    }
    return (name for name, value in used.items() if value)
