"""Members of JSON that GitHub has sent, an answer or an event. One without the expected form is missing."""

from __future__ import annotations

from typing import Any


def at(found: Any, *names: str) -> Any:
    """The member under these names, each inside the one before; None where there is none."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def text_at(found: Any, *names: str) -> str:
    """The text there, "" where there is none."""
    value = at(found, *names)
    return value if isinstance(value, str) else ""


def number_at(found: Any, *names: str) -> int | None:
    """The whole number there, None where there is none."""
    value = at(found, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
