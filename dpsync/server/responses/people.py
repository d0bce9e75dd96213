"""Make the response bodies for users, members, teams, organizations and SAML providers.

Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from ..request.context import Context
from ..store import Json, Record
from .shared import APP_URL, api_url, without_none


def user(ctx: Context, id: str) -> Json:
    """Return the response body for a user. A user who is not in the store has only an id."""
    record = ctx.load("user", id)
    doc = without_none(record.doc) if record else {"displayName": id}
    doc.pop("emailVerified", None)
    return {"object": "user", "id": id, **doc, "urls": {"location": api_url(ctx, f"/users/{id}")}}


def member(ctx: Context, record: Record) -> Json:
    """Return the response body for a member, with the numbers of spaces, sites and teams."""
    doc = record.doc
    answer = {
        "object": "member",
        "id": record.ref,
        "role": doc["role"],
        "user": user(ctx, record.ref),
        "disabled": doc["disabled"],
        "joinedAt": doc["joinedAt"],
        "sso": doc["sso"],
        "spaces": ctx.count_visible_spaces(record.organization, record.ref),
        "teams": ctx.store.count("membership", organization=record.organization, ref=record.ref),
    }
    if ctx.has_additions:
        answer["sites"] = ctx.count_visible_sites(record.organization, record.ref)
    if doc.get("lastSeenAt"):
        answer["lastSeenAt"] = doc["lastSeenAt"]
    return answer


def team(ctx: Context, record: Record) -> Json:
    """Return the response body for a team, with the numbers of members and spaces."""
    return {
        "object": "team",
        "id": record.id,
        "title": record.doc["title"],
        "members": ctx.store.count("membership", scope=record.id),
        "spaces": ctx.count_team_spaces(record),
        "createdAt": record.doc["createdAt"],
        "permissions": ctx.access_in(record.organization).team_permission_flags(record.id),
    }


def organization(ctx: Context, record: Record) -> Json:
    """Return the response body for an organization with the permissions of the caller."""
    doc = dict(record.doc)
    logo = doc.pop("logo", None)
    permissions = ctx.access_in(record.id).permission_flags()
    if not ctx.has_additions:
        del permissions["access"]
    if ctx.is_published_profile:
        del permissions["ingestConversations"]
    nullable = {
        "defaultRole": doc.pop("defaultRole", None),
        "defaultContent": doc.pop("defaultContent", None),
    }
    if ctx.is_published_profile and nullable["defaultContent"] is None:
        del nullable["defaultContent"]
    return {
        "object": "organization",
        "id": record.id,
        **without_none(doc),
        **nullable,
        "urls": without_none(
            {"location": api_url(ctx, f"/orgs/{record.id}"), "app": f"{APP_URL}/o/{record.id}", "logo": logo}
        ),
        "permissions": permissions,
    }


def saml_provider(ctx: Context, record: Record) -> Json:
    """Return the response body for a SAML provider.

    An unset text is "", an unset role is null, and an unset `ssoURL` is omitted.

    GitBook's document requires `ssoURL` in every response, so the API version `published` has "" if unset.
    """
    doc = record.doc
    service = f"{APP_URL}/auth/saml/{record.id}"
    texts = {field: doc.get(field) or "" for field in ("entityID", "certificate")}
    answer = {
        "object": "saml-provider",
        "id": record.id,
        **doc,
        **texts,
        "defaultRole": doc.get("defaultRole"),
        "status": "active" if all(texts.values()) and doc.get("ssoURL") else "pending",
        "service": {"acsURL": f"{service}/acs", "startURL": f"{service}/start", "entityID": service},
        "urls": {"location": api_url(ctx, f"/orgs/{record.organization}/saml/{record.id}")},
    }
    if ctx.is_published_profile:
        answer.setdefault("ssoURL", "")
    if record.ref and (default_team := ctx.load("team", record.ref)) is not None:
        answer["defaultTeam"] = team(ctx, default_team)
    return answer
