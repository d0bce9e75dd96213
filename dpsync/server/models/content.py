"""Models of spaces and collections, and of references, Markdown and templates in requests."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .base import AnswerBody, Body, Id, Level, MergeRules, Paged, Query, Stamp, Url, absent
from .git_sync import GitSync


class ContentRef(BaseModel):
    """A reference to content; which members it has goes by its kind."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    kind: Literal[
        "file", "url", "page", "anchor", "user", "collection", "space", "reusable-content", "tag", "openapi"
    ]
    file: str = absent()
    url: str = absent()
    page: str = absent()
    anchor: str = absent()
    user: str = absent()
    collection: str = absent()
    space: str = absent()
    reusableContent: str = absent()
    tag: str = absent()
    spec: str = absent()


class TemplateParams(Body):
    contentRefs: dict[str, ContentRef] = Field(default_factory=dict)


class Template(Body):
    """`id`: a space whose content is copied."""

    id: str
    params: TemplateParams = absent()


class MarkdownText(Body):
    markdown: str = Field(max_length=1_000_000)


Emoji = Annotated[str, Field(max_length=50), AfterValidator(lambda text: text or None)]
"""An empty text, which answers have where there is no emoji, is none."""

Visibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
Language = Literal[
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi",
    "nl", "pl", "tr", "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he",
    "uk", "sk", "bg", "hr", "lt", "lv", "et", "sl",
]  # fmt: skip
EditMode = Literal["live", "locked"]


class SpaceUrls(AnswerBody):
    location: Url
    app: Url
    published: Url = absent()
    public: Url = absent()
    icon: Url = absent()


class SpacePermissions(AnswerBody):
    view: bool
    access: bool
    admin: bool
    viewInviteLinks: bool
    edit: bool
    triggerGitSync: bool
    comment: bool
    merge: bool
    review: bool
    installIntegration: bool


class Space(AnswerBody):
    object: Literal["space"]
    id: Id
    type: Literal["styleguide"] = absent()
    title: str = Field(max_length=50)
    emoji: str = absent(max_length=50)
    visibility: Visibility | Literal["in-collection", "private"]
    createdAt: Stamp
    updatedAt: Stamp
    deletedAt: Stamp = absent()
    editMode: EditMode
    mergeRules: MergeRules
    urls: SpaceUrls
    organization: Id
    parent: Id = absent()
    language: Language = absent()
    revision: Id
    defaultLevel: Level
    comments: int
    changeRequests: int
    changeRequestsOpen: int
    changeRequestsDraft: int
    gitSync: GitSync = absent()
    permissions: SpacePermissions


class SpaceCreate(Body):
    title: str = Field(default="Untitled", max_length=50)
    emoji: Emoji | None = absent()
    parent: str | None = absent()
    language: Language = absent()
    editMode: EditMode = "live"
    template: Template = absent()
    empty: bool = absent(description="Whether to create a space without content")


class SpaceUpdate(Body):
    editMode: EditMode = absent()
    title: str = absent(max_length=50)
    defaultLevel: Level = absent()
    language: Language = absent()
    mergeRules: MergeRules = absent()
    emoji: Emoji | None = absent()


class SpaceQuery(Query):
    shareKey: str | None = None


class ContentPointer(Body):
    type: Literal["space", "collection"]
    space: str = absent()
    collection: str = absent()
    id: str = absent()


class ContentPosition(Body):
    before: ContentPointer = absent()
    after: ContentPointer = absent()


class ContentMove(Body):
    parent: str | None = absent()
    position: ContentPosition = absent()


class Transfer(Body):
    organization: str


class CollectionUrls(AnswerBody):
    location: Url
    app: Url


class CollectionPermissions(AnswerBody):
    view: bool
    admin: bool
    viewInviteLinks: bool
    create: bool


class Collection(AnswerBody):
    object: Literal["collection"]
    id: Id
    title: str = Field(max_length=50)
    description: str = absent(max_length=100)
    organization: Id
    parent: Id = absent()
    defaultLevel: Level
    urls: CollectionUrls
    permissions: CollectionPermissions


class CollectionCreate(Body):
    title: str = Field(default="Untitled", max_length=50)
    parent: str | None = absent()


class CollectionUpdate(Body):
    title: str = absent(max_length=50)
    description: str = absent(max_length=100)
    defaultLevel: Level = absent()


class CollectionsQuery(Paged):
    nested: bool = Field(default=True, description="Whether to list nested collections")
