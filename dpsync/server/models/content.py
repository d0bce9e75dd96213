"""Define request and response models of spaces and collections, and of content references and templates.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .base import AnswerBody, Body, Id, Level, MergeRules, Paged, Query, Timestamp, Url, optional_field
from .git_sync import GitSync


class ContentRef(BaseModel):
    """A reference to content; which members it has goes by its kind."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)

    kind: Literal[
        "file", "url", "page", "anchor", "user", "collection", "space", "reusable-content", "tag", "openapi"
    ]
    file: str = optional_field()
    url: str = optional_field()
    page: str = optional_field()
    anchor: str = optional_field()
    user: str = optional_field()
    collection: str = optional_field()
    space: str = optional_field()
    reusableContent: str = optional_field()
    tag: str = optional_field()
    spec: str = optional_field()


class TemplateParams(Body):
    contentRefs: dict[str, ContentRef] = Field(default_factory=dict)


class Template(Body):
    """`id`: a space whose content is copied."""

    id: str
    params: TemplateParams = optional_field()


class MarkdownText(Body):
    markdown: str = Field(max_length=1_000_000)


Emoji = Annotated[str, Field(max_length=50), AfterValidator(lambda text: text or None)]
"""An emoji. An empty text means none, because responses have it if there is no emoji."""

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
    published: Url = optional_field()
    public: Url = optional_field()
    icon: Url = optional_field()


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
    type: Literal["styleguide"] = optional_field()
    title: str = Field(max_length=50)
    emoji: str = optional_field(max_length=50)
    visibility: Visibility | Literal["in-collection", "private"]
    createdAt: Timestamp
    updatedAt: Timestamp
    deletedAt: Timestamp = optional_field()
    editMode: EditMode
    mergeRules: MergeRules
    urls: SpaceUrls
    organization: Id
    parent: Id = optional_field()
    language: Language = optional_field()
    revision: Id
    defaultLevel: Level
    comments: int
    changeRequests: int
    changeRequestsOpen: int
    changeRequestsDraft: int
    gitSync: GitSync = optional_field()
    permissions: SpacePermissions


class SpaceCreate(Body):
    title: str = Field(default="Untitled", max_length=50)
    emoji: Emoji | None = optional_field()
    parent: str | None = optional_field()
    language: Language = optional_field()
    editMode: EditMode = "live"
    template: Template = optional_field()
    empty: bool = optional_field(description="Whether to create a space without content")


class SpaceUpdate(Body):
    editMode: EditMode = optional_field()
    title: str = optional_field(max_length=50)
    defaultLevel: Level = optional_field()
    language: Language = optional_field()
    mergeRules: MergeRules = optional_field()
    emoji: Emoji | None = optional_field()


class SpaceQuery(Query):
    shareKey: str | None = None


class ContentPointer(Body):
    type: Literal["space", "collection"]
    space: str = optional_field()
    collection: str = optional_field()
    id: str = optional_field()


class ContentPosition(Body):
    before: ContentPointer = optional_field()
    after: ContentPointer = optional_field()


class ContentMove(Body):
    parent: str | None = optional_field()
    position: ContentPosition = optional_field()


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
    description: str = optional_field(max_length=100)
    organization: Id
    parent: Id = optional_field()
    defaultLevel: Level
    urls: CollectionUrls
    permissions: CollectionPermissions


class CollectionCreate(Body):
    title: str = Field(default="Untitled", max_length=50)
    parent: str | None = optional_field()


class CollectionUpdate(Body):
    title: str = optional_field(max_length=50)
    description: str = optional_field(max_length=100)
    defaultLevel: Level = optional_field()


class CollectionsQuery(Paged):
    nested: bool = Field(default=True, description="Whether to list nested collections")
