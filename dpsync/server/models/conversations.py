"""Define request and response models of conversations of readers, issues in them, and clusters of issues.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, StringConstraints, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..clock import format_timestamp
from .base import (
    AnswerBody,
    Body,
    Id,
    Paged,
    RichTextDocument,
    SortOrder,
    TextWithoutNul,
    Timestamp,
    Url,
    Urls,
    optional_field,
)

Impact = Literal["low", "medium", "high"]
PartRole = Literal["user", "assistant", "team-member"]
ConversationId = Annotated[TextWithoutNul, StringConstraints(min_length=1, max_length=255)]


def _check_timestamp(text: str) -> str:
    """Return a time as the API writes times, in UTC if it has no zone. Raise ValueError for other texts."""
    try:
        time = datetime.fromisoformat(text)
        return format_timestamp(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO 8601 date and time") from None


class ConversationPart(Body):
    type: Literal["message"]
    role: PartRole
    body: str


class ConversationMetadata(Body):
    url: Url = optional_field()
    attributes: dict[str, str] = optional_field()
    createdAt: Annotated[str, AfterValidator(_check_timestamp)] = optional_field()


class ConversationInput(Body):
    id: ConversationId
    subject: str = optional_field(max_length=512)
    parts: list[ConversationPart]
    metadata: ConversationMetadata = optional_field()


class Ingest(Body):
    """A conversation, or an array of them."""

    conversations: list[ConversationInput]

    @model_validator(mode="before")
    @classmethod
    def _wrap_single(cls, body: Any) -> dict[str, Any]:
        """Return a body with a list: a single conversation becomes a list of one."""
        return {"conversations": body if isinstance(body, list) else [body]}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        many = handler.resolve_ref_schema(handler(core))["properties"]["conversations"]
        return {"anyOf": [many["items"], {"type": "array", "items": many["items"]}]}


class ClusterUpdate(Body):
    muted: bool = optional_field()


class ConversationsQuery(Paged):
    source: TextWithoutNul | None = None


class IssuesQuery(Paged):
    cluster: TextWithoutNul | None = Field(default=None, description="The id of a cluster")
    conversation: TextWithoutNul | None = Field(default=None, description="The id of a conversation")


class ClustersQuery(Paged):
    order: SortOrder = "desc"
    orderBy: Literal["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"] = (
        "updatedAt"
    )


# --- answers ----------------------------------------------------------------------------------------


class ConversationUrls(AnswerBody):
    location: str
    source: Url = optional_field()


class Conversation(AnswerBody):
    object: Literal["conversation"]
    id: str
    subject: str = optional_field()
    createdAt: Timestamp
    processedAt: Timestamp = optional_field()
    source: str
    impact: Impact = optional_field()
    urls: ConversationUrls


class MessagePart(AnswerBody):
    type: Literal["message"]
    role: PartRole
    body: str


class Metadata(AnswerBody):
    url: Url = optional_field()
    attributes: dict[str, str]
    createdAt: Timestamp


class ConversationDetail(AnswerBody):
    conversation: Conversation
    parts: list[MessagePart]
    metadata: Metadata


class ConversationIssue(AnswerBody):
    object: Literal["conversation-issue"]
    id: Id
    title: str
    summary: str
    details: RichTextDocument
    impact: Impact
    createdAt: Timestamp
    ingestedAt: Timestamp
    conversation: str
    cluster: Id
    urls: Urls


class IssueDetail(AnswerBody):
    issue: ConversationIssue
    conversation: Conversation


class ClusterStats(AnswerBody):
    issues: int
    conversations: int


class IssuesCluster(AnswerBody):
    object: Literal["issues-cluster"]
    id: Id
    label: str
    createdAt: Timestamp
    updatedAt: Timestamp
    icon: str
    summary: RichTextDocument
    muted: bool
    impact: Impact = optional_field()
    weeklyPulse: list[int] = Field(min_length=13, max_length=13)
    sources: dict[str, int]
    stats: ClusterStats
    urls: Urls
