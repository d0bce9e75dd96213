"""How a site looks. Writing replaces everything, so what is not declared is sent again as it is."""

from typing import Any

from dpsync.kinds.base import Field, Kind, One, Put, Single
from dpsync.kinds.languages import LOCALIZED
from dpsync.kinds.types import Json, Text, Type

# A member that is not written is not managed.
_OBJECT = Json(partial=True, secrets=True, rarely=True, shape={"type": "object"})
_LIST = Json(shape={"type": "array"})
MEMBERS: dict[str, Type] = {
    "title": Text(1, 128),
    "localizedTitle": LOCALIZED,
    **dict.fromkeys((
        "styling", "internationalization", "favicon", "header", "footer", "announcement", "themes",
        "feedback", "ai", "advancedCustomization", "pageActions", "externalLinks", "pagination", "trademark",
        "privacyPolicy", "socialPreview", "insights",
    ), _OBJECT),
    "socialAccounts": _LIST,
}  # fmt: skip
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
CUSTOMIZATION = Kind(
    name="customization",
    parent="site",
    key="customization",
    shape=Single(always=True),
    at="{parent}/customization",
    read=One(),
    update=Put("{self}", whole=True, repeat="safe"),
    fields=tuple(
        Field(name, type, on="update", platform_default=USUAL.get(name), raised="linked")
        for name, type in MEMBERS.items()
    ),
)
