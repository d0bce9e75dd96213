"""Show progress on stderr: requests read so far, waits, and steps done.

On a terminal, one line is rewritten and removed at the end; elsewhere a line is printed now and then.
`Progress` counts what a client and an apply report, and knows when output is due; a thread calls `tick`.
Everything else that is written to the terminal must be written inside `paused`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from dpsync.model.text import format_count

if TYPE_CHECKING:
    from dpsync.client.observer import WaitReason


READING: Final = "Reading GitBook"
"""The activity that takes longest in most commands."""
FIRST_OUTPUT_SECONDS: Final = 1.5
"""The number of seconds before the first output. Most commands are faster."""
LINE_INTERVAL_SECONDS: Final = 10.0
"""The number of seconds between two lines if no line can be rewritten."""
LONG_READ_SECONDS: Final = 10.0
"""The expected number of seconds of reading from which the duration is announced."""
_TICK_SECONDS: Final = 0.25
_COLUMNS: Final = 80
_WAIT_REASONS: Final[dict[WaitReason, str]] = {
    "rate limit": "GitBook demands a pause",
    "pace": "dpsync waits, to stay below the rate limit",
    "retry": "trying again",
    "platform at work": "GitBook is still processing",
}


class Screen(Protocol):
    """What shows the progress, such as the terminal, or a list in a test."""

    def columns(self) -> int | None:
        """Return the width; None if no line can be rewritten."""

    def write(self, text: str) -> None:
        """Write a text unchanged. After an OSError or ValueError, nothing more is written."""


class Stream:
    """A text stream, such as stderr, that shows the progress."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def columns(self) -> int | None:
        """Return the width of the terminal; None if the stream is no terminal that can rewrite a line."""
        if not self._stream.isatty() or os.environ.get("TERM") == "dumb":
            return None
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _COLUMNS
        except (OSError, ValueError):
            return _COLUMNS

    def write(self, text: str) -> None:
        """Write a text unchanged, and flush the stream."""
        self._stream.write(text)
        self._stream.flush()


class Progress:
    """Show the progress of a command on a screen. It observes clients, and all threads may share it.

    Nothing is shown without a screen, or outside of `show_during`.
    """

    def __init__(self, screen: Screen | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Begin without an activity. `now` is the clock in seconds."""
        self._screen = screen
        self._now = now
        self._lock = threading.RLock()
        self._activity: str | None
        self._waits: tuple[WaitReason, float] | None
        self._visible = False
        self._begin(None, 0)

    def expect_reads(self, requests: int) -> None:
        """Announce how many requests are still needed to read the platform, if they take long.

        The estimate uses the average time of the requests so far, so nothing is announced before the first
        one.
        """
        with self._lock:
            if self._activity is None or self._screen is None or not self._read:
                return
            seconds = requests * (self._now() - self._began) / self._read
            if seconds >= LONG_READ_SECONDS:
                with self.paused():
                    request_text, duration = (
                        format_count(requests, "more request"),
                        _approximate_duration(seconds),
                    )
                    self._write(f"{self._activity}: at least {request_text}, which take {duration}\n")

    def start_batch(self, requests: int) -> None:
        """Note that this number of requests follows."""
        with self._lock:
            self._left = requests

    def add_reads(self, requests: int) -> None:
        """Change the number of requests that follow by `requests`, which may be negative."""
        with self._lock:
            self._left = max(0, self._left + requests)

    def count_response(self, method: str) -> None:
        """Count a response to a request that reads the platform."""
        if method == "GET":
            with self._lock:
                self._read += 1
                self._left = max(0, self._left - 1)

    def note_wait(self, reason: WaitReason, seconds: float) -> None:
        """Note that a client waits, and why. Of several waits, the one that ends last is shown."""
        with self._lock:
            until = self._now() + seconds
            if self._waits is None or until > self._waits[1]:
                self._waits = reason, until

    def step(self, name: str = "") -> None:
        """Count a finished step. `name` is shown until the next step."""
        with self._lock:
            self._done += 1
            self._step = name

    @property
    def rewrites_line(self) -> bool:
        """Whether the progress is one line that is rewritten, as on a terminal."""
        return self._screen is not None and self._screen.columns() is not None

    @contextmanager
    def show_during(self, activity: str, steps: int = 0) -> Iterator[None]:
        """Show the progress of an activity during the block. `steps` is the number of steps of an apply."""
        if self._screen is None:
            yield
            return
        finished = threading.Event()
        with self._lock:
            self._begin(activity, steps)

        def tick_until_finished() -> None:
            while not finished.wait(_TICK_SECONDS):
                self.tick()

        thread = threading.Thread(target=tick_until_finished, daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()
            with self.paused():
                self._activity = None

    def _begin(self, activity: str | None, steps: int) -> None:
        """Reset all counters for a new activity; None for no activity."""
        self._activity, self._steps = activity, steps
        self._began = self._shown_at = self._now()
        self._due = 0.0 if steps and self.rewrites_line else FIRST_OUTPUT_SECONDS
        self._read = self._left = self._done = 0
        self._step = ""
        self._waits = None

    def tick(self) -> None:
        """Show the progress now if that is due: rewrite the line of a terminal, or print a line elsewhere."""
        with self._lock:
            if self._activity is None or self._screen is None:
                return
            now, columns = self._now(), self._screen.columns()
            if now - self._shown_at < self._due:
                return
            if columns is None:
                self._shown_at, self._due = now, LINE_INTERVAL_SECONDS
                self._write(f"{self.line()}\n")
            else:
                self._due, self._visible = 0.0, True
                line, width = self.line(), columns - 1
                shown = line if len(line) <= width else f"{line[: max(0, width - 1)]}…"
                self._write(f"\r{shown}\x1b[K")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the progress line while something else is written. The next tick shows it again."""
        with self._lock:
            if self._visible:
                self._visible = False
                self._write("\r\x1b[K")
            yield

    def line(self) -> str:
        """Return the progress in one line, such as `Reading: read 3 of 12 requests`."""
        with self._lock:
            read = f"read {self._read} of {format_count(self._read + self._left, 'request')}"
            if not self._left:
                read = f"read {format_count(self._read, 'request')}"
            if not self._steps:
                return f"{self._activity}: {read}{self._waiting_text()}"
            current = self._step or self._activity
            progress = current if self._done < self._steps else f"reading back: {read}"
            return f"[{self._done}/{self._steps}] {progress}{self._waiting_text()}"

    def _waiting_text(self) -> str:
        """Return why a client waits and for how long, in brackets; "" if no client waits."""
        if self._waits is None:
            return ""
        reason, end = self._waits
        seconds_left = end - self._now()
        if seconds_left <= 0:
            return ""
        return f" ({_WAIT_REASONS[reason]}, {max(1, round(seconds_left))} s)"

    def _write(self, text: str) -> None:
        """Write to the screen. After an error, nothing more is shown."""
        try:
            if self._screen is not None:
                self._screen.write(text)
        except (OSError, ValueError):
            self._screen = None  # nobody is there any more: that is no reason to stop


def _approximate_duration(seconds: float) -> str:
    """Return an estimated duration in whole seconds, minutes or hours, such as "about 3 min"."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"about {round(seconds / length)} {unit}"
    return f"about {round(seconds)} s"


def progress_on_stderr(quiet: bool, verbose: int) -> Progress:
    """Return the progress of a command on stderr; nothing is shown with -q, with -vv, or without stderr."""
    if quiet or verbose > 1 or sys.stderr is None:
        return Progress()
    with suppress(OSError, ValueError):
        sys.stderr.fileno()
        return Progress(Stream(sys.stderr))
    return Progress()
