"""The journal is on disk before anything happens; when it cannot be, nothing happens."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dpsync import __version__
from dpsync.apply.journal import FileJournal, JournalFullError, LockedError, lock_organizations
from dpsync.model.journal import Flags, Intended
from tests.patience import PATIENCE


def intent(step: str) -> Intended:
    return Intended(step=step, method="PUT")


def lines(journal: FileJournal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(str(journal.path)).read_text().splitlines()]


def steps(content: str) -> list[str]:
    """Return the steps that have an intent event in the journal."""
    found = [json.loads(line) for line in content.splitlines()]
    return [line["step"] for line in found if line["event"] == "intent"]


def test_journal_event_is_written_immediately_as_line(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / ".dpsync" / "journal", "stamp")
    journal.write(intent("a create"))
    _, line = lines(journal)
    assert (line["event"], line["step"]) == ("intent", "a create")
    journal.close()


def test_journal_lines_have_timestamps(tmp_path: Path) -> None:
    clock = iter([datetime(2026, 1, 2, 3, 4, second, tzinfo=UTC) for second in (5, 6)])
    journal = FileJournal(tmp_path, "stamp", now=lambda: next(clock))
    journal.write(intent("a create"))
    assert [line["at"] for line in lines(journal)] == ["2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"]
    journal.close()


def test_journal_header_has_format_version_and_flags(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path, "stamp", flags=Flags(environment="staging"))
    (line,) = lines(journal)
    assert (line["event"], line["format"], line["dpsync"]) == ("journal", "dpsync.journal/1", __version__)
    assert line["flags"]["environment"] == "staging"
    journal.close()


def test_journals_with_same_timestamp_get_separate_files(tmp_path: Path) -> None:
    """Otherwise, two applies write into one journal."""
    one, two = (FileJournal(tmp_path / "journal", "stamp") for _ in range(2))
    assert [Path(str(journal.path)).name for journal in (one, two)] == ["stamp.jsonl", "stamp-1.jsonl"]
    one.close()
    two.close()


def test_journals_with_same_timestamp_are_limited_to_thousand(tmp_path: Path) -> None:
    for number in range(999):
        (tmp_path / f"stamp{f'-{number}' if number else ''}.jsonl").touch()
    last = FileJournal(tmp_path, "stamp")
    assert Path(str(last.path)).name == "stamp-999.jsonl"
    last.close()
    with pytest.raises(JournalFullError, match="too many journals have the same time in their names"):
        FileJournal(tmp_path, "stamp")


def test_journal_directory_gets_gitignore(tmp_path: Path) -> None:
    FileJournal(tmp_path / ".dpsync" / "journal", "stamp").close()
    assert (tmp_path / ".dpsync" / ".gitignore").read_text() == "*\n"


def test_uncreatable_journal_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalFullError, match="cannot write a journal"):
        FileJournal(tmp_path / "file" / "journal", "stamp")


def test_journal_write_on_full_disk_is_an_error(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal", "stamp")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file)
    os.close(full)
    with pytest.raises(JournalFullError, match="No space left"):
        journal.write(intent("a"))
    journal.close()


def test_organization_lock_is_refused_to_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, two applies to one organization run at once."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    code = (
        "from dpsync.apply.journal import LockedError, lock_organizations\n"
        "try:\n    with lock_organizations('http://x', ['acme']): print('free')\n"
        "except LockedError as taken: print('taken', taken.organization)"
    )

    def other() -> str:
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()

    with lock_organizations("http://x", ["acme", "globex"]):
        assert other() == "taken acme"
        with pytest.raises(LockedError), lock_organizations("http://x", ["globex"]):
            raise AssertionError
        with lock_organizations("http://other", ["acme"]):
            pass
    assert other() == "free"


def test_journal_lines_survive_partial_disk_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps write at once, and a disk may take a part of what it is given."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:7]))
    journal = FileJournal(tmp_path / "journal", "stamp")

    def record(step: str) -> None:
        for _ in range(20):
            journal.write(intent(step * 40))

    threads = [threading.Thread(target=record, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    written = steps(Path(str(journal.path)).read_text())
    assert sorted(written) == sorted(name * 40 for name in "abcd" for _ in range(20))


class Disk:
    """Puts a journal on disk, and holds back the first time until `others` more lines are waiting."""

    def __init__(self, journal: FileJournal, others: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.journal = journal
        self.others = others
        self.times = 0
        self.safe = 0
        """Bytes of the file that are on disk."""
        self._really = os.fsync
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, file: int) -> None:
        self.times += 1
        while self.times == 1 and len(self.journal._batch.lines) < self.others:
            threading.Event().wait(0.001)
        size = os.fstat(file).st_size
        self._really(file)
        self.safe = size

    def at_once(self, names: str, then: Callable[[str], None] = lambda _: None) -> list[str]:
        """Write a line of each name in a thread of its own; the problems that these were told."""
        problems: list[str] = []

        def write(name: str) -> None:
            try:
                self.journal.write(intent(name))
            except JournalFullError as full:
                problems.append(str(full))
            else:
                then(name)

        threads = [threading.Thread(target=write, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        return problems


def test_concurrent_journal_lines_share_one_disk_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(FileJournal(tmp_path / "journal", "stamp"), 7, monkeypatch)
    assert disk.at_once("abcdefgh") == []
    assert disk.times == 2
    disk.journal.close()


def test_journal_write_returns_after_line_reaches_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(FileJournal(tmp_path / "journal", "stamp"), 7, monkeypatch)
    path = Path(str(disk.journal.path))
    found: dict[str, bool] = {}

    def look(name: str) -> None:
        found[name] = name in steps(path.read_bytes()[: disk.safe].decode())

    disk.at_once("abcdefgh", look)
    assert found == dict.fromkeys("abcdefgh", True)
    disk.journal.close()


def test_failed_shared_sync_is_reported_to_all_writers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(FileJournal(tmp_path / "journal", "stamp"), 7, monkeypatch)

    def full(file: int, content: bytes) -> int:
        if disk.times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content)

    write = os.write
    monkeypatch.setattr(os, "write", full)
    assert len(disk.at_once("abcdefgh")) == 7
    disk.journal.close()
