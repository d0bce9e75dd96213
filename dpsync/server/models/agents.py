"""Define request and response models of a site's AI agents: settings, MCP servers, channels, topics.

Only the API version (profile) `published` has these operations.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from .base import AnswerBody, Body, Id, RichTextDocument, Timestamp, Url, Urls, optional_field
from .content import Space
from .sites import Site

# --- settings -------------------------------------------------------------------------------------


class AgentScans(Body):
    topics: Literal["auto", "never"]


class AgentFindings(Body):
    changeRequests: Literal["always", "auto-fixable", "never"]


class AgentEditing(Body):
    customInstructions: RichTextDocument


class AgentSettingsUpdate(Body):
    scans: AgentScans
    findings: AgentFindings
    editing: AgentEditing


class AgentSettings(AnswerBody):
    object: Literal["site-agent-settings"]
    scans: AgentScans
    findings: AgentFindings
    editing: AgentEditing
    updatedAt: Timestamp = optional_field()
    updatedBy: Id = optional_field()
    urls: Urls


# --- MCP servers ----------------------------------------------------------------------------------

ServerName = Annotated[str, Field(min_length=1, max_length=100)]
Transport = Literal["sse", "http"]
Headers = dict[str, Annotated[str, Field(min_length=1, max_length=512)]]
Condition = Annotated[str, Field(max_length=1024)]


class McpServer(AnswerBody):
    object: Literal["site-mcp-server"]
    id: Id
    name: ServerName
    url: Url
    transport: Transport
    headers: Headers
    condition: Condition = optional_field()
    urls: Urls


class McpServerUpdate(Body):
    name: ServerName = optional_field()
    url: Url = optional_field()
    transport: Transport = optional_field()
    headers: Headers = optional_field()
    condition: Condition | None = optional_field()


class McpServerCreate(McpServerUpdate):
    name: ServerName
    url: Url
    headers: Headers


# --- channels -------------------------------------------------------------------------------------

Pattern = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_*-]+$")]
RepositoryPattern = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._*-]+/[a-zA-Z0-9._*-]+$")]
ChannelType = Literal["builtin:slack", "builtin:linear", "builtin:github", "builtin:discord"]
ChannelRole = Literal["collaborator", "support"]
ALLOWLIST_FIELDS = {
    "builtin:slack": "allowedChannels",
    "builtin:linear": "allowedTeams",
    "builtin:github": "allowedRepositories",
    "builtin:discord": "allowedChannels",
}
"""For each type of channel, the field that restricts the channel to some conversations."""


class ChannelSettings(Body):
    """Of these the one of the channel's type; empty or left out, all are allowed."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    allowedChannels: list[Pattern] = optional_field()
    allowedTeams: list[Pattern] = optional_field()
    allowedRepositories: list[RepositoryPattern] = optional_field()


class Channel(AnswerBody):
    object: Literal["site-channel"]
    id: Id
    type: ChannelType
    setupSettings: ChannelSettings
    status: Literal["active", "pending"]
    role: ChannelRole
    answers: int = Field(ge=0)
    createdAt: Timestamp
    urls: Urls


class ChannelUpdate(Body):
    """Type and settings go together, or neither is given."""

    type: ChannelType = optional_field()
    setupSettings: ChannelSettings = optional_field()
    role: ChannelRole = optional_field()

    @model_validator(mode="after")
    def _check_settings_match_type(self) -> Self:
        """Check that type and settings come together, and that the settings are those of the type.

        Raise ValueError otherwise.
        """
        sent = self.model_fields_set & {"type", "setupSettings"}
        if len(sent) == 1:
            raise ValueError("type and setupSettings must be set together")
        if sent and not self.setupSettings.model_fields_set <= {ALLOWLIST_FIELDS[self.type]}:
            raise ValueError(f"setupSettings: {self.type} allows only {ALLOWLIST_FIELDS[self.type]}")
        return self


class ChannelCreate(ChannelUpdate):
    type: ChannelType
    setupSettings: ChannelSettings


# --- topics ---------------------------------------------------------------------------------------


class TopicUsage(Body):
    changeRequests: bool


class TopicUpdate(Body):
    usageSettings: TopicUsage


class AroundTopic(AnswerBody):
    id: Id
    label: str


class FindingsOfTopic(AnswerBody):
    open: int
    total: int


class FeedbackCounts(AnswerBody):
    positive: int
    negative: int
    unrated: int


class AnsweredCounts(AnswerBody):
    yes: int
    partially: int
    no: int


class QuestionsOfTopic(AnswerBody):
    total: int
    answers: int
    feedback: FeedbackCounts
    answered: AnsweredCounts
    relevance: dict[Literal["relevant", "spam", "off-topic", "unclear"], int]
    types: dict[Literal["exploring", "how-to", "troubleshooting", "reference", "unknown"], int]
    channelTypes: dict[str, int]
    channels: dict[str, int]
    weeklyPulse: list[int] = Field(min_length=13, max_length=13)


class Topic(AnswerBody):
    object: Literal["context-topic"]
    id: Id
    label: str
    parent: AroundTopic = optional_field()
    icon: str = Field(max_length=50)
    summary: RichTextDocument
    usageSettings: TopicUsage
    pages: int
    records: int
    findings: FindingsOfTopic
    questions: QuestionsOfTopic
    createdAt: Timestamp
    updatedAt: Timestamp
    urls: Urls


class Topics(AnswerBody):
    """All of them: there are no pages."""

    items: list[Topic]


# --- style guides ---------------------------------------------------------------------------------


class StyleguideCreate(Body):
    template: str = optional_field(
        description="The id of a template. Without an id, the style guide is empty."
    )


class StyleguideTemplate(AnswerBody):
    id: Id
    title: str
    subtitle: str = optional_field()
    emoji: str = optional_field()
    markdown: str


class StyleguideTemplates(AnswerBody):
    templates: list[StyleguideTemplate]


class Styleguide(AnswerBody):
    space: Space
    sites: list[Site]


class Styleguides(AnswerBody):
    styleguides: list[Styleguide]
