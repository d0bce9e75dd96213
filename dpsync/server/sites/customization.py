"""Compute the customization (look) of a site: defaults, settings of the site, and overrides of a site space.

Settings are nested objects. An unset setting has the value of the layer below: overrides of a site space come
first, then settings of the site, then defaults. If a value has several forms, members of another form in the
layer below are ignored.
"""

from ..request.context import Context
from ..store import Json, Record
from .navigation import SITE_SPACE_CUSTOMIZATION, Navigation
from .publishing import CUSTOMIZATION


def _light_and_dark(both: str) -> Json:
    """Return a setting with the same value for light and dark mode."""
    return {"light": both, "dark": both}


_CODE_COLORS = {"light": "default-light", "dark": "default-dark"}
_CODE_THEME = {"default": _CODE_COLORS, "openapi": _CODE_COLORS}
"""The code theme that only the profile `published` returns."""


DEFAULTS: Json = {
    "styling": {
        "theme": "clean",
        "primaryColor": _light_and_dark("#346DDB"),
        "infoColor": _light_and_dark("#787878"),
        "successColor": _light_and_dark("#00C950"),
        "warningColor": _light_and_dark("#FE9A00"),
        "dangerColor": _light_and_dark("#FB2C36"),
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


def overlay_settings(base: Json, override: Json) -> Json:
    """Return two layers of settings as one. Objects are merged recursively.

    Any other value comes from `override`, unless it is null or missing there.
    """
    merged = {key: value for key, value in base.items() if not _is_replaced(key, base, override)}
    for key, value in override.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merged[key] = overlay_settings(base[key], value)
        elif value is not None:
            merged[key] = value
    return merged


def patch_settings(saved: Json, patch: Json) -> Json:
    """Return the settings after an update. Objects are merged recursively, and null removes a member."""
    patched = {key: value for key, value in saved.items() if not _is_replaced(key, saved, patch)}
    for key, value in patch.items():
        if isinstance(value, dict):
            current = patched.get(key)
            patched[key] = patch_settings(current if isinstance(current, dict) else {}, value)
        elif value is None:
            patched.pop(key, None)
        else:
            patched[key] = value
    return patched


def _is_replaced(member: str, base: Json, override: Json) -> bool:
    """Return whether a member of `base` belongs to another form than the object `override`.

    Another form is a content reference of another kind, or the emoji instead of the icon.
    """
    if "kind" in override and base.get("kind") != override["kind"]:
        return True
    return member in _ICON_FIELDS and any(
        override.get(other) is not None for other in _ICON_FIELDS if other != member
    )


_ICON_FIELDS = ("icon", "emoji")


def site_customization(ctx: Context, site: Record) -> Json:
    """Return the effective customization of a site."""
    record = ctx.store.get(CUSTOMIZATION, site.id)
    return _complete_settings(ctx, overlay_settings(DEFAULTS, record.doc) if record else DEFAULTS)


def site_space_customization(ctx: Context, site_space: Record) -> Json:
    """Return the effective customization of one site space."""
    site, overrides = (
        ctx.load("site", site_space.scope),
        ctx.store.get(SITE_SPACE_CUSTOMIZATION, site_space.id),
    )
    site_settings = site_customization(ctx, site) if site is not None else DEFAULTS
    return _complete_settings(ctx, overlay_settings(site_settings, overrides.doc if overrides else {}))


def _complete_settings(ctx: Context, settings: Json) -> Json:
    """Complete the settings for the API version `published`: a code theme, and a dark image for each logo."""
    if not ctx.is_published_profile:
        return settings
    completed = {**settings, "styling": {"codeTheme": _CODE_THEME, **settings["styling"]}}
    for part in ("header", "footer"):
        if logo := settings[part].get("logo"):
            completed[part] = {**settings[part], "logo": {"dark": logo["light"], **logo}}
    return completed


def site_space_customizations(ctx: Context, nav: Navigation, base: Json) -> dict[str, Json]:
    """Return the effective customization of every site space, by id."""
    overrides = {
        record.id: record.doc for record in ctx.store.find(SITE_SPACE_CUSTOMIZATION, scope=nav.site.id)
    }
    return {
        site_space.id: _complete_settings(ctx, overlay_settings(base, overrides.get(site_space.id, {})))
        for site_space in nav.site_spaces
    }
