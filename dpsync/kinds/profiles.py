"""Define the API versions (profiles): which operations a server of each version has.

A profile is data only, and a new version of the API is a new profile. Parameters in paths are written `{}`.
`PATCH-draft` is an operation whose body does not accept the member `draft` in this version. Other differences
(limits, patterns, nulls, defaults) are next to the field that they concern: `Field.profile_overrides`.
`write_permission_flag` names the flag of a response that says what a token may write, for `dpsync doctor`.
"""

from __future__ import annotations

from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from dpsync.kinds.kind import Kind
from dpsync.model.urls import GITBOOK_API_URL

Operation = tuple[str, str]
"""Method and path, every parameter written as `{}`."""
AccessRule = Literal["strongest", "precedence"]
"""Which role in a space counts for a member who is no admin.

`strongest`: the strongest role in the space, in the collections around it, and of the nearest level, or of
the organization if no level is set. `precedence`: the first role of the space, the site that shows it, the
collection around it and the organization. A space with its own level gets nothing from site or collection
(the vendor's documentation: member management, permissions and inheritance).
"""


class Profile(Struct, frozen=True):
    """The operations of one server.

    `operations` None: all declared operations except the `missing_operations` ones.
    """

    name: str
    operations: frozenset[Operation] | None = None
    unaccepted_members: frozenset[tuple[Operation, str]] = field(default_factory=frozenset)
    """Body members that an operation does not accept."""
    missing_operations: frozenset[Operation] = field(default_factory=frozenset)
    """Operations that only other servers have."""
    access_rule: AccessRule = "strongest"

    @property
    def is_complete(self) -> bool:
        """Whether the server has every declared operation with every body member."""
        return self.operations is None and not self.unaccepted_members and not self.missing_operations

    def has_operation(self, method: str, path: str) -> bool:
        """Return whether the server has an operation."""
        if (method, path) in self.missing_operations:
            return False
        return self.operations is None or (method, path) in self.operations

    def accepts_member(self, method: str, path: str, member: str) -> bool:
        """Return whether the server has an operation that accepts a body member."""
        return self.has_operation(method, path) and ((method, path), member) not in self.unaccepted_members

    def missing_operation_text(self, action: str) -> str:
        """Return the sentence that the API version has no operation for something."""
        return f"the API version {self.name} has no operation for {action}"


BodyMember = tuple[Operation, str]


def _parse_operations(lines: str) -> tuple[frozenset[Operation], frozenset[BodyMember]]:
    """Return the operations in lines such as `GET PUT /orgs/{}/teams`, and unaccepted body members.

    `METHOD-member,…` stands for an operation whose body does not accept these members.
    """
    operations: set[Operation] = set()
    without: set[BodyMember] = set()
    for line in lines.strip().splitlines():
        *methods, path = line.split()
        for word in methods:
            method, _, members = word.partition("-")
            operations.add((method, path))
            without |= {((method, path), member) for member in members.split(",") if member}
    return frozenset(operations), frozenset(without)


def _profile_without(
    name: str, missing: str, unaccepted_members: str, access: AccessRule = "strongest"
) -> Profile:
    """Return a profile with every operation except these, and without these body members."""
    return Profile(
        name, None, _parse_operations(unaccepted_members)[1], _parse_operations(missing)[0], access
    )


FULL = _profile_without(
    "full",
    """
GET /orgs/{}/audit-events
GET PUT /orgs/{}/sites/{}/agent-settings
GET POST /orgs/{}/sites/{}/mcp-servers
DELETE GET PATCH /orgs/{}/sites/{}/mcp-servers/{}
POST /orgs/{}/sites/{}/styleguide
GET /orgs/{}/sites/{}/topics
GET PATCH /orgs/{}/sites/{}/topics/{}
GET POST /orgs/{}/sites/{}/channels
DELETE GET PATCH /orgs/{}/sites/{}/channels/{}
GET POST /orgs/{}/sites/{}/context-connections
DELETE GET PATCH /orgs/{}/sites/{}/context-connections/{}
POST /orgs/{}/sites/{}/context-connections/{}/sync
""",
    """
PATCH-styleguide /orgs/{}/sites/{}
PATCH-icon /spaces/{}
""",
)

PUBLISHED = _profile_without(
    "published",
    """
POST /orgs/{}/sites/{}/section-groups/{}/sections
DELETE /orgs/{}/sites/{}/section-groups/{}/sections/{}
POST /spaces/{}/transfer
""",
    """
PATCH-agentsContext /orgs/{}/sites/{}
PATCH-ai,advancedCustomization,pageActions /orgs/{}/sites/{}/site-spaces/{}/customization
PATCH-insights,socialAccounts /orgs/{}/sites/{}/site-spaces/{}/customization
""",
    access="precedence",
)
"""What the platform's vendor publishes today (edition 0.202.0)."""

