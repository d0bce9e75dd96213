"""What makes a site public: its published profile, the access of visitors, share links."""

from typing import Annotated, Literal

from pydantic import Field

from .base import Answer, Body, Id, Query, Stamp, Url, absent
from .customization import SiteCustomization
from .integrations import SecurityPolicy
from .sites import Site
from .structure import Structure


class PublishedQuery(Query):
    shareKey: str | None = Field(default=None, description="The secret of a share link of the site")


class PublishedCustomizations(Answer):
    site: SiteCustomization
    siteSpaces: dict[str, SiteCustomization]


class PublishedScript(Answer):
    script: Url
    contentSecurityPolicy: SecurityPolicy = absent()
    cookies: bool


class PublishedSite(Answer):
    object: Literal["published-content-site"]
    site: Site
    structure: Structure
    customizations: PublishedCustomizations
    scripts: list[PublishedScript]


class VisitorAuth(Answer):
    privateKey: str = Field(min_length=32, description="Secret: signs the tokens of visitors")
    backend: Literal["custom", "integration"]
    fallbackURL: Url = absent()
    logoutURL: Url = absent()


class VisitorAuthUpdate(Body):
    backend: Literal["custom", "integration"]
    fallbackURL: Url | None = absent()
    logoutURL: Url | None = absent()


LinkName = Annotated[str, Field(min_length=1, max_length=100)]


class ShareLinkUrls(Answer):
    location: Url
    published: Url


class ShareLink(Answer):
    object: Literal["site-share-link"]
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
