"""Handle the API operations on sites, their visitor schema, visitor authentication and share links.

A visitor schema is a JSON Schema of what a site may know about a visitor (claims).
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from typing import Any

from ... import responses
from ...content.slugs import unique_slug
from ...errors import bad_request, conflict, not_found
from ...request.changes import changed_fields, is_same_json
from ...request.context import Context
from ...request.paging import list_page
from ...sites import navigation
from ...sites.publishing import (
    SHARE_LINK,
    VISITOR_AUTH,
    derive_secret,
    is_valid_share_key,
    visible_navigation,
)
from ...sites.visitor_schema import check_schema, schema_conditions
from ...store import Json, Record
from . import styleguides


def list_sites(ctx: Context) -> Json:
    """List the sites that the caller may view. Lists without a filter by space or title are cached."""
    organization, query = ctx.organization_from_path(), ctx.query
    if query.space is not None or query.title:
        listed_sites = _matching_sites(ctx, organization)
    else:
        access, types = ctx.access_in(organization.id), frozenset(query.type or ())
        key = ("sites", organization.id, access, types, query.published, ctx.profile)
        listed_sites = ctx.cached_list(key, {"site"}, lambda: _matching_sites(ctx, organization))
    return list_page(ctx, listed_sites, lambda site: ctx.render_cached(responses.site, site))


def _matching_sites(ctx: Context, organization: Record) -> list[Record]:
    """Return the sites that the caller may view and that match the query, in order of creation."""
    query = ctx.query
    sites = ctx.store.find("site", organization=organization.id)
    matching = [site for site in sites if ctx.can_view(site)]
    if query.space is not None:
        site_ids = {site_space.scope for site_space in ctx.store.find(navigation.SITE_SPACE, ref=query.space)}
        matching = [site for site in matching if site.id in site_ids]
    if query.title:
        matching = [site for site in matching if query.title.casefold() in site.doc["title"].casefold()]
    if query.type and ctx.has_additions:
        matching = [site for site in matching if site.doc["type"] in query.type]
    if query.published is not None:
        matching = [site for site in matching if site.doc["published"] == query.published]
    return matching


def create_site(ctx: Context) -> Json:
    """Create an unpublished site with a site space for each given space. The title gives the basename."""
    organization, body = ctx.organization_from_path(), ctx.body
    spaces = [ctx.space_from_body(id, organization.id, "body.spaces") for id in body.spaces]
    doc = {
        "title": body.title,
        "type": body.type,
        "visibility": body.visibility,
        "basename": unique_slug(body.title, _taken_basenames(ctx, organization.id), "site"),
        "agentsContext": "included",
        "published": False,
        "createdAt": ctx.timestamp,
        "createdBy": ctx.user,
    }
    site = Record("site", ctx.new_id("site"), doc, organization.id, organization.id)
    ctx.put(site)
    nav = navigation.read_navigation(ctx.store, site)
    for space in spaces:
        navigation.add_site_space(ctx, nav, space)
    return responses.site(ctx, site)


def _taken_basenames(ctx: Context, organization: str, except_id: str = "") -> set[str]:
    """Return the basenames of all sites of an organization, except the site `except_id`."""
    sites = ctx.store.find("site", organization=organization)
    return {site.doc["basename"] for site in sites if site.id != except_id}


def get_site(ctx: Context) -> Any:
    """Return the site that the path names."""
    return ctx.render_cached(responses.site, ctx.site_from_path())


def update_site(ctx: Context) -> Json:
    """Update a site, its default section and its default site space. Raise 409 if the basename is taken."""
    site, fields = ctx.site_from_path(), ctx.body.sent_fields()
    if not ctx.has_additions:
        fields.pop("defaultLevel", None)
    if ctx.is_published_profile:
        fields.pop("agentsContext", None)
        if "styleguide" in fields:
            styleguides.set_styleguide(ctx, site, fields.pop("styleguide"))
    section, default = fields.pop("defaultSiteSection", None), fields.pop("defaultSiteSpace", None)
    fields = changed_fields(site.doc, fields)
    basename = fields.get("basename")
    if basename is not None and basename in _taken_basenames(ctx, site.organization, site.id):
        raise conflict(f"body.basename: {basename!r} is taken in this organization")
    if section is not None or default is not None:
        _set_defaults(ctx, site, section, default)
    site.doc.update(fields)
    ctx.put(site)
    return responses.site(ctx, site)


def _set_defaults(ctx: Context, site: Record, section: str | None, default: str | None) -> None:
    """Make a section and a site space the defaults of a site.

    The site space must be in the default section. Raise 400 otherwise.
    """
    nav = visible_navigation(ctx, site)
    if section is not None:
        default_section = nav.require_node(navigation.SECTION, section, "body.defaultSiteSection")
        navigation.set_default(ctx, nav.sections, default_section)
    if default is not None:
        site_space = nav.require_node(navigation.SITE_SPACE, default, "body.defaultSiteSpace")
        current_default = nav.default_section()
        if site_space.parent != (current_default.id if current_default else ""):
            raise bad_request(
                "body.defaultSiteSpace: must be at the top level of the site or in its default section"
            )
        navigation.set_default(ctx, nav.site_spaces_in(site_space.parent), site_space)


def delete_site(ctx: Context) -> None:
    """Delete a site. If the site is the default content of its organization, the default is cleared."""
    organization = ctx.find_organization(ctx.params["organizationId"])
    site = ctx.store.get("site", ctx.params["siteId"])
    if site is None or site.organization != organization.id:
        ctx.require_access(organization)
        return
    ctx.require_access(site)
    ctx.remove(site)


def publish_site(ctx: Context) -> Json:
    """Publish a site."""
    return _set_published(ctx, True)


def unpublish_site(ctx: Context) -> Json:
    """Unpublish a site. Its settings stay."""
    return _set_published(ctx, False)


def _set_published(ctx: Context, published: bool) -> Json:
    """Publish or unpublish the site that the path names."""
    site = ctx.site_from_path()
    site.doc["published"] = published
    ctx.put(site)
    return responses.site(ctx, site)


def get_published(ctx: Context) -> Json:
    """Return the published site.

    Raise 404 if the site is not published, or if it needs a share link and the caller passes no valid secret.
    """
    site = ctx.site_from_path()
    shared = site.doc["visibility"] == "share-link"
    if not site.doc["published"] or (shared and not is_valid_share_key(ctx, site, ctx.query.shareKey)):
        raise not_found("published site", site.id)
    return responses.published_site(ctx, navigation.read_navigation(ctx.store, site))


# --- visitor schema -------------------------------------------------------------------------------


def get_schema(ctx: Context) -> Json:
    """Return the visitor schema of a site. Raise 404 if the site has none."""
    site = ctx.site_from_path()
    schema = ctx.store.get("adaptive-schema", site.id)
    if schema is None:
        raise not_found("adaptive schema of site", site.id)
    return {"object": "site-adaptive-schema", **schema.doc}


def put_schema(ctx: Context) -> Json:
    """Replace the visitor schema of a site. An equal schema is accepted unchecked and changes nothing."""
    site, schema = ctx.site_from_path(), ctx.body.jsonSchema
    record = ctx.store.get("adaptive-schema", site.id)
    if record is None or not is_same_json(record.doc["jsonSchema"], schema):
        check_schema(schema)
        doc = {"jsonSchema": schema, "updatedAt": ctx.timestamp}
        record = record or Record("adaptive-schema", site.id, {}, site.organization, site.id)
        record.doc = doc
        ctx.put(record)
    return {"object": "site-adaptive-schema", **record.doc}


def list_conditions(ctx: Context) -> Json:
    """List the conditions that the visitor schema of a site offers."""
    schema = ctx.store.get("adaptive-schema", ctx.site_from_path().id)
    return {"items": schema_conditions(schema.doc["jsonSchema"]) if schema else []}


# --- visitors: authenticated visits, and share links --------------------------------------------


def get_auth(ctx: Context) -> Json:
    """Return the visitor authentication of a site."""
    return responses.visitor_auth(ctx, ctx.site_from_path())


def update_auth(ctx: Context) -> Json:
    """Update the visitor authentication of a site."""
    site = ctx.site_from_path()
    auth = _load_auth(ctx, site)
    auth.doc |= ctx.body.sent_fields()
    ctx.put(auth)
    return responses.visitor_auth(ctx, site)


def regenerate_auth(ctx: Context) -> Json:
    """Create a new private key. Tokens that were signed with the previous key become invalid."""
    site = ctx.site_from_path()
    auth = _load_auth(ctx, site)
    auth.doc.pop("privateKey", None)
    auth.doc["generation"] = auth.doc.get("generation", 0) + 1
    ctx.put(auth)
    return responses.visitor_auth(ctx, site)


def _load_auth(ctx: Context, site: Record) -> Record:
    """Return the record of the visitor authentication of a site, or a new one that is not stored."""
    auth = ctx.store.get(VISITOR_AUTH, site.id)
    return auth or Record(VISITOR_AUTH, site.id, {}, site.organization, site.id)


def initialize_share_link(ctx: Context, link: Record) -> None:
    """Begin an active share link. Names need not be unique. The secret depends only on the id."""
    link.doc = {"name": ctx.body.name, "active": True, "createdAt": ctx.timestamp}
    link.ref = derive_secret(SHARE_LINK, link.id)[:24]
