"""Make the paths and basenames that the server chooses: a slug of a title, made unique among its siblings.

Input: a title and the slugs in use. Output: a text of lower-case words joined with "-".
"""

import re
import unicodedata
from collections.abc import Container

MAX_LENGTH = 100


def make_slug(title: str, fallback: str) -> str:
    """Return a title in lower-case ASCII letters, digits and hyphens, or `fallback` if none are left."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:MAX_LENGTH].strip("-") or fallback


def unique_slug(title: str, taken: Container[str], fallback: str) -> str:
    """Return a slug such as `guides`, `guides-2` or `guides-3` that is not taken and not too long."""
    base = make_slug(title, fallback)
    candidate, number = base, 1
    while candidate in taken:
        number += 1
        suffix = f"-{number}"
        candidate = base[: MAX_LENGTH - len(suffix)] + suffix
    return candidate
