"""A named pipe in place of a file. A program that opens it waits, but not forever: a test must end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

_LONGEST_WAIT = 20.0
"""Seconds: much longer than any limit that a test gives to what it runs."""


@contextmanager
def pipe(path: Path) -> Iterator[None]:
    """Put a pipe there. Whoever waits for it is let go at the end, or when it has waited for long."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    timer = Timer(_LONGEST_WAIT, _let_go, [path])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _let_go(path)


def _let_go(path: Path) -> None:
    with suppress(FileNotFoundError):
        opened = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        path.unlink()
        os.close(opened)
