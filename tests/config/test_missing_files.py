"""What git shows of a file that the configuration does not read any more. Only a deleted file was removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .loading import REGISTRY
from .test_base import ACME, base, commit, git, lay

TEAMS = "organizations: { acme: { teams: { a: { title: A }, b: { title: B }, c: { title: C } } } }\n"
ROOT = "dpsync: 1\ninclude: ['parts/*.yaml']\n" + ACME
NAME = "parts/teams.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project in a subdirectory of its repository."""
    other = {"parts/other.yaml": "organizations: { acme: {} }\n", NAME: TEAMS, "dpsync.yaml": ROOT}
    commit(tmp_path, {f"docs/{name}": text for name, text in other.items()})
    return tmp_path / "docs"


def described(project: Path) -> str:
    found = base(project)
    assert found.commit is not None
    return found.describe_missing_file(found.commit, NAME)


def rename(project: Path) -> None:
    (project / "parts/deeper").mkdir()
    git(project, "mv", NAME, "parts/deeper/people.yaml")


def rename_and_edit(project: Path) -> None:
    rename(project)
    lay(project, **{"parts/deeper/people.yaml": TEAMS.replace(", c: { title: C }", "")})
    git(project, "add", "--all")


def check_out_sparsely(project: Path) -> None:
    git(project.parent, "sparse-checkout", "set", "--no-cone", "/*", f"!/docs/{NAME}")


def ignore(project: Path) -> None:
    """Add the file to .gitignore and delete it, as in a clone of a repository whose author keeps the file."""
    git(project, "rm", "-q", "--cached", NAME)
    lay(project, **{".gitignore": "teams.yaml\n"})
    (project / NAME).unlink()


def exclude_from_include(project: Path) -> None:
    lay(project, **{"dpsync.yaml": ROOT.replace("parts/*.yaml", "parts/other.yaml")})


SEEMS_TO_BE_GONE: dict[str, tuple[Callable[[Path], None], str]] = {
    "renamed": (rename, "the file was renamed to docs/parts/deeper/people.yaml"),
    "renamed and edited": (rename_and_edit, "the file was renamed to docs/parts/deeper/people.yaml"),
    "sparse": (check_out_sparsely, "this sparse checkout does not contain the file"),
    "ignored": (ignore, "git ignores the file now"),
    "not included": (exclude_from_include, '"include" does not list this file any more'),
}


@pytest.mark.parametrize("name", SEEMS_TO_BE_GONE)
def test_missing_file_error_describes_change_from_git_history(project: Path, name: str) -> None:
    """Otherwise, dpsync deletes what a file declares that nobody has deleted."""
    damage, expected = SEEMS_TO_BE_GONE[name]
    damage(project)
    assert described(project) == expected


def test_missing_file_error_mentions_committed_rename(project: Path) -> None:
    before = base(project)
    assert before.commit is not None
    rename(project)
    git(project, "commit", "-q", "-m", "rename")
    assert (
        before.describe_missing_file(before.commit, NAME)
        == "the file was renamed to docs/parts/deeper/people.yaml"
    )


def delete(project: Path) -> None:
    (project / NAME).unlink()


def delete_in_index(project: Path) -> None:
    git(project, "rm", "-q", NAME)


@pytest.mark.parametrize("how", [delete, delete_in_index])
def test_missing_file_error_mentions_deletion(project: Path, how: Callable[[Path], None]) -> None:
    """Ordinary work: a person deletes a file with everything in it."""
    how(project)
    assert described(project) == ""


@pytest.mark.usefixtures("project")
def test_missing_file_is_unexplained_at_unknown_commit() -> None:
    """Without git, a missing file may be lost."""
    from dpsync.model.desired import NO_BASE

    assert NO_BASE.describe_missing_file("0" * 40, NAME) == "git does not show how the entry disappeared"


def test_entries_of_file_are_listed_despite_overlay_removal(project: Path) -> None:
    """An entry that only an overlay takes away is still in the text of its file."""
    from dpsync.workflows.configuration import load

    desired = load(project / "dpsync.yaml", {}, REGISTRY)
    assert sorted(map(str, desired.addresses_declared_in(NAME))) == [
        "acme", "acme/teams/a", "acme/teams/b", "acme/teams/c",
    ]  # fmt: skip
