"""Read the access of users in an organization from the store: members, memberships of teams, and grants.

A grant is the role of one user or team on one space, collection or site. Output: `OrganizationAccess`.
"""

from ..store import Record, Store
from .roles import GRANT, OrganizationAccess, Role


def load_access(store: Store, organization: str, user: str, *, with_user_id: bool) -> OrganizationAccess:
    """Return the access of a user in an organization, optionally with the user id."""
    member = store.get("member", f"{organization}:{user}")
    if member is None or member.doc.get("disabled") or member.doc["role"] == "admin":
        return _make_access(member, [], [], with_user_id=with_user_id)
    memberships = store.find("membership", organization=organization, ref=user)
    grants = grants_to(store, organization, "user", user)
    for membership in memberships:
        grants += grants_to(store, organization, "team", membership.scope)
    return _make_access(member, memberships, grants, with_user_id=with_user_id)


def load_all_access(store: Store, organization: str, *, with_user_id: bool) -> dict[str, OrganizationAccess]:
    """Return the access of all members of an organization, keyed by user id, with three queries.

    The access of a member comes from the member's role and grants, and from those of the member's teams.
    """
    memberships: dict[str, list[Record]] = {}
    for membership in store.find("membership", organization=organization):
        memberships.setdefault(membership.ref, []).append(membership)
    grants_by_grantee: dict[tuple[str, str], list[Record]] = {}
    for grant in store.find(GRANT, organization=organization):
        grants_by_grantee.setdefault((grant.doc["to"], grant.ref), []).append(grant)
    access_by_user = {}
    for member in store.find("member", organization=organization):
        teams = memberships.get(member.ref, [])
        grantees = [("user", member.ref), *(("team", team.scope) for team in teams)]
        grants = [grant for key in grantees for grant in grants_by_grantee.get(key, [])]
        access_by_user[member.ref] = _make_access(member, teams, grants, with_user_id=with_user_id)
    return access_by_user


def load_team_access(store: Store, team: Record) -> OrganizationAccess:
    """Return the access of a guest who has only the grants of the team."""
    return OrganizationAccess(True, None, _grant_roles(grants_to(store, team.organization, "team", team.id)))


def grants_to(store: Store, organization: str, grantee_kind: str, grantee_id: str) -> list[Record]:
    """Return the grants of a user or a team of an organization."""
    grants = store.find(GRANT, organization=organization, ref=grantee_id)
    return [grant for grant in grants if grant.doc["to"] == grantee_kind]


def affected_user(record: Record) -> str | None:
    """Return the id of the user whose cached access must be recomputed after a write of the record.

    Return "" if no access depends on the record, and None if the access of several users may depend on it,
    such as a role that is given to a team.
    """
    if record.kind in ("member", "membership"):
        return record.ref
    if record.kind == GRANT:
        return record.ref if record.doc["to"] == "user" else None
    return ""


def _make_access(
    member: Record | None, memberships: list[Record], grants: list[Record], *, with_user_id: bool
) -> OrganizationAccess:
    """Return the access of a member; a missing or disabled member has none, an admin needs no grants."""
    if member is None or member.doc.get("disabled"):
        return OrganizationAccess()
    role = member.doc["role"]
    if role == "admin":
        return OrganizationAccess(True, role)
    owns = frozenset(membership.scope for membership in memberships if membership.doc["role"] == "owner")
    return OrganizationAccess(True, role, _grant_roles(grants), owns, member.ref if with_user_id else "")


def _grant_roles(grants: list[Record]) -> frozenset[tuple[str, str, Role]]:
    """Return the grants as (kind, id, role) of the space, collection or site."""
    return frozenset((grant.parent, grant.scope, grant.doc["role"]) for grant in grants)
