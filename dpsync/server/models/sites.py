"""Define request and response models of sites and of the schema of visitor claims.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Level, Paged, Timestamp, Url, optional_field
from .content import ContentRef, Visibility
from .git_sync import GitSync

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
SiteTypeToday = Literal[SiteType, "site"]
SECTIONED_SITE: SiteTypeToday = "site"
"""The type that the vendor's skills use to create sites. No OpenAPI document contains it. The platform keeps
the spaces of such a site in sections."""
AgentsContext = Literal["excluded", "included"]
PROXY_PATTERN = r"^[\w-]+(\.[\w-]+)*(/[^\s/?#]+)+$"
"""A host (one word is enough), and one or more segments of a path."""
HOSTNAME_PATTERN = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$"


class AdaptiveContent(AnswerBody):
    enabled: bool


class AdaptiveContentUpdate(Body):
    enabled: bool


class Proxy(AnswerBody):
    origin: str
    target: Url


class IconImages(AnswerBody):
    light: Url
    dark: Url


class Icon(AnswerBody):
    icon: IconImages


class EmojiIcon(AnswerBody):
    emoji: str = Field(max_length=50)


class NoIcon(AnswerBody):
    """`{}`."""


class PendingAds(AnswerBody):
    status: Literal["pending"]
    submittable: bool


class AdsInReview(AnswerBody):
    status: Literal["in-review"]
    topic: Literal["webdev", "crypto"]


class RejectedAds(AnswerBody):
    status: Literal["rejected"]
    reason: str = optional_field()


class ShownAds(AnswerBody):
    status: Literal["live", "disabled"]
    topic: Literal["webdev", "crypto"]
    zoneId: str


class Feature(AnswerBody):
    id: str
    plan: SiteType
    frozen: bool
    customizations: list[str] = optional_field()


class SitePermissions(AnswerBody):
    view: bool
    access: bool
    edit: bool
    create: bool
    admin: bool
    installIntegration: bool
    viewAdaptiveSchema: bool
    editAdaptiveSchema: bool


class SiteUrls(AnswerBody):
    location: Url
    app: Url
    published: Url = optional_field()
    preview: Url = optional_field()


class Site(AnswerBody):
    object: Literal["site"]
    id: Id
    type: SiteTypeToday
    appliedType: SiteType = optional_field()
    title: str = Field(min_length=2, max_length=128)
    icon: Icon | EmojiIcon | NoIcon | str | None = None
    hostname: str = optional_field(max_length=512, pattern=HOSTNAME_PATTERN)
    basename: str = Field(min_length=1, max_length=100)
    proxy: Proxy = optional_field()
    visibility: Visibility
    defaultLevel: Level = optional_field()
    published: bool
    siteSpaces: int
    createdAt: Timestamp
    adaptiveContent: AdaptiveContent = optional_field()
    agentsContext: AgentsContext = optional_field()
    styleguide: ContentRef = optional_field()
    ads: PendingAds | AdsInReview | RejectedAds | ShownAds = optional_field(discriminator="status")
    features: list[Feature]
    gitSync: GitSync = optional_field()
    permissions: SitePermissions = optional_field()
    urls: SiteUrls


class SitesQuery(Paged):
    space: str | None = Field(default=None, description="The id of a space that the sites show")
    title: str | None = Field(default=None, description="Part of the title, in any case")
    published: bool | None = None
    type: list[SiteType] | None = Field(default=None, description="Site types (an addition)")

    repeatable: ClassVar[frozenset[str]] = frozenset({"type"})


class SiteCreate(Body):
    type: SiteType = "basic"
    title: str = Field(default="Untitled", min_length=2, max_length=128)
    visibility: Visibility = "public"
    spaces: list[str] = Field(default_factory=list)


class SiteUpdate(Body):
    title: str = optional_field(min_length=2, max_length=128)
    visibility: Visibility = optional_field()
    basename: str = optional_field(min_length=1, max_length=100)
    agentsContext: AgentsContext = optional_field()
    adaptiveContent: AdaptiveContentUpdate = optional_field()
    defaultSiteSpace: str = optional_field()
    defaultSiteSection: str = optional_field()
    proxy: str | None = optional_field(max_length=512, pattern=PROXY_PATTERN)
    defaultLevel: Level = optional_field(description="The role of members without an own role (an addition)")


class AdaptiveSchema(AnswerBody):
    object: Literal["site-adaptive-schema"]
    jsonSchema: dict[str, Any]
    updatedAt: Timestamp


class AdaptiveSchemaUpdate(Body):
    jsonSchema: dict[str, Any]


class TemplateCondition(AnswerBody):
    description: str
    condition: str


class TemplateConditions(AnswerBody):
    items: list[TemplateCondition]
