"""Where the root file is looked for, and which files an include names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpsync import disk
from dpsync.config import codes
from dpsync.config.discovery import find_root, included_files
from dpsync.config.yaml_reader import read
from dpsync.model.diagnostic import DiagnosticError, Exit


def write(path: Path, text: str = "organizations: {}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def include(project: Path, *patterns: str) -> tuple[list[str], list[str]]:
    """The names of the files found and the codes of what was refused."""
    node, _ = read(str(list(patterns)), "dpsync.yaml")
    assert node is not None
    files, problems = included_files(project / "dpsync.yaml", node)
    return [file.name for file in files], [problem.code for problem in problems]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a few files, inside a directory with files that are none of its business."""
    write(tmp_path / "secret.yaml")
    for name in (
        "dpsync.yaml",
        "teams.yaml",
        "sites/a.yaml",
        "sites/b.yaml",
        "sites/x/c.yaml",
        "sites/x/y/d.yaml",
    ):
        write(tmp_path / "project" / name)
    for name in ("sites/.hidden.yaml", ".git/config.yaml", "sites/notes.md"):
        write(tmp_path / "project" / name)
    return tmp_path / "project"


def test_the_nearest_root_file_is_found(tmp_path: Path) -> None:
    outer = write(tmp_path / "dpsync.yaml")
    inner = write(tmp_path / "a" / "dpsync.yml")
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "c").mkdir()
    assert find_root(tmp_path / "a" / "b") == inner
    assert find_root(tmp_path / "c") == outer


@pytest.mark.parametrize("worktree", [False, True], ids=["directory", "file"])
def test_the_search_ends_at_the_git_root(tmp_path: Path, worktree: bool) -> None:
    write(tmp_path / "dpsync.yaml")
    inner = tmp_path / "repository" / "inner"
    inner.mkdir(parents=True)
    git = tmp_path / "repository" / ".git"
    if worktree:
        git.write_text("gitdir: elsewhere\n")
    else:
        git.mkdir()
    with pytest.raises(DiagnosticError) as raised:
        find_root(inner)
    [problem] = raised.value.diagnostics
    assert (problem.code, raised.value.exit_code) == (codes.NO_ROOT, Exit.INVALID)
    assert problem.message.endswith(f"up to {tmp_path / 'repository'}")
    assert problem.hint
    root = write(tmp_path / "repository" / "dpsync.yaml")
    assert find_root(inner) == root


def test_two_root_files_in_one_directory_are_an_error_that_names_both(tmp_path: Path) -> None:
    write(tmp_path / "dpsync.yaml")
    write(tmp_path / "dpsync.yml")
    with pytest.raises(DiagnosticError, match=r"both dpsync\.yaml and dpsync\.yml") as raised:
        find_root(tmp_path)
    assert [problem.code for problem in raised.value.diagnostics] == [codes.TWO_ROOTS]


def test_a_directory_with_the_name_of_the_root_file_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "a" / "dpsync.yaml").mkdir(parents=True)
    root = write(tmp_path / "dpsync.yml")
    assert find_root(tmp_path / "a") == root


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["teams.yaml"], ["teams.yaml"]),
        (["./sites/../teams.yaml"], ["teams.yaml"]),
        (["sites/*.yaml"], ["sites/a.yaml", "sites/b.yaml"]),
        (["sites/*/*.yaml"], ["sites/x/c.yaml"]),
        (["sites/**/c.yaml"], ["sites/x/c.yaml"]),
        (["sites/**/*.yaml"], ["sites/a.yaml", "sites/b.yaml", "sites/x/c.yaml", "sites/x/y/d.yaml"]),
        (["sites/x/**"], ["sites/x/c.yaml", "sites/x/y/d.yaml"]),
        (["**/x/**/*.y*l"], ["sites/x/c.yaml", "sites/x/y/d.yaml"]),
        (["*.yaml"], ["teams.yaml"]),
        (["sites/.*.yaml"], ["sites/.hidden.yaml"]),
        (["sites/b.yaml", "sites/a.yaml"], ["sites/a.yaml", "sites/b.yaml"]),
        (["sites/*.yaml", "teams.yaml", "sites/a.yaml"], ["sites/a.yaml", "sites/b.yaml", "teams.yaml"]),
    ],
)
def test_an_include_names_files(project: Path, patterns: list[str], names: list[str]) -> None:
    assert include(project, *patterns) == (names, [])
    assert include(project, *reversed(patterns)) == (names, [])


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("nope.yaml", codes.NO_MATCH),
        ("nope/*.yaml", codes.NO_MATCH),
        ("*.toml", codes.NO_MATCH),
        ("../secret.yaml", codes.OUTSIDE),
        ("../*.yaml", codes.OUTSIDE),
        ("sites/../../secret.yaml", codes.OUTSIDE),
        ("/etc/passwd", codes.INCLUDE),
        ("~/x.yaml", codes.INCLUDE),
        ("https://acme.example/x.yaml", codes.INCLUDE),
        ("", codes.INCLUDE),
        ("dpsync.yaml", codes.INCLUDE),
        ("sites", codes.NOT_A_FILE),
        ("teams.yaml/x", codes.UNREADABLE),
        ("a" * 5000, codes.UNREADABLE),
    ],
)
def test_what_cannot_be_included_is_an_error(project: Path, pattern: str, code: str) -> None:
    assert include(project, pattern) == ([], [code])


