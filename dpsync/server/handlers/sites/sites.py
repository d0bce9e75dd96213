"""Operations on sites, their visitor schema, visitor authentication and share links."""

from typing import Any

from ... import answers
from ...content.slugs import unique_slug
from ...errors import bad, conflict, missing
from ...request.changes import changes, same
from ...request.context import Context
from ...request.paging import list_page
from ...sites import navigation
from ...sites.publishing import SHARE_LINK, VISITOR_AUTH, navigation_of, opens, secret
from ...sites.visitors import check_schema, conditions
from ...store import Json, Record
from . import styleguides


def list_sites(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query
    if query.space is not None or query.title:
        found = _matching(ctx, organization)
    else:
        standing, types = ctx.standing(organization.id), frozenset(query.type or ())
        key = ("sites", organization.id, standing, types, query.published, ctx.profile)
        found = ctx.ordered(key, {"site"}, lambda: _matching(ctx, organization))
    return list_page(ctx, found, lambda site: ctx.show(answers.site, site))


def _matching(ctx: Context, organization: Record) -> list[Record]:
    """Return the sites that the caller may view and that match the query, in order of creation."""
    query = ctx.query
    sites = ctx.store.find("site", organization=organization.id)
    found = [site for site in sites if ctx.sees(site)]
    if query.space is not None:
        showing = {place.scope for place in ctx.store.find(navigation.PLACE, ref=query.space)}
        found = [site for site in found if site.id in showing]
    if query.title:
        found = [site for site in found if query.title.casefold() in site.doc["title"].casefold()]
    if query.type and ctx.full:
        found = [site for site in found if site.doc["type"] in query.type]
    if query.published is not None:
        found = [site for site in found if site.doc["published"] == query.published]
    return found


def create_site(ctx: Context) -> Json:
    """Create an unpublished site with a site space for each given space. The title gives the basename."""
    organization, body = ctx.organization(), ctx.body
    spaces = [ctx.named_space(id, organization.id, "body.spaces") for id in body.spaces]
    doc = {
        "title": body.title,
        "type": body.type,
        "visibility": body.visibility,
        "basename": unique_slug(body.title, _basenames(ctx, organization.id), "site"),
        "agentsContext": "included",
        "published": False,
        "createdAt": ctx.stamp,
        "createdBy": ctx.user,
    }
    site = Record("site", ctx.new_id("site"), doc, organization.id, organization.id)
    ctx.put(site)
    nav = navigation.read(ctx.store, site)
    for space in spaces:
        navigation.add_place(ctx, nav, space)
    return answers.site(ctx, site)


def _basenames(ctx: Context, organization: str, but: str = "") -> set[str]:
    sites = ctx.store.find("site", organization=organization)
    return {site.doc["basename"] for site in sites if site.id != but}


def get_site(ctx: Context) -> Any:
    return ctx.show(answers.site, ctx.site())


def update_site(ctx: Context) -> Json:
    site, given = ctx.site(), ctx.body.given()
    if not ctx.full:
        given.pop("defaultLevel", None)
    if ctx.published:
        given.pop("agentsContext", None)
        if "styleguide" in given:
            styleguides.attach(ctx, site, given.pop("styleguide"))
    section, default = given.pop("defaultSiteSection", None), given.pop("defaultSiteSpace", None)
    given = changes(site.doc, given)
    basename = given.get("basename")
    if basename is not None and basename in _basenames(ctx, site.organization, site.id):
        raise conflict(f"body.basename: {basename!r} is taken in this organization")
    if section is not None or default is not None:
        _set_defaults(ctx, site, section, default)
    site.doc.update(given)
    ctx.put(site)
    return answers.site(ctx, site)


def _set_defaults(ctx: Context, site: Record, section: str | None, default: str | None) -> None:
    nav = navigation_of(ctx, site)
    if section is not None:
        chosen = nav.node(navigation.SECTION, section, "body.defaultSiteSection")
        navigation.make_default(ctx, nav.sections, chosen)
    if default is not None:
        place = nav.node(navigation.PLACE, default, "body.defaultSiteSpace")
        first = nav.default_section()
        if place.parent != (first.id if first else ""):
            raise bad("body.defaultSiteSpace: must be at the top level of the site or in its default section")
        navigation.make_default(ctx, nav.places_in(place.parent), place)


def delete_site(ctx: Context) -> None:
    """Delete a site. If the site is the default content of its organization, the default is cleared."""
    organization = ctx.find_organization(ctx.params["organizationId"])
    site = ctx.store.get("site", ctx.params["siteId"])
    if site is None or site.organization != organization.id:
        ctx.permit(organization)
        return
    ctx.permit(site)
    ctx.remove(site)


def publish_site(ctx: Context) -> Json:
    return _set_published(ctx, True)


def unpublish_site(ctx: Context) -> Json:
    return _set_published(ctx, False)


def _set_published(ctx: Context, published: bool) -> Json:
    site = ctx.site()
    site.doc["published"] = published
    ctx.put(site)
    return answers.site(ctx, site)


def get_published(ctx: Context) -> Json:
    """Return the published site.

    Raise 404 if the site is not published, or if it needs a share link and the caller passes no valid secret.
    """
    site = ctx.site()
    shared = site.doc["visibility"] == "share-link"
    if not site.doc["published"] or (shared and not opens(ctx, site, ctx.query.shareKey)):
        raise missing("published site", site.id)
    return answers.published_site(ctx, navigation.read(ctx.store, site))


# --- visitor schema -------------------------------------------------------------------------------


def get_schema(ctx: Context) -> Json:
    site = ctx.site()
    kept = ctx.store.get("adaptive-schema", site.id)
    if kept is None:
        raise missing("adaptive schema of site", site.id)
    return {"object": "site-adaptive-schema", **kept.doc}


def put_schema(ctx: Context) -> Json:
    site, schema = ctx.site(), ctx.body.jsonSchema
    kept = ctx.store.get("adaptive-schema", site.id)
    if kept is None or not same(kept.doc["jsonSchema"], schema):
        check_schema(schema)
        doc = {"jsonSchema": schema, "updatedAt": ctx.stamp}
        kept = kept or Record("adaptive-schema", site.id, {}, site.organization, site.id)
        kept.doc = doc
        ctx.put(kept)
    return {"object": "site-adaptive-schema", **kept.doc}


def list_conditions(ctx: Context) -> Json:
    kept = ctx.store.get("adaptive-schema", ctx.site().id)
    return {"items": conditions(kept.doc["jsonSchema"]) if kept else []}


# --- visitors: authenticated visits, and share links --------------------------------------------


def get_auth(ctx: Context) -> Json:
    return answers.visitor_auth(ctx, ctx.site())


def update_auth(ctx: Context) -> Json:
    site = ctx.site()
    kept = _kept_auth(ctx, site)
    kept.doc |= ctx.body.given()
    ctx.put(kept)
    return answers.visitor_auth(ctx, site)


def regenerate_auth(ctx: Context) -> Json:
    """Create a new private key. Tokens that were signed with the previous key become invalid."""
    site = ctx.site()
    kept = _kept_auth(ctx, site)
    kept.doc.pop("privateKey", None)
    kept.doc["generation"] = kept.doc.get("generation", 0) + 1
    ctx.put(kept)
    return answers.visitor_auth(ctx, site)


def _kept_auth(ctx: Context, site: Record) -> Record:
    kept = ctx.store.get(VISITOR_AUTH, site.id)
    return kept or Record(VISITOR_AUTH, site.id, {}, site.organization, site.id)


def begin_share_link(ctx: Context, link: Record) -> None:
    """Begin an active share link. Names need not be unique. The secret depends only on the id."""
    link.doc = {"name": ctx.body.name, "active": True, "createdAt": ctx.stamp}
    link.ref = secret(SHARE_LINK, link.id)[:24]
