"""Members of an organization."""

from typing import Any

from .. import answers
from ..context import Context
from ..errors import conflict, missing
from ..paging import page
from ..store import Record

Json = dict[str, Any]


def find_member(ctx: Context, organization: str, user: str) -> Record | None:
    return ctx.store.get("member", f"{organization}:{user}")


def _member(ctx: Context) -> Record:
    organization = ctx.organization()
    member = find_member(ctx, organization.id, ctx.params["userId"])
    if member is None:
        raise missing("member", ctx.params["userId"])
    return member


def list_members(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query
    found = ctx.store.find("member", organization=organization.id)
    if query.role is not None:
        wanted = None if query.role == "guest" else query.role
        found = [member for member in found if member.doc["role"] == wanted]
    if query.search:
        found = [member for member in found if query.search.casefold() in _searched(ctx, member)]
    if query.sort == "lastSeenAt":
        found = [member for member in found if member.doc.get("lastSeenAt")]
    descending = query.order == "desc"

    def key(member: Record) -> list[Any]:
        value = _name(ctx, member) if query.sort == "name" else member.doc[query.sort]
        return [value, member.seq]

    found.sort(key=key, reverse=descending)
    items, envelope = page(found, limit=query.limit, cursor=query.page, key=key, descending=descending)
    return {**envelope, "items": [answers.member(ctx, member) for member in items]}


def _name(ctx: Context, member: Record) -> str:
    user = ctx.load("user", member.ref)
    return str(user.doc.get("displayName", "")).casefold() if user else ""


def _searched(ctx: Context, member: Record) -> str:
    user = ctx.load("user", member.ref)
    return f"{_name(ctx, member)}\n{user.doc.get('email') or ''}".casefold() if user else ""


def get_member(ctx: Context) -> Json:
    return answers.member(ctx, _member(ctx))


def update_member(ctx: Context) -> Json:
    member, given = _member(ctx), ctx.body.given()
    if "role" in given:
        if given["role"] != "admin":
            _keep_an_admin(ctx, member)
        member.doc["role"] = given["role"]
        ctx.put(member)
    return answers.member(ctx, member)


def delete_member(ctx: Context) -> None:
    """The memberships of the member's teams go too. The last admin stays: 409."""
    organization = ctx.organization()
    member = find_member(ctx, organization.id, ctx.params["userId"])
    if member is None:
        return
    _keep_an_admin(ctx, member)
    for membership in ctx.store.find("membership", organization=organization.id, ref=member.ref):
        ctx.remove(membership)
    ctx.remove(member)


def _keep_an_admin(ctx: Context, member: Record) -> None:
    if member.doc["role"] != "admin":
        return
    members = ctx.store.find("member", organization=member.organization)
    if sum(other.doc["role"] == "admin" for other in members) == 1:
        raise conflict(f"{member.ref!r} is the last admin of the organization")


def ping(ctx: Context) -> Json:
    """The calling member was seen now."""
    organization = ctx.organization()
    member = find_member(ctx, organization.id, ctx.user)
    if member is None:
        raise missing("member", ctx.user)
    member.doc["lastSeenAt"] = ctx.stamp
    ctx.put(member)
    return {}


def add_sso_member(ctx: Context) -> Json:
    """Marks a member as an SSO member, or adds a known user as one with the organization's default role."""
    organization, user = ctx.organization(), ctx.params["userId"]
    member = find_member(ctx, organization.id, user)
    if member is None:
        if ctx.load("user", user) is None:
            raise missing("user", user)
        member = new_member(ctx, organization, user)
    member.doc["sso"] = True
    ctx.put(member)
    return answers.member(ctx, member)


def new_member(ctx: Context, organization: Record, user: str) -> Record:
    doc = {
        "role": organization.doc.get("defaultRole"),
        "disabled": False,
        "joinedAt": ctx.stamp,
        "sso": False,
    }
    return Record("member", f"{organization.id}:{user}", doc, organization.id, organization.id, ref=user)


def list_member_spaces(ctx: Context) -> Json:
    member, query = _member(ctx), ctx.query
    found = list(ctx.spaces_of(member.organization, member.ref))
    descending = query.order == "desc"
    if descending:
        found.reverse()
    items, envelope = page(
        found, limit=query.limit, cursor=query.page, key=lambda entry: [entry[0].seq], descending=descending
    )
    shown = [{"permission": level, "space": answers.space(ctx, space)} for space, level in items]
    return {**envelope, "items": shown}


def list_member_teams(ctx: Context) -> Json:
    member, query = _member(ctx), ctx.query
    found = []
    for membership in ctx.store.find("membership", organization=member.organization, ref=member.ref):
        team = ctx.load("team", membership.scope)
        if team is not None and (query.title or "").casefold() in team.doc["title"].casefold():
            found.append((team, membership))
    found.sort(key=lambda entry: entry[0].seq)
    items, envelope = page(found, limit=query.limit, cursor=query.page, key=lambda entry: [entry[0].seq])
    shown = [
        {"team": answers.team(ctx, team), "member": {"role": membership.doc["role"]}}
        for team, membership in items
    ]
    return {**envelope, "items": shown}
