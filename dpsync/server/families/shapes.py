"""The shape of a world for each family: the members of an entry, their types, and their references.

Free-form settings, Documents and data from a git repository have no shape here: any mapping is valid.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..models.base import Role
from ..records.world_shapes import Name, Shape, Token, maybe, refers_to

Json = dict[str, Any]
Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""No column of a store holds a NUL."""
GivenRole = Role | Literal["guest"] | None
Level = Role | Literal["inherit"] | None
OrganizationId = Annotated[Name, refers_to("organization")]
UserId = Annotated[Name, refers_to("user")]
TeamId = Annotated[Name, refers_to("team")]
CollectionId = Annotated[Name, refers_to("collection")]
SpaceId = Annotated[Name, refers_to("space")]
AnySpaceId = Annotated[Name, refers_to("space", "deleted-space")]
SiteId = Annotated[Name, refers_to("site")]
TopicId = Annotated[Name, refers_to("site-topic")]
ChangeRequestId = Annotated[Name, refers_to("change-request")]
ClusterId = Annotated[Name, refers_to("issues-cluster")]


class User(Shape):
    id: Name = maybe()
    displayName: str = maybe()
    email: Text = maybe()
    emailVerified: bool = maybe()
    photoURL: str = maybe()


Tokens = dict[Token, UserId]


class DefaultContent(Shape):
    type: Literal["site"]
    site: SiteId


class Organization(Shape):
    id: Name = maybe()
    title: str = maybe()
    hostname: str = maybe()
    customHostname: str = maybe()
    logo: str | None = maybe()
    emailDomains: list[str] = maybe()
    type: str = maybe()
    useCase: str = maybe()
    communityType: str = maybe()
    plan: str = maybe()
    inviteLinks: bool = maybe()
    mergeRules: Json = maybe()
    trial: Json = maybe()
    sso: bool = maybe()
    ai: bool = maybe()
    defaultRole: GivenRole = maybe()
    defaultContent: DefaultContent | None = maybe()
    createdAt: str = maybe()


class Member(Shape):
    user: UserId
    role: GivenRole = maybe()
    disabled: bool = maybe()
    sso: bool = maybe()
    joinedAt: str = maybe()
    lastSeenAt: str = maybe()


class Team(Shape):
    id: Name = maybe()
    title: str = maybe()
    createdAt: str = maybe()


class TeamMember(Shape):
    user: UserId
    role: Literal["owner", "member"] | None = maybe()


class Permissions(Shape):
    users: dict[UserId, GivenRole] | None = maybe()
    teams: dict[TeamId, GivenRole] | None = maybe()


class _Placed(Shape):
    id: Name = maybe()
    title: str = maybe()
    parent: CollectionId | None = maybe()
    position: int | None = maybe()
    defaultLevel: Level = maybe()


class Collection(_Placed):
    description: str = maybe()


class Space(_Placed):
    type: Literal["styleguide"] = maybe()
    emoji: str | None = maybe()
    icon: str | None = maybe()
    language: str | None = maybe()
    editMode: Literal["live", "locked"] = maybe()
    mergeRules: Json = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()
    deletedAt: str = maybe()
    deletedDaysAgo: int = maybe(ge=0, le=36_500)
    revision: Name = maybe()
    gitSync: Json = maybe()


class Site(Shape):
    id: Name = maybe()
    type: str = maybe()
    appliedType: str = maybe()
    title: str = maybe()
    basename: Text = maybe()
    hostname: str = maybe()
    proxy: str | None = maybe()
    icon: Json | str | None = maybe()
    visibility: str = maybe()
    published: bool = maybe()
    defaultLevel: Level = maybe()
    agentsContext: str = maybe()
    adaptiveContent: Json = maybe()
    ads: Json = maybe()
    styleguide: SpaceId = maybe()
    gitSync: Json = maybe()
    createdAt: str = maybe()


