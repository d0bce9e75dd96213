"""Names that are free: the wanted one, or the first one numbered after it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count


def first_free(wanted: str, is_taken: Callable[[str], bool], joint: str = "-") -> str:
    """The wanted name, or the first of `news-2`, `news-3` and so on that nothing has."""
    numbered = (f"{wanted}{joint}{number}" for number in count(2))
    return next(name for name in numbered if not is_taken(name)) if is_taken(wanted) else wanted
