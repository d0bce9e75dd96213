"""What -vv shows: every request as it ends."""

from __future__ import annotations

from collections.abc import Callable

from dpsync.cli.terminal.output import Output
from dpsync.render.names import visible


def tracer(out: Output) -> Callable[[str, str, int | None, float], None]:
    """A trace callback for a client."""

    def trace(method: str, path: str, status: int | None, seconds: float) -> None:
        out.detail(f"{method} {visible(path)} → {status or 'no answer'} ({seconds * 1000:.0f} ms)", 2)

    return trace
