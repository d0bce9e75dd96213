"""Models of change requests, their reviews, and the changes of their content.

The answer `ChangeRequest` itself is in `pages`, because revisions refer to it.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from .base import AnswerBody, Body, Id, Paged, Query, RichTextDocument, Stamp, Url, Urls, User, absent
from .comments import Comment, FormatQuery
from .content import ContentRef, MarkdownText, Template
from .pages import ChangeRequest, Computed, Cover, Dimensions, Layout, MetaLinks, PageType

Status = Literal["draft", "open", "archived", "merged"]


class ChangeRequestCreate(Body):
    subject: str = Field(default="", max_length=100)
    template: Template = absent()


class ChangeRequestUpdate(Body):
    subject: str = absent(max_length=100)
    description: RichTextDocument = absent()
    status: Status = absent(description="`merged` is allowed only if the change request is merged")


class _Filters(Paged):
    creator: str | None = None
    contributor: str | None = None
    requestedReviewer: str | None = None
    conversationsIssuesCluster: str | None = None


class SpaceChangeRequestsQuery(_Filters):
    status: Status = "open"


class OrganizationChangeRequestsQuery(_Filters):
    lists = frozenset({"status"})

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
    conflicts: list[MergeConflict] = absent()


class UpdateResult(AnswerBody):
    revision: Id
    result: Literal["update", "conflicts"]
    conflicts: list[MergeConflict] = absent()


class Pdf(AnswerBody):
    url: Url


ReviewStatus = Literal["approved", "changes-requested"]


class ChangeRequestReview(AnswerBody):
    object: Literal["change-request-review"]
    id: Id
    revision: Id
    reviewer: User
    requestedBy: User = absent()
    status: ReviewStatus
    comment: Comment = absent()
    outdated: bool = absent()
    createdAt: Stamp
    updatedAt: Stamp
    urls: Urls = absent()


class ReviewSubmit(Body):
    status: ReviewStatus
    comment: MarkdownText | RichTextDocument = absent(union_mode="left_to_right")


class ReviewsQuery(Paged, FormatQuery):
    outdated: bool | None = Field(default=None, description="For a revision that is not the current revision")


class RequestedReviewer(AnswerBody):
    object: Literal["change-request-requested-reviewer"]
    kind: Literal["user"]
    user: User
    revision: Id
    requestedBy: User
    createdAt: Stamp


class ReviewersRequest(Body):
    users: list[str] = Field(min_length=1, max_length=50)
    subject: str = absent(max_length=100, description="The new value of the change request")
    description: RichTextDocument = absent(description="The new value of the change request")


class ReviewersRequested(AnswerBody):
    users: list[RequestedReviewer]


class TemplateApply(Template):
    changeRequestId: str = absent(
        description="The id or number of a change request. Default: the main content"
    )


Text = MarkdownText | RichTextDocument


class Position(Body):
    before: str | None = absent(description="The id of a sibling")
    after: str | None = absent(description="The id of a sibling")


class PageFields(Body):
    title: str = absent(min_length=1, max_length=255)
    slug: str = absent(max_length=100, pattern=r"^[^/\s]*$")
    emoji: str | None = absent(max_length=50)
    icon: str | None = absent(max_length=50)
    description: str | None = absent(max_length=1024)
    hidden: bool = absent()
    noIndex: bool = absent()
    noRobotsIndex: bool = absent()
    layout: Layout | None = absent()
    cover: Cover | None = absent()
    variables: dict[str, str] = absent()
    metaLinks: MetaLinks | None = absent()
    target: ContentRef = absent(description="For a page of the type link")
    computed: Computed = absent(description="For a page of the type computed")
    document: Text = absent(union_mode="left_to_right", description="Markdown or a Document")
    into: str | None = absent(description="The id of the parent page. Null means the top level")
    position: Position = absent()


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
    ref: str = absent(description="Texts of the same request refer to the file as `./REF`", min_length=1)
    contentType: str = absent()
    size: float = absent(ge=0)
    dimensions: Dimensions = absent()


class InsertFiles(Body):
    operation: Literal["insert_files"]
    files: list[InsertedFile] = Field(min_length=1, max_length=20)

    @field_validator("files")
    @classmethod
    def _distinct(cls, files: list[InsertedFile]) -> list[InsertedFile]:
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
    page: Id = absent()
    files: list[Id] = absent()


class ChangedPage(AnswerBody):
    object: Literal["page"]
    id: Id
    urls: Urls


class PageChange(AnswerBody):
    object: Literal["created_page", "updated_page", "deleted_page"]
    page: ChangedPage | Id


class ContentUpdated(AnswerBody):
    revision: Id = absent()
    results: list[ChangeResult] = absent()
    changeRequest: ChangeRequest = absent()
    changes: list[PageChange] = absent()
