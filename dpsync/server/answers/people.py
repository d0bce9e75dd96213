"""Users, members and teams."""

from ..request.context import Context
from ..store import Record
from .shared import Json, located, set_only


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
