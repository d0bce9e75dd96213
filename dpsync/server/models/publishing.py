"""Define request and response models of a published site: profile, visitors, share links and redirects.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Paged, Query, Timestamp, Url, Urls, optional_field
from .customization import SiteCustomization
from .integrations import SecurityPolicy
from .sites import Site
from .structure import Structure


class PublishedQuery(Query):
    shareKey: str | None = Field(default=None, description="The secret of a share link of the site")


class PublishedCustomizations(AnswerBody):
    site: SiteCustomization
    siteSpaces: dict[str, SiteCustomization]


class PublishedScript(AnswerBody):
    script: Url
    contentSecurityPolicy: SecurityPolicy = optional_field()
    cookies: bool


class PublishedSite(AnswerBody):
    object: Literal["published-content-site"]
    site: Site
    structure: Structure
    customizations: PublishedCustomizations
    scripts: list[PublishedScript]


class VisitorAuth(AnswerBody):
    object: Literal["publishing-auth"]
    privateKey: str = Field(min_length=32, description="Secret that signs the tokens of visitors")
    backend: Literal["custom", "integration"]
    fallbackURL: Url = optional_field()
    logoutURL: Url = optional_field()


class VisitorAuthUpdate(Body):
    backend: Literal["custom", "integration"]
    fallbackURL: Url | None = optional_field()
    logoutURL: Url | None = optional_field()


LinkName = Annotated[str, Field(min_length=1, max_length=100)]


class ShareLinkUrls(AnswerBody):
    location: Url
    published: Url


class ShareLink(AnswerBody):
    object: Literal["share-link"]
    id: Id
    name: LinkName
    active: bool
    createdAt: Timestamp
    urls: ShareLinkUrls


class ShareLinkCreate(Body):
    name: LinkName


class ShareLinkUpdate(Body):
    name: LinkName = optional_field()
    active: bool = optional_field()


MAX_SOURCE_LENGTH = 512
MAX_REDIRECTS = 500
Source = Annotated[str, Field(min_length=1, max_length=MAX_SOURCE_LENGTH, pattern=r"^[^\x00]+$")]


class ToSection(Body):
    kind: Literal["site-section"]
    siteSectionId: str


class ToSiteSpace(Body):
    kind: Literal["site-space"]
    siteSpaceId: str


class ToPage(Body):
    kind: Literal["site-page"]
    siteSpaceId: str
    pageId: str


class ToUrl(Body):
    kind: Literal["external"]
    url: Url


class ToPath(Body):
    """Written only: read as the page, or the site space, that was there when it was written."""

    kind: Literal["path"]
    spaceId: str
    path: str = Field(max_length=MAX_SOURCE_LENGTH)


Destination = Annotated[ToSection | ToSiteSpace | ToPage | ToUrl, Field(discriminator="kind")]
NewDestination = Annotated[ToSection | ToSiteSpace | ToPage | ToUrl | ToPath, Field(discriminator="kind")]


class Redirect(AnswerBody):
    object: Literal["site-redirect"]
    id: Id
    source: Source
    destination: Destination
    captureWildcard: bool
    permanent: bool
    draft: bool
    createdAt: Timestamp
    updatedAt: Timestamp
    urls: Urls


class RedirectsQuery(Paged):
    search: str | None = Field(default=None, description="Part of the source, in any case")
    draft: bool | None = None
    orderBy: Literal["createdAt", "updatedAt", "source"] = "createdAt"


class RedirectQuery(Query):
    source: str = Field(description="The path that a visitor asked for")
    shareKey: str | None = Field(default=None, description="The secret of a share link of the site")


class RedirectTarget(AnswerBody):
    target: Url
    redirect: Redirect


class RedirectUpdate(Body):
    source: Source = optional_field()
    destination: NewDestination = optional_field()
    captureWildcard: bool = optional_field()
    permanent: bool = optional_field()
    draft: bool = optional_field()


class RedirectCreate(RedirectUpdate):
    source: Source
    destination: NewDestination


class RedirectItem(Body):
    source: Source
    destination: NewDestination | None = optional_field(
        description="Null deletes the redirect. Omit the destination with the intent publish"
    )
    captureWildcard: bool = optional_field()
    permanent: bool = optional_field()
    intent: Literal["live", "draft", "publish"] = "live"


class RedirectItems(Body):
    redirects: list[RedirectItem] = Field(min_length=1, max_length=MAX_REDIRECTS)


class ItemError(AnswerBody):
    code: int
    message: str


class ItemResult(AnswerBody):
    source: str
    status: Literal["created", "updated", "deleted", "published", "error"]
    redirect: Redirect = optional_field()
    id: Id = optional_field()
    draft: bool = optional_field()
    error: ItemError | str = optional_field()


class ItemResults(AnswerBody):
    """One result for each item, in their order."""

    results: list[ItemResult]
