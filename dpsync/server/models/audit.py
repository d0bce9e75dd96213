"""Define request and response models of audit events, which only the API version `published` has.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from .base import AnswerBody, Paged, Timestamp, Urls, optional_field


def _check_uuid(text: str) -> str:
    """Return a text that is a UUID. Raise ValueError for any other text."""
    UUID(text)
    return text


EventId = Annotated[str, AfterValidator(_check_uuid), Field(json_schema_extra={"format": "uuid"})]


class AuditEventActor(AnswerBody):
    type: Literal["user", "integration", "installation", "system", "support"]
    id: str
    label: str = optional_field()


class AuditEventTarget(AnswerBody):
    type: str
    id: str
    label: str = optional_field()


class AuditEvent(AnswerBody):
    object: Literal["audit-event"]
    id: EventId
    occurredAt: Timestamp
    action: str
    actor: AuditEventActor
    source: Literal["ui", "api", "integration", "webhook", "workflow", "script", "support"]
    target: AuditEventTarget
    urls: Urls


class AuditEventDetails(AuditEvent):
    schemaVersion: int
    payload: dict[str, Any]


class AuditEventAction(AnswerBody):
    object: Literal["audit-event-action"]
    id: str
    label: str


class AuditEventActions(AnswerBody):
    items: list[AuditEventAction]


class AuditEventQuery(Paged):
    limit: int = Field(default=20, ge=1, le=100)
    since: Timestamp | None = Field(default=None, alias="from")
    to: Timestamp | None = None
    action: str | None = None
    actor: str | None = None
    target: str | None = None
