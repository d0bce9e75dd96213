"""Define the API versions: which operations a server of each version has.

Profiles: which operations a server has. Data alone; a later edition of the platform is one more profile.

Names of parameters do not matter, so that each is written `{}`. `PATCH-draft` is an operation whose body does
not take the member `draft` on this server, although that of a later edition does. What else differs (limits,
patterns, nulls, defaults) a kind says beside the field that it concerns: `Field.on_profiles`.

By which flag an organization says that a token may write the things of a kind: `dpsync doctor` tells it.

An organization in an answer has `permissions`: what the caller may do in it. In a single site, space or
collection somebody may have a role that allows more or less. A plan concludes nothing from a flag.
"""

from __future__ import annotations

from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from dpsync.kinds.kind import Kind
from dpsync.model.urls import GITBOOK

Operation = tuple[str, str]
"""Method and path, every parameter written as `{}`."""
AccessRule = Literal["strongest", "precedence"]
"""Which of the roles that reach a space counts for a member who is no admin.

`strongest`: the strongest one of the space, of the collections around it, and of the nearest level or, where
no level is set, of the organization. `precedence`: the first one of these: the space, the site that shows it,
the collection around it, the organization; a space with a level of its own gets nothing from site or
collection (the vendor's documentation: member management, permissions and inheritance).
"""


class Profile(Struct, frozen=True):
    """What one server has. `operations` None: everything that a kind names, but for what is `missing`."""

    name: str
    operations: frozenset[Operation] | None = None
    without: frozenset[tuple[Operation, str]] = field(default_factory=frozenset)
    """Members of bodies that an operation does not take."""
    missing: frozenset[Operation] = field(default_factory=frozenset)
    """Operations that other servers have and this one has not."""
    access: AccessRule = "strongest"

    @property
    def is_whole(self) -> bool:
        """Whether the server has every operation, with every member, that a kind names."""
        return self.operations is None and not self.without and not self.missing

    def has(self, method: str, path: str) -> bool:
        if (method, path) in self.missing:
            return False
        return self.operations is None or (method, path) in self.operations

    def takes(self, method: str, path: str, member: str) -> bool:
        return self.has(method, path) and ((method, path), member) not in self.without

    def lacks(self, what: str) -> str:
        """The sentence for what it has no operation for."""
        return f"the API version {self.name} has no operation for {what}"


Members = tuple[Operation, str]


def _table(lines: str) -> tuple[frozenset[Operation], frozenset[Members]]:
    """Operations, and members that they do not take, from lines of methods and a path.

    `METHOD-member,…` is one whose body does not take these members.
    """
    operations: set[Operation] = set()
    without: set[Members] = set()
    for line in lines.strip().splitlines():
        *methods, path = line.split()
        for word in methods:
            method, _, members = word.partition("-")
            operations.add((method, path))
            without |= {((method, path), member) for member in members.split(",") if member}
    return frozenset(operations), frozenset(without)


def _less(name: str, missing: str, without: str, access: AccessRule = "strongest") -> Profile:
    """A server that has everything but these operations, and takes everything but these members."""
    return Profile(name, None, _table(without)[1], _table(missing)[0], access)


FULL = _less(
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

PUBLISHED = _less(
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

REFERENCE = Profile("reference", *_table("""
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


def profile_at(url: str) -> str | None:
    """Return the profile of GitBook's own API, whatever its answers say; None for any other address."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return PUBLISHED.name if host == urlsplit(GITBOOK).hostname else None


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


def writing_flag(kind: Kind) -> str | None:
    """The member of an organization's `permissions`; None where none of them says it."""
    return _FLAGS.get(kind.name)
