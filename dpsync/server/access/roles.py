"""Define the order of roles, the access of a user in an organization, and the `permissions` flags.

Roles are ordered admin > create > review > edit > comment > read > guest (null); each role includes the
rights of the weaker roles. A flag in `permissions` is true exactly if the caller may do what the flag names.
`resolution` resolves the role on a space, collection or site. Handlers check rights that depend on more than
a role, such as the author of a comment or the owner of a team.
"""

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

Role = str | None
GRANT = "grant"
"""A role on a space, collection or site (`parent` its kind, `scope` its id), of a user or a team (`ref`)."""

_ROLE_RANK = {"admin": 6, "create": 5, "review": 4, "edit": 3, "comment": 2, "read": 1, None: 0}

_FLAG_ROLES: dict[str, dict[str, Role]] = {
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
    "site": {
        "view": "read",
        "access": "read",
        "edit": "edit",
        "create": "create",
        "admin": "admin",
        "installIntegration": "create",
        "viewAdaptiveSchema": "read",
        "editAdaptiveSchema": "create",
    },
    "collection": {"view": "read", "admin": "admin", "viewInviteLinks": "admin", "create": "create"},
    "organization": {
        "view": None,
        "access": None,
        "admin": "admin",
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
    "openapi-spec": {"view": "read", "edit": "create"},
    "translation": {"view": "read", "edit": "create"},
    "integration": {"admin": "admin"},
}


def is_at_least(role: Role, needed: Role) -> bool:
    """Return whether a role includes the needed role. None, the role of guests, is the weakest role."""
    return _ROLE_RANK[role] >= _ROLE_RANK[needed]


def max_role(roles: Iterable[Role]) -> Role:
    """Return the strongest of the roles, or None if there are none."""
    return max(roles, key=_ROLE_RANK.__getitem__, default=None)


def permission_flags(kind: str, role: Role) -> dict[str, bool]:
    """Return the `permissions` object of a kind for a caller who has the role on an object of that kind."""
    return {flag: is_at_least(role, needed) for flag, needed in _FLAG_ROLES[kind].items()}


class OrganizationAccess(Struct, frozen=True, dict=True):
    """The membership of one user in one organization.

    `grants` are the roles given to the user and to the user's teams, as (kind, id, role); `owned_teams` has
    the teams that the user owns. `user_id` is the user id if the profile's rules depend on creators.
    Otherwise `user_id` is "", so that all members with the same rights share one value.
    """

    is_member: bool = False
    role: Role = None
    grants: frozenset[tuple[str, str, Role]] = frozenset()
    owned_teams: frozenset[str] = frozenset()
    user_id: str = ""

    def permission_flags(self) -> dict[str, bool]:
        """Return the `permissions` object of the organization."""
        return {
            **permission_flags("organization", self.role),
            "ownTeam": self.role == "admin" or bool(self.owned_teams),
        }

    def team_permission_flags(self, team: str) -> dict[str, bool]:
        """Return the `permissions` object of a team. A guest who owns teams may view only those teams."""
        owner = team in self.owned_teams
        return {"admin": owner or self.role == "admin", "view": owner or self.role is not None}

    def direct_role(self, kind: str, id: str) -> Role:
        """Return the strongest role given directly on a space, collection or site; None if there is none.

        A grant of the role null has no effect.
        """
        return self._direct_roles.get((kind, id))

    @cached_property
    def _direct_roles(self) -> dict[tuple[str, str], Role]:
        """Return the strongest direct role for each (kind, id): a stronger role overwrites a weaker one."""
        weakest_first = sorted(self.grants, key=lambda grant: _ROLE_RANK[grant[2]])
        return {(kind, id): role for kind, id, role in weakest_first}
