"""Model the order of roles, what each role gives, and the ways to have a role.

The model is a small platform in which one caller, `sub`, has a role on an object in one of these ways.

Beside `sub` there is `root`, who is an admin. Each way gives a world; the caller is otherwise as weak, or as
strong, as shows that the way alone decides.
"""

from collections.abc import Callable
from typing import Any

from companion_calls import Api

Json = dict[str, Any]
Role = str | None
ROLES: tuple[Role, ...] = (None, "read", "comment", "edit", "review", "create", "admin")
"""From the weakest."""

NEEDED: dict[str, dict[str, Role]] = {
    "space": {
        "view": "read", "access": "read", "comment": "comment", "edit": "edit", "review": "review",
        "merge": "review", "installIntegration": "create", "triggerGitSync": "create", "admin": "admin",
        "viewInviteLinks": "admin",
    },
    "collection": {"view": "read", "create": "create", "admin": "admin", "viewInviteLinks": "admin"},
    "site": {
        "view": "read", "access": "read", "edit": "edit", "create": "create", "admin": "admin",
        "installIntegration": "create", "viewAdaptiveSchema": "read", "editAdaptiveSchema": "create",
    },
    "organization": {
        "access": None,
        "view": None, "listMembers": "read", "listTeams": "read", "listIntegrations": "read",
        "listInstallations": "read", "createContent": "create", "createOpenAPISpec": "create",
        "installIntegration": "create", "ingestConversations": "create", "admin": "admin", "ownTeam": "admin",
        "viewBilling": "admin",
    },
    "openapi": {"view": "read", "edit": "create"},
    "translation": {"view": "read", "edit": "create"},
}  # fmt: skip
"""The weakest role with which each flag is true."""


def reaches(role: Role, needed: Role) -> bool:
    return ROLES.index(role) >= ROLES.index(needed)


def world(member: Role = None, *, owns: bool = False, **on: Json) -> Json:
    """Return a world in which `sub` has a role.

    `member`: the role in the organization. `on`: the fields of the collections `outer` and `inner`, the space
    and the site.
    """
    users = ("root", "sub", "other")
    team_members = [{"user": "sub", "role": "owner" if owns else "member"}]
    organization = {
        "id": "o",
        "title": "Organization",
        "members": [
            {"user": "root", "role": "admin"},
            {"user": "sub", "role": member},
            {"user": "other", "role": "read"},
        ],
        "teams": [
            {"id": "team", "title": "Team", "members": team_members},
            {"id": "spare", "title": "Spare"},
        ],
        "collections": [
            {"id": "outer", "title": "Outer", **on.get("outer", {})},
            {"id": "inner", "title": "Inner", "parent": "outer", **on.get("inner", {})},
        ],
        "spaces": [
            {"id": "space", "title": "Space", "parent": "inner", **on.get("space", {})},
            {"id": "free", "title": "Free", "language": "en"},
        ],
        "sites": [
            {
                "id": "site",
                "title": "Site",
                "adaptiveSchema": {"type": "object", "properties": {}},
                "structure": [
                    {"type": "section-group", "id": "group", "title": "Group", "children": []},
                    {
                        "type": "section",
                        "id": "section",
                        "title": "Section",
                        "children": [{"type": "space", "id": "place", "space": "space"}],
                    },
                ],
                **on.get("site", {}),
            }
        ],
        "linkInvites": [
            {"id": "to-space", "level": "read", "space": "space", "createdBy": "root"},
            {"id": "to-inner", "level": "read", "collection": "inner", "createdBy": "root"},
        ],
        "openapi": [{"id": "spec", "slug": "spec", "processingState": "complete"}],
        "translations": [
            {"id": "translation", "source": {"space": "free", "language": "en"}, "language": "fr"}
        ],
        "comments": [
            {"id": f"of-{user}", "space": "space", "body": "Hello", "postedBy": user}
            for user in ("sub", "root")
        ],
        "integrations": [{"name": "tools", "title": "Tools"}],
        "installations": [{"id": "tools-in-o", "integration": "tools"}],
    }
    return {
        "users": [{"id": id, "displayName": id.title(), "email": f"{id}@o.example"} for id in users],
        "tokens": {f"{id}-token": id for id in users},
        "organizations": [organization],
    }


def to_user(role: Role) -> Json:
    return {"permissions": {"users": {"sub": role}}}


def to_team(role: Role) -> Json:
    return {"permissions": {"teams": {"team": role}}}


def to_both(user: Role, team: Role) -> Json:
    return {"permissions": {"users": {"sub": user}, "teams": {"team": team}}}


SHUT: Json = {"defaultLevel": None}
Way = Callable[[Role], Json]

_SPACE: dict[str, Way] = {
    "organization": lambda role: world(role),
    "user": lambda role: world(space=to_user(role)),
    "user of a shut space": lambda role: world("create", space={**SHUT, **to_user(role)}),
    "user above a default": lambda role: world("read", space={**SHUT, **to_user(role)}),
    "team": lambda role: world(space=to_team(role)),
    "user on the collection": lambda role: world(inner=to_user(role)),
    "team on the outer collection": lambda role: world(outer=to_team(role)),
    "strongest of all": lambda role: world(outer=to_user(role), inner=to_team(None), space=to_user(None)),
    "team beside a weaker user": lambda role: world(space=to_both(None, role)),
    "user beside a weaker team": lambda role: world(space=to_both(role, None)),
    "default": lambda role: world("comment", space={"defaultLevel": role}),
    "default of the outer collection": lambda role: world("comment", outer={"defaultLevel": role}),
    "organization through inherit": lambda role: world(role, inner={"defaultLevel": "inherit"},
                                                       space={"defaultLevel": "inherit"}),
}  # fmt: skip
_COLLECTION: dict[str, Way] = {
    "organization": lambda role: world(role),
    "user": lambda role: world(inner=to_user(role)),
    "team": lambda role: world(inner=to_team(role)),
    "user of a shut collection": lambda role: world("create", inner={**SHUT, **to_user(role)}),
    "user on the outer collection": lambda role: world(outer=to_user(role)),
    "team on the outer collection": lambda role: world(outer=to_team(role)),
    "default": lambda role: world("comment", inner={"defaultLevel": role}),
    "default of the outer collection": lambda role: world("comment", outer={"defaultLevel": role}),
}
_SITE: dict[str, Way] = {
    "organization": lambda role: world(role),
    "user": lambda role: world(site=to_user(role)),
    "team": lambda role: world(site=to_team(role)),
    "user of a shut site": lambda role: world("create", site={**SHUT, **to_user(role)}),
    "default": lambda role: world("comment", site={"defaultLevel": role}),
}
_ORGANIZATION: dict[str, Way] = {"organization": lambda role: world(role)}
WAYS = {
    "space": _SPACE,
    "collection": _COLLECTION,
    "site": _SITE,
    "organization": _ORGANIZATION,
    "openapi": _ORGANIZATION,
    "translation": _ORGANIZATION,
}


# --- giving roles by the API ------------------------------------------------------------------------


def given(api: Api, path: str) -> dict[str, dict[str, Any]]:
    """All that was given on one thing."""
    return {
        to: {item[to]["id"]: item["permission"] for item in api.items(f"{path}/permissions/{to}s")}
        for to in ("user", "team")
    }


def give(api: Api, path: str, role: str | None, **to: list[str]) -> None:
    api.post(f"{path}/permissions", {**to, "role": role}, 204)
