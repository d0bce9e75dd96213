"""Organizations, who is in them, and who may do what."""

from __future__ import annotations

from dpsync.rehearse.answers.draft import COMPUTED, Json, WorldDraft, only, without

_ROLES_BY = {"users": "user", "teams": "team"}


def take_organizations(draft: WorldDraft, items: list[Json]) -> None:
    for item in items:
        take_organization(draft, item, str(item["id"]))


def take_organization(draft: WorldDraft, body: Json, id: str) -> None:
    fields = without(body, "id", *COMPUTED)
    if logo := (body.get("urls") or {}).get("logo"):
        fields["logo"] = logo
    draft.organization(id).fields = fields


def take_caller(draft: WorldDraft, body: Json) -> None:
    draft.caller = draft.user(body)


def take_members(draft: WorldDraft, items: list[Json], organization: str) -> None:
    owner = draft.organization(organization)
    owner.members_read = True
    for item in items:
        user = draft.user(item["user"])
        kept = ("role", "disabled", "joinedAt", "sso", "lastSeenAt")
        owner.members[user] = {"user": user, **{name: item[name] for name in kept if name in item}}


def take_teams(draft: WorldDraft, items: list[Json], organization: str) -> None:
    owner = draft.organization(organization)
    owner.teams = {item["id"]: only(item, "id", "title", "createdAt") for item in items}


def take_team(draft: WorldDraft, items: list[Json], organization: str, team: str) -> None:
    owner = draft.organization(organization)
    people = []
    for item in items:
        user = draft.user(item["organization"]["user"])
        people.append({"user": user, "role": (item.get("team") or {}).get("role")})
        draft.belongs(owner, user)
    owner.teams.setdefault(team, {"id": team})["members"] = people


def take_saml(draft: WorldDraft, items: list[Json], organization: str) -> None:
    made = []
    for item in items:
        one = without(item, "status", "service", "defaultTeam", *COMPUTED)
        if team := (item.get("defaultTeam") or {}).get("id"):
            one["defaultTeam"] = team
            draft.organization(organization).teams.setdefault(team, only(item["defaultTeam"], "id", "title"))
        made.append(one)
    draft.organization(organization).parts["samlProviders"] = made


def take_instructions(draft: WorldDraft, body: Json, organization: str) -> None:
    draft.organization(organization).parts["agentInstructions"] = body["instructions"]


def take_glossary(draft: WorldDraft, items: list[Json], organization: str) -> None:
    draft.organization(organization).parts["glossary"] = [without(item, *COMPUTED) for item in items]


def take_grants(draft: WorldDraft, items: list[Json], below: str, id: str, to: str) -> None:
    draft.grants.append((below.rpartition("/")[2], id, to, items))


def give_roles(draft: WorldDraft, target: str, id: str, to: str, items: list[Json]) -> None:
    """Roles on a collection, a space or a site."""
    for one in draft.organizations.values():
        found = getattr(one, target).get(id)
        if found is None:
            continue
        roles: Json = {}
        for item in items:
            who = item[_ROLES_BY[to]]
            roles[who["id"]] = item["permission"]
            if to == "users":
                draft.belongs(one, draft.user(who))
            else:
                one.teams.setdefault(who["id"], only(who, "id", "title", "createdAt"))
        found.setdefault("permissions", {})[to] = roles
