"""The journal is on disk before anything happens; when it cannot be, nothing happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpsync.apply.journal import FileJournal, JournalFull
from dpsync.apply.lock import Locked, locked


def test_each_event_is_one_line_and_there_at_once(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / ".dpsync" / "journal", "stamp")
    journal.write("intent", step="a create")
    assert journal.path is not None
    assert [json.loads(line) for line in Path(journal.path).read_text().splitlines()] == [
        {"event": "intent", "step": "a create"}
    ]
    journal.close()


def test_two_journals_never_share_a_file(tmp_path: Path) -> None:
    one, two = (FileJournal(tmp_path / "journal", "stamp") for _ in range(2))
    assert [Path(str(journal.path)).name for journal in (one, two)] == ["stamp.jsonl", "stamp-1.jsonl"]
    one.close()
    two.close()


def test_git_does_not_see_journals(tmp_path: Path) -> None:
    FileJournal(tmp_path / ".dpsync" / "journal", "stamp").close()
    assert (tmp_path / ".dpsync" / ".gitignore").read_text() == "*\n"


def test_a_directory_that_cannot_be_made_is_said_before_anything_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalFull, match="cannot write a journal"):
        FileJournal(tmp_path / "file" / "journal", "stamp")


def test_a_full_disk_is_an_error_of_its_own(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal", "stamp")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file)
    os.close(full)
    with pytest.raises(JournalFull, match="No space left"):
        journal.write("intent", step="a")
    journal.close()


def test_one_organization_is_locked_for_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    code = (
        "from dpsync.apply.lock import Locked, locked\n"
        "try:\n    with locked('http://x', ['acme']): print('free')\n"
        "except Locked as taken: print('taken', taken.organization)"
    )

    def other() -> str:
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()

    with locked("http://x", ["acme", "globex"]):
        assert other() == "taken acme"
        with pytest.raises(Locked), locked("http://x", ["globex"]):
            raise AssertionError
        with locked("http://other", ["acme"]):
            pass
    assert other() == "free"


def test_a_line_that_takes_several_writes_is_still_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps write at once, and a disk may take a part of what it is given."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:7]))
    journal = FileJournal(tmp_path / "journal", "stamp")

    def record(step: str) -> None:
        for _ in range(20):
            journal.write("intent", step=step * 40)

    steps = [threading.Thread(target=record, args=(name,)) for name in "abcd"]
    for thread in steps:
        thread.start()
    for thread in steps:
        thread.join()
    journal.close()
    assert journal.path is not None
    lines = [json.loads(line)["step"] for line in Path(journal.path).read_text().splitlines()]
    assert sorted(lines) == sorted(name * 40 for name in "abcd" for _ in range(20))
