"""Models of a site's agents in the `published` edition: settings, MCP servers, channels, topics."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from .base import AnswerBody, Body, Id, RichTextDocument, Stamp, Url, Urls, absent
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
    updatedAt: Stamp = absent()
    updatedBy: Id = absent()
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
    condition: Condition = absent()
    urls: Urls


class McpServerUpdate(Body):
    name: ServerName = absent()
    url: Url = absent()
    transport: Transport = absent()
    headers: Headers = absent()
    condition: Condition | None = absent()


class McpServerCreate(McpServerUpdate):
    name: ServerName
    url: Url
    headers: Headers


# --- channels -------------------------------------------------------------------------------------

Pattern = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_*-]+$")]
RepositoryPattern = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._*-]+/[a-zA-Z0-9._*-]+$")]
ChannelType = Literal["builtin:slack", "builtin:linear", "builtin:github", "builtin:discord"]
ChannelRole = Literal["collaborator", "support"]
ALLOWED = {
    "builtin:slack": "allowedChannels",
    "builtin:linear": "allowedTeams",
    "builtin:github": "allowedRepositories",
    "builtin:discord": "allowedChannels",
}
"""By its type, what a channel may be kept to."""


class ChannelSettings(Body):
    """Of these the one of the channel's type; empty or left out, all are allowed."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    allowedChannels: list[Pattern] = absent()
    allowedTeams: list[Pattern] = absent()
    allowedRepositories: list[RepositoryPattern] = absent()


class Channel(AnswerBody):
    object: Literal["site-channel"]
    id: Id
    type: ChannelType
    setupSettings: ChannelSettings
    status: Literal["active", "pending"]
    role: ChannelRole
    answers: int = Field(ge=0)
    createdAt: Stamp
    urls: Urls


class ChannelUpdate(Body):
    """Type and settings go together, or neither is given."""

    type: ChannelType = absent()
    setupSettings: ChannelSettings = absent()
    role: ChannelRole = absent()

    @model_validator(mode="after")
    def _of_its_type(self) -> Self:
        given = self.model_fields_set & {"type", "setupSettings"}
        if len(given) == 1:
            raise ValueError("type and setupSettings must be set together")
        if given and not self.setupSettings.model_fields_set <= {ALLOWED[self.type]}:
            raise ValueError(f"setupSettings: {self.type} allows only {ALLOWED[self.type]}")
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
    parent: AroundTopic = absent()
    icon: str = Field(max_length=50)
    summary: RichTextDocument
    usageSettings: TopicUsage
    pages: int
    records: int
    findings: FindingsOfTopic
    questions: QuestionsOfTopic
    createdAt: Stamp
    updatedAt: Stamp
    urls: Urls


class Topics(AnswerBody):
    """All of them: there are no pages."""

    items: list[Topic]


# --- style guides ---------------------------------------------------------------------------------


class StyleguideCreate(Body):
    template: str = absent(description="The id of a template. Without an id, the style guide is empty.")


class StyleguideTemplate(AnswerBody):
    id: Id
    title: str
    subtitle: str = absent()
    emoji: str = absent()
    markdown: str


class StyleguideTemplates(AnswerBody):
    templates: list[StyleguideTemplate]


class Styleguide(AnswerBody):
    space: Space
    sites: list[Site]


class Styleguides(AnswerBody):
    styleguides: list[Styleguide]
