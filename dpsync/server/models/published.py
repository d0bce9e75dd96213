"""Define request models that are stricter in the API version (profile) `published` than in the others.

Each class `…Today` replaces the model that it extends. The other versions leave open which words a choice
has, and accept null to clear a value. `published` lists the words and accepts null in fewer places.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from .base import Body, Url, optional_field
from .content import Language, SpaceUpdate
from .integrations import Publish
from .organizations import OrganizationUpdate
from .publishing import MAX_SOURCE_LENGTH, NewDestination, RedirectUpdate
from .sites import SiteCreate, SiteTypeToday, SiteUpdate
from .structure import GroupUpdate, LinkUpdate, SectionUpdate

ShortText = Annotated[str, Field(max_length=128)]
Titles = dict[Language, ShortText]
Descriptions = dict[Language, Annotated[str, Field(max_length=256)]]


_SEGMENT = r"(?:[A-Za-z0-9\-._~+]|%[0-9A-Fa-f]{2})+"
_SOURCE_PATTERN = re.compile(rf"/{_SEGMENT}(?:/{_SEGMENT})*(?:/\*|\*)?")


def _check_source(source: str) -> str:
    """Return the source of a redirect. Raise ValueError if it does not match the pattern."""
    if _SOURCE_PATTERN.fullmatch(source) is None:
        raise ValueError(
            "must be a path of letters, digits, - . _ ~ + and %XX, with at most one * at the end"
        )
    return source


class OrganizationUpdateToday(OrganizationUpdate):
    title: str = optional_field(min_length=2, max_length=255, pattern=r"\S.*\S")


class SiteUpdateToday(SiteUpdate):
    proxy: str | None = optional_field(max_length=512, pattern=r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$")
    styleguide: str | None = optional_field(description="A style guide space of the organization, or null")


class SiteCreateToday(SiteCreate):
    type: SiteTypeToday = "ultimate"  # type: ignore[assignment]


class SpaceUpdateToday(SpaceUpdate):
    icon: Url | None = optional_field(description="An image instead of an emoji")

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        """Check that the body does not set both an emoji and an icon."""
        if self.sent_fields().get("emoji") is not None and self.sent_fields().get("icon") is not None:
            raise ValueError("set emoji or icon, not both")
        return self


class SectionUpdateToday(SectionUpdate):
    localizedTitle: Titles = optional_field()
    localizedDescription: Descriptions = optional_field()


class GroupUpdateToday(GroupUpdate):
    localizedTitle: Titles = optional_field()


class LinkUpdateToday(LinkUpdate):
    title: str = optional_field(min_length=2, max_length=128)


class LinkCreateToday(LinkUpdateToday):
    title: str = Field(min_length=2, max_length=128)
    url: Url


SourceToday = Annotated[str, Field(max_length=MAX_SOURCE_LENGTH), AfterValidator(_check_source)]


class RedirectUpdateToday(RedirectUpdate):
    source: SourceToday = optional_field()


class RedirectCreateToday(RedirectUpdateToday):
    source: SourceToday
    destination: NewDestination


LinkNameToday = Annotated[str, Field(max_length=50)]


class ShareLinkCreateToday(Body):
    name: LinkNameToday


class ShareLinkUpdateToday(Body):
    name: LinkNameToday = optional_field()
    active: bool = optional_field()


CategoryToday = Literal["analytics", "collaboration", "content", "marketing", "visitor-auth", "other"]


class PublishToday(Publish):
    title: str = Field(min_length=2, max_length=30)
    description: str = Field(max_length=100)
    scopes: list[Any]
    categories: list[CategoryToday] = Field(default_factory=list)  # type: ignore[assignment]
    script: str
    organization: str
