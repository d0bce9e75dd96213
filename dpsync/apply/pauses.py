"""How long to wait between two looks at what the platform does in its own time."""

from __future__ import annotations

from collections.abc import Iterator


def growing(first: float, longest: float, together: float) -> Iterator[float]:
    """Pauses in seconds, each twice the one before it and none over `longest`.

    They end with the one that makes them at least as long as `together`.
    """
    pause, left = first, together
    while left > 0:
        yield pause
        left -= pause
        pause = min(pause * 2, longest)
