"""Make untrusted text safe to display in the console (the web page of the local server), and mask secrets."""

import re
from typing import Any
from urllib.parse import unquote_plus

from markupsafe import Markup

MASKED = "(a secret, not shown)"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control characters, invisible characters, characters that reorder a text, and lone surrogates."""
_SECRET_NAME = re.compile(
    r"secret|token|passw|passphrase|privatekey|credential|certificate|apikey|authorization|cookie"
    r"|sharekey|^key$|^headers$"
)
_SEPARATORS = re.compile(r"[^a-z0-9]")


def escape_invisible(value: Any) -> Any:
    """Return a value as a template may print it: invisible characters as escapes, None as ""."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _INVISIBLE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", value)
    return value


def is_secret_name(name: str) -> bool:
    """Return whether a member with this name may hold a secret."""
    return bool(_SECRET_NAME.search(_SEPARATORS.sub("", name.casefold())))


def mask_secrets(value: Any, extra_name: str = "") -> Any:
    """Return a JSON value in which members that may hold a secret have a placeholder instead of their value.

    `extra_name` is the name of one more member to mask. The published URL of a share link contains its
    secret.
    """
    if isinstance(value, dict):
        extra_name = "published" if value.get("object") == "share-link" else extra_name
        return {
            name: MASKED
            if (is_secret_name(name) or name == extra_name) and inner not in (None, "", {}, [])
            else mask_secrets(inner, extra_name)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [mask_secrets(inner, extra_name) for inner in value]
    return value


def mask_query(query: str) -> str:
    """Return a query string with masked secrets."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return "&".join(
        f"{name}=…" if is_secret_name(unquote_plus(name)) else f"{name}{sign}{value}"
        for name, sign, value in pairs
    )
