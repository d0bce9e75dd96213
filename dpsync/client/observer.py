"""Who is told what a client does while it does it. The client itself says nothing to people.

The calls come from every thread that uses the client. They must return at once and raise nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

Why = Literal["rate limit", "pace", "retry", "platform at work"]
"""Why nothing is sent for a while: the platform asked to wait, it would ask if more were sent now, a request
is tried again, or an answer tells that the platform is still at work."""


class Observer(Protocol):
    def expects(self, requests: int) -> None:
        """At least so many reads are needed, and none of them was sent yet."""

    def batch(self, requests: int) -> None:
        """So many reads follow together; 0: they are over."""

    def more(self, requests: int) -> None:
        """So many more reads than were announced: a further page, another try; negative: fewer."""

    def answered(self, method: str) -> None:
        """A request has ended, with whatever came of it."""

    def waits(self, why: Why, seconds: float) -> None:
        """Nothing is sent for so long, by one thread at least."""


class Nobody:
    """The observer of a client that was given none."""

    def expects(self, requests: int) -> None:
        """Nobody listens."""

    def batch(self, requests: int) -> None:
        """Nobody listens."""

    def more(self, requests: int) -> None:
        """Nobody listens."""

    def answered(self, method: str) -> None:
        """Nobody listens."""

    def waits(self, why: Why, seconds: float) -> None:
        """Nobody listens."""
