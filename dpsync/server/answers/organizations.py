"""Organizations, and what lets people in."""

from ..request.context import Context
from ..store import Record
from .people import team, user
from .shared import APP, Json, located, set_only


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
            {"location": located(ctx, f"/orgs/{record.id}"), "app": f"{APP}/o/{record.id}", "logo": logo}
        ),
        "permissions": ctx.standing(record.id).flags(),
    }


def saml_provider(ctx: Context, record: Record) -> Json:
    """What it has not yet is shown as an empty text, and no role as null."""
    doc = record.doc
    service = f"{APP}/auth/saml/{record.id}"
    settings = {field: doc.get(field) or "" for field in ("entityID", "certificate", "ssoURL")}
    answer = {
        "object": "saml-provider",
        "id": record.id,
        **doc,
        **settings,
        "defaultRole": doc.get("defaultRole"),
        "status": "active" if all(settings.values()) else "pending",
        "service": {"acsURL": f"{service}/acs", "startURL": f"{service}/start", "entityID": service},
        "urls": {"location": located(ctx, f"/orgs/{record.organization}/saml/{record.id}")},
    }
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
            "location": located(ctx, f"/orgs/{record.organization}/link-invites/{record.id}"),
            "app": f"{APP}/invite/{record.id}",
        },
    }