class _Node(Shape):
    id: Name = maybe()
    title: str = maybe()
    icon: str | None = maybe()
    description: str | None = maybe()
    condition: str | None = maybe()
    localizedTitle: dict[str, str] | None = maybe()
    localizedDescription: dict[str, str] | None = maybe()
    draft: bool = maybe()


class SiteSpace(Shape):
    type: Literal["space"]
    id: Name = maybe()
    space: SpaceId
    path: Text = maybe()
    title: str | None = maybe()
    condition: str | None = maybe()
    default: bool = maybe()
    hidden: bool = maybe()
    draft: bool = maybe()
    pageId: str | None = maybe()
    customization: Json | None = maybe()


class Section(_Node):
    type: Literal["section"]
    path: Text = maybe()
    default: bool = maybe()
    children: list[SiteSpace] | None = maybe()


class ExternalLink(_Node):
    type: Literal["external-link"]
    url: str


class SectionGroup(_Node):
    type: Literal["section-group"]
    children: "list[Node] | None" = maybe()


Node = Annotated[SiteSpace | Section | ExternalLink | SectionGroup, Field(discriminator="type")]


class ToSection(Shape):
    kind: Literal["site-section"]
    siteSectionId: Name


class ToSiteSpace(Shape):
    kind: Literal["site-space"]
    siteSpaceId: Name


class ToPage(Shape):
    kind: Literal["site-page"]
    siteSpaceId: Name
    pageId: Name


class ToUrl(Shape):
    kind: Literal["external"]
    url: str


class Redirect(Shape):
    id: Name = maybe()
    source: Text
    destination: Annotated[ToSection | ToSiteSpace | ToPage | ToUrl, Field(discriminator="kind")]
    captureWildcard: bool = maybe()
    permanent: bool = maybe()
    draft: bool = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class ShareLink(Shape):
    id: Name = maybe()
    name: str = maybe()
    active: bool = maybe()
    token: Token = maybe()
    createdAt: str = maybe()


class VisitorAuth(Shape):
    backend: Literal["custom", "integration"] = maybe()
    fallbackURL: str | None = maybe()
    logoutURL: str | None = maybe()
    privateKey: str = maybe()
    generation: int = maybe()


class AgentSettings(Shape):
    scans: Json = maybe()
    findings: Json = maybe()
    editing: Json = maybe()
    updatedAt: str = maybe()
    updatedBy: str = maybe()


class McpServer(Shape):
    id: Name = maybe()
    name: str
    url: str
    transport: str = maybe()
    headers: dict[str, str] = maybe()
    condition: str | None = maybe()


class Channel(Shape):
    id: Name = maybe()
    type: str
    setupSettings: Json = maybe()
    role: str = maybe()
    status: str = maybe()
    createdAt: str = maybe()


class ContextConnection(Shape):
    id: Name = maybe()
    connector: str
    setupSettings: Json = maybe()
    usageSettings: Json = maybe()
    label: str = maybe()
    filter: str = maybe()
    status: str = maybe()
    records: int = maybe()
    createdAt: str = maybe()
    syncedAt: str = maybe()


class Topic(Shape):
    id: Name = maybe()
    label: str
    parent: TopicId | None = maybe()
    icon: str = maybe()
    summary: Json = maybe()
    usageSettings: Json = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class SamlProvider(Shape):
    id: Name = maybe()
    label: str = maybe()
    entityID: str = maybe()
    ssoURL: str = maybe()
    certificate: str = maybe()
    defaultTeam: TeamId | None = maybe()
    defaultRole: GivenRole = maybe()
    createdAt: str = maybe()


class LinkInvite(Shape):
    id: Name = maybe()
    role: Role = maybe()
    level: Role = maybe()
    space: AnySpaceId = maybe()
    collection: CollectionId = maybe()
    createdBy: UserId = maybe()
    createdAt: str = maybe()


class SpecificationVersion(Shape):
    id: Name
    sourceURL: str | None = maybe()
    text: str = maybe()
    createdAt: str = maybe()


