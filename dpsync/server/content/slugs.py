"""Paths and basenames that the service picks itself: a slug of a title, made unique among those taken."""

import re
import unicodedata
from collections.abc import Container

LONGEST = 100


def slug(title: str, fallback: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST].strip("-") or fallback


def unique_slug(title: str, taken: Container[str], fallback: str) -> str:
    """`guides`, then `guides-2`, `guides-3`… never longer than a path may be."""
    base = slug(title, fallback)
    candidate, number = base, 1
    while candidate in taken:
        number += 1
        suffix = f"-{number}"
        candidate = base[: LONGEST - len(suffix)] + suffix
    return candidate
