"""Keep a client below the rate limit that the platform announces, so that it gets no 429.

A response names the number of requests left and the end of the window (`X-RateLimit-Remaining`,
`X-RateLimit-Reset`). A `RateLimiter` sends only this number, including the requests in flight; further
requests wait for the end of the window. Before the first response, only one request is sent. A configured
rate spreads requests evenly instead. If the platform announces no limit, requests do not wait here, and
`retry.py` handles a 429.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, Protocol

from dpsync.client.observer import Observer
from dpsync.client.responses import requested_wait, whole_number

_POLL_SECONDS: Final = 0.05
"""The seconds between two checks for a cancel, while a request waits for the response to another one."""
_SAME_WINDOW_SECONDS: Final = 1.0
"""The seconds by which two responses may differ about the end of a window: headers have whole seconds."""


class TimeSource(Protocol):
    """The part of a clock that `RateLimiter` uses."""

    def now(self) -> float: ...

    def wall(self) -> float: ...

    def wait(self, seconds: float, cancelled: threading.Event) -> None: ...


class RateLimiter:
    """Lets requests wait, so that a client stays below the rate limit. All threads of a client share it.

    Each thread calls `wait_for_turn` before a request and `finish_request` after it. `rate` is the configured
    number of requests per second. A wait of more than `longest_wait` seconds is not started: the request is
    sent, and the platform may respond with a 429.
    """

    def __init__(
        self, clock: TimeSource, cancelled: threading.Event, observer: Observer, longest_wait: float,
        rate: float | None = None,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._cancelled = cancelled
        self._observer = observer
        self._longest_wait = longest_wait
        self._interval = 1 / rate if rate else None
        self._queue_lock = threading.Lock()
        self._state_changed = threading.Condition()
        self._next_at = clock.now()
        """When the next request may be sent, by the configured rate."""
        self._has_response = False
        self._in_flight = 0
        self._limit: int | None = None
        self._requests_left: int | None = None
        """The number of requests left in the window, by the responses so far."""
        self._window_end: float | None = None

    def wait_for_turn(self) -> None:
        """Return when a request may be sent, or after a cancel.

        Threads pass one after the other. The caller must call `finish_request` later.
        """
        with self._queue_lock:
            while not self._cancelled.is_set():
                with self._state_changed:
                    seconds = self._seconds_to_wait()
                    if seconds is None:
                        self._state_changed.wait(_POLL_SECONDS)
                        continue
                    if seconds <= 0 or seconds > self._longest_wait:
                        self._in_flight += 1
                        if self._interval is not None:
                            self._next_at = max(self._next_at, self._clock.now()) + self._interval
                        return
                self._observer.note_wait("pace", seconds)
                self._clock.wait(seconds, self._cancelled)
            with self._state_changed:
                self._in_flight += 1

    def _seconds_to_wait(self) -> float | None:
        """Return the seconds until a request may be sent; None to wait until another request is answered.

        A request waits for the first response, which announces the limit, and while the requests in flight
        may use up the rest of the limit. When nothing is left, it waits for the end of the window.
        """
        now = self._clock.now()
        if self._window_end is not None and now >= self._window_end:
            self._requests_left, self._window_end = self._limit, None
        if not self._has_response and self._in_flight:
            return None
        if self._requests_left is not None and self._requests_left <= self._in_flight:
            if self._in_flight:
                return None
            if self._window_end is not None:
                return self._window_end - now
        return self._next_at - now

    def finish_request(self, headers: Mapping[str, str] | None) -> None:
        """Count a finished request, with its response headers; None without a response."""
        with self._state_changed:
            self._in_flight -= 1
            self._has_response = True
            if headers is not None:
                self._update_limit(headers)
            self._state_changed.notify_all()

    def _update_limit(self, headers: Mapping[str, str]) -> None:
        """Update the number of requests left and the end of the window from response headers.

        Responses of one window may come in any order, so the smallest number counts.
        """
        requests_left = whole_number(headers.get("x-ratelimit-remaining", ""))
        without_retry_after = {name: value for name, value in headers.items() if name != "retry-after"}
        seconds = requested_wait(without_retry_after, self._clock.wall)
        if (
            requests_left is None
            or seconds is None
            or "x-ratelimit-reset" not in headers
            or self._interval is not None
        ):
            return
        window_end = self._clock.now() + seconds
        self._limit = whole_number(headers.get("x-ratelimit-limit", "")) or self._limit
        if (
            self._window_end is not None
            and self._requests_left is not None
            and window_end < self._window_end + _SAME_WINDOW_SECONDS
        ):
            self._requests_left, self._window_end = (
                min(self._requests_left, requests_left),
                min(self._window_end, window_end),
            )
        else:
            self._requests_left, self._window_end = requests_left, window_end
