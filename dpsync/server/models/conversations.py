"""Models of ingested conversations, their issues, and clusters of issues."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, StringConstraints, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..clock import stamp
from .base import AnswerBody, Body, Id, Order, Paged, RichTextDocument, Searched, Stamp, Url, Urls, absent

Impact = Literal["low", "medium", "high"]
PartRole = Literal["user", "assistant", "team-member"]
ConversationId = Annotated[Searched, StringConstraints(min_length=1, max_length=255)]


def _stamped(text: str) -> str:
    try:
        at = datetime.fromisoformat(text)
        return stamp(at if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO 8601 date and time") from None


class ConversationPart(Body):
    type: Literal["message"]
    role: PartRole
    body: str


class ConversationMetadata(Body):
    url: Url = absent()
    attributes: dict[str, str] = absent()
    createdAt: Annotated[str, AfterValidator(_stamped)] = absent()


class ConversationInput(Body):
    id: ConversationId
    subject: str = absent(max_length=512)
    parts: list[ConversationPart]
    metadata: ConversationMetadata = absent()


class Ingest(Body):
    """A conversation, or an array of them."""

    conversations: list[ConversationInput]

    @model_validator(mode="before")
    @classmethod
    def _one_or_many(cls, given: Any) -> dict[str, Any]:
        return {"conversations": given if isinstance(given, list) else [given]}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        many = handler.resolve_ref_schema(handler(core))["properties"]["conversations"]
        return {"anyOf": [many["items"], {"type": "array", "items": many["items"]}]}


class ClusterUpdate(Body):
    muted: bool = absent()


class ConversationsQuery(Paged):
    source: Searched | None = None


class IssuesQuery(Paged):
    cluster: Searched | None = Field(default=None, description="The id of a cluster")
    conversation: Searched | None = Field(default=None, description="The id of a conversation")


class ClustersQuery(Paged):
    order: Order = "desc"
    orderBy: Literal["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"] = (
        "updatedAt"
    )


# --- answers ----------------------------------------------------------------------------------------


class ConversationUrls(AnswerBody):
    location: str
    source: Url = absent()


class Conversation(AnswerBody):
    object: Literal["conversation"]
    id: str
    subject: str = absent()
    createdAt: Stamp
    processedAt: Stamp = absent()
    source: str
    impact: Impact = absent()
    urls: ConversationUrls


class MessagePart(AnswerBody):
    type: Literal["message"]
    role: PartRole
    body: str


class Metadata(AnswerBody):
    url: Url = absent()
    attributes: dict[str, str]
    createdAt: Stamp


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
    createdAt: Stamp
    ingestedAt: Stamp
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
    createdAt: Stamp
    updatedAt: Stamp
    icon: str
    summary: RichTextDocument
    muted: bool
    impact: Impact = absent()
    weeklyPulse: list[int] = Field(min_length=13, max_length=13)
    sources: dict[str, int]
    stats: ClusterStats
    urls: Urls
