"""Define the shape of a world (the data that the local server starts with): one model per kind of entry.

The models give the members of each entry, their types, and what an id in them refers to.
Input: none. Output: models that `records/world_schema.py` checks worlds with. Free-form settings, Documents
(rich text) and data from a git repository have no shape here: any mapping is valid.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..models.base import Role
from ..records.world_schema import Name, Token, WorldModel, optional_member, refers_to

Json = dict[str, Any]
Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""A text without NUL, which no column of a store can contain."""
RoleOrGuest = Role | Literal["guest"] | None
Level = Role | Literal["inherit"] | None
OrganizationId = Annotated[Name, refers_to("organization")]
UserId = Annotated[Name, refers_to("user")]
TeamId = Annotated[Name, refers_to("team")]
CollectionId = Annotated[Name, refers_to("collection")]
SpaceId = Annotated[Name, refers_to("space")]
SpaceOrDeletedSpaceId = Annotated[Name, refers_to("space", "deleted-space")]
SiteId = Annotated[Name, refers_to("site")]
TopicId = Annotated[Name, refers_to("site-topic")]
ChangeRequestId = Annotated[Name, refers_to("change-request")]
ClusterId = Annotated[Name, refers_to("issues-cluster")]


class User(WorldModel):
    """The entry of a user."""

    id: Name = optional_member()
    displayName: str = optional_member()
    email: Text = optional_member()
    emailVerified: bool = optional_member()
    photoURL: str = optional_member()


Tokens = dict[Token, UserId]


class DefaultContent(WorldModel):
    """The site that an organization shows by default."""

    type: Literal["site"]
    site: SiteId


class Organization(WorldModel):
    """The entry of an organization, without the objects in it."""

    id: Name = optional_member()
    title: str = optional_member()
    hostname: str = optional_member()
    customHostname: str = optional_member()
    logo: str | None = optional_member()
    emailDomains: list[str] = optional_member()
    type: str = optional_member()
    useCase: str = optional_member()
    communityType: str = optional_member()
    plan: str = optional_member()
    inviteLinks: bool = optional_member()
    mergeRules: Json = optional_member()
    trial: Json = optional_member()
    sso: bool = optional_member()
    ai: bool = optional_member()
    defaultRole: RoleOrGuest = optional_member()
    defaultContent: DefaultContent | None = optional_member()
    createdAt: str = optional_member()


class Member(WorldModel):
    """The entry of a member of an organization."""

    user: UserId
    role: RoleOrGuest = optional_member()
    disabled: bool = optional_member()
    sso: bool = optional_member()
    joinedAt: str = optional_member()
    lastSeenAt: str = optional_member()


class Team(WorldModel):
    """The entry of a team, without its members."""

    id: Name = optional_member()
    title: str = optional_member()
    createdAt: str = optional_member()


class TeamMember(WorldModel):
    """The entry of a member of a team."""

    user: UserId
    role: Literal["owner", "member"] | None = optional_member()


class Permissions(WorldModel):
    """The roles of users and teams on an object, by id."""

    users: dict[UserId, RoleOrGuest] | None = optional_member()
    teams: dict[TeamId, RoleOrGuest] | None = optional_member()


class _SpaceOrCollection(WorldModel):
    """The members that spaces and collections share."""

    id: Name = optional_member()
    title: str = optional_member()
    parent: CollectionId | None = optional_member()
    position: int | None = optional_member()
    defaultLevel: Level = optional_member()


class Collection(_SpaceOrCollection):
    """The entry of a collection."""

    description: str = optional_member()


class Space(_SpaceOrCollection):
    """The entry of a space, without its content."""

    type: Literal["styleguide"] = optional_member()
    emoji: str | None = optional_member()
    icon: str | None = optional_member()
    language: str | None = optional_member()
    editMode: Literal["live", "locked"] = optional_member()
    mergeRules: Json = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()
    deletedAt: str = optional_member()
    deletedDaysAgo: int = optional_member(ge=0, le=36_500)
    revision: Name = optional_member()
    gitSync: Json = optional_member()


class Site(WorldModel):
    """The entry of a site, without the objects in it."""

    id: Name = optional_member()
    type: str = optional_member()
    appliedType: str = optional_member()
    title: str = optional_member()
    basename: Text = optional_member()
    hostname: str = optional_member()
    proxy: str | None = optional_member()
    icon: Json | str | None = optional_member()
    visibility: str = optional_member()
    published: bool = optional_member()
    defaultLevel: Level = optional_member()
    agentsContext: str = optional_member()
    adaptiveContent: Json = optional_member()
    ads: Json = optional_member()
    styleguide: SpaceId = optional_member()
    gitSync: Json = optional_member()
    createdAt: str = optional_member()


class _NavigationNode(WorldModel):
    """The members that sections, links and section groups share."""

    id: Name = optional_member()
    title: str = optional_member()
    icon: str | None = optional_member()
    description: str | None = optional_member()
    condition: str | None = optional_member()
    localizedTitle: dict[str, str] | None = optional_member()
    localizedDescription: dict[str, str] | None = optional_member()
    draft: bool = optional_member()


