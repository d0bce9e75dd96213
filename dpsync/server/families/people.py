"""Organizations, users, members and teams.

users: [{id, displayName, email, emailVerified, photoURL}]          # emailVerified: true by default
tokens: {TOKEN: user id}
organizations:
  - id, title, hostname, emailDomains, defaultRole, mergeRules…     # fields as in API responses
    members: [{user, role, joinedAt, lastSeenAt, sso, disabled}]    # null or no role: guest
    teams: [{id, title, members: [{user, role}]}]                   # role owner or member
"""

from ..records.family import Columns, Dependency, Family
from ..records.world_format import WORLD, Dumping, Loading, WorldSection, but
from ..request.context import Context
from ..store import Json, Record
from . import shapes


def _load_users(loading: Loading, _: Record, given: list[Json]) -> None:
    for user in loading.each(given):
        email = (user.get("email") or "").casefold()
        loading.add(Record("user", loading.id("user", user), but(user, "id"), ref=email))


def _dump_users(dumping: Dumping, _: Record) -> list[Json]:
    return [{"id": user.id, **user.doc} for user in dumping.created("user")]


def _load_tokens(loading: Loading, _: Record, given: Json) -> None:
    for token, user in given.items():
        loading.add(Record("token", str(token), {}, ref=user))


def _dump_tokens(dumping: Dumping, _: Record) -> Json:
    return {token.id: token.ref for token in dumping.created("token")}


# --- organizations --------------------------------------------------------------------------------


def _load_organizations(loading: Loading, _: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        id = loading.id("organization", one)
        doc = {
            "title": id,
            "emailDomains": [],
            "type": "business",
            "plan": "pro_2024",
            "inviteLinks": True,
            "mergeRules": {"type": "rules", "rules": []},
            "trial": {"status": "none", "count": 0},
            "defaultRole": None,
            "defaultContent": None,
            "createdAt": loading.then(),
            **loading.own("organization", one),
        }
        loading.inside(loading.add(Record("organization", id, doc, id)), one)


def _dump_organizations(dumping: Dumping, _: Record) -> list[Json]:
    found = dumping.created("organization")
    return [{"id": one.id, **one.doc, **dumping.inside(one)} for one in found]


def _shows_by_default(organization: Record, site: Record) -> bool:
    return (organization.doc.get("defaultContent") or {}).get("site") == site.id


def _forget_default(ctx: Context, organization: Record) -> None:
    organization.doc["defaultContent"] = None
    ctx.put(organization)


# --- members and teams ----------------------------------------------------------------------------


def _load_members(loading: Loading, organization: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        doc = {"role": None, "disabled": False, "joinedAt": loading.then(), "sso": False, **but(one, "user")}
        if doc["role"] == "guest":
            doc["role"] = None
        id, user = f"{organization.id}:{one['user']}", one["user"]
        loading.add(Record("member", id, doc, organization.id, organization.id, ref=user))


def _dump_members(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created("member", organization=organization.id)
    return [{"user": member.ref, **member.doc} for member in found]


def _load_teams(loading: Loading, organization: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        id = loading.id("team", one)
        doc = {"createdAt": loading.then(), **loading.own("team", one)}
        loading.inside(loading.add(Record("team", id, doc, organization.id, organization.id)), one)


def _dump_teams(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created("team", organization=organization.id)
    return [{"id": team.id, **team.doc, **dumping.inside(team)} for team in found]


def _load_memberships(loading: Loading, team: Record, given: list[Json]) -> None:
    for one in loading.each(given):
        user, doc = one["user"], {"role": one.get("role") or "member"}
        loading.add(Record("membership", f"{team.id}:{user}", doc, team.organization, team.id, ref=user))


def _dump_memberships(dumping: Dumping, team: Record) -> list[Json]:
    return [{"user": found.ref, **found.doc} for found in dumping.created("membership", scope=team.id)]


def of_user(member: Record) -> Columns:
    return {"organization": member.organization, "ref": member.ref}


FAMILIES = (
    Family("user", prefix="user", counted=True,
           world=WorldSection("users", _load_users, _dump_users, (WORLD.kind,), list[shapes.User])),
    Family("token", world=WorldSection("tokens", _load_tokens, _dump_tokens, (WORLD.kind,), shapes.Tokens)),
    Family("organization", prefix="org", counted=True,
           world=WorldSection("organizations", _load_organizations, _dump_organizations, (WORLD.kind,),
                              list[shapes.Organization], "organization"),
           depends_on=(Dependency("site", lambda site: {"id": site.organization}, only=_shows_by_default,
                       on_delete=_forget_default),)),
    Family("member", owner="organization", counted=True,
           world=WorldSection("members", _load_members, _dump_members, shape=list[shapes.Member])),
    Family("team", prefix="team", owner="organization", counted=True,
           world=WorldSection("teams", _load_teams, _dump_teams, shape=list[shapes.Team], kind="team")),
    Family("membership", owner="team", depends_on=(Dependency("member", of_user),),
           world=WorldSection("members", _load_memberships, _dump_memberships, ("team",),
                              list[shapes.TeamMember])),
)  # fmt: skip
