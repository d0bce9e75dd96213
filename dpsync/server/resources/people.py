"""Declare the records of organizations, users, API tokens, members and teams.

Output: a `RecordKind` for each, which says how the local server stores, loads and dumps its records.
The comment below shows the form in a world (the data that the local server starts with).
"""

# users: [{id, displayName, email, emailVerified, photoURL}]          # emailVerified: true by default
# tokens: {TOKEN: user id}
# organizations:
#   - id, title, hostname, emailDomains, defaultRole, mergeRules…     # fields as in API responses
#     members: [{user, role, joinedAt, lastSeenAt, sso, disabled}]    # null or no role: guest
#     teams: [{id, title, members: [{user, role}]}]                   # role owner or member

from ..records.record_kind import ColumnFilter, Dependency, RecordKind
from ..records.world_sections import WORLD, WorldDumper, WorldLoader, WorldSection, without_keys
from ..request.context import Context
from ..store import Json, Record
from . import world_models


def _load_users(loader: WorldLoader, _: Record, entries: list[Json]) -> None:
    """Load users from a world file (the server's initial data).

    The `ref` of a user is the case-folded email address.
    """
    for user in loader.each_entry(entries):
        email = (user.get("email") or "").casefold()
        loader.add(Record("user", loader.entry_id("user", user), without_keys(user, "id"), ref=email))


def _dump_users(dumper: WorldDumper, _: Record) -> list[Json]:
    """Return all users as entries of a world file (the server's initial data)."""
    return [{"id": user.id, **user.doc} for user in dumper.find_by_creation("user")]


def _load_tokens(loader: WorldLoader, _: Record, users_by_token: Json) -> None:
    """Load tokens from a world file (the server's initial data). The `ref` of a token is its user."""
    for token, user in users_by_token.items():
        loader.add(Record("token", str(token), {}, ref=user))


def _dump_tokens(dumper: WorldDumper, _: Record) -> Json:
    """Return the tokens with their users as a world file (the server's initial data) has them."""
    return {token.id: token.ref for token in dumper.find_by_creation("token")}


# --- organizations --------------------------------------------------------------------------------


def _load_organizations(loader: WorldLoader, _: Record, entries: list[Json]) -> None:
    """Load organizations with everything in them from a world file (the server's initial data)."""
    for entry in loader.each_entry(entries):
        id = loader.entry_id("organization", entry)
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
            "createdAt": loader.next_timestamp(),
            **loader.without_children("organization", entry),
        }
        loader.load_children(loader.add(Record("organization", id, doc, id)), entry)


def _dump_organizations(dumper: WorldDumper, _: Record) -> list[Json]:
    """Return all organizations, with everything in them, as entries of a world file (initial server data)."""
    organizations = dumper.find_by_creation("organization")
    return [
        {"id": organization.id, **organization.doc, **dumper.dump_children(organization)}
        for organization in organizations
    ]


def _is_default_site(organization: Record, site: Record) -> bool:
    """Return whether the site is the default content of the organization."""
    return (organization.doc.get("defaultContent") or {}).get("site") == site.id


def _clear_default_content(ctx: Context, organization: Record) -> None:
    """Clear the default content of an organization whose default site is deleted."""
    organization.doc["defaultContent"] = None
    ctx.put(organization)


# --- members and teams ----------------------------------------------------------------------------


def _load_members(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the members of an organization from a world file (the server's initial data).

    The role `guest` is stored as null.
    """
    for entry in loader.each_entry(entries):
        doc = {
            "role": None,
            "disabled": False,
            "joinedAt": loader.next_timestamp(),
            "sso": False,
            **without_keys(entry, "user"),
        }
        if doc["role"] == "guest":
            doc["role"] = None
        id, user = f"{organization.id}:{entry['user']}", entry["user"]
        loader.add(Record("member", id, doc, organization.id, organization.id, ref=user))


def _dump_members(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the members of an organization as entries of a world file (the server's initial data)."""
    members = dumper.find_by_creation("member", organization=organization.id)
    return [{"user": member.ref, **member.doc} for member in members]


def _load_teams(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the teams of an organization with their members from a world file (the server's initial data)."""
    for entry in loader.each_entry(entries):
        id = loader.entry_id("team", entry)
        doc = {"createdAt": loader.next_timestamp(), **loader.without_children("team", entry)}
        loader.load_children(loader.add(Record("team", id, doc, organization.id, organization.id)), entry)


def _dump_teams(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the teams of an organization, with members, as entries of a world file (initial server data)."""
    teams = dumper.find_by_creation("team", organization=organization.id)
    return [{"id": team.id, **team.doc, **dumper.dump_children(team)} for team in teams]


def _load_memberships(loader: WorldLoader, team: Record, entries: list[Json]) -> None:
    """Load the members of a team from a world file (the server's initial data)."""
    for entry in loader.each_entry(entries):
        user, doc = entry["user"], {"role": entry.get("role") or "member"}
        loader.add(Record("membership", f"{team.id}:{user}", doc, team.organization, team.id, ref=user))


def _dump_memberships(dumper: WorldDumper, team: Record) -> list[Json]:
    """Return the members of a team as entries of a world file (the server's initial data)."""
    return [
        {"user": membership.ref, **membership.doc}
        for membership in dumper.find_by_creation("membership", scope=team.id)
    ]


def by_user(member: Record) -> ColumnFilter:
    """Match records of the organization that refer to the user of a member."""
    return {"organization": member.organization, "ref": member.ref}


RECORD_KINDS = (
    RecordKind("user", id_prefix="user", counted_in_health=True,
               world_section=WorldSection("users", _load_users, _dump_users, (WORLD.kind,),
                                          list[world_models.User])),
    RecordKind("token", world_section=WorldSection("tokens", _load_tokens, _dump_tokens, (WORLD.kind,),
                                                   world_models.Tokens)),
    RecordKind("organization", id_prefix="org", counted_in_health=True,
               world_section=WorldSection("organizations", _load_organizations, _dump_organizations,
                                          (WORLD.kind,),
                                          list[world_models.Organization], "organization"),
               depends_on=(Dependency("site", lambda site: {"id": site.organization},
                                      is_dependent=_is_default_site,
                                      on_delete=_clear_default_content),)),
    RecordKind("member", owner="organization", counted_in_health=True,
               world_section=WorldSection("members", _load_members, _dump_members,
                                          value_type=list[world_models.Member])),
    RecordKind("team", id_prefix="team", owner="organization", counted_in_health=True,
               world_section=WorldSection("teams", _load_teams, _dump_teams,
                                          value_type=list[world_models.Team],
                                          kind="team")),
    RecordKind("membership", owner="team", depends_on=(Dependency("member", by_user),),
               world_section=WorldSection("members", _load_memberships, _dump_memberships, ("team",),
                                          list[world_models.TeamMember])),
)  # fmt: skip
