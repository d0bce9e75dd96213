"""What SIGINT and SIGTERM do: two ways to take them, for work that may be dropped and for work that may not.

A handler runs between any two steps of the program, also where a lock is held. So one of ours only notes the
signal, or ends what the main thread is doing; whatever needs a lock is done by a thread.
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

ENDING: Final = (signal.SIGINT, signal.SIGTERM)
"""What asks a program to end."""
Handler = Callable[[int, FrameType | None], None]


class Ended(KeyboardInterrupt):
    """A signal has ended what was being done."""

    def __init__(self, number: int) -> None:
        self.code = ending(number)
        super().__init__(number)


def ending(number: int) -> Exit:
    """The exit code of a program that a signal has ended."""
    return Exit.TERMINATED if number == signal.SIGTERM else Exit.INTERRUPTED


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """While this lasts, both signals are one handler's."""
    before = {number: signal.signal(number, handler) for number in ENDING}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def counted_signals(act: Callable[[int], None]) -> Iterator[list[int]]:
    """While this lasts, signals end nothing: `act` is called in a thread with how many there were by then.

    Gives the signals that were received.
    """
    received: list[int] = []
    counts: SimpleQueue[int] = SimpleQueue()  # putting something in is safe in a handler

    def handle(number: int, _: FrameType | None) -> None:
        received.append(number)
        counts.put(len(received))

    def watch() -> None:
        while count := counts.get():
            act(count)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with handled(handle):
            yield received
    finally:
        counts.put(0)
        watcher.join()


class Patience(Struct):
    """For a run of several parts: a signal ends the part that may be dropped, and is noted during any other.

    What is noted keeps further parts from being started (`go_on`); a second one ends any but the last.
    """

    received: list[int] = field(default_factory=list)
    begun: bool = False
    """Whether a part was started that may have done something."""
    _droppable: bool = False
    _last: bool = False

    def handle(self, number: int, _: FrameType | None) -> None:
        self.received.append(number)
        if not self._last and (self._droppable or len(self.received) > 1):
            raise Ended(number)

    def go_on(self) -> None:
        """Right before a part that may do something: raise Ended where a signal was noted."""
        if self.received:
            raise Ended(self.received[0])
        self.begun = True

    @contextmanager
    def droppable(self) -> Iterator[None]:
        """A part that the first signal ends."""
        self._droppable = True
        try:
            yield
        finally:
            self._droppable = False

    def last(self) -> None:
        """What follows is short and is brought to its end."""
        self._last = True
