"""Define the observer that a client reports its progress to. The client itself prints nothing.

All threads that use the client call the observer. Its methods must return at once and raise nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

Why = Literal["rate limit", "pace", "retry", "platform at work"]
"""Why a client waits: a 429, the announced rate limit, a retry, or a process on the platform."""


class Observer(Protocol):
    def expects(self, requests: int) -> None:
        """Receive the least number of reads that follow. None of them was sent yet."""

    def batch(self, requests: int) -> None:
        """Receive the number of reads that are sent together now; 0 when all of them have ended."""

    def more(self, requests: int) -> None:
        """Add reads that were not announced: a further page or a retry. A negative number removes reads."""

    def answered(self, method: str) -> None:
        """Note that a request has ended, with any result."""

    def waits(self, why: Why, seconds: float) -> None:
        """Note that at least one thread sends nothing for this number of seconds."""


class Nobody:
    """An observer that ignores every event."""

    def expects(self, requests: int) -> None:
        """Ignore the event."""

    def batch(self, requests: int) -> None:
        """Ignore the event."""

    def more(self, requests: int) -> None:
        """Ignore the event."""

    def answered(self, method: str) -> None:
        """Ignore the event."""

    def waits(self, why: Why, seconds: float) -> None:
        """Ignore the event."""
