"""Define the observer: the methods that a client calls to report its progress. The client prints nothing.

All threads that use the client call the observer. Its methods must return at once and raise nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

WaitReason = Literal["rate limit", "pace", "retry", "platform at work"]
"""Why a client waits: a 429, the announced rate limit, a retry, or a process on the platform."""


class Observer(Protocol):
    """Receives the progress of a client's requests, for a progress display."""

    def expect_reads(self, requests: int) -> None:
        """Receive the least number of reads that follow. None of them was sent yet."""

    def start_batch(self, requests: int) -> None:
        """Receive the number of reads that are sent together now; 0 when all of them have ended."""

    def add_reads(self, requests: int) -> None:
        """Add reads that were not announced: a further page or a retry. A negative number removes reads."""

    def count_response(self, method: str) -> None:
        """Note that a request has ended, with any result."""

    def note_wait(self, why: WaitReason, seconds: float) -> None:
        """Note that at least one thread sends nothing for this number of seconds."""


class NullObserver:
    """An observer that ignores every event."""

    def expect_reads(self, requests: int) -> None:
        """Ignore the event."""

    def start_batch(self, requests: int) -> None:
        """Ignore the event."""

    def add_reads(self, requests: int) -> None:
        """Ignore the event."""

    def count_response(self, method: str) -> None:
        """Ignore the event."""

    def note_wait(self, why: WaitReason, seconds: float) -> None:
        """Ignore the event."""
