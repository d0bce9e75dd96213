"""Limit the number of requests per caller in a time window that starts with the first request.

It uses real time, because clients wait in real time even if the clock of the local server is frozen.
"""

import math
import re
import time
from collections.abc import Callable

from msgspec import Struct

_UNIT_SECONDS = {"s": 1, "m": 60}
_MAX_CALLERS = 10_000


class Allowance(Struct, frozen=True):
    """The remaining requests of a caller. `seconds_left` is the time until the window ends, in seconds."""

    allowed: bool
    limit: int
    remaining: int
    seconds_left: float

    def headers(self) -> dict[str, str]:
        """Return the rate limit headers. `X-RateLimit-Reset` is a Unix time in seconds."""
        headers = {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(math.ceil(time.time() + self.seconds_left)),
        }
        if not self.allowed:
            headers["retry-after"] = str(max(1, math.ceil(self.seconds_left)))
        return headers


class RateLimit:
    """A limit of `requests` per caller in a window of `seconds`."""

    def __init__(self, requests: int, seconds: int = 1, now: Callable[[], float] = time.monotonic) -> None:
        self.requests = requests
        self.seconds = seconds
        self._now = now
        self._windows: dict[str, tuple[float, int]] = {}

    @classmethod
    def parse(cls, text: str) -> "RateLimit":
        """Parse a limit such as `20/s` or `600/m`. Raise ValueError for any other text."""
        match = re.fullmatch(r"([1-9][0-9]{0,8})/([sm])", text)
        if not match:
            raise ValueError(f"{text!r} is not a rate limit. Write a limit such as 20/s or 600/m")
        return cls(int(match[1]), _UNIT_SECONDS[match[2]])

    def consume(self, caller: str) -> Allowance:
        """Count a request of a caller, unless it exceeds the limit, and return the caller's allowance.

        The allowance says whether the request is allowed, how many requests are left, and when the window
        ends. A window begins with the first request of a caller after the last window.
        """
        now = self._now()
        window_end, used = self._windows.get(caller, (now, 0))
        if now >= window_end:
            window_end, used = now + self.seconds, 0
            if len(self._windows) >= _MAX_CALLERS:  # forget callers whose windows have ended
                self._windows = {name: window for name, window in self._windows.items() if window[0] > now}
        allowed = used < self.requests
        used += allowed
        self._windows[caller] = (window_end, used)
        return Allowance(allowed, self.requests, self.requests - used, window_end - now)

    def clear(self) -> None:
        """Forget the requests of all callers."""
        self._windows.clear()
