"""Define the fields that the customizations of sites and site spaces share.

`SHAPES` has the members and allowed values of each field in the current API version. That version requires
all members of an optional object (a logo has two images), but members of an object that always exists may be
declared alone.
"""

from typing import Any

from dpsync.kinds.shared.fields import LOCALIZED, localized
from dpsync.kinds.types import Json, Schema, Text, Type
from dpsync.kinds.types.schemas import FLAG, NULL, NUMBER, listed, members, table, text, words

_URL = text(1, 2048, r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", "a URL")
_COLOUR = text(pattern=r"^#(?:[0-9a-fA-F]{3}){1,2}$", meaning="a colour (#RGB or #RRGGBB)")
_COLOURS = members("light dark", "this colour", light=_COLOUR, dark=_COLOUR)
_IMAGES = members("light dark", "this image", light=_URL, dark=_URL)
_IN_LANGUAGES = table(text(0, 2048))
_SHORT_IN_LANGUAGES = table(text(0, 64))
_LONG_IN_LANGUAGES = table(text(0, 128))
_FONTS = (
    "ABCFavorit", "Inter", "Roboto", "RobotoSlab", "OpenSans", "SourceSansPro", "Lato", "Ubuntu", "Raleway",
    "Merriweather", "Overpass", "NotoSans", "IBMPlexSerif", "Poppins", "FiraSans",
)  # fmt: skip
_CODE_FONTS = (
    "FiraCode", "IBMPlexMono", "JetBrainsMono", "SourceCodePro", "RobotoMono", "SpaceMono", "DMMono",
    "Inconsolata",
)  # fmt: skip
CODE_THEMES = (
    "default-light", "default-dark", "monochrome-light", "monochrome-dark", "andromeeda", "aurora-x",
    "ayu-dark", "catppuccin-frappe", "catppuccin-latte", "catppuccin-macchiato", "catppuccin-mocha",
    "dark-plus", "dracula", "dracula-soft", "everforest-dark", "everforest-light", "github-dark",
    "github-dark-default", "github-dark-dimmed", "github-dark-high-contrast", "github-light",
    "github-light-default", "github-light-high-contrast", "gruvbox-dark-hard", "gruvbox-dark-medium",
    "gruvbox-dark-soft", "gruvbox-light-hard", "gruvbox-light-medium", "gruvbox-light-soft", "houston",
    "kanagawa-dragon", "kanagawa-lotus", "kanagawa-wave", "laserwave", "light-plus", "material-theme",
    "material-theme-darker", "material-theme-lighter", "material-theme-ocean", "material-theme-palenight",
    "min-dark", "min-light", "monokai", "night-owl", "nord", "one-dark-pro", "one-light", "plastic",
    "poimandres", "red", "rose-pine", "rose-pine-dawn", "rose-pine-moon", "slack-dark", "slack-ochin",
    "snazzy-light", "solarized-dark", "solarized-light", "synthwave-84", "tokyo-night", "vesper",
    "vitesse-black", "vitesse-dark", "vitesse-light",
)  # fmt: skip
PLATFORMS = (
    "twitter", "instagram", "facebook", "linkedin", "github", "discord", "slack", "youtube", "tiktok",
    "reddit", "bluesky", "mastodon", "threads", "medium",
)  # fmt: skip
PAGE_ACTIONS = ("assistant", "external-ai", "markdown", "mcp", "git", "pdf")
_OWN_FONT = members(
    "id custom fontFamily fontFaces", "this font", id=text(), custom=FLAG, fontFamily=text(1, 50),
    fontFaces=listed(members(
        "weight sources", "this font", weight=NUMBER,
        sources=listed(members("url", "this source", url=_URL, format=words("woff2", "woff"))),
    )),
)  # fmt: skip


def _font(*known: str) -> Schema:
    return {"anyOf": [words(*known), _OWN_FONT]}


def _ref(kind: str, needed: str, more: str = "") -> Schema:
    """Return the schema of a content reference of one kind.

    `needed` and `more` are the required and optional members, space-separated.
    """
    parts = {name: text() for name in (*needed.split(), *more.split())}
    return members(f"kind {needed}", "this link", kind={"const": kind}, **parts)


_REFERENCES = [
    _ref("file", "file", "space"), _ref("url", "url"), _ref("page", "page", "space"),
    _ref("anchor", "anchor", "space page"), _ref("user", "user"), _ref("collection", "collection"),
    _ref("space", "space"), _ref("reusable-content", "reusableContent", "space"), _ref("tag", "tag", "space"),
    _ref("openapi", "spec"),
]  # fmt: skip
_TO: Schema = {"anyOf": _REFERENCES}
_LINK = members(
    "title to", "this link", title=text(0, 64), localizedTitle=_SHORT_IN_LANGUAGES, to=_TO
)  # fmt: skip
_HEADER_LINK = members(
    "title to links", "this link", title=text(), localizedTitle=_IN_LANGUAGES,
    style=words("link", "button-primary", "button-secondary"), to={"anyOf": [*_REFERENCES, NULL]},
    links=listed(_LINK), condition=text(0, 1024),
)  # fmt: skip
_GROUP = members(
    "title links", "this group of links", title=text(), localizedTitle=_IN_LANGUAGES, links=listed(_LINK)
)
_CODE = members(
    "light dark", "this theme of code", light=words(*CODE_THEMES), dark=words(*CODE_THEMES)
)  # fmt: skip

SHAPES: dict[str, Schema] = {
    "styling": members(
        "", "styling", theme=words("clean", "muted", "bold", "gradient"), primaryColor=_COLOURS,
        tint=members("color", "the tint", color=_COLOURS), infoColor=_COLOURS, successColor=_COLOURS,
        warningColor=_COLOURS, dangerColor=_COLOURS, corners=words("straight", "rounded", "circular"),
        depth=words("subtle", "flat"), links=words("default", "accent"), font=_font(*_FONTS),
        headingFont=_font(*_FONTS), monospaceFont=_font(*_CODE_FONTS), background=words("plain", "match"),
        icons=words("regular", "solid", "duotone", "light", "thin"),
        codeTheme=members("", "codeTheme", default=_CODE, openapi=_CODE),
        sidebar=members("", "the sidebar", background=words("default", "filled"),
                        list=words("default", "pill", "line")),
        search=words("prominent", "subtle"),
    ),
    "internationalization": members(
        "", "internationalization",
        locale=words("en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"),
    ),
    "favicon": members("", "the favicon", icon=_IMAGES, emoji=text(0, 50)),
    "header": members(
        "", "the header", preset=words("default", "bold", "contrast", "custom", "none"), logo=_IMAGES,
        primaryLink=_TO, backgroundColor=_COLOURS, linkColor=_COLOURS, links=listed(_HEADER_LINK),
    ),
    "footer": members("", "the footer", logo=_IMAGES, groups=listed(_GROUP), copyright=text(0, 512)),
    "announcement": members(
        "enabled message style", "the announcement", enabled=FLAG, message=text(2, 128),
        localizedMessage=_LONG_IN_LANGUAGES, link=_LINK, style=words("info", "warning", "danger", "success"),
    ),
    "themes": members("", "themes", default=words("light", "dark", "system"), toggeable=FLAG),
    "feedback": members("", "feedback", enabled=FLAG),
    "ai": members(
        "", "ai", mode=words("none", "search", "assistant"), greeting=text(0, 256),
        localizedGreeting=_LONG_IN_LANGUAGES, suggestions=listed(text(3, 64), 5), instructions=text(0, 10000),
    ),
    "advancedCustomization": members("", "advancedCustomization", enabled=FLAG),
    "pageActions": members("", "pageActions", items=listed(words(*PAGE_ACTIONS))),
    "externalLinks": members("", "externalLinks", target=words("self", "blank")),
    "pagination": members("", "pagination", enabled=FLAG),
    "trademark": members("", "trademark", enabled=FLAG),
    "privacyPolicy": members("", "privacyPolicy", url=_URL),
    "socialPreview": members("", "socialPreview", url=_URL),
    "insights": members("", "insights", trackingCookie=FLAG),
    "socialAccounts": listed(members(
        "platform handle display", "this account", platform=words(*PLATFORMS), handle=text(1, 128),
        display=members("footer header", "display", footer=FLAG, header=FLAG),
    ), 10),
}  # fmt: skip
"""The schema of each field. Objects that every response has may be declared in part."""
_FONT_OF_THE_SITE = ("font", "headingFont", "monospaceFont")
SPACE_SHAPES: dict[str, Schema] = SHAPES | {
    "styling": SHAPES["styling"] | {
        "properties": {
            name: part for name, part in SHAPES["styling"]["properties"].items()
            if name not in _FONT_OF_THE_SITE
        },
    },
}  # fmt: skip
"""The schemas for one space of a site, which has no fonts of its own."""
CODE_THEME: dict[str, Any] = {
    name: {"light": "default-light", "dark": "default-dark"} for name in ("default", "openapi")
}
"""The code themes of a new site. The vendor's document says only that they exist."""


_OBJECTS = (
    "styling", "internationalization", "favicon", "header", "footer", "announcement", "themes", "feedback",
    "ai", "advancedCustomization", "pageActions", "externalLinks", "pagination", "trademark",
    "privacyPolicy", "socialPreview", "insights",
)  # fmt: skip
_LOGO = ("logo.light",)
_NEEDED = {
    "styling": ("tint.color", "tint.color.light", "tint.color.dark"),
    "favicon": ("icon.light",),
    "header": (*_LOGO, *(f"{of}Color.{name}" for of in ("background", "link") for name in ("light", "dark"))),
    "footer": (*_LOGO, "groups.title", "groups.links"),
    "announcement": ("enabled",),
}
"""Members that the platform requires in written values, by field."""
_BLUE, _GREY, _GREEN, _ORANGE, _RED = (
    {"light": colour, "dark": colour} for colour in ("#346DDB", "#787878", "#00C950", "#FE9A00", "#FB2C36")
)
USUAL: dict[str, Any] = {
    "styling": {
        "theme": "clean", "primaryColor": _BLUE, "infoColor": _GREY, "successColor": _GREEN,
        "warningColor": _ORANGE, "dangerColor": _RED, "corners": "rounded", "depth": "subtle",
        "links": "default", "font": "Inter", "monospaceFont": "IBMPlexMono", "background": "plain",
        "icons": "regular", "sidebar": {"background": "default", "list": "default"}, "search": "subtle",
    },
    "internationalization": {"locale": "en"}, "favicon": {}, "header": {"preset": "default", "links": []},
    "footer": {"groups": []}, "themes": {"default": "light", "toggeable": True},
    "feedback": {"enabled": False}, "ai": {"mode": "none"}, "advancedCustomization": {"enabled": True},
    "pageActions": {"items": []}, "externalLinks": {"target": "self"}, "pagination": {"enabled": True},
    "trademark": {"enabled": True}, "privacyPolicy": {}, "socialPreview": {}, "socialAccounts": [],
    "insights": {"trackingCookie": True},
}  # fmt: skip


USUAL_TODAY = USUAL | {"styling": USUAL["styling"] | {"codeTheme": CODE_THEME}}
"""The defaults in the current API version."""


def customization_fields(defaults: dict[str, Any]) -> dict[str, Type]:
    """Return the type of each field. Members that are not written are not managed.

    `defaults` are the platform's values of members that are not set.
    """
    return {
        "title": Text(1, 128),
        "localizedTitle": LOCALIZED,
        **{name: _field_type(name, defaults, {"type": "object"}) for name in _OBJECTS},
        "socialAccounts": Json(shape={"type": "array"}),
    }


def members_today(defaults: dict[str, Any], shapes: dict[str, Schema]) -> dict[str, Type]:
    """Return the type of each field in the current API version, which defines every member and word."""
    return {
        "title": Text(2, 128),
        "localizedTitle": localized(128),
        **{name: _field_type(name, defaults, shapes[name]) for name in _OBJECTS},
        "socialAccounts": Json(shape=shapes["socialAccounts"]),
    }


def _field_type(name: str, defaults: dict[str, Any], shape: Schema) -> Json:
    return Json(
        partial=True, secrets=True, rarely=True, shape=shape, tag="kind",
        exclusive=("icon", "emoji") if name == "favicon" else (), platform_default=defaults.get(name),
        needed=_NEEDED.get(name, ()),
    )  # fmt: skip