@pytest.mark.parametrize("text", ["teams.yaml", "{a: b}", "null"])
def test_an_include_is_a_list(project: Path, text: str) -> None:
    node, _ = read(text, "dpsync.yaml")
    assert node is not None
    files, [problem] = included_files(project / "dpsync.yaml", node)
    assert (files, problem.code) == ([], codes.INCLUDE)


@pytest.mark.parametrize("item", ["1", "[a]", "{a: b}", "null"])
def test_an_item_of_an_include_is_text(project: Path, item: str) -> None:
    node, _ = read(f"[{item}]", "dpsync.yaml")
    assert node is not None
    assert [problem.code for problem in included_files(project / "dpsync.yaml", node)[1]] == [codes.INCLUDE]


@pytest.mark.parametrize("pattern", ["link.yaml", "li*.yaml", "out/secret.yaml", "out/*.yaml"])
def test_a_link_out_of_the_project_is_refused(project: Path, pattern: str) -> None:
    (project / "link.yaml").symlink_to(project.parent / "secret.yaml")
    (project / "out").symlink_to(project.parent)
    names, problems = include(project, pattern)
    assert names == []
    assert set(problems) == {codes.OUTSIDE}


def test_a_link_inside_the_project_is_the_file_it_leads_to(project: Path) -> None:
    (project / "link.yaml").symlink_to("sites/a.yaml")
    assert include(project, "link.yaml", "sites/a.yaml") == (["sites/a.yaml"], [])


def test_a_project_that_is_itself_a_link_works(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    assert include(project.parent / "alias", "sites/*.yaml") == (["sites/a.yaml", "sites/b.yaml"], [])


def test_loops_of_links_end(project: Path) -> None:
    (project / "sites" / "loop").symlink_to("..")
    (project / "self.yaml").symlink_to("self.yaml")
    assert include(project, "sites/**/a.yaml") == (["sites/a.yaml"], [])
    assert include(project, "self.yaml") == ([], [codes.UNREADABLE])


def test_only_regular_files_are_opened(project: Path) -> None:
    os.mkfifo(project / "pipe.yaml")
    assert include(project, "pipe.yaml") == ([], [codes.NOT_A_FILE])
    assert include(project, "pi*.yaml") == ([], [codes.NOT_A_FILE])
    with pytest.raises(OSError, match="not a regular file"):
        disk.read(project / "pipe.yaml", 10)


def test_no_more_is_read_than_the_limit(project: Path) -> None:
    (project / "big.yaml").write_bytes(b"x" * 100)
    assert len(disk.read(project / "big.yaml", 10)) == 11


def test_a_hostile_pattern_is_matched_without_backtracking(project: Path) -> None:
    write(project / ("a" * 200))
    assert include(project, "*a" * 100 + "b") == ([], [codes.NO_MATCH])
    assert include(project, "**/" * 1000 + "b") == ([], [codes.NO_MATCH])


def test_a_working_directory_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(DiagnosticError) as ended:
        find_root(Path())
    assert [found.message for found in ended.value.diagnostics] == [
        "the current directory does not exist any more"
    ]
