"""Handle the API operations on roles of users and teams on a space, collection or site.

A role that is given directly is stored as a grant; other operations return the resulting role of each user.
Everyone who may view the object and list the members of its organization may read the roles.
Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from ... import responses
from ...access.roles import Role
from ...errors import not_found
from ...records.grants import find_grant, grants_on, set_role
from ...request.context import Context
from ...request.paging import list_page
from ...store import Json, Record
from .members import require_member_id


def _require_object(ctx: Context) -> Record:
    """Return the space, collection or site that the path names."""
    if "spaceId" in ctx.params:
        return ctx.space_from_path()
    return ctx.site_from_path() if "siteId" in ctx.params else ctx.collection_from_path()


def _require_readable_object(ctx: Context) -> Record:
    """Return the space, collection or site in the path. Require that the caller may list the members."""
    target = _require_object(ctx)
    ctx.require_role(ctx.find_organization(target.organization), "read")
    return target


def invite(ctx: Context) -> None:
    """Give users and teams a role, all or none. A role that a user or team already has is replaced.

    Raise 404 for an unknown team.
    """
    target, body = _require_object(ctx), ctx.body
    users = [require_member_id(ctx, target.organization, name, "body.users") for name in body.users or ()]
    for id in body.teams or ():
        team = ctx.load("team", id)
        if team is None or team.organization != target.organization:
            raise not_found("body.teams: team", id)
    for user in users:
        set_role(ctx, target, "user", user, body.role)
    for id in body.teams or ():
        set_role(ctx, target, "team", id, body.role)


# --- of users -------------------------------------------------------------------------------------


def list_users(ctx: Context) -> Json:
    """List the users with a direct role on the object."""
    return _list_grants(ctx, "user")


def get_user(ctx: Context) -> Json:
    """Return the direct role of a user on the object."""
    return _grant_response(ctx, _require_grant(ctx, _require_readable_object(ctx), "user"))


def update_user(ctx: Context) -> None:
    """Change the direct role of a user on the object."""
    _update_grant(ctx, "user")


def remove_user(ctx: Context) -> None:
    """Remove the direct role of a user on the object."""
    _remove_grant(ctx, "user")


# --- of teams -------------------------------------------------------------------------------------


def list_teams(ctx: Context) -> Json:
    """List the teams with a direct role on the object."""
    return _list_grants(ctx, "team")


def get_team(ctx: Context) -> Json:
    """Return the direct role of a team on the object."""
    return _grant_response(ctx, _require_grant(ctx, _require_readable_object(ctx), "team"))


def update_team(ctx: Context) -> None:
    """Change the direct role of a team on the object."""
    _update_grant(ctx, "team")


def remove_team(ctx: Context) -> None:
    """Remove the direct role of a team on the object."""
    _remove_grant(ctx, "team")


# --- of both --------------------------------------------------------------------------------------


def _require_grant(ctx: Context, target: Record, grantee_kind: str) -> Record:
    """Return the direct role (grant) of the user or team that the path names. Raise 404 if there is none."""
    ref = ctx.params[f"{grantee_kind}Id"]
    grant = find_grant(ctx, target, grantee_kind, ref)
    if grant is None:
        raise not_found(f"role on the {target.kind} {target.id!r} of the {grantee_kind}", ref)
    return grant


def _list_grants(ctx: Context, grantee_kind: str) -> Json:
    """List the direct roles (grants) of users or of teams on the object."""
    return list_page(
        ctx,
        grants_on(ctx, _require_readable_object(ctx), grantee_kind),
        lambda grant: _grant_response(ctx, grant),
    )


def _grant_response(ctx: Context, grant: Record) -> Json:
    """Return the answer for a grant: the role, and its user or team."""
    role = {"permission": grant.doc["role"]}
    if grant.doc["to"] == "user":
        return {**role, "user": responses.user(ctx, grant.ref)}
    team = ctx.load("team", grant.ref)
    if team is None:
        raise LookupError(f"the user or team of the grant {grant.id} does not exist")
    return {**role, "team": responses.team(ctx, team)}


def _update_grant(ctx: Context, grantee_kind: str) -> None:
    """Change the grant of the user or team that the path names."""
    grant = _require_grant(ctx, _require_object(ctx), grantee_kind)
    grant.doc.update(ctx.body.sent_fields())
    ctx.put(grant)


def _remove_grant(ctx: Context, grantee_kind: str) -> None:
    """Remove the grant of the user or team that the path names, if there is one."""
    grant = find_grant(ctx, _require_object(ctx), grantee_kind, ctx.params[f"{grantee_kind}Id"])
    if grant is not None:
        ctx.remove(grant)


def _role_origin(ctx: Context, site: Record, user: str) -> Json:
    """Return the origin of a member's role on a site.

    The origin is the organization, the member's own grant, the grant of a team, or the default of the site.
    """
    if ctx.access_in(site.organization, user).role == "admin":
        return {"type": "organization", "organization": site.organization}
    origin = {"type": "site", "site": site.id}
    role = ctx.role_on(site, user)
    if (own_grant := find_grant(ctx, site, "user", user)) is not None and own_grant.doc["role"] == role:
        return {**origin, "reason": "member"}
    for grant in grants_on(ctx, site, "team"):
        if grant.doc["role"] == role and ctx.store.find("membership", scope=grant.ref, ref=user):
            return {**origin, "reason": "team", "team": grant.ref}
    return {**origin, "reason": "default"}


def list_effective_roles(ctx: Context) -> Json:
    """List each member who has a role on an object, given directly or inherited, with this role.

    The query can select one role. The API version `published` also says where a role on a site comes from.
    """
    target, query = _require_readable_object(ctx), ctx.query
    ctx.load_all_access(target.organization)
    members = sorted(
        ctx.store.find("member", organization=target.organization), key=lambda member: member.seq
    )
    entries = [(member, ctx.role_on(target, member.ref)) for member in members]
    entries = [
        (member, role)
        for member, role in entries
        if role is not None and (query.role is None or role == query.role)
    ]

    def render(entry: tuple[Record, Role]) -> Json:
        member, role = entry
        answer = {"permission": role, "user": responses.user(ctx, member.ref)}
        if ctx.is_published_profile and target.kind == "site":
            answer |= {"origin": _role_origin(ctx, target, member.ref), "disabled": member.doc["disabled"]}
        return answer

    return list_page(ctx, entries, render, lambda entry: [entry[0].seq])
