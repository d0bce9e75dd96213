"""How many git processes reading a commit starts: each one costs several milliseconds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.config.git import CommitFiles, Repository

from .test_base import commit

FILES = {"dpsync.yaml": "dpsync: 1", "a.yaml": "a: 1"}
Starts = Callable[[], list[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    commit(tmp_path / "checkout", FILES)
    return tmp_path / "checkout"


@pytest.fixture
def starts(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starts:
    """Return the git commands since the last call: a program in front of git writes a line for each one."""
    del checkout
    log, program = tmp_path / "log", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def started() -> list[str]:
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    return started


def contents(checkout: Path) -> dict[str, bytes]:
    repository = Repository.containing(checkout)
    head = repository.resolve_commit("HEAD")
    assert head is not None
    files = CommitFiles(repository, head, "", "dpsync.yaml")
    return {name: files.read(name, 100) for name in FILES}


def test_commit_files_are_read_from_git_once(checkout: Path, starts: Starts) -> None:
    """An apply loads the same commit three times."""
    expected = {name: text.encode() for name, text in FILES.items()}
    assert contents(checkout) == expected
    assert starts()
    assert contents(checkout) == expected
    assert [line for line in starts() if "rev-parse" not in line] == []


def test_shallow_clone_detection_starts_no_git_process(checkout: Path, starts: Starts) -> None:
    repository = Repository.containing(checkout)
    starts()
    assert not repository.shallow
    (checkout / ".git" / "shallow").write_text("1" * 40, "utf-8")
    assert repository.shallow
    assert starts() == []


def test_changed_git_configuration_is_read_again(checkout: Path) -> None:
    before = Repository.containing(checkout).git.config
    with (checkout / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write("[core]\n\tautocrlf = input\n")
    after = Repository.containing(checkout).git.config
    assert "autocrlf" in after
    assert "autocrlf" not in before


def test_later_fetched_git_object_is_found(checkout: Path, tmp_path: Path) -> None:
    """Otherwise, a commit fetched after the first plan stays missing in a long process."""
    other = tmp_path / "other"
    shutil.copytree(checkout, other)
    commit(other, {"dpsync.yaml": "dpsync: 1 # later"})
    later = Repository.containing(other).resolve_commit("HEAD")
    assert later is not None
    files = CommitFiles(Repository.containing(checkout), later, "", "dpsync.yaml")
    assert "dpsync.yaml" not in files
    shutil.copytree(other / ".git" / "objects", checkout / ".git" / "objects", dirs_exist_ok=True)
    files = CommitFiles(Repository.containing(checkout), later, "", "dpsync.yaml")
    assert files.read("dpsync.yaml", 100) == b"dpsync: 1 # later"
