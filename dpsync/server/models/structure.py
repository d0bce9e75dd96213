"""Models of the navigation of a site: section groups, sections, external links and site spaces."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from .base import AnswerBody, Body, Id, Paged, Url, absent
from .content import Language, Space

Localized = dict[Language, str]
DRAFT = "Whether to omit the entry from the published site (an addition)"
IN_LANGUAGES = "The text in other languages, by language (an addition)"


class Published(AnswerBody):
    published: Url = absent()


class SiteSpace(AnswerBody):
    object: Literal["site-space"]
    id: Id
    path: str = Field(min_length=1, max_length=100)
    section: Id = absent()
    space: Space
    title: str
    default: bool
    condition: str = absent(max_length=1024)
    hidden: bool
    hasAdvancedCustomizationFeature: bool
    pageId: str = absent()
    draft: bool = absent()
    urls: Published


class SiteSection(AnswerBody):
    object: Literal["site-section"]
    id: Id
    title: str = Field(min_length=2, max_length=128)
    description: str = absent(max_length=256)
    default: bool
    path: str = Field(min_length=1, max_length=100)
    condition: str = absent(max_length=1024)
    sectionGroup: Id = absent()
    icon: str = absent(max_length=50)
    siteSpaces: list[SiteSpace]
    localizedTitle: Localized = absent()
    localizedDescription: Localized = absent()
    draft: bool = absent()
    urls: Published


class SiteExternalLink(AnswerBody):
    object: Literal["site-external-link"]
    id: Id
    title: str = Field(min_length=1, max_length=128)
    url: Url
    description: str = absent(max_length=256)
    condition: str = absent(max_length=1024)
    sectionGroup: Id = absent()
    icon: str = absent(max_length=50)
    localizedTitle: Localized = absent()
    localizedDescription: Localized = absent()
    draft: bool


class SiteSectionGroup(AnswerBody):
    object: Literal["site-section-group"]
    id: Id
    title: str = Field(min_length=1, max_length=100)
    sectionGroup: Id = absent()
    children: list["Node"]
    sections: list[SiteSection] = absent(deprecated=True)
    icon: str = absent(max_length=50)
    localizedTitle: Localized = absent()
    draft: bool = absent()


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
    siteSectionGroupId: str | None = absent(description="The group of the section (an addition)")
    title: str | None = absent(min_length=2, max_length=128)
    icon: str | None = absent(max_length=50)
    draft: bool = absent(description=DRAFT)


class SectionUpdate(Body):
    title: str = absent(min_length=2, max_length=128)
    path: str = absent(min_length=1, max_length=100)
    defaultSiteSpace: str = absent()
    condition: str | None = absent(max_length=1024)
    icon: str | None = absent(max_length=50)
    description: str | None = absent(max_length=256)
    siteSectionGroupId: str | None = absent(description="The group, or null for the top level (an addition)")
    localizedTitle: Localized | None = absent(description=IN_LANGUAGES)
    localizedDescription: Localized | None = absent(description=IN_LANGUAGES)
    draft: bool = absent(description=DRAFT)


class GroupCreate(Body):
    title: str = Field(default="Untitled", min_length=1, max_length=100)
    icon: str | None = absent(max_length=50)
    sections: list[str] = Field(default_factory=list)
    parent: str | None = absent()
    draft: bool = absent(description=DRAFT)


class GroupUpdate(Body):
    title: str = absent(min_length=1, max_length=100)
    icon: str | None = absent(max_length=50)
    parentSectionGroupId: str | None = absent(
        description="The outer group, or null for the top level (an addition)"
    )
    localizedTitle: Localized | None = absent(description=IN_LANGUAGES)
    draft: bool = absent(description=DRAFT)


class GroupSection(Body):
    sectionId: str


class SiteSpaceCreate(Body):
    spaceId: str | None = Field(description="Null creates an empty space")
    sectionId: str = absent()
    title: str | None = absent(
        min_length=2,
        max_length=128,
        description="The title to show instead of the space's title (an addition)",
    )
    pageId: str | None = absent(description="The page that readers see first (an addition)")
    draft: bool = absent(description=DRAFT)


class SiteSpaceUpdate(Body):
    path: str = absent(min_length=1, max_length=100)
    condition: str | None = absent(max_length=1024)
    spaceId: str = absent()
    hidden: bool = absent()
    pageId: str | None = absent(description="The page that readers see first (an addition)")
    draft: bool = absent(description=DRAFT)


class LinkUpdate(Body):
    title: str = absent(min_length=1, max_length=128)
    url: Url = absent()
    description: str | None = absent(max_length=256)
    condition: str | None = absent(max_length=1024)
    icon: str | None = absent(max_length=50)
    localizedTitle: Localized | None = absent()
    localizedDescription: Localized | None = absent()
    parent: str | None = absent(description="The group, or null for the top level")
    draft: bool = absent()


class LinkCreate(LinkUpdate):
    title: str = Field(min_length=1, max_length=128)
    url: Url


NodeType = Literal["site-space", "site-section", "site-section-group", "site-external-link"]


class NodePointer(Body):
    type: NodeType
    id: str = absent()
    siteSection: str = absent()
    siteSpace: str = absent()
    siteSectionGroup: str = absent()
    siteExternalLink: str = absent()


class NodePosition(Body):
    before: NodePointer = absent()
    after: NodePointer = absent()


class NodeMove(Body):
    position: NodePosition = Field(default_factory=NodePosition)


class SortItem(Body):
    type: NodeType
    id: str


class SortPosition(Body):
    before: SortItem = absent()
    after: SortItem = absent()


class Sort(Body):
    item: SortItem
    position: SortPosition
