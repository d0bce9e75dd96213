"""How sites look: the fields that the looks of a site and those of a space in it share."""

from typing import Any

from dpsync.kinds.shared.languages import LOCALIZED, localized
from dpsync.kinds.shared.published_looks import CODE_THEME
from dpsync.kinds.types import Json, Schema, Text, Type

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
"""What the platform asks for in a value that it is given."""
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
"""The same by the vendor's edition of today."""


def members(defaults: dict[str, Any]) -> dict[str, Type]:
    """The fields. A member that is not written is not managed; `defaults` is what null would bring back."""
    return {
        "title": Text(1, 128),
        "localizedTitle": LOCALIZED,
        **{name: _looks(name, defaults, {"type": "object"}) for name in _OBJECTS},
        "socialAccounts": Json(shape={"type": "array"}),
    }


def members_today(defaults: dict[str, Any], shapes: dict[str, Schema]) -> dict[str, Type]:
    """The same fields by the vendor's edition of today, which knows every member and word of them."""
    return {
        "title": Text(2, 128),
        "localizedTitle": localized(128),
        **{name: _looks(name, defaults, shapes[name]) for name in _OBJECTS},
        "socialAccounts": Json(shape=shapes["socialAccounts"]),
    }


def _looks(name: str, defaults: dict[str, Any], shape: Schema) -> Json:
    return Json(
        partial=True, secrets=True, rarely=True, shape=shape, tag="kind",
        exclusive=("icon", "emoji") if name == "favicon" else (), platform_default=defaults.get(name),
        needed=_NEEDED.get(name, ()),
    )  # fmt: skip
