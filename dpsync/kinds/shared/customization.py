"""Define the fields that the customizations of sites and site spaces share.

`FIELD_SCHEMAS` has the members and allowed values of each field in the current API version. That version
requires all members of an optional object (a logo has two images), but members of an object that always
exists may be declared alone.
"""

from typing import Any

from dpsync.kinds.shared.fields import LOCALIZED, localized_text
from dpsync.kinds.types import Json, Schema, Text, Type
from dpsync.kinds.types.schemas import (
    FLAG,
    NULL,
    NUMBER,
    enum_schema,
    list_schema,
    mapping_schema,
    object_schema,
    text_schema,
)

_URL = text_schema(1, 2048, r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", "a URL")
_COLOUR = text_schema(pattern=r"^#(?:[0-9a-fA-F]{3}){1,2}$", meaning="a colour (#RGB or #RRGGBB)")
_COLOURS = object_schema("light dark", "this colour", light=_COLOUR, dark=_COLOUR)
_IMAGES = object_schema("light dark", "this image", light=_URL, dark=_URL)
_IN_LANGUAGES = mapping_schema(text_schema(0, 2048))
_SHORT_IN_LANGUAGES = mapping_schema(text_schema(0, 64))
_LONG_IN_LANGUAGES = mapping_schema(text_schema(0, 128))
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
_OWN_FONT = object_schema(
    "id custom fontFamily fontFaces", "this font", id=text_schema(), custom=FLAG,
    fontFamily=text_schema(1, 50),
    fontFaces=list_schema(
        object_schema(
            "weight sources", "this font", weight=NUMBER,
            sources=list_schema(
                object_schema("url", "this source", url=_URL, format=enum_schema("woff2", "woff"))
            ),
        )
    ),
)  # fmt: skip


def _font(*names: str) -> Schema:
    """Return the schema of a font: one of these names, or a font of the user."""
    return {"anyOf": [enum_schema(*names), _OWN_FONT]}


def _ref(kind: str, required: str, optional: str = "") -> Schema:
    """Return the schema of a content reference of one kind.

    `required` and `optional` are the required and optional members, space-separated.
    """
    parts = {name: text_schema() for name in (*required.split(), *optional.split())}
    return object_schema(f"kind {required}", "this link", kind={"const": kind}, **parts)


_REFERENCES = [
    _ref("file", "file", "space"), _ref("url", "url"), _ref("page", "page", "space"),
    _ref("anchor", "anchor", "space page"), _ref("user", "user"), _ref("collection", "collection"),
    _ref("space", "space"), _ref("reusable-content", "reusableContent", "space"), _ref("tag", "tag", "space"),
    _ref("openapi", "spec"),
]  # fmt: skip
_LINK_TARGET: Schema = {"anyOf": _REFERENCES}
_LINK = object_schema(
    "title to", "this link", title=text_schema(0, 64), localizedTitle=_SHORT_IN_LANGUAGES, to=_LINK_TARGET
)  # fmt: skip
_HEADER_LINK = object_schema(
    "title to links", "this link", title=text_schema(), localizedTitle=_IN_LANGUAGES,
    style=enum_schema("link", "button-primary", "button-secondary"), to={"anyOf": [*_REFERENCES, NULL]},
    links=list_schema(_LINK), condition=text_schema(0, 1024),
)  # fmt: skip
_GROUP = object_schema(
    "title links",
    "this group of links",
    title=text_schema(),
    localizedTitle=_IN_LANGUAGES,
    links=list_schema(_LINK),
)
_CODE = object_schema(
    "light dark", "this theme of code", light=enum_schema(*CODE_THEMES), dark=enum_schema(*CODE_THEMES)
)  # fmt: skip

FIELD_SCHEMAS: dict[str, Schema] = {
    "styling": object_schema(
        "", "styling", theme=enum_schema("clean", "muted", "bold", "gradient"), primaryColor=_COLOURS,
        tint=object_schema("color", "the tint", color=_COLOURS), infoColor=_COLOURS, successColor=_COLOURS,
        warningColor=_COLOURS, dangerColor=_COLOURS, corners=enum_schema("straight", "rounded", "circular"),
        depth=enum_schema("subtle", "flat"), links=enum_schema("default", "accent"), font=_font(*_FONTS),
        headingFont=_font(*_FONTS), monospaceFont=_font(*_CODE_FONTS),
        background=enum_schema("plain", "match"),
        icons=enum_schema("regular", "solid", "duotone", "light", "thin"),
        codeTheme=object_schema("", "codeTheme", default=_CODE, openapi=_CODE),
        sidebar=object_schema(
            "", "the sidebar", background=enum_schema("default", "filled"),
            list=enum_schema("default", "pill", "line"),
        ),
        search=enum_schema("prominent", "subtle"),
    ),
    "internationalization": object_schema(
        "", "internationalization",
        locale=enum_schema("en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"),
    ),
    "favicon": object_schema("", "the favicon", icon=_IMAGES, emoji=text_schema(0, 50)),
    "header": object_schema(
        "", "the header", preset=enum_schema("default", "bold", "contrast", "custom", "none"), logo=_IMAGES,
        primaryLink=_LINK_TARGET, backgroundColor=_COLOURS, linkColor=_COLOURS,
        links=list_schema(_HEADER_LINK),
    ),
    "footer": object_schema(
        "", "the footer", logo=_IMAGES, groups=list_schema(_GROUP), copyright=text_schema(0, 512)
    ),
    "announcement": object_schema(
        "enabled message style", "the announcement", enabled=FLAG, message=text_schema(2, 128),
        localizedMessage=_LONG_IN_LANGUAGES, link=_LINK,
        style=enum_schema("info", "warning", "danger", "success"),
    ),
    "themes": object_schema("", "themes", default=enum_schema("light", "dark", "system"), toggeable=FLAG),
    "feedback": object_schema("", "feedback", enabled=FLAG),
    "ai": object_schema(
        "", "ai", mode=enum_schema("none", "search", "assistant"), greeting=text_schema(0, 256),
        localizedGreeting=_LONG_IN_LANGUAGES, suggestions=list_schema(text_schema(3, 64), 5),
        instructions=text_schema(0, 10000),
    ),
    "advancedCustomization": object_schema("", "advancedCustomization", enabled=FLAG),
    "pageActions": object_schema("", "pageActions", items=list_schema(enum_schema(*PAGE_ACTIONS))),
    "externalLinks": object_schema("", "externalLinks", target=enum_schema("self", "blank")),
    "pagination": object_schema("", "pagination", enabled=FLAG),
    "trademark": object_schema("", "trademark", enabled=FLAG),
    "privacyPolicy": object_schema("", "privacyPolicy", url=_URL),
    "socialPreview": object_schema("", "socialPreview", url=_URL),
    "insights": object_schema("", "insights", trackingCookie=FLAG),
    "socialAccounts": list_schema(
        object_schema(
            "platform handle display", "this account", platform=enum_schema(*PLATFORMS),
            handle=text_schema(1, 128),
            display=object_schema("footer header", "display", footer=FLAG, header=FLAG),
        ),
        10,
    ),
}  # fmt: skip
"""The schema of each field. Objects that every response has may be declared in part."""
_FONT_OF_THE_SITE = ("font", "headingFont", "monospaceFont")
SPACE_FIELD_SCHEMAS: dict[str, Schema] = FIELD_SCHEMAS | {
    "styling": FIELD_SCHEMAS["styling"] | {
        "properties": {
            name: part for name, part in FIELD_SCHEMAS["styling"]["properties"].items()
            if name not in _FONT_OF_THE_SITE
        },
    },
}  # fmt: skip
"""The schemas for one space of a site, which has no fonts of its own."""
CODE_THEME: dict[str, Any] = {
    name: {"light": "default-light", "dark": "default-dark"} for name in ("default", "openapi")
}
"""The code themes of a new site. The vendor's document says only that they exist."""


_OBJECT_FIELDS = (
    "styling", "internationalization", "favicon", "header", "footer", "announcement", "themes", "feedback",
    "ai", "advancedCustomization", "pageActions", "externalLinks", "pagination", "trademark",
    "privacyPolicy", "socialPreview", "insights",
)  # fmt: skip
_LOGO = ("logo.light",)
_REQUIRED_MEMBERS = {
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
DEFAULTS: dict[str, Any] = {
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


CURRENT_DEFAULTS = DEFAULTS | {"styling": DEFAULTS["styling"] | {"codeTheme": CODE_THEME}}
"""The defaults in the current API version."""


def field_types(defaults: dict[str, Any]) -> dict[str, Type]:
    """Return the type of each field. Members that are not written are not managed.

    `defaults` are the platform's values of members that are not set.
    """
    return {
        "title": Text(1, 128),
        "localizedTitle": LOCALIZED,
        **{name: _field_type(name, defaults, {"type": "object"}) for name in _OBJECT_FIELDS},
        "socialAccounts": Json(json_schema={"type": "array"}),
    }


def current_field_types(defaults: dict[str, Any], shapes: dict[str, Schema]) -> dict[str, Type]:
    """Return the type of each field in the current API version, which defines every member and word."""
    return {
        "title": Text(2, 128),
        "localizedTitle": localized_text(128),
        **{name: _field_type(name, defaults, shapes[name]) for name in _OBJECT_FIELDS},
        "socialAccounts": Json(json_schema=shapes["socialAccounts"]),
    }


def _field_type(name: str, defaults: dict[str, Any], shape: Schema) -> Json:
    """Return the type of a field with an object, of which only written members are managed."""
    return Json(
        is_partial=True, may_contain_secrets=True, secrets_are_rare=True, json_schema=shape, tag="kind",
        exclusive_members=("icon", "emoji") if name == "favicon" else (), platform_default=defaults.get(name),
        required_members=_REQUIRED_MEMBERS.get(name, ()),
    )  # fmt: skip
