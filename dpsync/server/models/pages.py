"""Define request and response models of the content of a space: revisions, pages, files, and links.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .base import AnswerBody, Id, Page, Paged, Query, RichTextDocument, Timestamp, Url, User, optional_field
from .content import Collection, ContentRef, Space
from .organizations import OrganizationAnswer

PageType = Literal["document", "group", "link", "computed"]
LinkStatus = Literal["ok", "broken", "in-app"]


# --- shared shapes --------------------------------------------------------------------------------


class Layout(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    coverMask: Literal["none", "radial"] = optional_field()
    tags: bool = optional_field()
    actions: bool = optional_field()
    anchors: bool = optional_field()

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
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    ref: ContentRef
    refDark: ContentRef = optional_field()
    yPos: float = 0
    height: float = Field(default=240, ge=10, le=700)


class MetaLinks(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    canonical: ContentRef = optional_field()
    alternates: list[ContentRef] = optional_field()


class Computed(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    type: str = Field(pattern=r"^(builtin:openapi|builtin:translation|integration:[^:]+:[^:]+)$")
    dependencies: dict[str, dict[str, Any]] = optional_field()
    props: dict[str, Any] = optional_field()


class ComputedShown(Computed):
    dependencies: dict[str, dict[str, Any]]
    props: dict[str, Any]


class Dimensions(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    width: float
    height: float


# --- answers --------------------------------------------------------------------------------------


class GitPlace(AnswerBody):
    oid: str
    path: str


class RevisionGit(AnswerBody):
    oid: str
    message: str
    createdByService: bool = optional_field()
    createdByGitBook: bool = optional_field()
    url: Url = optional_field()
    ref: str = optional_field()


class PageUrls(AnswerBody):
    app: Url
    published: Url = optional_field()


class ContentPage(AnswerBody):
    id: Id
    title: str
    type: PageType
    kind: Literal["sheet", "group", "link"] = optional_field()
    tags: list[str] = optional_field()
    slug: str
    path: str
    createdAt: Timestamp
    updatedAt: Timestamp
    emoji: str = optional_field()
    icon: str = optional_field()
    description: str = optional_field()
    markdown: str = optional_field()
    document: RichTextDocument = optional_field()
    urls: PageUrls
    pages: list["ContentPage"]
    git: GitPlace = optional_field()
    layout: Layout = optional_field()
    cover: Cover = optional_field()
    variables: dict[str, str] = optional_field()
    hidden: bool = optional_field()
    noIndex: bool = optional_field()
    noRobotsIndex: bool = optional_field()
    metaLinks: MetaLinks = optional_field()
    computed: ComputedShown = optional_field()
    computedSeed: str = optional_field()
    target: ContentRef = optional_field()
    href: str = optional_field()


class PageTree(AnswerBody):
    pages: list[ContentPage]


class File(AnswerBody):
    id: Id
    name: str
    contentType: str
    size: float
    downloadURL: Url
    dimensions: Dimensions = optional_field()
    git: GitPlace = optional_field()


class ReusableContent(AnswerBody):
    id: Id
    title: str
    git: GitPlace = optional_field()


class RevisionUrls(AnswerBody):
    app: Url
    published: Url = optional_field()
    public: Url = optional_field()


class ChangeRequestUrls(AnswerBody):
    app: Url
    location: Url


class ChangeRequest(AnswerBody):
    object: Literal["change-request"]
    id: Id
    number: int
    status: Literal["draft", "open", "archived", "merged"]
    subject: str = Field(max_length=100)
    description: RichTextDocument = optional_field()
    createdBy: User
    createdAt: Timestamp
    updatedAt: Timestamp
    space: Id
    revision: Id
    revisionInitial: Id
    revisionMergedAncestor: Id = optional_field()
    revisionMerged: Id = optional_field()
    comments: int
    outdated: bool
    conversationsIssuesCluster: Id = optional_field()
    urls: ChangeRequestUrls


class Revision(AnswerBody):
    object: Literal["revision"]
    id: Id
    type: Literal["edits", "merge", "update"]
    mergedFrom: ChangeRequest = optional_field()
    parents: list[Id]
    pages: list[ContentPage]
    files: list[File]
    reusableContents: list[ReusableContent]
    tags: list[str] = optional_field()
    variables: dict[str, str]
    createdAt: Timestamp
    git: RevisionGit = optional_field()
    urls: RevisionUrls


class VersionContext(AnswerBody):
    type: Literal["revision"]
    revision: Revision


class Target(AnswerBody):
    """What a link leads to, or where one is. A target that is not there has how it was written as `url`."""

    kind: Literal["file", "url", "page", "user", "collection", "space", "reusable-content", "openapi"]
    organization: OrganizationAnswer = optional_field()
    space: Space = optional_field()
    versionContext: VersionContext = optional_field()
    page: ContentPage = optional_field()
    file: File = optional_field()
    reusableContent: ReusableContent = optional_field()
    collection: Collection = optional_field()
    user: User = optional_field()
    openapi: str = optional_field()
    url: str = optional_field()


class Link(AnswerBody):
    status: LinkStatus
    relation: Literal["reference", "dependsOn"]
    targetReference: Target
    locationReferences: list[Target]


class BrokenStats(AnswerBody):
    total: int
    changeRequest: int


class LinkStats(AnswerBody):
    total: int
    broken: BrokenStats


class Links(Page[Link]):
    stats: LinkStats


# --- queries --------------------------------------------------------------------------------------


class ContentQuery(Query):
    metadata: bool = Field(default=True, description="Whether to return the `git` members")
    computed: bool = Field(default=True, description="Whether to compute content")


class FilesQuery(Paged, ContentQuery):
    pass


class PageQuery(ContentQuery):
    format: Literal["document", "markdown"] = "markdown"
    evaluated: Literal["true", "false", "deterministic-only"] = "false"
    dereferenced: Literal["true", "false", "reusable-contents"] = "false"


class LinksQuery(Paged):
    status: LinkStatus | None = None
