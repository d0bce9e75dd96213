"""A rate limit: so many requests of one caller in a window that opens with the first of them.

It counts in real time, since that is what a client waits in, whatever the clock of the companion says.
"""

import math
import re
import time
from collections.abc import Callable

from msgspec import Struct

_SECONDS = {"s": 1, "m": 60}
_MOST_CALLERS = 10_000


class Allowance(Struct, frozen=True):
    """What is left to a caller. `left`: seconds until the window ends."""

    allowed: bool
    limit: int
    remaining: int
    left: float

    def headers(self) -> dict[str, str]:
        """`X-RateLimit-Reset` is a moment, in seconds since 1970."""
        found = {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(math.ceil(time.time() + self.left)),
        }
        if not self.allowed:
            found["retry-after"] = str(max(1, math.ceil(self.left)))
        return found


class RateLimit:
    """`requests` in a window of `seconds`, for each caller."""

    def __init__(self, requests: int, seconds: int = 1, now: Callable[[], float] = time.monotonic) -> None:
        self.requests = requests
        self.seconds = seconds
        self._now = now
        self._windows: dict[str, tuple[float, int]] = {}

    @classmethod
    def parse(cls, text: str) -> "RateLimit":
        """`20/s`, `600/m`. ValueError: anything else."""
        found = re.fullmatch(r"([1-9][0-9]{0,8})/([sm])", text)
        if not found:
            raise ValueError(f"{text!r} is not a rate limit. Write a limit such as 20/s or 600/m")
        return cls(int(found[1]), _SECONDS[found[2]])

    def take(self, caller: str) -> Allowance:
        now = self._now()
        ends, used = self._windows.get(caller, (now, 0))
        if now >= ends:
            ends, used = now + self.seconds, 0
            self._forget(now)
        allowed = used < self.requests
        used += allowed
        self._windows[caller] = (ends, used)
        return Allowance(allowed, self.requests, self.requests - used, ends - now)

    def clear(self) -> None:
        self._windows.clear()

    def _forget(self, now: float) -> None:
        """Windows that are over, once there are many."""
        if len(self._windows) >= _MOST_CALLERS:
            self._windows = {name: kept for name, kept in self._windows.items() if kept[0] > now}
