"""The content of a space: revisions, pages, files, and what links to what."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from .base import Answer, Body, Document, Id, Page, Paged, Query, Stamp, Url, User, absent
from .content import Collection, Space
from .organizations import Organization
from .templates import ContentRef, MarkdownText, Template

PageType = Literal["document", "group", "link", "computed"]
LinkStatus = Literal["ok", "broken", "in-app"]


# --- shared shapes --------------------------------------------------------------------------------


class Layout(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    width: Literal["default", "wide"] = "default"
    cover: bool = True
    coverSize: Literal["hero", "full"] = "hero"
    title: bool = True
    description: bool = True
    tableOfContents: bool = True
    outline: bool = True
    pagination: bool = True
    metadata: bool = True


class Cover(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    ref: ContentRef
    refDark: ContentRef = absent()
    yPos: float = 0
    height: float = Field(default=240, ge=10, le=700)


class MetaLinks(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    canonical: ContentRef = absent()
    alternates: list[ContentRef] = absent()


class Computed(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    type: str = Field(pattern=r"^(builtin:openapi|builtin:translation|integration:[^:]+:[^:]+)$")
    dependencies: dict[str, dict[str, Any]] = absent()
    props: dict[str, Any] = absent()


class Dimensions(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    width: float
    height: float


# --- answers --------------------------------------------------------------------------------------


class GitPlace(Answer):
    oid: str
    path: str


class RevisionGit(Answer):
    oid: str
    message: str
    createdByService: bool
    url: Url = absent()
    ref: str = absent()


class PageUrls(Answer):
    app: Url
    published: Url = absent()


class ContentPage(Answer):
    id: Id
    title: str
    type: PageType
    slug: str
    path: str
    createdAt: Stamp
    updatedAt: Stamp
    emoji: str = absent()
    icon: str = absent()
    description: str = absent()
    markdown: str = absent()
    document: Document = absent()
    urls: PageUrls
    pages: list["ContentPage"]
    git: GitPlace = absent()
    layout: Layout = absent()
    cover: Cover = absent()
    variables: dict[str, str] = absent()
    hidden: bool = absent()
    noIndex: bool = absent()
    noRobotsIndex: bool = absent()
    metaLinks: MetaLinks = absent()
    computed: Computed = absent()
    computedSeed: str = absent()
    target: ContentRef = absent()
    href: str = absent()


class Pages(Answer):
    pages: list[ContentPage]


class File(Answer):
    id: Id
    name: str
    contentType: str
    size: float
    downloadURL: Url
    dimensions: Dimensions = absent()
    git: GitPlace = absent()


class ReusableContent(Answer):
    id: Id
    title: str
    git: GitPlace = absent()


class RevisionUrls(Answer):
    app: Url
    published: Url = absent()
    public: Url = absent()


class ChangeRequestUrls(Answer):
    app: Url
    location: Url


class ChangeRequest(Answer):
    object: Literal["change-request"]
    id: Id
    number: int
    status: Literal["draft", "open", "archived", "merged"]
    subject: str = Field(max_length=100)
    description: Document = absent()
    createdBy: User
    createdAt: Stamp
    updatedAt: Stamp
    space: Id
    revision: Id
    revisionInitial: Id
    revisionMergedAncestor: Id = absent()
    revisionMerged: Id = absent()
    comments: int
    outdated: bool
    conversationsIssuesCluster: Id = absent()
    urls: ChangeRequestUrls


class Revision(Answer):
    object: Literal["revision"]
    id: Id
    type: Literal["edits", "merge", "update"]
    mergedFrom: ChangeRequest = absent()
    parents: list[Id]
    pages: list[ContentPage]
    files: list[File]
    reusableContents: list[ReusableContent]
    variables: dict[str, str]
    createdAt: Stamp
    git: RevisionGit = absent()
    urls: RevisionUrls


class VersionContext(Answer):
    type: Literal["revision"]
    revision: Id


class Target(Answer):
    """What a link leads to, or where one is. A target that is not there has how it was written as `url`."""

    kind: Literal["file", "url", "page", "user", "collection", "space", "reusable-content", "openapi"]
    organization: Organization = absent()
    space: Space = absent()
    versionContext: VersionContext = absent()
    page: ContentPage = absent()
    file: File = absent()
    reusableContent: ReusableContent = absent()
    collection: Collection = absent()
    user: User = absent()
    openapi: str = absent()
    url: str = absent()


class Link(Answer):
    status: LinkStatus
    relation: Literal["reference", "dependsOn"]
    targetReference: Target
    locationReferences: list[Target]


class BrokenStats(Answer):
    total: int
    changeRequest: int


class LinkStats(Answer):
    total: int
    broken: BrokenStats


class Links(Page[Link]):
    stats: LinkStats


# --- queries and bodies ---------------------------------------------------------------------------


class ContentQuery(Query):
    metadata: bool = Field(default=True, description="False: without what git knows of it")
    computed: bool = Field(default=True, description="False: what is computed is not")


class FilesQuery(Paged, ContentQuery):
    pass


class PageQuery(ContentQuery):
    format: Literal["document", "markdown"] = "markdown"
    evaluated: Literal["true", "false", "deterministic-only"] = "false"
    dereferenced: Literal["true", "false", "reusable-contents"] = "false"


class LinksQuery(Paged):
    status: LinkStatus | None = None


class TemplateApply(Template):
    changeRequestId: str = absent(description="The id or the number; left out: the main content")


Text = MarkdownText | Document


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
    target: ContentRef = absent(description="Of a page of type link")
    computed: Computed = absent(description="Of a page of type computed")
    document: Text = absent(union_mode="left_to_right", description="Markdown or a Document")
    into: str | None = absent(description="The id of the page that it is below; null: at the top")
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
    name: str = Field(min_length=1, max_length=255)
    url: Url
    ref: str = absent(description="Texts of the same request lead to it as `./REF`", min_length=1)
    contentType: str = absent()
    size: float = absent(ge=0)
    dimensions: Dimensions = absent()


class InsertFiles(Body):
    operation: Literal["insert_files"]
    files: list[InsertedFile] = Field(min_length=1, max_length=50)

    @field_validator("files")
    @classmethod
    def _distinct(cls, files: list[InsertedFile]) -> list[InsertedFile]:
        refs = [file.ref for file in files if file.ref]
        if len(refs) != len(set(refs)):
            raise ValueError("two files with one ref")
        return files


Change = Annotated[
    InsertPage | UpdatePage | DeletePage | RevertPage | InsertFiles, Field(discriminator="operation")
]


class ContentUpdate(Body):
    changes: list[Change] = Field(min_length=1, max_length=50)


class ChangeResult(Answer):
    operation: str
    page: Id = absent()
    files: list[Id] = absent()


class ContentUpdated(Answer):
    revision: Id
    results: list[ChangeResult]
