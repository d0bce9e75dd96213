"""Profiles: which operations a server has. Data alone; a later edition of the platform is one more profile.

Names of parameters do not matter, so that each is written `{}`. `PATCH-draft` is an operation whose body does
not take the member `draft` on this server, although that of a later edition does.
"""

from __future__ import annotations

from msgspec import Struct, field

Operation = tuple[str, str]
"""Method and path, every parameter written as `{}`."""


class Profile(Struct, frozen=True):
    """The operations of one server. `operations` None: everything that a kind names."""

    name: str
    operations: frozenset[Operation] | None = None
    without: frozenset[tuple[Operation, str]] = field(default_factory=frozenset)
    """Members of bodies that an operation does not take."""

    def has(self, method: str, path: str) -> bool:
        return self.operations is None or (method, path) in self.operations

    def takes(self, method: str, path: str, member: str) -> bool:
        return self.has(method, path) and ((method, path), member) not in self.without

    def lacks(self, what: str) -> str:
        """The sentence for what it has no operation for."""
        return f"the profile {self.name} has no operation for {what}"


def _profile(name: str, table: str) -> Profile:
    """From lines of methods and a path; `METHOD-member,…` is one whose body does not take these members."""
    operations: set[Operation] = set()
    without: set[tuple[Operation, str]] = set()
    for line in table.strip().splitlines():
        *methods, path = line.split()
        for word in methods:
            method, _, members = word.partition("-")
            operations.add((method, path))
            without |= {((method, path), member) for member in members.split(",") if member}
    return Profile(name, frozenset(operations), frozenset(without))


FULL = Profile("full")

REFERENCE = _profile(
    "reference",
    """
GET POST /orgs/{}/sites
DELETE GET PATCH-defaultLevel /orgs/{}/sites/{}
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
DELETE GET PATCH /spaces/{}
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
""",
)

PROFILES = {profile.name: profile for profile in (FULL, REFERENCE)}
