"""Operations on teams and their members. A membership is a record with the id `TEAM:USER`.

The owners of a team and the admins of the organization may manage the team.
"""

from typing import Any

from ... import answers
from ...errors import ApiError, missing
from ...request.context import Context
from ...request.paging import created_page, list_page
from ...store import Json, Record
from .members import find_member, known_member, named_member


def _find(ctx: Context, flag: str) -> Record | None:
    """Return the team that the path names. Raise 403 unless the caller has the flag in its `permissions`."""
    organization, id = ctx.organization(), ctx.params["teamId"]
    if not ctx.standing(organization.id).team_flags(id)[flag]:
        needed = "the role read" if flag == "view" else "ownership of the team, or the role admin"
        raise ApiError(
            403, f"the team {id!r}: this request needs {needed} in the organization {organization.id!r}"
        )
    team = ctx.load("team", id)
    return team if team is not None and team.organization == organization.id else None


def _team(ctx: Context, flag: str = "admin") -> Record:
    team = _find(ctx, flag)
    if team is None:
        raise missing("team", ctx.params["teamId"])
    return team


def list_teams(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query

    def answer(team: Record) -> Any:
        return ctx.show(answers.team, team)

    if query.title or query.owner is not None:
        return list_page(ctx, _matching(ctx, organization), answer)
    return created_page(ctx, "team", answer, organization=organization.id)


def _matching(ctx: Context, organization: Record) -> list[Record]:
    query, found = ctx.query, ctx.store.find("team", organization=organization.id)
    if query.title:
        found = [team for team in found if query.title.casefold() in team.doc["title"].casefold()]
    if query.owner is not None:
        owner = ctx.standing(organization.id, query.owner)
        found = [team for team in found if owner.team_flags(team.id)["admin"]]
    return found


def create_team(ctx: Context) -> Json:
    """Create a team with the given members. Titles are not unique, so each call creates a new team."""
    organization, body = ctx.organization(), ctx.body
    users = [named_member(ctx, organization.id, name, "body.members") for name in body.members]
    doc = {"title": body.title, "createdAt": ctx.stamp}
    team = Record("team", ctx.new_id("team"), doc, organization.id, organization.id)
    ctx.put(team)
    for user in users:
        _join(ctx, team, user, None)
    return answers.team(ctx, team)


def get_team(ctx: Context) -> Any:
    return ctx.show(answers.team, _team(ctx, "view"))


def update_team(ctx: Context) -> Json:
    team = _team(ctx)
    team.doc.update(ctx.body.given())
    ctx.put(team)
    return answers.team(ctx, team)


def delete_team(ctx: Context) -> None:
    """Delete a team with its memberships and roles. SAML providers with this default team lose it."""
    team = _find(ctx, "admin")
    if team is not None:
        ctx.remove(team)


def list_team_members(ctx: Context) -> Json:
    team = _team(ctx, "view")

    def answer(membership: Record) -> Json:
        member = find_member(ctx, team.organization, membership.ref)
        if member is None:
            raise LookupError(f"the membership {membership.id} belongs to no member of the organization")
        role = {"role": membership.doc["role"]}
        return {"organization": answers.member(ctx, member), "team": role, "permissions": {"view": True}}

    return created_page(ctx, "membership", answer, scope=team.id)


def change_team_members(ctx: Context) -> None:
    """Add members, change their roles and remove members, all or nothing.

    A user in `remove` is removed, even if the body adds the user as well.
    """
    team, body = _team(ctx), ctx.body
    removed = {known_member(ctx, team.organization, name) for name in body.remove}
    roles: dict[str, str | None] = {}
    for name in body.add:
        if known_member(ctx, team.organization, name) not in removed:
            roles[named_member(ctx, team.organization, name, "body.add")] = None
    for name, change in body.memberships.items():
        if known_member(ctx, team.organization, name) not in removed:
            roles[named_member(ctx, team.organization, name, "body.memberships")] = change.role
    for user, role in roles.items():
        _join(ctx, team, user, role)
    for user in removed:
        _leave(ctx, team, user)


def put_team_member(ctx: Context) -> None:
    team = _team(ctx)
    user = named_member(ctx, team.organization, ctx.params["userId"], "")
    _join(ctx, team, user, ctx.body.role if ctx.body else None)


def delete_team_member(ctx: Context) -> None:
    team = _team(ctx)
    _leave(ctx, team, known_member(ctx, team.organization, ctx.params["userId"]))


def _join(ctx: Context, team: Record, user: str, role: str | None) -> None:
    """Add a member to a team, or change the member's role.

    If `role` is None, a new member gets the role `member`, and an existing member keeps their role.
    """
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
