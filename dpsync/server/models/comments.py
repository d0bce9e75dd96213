"""Define request and response models of comments on spaces and change requests, and of replies.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from .base import (
    AnswerBody,
    Body,
    Id,
    Paged,
    Query,
    RichTextDocument,
    SortOrder,
    TextWithoutNul,
    Timestamp,
    Urls,
    User,
    optional_field,
)

Format = Literal["document", "markdown"]
Emoji = Annotated[str, StringConstraints(min_length=1, max_length=50)]


class ContentBody(Body):
    """Markdown, or a document, or neither: an empty comment."""

    markdown: str = optional_field()
    document: RichTextDocument = optional_field()

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, value: Any) -> Any:
        """Refuse an object that has only unknown members, which is not an empty comment."""
        if isinstance(value, dict) and value and len(value.keys() & {"markdown", "document"}) != 1:
            raise ValueError("set markdown or document, or send an empty object")
        return value


class TableCell(Body):
    record: str
    definition: str


class CommentCreate(Body):
    body: ContentBody
    page: TextWithoutNul = optional_field(max_length=255)
    node: str = optional_field()
    tableCell: TableCell = optional_field()


class Reactions(Body):
    addedReactions: list[Emoji] = Field(default_factory=list)
    removedReactions: list[Emoji] = Field(default_factory=list)


class CommentUpdate(Reactions):
    resolved: bool = optional_field()
    body: ContentBody = optional_field()


class ReplyCreate(Body):
    body: ContentBody


class ReplyUpdate(Reactions):
    body: ContentBody = optional_field()


class FormatQuery(Query):
    format: Format = "markdown"


class CommentsQuery(Paged):
    repeatable: ClassVar[frozenset[str]] = frozenset({"authors"})

    order: SortOrder = "desc"
    status: Literal["all", "open", "resolved"] = "all"
    format: Format = "markdown"
    targetPage: TextWithoutNul | None = Field(default=None, description="Comments on this page")
    authors: list[str] | None = Field(
        default=None, description="User ids, as repeated parameters or joined by commas"
    )

    @field_validator("authors")
    @classmethod
    def _split_authors(cls, values: list[str] | None) -> list[str] | None:
        """Return the ids of authors: each value may join several ids by commas."""
        return values and [id for joined_ids in values for id in joined_ids.split(",")]


class RepliesQuery(Paged):
    format: Format = "markdown"


# --- answers ----------------------------------------------------------------------------------------


class CommentBody(AnswerBody):
    markdown: str = optional_field()
    document: RichTextDocument = optional_field()


class Reactor(AnswerBody):
    user: User
    reactedAt: Timestamp


class Reaction(AnswerBody):
    emoji: str
    count: int
    users: list[Reactor]


class Replier(AnswerBody):
    user: User
    count: int
    updatedAt: Timestamp


class CommentPermissions(AnswerBody):
    view: bool
    edit: bool
    reply: bool
    delete: bool


class Named(AnswerBody):
    id: str


class Cell(AnswerBody):
    record: str
    definition: str


class CommentTarget(AnswerBody):
    space: Id
    revision: Id
    changeRequest: Id = optional_field()
    page: Named = optional_field()
    node: Named = optional_field()
    tableCell: Cell = optional_field()


class CommentReply(AnswerBody):
    object: Literal["comment-reply"]
    id: Id
    postedBy: User
    postedAt: Timestamp
    editedAt: Timestamp = optional_field()
    reactions: list[Reaction]
    body: CommentBody
    urls: Urls
    permissions: CommentPermissions


class Comment(AnswerBody):
    object: Literal["comment"]
    id: Id
    postedBy: User
    postedAt: Timestamp
    editedAt: Timestamp = optional_field()
    reactions: list[Reaction]
    replies: int
    repliers: list[Replier]
    body: CommentBody
    target: CommentTarget
    urls: Urls
    permissions: CommentPermissions
    status: Literal["open", "resolved"]
    resolvedAt: Timestamp = optional_field()
    resolvedBy: User = optional_field()
