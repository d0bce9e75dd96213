"""Write the journal of an apply, and lock an organization on this machine.

The journal: one JSON line before and after every write, on disk before the next thing happens.

Its lines are the events of model/journal.py; the report of an apply is made from them (apply/report.py).

Several steps write at once, and to put a file on disk takes milliseconds, however much was written. So lines
that come while others are being put on disk share the next time; each waits until it is there itself.

One dpsync at a time per organization on this machine; in CI the concurrency group does the same.
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


class JournalFull(Exception):
    """The journal cannot be written: nothing more may be sent."""


class Journal(Protocol):
    @property
    def path(self) -> str | None: ...

    def write(self, event: Event) -> None:
        """Record one event. Raises JournalFull when it could not be put on disk."""


def record(journal: Journal, event: Event) -> str | None:
    """Record one event without raising. Returns why it could not be recorded, None where it was."""
    try:
        journal.write(event)
    except JournalFull as full:
        return str(full)
    except Exception as mistake:
        return f"the journal cannot be written ({type(mistake).__name__})"
    return None


class NoJournal:
    """A journal that records nothing, for callers that keep none."""

    path: str | None = None

    def write(self, event: Event) -> None:
        """Nothing is recorded."""


class RememberingJournal:
    """A journal that also keeps its events in memory, for the report that is made from them.

    It keeps what could not be put on disk, too: the report says what this process knows.
    """

    def __init__(self, inner: Journal) -> None:
        self._inner = inner
        self.events: list[Event] = []

    @property
    def path(self) -> str | None:
        return self._inner.path

    def write(self, event: Event) -> None:
        self.events.append(event)
        self._inner.write(event)


class MaskedJournal:
    """A journal that no secret reaches."""

    def __init__(self, inner: Journal, mask: Mask) -> None:
        self._inner = inner
        self._mask = mask

    @property
    def path(self) -> str | None:
        return self._inner.path

    def write(self, event: Event) -> None:
        self._inner.write(self._mask.model(event))


class _Batch:
    """Lines that are put on disk together."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.over = threading.Event()
        self.problem: str | None = "the journal was not written to the disk"
        """Why they are not on disk."""


class FileJournal:
    """A file of JSON lines for one apply. `stamp` makes its name; two applies never append to one file.

    No link leads out of the `project` that the directory is in. `flags` are what was typed, `now` tells the
    time. `user` and `reverts` are written to the first line (see `JournalOpened`).
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
        self._now = now
        self._lock = threading.Lock()
        """Held while a line is added to a batch."""
        self._disk = threading.Lock()
        """Held while a batch is put on disk."""
        self._batch = _Batch()
        try:
            disk.inside(directory, project or directory.parent)
            if directory.parent.name == disk.OWN:
                disk.make_own(directory.parent)
            disk.make_directory(directory, own=1)
            self._file = self._open(directory, stamp)
        except OSError as error:
            raise JournalFull(f"cannot write a journal in {directory}: {disk.why(error)}") from None
        first = JournalOpened(dpsync=__version__, flags=flags or Flags(), user=user, reverts=reverts)
        self.write(first)

    def _open(self, directory: Path, stamp: str) -> int:
        for number in range(1000):
            path = directory / f"{stamp}{f'-{number}' if number else ''}.jsonl"
            try:
                file = disk.create(path)
            except FileExistsError:
                continue
            self.path: str | None = str(path.absolute())
            return file
        raise OSError("too many journals have the same time in their names")

    def write(self, event: Event) -> None:
        line = json_text(event.model_copy(update={"at": self._now()})).encode() + b"\n"
        with self._lock:
            batch = self._batch
            batch.lines.append(line)
            is_first = len(batch.lines) == 1
        if is_first:
            self._put(batch)
        batch.over.wait()
        if batch.problem is not None:
            raise JournalFull(f"the journal {self.path} cannot be written: {batch.problem}")

    def _put(self, batch: _Batch) -> None:
        """Put a batch on disk with all that came while the batch before it was put there."""
        try:
            with self._disk:
                with self._lock:
                    self._batch = _Batch()
                disk.write(self._file, b"".join(batch.lines))
            batch.problem = None
        except OSError as error:
            batch.problem = disk.why(error)
        finally:
            batch.over.set()

    def close(self) -> None:
        with suppress(OSError):  # every line is on disk already
            os.close(self._file)


class Locked(Exception):
    """Another dpsync is applying to this organization."""

    def __init__(self, organization: str) -> None:
        self.organization = organization
        super().__init__(organization)


class NoState(Exception):
    """The user's state directory cannot be used; the text says which one, and why."""


def state_directory(env: Mapping[str, str]) -> Path:
    """Where dpsync keeps what belongs to the user of this machine. Raises NoState where there is no home."""
    named = Path(env.get("XDG_STATE_HOME", ""))
    if named.is_absolute():  # a relative one means nothing, as the XDG specification says
        return named / "dpsync"
    try:
        return Path.home() / ".local" / "state" / "dpsync"
    except RuntimeError:
        raise NoState(
            "dpsync finds no directory for its lock file: neither HOME nor XDG_STATE_HOME is set"
        ) from None


@contextmanager
def locked(url: str, organizations: Iterable[str]) -> Iterator[None]:
    """Hold the locks of the organizations (by id).

    Raises Locked at once when one is taken, NoState when no lock can be had at all.
    """
    directory = state_directory(os.environ) / "locks"
    with ExitStack() as held:
        for organization in sorted(set(organizations)):
            name = hashlib.sha256(f"{url} {organization}".encode()).hexdigest()
            try:
                disk.make_directory(directory)
                held.enter_context(disk.lock(directory / name))
            except BlockingIOError:
                raise Locked(organization) from None
            except OSError as error:
                raise NoState(f"dpsync cannot write a lock file in {directory}: {disk.why(error)}") from None
        yield
