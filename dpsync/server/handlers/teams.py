"""Teams and who is in them. A membership is its own record, named by team and user."""

from typing import Any

from .. import answers
from ..context import Context
from ..errors import missing
from ..paging import page
from ..store import Record
from .members import find_member
from .saml import forget_team

Json = dict[str, Any]


def _team(ctx: Context) -> Record:
    organization = ctx.organization()
    team = ctx.store.get("team", ctx.params["teamId"])
    if team is None or team.organization != organization.id:
        raise missing("team", ctx.params["teamId"])
    return team


def list_teams(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query
    found = ctx.store.find("team", organization=organization.id)
    if query.title:
        found = [team for team in found if query.title.casefold() in team.doc["title"].casefold()]
    if query.owner is not None:
        found = [team for team in found if _manages(ctx, organization.id, query.owner, team)]
    items, envelope = page(found, limit=query.limit, cursor=query.page, key=lambda team: [team.seq])
    return {**envelope, "items": [answers.team(ctx, team) for team in items]}


def _manages(ctx: Context, organization: str, user: str, team: Record) -> bool:
    """An admin of the organization manages every team, an owner the team they own."""
    member = ctx.load("member", f"{organization}:{user}")
    membership = ctx.load("membership", f"{team.id}:{user}")
    owns = membership is not None and membership.doc["role"] == "owner"
    return member is not None and (member.doc["role"] == "admin" or owns)


def create_team(ctx: Context) -> Json:
    """A new team each time: titles are not unique. Those named in `members` get the role `member`."""
    organization, body = ctx.organization(), ctx.body
    users = [_user(ctx, organization.id, name, "body.members") for name in body.members]
    doc = {"title": body.title, "createdAt": ctx.stamp}
    team = Record("team", ctx.new_id("team"), doc, organization.id, organization.id)
    ctx.put(team)
    for user in users:
        _join(ctx, team, user, None)
    return answers.team(ctx, team)


def get_team(ctx: Context) -> Json:
    return answers.team(ctx, _team(ctx))


def update_team(ctx: Context) -> Json:
    team = _team(ctx)
    team.doc.update(ctx.body.given())
    ctx.put(team)
    return answers.team(ctx, team)


def delete_team(ctx: Context) -> None:
    """Its memberships go, too; SAML providers that had it as their default team have none."""
    organization = ctx.organization()
    team = ctx.store.get("team", ctx.params["teamId"])
    if team is None or team.organization != organization.id:
        return
    for membership in ctx.store.find("membership", scope=team.id):
        ctx.remove(membership)
    forget_team(ctx, team)
    ctx.remove(team)


def list_team_members(ctx: Context) -> Json:
    team, query = _team(ctx), ctx.query
    found = ctx.store.find("membership", scope=team.id)
    items, envelope = page(
        found, limit=query.limit, cursor=query.page, key=lambda membership: [membership.seq]
    )
    shown = []
    for membership in items:
        member = find_member(ctx, team.organization, membership.ref)
        if member is None:
            raise LookupError(f"membership {membership.id} is of nobody")
        role = {"role": membership.doc["role"]}
        shown.append(
            {"organization": answers.member(ctx, member), "team": role, "permissions": {"view": True}}
        )
    return {**envelope, "items": shown}


def change_team_members(ctx: Context) -> None:
    """Adds, changes roles, removes; all or nothing. Who is in `remove` goes, wherever else they stand."""
    team, body = _team(ctx), ctx.body
    gone = {_known(ctx, team.organization, name) for name in body.remove}
    roles: dict[str, str | None] = {}
    for name in body.add:
        if _known(ctx, team.organization, name) not in gone:
            roles[_user(ctx, team.organization, name, "body.add")] = None
    for name, change in body.memberships.items():
        if _known(ctx, team.organization, name) not in gone:
            roles[_user(ctx, team.organization, name, "body.memberships")] = change.role
    for user, role in roles.items():
        _join(ctx, team, user, role)
    for user in gone:
        _leave(ctx, team, user)


def put_team_member(ctx: Context) -> None:
    team = _team(ctx)
    user = _user(ctx, team.organization, ctx.params["userId"], "")
    _join(ctx, team, user, ctx.body.role if ctx.body else None)


def delete_team_member(ctx: Context) -> None:
    team = _team(ctx)
    _leave(ctx, team, _known(ctx, team.organization, ctx.params["userId"]))


def _join(ctx: Context, team: Record, user: str, role: str | None) -> None:
    """Adds or changes. Without a role a new one is a `member`, and one who is there keeps theirs."""
    id = f"{team.id}:{user}"
    membership = ctx.store.get("membership", id)
    if membership is None:
        membership = Record(
            "membership", id, {"role": role or "member"}, team.organization, team.id, ref=user
        )
    elif role is None:
        return
    membership.doc["role"] = role or "member"
    ctx.put(membership)


def _leave(ctx: Context, team: Record, user: str) -> None:
    if (membership := ctx.store.get("membership", f"{team.id}:{user}")) is not None:
        ctx.remove(membership)


def _known(ctx: Context, organization: str, name: str) -> str:
    """The user id of a member named by id or e-mail; the name itself when there is no such member."""
    if find_member(ctx, organization, name) is None and "@" in name:
        for member in ctx.store.find("member", organization=organization):
            user = ctx.load("user", member.ref)
            if user is not None and (user.doc.get("email") or "").casefold() == name.casefold():
                return member.ref
    return name


def _user(ctx: Context, organization: str, name: str, field: str) -> str:
    user = _known(ctx, organization, name)
    if find_member(ctx, organization, user) is None:
        raise missing(f"{field}: member" if field else "member", name)
    return user