class SiteSpace(WorldModel):
    """A space in the navigation of a site."""

    type: Literal["space"]
    id: Name = optional_member()
    space: SpaceId
    path: Text = optional_member()
    title: str | None = optional_member()
    condition: str | None = optional_member()
    default: bool = optional_member()
    hidden: bool = optional_member()
    draft: bool = optional_member()
    pageId: str | None = optional_member()
    customization: Json | None = optional_member()


class Section(_NavigationNode):
    """A section in the navigation of a site, with its site spaces."""

    type: Literal["section"]
    path: Text = optional_member()
    default: bool = optional_member()
    children: list[SiteSpace] | None = optional_member()


class ExternalLink(_NavigationNode):
    """An external link in the navigation of a site."""

    type: Literal["external-link"]
    url: str


class SectionGroup(_NavigationNode):
    """A section group in the navigation of a site, with its children."""

    type: Literal["section-group"]
    children: "list[Node] | None" = optional_member()


Node = Annotated[SiteSpace | Section | ExternalLink | SectionGroup, Field(discriminator="type")]


class ToSection(WorldModel):
    """A section as the destination of a redirect."""

    kind: Literal["site-section"]
    siteSectionId: Name


class ToSiteSpace(WorldModel):
    """A site space as the destination of a redirect."""

    kind: Literal["site-space"]
    siteSpaceId: Name


class ToPage(WorldModel):
    """A page as the destination of a redirect."""

    kind: Literal["site-page"]
    siteSpaceId: Name
    pageId: Name


class ToUrl(WorldModel):
    """A URL as the destination of a redirect."""

    kind: Literal["external"]
    url: str


class Redirect(WorldModel):
    """The entry of a redirect."""

    id: Name = optional_member()
    source: Text
    destination: Annotated[ToSection | ToSiteSpace | ToPage | ToUrl, Field(discriminator="kind")]
    captureWildcard: bool = optional_member()
    permanent: bool = optional_member()
    draft: bool = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class ShareLink(WorldModel):
    """The entry of a share link."""

    id: Name = optional_member()
    name: str = optional_member()
    active: bool = optional_member()
    token: Token = optional_member()
    createdAt: str = optional_member()


class VisitorAuth(WorldModel):
    """The visitor authentication of a site."""

    backend: Literal["custom", "integration"] = optional_member()
    fallbackURL: str | None = optional_member()
    logoutURL: str | None = optional_member()
    privateKey: str = optional_member()
    generation: int = optional_member()


class AgentSettings(WorldModel):
    """The agent settings of a site."""

    scans: Json = optional_member()
    findings: Json = optional_member()
    editing: Json = optional_member()
    updatedAt: str = optional_member()
    updatedBy: str = optional_member()


class McpServer(WorldModel):
    """The entry of an MCP server."""

    id: Name = optional_member()
    name: str
    url: str
    transport: str = optional_member()
    headers: dict[str, str] = optional_member()
    condition: str | None = optional_member()


class Channel(WorldModel):
    """The entry of a channel."""

    id: Name = optional_member()
    type: str
    setupSettings: Json = optional_member()
    role: str = optional_member()
    status: str = optional_member()
    createdAt: str = optional_member()


class ContextConnection(WorldModel):
    """The entry of a context connection."""

    id: Name = optional_member()
    connector: str
    setupSettings: Json = optional_member()
    usageSettings: Json = optional_member()
    label: str = optional_member()
    filter: str = optional_member()
    status: str = optional_member()
    records: int = optional_member()
    createdAt: str = optional_member()
    syncedAt: str = optional_member()


class Topic(WorldModel):
    """The entry of a topic."""

    id: Name = optional_member()
    label: str
    parent: TopicId | None = optional_member()
    icon: str = optional_member()
    summary: Json = optional_member()
    usageSettings: Json = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class SamlProvider(WorldModel):
    """The entry of a SAML provider."""

    id: Name = optional_member()
    label: str = optional_member()
    entityID: str = optional_member()
    ssoURL: str = optional_member()
    certificate: str = optional_member()
    defaultTeam: TeamId | None = optional_member()
    defaultRole: RoleOrGuest = optional_member()
    createdAt: str = optional_member()


class LinkInvite(WorldModel):
    """The entry of a link invite: a role in the organization, or a level on a space or collection."""

    id: Name = optional_member()
    role: Role = optional_member()
    level: Role = optional_member()
    space: SpaceOrDeletedSpaceId = optional_member()
    collection: CollectionId = optional_member()
    createdBy: UserId = optional_member()
    createdAt: str = optional_member()


class SpecificationVersion(WorldModel):
    """The entry of a version of an OpenAPI specification."""

    id: Name
    sourceURL: str | None = optional_member()
    text: str = optional_member()
    createdAt: str = optional_member()


