"""Define request and response models of organizations, members, teams, roles and agent instructions.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Literal

from pydantic import Field, model_validator

from .base import (
    AnswerBody,
    Body,
    Id,
    MergeRules,
    Paged,
    RichTextDocument,
    Role,
    SortOrder,
    Timestamp,
    Url,
    Urls,
    User,
    optional_field,
)
from .content import Space

Plan = Literal[
    "free_2024", "plus_2024", "pro_2024", "enterprise_2024", "community_2024", "free", "plus", "pro",
    "internal",
]  # fmt: skip
UseCase = Literal[
    "internalDocs", "docsSite", "audienceControlledSite", "productDocs", "teamKnowledgeBase", "designSystem",
    "openSourceDocs", "notes", "other",
]  # fmt: skip


HOSTNAME_PATTERN = r"^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$"


class DefaultContent(AnswerBody):
    type: Literal["site"]
    site: Id


class DefaultContentUpdate(Body):
    type: Literal["site"]
    site: str


class Trial(AnswerBody):
    status: Literal["notapplicable", "none", "active", "ended", "expired"]
    count: int
    endDate: Timestamp = optional_field()
    decision: Literal["downgrade"] = optional_field()


class OrganizationUrls(AnswerBody):
    location: Url
    app: Url
    logo: Url = optional_field()


class OrganizationPermissions(AnswerBody):
    view: bool
    access: bool = optional_field()
    admin: bool
    ownTeam: bool
    createContent: bool
    createOpenAPISpec: bool
    ingestConversations: bool = optional_field()
    viewBilling: bool
    listMembers: bool
    listTeams: bool
    listIntegrations: bool
    listInstallations: bool
    installIntegration: bool


class OrganizationAnswer(AnswerBody):
    object: Literal["organization"]
    id: Id
    title: str = Field(min_length=2, max_length=255)
    createdAt: Timestamp
    emailDomains: list[str]
    hostname: str = optional_field(min_length=3, max_length=32)
    type: Literal["business", "community"]
    useCase: UseCase = optional_field()
    communityType: Literal["nonProfit", "openSource", "education"] = optional_field()
    defaultRole: Role | None = None
    defaultContent: DefaultContent | None = None
    sso: bool = optional_field()
    ai: bool = optional_field()
    inviteLinks: bool
    plan: Plan
    mergeRules: MergeRules
    urls: OrganizationUrls
    trial: Trial
    customHostname: str = optional_field()
    permissions: OrganizationPermissions


class OrganizationUpdate(Body):
    title: str = optional_field(min_length=2, max_length=255)
    emailDomains: list[str] = optional_field()
    hostname: str = optional_field(
        min_length=3, max_length=32, json_schema_extra={"pattern": HOSTNAME_PATTERN}
    )
    """The handler checks the pattern, and only if the value changes: an existing value may be older than
    the rule.
    """
    defaultRole: Role | None = optional_field()
    defaultContent: DefaultContentUpdate | None = optional_field()
    logo: Url | None = optional_field()
    sso: bool = optional_field()
    ai: bool = optional_field()
    inviteLinks: bool = optional_field()
    mergeRules: MergeRules = optional_field()


class Member(AnswerBody):
    object: Literal["member"]
    id: Id
    role: Role | None
    user: User
    disabled: bool
    joinedAt: Timestamp
    lastSeenAt: Timestamp = optional_field()
    sso: bool
    spaces: int
    teams: int
    sites: int = optional_field()


class MemberUpdate(Body):
    role: Role | None = optional_field()


class MembersQuery(Paged):
    order: SortOrder = "desc"
    role: Role | Literal["guest"] | None = None
    search: str | None = Field(default=None, description="Part of the display name or e-mail, in any case")
    sort: Literal["joinedAt", "lastSeenAt", "name"] = "joinedAt"


class OrderedQuery(Paged):
    order: SortOrder = "desc"


class Ping(AnswerBody):
    serviceVisitorClaims: str = optional_field()


class MemberSpace(AnswerBody):
    permission: Role | None
    space: Space


class TeamPermissions(AnswerBody):
    admin: bool
    view: bool


class Team(AnswerBody):
    object: Literal["team"]
    id: Id
    title: str = Field(min_length=1, max_length=64)
    members: int
    spaces: int
    createdAt: Timestamp
    permissions: TeamPermissions


class TeamRole(AnswerBody):
    role: Literal["owner", "member"]


class MemberTeam(AnswerBody):
    team: Team
    member: TeamRole


class MemberTeamsQuery(Paged):
    title: str | None = Field(default=None, description="Part of the title, in any case")


class TeamsQuery(Paged):
    owner: str | None = Field(default=None, description="A member who can manage the teams")
    title: str | None = Field(default=None, description="Part of the title, in any case")


class TeamCreate(Body):
    title: str = Field(default="Untitled", min_length=1, max_length=64)
    members: list[str] = Field(default_factory=list)


class TeamUpdate(Body):
    title: str = optional_field(min_length=1, max_length=64)


class ViewPermission(AnswerBody):
    view: bool


class TeamMember(AnswerBody):
    organization: Member
    team: TeamRole
    permissions: ViewPermission


class MembershipChange(Body):
    role: Literal["owner", "member"] = optional_field()


class MembershipChanges(Body):
    add: list[str] = Field(default_factory=list, description="User ids or e-mails")
    remove: list[str] = Field(
        default_factory=list, description="User ids or e-mails. `remove` has priority over `add`"
    )
    memberships: dict[str, MembershipChange] = Field(default_factory=dict)


class AgentInstructions(AnswerBody):
    object: Literal["agent-instructions"]
    instructions: RichTextDocument
    updatedAt: Timestamp
    updatedBy: Id
    urls: Urls


class AgentInstructionsUpdate(Body):
    instructions: RichTextDocument


class PermissionOrigin(AnswerBody):
    type: Literal["organization", "site"]
    organization: Id = optional_field()
    site: Id = optional_field()
    reason: Literal["member", "team", "default"] = optional_field()
    team: Id = optional_field()


class UserPermission(AnswerBody):
    permission: Role | None
    user: User
    origin: PermissionOrigin = optional_field()
    disabled: bool = optional_field()


class TeamPermission(AnswerBody):
    permission: Role | None
    team: Team


class Invitation(Body):
    users: list[str] = optional_field(description="User ids or e-mails of members")
    teams: list[str] = optional_field(description="Team ids")
    role: Role | None

    @model_validator(mode="after")
    def _check_not_empty(self) -> "Invitation":
        """Check that the invitation names at least one user or team."""
        if not self.model_fields_set & {"users", "teams"}:
            raise ValueError("users or teams are required")
        return self


class PermissionUpdate(Body):
    role: Role | None = optional_field()


class AggregateQuery(Paged):
    role: Role | None = Field(default=None, description="The role of the users")
