"""Sites, their navigation (section groups, sections, site spaces) and their visitor schema."""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from .base import Answer, Body, Id, Paged, Stamp, Url, absent
from .content import Space, Visibility

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
AgentsContext = Literal["excluded", "included"]
PROXY = r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$"
HOSTNAME = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$"


class AdaptiveContent(Answer):
    enabled: bool


class AdaptiveContentUpdate(Body):
    enabled: bool


class Proxy(Answer):
    origin: str
    target: Url


class IconImages(Answer):
    light: Url
    dark: Url


class Icon(Answer):
    icon: IconImages


class SiteUrls(Answer):
    location: Url
    app: Url
    published: Url = absent()


class Site(Answer):
    object: Literal["site"]
    id: Id
    type: SiteType
    title: str = Field(min_length=2, max_length=128)
    icon: Icon | None = None
    hostname: str = absent(max_length=512, pattern=HOSTNAME)
    basename: str = Field(min_length=1, max_length=100)
    proxy: Proxy = absent()
    visibility: Visibility
    published: bool
    siteSpaces: int
    createdAt: Stamp
    adaptiveContent: AdaptiveContent = absent()
    agentsContext: AgentsContext
    features: list[dict[str, Any]]
    urls: SiteUrls


class SitesQuery(Paged):
    space: str | None = Field(default=None, description="A space id: only sites that show it")
    title: str | None = Field(default=None, description="Part of the title, any case")
    published: bool | None = None


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


class AdaptiveSchema(Answer):
    object: Literal["site-adaptive-schema"]
    jsonSchema: dict[str, Any]
    updatedAt: Stamp


class AdaptiveSchemaUpdate(Body):
    jsonSchema: dict[str, Any]


class TemplateCondition(Answer):
    description: str
    condition: str


class TemplateConditions(Answer):
    items: list[TemplateCondition]


class Published(Answer):
    published: Url = absent()


class SiteSpace(Answer):
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
    urls: Published


class SiteSection(Answer):
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
    urls: Published


class SiteSectionGroup(Answer):
    object: Literal["site-section-group"]
    id: Id
    title: str = Field(min_length=1, max_length=100)
    sectionGroup: Id = absent()
    children: list["Node"]
    sections: list[SiteSection] = absent(deprecated=True)
    icon: str = absent(max_length=50)


Node = Annotated[SiteSection | SiteSectionGroup, Field(discriminator="object")]


class Structure(Answer):
    """Answered as is: `{type, structure}`."""

    type: Literal["sections", "siteSpaces"]
    structure: list[Annotated[SiteSection | SiteSectionGroup | SiteSpace, Field(discriminator="object")]]


class SortedNode(
    RootModel[Annotated[SiteSection | SiteSectionGroup | SiteSpace, Field(discriminator="object")]]
):
    """The item that was sorted."""


class SharedQuery(Paged):
    shareKey: str | None = None


class SiteSpacesQuery(SharedQuery):
    default: bool | None = None


class SectionCreate(Body):
    spaceId: str | None = Field(description="Null makes a new, empty space")
    siteSectionGroupId: str | None = absent(description="An addition: the group to be in")
    title: str | None = absent(min_length=2, max_length=128)
    icon: str | None = absent(max_length=50)


class SectionUpdate(Body):
    title: str = absent(min_length=2, max_length=128)
    path: str = absent(min_length=1, max_length=100)
    defaultSiteSpace: str = absent()
    condition: str | None = absent(max_length=1024)
    icon: str | None = absent(max_length=50)
    description: str | None = absent(max_length=256)
    siteSectionGroupId: str | None = absent(description="An addition: the group to be in, null for the root")


class GroupCreate(Body):
    title: str = Field(default="Untitled", min_length=1, max_length=100)
    icon: str | None = absent(max_length=50)
    sections: list[str] = Field(default_factory=list)
    parent: str | None = absent()


class GroupUpdate(Body):
    title: str = absent(min_length=1, max_length=100)
    icon: str | None = absent(max_length=50)
    parentSectionGroupId: str | None = absent(
        description="An addition: the enclosing group, null for the root"
    )


class GroupSection(Body):
    sectionId: str


class SiteSpaceCreate(Body):
    spaceId: str | None = Field(description="Null makes a new, empty space")
    sectionId: str = absent()


class SiteSpaceUpdate(Body):
    path: str = absent(min_length=1, max_length=100)
    condition: str | None = absent(max_length=1024)
    spaceId: str = absent()
    hidden: bool = absent()


NodeType = Literal["site-space", "site-section", "site-section-group"]


class NodePointer(Body):
    type: NodeType
    id: str = absent()
    siteSection: str = absent()
    siteSpace: str = absent()
    siteSectionGroup: str = absent()


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
