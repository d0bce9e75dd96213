"""The looks of a site: what holds where nothing is set, and what a site space has in place of it.

Settings are objects in objects. What is not set is that of the layer below: a site space's settings lie over
those of its site, those of the site over the defaults. A value that has several forms is of one of them: what
the layer below has of another form is not seen.
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
    """Objects that are on both layers are merged; of everything else the upper layer's is taken, unless it
    is null.
    """
    made = {key: value for key, value in below.items() if not _of_another_form(key, below, above)}
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            made[key] = laid_over(below[key], value)
        elif value is not None:
            made[key] = value
    return made


def merged_into(kept: Json, given: Json) -> Json:
    """What was set with what is given: objects are merged, and null takes a member away, at any depth."""
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
    """Whether the upper layer's object is of a form that has no such member: a content reference of another
    kind, or the other one of an icon's two.
    """
    if "kind" in above and below.get("kind") != above["kind"]:
        return True
    return member in _ICON and any(above.get(other) is not None for other in _ICON if other != member)


_ICON = ("icon", "emoji")


def of_site(ctx: Context, site: Record) -> Json:
    kept = ctx.store.get(CUSTOMIZATION, site.id)
    return _whole(ctx, laid_over(DEFAULTS, kept.doc) if kept else DEFAULTS)


def of_place(ctx: Context, place: Record) -> Json:
    """What holds for one site space."""
    site, kept = ctx.load("site", place.scope), ctx.store.get(OVERRIDES, place.id)
    below = of_site(ctx, site) if site is not None else DEFAULTS
    return _whole(ctx, laid_over(below, kept.doc if kept else {}))


def _whole(ctx: Context, looks: Json) -> Json:
    """In today's edition there is always a theme of code, and a logo has two images: one given is both."""
    if not ctx.published:
        return looks
    made = {**looks, "styling": {"codeTheme": _CODE_THEME, **looks["styling"]}}
    for part in ("header", "footer"):
        if logo := looks[part].get("logo"):
            made[part] = {**looks[part], "logo": {"dark": logo["light"], **logo}}
    return made


def of_places(ctx: Context, nav: Navigation, below: Json) -> dict[str, Json]:
    """Of every site space what holds for it, by its id."""
    overrides = {kept.id: kept.doc for kept in ctx.store.find(OVERRIDES, scope=nav.site.id)}
    return {place.id: _whole(ctx, laid_over(below, overrides.get(place.id, {}))) for place in nav.places}