class Specification(WorldModel):
    """The entry of an OpenAPI specification."""

    id: Name = optional_member()
    slug: Name
    source: dict[Literal["url", "text"], str | None] = optional_member()
    sourceURL: str | None = optional_member()
    visibility: str = optional_member()
    processingState: Literal["pending", "progress", "complete"] = optional_member()
    lastVersion: Name | None = optional_member()
    lastProcessedAt: str = optional_member()
    lastProcessErrorCode: str = optional_member()
    lastProcessedErrors: list[Json] = optional_member()
    versions: list[SpecificationVersion] | None = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class GlossaryEntry(WorldModel):
    """The entry of a term in several languages."""

    id: Name = optional_member()
    translations: dict[str, Any]
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class TranslationSource(WorldModel):
    """The space that a translation translates, and its language."""

    space: SpaceOrDeletedSpaceId
    language: str


class Translation(WorldModel):
    """The entry of a translation."""

    id: Name = optional_member()
    source: TranslationSource
    language: str = optional_member()
    instructions: Json = optional_member()
    status: str = optional_member()
    result: SpaceOrDeletedSpaceId | None = optional_member()
    stats: Json = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class WaitingEvent(WorldModel):
    """The entry of an event that waits to be sent."""

    id: Name
    organization: OrganizationId
    installation: Name
    payload: Json = optional_member()
    createdAt: str = optional_member()


class Integration(WorldModel):
    """The entry of an integration, with its script, secrets and images."""

    name: Name
    title: str = optional_member()
    description: str = optional_member()
    summary: str = optional_member()
    version: int = optional_member()
    visibility: str = optional_member()
    verified: bool = optional_member()
    target: str = optional_member()
    runtime: str = optional_member()
    icon: str = optional_member()
    previewImages: list[str] | None = optional_member()
    scopes: list[str] = optional_member()
    categories: list[str] = optional_member()
    blocks: list[Json] = optional_member()
    contentSources: list[Json] = optional_member()
    externalLinks: list[Json] = optional_member()
    configurations: Json = optional_member()
    contentSecurityPolicy: str | Json = optional_member()
    development: Json = optional_member()
    script: str = optional_member()
    secrets: dict[str, str] = optional_member()
    waiting: list[WaitingEvent] | None = optional_member()


class _InstallationSettings(WorldModel):
    """The members that all installations share."""

    configuration: Json = optional_member()
    externalIds: list[str] = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class SpaceInstallation(_InstallationSettings):
    """The entry of an installation on a space."""

    space: SpaceId


class SiteInstallation(_InstallationSettings):
    """The entry of an installation on a site."""

    site: SiteId


class Installation(_InstallationSettings):
    """The entry of an installation in an organization."""

    id: Name = optional_member()
    integration: Name
    status: str = optional_member()
    space_selection: Literal["all", "selected"] = optional_member()
    site_selection: Literal["all", "selected"] = optional_member()
    spaces: list[SpaceInstallation] | None = optional_member()
    sites: list[SiteInstallation] | None = optional_member()


class Reaction(WorldModel):
    """A reaction to a comment or reply."""

    emoji: str
    user: UserId
    reactedAt: str = optional_member()


class Reply(WorldModel):
    """The entry of a reply to a comment."""

    id: Name = optional_member()
    body: str | Json
    postedBy: UserId
    postedAt: str = optional_member()
    editedAt: str = optional_member()
    reactions: list[Reaction] = optional_member()


class Comment(Reply):
    """The entry of a comment."""

    space: SpaceOrDeletedSpaceId
    changeRequest: ChangeRequestId | None = optional_member()
    page: Text | None = optional_member()
    node: str = optional_member()
    tableCell: Json = optional_member()
    revision: str = optional_member()
    status: Literal["open", "resolved"] = optional_member()
    resolvedAt: str = optional_member()
    resolvedBy: UserId = optional_member()
    replies: list[Reply] | None = optional_member()


class Cluster(WorldModel):
    """The entry of a cluster of issues."""

    id: Name = optional_member()
    label: str
    topic: str = optional_member()
    muted: bool = optional_member()
    createdAt: str = optional_member()
    updatedAt: str = optional_member()


class Conversation(WorldModel):
    """The entry of a conversation."""

    id: Name
    source: str = optional_member()
    subject: str = optional_member()
    impact: str = optional_member()
    metadata: Json | None = optional_member()
    parts: list[str | Json] | None = optional_member()
    createdAt: str = optional_member()
    ingestedAt: str = optional_member()
    processedAt: str = optional_member()


class Issue(WorldModel):
    """The entry of an issue in a conversation."""

    id: Name = optional_member()
    title: str
    topic: str = optional_member()
    text: str = optional_member()
    impact: str = optional_member()
    source: str = optional_member()
    conversation: Name
    cluster: ClusterId
    createdAt: str = optional_member()
    ingestedAt: str = optional_member()


class AuditEvent(WorldModel):
    """The entry of an audit event."""

    id: Name = optional_member()
    occurredAt: str = optional_member()
    action: str
    actor: Json
    source: str = optional_member()
    target: Json
    payload: Json = optional_member()
