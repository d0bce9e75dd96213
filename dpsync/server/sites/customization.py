"""The customization of a site: defaults, settings of the site, and overrides of a site space.

Settings are nested objects. An unset setting has the value of the layer below: overrides of a site space come
first, then settings of the site, then defaults. If a value has several forms, members of another form in the
layer below are ignored.
"""

from ..request.context import Context
from ..store import Json, Record
from .navigation import OVERRIDES, Navigation
from .publishing import CUSTOMIZATION


def _shades(both: str) -> Json:
    return {"light": both, "dark": both}


_CODE = {"light": "default-light", "dark": "default-dark"}
_CODE_THEME = {"default": _CODE, "openapi": _CODE}
"""What only today's edition always has."""


DEFAULTS: Json = {
    "styling": {
        "theme": "clean",
        "primaryColor": _shades("#346DDB"),
        "infoColor": _shades("#787878"),
        "successColor": _shades("#00C950"),
        "warningColor": _shades("#FE9A00"),
        "dangerColor": _shades("#FB2C36"),
        "corners": "rounded",
        "depth": "subtle",
        "links": "default",
        "font": "Inter",
        "monospaceFont": "IBMPlexMono",
        "background": "plain",
        "icons": "regular",
        "sidebar": {"background": "default", "list": "default"},
        "search": "subtle",
    },
    "internationalization": {"locale": "en"},
    "favicon": {},
    "header": {"preset": "default", "links": []},
    "footer": {"groups": []},
    "themes": {"default": "light", "toggeable": True},
    "feedback": {"enabled": False},
    "ai": {"mode": "none"},
    "advancedCustomization": {"enabled": True},
    "pageActions": {"items": []},
    "externalLinks": {"target": "self"},
    "pagination": {"enabled": True},
    "trademark": {"enabled": True},
    "privacyPolicy": {},
    "socialPreview": {},
    "socialAccounts": [],
    "insights": {"trackingCookie": True},
}


def laid_over(below: Json, above: Json) -> Json:
    """Return two layers of settings as one. Objects are merged recursively.

    Any other value comes from `above`, unless it is null or missing there.
    """
    made = {key: value for key, value in below.items() if not _of_another_form(key, below, above)}
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            made[key] = laid_over(below[key], value)
        elif value is not None:
            made[key] = value
    return made


def merged_into(kept: Json, given: Json) -> Json:
    """Return the settings after an update. Objects are merged recursively, and null removes a member."""
    made = {key: value for key, value in kept.items() if not _of_another_form(key, kept, given)}
    for key, value in given.items():
        if isinstance(value, dict):
            below = made.get(key)
            made[key] = merged_into(below if isinstance(below, dict) else {}, value)
        elif value is None:
            made.pop(key, None)
        else:
            made[key] = value
    return made


def _of_another_form(member: str, below: Json, above: Json) -> bool:
    """Return whether a member of `below` belongs to another form than the object `above`.

    Another form is a content reference of another kind, or the emoji instead of the icon.
    """
    if "kind" in above and below.get("kind") != above["kind"]:
        return True
    return member in _ICON and any(above.get(other) is not None for other in _ICON if other != member)


_ICON = ("icon", "emoji")


def of_site(ctx: Context, site: Record) -> Json:
    kept = ctx.store.get(CUSTOMIZATION, site.id)
    return _whole(ctx, laid_over(DEFAULTS, kept.doc) if kept else DEFAULTS)


def of_place(ctx: Context, place: Record) -> Json:
    """Return the effective customization of one site space."""
    site, kept = ctx.load("site", place.scope), ctx.store.get(OVERRIDES, place.id)
    below = of_site(ctx, site) if site is not None else DEFAULTS
    return _whole(ctx, laid_over(below, kept.doc if kept else {}))


def _whole(ctx: Context, looks: Json) -> Json:
    """Complete the settings for the `published` edition: a code theme, and a dark image for each logo."""
    if not ctx.published:
        return looks
    made = {**looks, "styling": {"codeTheme": _CODE_THEME, **looks["styling"]}}
    for part in ("header", "footer"):
        if logo := looks[part].get("logo"):
            made[part] = {**looks[part], "logo": {"dark": logo["light"], **logo}}
    return made


def of_places(ctx: Context, nav: Navigation, below: Json) -> dict[str, Json]:
    """Return the effective customization of every site space, by id."""
    overrides = {kept.id: kept.doc for kept in ctx.store.find(OVERRIDES, scope=nav.site.id)}
    return {place.id: _whole(ctx, laid_over(below, overrides.get(place.id, {}))) for place in nav.places}
