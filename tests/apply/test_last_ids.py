"""What the journals of a checkout know: which live id each address had when it was last written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpsync.apply import journal
from dpsync.apply.journal import FileJournal, last_ids
from dpsync.model.address import Address

A = Address.parse("acme/teams/a")


def written(directory: Path, id: str, at: int) -> Path:
    lines = FileJournal(directory, "now")
    lines.write("intent", step=f"{A} update", method="PATCH")
    lines.write("outcome", step=f"{A} update", address=str(A), verb="update", result="done", id=id)
    lines.close()
    assert lines.path is not None
    os.utime(lines.path, (at, at))
    return Path(lines.path)


def test_the_last_journal_has_the_last_word(tmp_path: Path) -> None:
    written(tmp_path, "t2", at=20)
    written(tmp_path, "t1", at=10)
    assert last_ids(tmp_path) == {A: "t2"}


def test_a_line_that_was_cut_off_says_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "t1", at=10)
    with path.open("ab") as file:
        file.write(b'{"event":"outcome","address":"acme/teams/a","id":"t')
    assert last_ids(tmp_path) == {A: "t1"}


def test_what_follows_a_line_that_was_cut_off_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "t1", at=10)
    cut, after = b'{"event":"outcome","addr\n', path.read_bytes().replace(b'"t1"', b'"t2"')
    path.write_bytes(path.read_bytes() + cut + after)
    assert last_ids(tmp_path) == {A: "t2"}


def test_without_journals_nothing_is_known(tmp_path: Path) -> None:
    assert last_ids(tmp_path / "none") == {}


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "strange.jsonl").mkdir()
    (tmp_path / "other.jsonl").write_bytes(b"\xff\n[1]\n3\n")
    assert last_ids(tmp_path) == {}


def test_nothing_older_is_read_than_what_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It might contradict what the long one would have said."""
    _, long, newer = (written(tmp_path, id, at) for id, at in (("t1", 10), ("t2", 20), ("t3", 30)))
    long.write_bytes(long.read_bytes() * 9)
    skipped: list[Path] = []
    monkeypatch.setattr(journal, "MOST_READ", 3 * len(newer.read_bytes()))
    newer.write_bytes(b"")
    assert last_ids(tmp_path, lambda path, _: skipped.append(path)) == {}
    assert skipped == [long]
    long.write_bytes(b"")
    assert last_ids(tmp_path) == {A: "t1"}


def test_what_is_too_long_is_told_with_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "t1", at=10).write_bytes(b"x" * 3_000_000)
    monkeypatch.setattr(journal, "MOST_READ", 2 << 20)
    told: list[str] = []
    assert last_ids(tmp_path, lambda _, why: told.append(why)) == {}
    assert told == ["this one and those before it have more than 2 MiB"]
