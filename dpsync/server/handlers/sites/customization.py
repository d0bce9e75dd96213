"""Operations on the customization of a site, and on the overrides of a site space."""

from ...errors import missing
from ...request.context import Context
from ...sites.customization import merged_into, of_place, of_site
from ...sites.navigation import OVERRIDES, PLACE
from ...sites.publishing import CUSTOMIZATION
from ...store import Json, Record


def get_customization(ctx: Context) -> Json:
    return of_site(ctx, ctx.site())


def put_customization(ctx: Context) -> Json:
    """Replace the customization of a site. An omitted setting gets its default."""
    site = ctx.site()
    ctx.put(Record(CUSTOMIZATION, site.id, ctx.body.given(), site.organization, site.id))
    return of_site(ctx, site)


def _site_space(ctx: Context) -> Record:
    site = ctx.site()
    place = ctx.store.get(PLACE, ctx.params["siteSpaceId"])
    if place is None or place.scope != site.id:
        raise missing(PLACE, ctx.params["siteSpaceId"])
    return place


def get_overrides(ctx: Context) -> Json:
    """Return the overrides of a site space. The `published` edition returns the effective settings."""
    if ctx.published:
        return of_place(ctx, _site_space(ctx))
    kept = ctx.store.get(OVERRIDES, _site_space(ctx).id)
    return kept.doc if kept else {}


def update_overrides(ctx: Context) -> Json:
    """Update the overrides of a site space.

    A given member replaces the whole previous member; in the `published` edition, the members of objects are
    merged.
    """
    place = _site_space(ctx)
    kept = ctx.store.get(OVERRIDES, place.id)
    kept = kept or Record(OVERRIDES, place.id, {}, place.organization, place.scope)
    given = ctx.body.given()
    merged = merged_into(kept.doc, given) if ctx.published else {**kept.doc, **given}
    kept.doc = {member: value for member, value in merged.items() if value is not None}
    ctx.put(kept)
    return of_place(ctx, place) if ctx.published else kept.doc


def delete_overrides(ctx: Context) -> None:
    site = ctx.site()
    kept = ctx.store.get(OVERRIDES, ctx.params["siteSpaceId"])
    if kept is not None and kept.scope == site.id:
        ctx.remove(kept)
