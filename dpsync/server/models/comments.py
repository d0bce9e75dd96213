"""Models of comments on spaces and change requests, and of replies."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from .base import (
    AnswerBody,
    Body,
    Id,
    Order,
    Paged,
    Query,
    RichTextDocument,
    Searched,
    Stamp,
    Urls,
    User,
    absent,
)

Format = Literal["document", "markdown"]
Emoji = Annotated[str, StringConstraints(min_length=1, max_length=50)]


class ContentBody(Body):
    """Markdown, or a document, or neither: an empty comment."""

    markdown: str = absent()
    document: RichTextDocument = absent()

    @model_validator(mode="before")
    @classmethod
    def _one_shape(cls, given: Any) -> Any:
        """Refuse an object that has only unknown members, which is not an empty comment."""
        if isinstance(given, dict) and given and len(given.keys() & {"markdown", "document"}) != 1:
            raise ValueError("set markdown or document, or send an empty object")
        return given


class TableCell(Body):
    record: str
    definition: str


class CommentCreate(Body):
    body: ContentBody
    page: Searched = absent(max_length=255)
    node: str = absent()
    tableCell: TableCell = absent()


class Reactions(Body):
    addedReactions: list[Emoji] = Field(default_factory=list)
    removedReactions: list[Emoji] = Field(default_factory=list)


class CommentUpdate(Reactions):
    resolved: bool = absent()
    body: ContentBody = absent()


class ReplyCreate(Body):
    body: ContentBody


class ReplyUpdate(Reactions):
    body: ContentBody = absent()


class FormatQuery(Query):
    format: Format = "markdown"


class CommentsQuery(Paged):
    lists: ClassVar[frozenset[str]] = frozenset({"authors"})

    order: Order = "desc"
    status: Literal["all", "open", "resolved"] = "all"
    format: Format = "markdown"
    targetPage: Searched | None = Field(default=None, description="Comments on this page")
    authors: list[str] | None = Field(
        default=None, description="User ids, as repeated parameters or joined by commas"
    )

    @field_validator("authors")
    @classmethod
    def _apart(cls, given: list[str] | None) -> list[str] | None:
        return given and [id for value in given for id in value.split(",")]


class RepliesQuery(Paged):
    format: Format = "markdown"


# --- answers ----------------------------------------------------------------------------------------


class CommentBody(AnswerBody):
    markdown: str = absent()
    document: RichTextDocument = absent()


class Reactor(AnswerBody):
    user: User
    reactedAt: Stamp


class Reaction(AnswerBody):
    emoji: str
    count: int
    users: list[Reactor]


class Replier(AnswerBody):
    user: User
    count: int
    updatedAt: Stamp


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
    changeRequest: Id = absent()
    page: Named = absent()
    node: Named = absent()
    tableCell: Cell = absent()


class CommentReply(AnswerBody):
    object: Literal["comment-reply"]
    id: Id
    postedBy: User
    postedAt: Stamp
    editedAt: Stamp = absent()
    reactions: list[Reaction]
    body: CommentBody
    urls: Urls
    permissions: CommentPermissions


class Comment(AnswerBody):
    object: Literal["comment"]
    id: Id
    postedBy: User
    postedAt: Stamp
    editedAt: Stamp = absent()
    reactions: list[Reaction]
    replies: int
    repliers: list[Replier]
    body: CommentBody
    target: CommentTarget
    urls: Urls
    permissions: CommentPermissions
    status: Literal["open", "resolved"]
    resolvedAt: Stamp = absent()
    resolvedBy: User = absent()
