"""Handle the API operations on teams and their members.

A membership is a record with the id `TEAM:USER`. The owners of a team and the admins of the organization may
manage the team. Input: the `Context` of a checked request. Output: the response body, or an `ApiError`.
"""

from typing import Any

from ... import responses
from ...errors import ApiError, not_found
from ...request.context import Context
from ...request.paging import list_page, page_by_creation
from ...store import Json, Record
from .members import find_member, require_member_id, resolve_member_id


def _find_team(ctx: Context, flag: str) -> Record | None:
    """Return the team that the path names. Raise 403 unless the caller has the flag in its `permissions`."""
    organization, id = ctx.organization_from_path(), ctx.params["teamId"]
    if not ctx.access_in(organization.id).team_permission_flags(id)[flag]:
        needed = "the role read" if flag == "view" else "ownership of the team, or the role admin"
        raise ApiError(
            403, f"the team {id!r}: this request needs {needed} in the organization {organization.id!r}"
        )
    team = ctx.load("team", id)
    return team if team is not None and team.organization == organization.id else None


def _require_team(ctx: Context, flag: str = "admin") -> Record:
    """Return the team that the path names.

    Raise 403 without the `permissions` flag, and 404 without the team.
    """
    team = _find_team(ctx, flag)
    if team is None:
        raise not_found("team", ctx.params["teamId"])
    return team


def list_teams(ctx: Context) -> Json:
    """List the teams of an organization, optionally filtered by title or by owner."""
    organization, query = ctx.organization_from_path(), ctx.query

    def render(team: Record) -> Any:
        return ctx.render_cached(responses.team, team)

    if query.title or query.owner is not None:
        return list_page(ctx, _matching_teams(ctx, organization), render)
    return page_by_creation(ctx, "team", render, organization=organization.id)


def _matching_teams(ctx: Context, organization: Record) -> list[Record]:
    """Return the teams that match the query. `owner` matches teams that this member can manage."""
    query, teams = ctx.query, ctx.store.find("team", organization=organization.id)
    if query.title:
        teams = [team for team in teams if query.title.casefold() in team.doc["title"].casefold()]
    if query.owner is not None:
        owner = ctx.access_in(organization.id, query.owner)
        teams = [team for team in teams if owner.team_permission_flags(team.id)["admin"]]
    return teams


def create_team(ctx: Context) -> Json:
    """Create a team with the given members. Titles are not unique, so each call creates a new team."""
    organization, body = ctx.organization_from_path(), ctx.body
    users = [require_member_id(ctx, organization.id, name, "body.members") for name in body.members]
    doc = {"title": body.title, "createdAt": ctx.timestamp}
    team = Record("team", ctx.new_id("team"), doc, organization.id, organization.id)
    ctx.put(team)
    for user in users:
        _set_membership(ctx, team, user, None)
    return responses.team(ctx, team)


def get_team(ctx: Context) -> Any:
    """Return the team that the path names."""
    return ctx.render_cached(responses.team, _require_team(ctx, "view"))


def update_team(ctx: Context) -> Json:
    """Change the title of a team."""
    team = _require_team(ctx)
    team.doc.update(ctx.body.sent_fields())
    ctx.put(team)
    return responses.team(ctx, team)


def delete_team(ctx: Context) -> None:
    """Delete a team with its memberships and roles. SAML providers with this default team lose it."""
    team = _find_team(ctx, "admin")
    if team is not None:
        ctx.remove(team)


def list_team_members(ctx: Context) -> Json:
    """List the members of a team in the order in which they joined."""
    team = _require_team(ctx, "view")

    def render(membership: Record) -> Json:
        member = find_member(ctx, team.organization, membership.ref)
        if member is None:
            raise LookupError(f"the membership {membership.id} belongs to no member of the organization")
        role = {"role": membership.doc["role"]}
        return {"organization": responses.member(ctx, member), "team": role, "permissions": {"view": True}}

    return page_by_creation(ctx, "membership", render, scope=team.id)


def change_team_members(ctx: Context) -> None:
    """Add members, change their roles and remove members, all or nothing.

    A user in `remove` is removed, even if the body adds the user as well.
    """
    team, body = _require_team(ctx), ctx.body
    removed = {resolve_member_id(ctx, team.organization, name) for name in body.remove}
    roles: dict[str, str | None] = {}
    for name in body.add:
        if resolve_member_id(ctx, team.organization, name) not in removed:
            roles[require_member_id(ctx, team.organization, name, "body.add")] = None
    for name, change in body.memberships.items():
        if resolve_member_id(ctx, team.organization, name) not in removed:
            roles[require_member_id(ctx, team.organization, name, "body.memberships")] = change.role
    for user, role in roles.items():
        _set_membership(ctx, team, user, role)
    for user in removed:
        _remove_membership(ctx, team, user)


def put_team_member(ctx: Context) -> None:
    """Add a member to a team, or change the member's role in the team."""
    team = _require_team(ctx)
    user = require_member_id(ctx, team.organization, ctx.params["userId"], "")
    _set_membership(ctx, team, user, ctx.body.role if ctx.body else None)


def delete_team_member(ctx: Context) -> None:
    """Remove a member from a team."""
    team = _require_team(ctx)
    _remove_membership(ctx, team, resolve_member_id(ctx, team.organization, ctx.params["userId"]))


def _set_membership(ctx: Context, team: Record, user: str, role: str | None) -> None:
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


def _remove_membership(ctx: Context, team: Record, user: str) -> None:
    """Remove a user from a team, if the user is in it."""
    if (membership := ctx.store.get("membership", f"{team.id}:{user}")) is not None:
        ctx.remove(membership)
