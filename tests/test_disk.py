"""No file makes dpsync hang, swell or harm another one."""

from __future__ import annotations

import ast
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpsync import disk

SOURCE = Path(__file__).parents[1] / "dpsync"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as open_one:
        open_one.bind(str(path))


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


NO_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a directory": (Path.mkdir, "a directory"),
    "a pipe": (fifo, "a pipe"),
    "a socket": (listening, "a socket"),
    "a link to a device": (link_to("/dev/zero"), "a device|a link"),
    "a link to a terminal": (link_to("/dev/tty"), "a device|a link"),
    "a link to a directory": (link_to("/tmp"), "a directory|a link"),
    "a link to nothing": (link_to("/nowhere/at/all"), "No such file|a link"),
    "a link to itself": (link_to("odd"), "symbolic links|a link"),
}


@pytest.fixture(params=NO_FILES)
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """Something that is no file, and what is said about it."""
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    make, words = NO_FILES[request.param]
    make(Path("odd"))
    return tmp_path / "odd", words


def test_disk_read_refuses_irregular_file(odd: tuple[Path, str]) -> None:
    for follow in (True, False):
        with pytest.raises(OSError, match=odd[1]):
            disk.read(odd[0], 10, follow=follow)


def test_replace_file_refuses_and_keeps_irregular_file(odd: tuple[Path, str], tmp_path: Path) -> None:
    before = odd[0].lstat()
    with pytest.raises(OSError, match=odd[1]):
        disk.replace_file(odd[0], b"new")
    assert odd[0].lstat() == before
    assert sorted(tmp_path.iterdir()) == [odd[0]]


def test_lock_refuses_irregular_file(odd: tuple[Path, str]) -> None:
    with pytest.raises(OSError, match=odd[1]), disk.lock(odd[0]):
        pass


def test_create_private_file_refuses_existing_path(odd: tuple[Path, str]) -> None:
    with pytest.raises(FileExistsError):
        disk.create_private_file(odd[0])


def test_disk_read_stops_one_byte_after_limit(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    assert disk.read(sparse, 10) == bytes(11)
    assert disk.read_stream(sparse, 10, 0) == bytes(11)


def test_disk_read_refuses_symlink_unless_following_links(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert disk.read(tmp_path / "link", 10) == b"text"
    with pytest.raises(OSError, match="a link"):
        disk.read(tmp_path / "link", 10, follow=False)


def test_file_writes_and_locks_refuse_symlink(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "link").symlink_to("target")
    for attempt in (
        lambda path: disk.replace_file(path, b"new"),
        lambda path: disk.lock(path).__enter__(),
        disk.create_private_file,
    ):
        with pytest.raises(OSError, match=r"a link|exists"):
            attempt(tmp_path / "link")
    assert target.read_bytes() == b"precious"


def test_lock_keeps_contents_of_hard_linked_file(tmp_path: Path) -> None:
    """A hard link is a regular file: what it shares must be left as it is."""
    (tmp_path / "precious").write_bytes(b"precious")
    os.link(tmp_path / "precious", tmp_path / "lock")
    with disk.lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / "lock").exists()


@contextmanager
def another_process_holds(lock: Path) -> Iterator[subprocess.Popen[str]]:
    code = "import pathlib, sys; from dpsync import disk\n"
    code += "with disk.lock(pathlib.Path(sys.argv[1])): print('held', flush=True); input()"
    command = [sys.executable, "-c", code, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
        other.kill()


def test_lock_is_released_when_its_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with another_process_holds(path) as other:
        with pytest.raises(BlockingIOError), disk.lock(path):
            pass
        other.kill()
        other.wait()
        with disk.lock(path):
            pass


def test_waiting_lock_is_acquired_when_other_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with another_process_holds(path) as other:
        end = threading.Timer(0.1, other.kill)
        end.start()
        with disk.lock(path, seconds=60):
            assert end.finished.is_set()


def test_lock_file_is_readable_only_by_owner(tmp_path: Path) -> None:
    with disk.lock(tmp_path / "lock"):
        assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_file_is_replaced_as_a_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    disk.replace_file(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_failed_replace_file_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "write_and_sync", full)
    with pytest.raises(OSError, match="No space left"):
        disk.replace_file(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


def test_read_stream_reads_whole_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"tok" * 100))
    holding = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # so that the writer can begin
    writer.start()
    try:
        writer.join()
        assert disk.read_stream(tmp_path / "pipe", 1000, 5) == b"tok" * 100
    finally:
        os.close(holding)


def test_read_stream_times_out_on_never_closed_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert disk.read_stream(tmp_path / "pipe", 10, 5) == b""
    holding = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(OSError, match="no program closed the pipe within"):
            disk.read_stream(tmp_path / "pipe", 10, 0.01)
    finally:
        os.close(holding)


@pytest.mark.parametrize("own", ["journal", "."])
def test_make_directory_refuses_symlinked_dpsync_directory(own: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place = tmp_path / "project" / ".dpsync"
    (tmp_path / "project").mkdir()
    if own == "journal":
        place.mkdir()
        (place / "journal").symlink_to(tmp_path / "elsewhere")
    else:
        place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="is a link"):
        disk.make_directory(place / "journal", own=2)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_make_directory_works_in_symlinked_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    disk.make_directory(tmp_path / "alias" / ".dpsync" / "journal", own=2)
    assert (tmp_path / "real" / ".dpsync" / "journal").is_dir()


def test_only_disk_module_opens_files() -> None:
    """Names of what opens, makes or changes files; a method of another kind of thing may bear one of them."""
    opening = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkstemp", "mkdtemp"}
    opening |= {
        "NamedTemporaryFile",
        "TemporaryDirectory",
        "fdopen",
        "FileIO",
        "copy",
        "copytree",
        "copyfile",
    }
    # An output opens the null device when nobody reads it any more; a client reads the text of a response.
    allowed = {
        ("cli/output.py", "open"),
        ("client/client.py", "read_text"),
    }
    allowed |= {("cli/help_pages.py", "write_text")}  # a method of click's formatter
    allowed |= {("render/html.py", "read_text")}  # the template, out of the package
    found = set()
    for path in SOURCE.rglob("*.py"):
        where = path.relative_to(SOURCE).as_posix()
        if where.startswith("server/") or where == "disk.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in opening:
                    found.add((where, name))
    assert found == allowed
