"""Answers for users, members, teams, organizations and SAML providers."""

from ..request.context import Context
from ..store import Json, Record
from .shared import APP, located, set_only


def user(ctx: Context, id: str) -> Json:
    record = ctx.load("user", id)
    doc = set_only(record.doc) if record else {"displayName": id}
    doc.pop("emailVerified", None)
    return {"object": "user", "id": id, **doc, "urls": {"location": located(ctx, f"/users/{id}")}}


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
        "spaces": ctx.count_spaces_of(record.organization, record.ref),
        "teams": ctx.store.count("membership", organization=record.organization, ref=record.ref),
    }
    if ctx.full:
        answer["sites"] = ctx.count_sites_of(record.organization, record.ref)
    if doc.get("lastSeenAt"):
        answer["lastSeenAt"] = doc["lastSeenAt"]
    return answer


def team(ctx: Context, record: Record) -> Json:
    return {
        "object": "team",
        "id": record.id,
        "title": record.doc["title"],
        "members": ctx.store.count("membership", scope=record.id),
        "spaces": ctx.count_spaces_of_team(record),
        "createdAt": record.doc["createdAt"],
        "permissions": ctx.standing(record.organization).team_flags(record.id),
    }


def organization(ctx: Context, record: Record) -> Json:
    doc = dict(record.doc)
    logo = doc.pop("logo", None)
    permissions = ctx.standing(record.id).flags()
    if not ctx.full:
        del permissions["access"]
    if ctx.published:
        del permissions["ingestConversations"]
    nullable = {
        "defaultRole": doc.pop("defaultRole", None),
        "defaultContent": doc.pop("defaultContent", None),
    }
    if ctx.published and nullable["defaultContent"] is None:
        del nullable["defaultContent"]
    return {
        "object": "organization",
        "id": record.id,
        **set_only(doc),
        **nullable,
        "urls": set_only(
            {"location": located(ctx, f"/orgs/{record.id}"), "app": f"{APP}/o/{record.id}", "logo": logo}
        ),
        "permissions": permissions,
    }


def saml_provider(ctx: Context, record: Record) -> Json:
    """Return a SAML provider. An unset text is "", an unset role is null, and an unset `ssoURL` is omitted.

    The vendor's document requires `ssoURL` in every answer, so the `published` edition returns "" if unset.
    """
    doc = record.doc
    service = f"{APP}/auth/saml/{record.id}"
    texts = {field: doc.get(field) or "" for field in ("entityID", "certificate")}
    answer = {
        "object": "saml-provider",
        "id": record.id,
        **doc,
        **texts,
        "defaultRole": doc.get("defaultRole"),
        "status": "active" if all(texts.values()) and doc.get("ssoURL") else "pending",
        "service": {"acsURL": f"{service}/acs", "startURL": f"{service}/start", "entityID": service},
        "urls": {"location": located(ctx, f"/orgs/{record.organization}/saml/{record.id}")},
    }
    if ctx.published:
        answer.setdefault("ssoURL", "")
    if record.ref and (found := ctx.load("team", record.ref)) is not None:
        answer["defaultTeam"] = team(ctx, found)
    return answer
