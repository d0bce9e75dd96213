"""git blocks on a named pipe in place of a file that git reads. Every git call has a time limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.config import git_program
from dpsync.config.git import NoRepositoryError, Repository
from tests.pipes import pipe

from .test_base import commit


def status(repository: Repository) -> Any:
    return repository.uncommitted_names(repository.top)


def head(repository: Repository) -> Any:
    return repository.resolve_commit("HEAD")


BLOCKING: dict[str, tuple[Callable[[Repository], Any], str]] = {
    ".gitattributes": (status, "status"),
    ".gitignore": (status, "status"),
    "docs/.gitattributes": (status, "status"),
    ".git/refs/heads/main": (head, "rev-parse"),
    ".git/objects/info/alternates": (head, "rev-parse"),
}
REFUSED = {
    ".git/HEAD": "the files are not in a git repository",
    ".git/config": "dpsync cannot read .git/config: the path is a pipe (FIFO), not a regular file",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a repository with a change that git can only detect by reading a file."""
    commit(tmp_path, {"dpsync.yaml": "dpsync: 1", "docs/a": "a"})
    (tmp_path / "docs" / "a").write_text("b")
    return tmp_path


@pytest.mark.parametrize("name", BLOCKING)
def test_git_call_blocked_on_named_pipe_times_out(
    name: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, command = BLOCKING[name]
    repository = Repository.containing(checkout)
    monkeypatch.setattr(git_program, "_TIMEOUT_SECONDS", 0.5, raising=False)
    with pipe(checkout / name), pytest.raises(NoRepositoryError) as stopped:
        query(repository)
    assert str(stopped.value) == f"git {command} did not finish within 0.5 seconds"
    assert stopped.value.hint == (
        "git may be waiting for a named pipe or a device, for example "
        "at .gitattributes. Delete the pipe or device"
    )


@pytest.mark.parametrize("name", REFUSED)
def test_named_pipe_inside_dot_git_is_refused(name: str, checkout: Path) -> None:
    with pipe(checkout / name), pytest.raises(NoRepositoryError, match=re.escape(REFUSED[name])):
        Repository.containing(checkout)


def test_device_as_git_config_is_refused(checkout: Path) -> None:
    (checkout / ".git" / "config").unlink()
    (checkout / ".git" / "config").symlink_to("/dev/zero")
    with pytest.raises(
        NoRepositoryError, match=r"dpsync cannot read \.git/config: the path is a device, not a regular file"
    ):
        Repository.containing(checkout)
