"""Models of the customization of a site.

The API does not document the values of choices such as `corners`, so any word is valid. Colors, URLs and
booleans are checked.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, create_model

from .base import Body, Url, absent
from .content import Language

Word = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=2048)]
Colour = Annotated[str, Field(pattern=r"^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$")]
InLanguages = dict[Language, Text]


class Colours(Body):
    light: Colour
    dark: Colour


class Images(Body):
    light: Url
    dark: Url = absent()


class Tint(Body):
    color: Colours


class CodeTheme(Body):
    light: Word
    dark: Word


class CodeThemes(Body):
    default: CodeTheme = absent()
    openapi: CodeTheme = absent()


class Sidebar(Body):
    background: Word = absent()
    list: Word = absent()


class Styling(Body):
    theme: Word = absent()
    primaryColor: Colours = absent()
    tint: Tint | None = absent()
    infoColor: Colours = absent()
    successColor: Colours = absent()
    warningColor: Colours = absent()
    dangerColor: Colours = absent()
    corners: Word = absent()
    depth: Word = absent()
    links: Word = absent()
    font: Word | dict[str, Any] = absent()
    headingFont: Word | dict[str, Any] = absent()
    monospaceFont: Word | dict[str, Any] = absent()
    background: Word = absent()
    icons: Word = absent()
    codeTheme: CodeThemes = absent()
    sidebar: Sidebar = absent()
    search: Word = absent()


class Internationalization(Body):
    locale: Word = absent()


class Favicon(Body):
    icon: Images = absent()
    emoji: str = absent(max_length=50)


class NavigationLink(Body):
    title: Text = absent()
    localizedTitle: InLanguages = absent()
    to: dict[str, Any] | None = absent(description="A content reference")
    style: Word = absent()
    links: list["NavigationLink"] = absent()


class Header(Body):
    preset: Word = absent()
    logo: Images = absent()
    primaryLink: dict[str, Any] | None = absent(description="A content reference")
    backgroundColor: Colours = absent()
    linkColor: Colours = absent()
    links: list[NavigationLink] = absent()


class FooterGroup(Body):
    title: Text
    localizedTitle: InLanguages = absent()
    links: list[NavigationLink]


class Footer(Body):
    logo: Images = absent()
    groups: list[FooterGroup] = absent()
    copyright: Text = absent()


class Announcement(Body):
    enabled: bool
    message: Text = absent()
    localizedMessage: InLanguages = absent()
    link: NavigationLink = absent()
    style: Word = absent()


class Themes(Body):
    default: Word = absent()
    toggeable: bool = absent()


class Switch(Body):
    enabled: bool = absent()


class Assistant(Body):
    mode: Word = absent()
    greeting: Any = absent()
    localizedGreeting: Any = absent()
    suggestions: list[Any] = absent()
    instructions: Any = absent()


class PageActions(Body):
    items: list[Any] = absent()


class ExternalLinks(Body):
    target: Word = absent()


class SocialAddress(Body):
    url: Url | None = absent()


class Insights(Body):
    trackingCookie: bool = absent()


class SiteCustomizationUpdate(Body):
    """Replaces all: what is not in it falls back to its default."""

    title: str = absent(max_length=128)
    localizedTitle: InLanguages = absent()
    styling: Styling
    internationalization: Internationalization
    favicon: Favicon
    header: Header
    footer: Footer
    announcement: Announcement = absent()
    themes: Themes
    feedback: Switch
    ai: Assistant
    advancedCustomization: Switch
    pageActions: PageActions
    externalLinks: ExternalLinks
    pagination: Switch
    trademark: Switch
    privacyPolicy: SocialAddress
    socialPreview: SocialAddress
    socialAccounts: list[dict[str, Any]]
    insights: Insights


class SiteCustomization(SiteCustomizationUpdate):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


_MEMBERS: dict[str, Any] = {
    name: field.annotation for name, field in SiteCustomizationUpdate.model_fields.items()
}
_NULLABLE: dict[str, Any] = {name: (kind | None, None) for name, kind in _MEMBERS.items()}

SiteSpaceCustomizationUpdate: type[Body] = create_model(
    "SiteSpaceCustomizationUpdate",
    __base__=Body,
    __doc__="The settings that differ from the site. A null member restores the setting of the site.",
    **_NULLABLE,
)


class SiteSpaceCustomization(SiteSpaceCustomizationUpdate):  # type: ignore[misc,valid-type]
    """Only what the site space has in place of its site's."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
