"""Handle SIGINT and SIGTERM, for work that may be interrupted and for work that may not.

A handler runs between any two steps of the program, even while a lock is held. So a handler here only records
the signal, or interrupts the main thread; whatever needs a lock is done by another thread.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from types import FrameType
from typing import Final

from msgspec import Struct, field

from dpsync.model.diagnostic import Exit

END_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
"""The signals that ask a program to end."""
Handler = Callable[[int, FrameType | None], None]


class EndedBySignal(KeyboardInterrupt):
    """The error that ends a command at SIGINT or SIGTERM. `code` is its exit code."""

    def __init__(self, number: int) -> None:
        self.code = exit_code_of_signal(number)
        super().__init__(number)


def exit_code_of_signal(number: int) -> Exit:
    """Return the exit code of a program that a signal ended."""
    return Exit.TERMINATED if number == signal.SIGTERM else Exit.INTERRUPTED


@contextmanager
def handle_signals(handler: Handler) -> Iterator[None]:
    """Use a handler for SIGINT and SIGTERM during the block."""
    previous_handlers = {number: signal.signal(number, handler) for number in END_SIGNALS}
    try:
        yield
    finally:
        for number, previous_handler in previous_handlers.items():
            signal.signal(number, previous_handler)


@contextmanager
def count_signals(react: Callable[[int], None]) -> Iterator[list[int]]:
    """Count SIGINT and SIGTERM during the block instead of ending the program. Yield the list of signals.

    Args:
        react: Called in a thread at each signal, with the number of signals so far.
    """
    received: list[int] = []
    counts: SimpleQueue[int] = SimpleQueue()  # putting something in is safe in a handler

    def handle(number: int, _: FrameType | None) -> None:
        received.append(number)
        counts.put(len(received))

    def watch() -> None:
        while count := counts.get():
            react(count)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with handle_signals(handle):
            yield received
    finally:
        counts.put(0)
        watcher.join()


class SignalRecorder(Struct):
    """Decide whether a signal ends a run of several parts at once.

    A signal ends a part that may be dropped, and is only recorded in any other part. After a recorded
    signal, no further part begins (`raise_if_signaled`). A second signal ends every part but the last.
    """

    received: list[int] = field(default_factory=list)
    may_have_changed: bool = False
    """Whether a part began that may have changed something."""
    _is_interruptible: bool = False
    _is_last_part: bool = False

    def handle(self, number: int, _: FrameType | None) -> None:
        """Record a signal, and raise EndedBySignal if the current part may be ended."""
        self.received.append(number)
        if not self._is_last_part and (self._is_interruptible or len(self.received) > 1):
            raise EndedBySignal(number)

    def raise_if_signaled(self) -> None:
        """Raise EndedBySignal if a signal was recorded.

        Called right before a part that may change something.
        """
        if self.received:
            raise EndedBySignal(self.received[0])
        self.may_have_changed = True

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Run a part that the first signal ends."""
        self._is_interruptible = True
        try:
            yield
        finally:
            self._is_interruptible = False

    def begin_last_part(self) -> None:
        """Begin the last part, which is short and is never interrupted."""
        self._is_last_part = True
