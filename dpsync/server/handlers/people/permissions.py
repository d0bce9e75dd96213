"""Operations on roles on a space, collection or site: grants, and the resulting role of each user.

Everyone who may view the object and list the members of its organization may read the roles.
"""

from ... import answers
from ...access.roles import Role
from ...errors import missing
from ...records.grants import give, given_on, given_to
from ...request.context import Context
from ...request.paging import list_page
from ...store import Json, Record
from .members import named_member


def _item(ctx: Context) -> Record:
    """Return the space, collection or site that the path names."""
    if "spaceId" in ctx.params:
        return ctx.space()
    return ctx.site() if "siteId" in ctx.params else ctx.collection()


def _read(ctx: Context) -> Record:
    item = _item(ctx)
    ctx.demand(ctx.find_organization(item.organization), "read")
    return item


def invite(ctx: Context) -> None:
    """Give users and teams a role, all or none. A role that a user or team already has is replaced."""
    item, body = _item(ctx), ctx.body
    users = [named_member(ctx, item.organization, name, "body.users") for name in body.users or ()]
    teams = [_team(ctx, item, id, "body.teams") for id in body.teams or ()]
    for user in users:
        give(ctx, item, "user", user, body.role)
    for team in teams:
        give(ctx, item, "team", team.id, body.role)


def _team(ctx: Context, item: Record, id: str, field: str) -> Record:
    found = ctx.load("team", id)
    if found is None or found.organization != item.organization:
        raise missing(f"{field}: team", id)
    return found


# --- of users -------------------------------------------------------------------------------------


def list_users(ctx: Context) -> Json:
    return _list(ctx, "user")


def get_user(ctx: Context) -> Json:
    return _answer(ctx, _grant(ctx, _read(ctx), "user"))


def update_user(ctx: Context) -> None:
    _update(ctx, "user")


def remove_user(ctx: Context) -> None:
    _remove(ctx, "user")


# --- of teams -------------------------------------------------------------------------------------


def list_teams(ctx: Context) -> Json:
    return _list(ctx, "team")


def get_team(ctx: Context) -> Json:
    return _answer(ctx, _grant(ctx, _read(ctx), "team"))


def update_team(ctx: Context) -> None:
    _update(ctx, "team")


def remove_team(ctx: Context) -> None:
    _remove(ctx, "team")


# --- of both --------------------------------------------------------------------------------------


def _grant(ctx: Context, item: Record, to: str) -> Record:
    ref = ctx.params[f"{to}Id"]
    found = given_to(ctx, item, to, ref)
    if found is None:
        raise missing(f"role on the {item.kind} {item.id!r} of the {to}", ref)
    return found


def _list(ctx: Context, to: str) -> Json:
    return list_page(ctx, given_on(ctx, _read(ctx), to), lambda grant: _answer(ctx, grant))


def _answer(ctx: Context, grant: Record) -> Json:
    role = {"permission": grant.doc["role"]}
    if grant.doc["to"] == "user":
        return {**role, "user": answers.user(ctx, grant.ref)}
    team = ctx.load("team", grant.ref)
    if team is None:
        raise LookupError(f"the user or team of the grant {grant.id} does not exist")
    return {**role, "team": answers.team(ctx, team)}


def _update(ctx: Context, to: str) -> None:
    grant = _grant(ctx, _item(ctx), to)
    grant.doc.update(ctx.body.given())
    ctx.put(grant)


def _remove(ctx: Context, to: str) -> None:
    found = given_to(ctx, _item(ctx), to, ctx.params[f"{to}Id"])
    if found is not None:
        ctx.remove(found)


def _origin(ctx: Context, site: Record, user: str) -> Json:
    """Return the origin of a member's role on a site.

    The origin is the organization, the member's own grant, the grant of a team, or the default of the site.
    """
    if ctx.standing(site.organization, user).role == "admin":
        return {"type": "organization", "organization": site.organization}
    here = {"type": "site", "site": site.id}
    level = ctx.level(site, user)
    if (own := given_to(ctx, site, "user", user)) is not None and own.doc["role"] == level:
        return {**here, "reason": "member"}
    for grant in given_on(ctx, site, "team"):
        if grant.doc["role"] == level and ctx.store.find("membership", scope=grant.ref, ref=user):
            return {**here, "reason": "team", "team": grant.ref}
    return {**here, "reason": "default"}


def aggregate(ctx: Context) -> Json:
    """List every member who has access, with the resulting role."""
    item, query = _read(ctx), ctx.query
    ctx.stand_all(item.organization)
    members = sorted(ctx.store.find("member", organization=item.organization), key=lambda member: member.seq)
    found = [(member, ctx.level(item, member.ref)) for member in members]
    found = [
        (member, role)
        for member, role in found
        if role is not None and (query.role is None or role == query.role)
    ]

    def answer(entry: tuple[Record, Role]) -> Json:
        member, role = entry
        answer = {"permission": role, "user": answers.user(ctx, member.ref)}
        if ctx.published and item.kind == "site":
            answer |= {"origin": _origin(ctx, item, member.ref), "disabled": member.doc["disabled"]}
        return answer

    return list_page(ctx, found, answer, lambda entry: [entry[0].seq])
