"""From stored documents to answers: adds what is computed (counts, URLs, visibility, permissions).

A field that is not set is left out, except those that the API shows as null.
"""

from typing import Any

from .access import Role, flags, level_on
from .context import Context
from .navigation import GROUP, PLACE, SECTION, Navigation
from .store import Record

API = "https://api.docs.example/v1"
APP = "https://app.docs.example"
Json = dict[str, Any]

_OPENNESS = ("public", "unlisted", "share-link", "visitor-auth")


def set_only(doc: Json) -> Json:
    return {key: value for key, value in doc.items() if value is not None}


def role_of(ctx: Context, organization: str) -> Role:
    return ctx.role_in(organization)[1]


# --- people ---------------------------------------------------------------------------------------


def user(ctx: Context, id: str) -> Json:
    record = ctx.load("user", id)
    doc = set_only(record.doc) if record else {"displayName": id}
    doc.pop("emailVerified", None)
    return {"object": "user", "id": id, **doc, "urls": {"location": f"{API}/users/{id}"}}


def member(ctx: Context, record: Record) -> Json:
    doc = record.doc
    answer = {
        "object": "member",
        "id": record.ref,
        "role": doc["role"],
        "user": user(ctx, record.ref),
        "disabled": doc["disabled"],
        "joinedAt": doc["joinedAt"],
        "sso": doc["sso"],
        "spaces": ctx.count_spaces_of(record.organization, doc["role"]),
        "teams": ctx.store.count("membership", organization=record.organization, ref=record.ref),
    }
    if doc.get("lastSeenAt"):
        answer["lastSeenAt"] = doc["lastSeenAt"]
    return answer


def team(ctx: Context, record: Record) -> Json:
    return {
        "object": "team",
        "id": record.id,
        "title": record.doc["title"],
        "members": ctx.store.count("membership", scope=record.id),
        "spaces": 0,
        "createdAt": record.doc["createdAt"],
        "permissions": flags("team", role_of(ctx, record.organization)),
    }


def organization(ctx: Context, record: Record) -> Json:
    doc = dict(record.doc)
    logo = doc.pop("logo", None)
    nullable = {
        "defaultRole": doc.pop("defaultRole", None),
        "defaultContent": doc.pop("defaultContent", None),
    }
    return {
        "object": "organization",
        "id": record.id,
        **set_only(doc),
        **nullable,
        "urls": set_only(
            {"location": f"{API}/orgs/{record.id}", "app": f"{APP}/o/{record.id}", "logo": logo}
        ),
        "permissions": flags("organization", role_of(ctx, record.id)),
    }


def saml_provider(ctx: Context, record: Record) -> Json:
    doc = record.doc
    service = f"{APP}/auth/saml/{record.id}"
    ready = all(doc.get(field) for field in ("entityID", "certificate", "ssoURL"))
    answer = {
        "object": "saml-provider",
        "id": record.id,
        **set_only(doc),
        "status": "active" if ready else "pending",
        "service": {"acsURL": f"{service}/acs", "startURL": f"{service}/start", "entityID": service},
        "urls": {"location": f"{API}/orgs/{record.organization}/saml/{record.id}"},
    }
    if "defaultRole" in doc:
        answer["defaultRole"] = doc["defaultRole"]
    if record.ref and (found := ctx.load("team", record.ref)) is not None:
        answer["defaultTeam"] = team(ctx, found)
    return answer


def link_invite(ctx: Context, record: Record) -> Json:
    return {
        "object": "link-invite",
        "id": record.id,
        **record.doc,
        "createdBy": user(ctx, record.doc["createdBy"]),
        "urls": {
            "location": f"{API}/orgs/{record.organization}/link-invites/{record.id}",
            "app": f"{APP}/invite/{record.id}",
        },
    }


# --- spaces and collections -----------------------------------------------------------------------


def collection(ctx: Context, record: Record) -> Json:
    level = level_on(role_of(ctx, record.organization), record, lambda id: ctx.load("collection", id))
    answer = {
        "object": "collection",
        "id": record.id,
        "title": record.doc["title"],
        "organization": record.organization,
        "defaultLevel": record.doc["defaultLevel"],
        "urls": {"location": f"{API}/collections/{record.id}", "app": f"{APP}/c/{record.id}"},
        "permissions": flags("collection", level),
    }
    if record.doc.get("description"):
        answer["description"] = record.doc["description"]
    if record.parent:
        answer["parent"] = record.parent
    return answer


def space(ctx: Context, record: Record) -> Json:
    level = level_on(role_of(ctx, record.organization), record, lambda id: ctx.load("collection", id))
    visibility, url = _shown(ctx, record)
    urls = {"location": f"{API}/spaces/{record.id}", "app": f"{APP}/s/{record.id}"}
    if url:
        urls["published"] = url
        if visibility == "public":
            urls["public"] = url
    doc = dict(record.doc)
    default_level = doc.pop("defaultLevel")
    answer = {
        "object": "space",
        "id": record.id,
        **set_only(doc),
        "visibility": visibility,
        "defaultLevel": default_level,
        "organization": record.organization,
        "revision": f"rev-{record.id}",
        "comments": 0,
        "changeRequests": 0,
        "changeRequestsOpen": 0,
        "changeRequestsDraft": 0,
        "urls": urls,
        "permissions": flags("space", level),
    }
    if record.parent:
        answer["parent"] = record.parent
    return answer


