"""Numbers and names in messages: the one place that knows "1 entry" from "2 entries"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FEW: Final = 3
"""Things that a sentence names; it counts the others."""


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 entry`, `2 entries`, `0 integrations on a space`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of an English noun. Of `section of a site` it is the first part that changes."""
    head, *rest = re.split(r"(?= on | of )", noun, maxsplit=1)
    regular = f"{head[:-1]}ies" if re.search(r"[^aeiou]y$", head) else f"{head}s"
    return "".join([regular, *rest])


def are(number: int) -> str:
    """The verb behind a number: `1 is`, `2 are`."""
    return "is" if number == 1 else "are"


def allowed(least: int, most: int | None, noun: str) -> str:
    """Return the limits of a number: `2 to 5 keys are allowed`, `at least 1 key is required`."""
    if most is None:
        return f"at least {counted(least, noun)} {are(least)} required"
    if least == most:
        return f"exactly {counted(most, noun)} {are(most)} required"
    limits = counted(most, noun)
    return f"{least} to {limits} are allowed" if least else f"at most {limits} {are(most)} allowed"


def short_commit(commit: str) -> str:
    """A commit as people know it: the first twelve digits of its name."""
    return commit[:12]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`."""
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def one_or_other(names: Sequence[str]) -> str:
    """Return alternatives in a sentence: `a`, `a or b`, `a, b or c`; empty without names."""
    *some, last = names or [""]
    return f"{', '.join(some)} or {last}" if some else last


def some(names: Sequence[str], most: int = FEW) -> str:
    """The first few names of a list, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
