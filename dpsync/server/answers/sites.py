"""The answer for a site."""

from collections.abc import Iterator

from ..access.roles import flags
from ..models.sites import SECTIONED_SITE
from ..request.context import Context
from ..sites.navigation import PLACE, REDIRECT, SECTION
from ..sites.publishing import CUSTOMIZATION, navigation_of
from ..store import Json, Record
from .git_sync import git_sync
from .shared import APP, located, set_only
from .urls import site_url


def site(ctx: Context, record: Record) -> Json:
    doc, plan = dict(record.doc), _plan(record)
    doc.pop("createdBy", None)  # not part of the API
    origin = doc.pop("proxy", None)
    doc.pop("gitSync", None)
    level = doc.pop("defaultLevel", "inherit")
    answer = {
        "object": "site",
        "id": record.id,
        **set_only(doc),
        **git_sync(ctx, record),
        "siteSpaces": _count_places(ctx, record),
        "features": [
            {"id": id, "plan": plan, "frozen": False, **more} for id, more in _features(ctx, record)
        ],
        "urls": set_only(
            {
                "location": located(ctx, f"/orgs/{record.organization}/sites/{record.id}"),
                "app": f"{APP}/o/{record.organization}/sites/{record.id}",
                "published": site_url(ctx, record),
                "preview": f"{APP}/preview/sites/{record.id}" if ctx.full else None,
            }
        ),
    }
    if origin:
        answer["proxy"] = {"origin": origin, "target": f"https://proxy.docs.example/sites/{record.id}"}
    if ctx.published:
        del answer["agentsContext"]
        if record.ref:
            answer["styleguide"] = {"kind": "space", "space": record.ref}
    if ctx.full:
        answer["appliedType"] = plan
        answer["defaultLevel"] = level
        answer["permissions"] = flags("site", ctx.level(record))
    return answer


def _plan(record: Record) -> str:
    return "ultimate" if record.doc["type"] == SECTIONED_SITE else record.doc["type"]


def _count_places(ctx: Context, record: Record) -> int:
    if ctx.full:
        return ctx.store.count(PLACE, scope=record.id)
    nav = navigation_of(ctx, record)
    return len(nav.visible(nav.places))


_OF_VISIBILITY = {
    "public": "sites-public-visibility",
    "unlisted": "sites-unlisted-visibility",
    "share-link": "sites-share-links",
    "visitor-auth": "sites-visitor-authentication",
}
_OF_FIELD = {
    "hostname": "sites-custom-domain",
    "proxy": "sites-custom-subdirectory",
    "ads": "sites-ads",
}


def _features(ctx: Context, record: Record) -> Iterator[tuple[str, Json]]:
    """Yield the paid features that the site uses, each as (id, further members)."""
    yield _OF_VISIBILITY[record.doc["visibility"]], {}
    yield from ((feature, {}) for field, feature in _OF_FIELD.items() if record.doc.get(field))
    if (record.doc.get("adaptiveContent") or {}).get("enabled"):
        yield "sites-adaptive-content", {}
    if ctx.store.count(SECTION, scope=record.id):
        yield "sites-sections", {}
    if ctx.store.count(REDIRECT, scope=record.id):
        yield "sites-redirects", {}
    if kept := ctx.store.get(CUSTOMIZATION, record.id):
        yield "sites-basic-customization", {"customizations": list(_customized(kept.doc))}


def _customized(settings: Json) -> Iterator[str]:
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
