"""The log of requests: bounded, the oldest go first."""

from collections import deque
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

MOST_ENTRIES = 10_000


class LoggedRequest(Struct, frozen=True):
    """A request to the API. `status` None: no answer was sent. `fault`: the kind of the one that it met."""

    method: str
    path: str
    query: str
    operation: str | None
    caller: str | None
    status: int | None
    ms: float
    fault: str | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class RequestLog:
    """`dropped` is how many are not kept any more, `cleared` how often the log was emptied."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self.entries: deque[LoggedRequest] = deque(maxlen=most)
        self.dropped = 0
        self.cleared = 0

    def add(self, entry: LoggedRequest) -> None:
        self.dropped += len(self.entries) == self.entries.maxlen
        self.entries.append(entry)

    def clear(self) -> None:
        self.entries.clear()
        self.dropped = 0
        self.cleared += 1
