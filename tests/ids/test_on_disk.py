"""The ids file on the disk: merged with what others wrote, replaced as a whole, and never harmed."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsync.apply import ids_on_disk
from dpsync.apply.ids_on_disk import IdsOnDisk, IdsWriteError
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.ids import IdsFile, RecordedLine

from .test_file import HERE, ids_of, line, section

REGISTRY = load_registry()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dpsync.ids.yaml"


def add(file: Path, *lines: RecordedLine, organization: str = "org-1") -> None:
    edits = {(organization, one.address): one for one in lines}
    IdsOnDisk(file, REGISTRY, "dpsync.ids.yaml").edit(HERE, edits)


def test_new_ids_file_is_created_and_readable(file: Path) -> None:
    add(file, line("acme/teams/a", "x"))

    assert IdsOnDisk(file, REGISTRY).read() == ids_of(line("acme/teams/a", "x"))


def test_ids_file_write_keeps_concurrent_lines(file: Path) -> None:
    add(file, line("acme/teams/a", "x"))
    file.write_text(
        section("acme/teams/a: x", "acme/teams/c: z") + "  org-2:\n    globex/teams/a: y\n", encoding="utf-8"
    )
    add(file, line("acme/teams/b", "w"))

    assert IdsOnDisk(file, REGISTRY).read() == ids_of(
        line("acme/teams/a", "x"), line("acme/teams/b", "w"), line("acme/teams/c", "z")
    ).with_edits(HERE, {("org-2", line("globex/teams/a", "y").address): line("globex/teams/a", "y")})


def test_parallel_ids_file_writers_lose_no_line(file: Path) -> None:
    lines = [line(f"acme/teams/t{number}", f"id-{number}") for number in range(24)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda one: add(file, one), lines))

    assert IdsOnDisk(file, REGISTRY).read() == ids_of(*lines)


def test_equivalent_ids_file_is_not_rewritten(file: Path) -> None:
    text = "# by hand\n" + section("acme/teams/b: y", "acme/teams/a: x")
    file.write_text(text, encoding="utf-8")
    add(file, line("acme/teams/a", "x"))

    assert file.read_text(encoding="utf-8") == text


def test_ids_file_is_not_created_without_lines(file: Path) -> None:
    """Otherwise, a file that says all of it already is written again, and has another time."""
    add(file)

    assert not file.exists()


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "- a\n", "https://a.example: 1\n", "\x00"])
def test_unparsable_ids_file_is_never_overwritten(file: Path, text: str) -> None:
    """Otherwise, a file that cannot be read is replaced, and its lines are lost."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(IdsWriteError, match=r"the ids file dpsync\.ids\.yaml cannot be written: line 1: "):
        add(file, line("acme/teams/a", "x"))

    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("make", ["directory", "link", "fifo"])
def test_ids_write_never_replaces_directory_link_or_pipe(file: Path, tmp_path: Path, make: str) -> None:
    if make == "directory":
        file.mkdir()
    elif make == "link":
        (tmp_path / "other.yaml").write_text(section("acme/teams/z: z"), encoding="utf-8")
        file.symlink_to("other.yaml")
    else:
        os.mkfifo(file)
    before = stat.S_IFMT(file.lstat().st_mode)
    with pytest.raises(IdsWriteError):
        add(file, line("acme/teams/a", "x"))

    assert stat.S_IFMT(file.lstat().st_mode) == before


def test_ids_file_write_refuses_symlink_leaving_project(tmp_path: Path) -> None:
    """Otherwise, a link in the project has the ids file written anywhere."""
    for name in ("project", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "data").symlink_to(tmp_path / "elsewhere")
    on_disk = IdsOnDisk(tmp_path / "project" / "data" / "ids.yaml", REGISTRY, project=tmp_path / "project")
    for write in (lambda: on_disk.put(IdsFile()), lambda: on_disk.edit("https://x.example", {})):
        with pytest.raises(IdsWriteError):
            write()

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_ids_file_in_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IdsWriteError, match="No such file or directory"):
        add(tmp_path / "nowhere" / "ids.yaml", line("acme/teams/a", "x"))


def test_local_ids_directory_gets_gitignore(tmp_path: Path) -> None:
    add(tmp_path / ".dpsync" / "ids.yaml", line("acme/teams/a", "x"))

    assert (tmp_path / ".dpsync" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_locked_ids_file_write_times_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, that another dpsync writes all the time stops an apply in the middle."""
    monkeypatch.setattr(ids_on_disk, "_LOCK_TIMEOUT", 0.0)
    with ids_on_disk._locked(file), pytest.raises(IdsWriteError, match="another dpsync"):
        add(file, line("acme/teams/a", "x"))


def test_ids_file_is_written_without_lock_directory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    add(file, line("acme/teams/a", "x"))

    assert file.exists()


def test_replacing_ids_lines_keeps_other_organizations(file: Path) -> None:
    add(file, line("acme/teams/a", "x"))
    add(file, line("globex/teams/a", "y"), organization="org-2")
    lines = {line("acme/teams/b", "z").address: line("acme/teams/b", "z")}
    IdsOnDisk(file, REGISTRY).replace(HERE, {"org-1": lines})

    assert IdsOnDisk(file, REGISTRY).read() == ids_of(line("acme/teams/b", "z")).with_edits(
        HERE, {("org-2", line("globex/teams/a", "y").address): line("globex/teams/a", "y")}
    )
