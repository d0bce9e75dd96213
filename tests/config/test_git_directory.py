"""Where a repository begins and which commit is checked out, read from its files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.config.git_program import GitDirectory, NoRepositoryError

ONE, OTHER = "1" * 40, "2" * 40


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("objects", "refs/heads"):
        (tmp_path / ".git" / name).mkdir(parents=True)
    return tmp_path


def head(top: Path, text: str, refs: dict[str, str] | None = None, packed: str = "") -> str | None:
    (top / ".git" / "HEAD").write_text(text)
    (top / ".git" / "packed-refs").write_text(packed)
    for name, content in (refs or {}).items():
        (top / ".git" / name).write_text(content)
    return GitDirectory.containing(top).head()


def test_head_commit_resolves_loose_and_packed_refs(top: Path) -> None:
    assert head(top, f"{ONE}\n") == ONE
    packed = f"# pack-refs with: peeled\n{OTHER} refs/heads/main\n{ONE} refs/heads/a/main\n"
    assert head(top, "ref: refs/heads/main\n", packed=packed) == OTHER
    assert head(top, "ref: refs/heads/main\n", {"refs/heads/main": f"{ONE}\n"}, packed) == ONE


def test_symbolic_ref_is_followed_and_cycle_stops(top: Path) -> None:
    refs = {"refs/heads/a": "ref: refs/heads/b\n", "refs/heads/b": f"{ONE}\n"}
    assert head(top, "ref: refs/heads/a\n", refs) == ONE
    assert head(top, "ref: refs/heads/a\n", {**refs, "refs/heads/b": "ref: refs/heads/a\n"}) is None


def test_head_as_symlink_is_resolved(top: Path) -> None:
    (top / ".git/refs/heads/main").write_text(f"{ONE}\n")
    (top / ".git/HEAD").symlink_to("refs/heads/main")
    assert GitDirectory.containing(top).head() == ONE


@pytest.mark.parametrize(
    "text", ["", "main\n", "ref: ../../secret\n", "ref: refs/heads/gone\n", f"{ONE}x\n", f"ref {ONE}\n"]
)
def test_head_commit_of_invalid_head_is_none(top: Path, text: str) -> None:
    assert head(top, text) is None


def test_git_directory_search_skips_empty_dot_git(top: Path) -> None:
    head(top, ONE)
    inside = top / "a" / "b"
    inside.mkdir(parents=True)
    (top / "a" / ".git").mkdir()  # nothing is in it
    found = GitDirectory.containing(inside)
    assert (found.top, found.git_dir, found.common_dir) == (top, top / ".git", top / ".git")


def test_invalid_dot_git_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("somewhere\n")
    with pytest.raises(NoRepositoryError, match="does not contain the path of a git directory"):
        GitDirectory.containing(tmp_path)
