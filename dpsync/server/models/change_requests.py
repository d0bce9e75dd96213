"""Define request and response models of change requests, their reviews, and the changes of their content.

The response model `ChangeRequest` itself is in `pages`, because revisions refer to it.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from .base import (
    AnswerBody,
    Body,
    Id,
    Paged,
    Query,
    RichTextDocument,
    Timestamp,
    Url,
    Urls,
    User,
    optional_field,
)
from .comments import Comment, FormatQuery
from .content import ContentRef, MarkdownText, Template
from .pages import ChangeRequest, Computed, Cover, Dimensions, Layout, MetaLinks, PageType

Status = Literal["draft", "open", "archived", "merged"]


class ChangeRequestCreate(Body):
    subject: str = Field(default="", max_length=100)
    template: Template = optional_field()


class ChangeRequestUpdate(Body):
    subject: str = optional_field(max_length=100)
    description: RichTextDocument = optional_field()
    status: Status = optional_field(description="`merged` is allowed only if the change request is merged")


class _Filters(Paged):
    creator: str | None = None
    contributor: str | None = None
    requestedReviewer: str | None = None
    conversationsIssuesCluster: str | None = None


class SpaceChangeRequestsQuery(_Filters):
    status: Status = "open"


class OrganizationChangeRequestsQuery(_Filters):
    repeatable = frozenset({"status"})

    status: list[Status] = Field(default=["open"])


class PdfQuery(Query):
    only: bool = Field(default=False, description="Whether to omit the pages below the page")
    page: str | None = Field(default=None, description="The id of a page")


class MergeConflict(AnswerBody):
    """`of`: page, file, reusable-content or variable; `what` both sides have changed."""

    of: str
    id: str
    what: str


class MergeResult(AnswerBody):
    revision: Id
    result: Literal["merge", "conflicts"]
    conflicts: list[MergeConflict] = optional_field()


class UpdateResult(AnswerBody):
    revision: Id
    result: Literal["update", "conflicts"]
    conflicts: list[MergeConflict] = optional_field()


class Pdf(AnswerBody):
    url: Url


ReviewStatus = Literal["approved", "changes-requested"]


class ChangeRequestReview(AnswerBody):
    object: Literal["change-request-review"]
    id: Id
    revision: Id
    reviewer: User
    requestedBy: User = optional_field()
    status: ReviewStatus
    comment: Comment = optional_field()
    outdated: bool = optional_field()
    createdAt: Timestamp
    updatedAt: Timestamp
    urls: Urls = optional_field()


class ReviewSubmit(Body):
    status: ReviewStatus
    comment: MarkdownText | RichTextDocument = optional_field(union_mode="left_to_right")


class ReviewsQuery(Paged, FormatQuery):
    outdated: bool | None = Field(default=None, description="For a revision that is not the current revision")


class RequestedReviewer(AnswerBody):
    object: Literal["change-request-requested-reviewer"]
    kind: Literal["user"]
    user: User
    revision: Id
    requestedBy: User
    createdAt: Timestamp


class ReviewersRequest(Body):
    users: list[str] = Field(min_length=1, max_length=50)
    subject: str = optional_field(max_length=100, description="The new value of the change request")
    description: RichTextDocument = optional_field(description="The new value of the change request")


class ReviewersRequested(AnswerBody):
    users: list[RequestedReviewer]


class TemplateApply(Template):
    changeRequestId: str = optional_field(
        description="The id or number of a change request. Default: the main content"
    )


Text = MarkdownText | RichTextDocument


class Position(Body):
    before: str | None = optional_field(description="The id of a sibling")
    after: str | None = optional_field(description="The id of a sibling")


class PageFields(Body):
    title: str = optional_field(min_length=1, max_length=255)
    slug: str = optional_field(max_length=100, pattern=r"^[^/\s]*$")
    emoji: str | None = optional_field(max_length=50)
    icon: str | None = optional_field(max_length=50)
    description: str | None = optional_field(max_length=1024)
    hidden: bool = optional_field()
    noIndex: bool = optional_field()
    noRobotsIndex: bool = optional_field()
    layout: Layout | None = optional_field()
    cover: Cover | None = optional_field()
    variables: dict[str, str] = optional_field()
    metaLinks: MetaLinks | None = optional_field()
    target: ContentRef = optional_field(description="For a page of the type link")
    computed: Computed = optional_field(description="For a page of the type computed")
    document: Text = optional_field(union_mode="left_to_right", description="Markdown or a Document")
    into: str | None = optional_field(description="The id of the parent page. Null means the top level")
    position: Position = optional_field()


class InsertPage(PageFields):
    operation: Literal["insert_page"]
    type: PageType = "document"


class UpdatePage(PageFields):
    operation: Literal["update_page"]
    page: str


class DeletePage(Body):
    operation: Literal["delete_page"]
    page: str


class RevertPage(Body):
    operation: Literal["revert_page"]
    page: str


class InsertedFile(Body):
    name: str = Field(min_length=1, max_length=256)
    url: Url
    ref: str = optional_field(
        description="Texts of the same request refer to the file as `./REF`", min_length=1
    )
    contentType: str = optional_field()
    size: float = optional_field(ge=0)
    dimensions: Dimensions = optional_field()


class InsertFiles(Body):
    operation: Literal["insert_files"]
    files: list[InsertedFile] = Field(min_length=1, max_length=20)

    @field_validator("files")
    @classmethod
    def _check_distinct(cls, files: list[InsertedFile]) -> list[InsertedFile]:
        """Check that no two files have the same reference. Raise ValueError otherwise."""
        refs = [file.ref for file in files if file.ref]
        if len(refs) != len(set(refs)):
            raise ValueError("two files have the same ref")
        return files


Change = Annotated[
    InsertPage | UpdatePage | DeletePage | RevertPage | InsertFiles, Field(discriminator="operation")
]


class ContentUpdate(Body):
    changes: list[Change] = Field(min_length=1, max_length=50)


class ChangeResult(AnswerBody):
    operation: str
    page: Id = optional_field()
    files: list[Id] = optional_field()


class ChangedPage(AnswerBody):
    object: Literal["page"]
    id: Id
    urls: Urls


class PageChange(AnswerBody):
    object: Literal["created_page", "updated_page", "deleted_page"]
    page: ChangedPage | Id


class ContentUpdated(AnswerBody):
    revision: Id = optional_field()
    results: list[ChangeResult] = optional_field()
    changeRequest: ChangeRequest = optional_field()
    changes: list[PageChange] = optional_field()
