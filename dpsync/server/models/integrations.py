"""Define request and response models of integrations, their events and their installations.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from .base import AnswerBody, Body, Id, Paged, Query, Timestamp, Url, optional_field
from .content import Space
from .organizations import OrganizationAnswer
from .sites import Site

MAX_NAME_LENGTH = 100
NAME_PATTERN = r"^[a-zA-Z0-9\-_.]+$"
Name = Annotated[str, Field(max_length=MAX_NAME_LENGTH, pattern=NAME_PATTERN)]
Target = Literal["all", "site", "space", "organization"]
IntegrationVisibility = Literal["public", "private", "unlisted"]
Category = Literal[
    "analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"
]  # fmt: skip
Scope = Literal[
    "space:content:read", "space:content:write", "space:metadata:read", "space:metadata:write",
    "space:git:sync", "page:feedback:read", "site:metadata:read", "site:views:read", "site:script:inject",
    "site:script:cookies", "site:visitor:auth", "site:visitor:claims", "site:adaptive:read",
    "site:adaptive:write", "conversations:ingest", "openapi:read", "openapi:write",
]  # fmt: skip
InstallationStatus = Literal["active", "pending", "paused"]


class BlockMarkdown(Body):
    codeblock: str
    body: str


class IntegrationBlock(Body):
    id: str
    title: str = Field(min_length=2, max_length=40)
    description: str = optional_field(max_length=150)
    icon: str = optional_field()
    urlUnfurl: list[str] = optional_field()
    markdown: BlockMarkdown = optional_field()


class Component(Body):
    componentId: str


class ContentSource(Body):
    id: str
    title: str = Field(min_length=2, max_length=40)
    description: str = optional_field(max_length=150)
    icon: str = optional_field()
    configuration: Component = optional_field()


class Property(Body):
    """One setting of a configuration. A `button` has no value."""

    type: Literal["string", "number", "boolean", "button"] = "string"
    title: str = optional_field(max_length=30)
    description: str = optional_field(max_length=100)
    default: str | bool | int | float = optional_field()
    completion_url: str = optional_field()
    enum: list[str] = optional_field()
    callback_url: str = optional_field()
    button_text: str = optional_field()


class Configuration(Body):
    """Either the settings that there are, or the component of the integration that asks for them."""

    properties: dict[str, Property] = optional_field()
    required: list[str] = optional_field()
    componentId: str = optional_field()


class Configurations(Body):
    account: Configuration = optional_field()
    space: Configuration = optional_field()
    site: Configuration = optional_field()


class ExternalLink(Body):
    url: Url
    label: str


SecurityPolicy = str | dict[str, str]


class IntegrationUrls(AnswerBody):
    location: Url
    icon: Url = optional_field()
    app: Url
    assets: Url
    publicEndpoint: Url
    publicContentEndpoint: Url = optional_field()


class IntegrationPermissions(AnswerBody):
    admin: bool


class Integration(AnswerBody):
    object: Literal["integration"]
    name: Name
    version: int = Field(ge=1)
    title: str = Field(min_length=2, max_length=30)
    description: str = optional_field(max_length=100)
    summary: str = optional_field(max_length=2048)
    previewImages: list[Url] = Field(max_length=3)
    target: Target
    verified: bool
    visibility: IntegrationVisibility
    scopes: list[Scope]
    categories: list[Category]
    blocks: list[IntegrationBlock] = optional_field()
    contentSources: list[ContentSource] = optional_field()
    configurations: Configurations = optional_field()
    externalLinks: list[ExternalLink] = Field(max_length=5)
    owner: OrganizationAnswer
    urls: IntegrationUrls
    permissions: IntegrationPermissions
    contentSecurityPolicy: SecurityPolicy = optional_field()


class IntegrationsQuery(Paged):
    search: str | None = Field(default=None, description="Part of the name or title, in any case")
    category: Category | None = None
    blockDomain: str | None = Field(
        default=None,
        max_length=100,
        pattern=NAME_PATTERN,
        description="A domain whose URLs a block of the integration shows",
    )
    blocks: bool | None = Field(default=None, description="Whether the integration has blocks")
    contentSources: bool | None = Field(
        default=None, description="Whether the integration has content sources"
    )
    owner: str | None = Field(
        default=None, description="The id of the organization that published the integration"
    )
    scope: Scope | None = None
    target: Target | None = Field(
        default=None, description="The target. Integrations for `all` targets match always"
    )


class Publish(Body):
    """All of an integration: what is left out is not kept from the version before."""

    runtime: Literal["v1", "v2"] = "v1"
    icon: str = optional_field(description="Base64")
    title: str = Field(default="Untitled", min_length=2, max_length=30)
    description: str = optional_field(max_length=100)
    summary: str = optional_field(max_length=2048)
    previewImages: list[str] = Field(default_factory=list, max_length=3, description="Base64")
    visibility: IntegrationVisibility = "private"
    target: Target = "all"
    scopes: list[Scope] = Field(default_factory=list)
    categories: list[Category] = Field(default_factory=list)
    blocks: list[IntegrationBlock] = optional_field()
    contentSources: list[ContentSource] = optional_field()
    externalLinks: list[ExternalLink] = Field(default_factory=list, max_length=5)
    configurations: Configurations = optional_field()
    script: str = optional_field()
    organization: str = optional_field(
        description="Id or hostname. Default: the owner of the previous version"
    )
    secrets: dict[str, str] = Field(default_factory=dict, max_length=20)
    contentSecurityPolicy: SecurityPolicy = optional_field()


def _check_web_url(url: str) -> str:
    """Return a URL with the scheme HTTP or HTTPS. Raise ValueError for any other text."""
    if not url.casefold().startswith(("http://", "https://")):
        raise ValueError("must be an http or https URL")
    return url


TunnelUrl = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_check_web_url)]


class Development(Body):
    tunnelUrl: TunnelUrl = optional_field()
    url: TunnelUrl = optional_field(description="Other name for `tunnelUrl`")
    all: bool = Field(default=False, description="Whether to send the events of all organizations")

    @model_validator(mode="after")
    def _check_one_url(self) -> "Development":
        """Check that the body has a URL, under either of its two names."""
        if self.tunnelUrl is None and self.url is None:
            raise ValueError("tunnelUrl is required")
        return self


class Previous(AnswerBody):
    status: InstallationStatus = optional_field()
    configuration: dict[str, Any]


class EventPayload(AnswerBody):
    """Which members there are besides `type` depends on it."""

    eventId: Id
    type: Literal[
        "installation_setup",
        "installation_deleted",
        "space_installation_setup",
        "space_installation_deleted",
        "site_installation_setup",
        "site_installation_deleted",
    ]
    installationId: Id
    spaceId: Id = optional_field()
    siteId: Id = optional_field()
    status: InstallationStatus = optional_field()
    previous: Previous = optional_field()


class Event(AnswerBody):
    id: Id
    integrationId: Name
    installationId: Id
    createdAt: Timestamp
    payload: EventPayload
    status: Literal["success", "failed"]


class LogEntry(AnswerBody):
    message: str
    timestamp: Timestamp
    level: Literal["debug", "info", "warn", "error"]


class Trace(AnswerBody):
    logs: list[LogEntry]


class EventDetail(AnswerBody):
    event: Event
    trace: Trace


Selection = Literal["all", "selected"]
ExternalIds = Annotated[list[str], Field(max_length=5)]


class InstallationUrls(AnswerBody):
    location: Url
    app: Url
    publicEndpoint: Url
    publicContentEndpoint: Url = optional_field()


class InstallationTarget(AnswerBody):
    organization: Id


class Installation(AnswerBody):
    id: Id
    status: InstallationStatus
    space_selection: Selection
    site_selection: Selection
    spaces: int
    configuration: dict[str, Any]
    createdAt: Timestamp
    updatedAt: Timestamp
    urls: InstallationUrls
    externalIds: ExternalIds
    target: InstallationTarget


class InstalledIntegration(AnswerBody):
    installation: Installation
    integration: Integration


class PlacedUrls(AnswerBody):
    location: Url
    publicEndpoint: Url
    publicContentEndpoint: Url = optional_field()


class PlacedInstallation(AnswerBody):
    integration: Name
    installation: Id
    status: InstallationStatus
    configuration: dict[str, Any]
    externalIds: ExternalIds
    urls: PlacedUrls


class SpaceInstallation(PlacedInstallation):
    space: Id | Space


class SiteInstallation(PlacedInstallation):
    site: Id | Site


class InstallationSearchQuery(Paged):
    search: str | None = Field(default=None, description="Part of the name or title, in any case")


class ExternalIdQuery(Paged):
    externalId: str | None = Field(default=None, description="The external id of the installations")


_EXTENDED_FIELD: Any = Field(
    default=False, description="Whether to return the whole space or site instead of the id"
)


class ExtendedQuery(Query):
    extended: bool = _EXTENDED_FIELD


class ExtendedListQuery(Paged):
    extended: bool = _EXTENDED_FIELD


class ExtendedExternalIdQuery(ExternalIdQuery):
    extended: bool = _EXTENDED_FIELD


class Install(Body):
    organization: str


class InstallOnSpace(Body):
    space: str


class InstallOnSite(Body):
    siteId: str


class PlacedUpdate(Body):
    configuration: dict[str, Any] = optional_field(description="Replaces the configuration")
    externalIds: ExternalIds = optional_field()


class InstallationUpdate(PlacedUpdate):
    space_selection: Selection = optional_field()
    site_selection: Selection = optional_field()