REFERENCE = Profile("reference", *_parse_operations("""
GET POST /orgs/{}/sites
DELETE GET PATCH-defaultLevel,styleguide /orgs/{}/sites/{}
GET PUT /orgs/{}/sites/{}/adaptive-schema
GET /orgs/{}/sites/{}/adaptive-schema/template-conditions
GET /orgs/{}/sites/{}/published
GET POST-draft,siteSectionGroupId /orgs/{}/sites/{}/sections
DELETE PATCH-siteSectionGroupId,localizedTitle,localizedDescription,draft /orgs/{}/sites/{}/sections/{}
POST /orgs/{}/sites/{}/sections/{}/move
GET POST-draft /orgs/{}/sites/{}/section-groups
DELETE PATCH-parentSectionGroupId,localizedTitle,draft /orgs/{}/sites/{}/section-groups/{}
POST /orgs/{}/sites/{}/section-groups/{}/sections
DELETE /orgs/{}/sites/{}/section-groups/{}/sections/{}
POST /orgs/{}/sites/{}/section-groups/{}/move
GET POST-draft /orgs/{}/sites/{}/site-spaces
DELETE PATCH-pageId,draft /orgs/{}/sites/{}/site-spaces/{}
POST /orgs/{}/sites/{}/site-spaces/{}/move
GET /orgs/{}/spaces
DELETE GET PATCH-icon /spaces/{}
POST /spaces/{}/duplicate
POST /spaces/{}/restore
POST /spaces/{}/move
POST /spaces/{}/transfer
DELETE GET PATCH /collections/{}
GET /collections/{}/spaces
POST /collections/{}/move
POST /collections/{}/transfer
GET POST /orgs/{}/collections
GET POST /spaces/{}/change-requests
GET PATCH /spaces/{}/change-requests/{}
POST /spaces/{}/change-requests/{}/merge
POST /spaces/{}/change-requests/{}/update
GET /spaces/{}/change-requests/{}/pdf
GET /orgs/{}/change-requests
GET /spaces/{}/links
GET /spaces/{}/search
POST /spaces/{}/content/template
GET /spaces/{}/content
GET /spaces/{}/change-requests/{}/content
GET /spaces/{}/content/pages
GET /spaces/{}/change-requests/{}/content/pages
GET /spaces/{}/content/files
GET /spaces/{}/change-requests/{}/content/files
GET /spaces/{}/content/files/{}
GET /spaces/{}/change-requests/{}/content/files/{}
GET /spaces/{}/content/files/{}/backlinks
GET /spaces/{}/change-requests/{}/content/files/{}/backlinks
GET /spaces/{}/content/page/{}
GET /spaces/{}/change-requests/{}/content/page/{}
GET /spaces/{}/content/page/{}/links
GET /spaces/{}/change-requests/{}/content/page/{}/links
GET /spaces/{}/content/page/{}/backlinks
GET /spaces/{}/change-requests/{}/content/page/{}/backlinks
GET /orgs
GET PATCH /orgs/{}
GET PUT /orgs/{}/agent-instructions
GET /orgs/{}/members
DELETE GET PATCH /orgs/{}/members/{}
POST /orgs/{}/ping
POST /orgs/{}/members/{}/sso
GET /orgs/{}/members/{}/spaces
GET /orgs/{}/members/{}/teams
GET PUT /orgs/{}/teams
DELETE GET PATCH /orgs/{}/teams/{}
GET PUT /orgs/{}/teams/{}/members
DELETE PUT /orgs/{}/teams/{}/members/{}
DELETE /orgs/{}/link-invites/{}
POST /orgs/{}/join
GET /orgs/{}/search
GET POST /orgs/{}/saml
DELETE GET PATCH /orgs/{}/saml/{}
GET /orgs/{}/sso
GET POST /spaces/{}/comments
DELETE GET PUT /spaces/{}/comments/{}
POST /spaces/{}/comments/{}/replies
GET PUT /spaces/{}/comments/{}/replies/{}
GET POST /spaces/{}/change-requests/{}/comments
DELETE GET PUT /spaces/{}/change-requests/{}/comments/{}
GET POST /spaces/{}/change-requests/{}/comments/{}/replies
GET /integrations
DELETE GET POST /integrations/{}
GET POST /integrations/{}/installations
GET /integrations/{}/events
GET /integrations/{}/events/{}
GET /integrations/{}/spaces
GET /integrations/{}/sites
GET POST /orgs/{}/openapi
DELETE GET PATCH PUT /orgs/{}/openapi/{}
GET POST /orgs/{}/translations
DELETE GET PUT /orgs/{}/translations/{}
POST /orgs/{}/translations/{}/run
GET /orgs/{}/conversations-clusters
GET PATCH /orgs/{}/conversations-clusters/{}
GET POST /orgs/{}/conversations
GET /orgs/{}/conversations/{}
GET /orgs/{}/conversations-issues
GET /orgs/{}/conversations-issues/{}
"""))  # fmt: skip

PROFILES = {profile.name: profile for profile in (FULL, REFERENCE, PUBLISHED)}


def profile_of_url(url: str) -> str | None:
    """Return the profile of GitBook's own API if the URL is GitBook's; None for any other URL."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return PUBLISHED.name if host == urlsplit(GITBOOK_API_URL).hostname else None


_CONTENT: Final = "createContent"
_FLAGS: Final = {
    "organization": "admin",
    "agent_instructions": "admin",
    "member": "admin",
    "saml": "admin",
    "team": "admin",
    "collection": _CONTENT,
    "site": _CONTENT,
    "space": _CONTENT,
    "openapi": "createOpenAPISpec",
    "installation": "installIntegration",
}


def write_permission_flag(kind: Kind) -> str | None:
    """Return the flag in an organization's `permissions` for writing a kind; None if there is none."""
    return _FLAGS.get(kind.name)
