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
    """Return the names of the included files and the codes of the problems."""
    node, _ = read(str(list(patterns)), "dpsync.yaml")
    assert node is not None
    files, problems = included_files(project / "dpsync.yaml", node)
    return [file.name for file in files], [problem.code for problem in problems]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project inside a directory that also contains unrelated files."""
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


def test_root_file_search_finds_nearest_file(tmp_path: Path) -> None:
    outer = write(tmp_path / "dpsync.yaml")
    inner = write(tmp_path / "a" / "dpsync.yml")
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "c").mkdir()
    assert find_root(tmp_path / "a" / "b") == inner
    assert find_root(tmp_path / "c") == outer


@pytest.mark.parametrize("worktree", [False, True], ids=["directory", "file"])
def test_root_file_search_stops_at_git_root(tmp_path: Path, worktree: bool) -> None:
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


def test_two_root_files_in_one_directory_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "dpsync.yaml")
    write(tmp_path / "dpsync.yml")
    with pytest.raises(DiagnosticError, match=r"both dpsync\.yaml and dpsync\.yml") as raised:
        find_root(tmp_path)
    assert [problem.code for problem in raised.value.diagnostics] == [codes.SEVERAL_ROOTS]


def test_root_file_search_skips_directory_of_same_name(tmp_path: Path) -> None:
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
def test_include_patterns_select_expected_files(project: Path, patterns: list[str], names: list[str]) -> None:
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
def test_invalid_include_pattern_is_an_error(project: Path, pattern: str, code: str) -> None:
    assert include(project, pattern) == ([], [code])


@pytest.mark.parametrize("text", ["teams.yaml", "{a: b}", "null"])
def test_include_of_wrong_type_is_refused(project: Path, text: str) -> None:
    node, _ = read(text, "dpsync.yaml")
    assert node is not None
    files, [problem] = included_files(project / "dpsync.yaml", node)
    assert (files, problem.code) == ([], codes.INCLUDE)


@pytest.mark.parametrize("item", ["1", "[a]", "{a: b}", "null"])
def test_include_item_of_wrong_type_is_refused(project: Path, item: str) -> None:
    node, _ = read(f"[{item}]", "dpsync.yaml")
    assert node is not None
    assert [problem.code for problem in included_files(project / "dpsync.yaml", node)[1]] == [codes.INCLUDE]


@pytest.mark.parametrize("pattern", ["link.yaml", "li*.yaml", "out/secret.yaml", "out/*.yaml"])
def test_include_symlink_leaving_project_is_refused(project: Path, pattern: str) -> None:
    (project / "link.yaml").symlink_to(project.parent / "secret.yaml")
    (project / "out").symlink_to(project.parent)
    names, problems = include(project, pattern)
    assert names == []
    assert set(problems) == {codes.OUTSIDE}


def test_include_deduplicates_symlink_inside_project(project: Path) -> None:
    (project / "link.yaml").symlink_to("sites/a.yaml")
    assert include(project, "link.yaml", "sites/a.yaml") == (["sites/a.yaml"], [])


def test_include_works_in_symlinked_project(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    assert include(project.parent / "alias", "sites/*.yaml") == (["sites/a.yaml", "sites/b.yaml"], [])


def test_include_survives_symlink_loops(project: Path) -> None:
    (project / "sites" / "loop").symlink_to("..")
    (project / "self.yaml").symlink_to("self.yaml")
    assert include(project, "sites/**/a.yaml") == (["sites/a.yaml"], [])
    assert include(project, "self.yaml") == ([], [codes.UNREADABLE])


def test_include_refuses_named_pipes(project: Path) -> None:
    os.mkfifo(project / "pipe.yaml")
    assert include(project, "pipe.yaml") == ([], [codes.NOT_A_FILE])
    assert include(project, "pi*.yaml") == ([], [codes.NOT_A_FILE])
    with pytest.raises(OSError, match="not a regular file"):
        disk.read(project / "pipe.yaml", 10)


def test_disk_read_stops_one_byte_after_limit(project: Path) -> None:
    (project / "big.yaml").write_bytes(b"x" * 100)
    assert len(disk.read(project / "big.yaml", 10)) == 11


def test_hostile_include_pattern_is_matched_quickly(project: Path) -> None:
    write(project / ("a" * 200))
    assert include(project, "*a" * 100 + "b") == ([], [codes.NO_MATCH])
    assert include(project, "**/" * 1000 + "b") == ([], [codes.NO_MATCH])


def test_deleted_working_directory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(DiagnosticError) as ended:
        find_root(Path())
    assert [found.message for found in ended.value.diagnostics] == [
        "the current directory does not exist any more"
    ]
