"""Format and parse times like the API: UTC, milliseconds, ISO 8601. A `Clock` returns the current time."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the real time."""
    return datetime.now(UTC)


def format_timestamp(time: datetime) -> str:
    """Return a time as text, for example `2026-01-02T03:04:05.678Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Return the time in a text as the API writes times."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
