"""Define the order of roles, the standing of a user in an organization, and the `permissions` flags.

The role of a member on a space, collection or site depends on the edition: see `resolution`.

Roles are ordered admin > create > review > edit > comment > read > guest (null); each role includes the
rights of the weaker roles. A flag is true exactly if the caller may do what the flag names. Handlers and
answers check rights that depend on more than a role, such as the author of a comment or the owner of a team.
"""

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

Role = str | None
GRANT = "grant"
"""A role on a space, collection or site (`parent` its kind, `scope` its id), of a user or a team (`ref`)."""

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


def reaches(role: Role, needed: Role) -> bool:
    return _RANK[role] >= _RANK[needed]


def strongest(roles: Iterable[Role]) -> Role:
    return max(roles, key=_RANK.__getitem__, default=None)


def flags(kind: str, role: Role) -> dict[str, bool]:
    """Return the `permissions` object of a kind for a caller who has the role on an object of that kind."""
    return {flag: reaches(role, needed) for flag, needed in _FLAGS[kind].items()}


class Standing(Struct, frozen=True, dict=True):
    """The membership of one user in one organization.

    `grants` are the roles given to the user and to the user's teams, as (kind, id, role); `owns` has the
    teams that the user owns. `user` is the user id if the edition's rules depend on creators. Otherwise
    `user` is "", so that all members with the same rights share one standing.
    """

    member: bool = False
    role: Role = None
    grants: frozenset[tuple[str, str, Role]] = frozenset()
    owns: frozenset[str] = frozenset()
    user: str = ""

    def flags(self) -> dict[str, bool]:
        """Return the `permissions` object of the organization."""
        return {**flags("organization", self.role), "ownTeam": self.role == "admin" or bool(self.owns)}

    def team_flags(self, team: str) -> dict[str, bool]:
        """Return the `permissions` object of a team. A guest who owns teams may view only those teams."""
        owner = team in self.owns
        return {"admin": owner or self.role == "admin", "view": owner or self.role is not None}

    def given(self, kind: str, id: str) -> Role:
        """Return the strongest role given directly on a space, collection or site; None if there is none.

        A grant of the role null has no effect.
        """
        return self._given.get((kind, id))

    @cached_property
    def _given(self) -> dict[tuple[str, str], Role]:
        weakest_first = sorted(self.grants, key=lambda grant: _RANK[grant[2]])
        return {(kind, id): role for kind, id, role in weakest_first}
