"""Handle the API operations on the customization (look) of a site, and on the overrides of a site space.

A site space is the position of a space in a site; its overrides replace single settings of the site.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ...errors import not_found
from ...request.context import Context
from ...sites.customization import patch_settings, site_customization, site_space_customization
from ...sites.navigation import SITE_SPACE, SITE_SPACE_CUSTOMIZATION
from ...sites.publishing import CUSTOMIZATION
from ...store import Json, Record


def get_customization(ctx: Context) -> Json:
    """Return the effective customization of a site."""
    return site_customization(ctx, ctx.site_from_path())


def put_customization(ctx: Context) -> Json:
    """Replace the customization of a site. An omitted setting gets its default."""
    site = ctx.site_from_path()
    ctx.put(Record(CUSTOMIZATION, site.id, ctx.body.sent_fields(), site.organization, site.id))
    return site_customization(ctx, site)


def _require_site_space(ctx: Context) -> Record:
    """Return the site space that the path names. Raise 404 if it does not exist."""
    site = ctx.site_from_path()
    site_space = ctx.store.get(SITE_SPACE, ctx.params["siteSpaceId"])
    if site_space is None or site_space.scope != site.id:
        raise not_found(SITE_SPACE, ctx.params["siteSpaceId"])
    return site_space


def get_overrides(ctx: Context) -> Json:
    """Return the overrides of a site space. The API version `published` returns the effective settings."""
    if ctx.is_published_profile:
        return site_space_customization(ctx, _require_site_space(ctx))
    overrides = ctx.store.get(SITE_SPACE_CUSTOMIZATION, _require_site_space(ctx).id)
    return overrides.doc if overrides else {}


def update_overrides(ctx: Context) -> Json:
    """Update the overrides of a site space.

    A given member replaces the whole old member; in the API version `published`, the members of objects are
    merged.
    """
    site_space = _require_site_space(ctx)
    overrides = ctx.store.get(SITE_SPACE_CUSTOMIZATION, site_space.id)
    overrides = overrides or Record(
        SITE_SPACE_CUSTOMIZATION, site_space.id, {}, site_space.organization, site_space.scope
    )
    fields = ctx.body.sent_fields()
    merged = (
        patch_settings(overrides.doc, fields) if ctx.is_published_profile else {**overrides.doc, **fields}
    )
    overrides.doc = {member: value for member, value in merged.items() if value is not None}
    ctx.put(overrides)
    return site_space_customization(ctx, site_space) if ctx.is_published_profile else overrides.doc


def delete_overrides(ctx: Context) -> None:
    """Delete the overrides of a site space. It is not an error if there are none."""
    site = ctx.site_from_path()
    overrides = ctx.store.get(SITE_SPACE_CUSTOMIZATION, ctx.params["siteSpaceId"])
    if overrides is not None and overrides.scope == site.id:
        ctx.remove(overrides)
