"""Models of a published site: its profile, visitor authentication, share links and redirects."""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnswerBody, Body, Id, Paged, Query, Stamp, Url, Urls, absent
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
    contentSecurityPolicy: SecurityPolicy = absent()
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
    fallbackURL: Url = absent()
    logoutURL: Url = absent()


class VisitorAuthUpdate(Body):
    backend: Literal["custom", "integration"]
    fallbackURL: Url | None = absent()
    logoutURL: Url | None = absent()


LinkName = Annotated[str, Field(min_length=1, max_length=100)]


class ShareLinkUrls(AnswerBody):
    location: Url
    published: Url


class ShareLink(AnswerBody):
    object: Literal["share-link"]
    id: Id
    name: LinkName
    active: bool
    createdAt: Stamp
    urls: ShareLinkUrls


class ShareLinkCreate(Body):
    name: LinkName


class ShareLinkUpdate(Body):
    name: LinkName = absent()
    active: bool = absent()


LONGEST_SOURCE = 512
MOST = 500
Source = Annotated[str, Field(min_length=1, max_length=LONGEST_SOURCE, pattern=r"^[^\x00]+$")]


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
    path: str = Field(max_length=LONGEST_SOURCE)


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
    createdAt: Stamp
    updatedAt: Stamp
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
    source: Source = absent()
    destination: NewDestination = absent()
    captureWildcard: bool = absent()
    permanent: bool = absent()
    draft: bool = absent()


class RedirectCreate(RedirectUpdate):
    source: Source
    destination: NewDestination


class RedirectItem(Body):
    source: Source
    destination: NewDestination | None = absent(
        description="Null deletes the redirect. Omit the destination with the intent publish"
    )
    captureWildcard: bool = absent()
    permanent: bool = absent()
    intent: Literal["live", "draft", "publish"] = "live"


class RedirectItems(Body):
    redirects: list[RedirectItem] = Field(min_length=1, max_length=MOST)


class ItemError(AnswerBody):
    code: int
    message: str


class ItemResult(AnswerBody):
    source: str
    status: Literal["created", "updated", "deleted", "published", "error"]
    redirect: Redirect = absent()
    id: Id = absent()
    draft: bool = absent()
    error: ItemError | str = absent()


class ItemResults(AnswerBody):
    """One result for each item, in their order."""

    results: list[ItemResult]
