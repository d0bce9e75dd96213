"""Models of the content of a space: revisions, pages, files, and links."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .base import AnswerBody, Id, Page, Paged, Query, RichTextDocument, Stamp, Url, User, absent
from .content import Collection, ContentRef, Space
from .organizations import OrganizationAnswer

PageType = Literal["document", "group", "link", "computed"]
LinkStatus = Literal["ok", "broken", "in-app"]


# --- shared shapes --------------------------------------------------------------------------------


class Layout(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    coverMask: Literal["none", "radial"] = absent()
    tags: bool = absent()
    actions: bool = absent()
    anchors: bool = absent()

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
    refDark: ContentRef = absent()
    yPos: float = 0
    height: float = Field(default=240, ge=10, le=700)


class MetaLinks(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    canonical: ContentRef = absent()
    alternates: list[ContentRef] = absent()


class Computed(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    type: str = Field(pattern=r"^(builtin:openapi|builtin:translation|integration:[^:]+:[^:]+)$")
    dependencies: dict[str, dict[str, Any]] = absent()
    props: dict[str, Any] = absent()


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
    createdByService: bool = absent()
    createdByGitBook: bool = absent()
    url: Url = absent()
    ref: str = absent()


class PageUrls(AnswerBody):
    app: Url
    published: Url = absent()


class ContentPage(AnswerBody):
    id: Id
    title: str
    type: PageType
    kind: Literal["sheet", "group", "link"] = absent()
    tags: list[str] = absent()
    slug: str
    path: str
    createdAt: Stamp
    updatedAt: Stamp
    emoji: str = absent()
    icon: str = absent()
    description: str = absent()
    markdown: str = absent()
    document: RichTextDocument = absent()
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
    computed: ComputedShown = absent()
    computedSeed: str = absent()
    target: ContentRef = absent()
    href: str = absent()


class PageTree(AnswerBody):
    pages: list[ContentPage]


class File(AnswerBody):
    id: Id
    name: str
    contentType: str
    size: float
    downloadURL: Url
    dimensions: Dimensions = absent()
    git: GitPlace = absent()


class ReusableContent(AnswerBody):
    id: Id
    title: str
    git: GitPlace = absent()


class RevisionUrls(AnswerBody):
    app: Url
    published: Url = absent()
    public: Url = absent()


class ChangeRequestUrls(AnswerBody):
    app: Url
    location: Url


class ChangeRequest(AnswerBody):
    object: Literal["change-request"]
    id: Id
    number: int
    status: Literal["draft", "open", "archived", "merged"]
    subject: str = Field(max_length=100)
    description: RichTextDocument = absent()
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


class Revision(AnswerBody):
    object: Literal["revision"]
    id: Id
    type: Literal["edits", "merge", "update"]
    mergedFrom: ChangeRequest = absent()
    parents: list[Id]
    pages: list[ContentPage]
    files: list[File]
    reusableContents: list[ReusableContent]
    tags: list[str] = absent()
    variables: dict[str, str]
    createdAt: Stamp
    git: RevisionGit = absent()
    urls: RevisionUrls


class VersionContext(AnswerBody):
    type: Literal["revision"]
    revision: Revision


class Target(AnswerBody):
    """What a link leads to, or where one is. A target that is not there has how it was written as `url`."""

    kind: Literal["file", "url", "page", "user", "collection", "space", "reusable-content", "openapi"]
    organization: OrganizationAnswer = absent()
    space: Space = absent()
    versionContext: VersionContext = absent()
    page: ContentPage = absent()
    file: File = absent()
    reusableContent: ReusableContent = absent()
    collection: Collection = absent()
    user: User = absent()
    openapi: str = absent()
    url: str = absent()


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
