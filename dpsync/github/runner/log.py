"""The runner's own language in a log: masks, notices, and the pause in which a log is only text.

The runner takes `::name::` at the beginning of a line, after blanks, and `##[name]` anywhere in it. Between
`::stop-commands::TOKEN` and `::TOKEN::` it takes nothing; the token is random, so no text can end the pause.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from dpsync.render.names import visible, visible_lines

_MASKED: Final = 3
"""Characters of a line from which on the runner masks it: a shorter one stands in every other word."""


class Log:
    """Where a step writes. Our commands go out between pauses, everything else within one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def mask(self, secret: str) -> None:
        """Have the runner hide a text, line by line, in all that this job still prints."""
        for line in secret.splitlines():
            if len(line.strip()) >= _MASKED:
                self._line(f"::add-mask::{data(line.strip())}")

    def notice(self, text: str, level: str = "notice") -> None:
        """A line that GitHub also shows beside the run."""
        self._line(f"::{level} title=dpsync::{data(visible(text))}")

    def commands(self, lines: Iterable[str]) -> None:
        """Commands that a renderer has made."""
        for line in lines:
            self._line(visible_lines(line))

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """A pause: whatever is written is text."""
        token = secrets.token_hex(16)
        self._line(f"::stop-commands::{token}")
        try:
            yield self._stream
        finally:
            self._line(f"\n::{token}::")

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def data(text: str) -> str:
    """A text behind the second `::` of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
