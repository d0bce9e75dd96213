"""Define request models for the customization of a site in the API version (profile) `published`.

This version lists every valid word. Writing the customization of a site replaces all settings, so all members
are required. For one site space, single members may be set at any depth, and null removes an override.
The local server validates bodies with these pydantic models, and derives the OpenAPI document from them.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .base import Body, Url, optional_field
from .content import Language
from .published import ShortText

Colour = Annotated[str, Field(pattern=r"^#(?:[0-9a-fA-F]{3}){1,2}$")]
LinkText = Annotated[str, Field(max_length=64)]
Theme = Literal["clean", "muted", "bold", "gradient"]
Corners = Literal["straight", "rounded", "circular"]
Depth = Literal["subtle", "flat"]
Links = Literal["default", "accent"]
Background = Literal["plain", "match"]
Icons = Literal["regular", "solid", "duotone", "light", "thin"]
Prominence = Literal["prominent", "subtle"]
SidebarBackground = Literal["default", "filled"]
SidebarList = Literal["default", "pill", "line"]
Preset = Literal["default", "bold", "contrast", "custom", "none"]
Mode = Literal["light", "dark", "system"]
Target = Literal["self", "blank"]
Locale = Literal["en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"]
Copyright = Annotated[str, Field(max_length=512)]
Title = Annotated[str, Field(min_length=2, max_length=128)]
Titles = dict[Language, ShortText]

_REFERENCE_FIELDS = {
    "file": "file", "url": "url", "page": "page", "anchor": "anchor", "user": "user",
    "collection": "collection", "space": "space", "reusable-content": "reusableContent", "tag": "tag",
    "openapi": "spec",
}  # fmt: skip


def _check_reference(reference: dict[str, Any]) -> dict[str, Any]:
    """Return a content reference. Raise ValueError if it does not name an object of its kind."""
    field = _REFERENCE_FIELDS.get(reference.get("kind", ""))
    if field is None or not isinstance(reference.get(field), str):
        raise ValueError(
            f"a content reference must have a kind ({', '.join(_REFERENCE_FIELDS)}) and name "
            "an object of this kind"
        )
    return reference


Reference = Annotated[dict[str, Any], AfterValidator(_check_reference)]


class ColoursToday(Body):
    light: Colour
    dark: Colour


class ImagesToday(Body):
    light: Url
    dark: Url


class TintToday(Body):
    color: ColoursToday


class CodeToday(Body):
    light: str
    dark: str


class CodeThemesToday(Body):
    default: CodeToday
    openapi: CodeToday


class SidebarToday(Body):
    background: SidebarBackground
    list: SidebarList


class StylingToday(Body):
    theme: Theme
    primaryColor: ColoursToday
    tint: TintToday = optional_field()
    infoColor: ColoursToday
    successColor: ColoursToday
    warningColor: ColoursToday
    dangerColor: ColoursToday
    corners: Corners
    depth: Depth
    links: Links
    font: str | dict[str, Any]
    headingFont: str | dict[str, Any] | None = optional_field()
    monospaceFont: str | dict[str, Any]
    background: Background
    icons: Icons
    codeTheme: CodeThemesToday
    sidebar: SidebarToday
    search: Prominence


class LocaleToday(Body):
    locale: Locale


class FaviconToday(Body):
    icon: ImagesToday = optional_field()
    emoji: str = optional_field(max_length=50)


class LinkToday(Body):
    title: LinkText
    localizedTitle: dict[Language, LinkText] = optional_field()
    to: Reference


class HeaderLinkToday(Body):
    title: str
    localizedTitle: dict[Language, str] = optional_field()
    style: Literal["link", "button-primary", "button-secondary"] = optional_field()
    to: Reference | None
    links: list[LinkToday]
    condition: str = optional_field(max_length=1024)


class HeaderToday(Body):
    preset: Preset
    logo: ImagesToday = optional_field()
    primaryLink: Reference = optional_field()
    backgroundColor: ColoursToday = optional_field()
    linkColor: ColoursToday = optional_field()
    links: list[HeaderLinkToday]


class FooterGroupToday(Body):
    title: str
    localizedTitle: dict[Language, str] = optional_field()
    links: list[LinkToday]


class FooterToday(Body):
    logo: ImagesToday = optional_field()
    groups: list[FooterGroupToday]
    copyright: Copyright = optional_field()


class AnnouncementToday(Body):
    enabled: bool
    message: Title
    localizedMessage: Titles = optional_field()
    link: LinkToday = optional_field()
    style: Literal["info", "warning", "danger", "success"]


class ThemesToday(Body):
    default: Mode
    toggeable: bool


class SwitchToday(Body):
    enabled: bool


class AssistantToday(Body):
    mode: Literal["none", "search", "assistant"]
    greeting: str = optional_field(max_length=256)
    localizedGreeting: Titles = optional_field()
    suggestions: list[Annotated[str, Field(min_length=3, max_length=64)]] = optional_field(max_length=5)
    instructions: str = optional_field(max_length=10000)


class PageActionsToday(Body):
    items: list[Literal["assistant", "external-ai", "markdown", "mcp", "git", "pdf"]]


class TargetToday(Body):
    target: Target


class AddressToday(Body):
    url: Url = optional_field()


class DisplayToday(Body):
    footer: bool
    header: bool


class AccountToday(Body):
    platform: Literal[
        "twitter", "instagram", "facebook", "linkedin", "github", "discord", "slack", "youtube", "tiktok",
        "reddit", "bluesky", "mastodon", "threads", "medium",
    ]  # fmt: skip
    handle: str = Field(min_length=1, max_length=128)
    display: DisplayToday


class TrackingToday(Body):
    trackingCookie: bool


class CustomizationToday(Body):
    """Replaces all: every member is needed but title, localizedTitle and announcement."""

    title: Title = optional_field()
    localizedTitle: Titles = optional_field()
    styling: StylingToday
    internationalization: LocaleToday
    favicon: FaviconToday
    header: HeaderToday
    footer: FooterToday
    announcement: AnnouncementToday = optional_field()
    themes: ThemesToday
    feedback: SwitchToday
    ai: AssistantToday
    advancedCustomization: SwitchToday
    pageActions: PageActionsToday
    externalLinks: TargetToday
    pagination: SwitchToday
    trademark: SwitchToday
    privacyPolicy: AddressToday
    socialPreview: AddressToday
    socialAccounts: list[AccountToday] = Field(max_length=10)
    insights: TrackingToday


# The same for one space: members alone, and null.


class OneCodeTheme(Body):
    default: CodeToday | None = optional_field()
    openapi: CodeToday | None = optional_field()


class OneSidebar(Body):
    background: SidebarBackground | None = optional_field()
    list: SidebarList | None = optional_field()


class OneStyling(Body):
    theme: Theme | None = optional_field()
    primaryColor: ColoursToday | None = optional_field()
    infoColor: ColoursToday | None = optional_field()
    successColor: ColoursToday | None = optional_field()
    warningColor: ColoursToday | None = optional_field()
    dangerColor: ColoursToday | None = optional_field()
    tint: TintToday | None = optional_field()
    corners: Corners | None = optional_field()
    depth: Depth | None = optional_field()
    links: Links | None = optional_field()
    icons: Icons | None = optional_field()
    sidebar: OneSidebar = optional_field()
    search: Prominence | None = optional_field()
    background: Background | None = optional_field()
    codeTheme: OneCodeTheme = optional_field()


class OneLocale(Body):
    locale: Locale | None


class OneHeader(Body):
    preset: Preset | None = optional_field()
    logo: ImagesToday | None = optional_field()
    primaryLink: Reference | None = optional_field()
    backgroundColor: ColoursToday | None = optional_field()
    linkColor: ColoursToday | None = optional_field()
    links: list[HeaderLinkToday] | None = optional_field()


class OneFooter(Body):
    logo: ImagesToday | None = optional_field()
    groups: list[FooterGroupToday] | None = optional_field()
    copyright: Copyright | None = optional_field()


class OneThemes(Body):
    default: Mode | None = optional_field()
    toggeable: bool | None = optional_field()


class OneSwitch(Body):
    enabled: bool | None


class OneTarget(Body):
    target: Target | None


class OneAddress(Body):
    url: Url | None = optional_field()


class SiteSpaceLooksToday(Body):
    """What one space has in place of its site's looks."""

    title: Title | None = optional_field()
    localizedTitle: Titles | None = optional_field()
    styling: OneStyling = optional_field()
    internationalization: OneLocale = optional_field()
    favicon: FaviconToday | None = optional_field()
    announcement: AnnouncementToday = optional_field()
    header: OneHeader = optional_field()
    footer: OneFooter = optional_field()
    themes: OneThemes = optional_field()
    feedback: OneSwitch = optional_field()
    externalLinks: OneTarget = optional_field()
    pagination: OneSwitch = optional_field()
    trademark: OneSwitch = optional_field()
    privacyPolicy: OneAddress = optional_field()
    socialPreview: OneAddress = optional_field()
