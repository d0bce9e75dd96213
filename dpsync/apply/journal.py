"""Write the journal of an apply, and lock an organization on this machine.

`FileJournal` writes one JSON line (an event of model/journal.py) before and after each request. `write`
returns when the line is on disk. Since fsync takes milliseconds, lines that arrive during one fsync share the
next one. `lock_organizations` allows one dpsync process per organization on this machine; in CI, use a
concurrency group.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from dpsync import __version__, disk
from dpsync.model.journal import Event, Flags, JournalOpened
from dpsync.model.mask import Mask
from dpsync.model.text import json_text


class JournalFullError(Exception):
    """The journal cannot be written, so nothing more may be sent."""


class Journal(Protocol):
    """Where an apply records its events. `path` is the path of the file, None without a file."""

    @property
    def path(self) -> str | None: ...

    def write(self, event: Event) -> None:
        """Record one event. Raises JournalFullError if the event is not on disk."""


def try_to_record(journal: Journal, event: Event) -> str | None:
    """Record one event without raising, and return why it could not be recorded; None on success."""
    try:
        journal.write(event)
    except JournalFullError as full:
        return str(full)
    except Exception as mistake:
        return f"the journal cannot be written ({type(mistake).__name__})"
    return None


class NullJournal:
    """A journal that records nothing, for callers that keep none."""

    path: str | None = None

    def write(self, event: Event) -> None:
        """Ignore the event."""


class InMemoryJournal:
    """A journal that also keeps its events in memory, to make the report from them.

    It also keeps events that could not be written to disk, so that the report is complete.
    """

    def __init__(self, inner: Journal) -> None:
        self._inner = inner
        self.events: list[Event] = []

    @property
    def path(self) -> str | None:
        return self._inner.path

    def write(self, event: Event) -> None:
        """Keep an event in memory, then record it. Raises JournalFullError."""
        self.events.append(event)
        self._inner.write(event)


class MaskedJournal:
    """A journal that masks secrets in its events before another journal records them."""

    def __init__(self, inner: Journal, mask: Mask) -> None:
        self._inner = inner
        self._mask = mask

    @property
    def path(self) -> str | None:
        return self._inner.path

    def write(self, event: Event) -> None:
        """Record an event without secrets. Raises JournalFullError."""
        self._inner.write(self._mask.mask_model(event))


class _Batch:
    """Lines of the journal that are written to disk together, by one fsync."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.written = threading.Event()
        self.problem: str | None = "the journal was not written to the disk"
        """Why the lines are not on disk; None if they are."""


class FileJournal:
    """A file of JSON lines for one apply. Two applies never append to one file.

    Args:
        stamp: The file name, without a number and the suffix.
        project: The directory that links must not leave.
        flags: The command-line options.
        now: Returns the current time.
        user: The user, for the first line (see `JournalOpened`).
        reverts: The reverted apply, for the first line (see `JournalOpened`).
    """

    def __init__(
        self,
        directory: Path,
        stamp: str,
        project: Path | None = None,
        flags: Flags | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        user: str | None = None,
        reverts: str | None = None,
    ) -> None:
        """Create the journal file, and write its first line. Raises JournalFullError."""
        self._now = now
        self._lock = threading.Lock()
        """Held while a line is added to a batch."""
        self._write_lock = threading.Lock()
        """Held while a batch is written to disk."""
        self._batch = _Batch()
        try:
            disk.resolve_inside(directory, project or directory.parent)
            if directory.parent.name == disk.OWN_DIRECTORY_NAME:
                disk.make_own_directory(directory.parent)
            disk.make_directory(directory, own=1)
            self._file = self._create_file(directory, stamp)
        except OSError as error:
            raise JournalFullError(
                f"cannot write a journal in {directory}: {disk.error_reason(error)}"
            ) from None
        opened = JournalOpened(dpsync=__version__, flags=flags or Flags(), user=user, reverts=reverts)
        self.write(opened)

    def _create_file(self, directory: Path, stamp: str) -> int:
        """Create a journal file with a new name, and return its descriptor. Sets `path`.

        Raises OSError.
        """
        for number in range(1000):
            path = directory / f"{stamp}{f'-{number}' if number else ''}.jsonl"
            try:
                file = disk.create_private_file(path)
            except FileExistsError:
                continue
            self.path: str | None = str(path.absolute())
            return file
        raise OSError("too many journals have the same time in their names")

    def write(self, event: Event) -> None:
        """Append one event as a JSON line, and return when it is on disk. Raises JournalFullError.

        The thread that adds the first line of a batch writes the batch; the others wait for it.
        """
        line = json_text(event.model_copy(update={"at": self._now()})).encode() + b"\n"
        with self._lock:
            batch = self._batch
            batch.lines.append(line)
            is_first = len(batch.lines) == 1
        if is_first:
            self._write_batch(batch)
        batch.written.wait()
        if batch.problem is not None:
            raise JournalFullError(f"the journal {self.path} cannot be written: {batch.problem}")

    def _write_batch(self, batch: _Batch) -> None:
        """Write a batch with all lines that arrived while the previous batch was written."""
        try:
            with self._write_lock:
                with self._lock:
                    self._batch = _Batch()
                disk.write_and_sync(self._file, b"".join(batch.lines))
            batch.problem = None
        except OSError as error:
            batch.problem = disk.error_reason(error)
        finally:
            batch.written.set()

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # every line is on disk already
            os.close(self._file)


class LockedError(Exception):
    """Another dpsync process is applying to this organization."""

    def __init__(self, organization: str) -> None:
        self.organization = organization
        super().__init__(organization)


class NoStateDirectoryError(Exception):
    """The user's state directory cannot be used. The text says which directory, and why."""


def state_directory(env: Mapping[str, str]) -> Path:
    """Return dpsync's directory for the state of this user, as `~/.local/state/dpsync`.

    Raises NoStateDirectoryError without a home directory.
    """
    configured = Path(env.get("XDG_STATE_HOME", ""))
    if configured.is_absolute():  # the XDG specification says to ignore relative paths
        return configured / "dpsync"
    try:
        return Path.home() / ".local" / "state" / "dpsync"
    except RuntimeError:
        raise NoStateDirectoryError(
            "dpsync finds no directory for its lock file: neither HOME nor XDG_STATE_HOME is set"
        ) from None


@contextmanager
def lock_organizations(url: str, organizations: Iterable[str]) -> Iterator[None]:
    """Hold the locks of some organizations (by id), so that no other process applies to them.

    Raises LockedError at once if another process has a lock, NoStateDirectoryError if a lock file cannot be
    created.
    """
    directory = state_directory(os.environ) / "locks"
    with ExitStack() as locks:
        for organization in sorted(set(organizations)):
            name = hashlib.sha256(f"{url} {organization}".encode()).hexdigest()
            try:
                disk.make_directory(directory)
                locks.enter_context(disk.lock(directory / name))
            except BlockingIOError:
                raise LockedError(organization) from None
            except OSError as error:
                raise NoStateDirectoryError(
                    f"dpsync cannot write a lock file in {directory}: {disk.error_reason(error)}"
                ) from None
        yield
