"""The journal: one JSON line before and after every write, on disk before the next thing happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from pydantic_core import to_json


class JournalFull(Exception):
    """The journal cannot be written: nothing more may be sent."""


class Journal(Protocol):
    @property
    def path(self) -> str | None: ...

    def write(self, event: str, **facts: Any) -> None:
        """Record one event. Raises JournalFull when it could not be put on disk."""


class NoJournal:
    """For callers that keep none."""

    path: str | None = None

    def write(self, event: str, **facts: Any) -> None:
        """Nothing is recorded."""


class FileJournal:
    """A file of JSON lines for one apply. `stamp` makes its name; two applies never append to one file."""

    def __init__(self, directory: Path, stamp: str) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            ignore = directory.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            self._file = self._open(directory, stamp)
        except OSError as error:
            raise JournalFull(f"cannot write a journal in {directory}: {error.strerror or error}") from None

    def _open(self, directory: Path, stamp: str) -> int:
        for number in range(1000):
            path = directory / f"{stamp}{f'-{number}' if number else ''}.jsonl"
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            self.path: str | None = str(path)
            return file
        raise OSError("too many journals with one name")

    def write(self, event: str, **facts: Any) -> None:
        line = to_json({"event": event, **facts}) + b"\n"
        try:
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            raise JournalFull(
                f"the journal {self.path} cannot be written: {error.strerror or error}"
            ) from None

    def close(self) -> None:
        os.close(self._file)
