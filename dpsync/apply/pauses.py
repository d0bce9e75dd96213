"""How long to wait between two looks at what the platform does in its own time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_LONGEST_WAIT: Final = 60.0


def growing(first: float, longest: float, together: float) -> Iterator[float]:
    """Pauses in seconds, each twice the one before it and none over `longest`.

    They end with the one that makes them at least as long as `together`.
    """
    pause, left = first, together
    while left > 0:
        yield pause
        left -= pause
        pause = min(pause * 2, longest)


def platform_work_pauses() -> Iterator[float]:
    """Yield growing pauses, a minute in all, to wait until the platform has created or processed a value."""
    return growing(_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_WAIT)
