"""Read the standings of users in an organization from members, memberships of teams, and grants."""

from ..store import Record, Store
from .roles import GRANT, Role, Standing


def stand(store: Store, organization: str, user: str, *, with_user_id: bool) -> Standing:
    """Return the standing of a user in an organization, optionally with the user id."""
    member = store.get("member", f"{organization}:{user}")
    if member is None or member.doc.get("disabled") or member.doc["role"] == "admin":
        return _standing(member, [], [], with_user_id=with_user_id)
    memberships = store.find("membership", organization=organization, ref=user)
    given = granted(store, organization, "user", user)
    for membership in memberships:
        given += granted(store, organization, "team", membership.scope)
    return _standing(member, memberships, given, with_user_id=with_user_id)


def stand_all(store: Store, organization: str, *, with_user_id: bool) -> dict[str, Standing]:
    """Return the standings of all members, keyed by user id, with a few queries."""
    memberships: dict[str, list[Record]] = {}
    for membership in store.find("membership", organization=organization):
        memberships.setdefault(membership.ref, []).append(membership)
    given: dict[tuple[str, str], list[Record]] = {}
    for grant in store.find(GRANT, organization=organization):
        given.setdefault((grant.doc["to"], grant.ref), []).append(grant)
    found = {}
    for member in store.find("member", organization=organization):
        teams = memberships.get(member.ref, [])
        to = [("user", member.ref), *(("team", team.scope) for team in teams)]
        grants = [grant for key in to for grant in given.get(key, [])]
        found[member.ref] = _standing(member, teams, grants, with_user_id=with_user_id)
    return found


def stand_as_team(store: Store, team: Record) -> Standing:
    """Return the standing of a guest who has only the grants of the team."""
    return Standing(True, None, _roles(granted(store, team.organization, "team", team.id)))


def granted(store: Store, organization: str, to: str, ref: str) -> list[Record]:
    """Return the grants of a user or a team of an organization."""
    found = store.find(GRANT, organization=organization, ref=ref)
    return [grant for grant in found if grant.doc["to"] == to]


def standing_of(record: Record) -> str | None:
    """Return the id of the user whose standing in the record's organization depends on the record.

    Return "" if no standing depends on the record, and None if the standings of several users may depend on
    it.
    """
    if record.kind in ("member", "membership"):
        return record.ref
    if record.kind == GRANT:
        return record.ref if record.doc["to"] == "user" else None
    return ""


def _standing(
    member: Record | None, memberships: list[Record], grants: list[Record], *, with_user_id: bool
) -> Standing:
    if member is None or member.doc.get("disabled"):
        return Standing()
    role = member.doc["role"]
    if role == "admin":
        return Standing(True, role)
    owns = frozenset(membership.scope for membership in memberships if membership.doc["role"] == "owner")
    return Standing(True, role, _roles(grants), owns, member.ref if with_user_id else "")


def _roles(grants: list[Record]) -> frozenset[tuple[str, str, Role]]:
    return frozenset((grant.parent, grant.scope, grant.doc["role"]) for grant in grants)
