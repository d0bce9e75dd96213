"""Models of sites and their visitor schema."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Level, Paged, Stamp, Url, absent
from .content import ContentRef, Visibility
from .git_sync import GitSync

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
SiteTypeToday = Literal[SiteType, "site"]
SECTIONED_SITE: SiteTypeToday = "site"
"""The type that the vendor's skills use to create sites. No OpenAPI document contains it. The platform keeps
the spaces of such a site in sections."""
AgentsContext = Literal["excluded", "included"]
PROXY = r"^[\w-]+(\.[\w-]+)*(/[^\s/?#]+)+$"
"""A host, which may be of one word, and one or more segments of a path."""
HOSTNAME = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$"


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
    reason: str = absent()


class ShownAds(AnswerBody):
    status: Literal["live", "disabled"]
    topic: Literal["webdev", "crypto"]
    zoneId: str


class Feature(AnswerBody):
    id: str
    plan: SiteType
    frozen: bool
    customizations: list[str] = absent()


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
    published: Url = absent()
    preview: Url = absent()


class Site(AnswerBody):
    object: Literal["site"]
    id: Id
    type: SiteTypeToday
    appliedType: SiteType = absent()
    title: str = Field(min_length=2, max_length=128)
    icon: Icon | EmojiIcon | NoIcon | str | None = None
    hostname: str = absent(max_length=512, pattern=HOSTNAME)
    basename: str = Field(min_length=1, max_length=100)
    proxy: Proxy = absent()
    visibility: Visibility
    defaultLevel: Level = absent()
    published: bool
    siteSpaces: int
    createdAt: Stamp
    adaptiveContent: AdaptiveContent = absent()
    agentsContext: AgentsContext = absent()
    styleguide: ContentRef = absent()
    ads: PendingAds | AdsInReview | RejectedAds | ShownAds = absent(discriminator="status")
    features: list[Feature]
    gitSync: GitSync = absent()
    permissions: SitePermissions = absent()
    urls: SiteUrls


class SitesQuery(Paged):
    space: str | None = Field(default=None, description="The id of a space that the sites show")
    title: str | None = Field(default=None, description="Part of the title, in any case")
    published: bool | None = None
    type: list[SiteType] | None = Field(default=None, description="Site types (an addition)")

    lists: ClassVar[frozenset[str]] = frozenset({"type"})


class SiteCreate(Body):
    type: SiteType = "basic"
    title: str = Field(default="Untitled", min_length=2, max_length=128)
    visibility: Visibility = "public"
    spaces: list[str] = Field(default_factory=list)


class SiteUpdate(Body):
    title: str = absent(min_length=2, max_length=128)
    visibility: Visibility = absent()
    basename: str = absent(min_length=1, max_length=100)
    agentsContext: AgentsContext = absent()
    adaptiveContent: AdaptiveContentUpdate = absent()
    defaultSiteSpace: str = absent()
    defaultSiteSection: str = absent()
    proxy: str | None = absent(max_length=512, pattern=PROXY)
    defaultLevel: Level = absent(description="The role of members without an own role (an addition)")


class AdaptiveSchema(AnswerBody):
    object: Literal["site-adaptive-schema"]
    jsonSchema: dict[str, Any]
    updatedAt: Stamp


class AdaptiveSchemaUpdate(Body):
    jsonSchema: dict[str, Any]


class TemplateCondition(AnswerBody):
    description: str
    condition: str


class TemplateConditions(AnswerBody):
    items: list[TemplateCondition]
