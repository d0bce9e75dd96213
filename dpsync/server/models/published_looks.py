"""Bodies for the customization of a site in the `published` edition, which lists every valid word.

Writing the customization of a site replaces all settings, so all members are required. For one site space,
single members may be set at any depth, and null removes an override.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from .base import Body, Url, absent
from .content import Language
from .published import Short

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
Titles = dict[Language, Short]

_REFERENCES = {
    "file": "file", "url": "url", "page": "page", "anchor": "anchor", "user": "user",
    "collection": "collection", "space": "space", "reusable-content": "reusableContent", "tag": "tag",
    "openapi": "spec",
}  # fmt: skip


def _is_reference(to: dict[str, Any]) -> dict[str, Any]:
    named = _REFERENCES.get(to.get("kind", ""))
    if named is None or not isinstance(to.get(named), str):
        raise ValueError(
            f"a content reference must have a kind ({', '.join(_REFERENCES)}) and name an object of this kind"
        )
    return to


Reference = Annotated[dict[str, Any], AfterValidator(_is_reference)]


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
    tint: TintToday = absent()
    infoColor: ColoursToday
    successColor: ColoursToday
    warningColor: ColoursToday
    dangerColor: ColoursToday
    corners: Corners
    depth: Depth
    links: Links
    font: str | dict[str, Any]
    headingFont: str | dict[str, Any] | None = absent()
    monospaceFont: str | dict[str, Any]
    background: Background
    icons: Icons
    codeTheme: CodeThemesToday
    sidebar: SidebarToday
    search: Prominence


class LocaleToday(Body):
    locale: Locale


class FaviconToday(Body):
    icon: ImagesToday = absent()
    emoji: str = absent(max_length=50)


class LinkToday(Body):
    title: LinkText
    localizedTitle: dict[Language, LinkText] = absent()
    to: Reference


class HeaderLinkToday(Body):
    title: str
    localizedTitle: dict[Language, str] = absent()
    style: Literal["link", "button-primary", "button-secondary"] = absent()
    to: Reference | None
    links: list[LinkToday]
    condition: str = absent(max_length=1024)


class HeaderToday(Body):
    preset: Preset
    logo: ImagesToday = absent()
    primaryLink: Reference = absent()
    backgroundColor: ColoursToday = absent()
    linkColor: ColoursToday = absent()
    links: list[HeaderLinkToday]


class FooterGroupToday(Body):
    title: str
    localizedTitle: dict[Language, str] = absent()
    links: list[LinkToday]


class FooterToday(Body):
    logo: ImagesToday = absent()
    groups: list[FooterGroupToday]
    copyright: Copyright = absent()


class AnnouncementToday(Body):
    enabled: bool
    message: Title
    localizedMessage: Titles = absent()
    link: LinkToday = absent()
    style: Literal["info", "warning", "danger", "success"]


class ThemesToday(Body):
    default: Mode
    toggeable: bool


class SwitchToday(Body):
    enabled: bool


class AssistantToday(Body):
    mode: Literal["none", "search", "assistant"]
    greeting: str = absent(max_length=256)
    localizedGreeting: Titles = absent()
    suggestions: list[Annotated[str, Field(min_length=3, max_length=64)]] = absent(max_length=5)
    instructions: str = absent(max_length=10000)


class PageActionsToday(Body):
    items: list[Literal["assistant", "external-ai", "markdown", "mcp", "git", "pdf"]]


class TargetToday(Body):
    target: Target


class AddressToday(Body):
    url: Url = absent()


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

    title: Title = absent()
    localizedTitle: Titles = absent()
    styling: StylingToday
    internationalization: LocaleToday
    favicon: FaviconToday
    header: HeaderToday
    footer: FooterToday
    announcement: AnnouncementToday = absent()
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
    default: CodeToday | None = absent()
    openapi: CodeToday | None = absent()


class OneSidebar(Body):
    background: SidebarBackground | None = absent()
    list: SidebarList | None = absent()


class OneStyling(Body):
    theme: Theme | None = absent()
    primaryColor: ColoursToday | None = absent()
    infoColor: ColoursToday | None = absent()
    successColor: ColoursToday | None = absent()
    warningColor: ColoursToday | None = absent()
    dangerColor: ColoursToday | None = absent()
    tint: TintToday | None = absent()
    corners: Corners | None = absent()
    depth: Depth | None = absent()
    links: Links | None = absent()
    icons: Icons | None = absent()
    sidebar: OneSidebar = absent()
    search: Prominence | None = absent()
    background: Background | None = absent()
    codeTheme: OneCodeTheme = absent()


class OneLocale(Body):
    locale: Locale | None


class OneHeader(Body):
    preset: Preset | None = absent()
    logo: ImagesToday | None = absent()
    primaryLink: Reference | None = absent()
    backgroundColor: ColoursToday | None = absent()
    linkColor: ColoursToday | None = absent()
    links: list[HeaderLinkToday] | None = absent()


class OneFooter(Body):
    logo: ImagesToday | None = absent()
    groups: list[FooterGroupToday] | None = absent()
    copyright: Copyright | None = absent()


class OneThemes(Body):
    default: Mode | None = absent()
    toggeable: bool | None = absent()


class OneSwitch(Body):
    enabled: bool | None


class OneTarget(Body):
    target: Target | None


class OneAddress(Body):
    url: Url | None = absent()


class SiteSpaceLooksToday(Body):
    """What one space has in place of its site's looks."""

    title: Title | None = absent()
    localizedTitle: Titles | None = absent()
    styling: OneStyling = absent()
    internationalization: OneLocale = absent()
    favicon: FaviconToday | None = absent()
    announcement: AnnouncementToday = absent()
    header: OneHeader = absent()
    footer: OneFooter = absent()
    themes: OneThemes = absent()
    feedback: OneSwitch = absent()
    externalLinks: OneTarget = absent()
    pagination: OneSwitch = absent()
    trademark: OneSwitch = absent()
    privacyPolicy: OneAddress = absent()
    socialPreview: OneAddress = absent()
