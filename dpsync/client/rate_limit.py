"""Keeps a client under the rate that the platform announces, so that it is never told to slow down.

An answer says how many requests are left and until when (`X-RateLimit-Remaining`, `X-RateLimit-Reset`). Only
so many are sent, those in flight counted, and the others wait for that moment. Until the first answer is
there, one request goes alone. A rate that somebody has configured spreads requests evenly instead. A platform
that announces nothing is not waited for: then a 429 says it (retry.py).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, Protocol

from dpsync.client.observer import Observer
from dpsync.client.responses import asked_wait, whole_number

_LOOK: Final = 0.05
"""Seconds after which a request that waits for the answer of another one looks whether it was cancelled."""
_SAME: Final = 1.0
"""Seconds by which two answers may tell one moment differently: headers have whole seconds."""


class TellsTime(Protocol):
    def now(self) -> float: ...

    def wall(self) -> float: ...

    def wait(self, seconds: float, cancelled: threading.Event) -> None: ...


class Pace:
    """What is known of the rate. Threads share it: each calls `enter` before a request, `leave` after it.

    `rate` is what was configured, in requests for each second. A wait of more than `longest` seconds is not
    begun: the platform may answer then with a 429 of its own.
    """

    def __init__(
        self, clock: TellsTime, cancelled: threading.Event, observer: Observer, longest: float,
        rate: float | None = None,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._cancelled = cancelled
        self._observer = observer
        self._longest = longest
        self._every = 1 / rate if rate else None
        self._turnstile = threading.Lock()
        self._changed = threading.Condition()
        self._next = clock.now()
        """When the next request may go, by the configured rate."""
        self._answered = False
        self._in_flight = 0
        self._limit: int | None = None
        self._left: int | None = None
        """How many requests the window has left, as far as answers have said."""
        self._ends: float | None = None

    def enter(self) -> None:
        """Return when a request may be sent, or after a cancel. Threads pass one after the other."""
        with self._turnstile:
            while not self._cancelled.is_set():
                with self._changed:
                    seconds = self._seconds()
                    if seconds is None:
                        self._changed.wait(_LOOK)
                        continue
                    if seconds <= 0 or seconds > self._longest:
                        self._in_flight += 1
                        if self._every is not None:
                            self._next = max(self._next, self._clock.now()) + self._every
                        return
                self._observer.waits("pace", seconds)
                self._clock.wait(seconds, self._cancelled)
            with self._changed:
                self._in_flight += 1

    def _seconds(self) -> float | None:
        """How long until a request may be sent; None: until another one was answered."""
        now = self._clock.now()
        if self._ends is not None and now >= self._ends:
            self._left, self._ends = self._limit, None
        if not self._answered and self._in_flight:
            return None
        if self._left is not None and self._left <= self._in_flight:
            if self._in_flight:
                return None
            if self._ends is not None:
                return self._ends - now
        return self._next - now

    def leave(self, headers: Mapping[str, str] | None) -> None:
        """A request has ended: with these headers, or with None without an answer."""
        with self._changed:
            self._in_flight -= 1
            self._answered = True
            if headers is not None:
                self._heard(headers)
            self._changed.notify_all()

    def _heard(self, headers: Mapping[str, str]) -> None:
        left = whole_number(headers.get("x-ratelimit-remaining", ""))
        bare = {name: value for name, value in headers.items() if name != "retry-after"}
        seconds = asked_wait(bare, self._clock.wall)
        if left is None or seconds is None or "x-ratelimit-reset" not in headers or self._every is not None:
            return
        ends = self._clock.now() + seconds
        self._limit = whole_number(headers.get("x-ratelimit-limit", "")) or self._limit
        if self._ends is not None and self._left is not None and ends < self._ends + _SAME:
            self._left, self._ends = min(self._left, left), min(self._ends, ends)
        else:
            self._left, self._ends = left, ends
