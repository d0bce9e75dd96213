"""Who may do what: the order of roles, the level of a member on a space, and the flags of `permissions`
objects.

Roles are ordered admin > create > review > edit > comment > read > guest (null); each includes what the
weaker ones may do. A flag is true exactly when what it stands for is allowed to the caller.
"""

from collections.abc import Callable

from .store import Record

Role = str | None

_RANK = {"admin": 6, "create": 5, "review": 4, "edit": 3, "comment": 2, "read": 1, None: 0}

_FLAGS: dict[str, dict[str, Role]] = {
    "space": {
        "view": "read",
        "access": "read",
        "admin": "admin",
        "viewInviteLinks": "admin",
        "edit": "edit",
        "triggerGitSync": "create",
        "comment": "comment",
        "merge": "review",
        "review": "review",
        "installIntegration": "create",
    },
    "collection": {"view": "read", "admin": "admin", "viewInviteLinks": "admin", "create": "create"},
    "organization": {
        "view": None,
        "admin": "admin",
        "ownTeam": "admin",
        "createContent": "create",
        "createOpenAPISpec": "create",
        "ingestConversations": "create",
        "viewBilling": "admin",
        "listMembers": "read",
        "listTeams": "read",
        "listIntegrations": "read",
        "listInstallations": "read",
        "installIntegration": "create",
    },
    "team": {"admin": "admin", "view": "read"},
    "openapi-spec": {"view": "read", "edit": "create"},
    "translation": {"view": "read", "edit": "create"},
}


def reaches(role: Role, needed: Role) -> bool:
    return _RANK[role] >= _RANK[needed]


def flags(kind: str, role: Role) -> dict[str, bool]:
    """The `permissions` object of a kind for a caller with this role on it."""
    return {flag: reaches(role, needed) for flag, needed in _FLAGS[kind].items()}


def level_on(role: Role, item: Record, collection: Callable[[str], Record | None]) -> Role:
    """The level of an organization member on a space or collection, None when there is no access.

    An admin is admin everywhere and a guest has only grants. For the others it is `defaultLevel`; `inherit`
    is that of the enclosing collection, and at the top the member's own role.
    """
    if role == "admin" or role is None:
        return role
    at: Record | None = item
    while at is not None:
        level = at.doc.get("defaultLevel", "inherit")
        if level != "inherit":
            return str(level) if level is not None else None
        at = collection(at.parent) if at.parent else None
    return role
