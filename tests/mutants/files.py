"""Mistakes in reading a configuration, in writing one, and in opening files.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any


def accept_empty_patterns(original: Any, root: Path, project: Path, directory: Path, item: Any) -> Any:
    """Accept an include pattern that matches no file."""
    included, problems = original(root, project, directory, item)
    return included, problems if included or "*" not in str(item.value) else []


def report_first_error_only(original: Any, self: Any, *arguments: Any, **named: Any) -> None:
    """Report only the first error of a configuration."""
    if not self.diagnostics:
        original(self, *arguments, **named)


def accept_unknown_keys(original: Any, self: Any, key: Any, known: list[str], what: str) -> None:
    """Accept unknown keys."""


def open_devices(_original: Any, path: Path, follow: bool) -> AbstractContextManager[tuple[int, int]]:
    """Open a path even if it is not a regular file."""

    @contextmanager
    def opened() -> Iterator[tuple[int, int]]:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
        try:
            yield file, os.fstat(file).st_mode
        finally:
            os.close(file)

    return opened()


def ignore_side_effects(original: Any, _before: Any, after: Any, made: Any) -> Any:
    """Ignore side effects of an edit."""
    return original(after, after, made)


def overwrite_uncommitted(original: Any, directory: Path, files: Any, stray: Any = (), *_: Any) -> Any:
    """Overwrite work that is not committed."""
    return original(directory, files, stray, force=True)


def drop_omission_notes(original: Any, *_: Any) -> None:
    """Leave a value of a navigation file out without a note."""


def accept_formulas(_original: Any, _text: str) -> bool:
    """Treat no cell as a formula."""
    return False
