"""Keep a log of the latest requests, which tests and the console read. The oldest entries go first."""

from collections import deque
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

MAX_ENTRIES = 10_000


class LoggedRequest(Struct, frozen=True):
    """A request to the API. `status` is None if no answer was sent; `fault` is the kind of its fault."""

    method: str
    path: str
    query: str
    operation: str | None
    caller: str | None
    status: int | None
    ms: float
    fault: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as the control plane shows it."""
        return asdict(self)


class RequestLog:
    """The log of requests.

    `dropped` counts the entries that were removed to make room; `clear_count` counts how often the log was
    emptied.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self.entries: deque[LoggedRequest] = deque(maxlen=max_entries)
        self.dropped = 0
        self.clear_count = 0

    def add(self, entry: LoggedRequest) -> None:
        """Add an entry. If the log is full, the oldest entry is dropped."""
        self.dropped += len(self.entries) == self.entries.maxlen
        self.entries.append(entry)

    def clear(self) -> None:
        """Remove all entries and reset the count of dropped entries."""
        self.entries.clear()
        self.dropped = 0
        self.clear_count += 1
