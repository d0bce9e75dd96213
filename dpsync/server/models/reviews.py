"""Reviews of change requests, and who was asked for one."""

from typing import Literal

from pydantic import Field

from .base import Answer, Body, Document, Id, Paged, Query, Stamp, User, absent
from .comments import Comment
from .templates import MarkdownText

ReviewStatus = Literal["approved", "changes-requested"]


class Review(Answer):
    object: Literal["change-request-review"]
    id: Id
    revision: Id
    reviewer: User
    requestedBy: User = absent()
    status: ReviewStatus
    comment: Comment = absent()
    createdAt: Stamp
    updatedAt: Stamp


class ReviewSubmit(Body):
    status: ReviewStatus
    comment: MarkdownText | Document = absent(union_mode="left_to_right")


class FormatQuery(Query):
    format: Literal["document", "markdown"] = "markdown"


class ReviewsQuery(Paged, FormatQuery):
    outdated: bool | None = Field(default=None, description="Of a revision that is not the present one")


class RequestedReviewer(Answer):
    object: Literal["change-request-requested-reviewer"]
    kind: Literal["user"]
    user: User
    revision: Id
    requestedBy: User
    createdAt: Stamp


class ReviewersRequest(Body):
    users: list[str] = Field(min_length=1, max_length=50)
    subject: str = absent(max_length=100, description="That of the change request from now on")
    description: Document = absent(description="That of the change request from now on")


class ReviewersRequested(Answer):
    users: list[RequestedReviewer]
