"""Installations of integrations: in an organization, and in its spaces and sites."""

from typing import Annotated, Any, Literal

from pydantic import Field

from .base import Answer, Body, Id, Paged, Query, Stamp, Url, absent
from .content import Space
from .integrations import InstallationStatus, Integration, Name
from .sites import Site

Selection = Literal["all", "selected"]
ExternalIds = Annotated[list[str], Field(max_length=5)]


class InstallationUrls(Answer):
    location: Url
    app: Url
    publicEndpoint: Url


class InstallationTarget(Answer):
    organization: Id


class Installation(Answer):
    id: Id
    status: InstallationStatus
    space_selection: Selection
    site_selection: Selection
    spaces: int
    configuration: dict[str, Any]
    createdAt: Stamp
    updatedAt: Stamp
    urls: InstallationUrls
    externalIds: ExternalIds
    target: InstallationTarget


class InstalledIntegration(Answer):
    installation: Installation
    integration: Integration


class PlacedUrls(Answer):
    location: Url
    publicEndpoint: Url


class Placed(Answer):
    integration: Name
    installation: Id
    status: InstallationStatus
    configuration: dict[str, Any]
    externalIds: ExternalIds
    urls: PlacedUrls


class SpaceInstallation(Placed):
    space: Id | Space


class SiteInstallation(Placed):
    site: Id | Site


class SearchQuery(Paged):
    search: str | None = Field(default=None, description="Part of the name or title, any case")


class ExternalIdQuery(Paged):
    externalId: str | None = Field(default=None, description="Only those with this external id")


_EXTENDED: Any = Field(default=False, description="The whole space or site in place of its id")


class ExtendedQuery(Query):
    extended: bool = _EXTENDED


class ExtendedListQuery(Paged):
    extended: bool = _EXTENDED


class ExtendedExternalIdQuery(ExternalIdQuery):
    extended: bool = _EXTENDED


class Install(Body):
    organization: str


class InstallOnSpace(Body):
    space: str


class InstallOnSite(Body):
    siteId: str


class PlacedUpdate(Body):
    configuration: dict[str, Any] = absent(description="In place of the one that there is")
    externalIds: ExternalIds = absent()


class InstallationUpdate(PlacedUpdate):
    space_selection: Selection = absent()
    site_selection: Selection = absent()
