"""Define request and response models of a site's navigation: groups, sections, links and site spaces.

The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from .base import AnswerBody, Body, Id, Paged, Url, optional_field
from .content import Language, Space

Localized = dict[Language, str]
DRAFT_DESCRIPTION = "Whether to omit the entry from the published site (an addition)"
IN_LANGUAGES_DESCRIPTION = "The text in other languages, by language (an addition)"


class Published(AnswerBody):
    published: Url = optional_field()


class SiteSpace(AnswerBody):
    object: Literal["site-space"]
    id: Id
    path: str = Field(min_length=1, max_length=100)
    section: Id = optional_field()
    space: Space
    title: str
    default: bool
    condition: str = optional_field(max_length=1024)
    hidden: bool
    hasAdvancedCustomizationFeature: bool
    pageId: str = optional_field()
    draft: bool = optional_field()
    urls: Published


class SiteSection(AnswerBody):
    object: Literal["site-section"]
    id: Id
    title: str = Field(min_length=2, max_length=128)
    description: str = optional_field(max_length=256)
    default: bool
    path: str = Field(min_length=1, max_length=100)
    condition: str = optional_field(max_length=1024)
    sectionGroup: Id = optional_field()
    icon: str = optional_field(max_length=50)
    siteSpaces: list[SiteSpace]
    localizedTitle: Localized = optional_field()
    localizedDescription: Localized = optional_field()
    draft: bool = optional_field()
    urls: Published


class SiteExternalLink(AnswerBody):
    object: Literal["site-external-link"]
    id: Id
    title: str = Field(min_length=1, max_length=128)
    url: Url
    description: str = optional_field(max_length=256)
    condition: str = optional_field(max_length=1024)
    sectionGroup: Id = optional_field()
    icon: str = optional_field(max_length=50)
    localizedTitle: Localized = optional_field()
    localizedDescription: Localized = optional_field()
    draft: bool


class SiteSectionGroup(AnswerBody):
    object: Literal["site-section-group"]
    id: Id
    title: str = Field(min_length=1, max_length=100)
    sectionGroup: Id = optional_field()
    children: list["Node"]
    sections: list[SiteSection] = optional_field(deprecated=True)
    icon: str = optional_field(max_length=50)
    localizedTitle: Localized = optional_field()
    draft: bool = optional_field()


Node = Annotated[SiteSection | SiteSectionGroup | SiteExternalLink, Field(discriminator="object")]
AnyNode = Annotated[
    SiteSection | SiteSectionGroup | SiteExternalLink | SiteSpace, Field(discriminator="object")
]


class Structure(AnswerBody):
    """Answered as is: `{type, structure}`."""

    type: Literal["sections", "siteSpaces"]
    structure: list[AnyNode]


class SortedNode(RootModel[AnyNode]):
    """The item that was sorted."""


class SharedQuery(Paged):
    shareKey: str | None = Field(
        default=None,
        description="The secret of a share link. Published URLs of a share-link site need the secret",
    )


class SiteSpacesQuery(SharedQuery):
    default: bool | None = None


class SectionCreate(Body):
    spaceId: str | None = Field(description="Null creates an empty space")
    siteSectionGroupId: str | None = optional_field(description="The group of the section (an addition)")
    title: str | None = optional_field(min_length=2, max_length=128)
    icon: str | None = optional_field(max_length=50)
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class SectionUpdate(Body):
    title: str = optional_field(min_length=2, max_length=128)
    path: str = optional_field(min_length=1, max_length=100)
    defaultSiteSpace: str = optional_field()
    condition: str | None = optional_field(max_length=1024)
    icon: str | None = optional_field(max_length=50)
    description: str | None = optional_field(max_length=256)
    siteSectionGroupId: str | None = optional_field(
        description="The group, or null for the top level (an addition)"
    )
    localizedTitle: Localized | None = optional_field(description=IN_LANGUAGES_DESCRIPTION)
    localizedDescription: Localized | None = optional_field(description=IN_LANGUAGES_DESCRIPTION)
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class GroupCreate(Body):
    title: str = Field(default="Untitled", min_length=1, max_length=100)
    icon: str | None = optional_field(max_length=50)
    sections: list[str] = Field(default_factory=list)
    parent: str | None = optional_field()
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class GroupUpdate(Body):
    title: str = optional_field(min_length=1, max_length=100)
    icon: str | None = optional_field(max_length=50)
    parentSectionGroupId: str | None = optional_field(
        description="The outer group, or null for the top level (an addition)"
    )
    localizedTitle: Localized | None = optional_field(description=IN_LANGUAGES_DESCRIPTION)
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class GroupSection(Body):
    sectionId: str


class SiteSpaceCreate(Body):
    spaceId: str | None = Field(description="Null creates an empty space")
    sectionId: str = optional_field()
    title: str | None = optional_field(
        min_length=2,
        max_length=128,
        description="The title to show instead of the space's title (an addition)",
    )
    pageId: str | None = optional_field(description="The page that readers see first (an addition)")
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class SiteSpaceUpdate(Body):
    path: str = optional_field(min_length=1, max_length=100)
    condition: str | None = optional_field(max_length=1024)
    spaceId: str = optional_field()
    hidden: bool = optional_field()
    pageId: str | None = optional_field(description="The page that readers see first (an addition)")
    draft: bool = optional_field(description=DRAFT_DESCRIPTION)


class LinkUpdate(Body):
    title: str = optional_field(min_length=1, max_length=128)
    url: Url = optional_field()
    description: str | None = optional_field(max_length=256)
    condition: str | None = optional_field(max_length=1024)
    icon: str | None = optional_field(max_length=50)
    localizedTitle: Localized | None = optional_field()
    localizedDescription: Localized | None = optional_field()
    parent: str | None = optional_field(description="The group, or null for the top level")
    draft: bool = optional_field()


class LinkCreate(LinkUpdate):
    title: str = Field(min_length=1, max_length=128)
    url: Url


NodeType = Literal["site-space", "site-section", "site-section-group", "site-external-link"]


class NodePointer(Body):
    type: NodeType
    id: str = optional_field()
    siteSection: str = optional_field()
    siteSpace: str = optional_field()
    siteSectionGroup: str = optional_field()
    siteExternalLink: str = optional_field()


class NodePosition(Body):
    before: NodePointer = optional_field()
    after: NodePointer = optional_field()


class NodeMove(Body):
    position: NodePosition = Field(default_factory=NodePosition)


class SortItem(Body):
    type: NodeType
    id: str


class SortPosition(Body):
    before: SortItem = optional_field()
    after: SortItem = optional_field()


class Sort(Body):
    item: SortItem
    position: SortPosition