def _shown(ctx: Context, space: Record) -> tuple[str, str | None]:
    """The audience of a space and where it is published: the most open published site showing it decides."""
    sites = []
    for place in ctx.store.find(PLACE, ref=space.id):
        site = ctx.load("site", place.scope)
        if site is not None and site.doc["published"]:
            sites.append(
                (_OPENNESS.index(site.doc["visibility"]), site.seq, site.doc["visibility"], site, place)
            )
    if sites:
        _, _, visibility, site, place = min(sites, key=lambda found: found[:2])
        return visibility, place_url(ctx, site, place)
    return ("in-collection" if space.parent else "private"), None


# --- sites ----------------------------------------------------------------------------------------


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


def site(ctx: Context, record: Record) -> Json:
    doc = dict(record.doc)
    origin = doc.pop("proxy", None)
    answer = {
        "object": "site",
        "id": record.id,
        **set_only(doc),
        "siteSpaces": ctx.store.count(PLACE, scope=record.id),
        "features": [],
        "urls": {
            "location": f"{API}/orgs/{record.organization}/sites/{record.id}",
            "app": f"{APP}/o/{record.organization}/sites/{record.id}",
        },
    }
    if origin:
        answer["proxy"] = {"origin": origin, "target": f"https://proxy.docs.example/sites/{record.id}"}
    if doc["published"]:
        answer["urls"]["published"] = site_url(ctx, record)
    return answer


def site_space(ctx: Context, nav: Navigation, record: Record) -> Json:
    shown = ctx.load("space", record.ref)
    if shown is None:
        raise LookupError(f"site space {record.id} shows the absent space {record.ref}")
    doc = record.doc
    answer = {
        "object": "site-space",
        "id": record.id,
        "path": doc["path"],
        "space": space(ctx, shown),
        "title": shown.doc["title"],
        "default": doc["default"],
        "hidden": doc["hidden"],
        "hasAdvancedCustomizationFeature": False,
        "urls": {"published": place_url(ctx, nav.site, record)} if nav.site.doc["published"] else {},
    }
    if record.parent:
        answer["section"] = record.parent
    if doc.get("condition") is not None:
        answer["condition"] = doc["condition"]
    return answer


def section(ctx: Context, nav: Navigation, record: Record) -> Json:
    answer = {
        "object": "site-section",
        "id": record.id,
        **set_only(record.doc),
        "siteSpaces": [site_space(ctx, nav, place) for place in nav.places_in(record.id)],
        "urls": {"published": section_url(ctx, nav.site, record)} if nav.site.doc["published"] else {},
    }
    if record.parent:
        answer["sectionGroup"] = record.parent
    return answer


def group(ctx: Context, nav: Navigation, record: Record) -> Json:
    """With the additions, `children` holds sections and nested groups in their order, and `sections` the
    former alone.

    Without them it holds sections, and nested groups are found by their own `sectionGroup`.
    """
    children = nav.children(record.id)
    if not ctx.full:
        children = [child for child in children if child.kind == SECTION]
    shown = [node(ctx, nav, child) for child in children]
    answer = {"object": "site-section-group", "id": record.id, **set_only(record.doc), "children": shown}
    if ctx.full:
        answer["sections"] = [child for child in shown if child["object"] == "site-section"]
    if record.parent:
        answer["sectionGroup"] = record.parent
    return answer


def node(ctx: Context, nav: Navigation, record: Record) -> Json:
    if record.kind == GROUP:
        return group(ctx, nav, record)
    return section(ctx, nav, record) if record.kind == SECTION else site_space(ctx, nav, record)


def structure(ctx: Context, nav: Navigation) -> Json:
    if nav.sectioned:
        return {"type": "sections", "structure": [node(ctx, nav, child) for child in nav.children("")]}
    return {"type": "siteSpaces", "structure": [site_space(ctx, nav, place) for place in nav.places_in("")]}


# --- specifications and translations --------------------------------------------------------------


def openapi_spec(ctx: Context, record: Record) -> Json:
    doc = set_only(record.doc)
    urls = {
        "location": f"{API}/orgs/{record.organization}/openapi/{record.ref}",
        "app": f"{APP}/o/{record.organization}/openapi/{record.ref}",
    }
    if doc["visibility"] == "public" and "lastVersion" in doc:
        urls["published"] = f"{APP}/o/{record.organization}/openapi/{record.ref}/published"
    return {
        "object": "openapi-spec",
        "id": record.id,
        "slug": record.ref,
        **doc,
        "permissions": flags("openapi-spec", role_of(ctx, record.organization)),
        "urls": urls,
    }


def translation(ctx: Context, record: Record) -> Json:
    """Without a `result` while there is none: before the first run, or when its space is gone."""
    answer = {
        "object": "translation",
        "id": record.id,
        **record.doc,
        "permissions": flags("translation", role_of(ctx, record.organization)),
        "urls": {"location": f"{API}/orgs/{record.organization}/translations/{record.id}"},
    }
    result = ctx.load("space", record.ref) if record.ref else None
    if result is not None and result.organization == record.organization:
        answer["result"] = {"space": result.id, "revision": space(ctx, result)["revision"]}
    return answer
