"""The journal: one JSON line before and after every write, on disk before the next thing happens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from pydantic_core import from_json

from dpsync.model.address import Address
from dpsync.model.json_text import json_text

REMEMBERED = 50
"""How many of the newest journals are read."""


class JournalFull(Exception):
    """The journal cannot be written: nothing more may be sent."""


class Journal(Protocol):
    @property
    def path(self) -> str | None: ...

    def write(self, event: str, **facts: Any) -> None:
        """Record one event. Raises JournalFull when it could not be put on disk."""


def record(journal: Journal, event: str, **facts: Any) -> str | None:
    """Record one event where nothing may be raised any more. Returns why it could not be recorded."""
    try:
        journal.write(event, **facts)
    except JournalFull as full:
        return str(full)
    except Exception as mistake:
        return f"the journal cannot be written ({type(mistake).__name__})"
    return None


def last_ids(directory: Path) -> dict[Address, str]:
    """Which live id each address had when it was last written, by the journals of this checkout.

    A hint, never a state: what it says is only asked where nothing else can tell two readings apart.
    """
    ids: dict[Address, str] = {}
    for line in _lines(directory):
        try:
            event = from_json(line)
        except ValueError:
            continue  # the process was killed while it wrote
        if isinstance(event, dict) and event.get("event") in ("intent", "outcome") and event.get("id"):
            ids[Address.parse(str(event.get("address")))] = str(event["id"])
    return ids


def _lines(directory: Path) -> Iterator[bytes]:
    """The lines of the newest journals, oldest first. One that cannot be read says nothing."""
    try:
        dated = sorted((path.stat().st_mtime_ns, path.name, path) for path in directory.glob("*.jsonl"))
    except OSError:
        return
    for _, _, path in dated[-REMEMBERED:]:
        try:
            yield from path.read_bytes().splitlines()
        except OSError:
            continue


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
        line = json_text({"event": event, **facts}).encode() + b"\n"
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
