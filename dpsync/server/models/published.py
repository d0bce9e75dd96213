"""Bodies that are stricter in the `published` edition than in our models.

The reference and its additions leave open which words a choice has, and accept null to clear a value. The
`published` edition lists the words and accepts null in fewer places.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from .base import Body, Url, absent
from .content import Language, SpaceUpdate
from .integrations import Publish
from .organizations import OrganizationUpdate
from .publishing import LONGEST_SOURCE, NewDestination, RedirectUpdate
from .sites import SiteCreate, SiteTypeToday, SiteUpdate
from .structure import GroupUpdate, LinkUpdate, SectionUpdate

Short = Annotated[str, Field(max_length=128)]
Titles = dict[Language, Short]
Descriptions = dict[Language, Annotated[str, Field(max_length=256)]]


_SEGMENT = r"(?:[A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+"
_SOURCE = re.compile(rf"/{_SEGMENT}(?:/{_SEGMENT})*(?:/\*|\*)?")


def _is_source(source: str) -> str:
    if _SOURCE.fullmatch(source) is None:
        raise ValueError(
            "must be a path of letters, digits, - . _ ~ + and %XX, with at most one * at the end"
        )
    return source


class OrganizationUpdateToday(OrganizationUpdate):
    title: str = absent(min_length=2, max_length=255, pattern=r"\S.*\S")


class SiteUpdateToday(SiteUpdate):
    proxy: str | None = absent(max_length=512, pattern=r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$")
    styleguide: str | None = absent(description="A style guide space of the organization, or null")


class SiteCreateToday(SiteCreate):
    type: SiteTypeToday = "ultimate"  # type: ignore[assignment]


class SpaceUpdateToday(SpaceUpdate):
    icon: Url | None = absent(description="An image instead of an emoji")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.given().get("emoji") is not None and self.given().get("icon") is not None:
            raise ValueError("set emoji or icon, not both")
        return self


class SectionUpdateToday(SectionUpdate):
    localizedTitle: Titles = absent()
    localizedDescription: Descriptions = absent()


class GroupUpdateToday(GroupUpdate):
    localizedTitle: Titles = absent()


class LinkUpdateToday(LinkUpdate):
    title: str = absent(min_length=2, max_length=128)


class LinkCreateToday(LinkUpdateToday):
    title: str = Field(min_length=2, max_length=128)
    url: Url


SourceToday = Annotated[str, Field(max_length=LONGEST_SOURCE), AfterValidator(_is_source)]


class RedirectUpdateToday(RedirectUpdate):
    source: SourceToday = absent()


class RedirectCreateToday(RedirectUpdateToday):
    source: SourceToday
    destination: NewDestination


LinkNameToday = Annotated[str, Field(max_length=50)]


class ShareLinkCreateToday(Body):
    name: LinkNameToday


class ShareLinkUpdateToday(Body):
    name: LinkNameToday = absent()
    active: bool = absent()


CategoryToday = Literal["analytics", "collaboration", "content", "marketing", "visitor-auth", "other"]


class PublishToday(Publish):
    title: str = Field(min_length=2, max_length=30)
    description: str = Field(max_length=100)
    scopes: list[Any]
    categories: list[CategoryToday] = Field(default_factory=list)  # type: ignore[assignment]
    script: str
    organization: str
