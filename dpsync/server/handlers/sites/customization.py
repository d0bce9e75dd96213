"""Operations on the customization of a site, and on the overrides of a site space."""

from ...errors import not_found
from ...request.context import Context
from ...sites.customization import patch_settings, site_customization, site_space_customization
from ...sites.navigation import SITE_SPACE, SITE_SPACE_CUSTOMIZATION
from ...sites.publishing import CUSTOMIZATION
from ...store import Json, Record


def get_customization(ctx: Context) -> Json:
    return site_customization(ctx, ctx.site_from_path())


def put_customization(ctx: Context) -> Json:
    """Replace the customization of a site. An omitted setting gets its default."""
    site = ctx.site_from_path()
    ctx.put(Record(CUSTOMIZATION, site.id, ctx.body.sent_fields(), site.organization, site.id))
    return site_customization(ctx, site)


def _require_site_space(ctx: Context) -> Record:
    site = ctx.site_from_path()
    place = ctx.store.get(SITE_SPACE, ctx.params["siteSpaceId"])
    if place is None or place.scope != site.id:
        raise not_found(SITE_SPACE, ctx.params["siteSpaceId"])
    return place


def get_overrides(ctx: Context) -> Json:
    """Return the overrides of a site space. The `published` edition returns the effective settings."""
    if ctx.is_published_profile:
        return site_space_customization(ctx, _require_site_space(ctx))
    kept = ctx.store.get(SITE_SPACE_CUSTOMIZATION, _require_site_space(ctx).id)
    return kept.doc if kept else {}


def update_overrides(ctx: Context) -> Json:
    """Update the overrides of a site space.

    A given member replaces the whole previous member; in the `published` edition, the members of objects are
    merged.
    """
    place = _require_site_space(ctx)
    kept = ctx.store.get(SITE_SPACE_CUSTOMIZATION, place.id)
    kept = kept or Record(SITE_SPACE_CUSTOMIZATION, place.id, {}, place.organization, place.scope)
    given = ctx.body.sent_fields()
    merged = patch_settings(kept.doc, given) if ctx.is_published_profile else {**kept.doc, **given}
    kept.doc = {member: value for member, value in merged.items() if value is not None}
    ctx.put(kept)
    return site_space_customization(ctx, place) if ctx.is_published_profile else kept.doc


def delete_overrides(ctx: Context) -> None:
    site = ctx.site_from_path()
    kept = ctx.store.get(SITE_SPACE_CUSTOMIZATION, ctx.params["siteSpaceId"])
    if kept is not None and kept.scope == site.id:
        ctx.remove(kept)
