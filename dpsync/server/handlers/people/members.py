"""Handle the API operations on the members of an organization: list, read, change roles, remove.

Input: the `Context` of a checked request. Output: the body of the response, or an `ApiError`.
"""

from collections.abc import Callable
from typing import Any

from ... import responses
from ...access.roles import Role
from ...errors import conflict, not_found
from ...request.context import Context
from ...request.paging import filtered_page, list_page
from ...store import Json, Record


def find_member(ctx: Context, organization: str, user: str) -> Record | None:
    """Return the record of a member, or None. Its id is `ORGANIZATION:USER`."""
    return ctx.store.get("member", f"{organization}:{user}")


def resolve_member_id(ctx: Context, organization: str, name: str) -> str:
    """Return the user id of a member named by id or email, or the name itself if there is no such member."""
    if "@" in name and find_member(ctx, organization, name) is None:
        for user in ctx.store.find("user", ref=name.casefold()):
            if find_member(ctx, organization, user.id) is not None:
                return user.id
    return name


def require_member_id(ctx: Context, organization: str, name: str, field: str) -> str:
    """Return the user id of the member that a body names by id or email. Raise 404 without such a member.

    If `field` is "", the path names the member.
    """
    user = resolve_member_id(ctx, organization, name)
    if find_member(ctx, organization, user) is None:
        raise not_found(f"{field}: member" if field else "member", name)
    return user


def _require_member(ctx: Context) -> Record:
    """Return the member that the path names. Raise 404 if the user is not a member."""
    organization = ctx.organization_from_path()
    member = find_member(ctx, organization.id, ctx.params["userId"])
    if member is None:
        raise not_found("member", ctx.params["userId"])
    return member


def list_members(ctx: Context) -> Json:
    """List the members of an organization, filtered and sorted as the query asks.

    Lists without a search are cached.
    """
    organization, query = ctx.organization_from_path(), ctx.query
    sort_key, descending = _sort_key(ctx), query.order == "desc"
    if query.search:
        members = _sorted_members(ctx, organization)
    else:
        key = ("members", organization.id, query.role, query.sort, query.order)
        members = ctx.cached_list(key, {"member", "user"}, lambda: _sorted_members(ctx, organization))
    return list_page(
        ctx, members, lambda member: responses.member(ctx, member), sort_key, descending=descending
    )


def _sorted_members(ctx: Context, organization: Record) -> list[Record]:
    """Return the members that match the query, sorted.

    A sort by `lastSeenAt` leaves out members never seen.
    """
    query = ctx.query
    members = ctx.store.find("member", organization=organization.id)
    if query.role is not None:
        role = None if query.role == "guest" else query.role
        members = [member for member in members if member.doc["role"] == role]
    if query.search:
        folded = query.search.casefold()
        members = [
            member
            for member in members
            if (user := ctx.load("user", member.ref))
            and folded in f"{_member_name(ctx, member)}\n{user.doc.get('email') or ''}".casefold()
        ]
    if query.sort == "lastSeenAt":
        members = [member for member in members if member.doc.get("lastSeenAt")]
    return sorted(members, key=_sort_key(ctx), reverse=query.order == "desc")


def _sort_key(ctx: Context) -> Callable[[Record], list[Any]]:
    """Return the function that gives the sort key of a member for the query."""
    sort = ctx.query.sort
    return lambda member: [_member_name(ctx, member) if sort == "name" else member.doc[sort], member.seq]


def _member_name(ctx: Context, member: Record) -> str:
    """Return the case-folded display name of a member, or ""."""
    user = ctx.load("user", member.ref)
    return str(user.doc.get("displayName", "")).casefold() if user else ""


def get_member(ctx: Context) -> Json:
    """Return the member that the path names."""
    return responses.member(ctx, _require_member(ctx))


def update_member(ctx: Context) -> Json:
    """Change the role of a member. Raise 409 if the organization would lose its last admin."""
    member, fields = _require_member(ctx), ctx.body.sent_fields()
    if "role" in fields:
        if fields["role"] != "admin":
            _require_other_admin(ctx, member)
        member.doc["role"] = fields["role"]
        ctx.put(member)
    return responses.member(ctx, member)


def delete_member(ctx: Context) -> None:
    """Remove a member with their team memberships and roles. The last admin cannot be removed.

    If administrators must confirm removals, only mark the removal as requested.
    """
    organization = ctx.organization_from_path()
    member = find_member(ctx, organization.id, ctx.params["userId"])
    if member is None:
        return
    _require_other_admin(ctx, member)
    if ctx.asks_before_removal:
        ctx.removal_requested = True
        return
    ctx.remove(member)


def _require_other_admin(ctx: Context, member: Record) -> None:
    """Raise 409 if the member is the last admin who is not disabled."""
    members = ctx.store.find("member", organization=member.organization)
    admins = [
        other.ref for other in members if other.doc["role"] == "admin" and not other.doc.get("disabled")
    ]
    if admins == [member.ref]:
        raise conflict(f"{member.ref!r} is the last admin of the organization")


def record_last_seen(ctx: Context) -> Json:
    """Record that the calling member was seen now. Raise 404 if the caller is not a member."""
    organization = ctx.organization_from_path()
    member = find_member(ctx, organization.id, ctx.user)
    if member is None:
        raise not_found("member", ctx.user)
    member.doc["lastSeenAt"] = ctx.timestamp
    ctx.put(member)
    return {}


def add_sso_member(ctx: Context) -> Json:
    """Mark a member as an SSO member.

    A user who is not a member becomes an SSO member with the default role of the organization. Raise 404 for
    an unknown user.
    """
    organization, user = ctx.organization_from_path(), ctx.params["userId"]
    member = find_member(ctx, organization.id, user)
    if member is None:
        if ctx.load("user", user) is None:
            raise not_found("user", user)
        member = make_member(ctx, organization, user, organization.doc.get("defaultRole"))
    member.doc["sso"] = True
    ctx.put(member)
    return responses.member(ctx, member)


def make_member(ctx: Context, organization: Record, user: str, role: Role) -> Record:
    """Return the record of a new member without storing it."""
    doc = {"role": role, "disabled": False, "joinedAt": ctx.timestamp, "sso": False}
    return Record("member", f"{organization.id}:{user}", doc, organization.id, organization.id, ref=user)


def list_member_spaces(ctx: Context) -> Json:
    """List the spaces that both the member and the caller may view."""
    member = _require_member(ctx)

    def render(space: Record) -> Json:
        return {"permission": ctx.role_on(space, member.ref), "space": responses.space(ctx, space)}

    return filtered_page(
        ctx,
        "space",
        render,
        matches=lambda space: ctx.can_view(space) and ctx.role_on(space, member.ref) is not None,
        count=ctx.count_common_spaces(member.organization, member.ref),
        descending=ctx.query.order == "desc",
        organization=member.organization,
    )


def list_member_teams(ctx: Context) -> Json:
    """List the teams of a member with the member's role in each team, optionally filtered by title."""
    member, query = _require_member(ctx), ctx.query
    entries = []
    for membership in ctx.store.find("membership", organization=member.organization, ref=member.ref):
        team = ctx.load("team", membership.scope)
        if team is not None and (query.title or "").casefold() in team.doc["title"].casefold():
            entries.append((team, membership))
    entries.sort(key=lambda entry: entry[0].seq)

    def render(entry: tuple[Record, Record]) -> Json:
        team, membership = entry
        return {"team": responses.team(ctx, team), "member": {"role": membership.doc["role"]}}

    return list_page(ctx, entries, render, lambda entry: [entry[0].seq])