class Specification(Shape):
    id: Name = maybe()
    slug: Name
    source: dict[Literal["url", "text"], str | None] = maybe()
    sourceURL: str | None = maybe()
    visibility: str = maybe()
    processingState: Literal["pending", "progress", "complete"] = maybe()
    lastVersion: Name | None = maybe()
    lastProcessedAt: str = maybe()
    lastProcessErrorCode: str = maybe()
    lastProcessedErrors: list[Json] = maybe()
    versions: list[SpecificationVersion] | None = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class GlossaryEntry(Shape):
    id: Name = maybe()
    translations: dict[str, Any]
    createdAt: str = maybe()
    updatedAt: str = maybe()


class TranslationSource(Shape):
    space: AnySpaceId
    language: str


class Translation(Shape):
    id: Name = maybe()
    source: TranslationSource
    language: str = maybe()
    instructions: Json = maybe()
    status: str = maybe()
    result: AnySpaceId | None = maybe()
    stats: Json = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class WaitingEvent(Shape):
    id: Name
    organization: OrganizationId
    installation: Name
    payload: Json = maybe()
    createdAt: str = maybe()


class Integration(Shape):
    name: Name
    title: str = maybe()
    description: str = maybe()
    summary: str = maybe()
    version: int = maybe()
    visibility: str = maybe()
    verified: bool = maybe()
    target: str = maybe()
    runtime: str = maybe()
    icon: str = maybe()
    previewImages: list[str] | None = maybe()
    scopes: list[str] = maybe()
    categories: list[str] = maybe()
    blocks: list[Json] = maybe()
    contentSources: list[Json] = maybe()
    externalLinks: list[Json] = maybe()
    configurations: Json = maybe()
    contentSecurityPolicy: str | Json = maybe()
    development: Json = maybe()
    script: str = maybe()
    secrets: dict[str, str] = maybe()
    waiting: list[WaitingEvent] | None = maybe()


class _Installed(Shape):
    configuration: Json = maybe()
    externalIds: list[str] = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class OnSpace(_Installed):
    space: SpaceId


class OnSite(_Installed):
    site: SiteId


class Installation(_Installed):
    id: Name = maybe()
    integration: Name
    status: str = maybe()
    space_selection: Literal["all", "selected"] = maybe()
    site_selection: Literal["all", "selected"] = maybe()
    spaces: list[OnSpace] | None = maybe()
    sites: list[OnSite] | None = maybe()


class Reaction(Shape):
    emoji: str
    user: UserId
    reactedAt: str = maybe()


class Reply(Shape):
    id: Name = maybe()
    body: str | Json
    postedBy: UserId
    postedAt: str = maybe()
    editedAt: str = maybe()
    reactions: list[Reaction] = maybe()


class Comment(Reply):
    space: AnySpaceId
    changeRequest: ChangeRequestId | None = maybe()
    page: Text | None = maybe()
    node: str = maybe()
    tableCell: Json = maybe()
    revision: str = maybe()
    status: Literal["open", "resolved"] = maybe()
    resolvedAt: str = maybe()
    resolvedBy: UserId = maybe()
    replies: list[Reply] | None = maybe()


class Cluster(Shape):
    id: Name = maybe()
    label: str
    topic: str = maybe()
    muted: bool = maybe()
    createdAt: str = maybe()
    updatedAt: str = maybe()


class Conversation(Shape):
    id: Name
    source: str = maybe()
    subject: str = maybe()
    impact: str = maybe()
    metadata: Json | None = maybe()
    parts: list[str | Json] | None = maybe()
    createdAt: str = maybe()
    ingestedAt: str = maybe()
    processedAt: str = maybe()


class Issue(Shape):
    id: Name = maybe()
    title: str
    topic: str = maybe()
    text: str = maybe()
    impact: str = maybe()
    source: str = maybe()
    conversation: Name
    cluster: ClusterId
    createdAt: str = maybe()
    ingestedAt: str = maybe()


class AuditEvent(Shape):
    id: Name = maybe()
    occurredAt: str = maybe()
    action: str
    actor: Json
    source: str = maybe()
    target: Json
    payload: Json = maybe()
