"""Configurations of installations, held against what their integration declares.

What is declared is `{properties, required}` for each of account, space and site, or a component of the
integration that asks for it; then nothing is known of what it holds.
"""

from typing import Any

from ..errors import bad

Json = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


def check(configuration: Json, declared: Json, field: str) -> None:
    """400 for a value of another type, or none of the enumeration. What is not declared is kept unread."""
    for name, setting in (declared.get("properties") or {}).items():
        value, kind = configuration.get(name), setting.get("type", "string")
        if value is None or kind not in _TYPES:
            continue
        if not isinstance(value, _TYPES[kind]) or (kind == "number" and isinstance(value, bool)):
            raise bad(f"{field}.{name}: a {kind} is needed")
        if kind == "string" and setting.get("enum") and value not in setting["enum"]:
            raise bad(f"{field}.{name}: one of {', '.join(setting['enum'])} is needed")


def complete(configuration: Json, declared: Json) -> bool:
    """Whether each required setting has a value, or a default."""
    settings = declared.get("properties") or {}
    return all(
        configuration.get(name) not in (None, "") or "default" in settings.get(name, {})
        for name in declared.get("required") or []
    )
