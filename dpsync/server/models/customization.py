"""Define request and response models of the customization (look) of a site.

The API does not document the values of choices such as `corners`, so any word is valid. Colors, URLs and
booleans are checked. `published_customization.py` has the stricter models of the API version `published`.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, create_model

from .base import Body, Url, optional_field
from .content import Language

ChoiceText = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=2048)]
Colour = Annotated[str, Field(pattern=r"^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$")]
TextByLanguage = dict[Language, Text]


class Colours(Body):
    light: Colour
    dark: Colour


class Images(Body):
    light: Url
    dark: Url = optional_field()


class Tint(Body):
    color: Colours


class CodeTheme(Body):
    light: ChoiceText
    dark: ChoiceText


class CodeThemes(Body):
    default: CodeTheme = optional_field()
    openapi: CodeTheme = optional_field()


class Sidebar(Body):
    background: ChoiceText = optional_field()
    list: ChoiceText = optional_field()


class Styling(Body):
    theme: ChoiceText = optional_field()
    primaryColor: Colours = optional_field()
    tint: Tint | None = optional_field()
    infoColor: Colours = optional_field()
    successColor: Colours = optional_field()
    warningColor: Colours = optional_field()
    dangerColor: Colours = optional_field()
    corners: ChoiceText = optional_field()
    depth: ChoiceText = optional_field()
    links: ChoiceText = optional_field()
    font: ChoiceText | dict[str, Any] = optional_field()
    headingFont: ChoiceText | dict[str, Any] = optional_field()
    monospaceFont: ChoiceText | dict[str, Any] = optional_field()
    background: ChoiceText = optional_field()
    icons: ChoiceText = optional_field()
    codeTheme: CodeThemes = optional_field()
    sidebar: Sidebar = optional_field()
    search: ChoiceText = optional_field()


class Internationalization(Body):
    locale: ChoiceText = optional_field()


class Favicon(Body):
    icon: Images = optional_field()
    emoji: str = optional_field(max_length=50)


class NavigationLink(Body):
    title: Text = optional_field()
    localizedTitle: TextByLanguage = optional_field()
    to: dict[str, Any] | None = optional_field(description="A content reference")
    style: ChoiceText = optional_field()
    links: list["NavigationLink"] = optional_field()


class Header(Body):
    preset: ChoiceText = optional_field()
    logo: Images = optional_field()
    primaryLink: dict[str, Any] | None = optional_field(description="A content reference")
    backgroundColor: Colours = optional_field()
    linkColor: Colours = optional_field()
    links: list[NavigationLink] = optional_field()


class FooterGroup(Body):
    title: Text
    localizedTitle: TextByLanguage = optional_field()
    links: list[NavigationLink]


class Footer(Body):
    logo: Images = optional_field()
    groups: list[FooterGroup] = optional_field()
    copyright: Text = optional_field()


class Announcement(Body):
    enabled: bool
    message: Text = optional_field()
    localizedMessage: TextByLanguage = optional_field()
    link: NavigationLink = optional_field()
    style: ChoiceText = optional_field()


class Themes(Body):
    default: ChoiceText = optional_field()
    toggeable: bool = optional_field()


class Switch(Body):
    enabled: bool = optional_field()


class Assistant(Body):
    mode: ChoiceText = optional_field()
    greeting: Any = optional_field()
    localizedGreeting: Any = optional_field()
    suggestions: list[Any] = optional_field()
    instructions: Any = optional_field()


class PageActions(Body):
    items: list[Any] = optional_field()


class ExternalLinks(Body):
    target: ChoiceText = optional_field()


class SocialAddress(Body):
    url: Url | None = optional_field()


class Insights(Body):
    trackingCookie: bool = optional_field()


class SiteCustomizationUpdate(Body):
    """Replaces all: what is not in it falls back to its default."""

    title: str = optional_field(max_length=128)
    localizedTitle: TextByLanguage = optional_field()
    styling: Styling
    internationalization: Internationalization
    favicon: Favicon
    header: Header
    footer: Footer
    announcement: Announcement = optional_field()
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


_FIELD_TYPES: dict[str, Any] = {
    name: field.annotation for name, field in SiteCustomizationUpdate.model_fields.items()
}
_NULLABLE_FIELDS: dict[str, Any] = {name: (kind | None, None) for name, kind in _FIELD_TYPES.items()}

SiteSpaceCustomizationUpdate: type[Body] = create_model(
    "SiteSpaceCustomizationUpdate",
    __base__=Body,
    __doc__="The settings that differ from the site. A null member restores the setting of the site.",
    **_NULLABLE_FIELDS,
)


class SiteSpaceCustomization(SiteSpaceCustomizationUpdate):  # type: ignore[misc,valid-type]
    """Only what the site space has in place of its site's."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
