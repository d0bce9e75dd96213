"""Read and write files safely: no file can block dpsync, fill its memory, or harm another file.

- Reads accept only regular files, up to a limit. A FIFO, a device, a socket or a directory is an error at
  once. One exception: `read_stream`, for a token that a shell passes through a pipe.
- Everything inside `.git` is outside every project, because `.git` contains the credentials of the clone.
- Writes create a file, or replace a regular file as a whole. They never write through a link.
- Links are followed where a person names a file, and inside a project; the caller chooses. Every error is an
  OSError whose `strerror` is a sentence about the file.
"""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final


def _flags(*names: str) -> int:
    """Return the combined `os.open` flags of these names. Flags that the system lacks count as 0."""
    return sum(getattr(os, name, 0) for name in names)


_COMMON_FLAGS: Final = _flags("O_CLOEXEC", "O_NOINHERIT", "O_BINARY")
_NO_LINK: Final = _flags("O_NOFOLLOW")
_READ_FLAGS: Final = os.O_RDONLY | _COMMON_FLAGS | _flags("O_NONBLOCK", "O_NOCTTY")
_NEW_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _COMMON_FLAGS
_CHUNK_BYTES: Final = 1 << 20
_MAX_GIT_FILE_BYTES: Final = 1 << 16
OWN_DIRECTORY_NAME: Final = ".dpsync"
"""The name of dpsync's own directory in a project."""
_DOT_GIT: Final = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.DOTALL)
"""Names that some file systems treat as `.git`: NTFS has short names and streams, and drops final dots."""
_IGNORED_IN_NAMES: Final = re.compile(r"[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that HFS+ ignores when it compares names."""
_FILE_TYPES: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnusablePathError(OSError):
    """A path that dpsync does not read or write, such as a directory; `strerror` says why."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


class OutsideProjectError(UnusablePathError):
    """A path outside the project, or inside `.git`."""


def error_reason(error: OSError) -> str:
    """Return the reason of an OSError in words, for a message about a file."""
    return error.strerror or str(error) or type(error).__name__


def resolve_path(path: Path) -> Path:
    """Return the path after following every link. Raises OSError if the links form a loop."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError):
        raise UnusablePathError(path, "the links form a loop, or the path is not a valid file name") from None


def kind_of(path: Path) -> str | None:
    """Return the type of a path that is not a regular file ("a directory", "a link"); else None.

    None also if the path does not exist.
    """
    try:
        return _file_type(path.lstat().st_mode)
    except (OSError, ValueError):
        return None


def _file_type(mode: int) -> str | None:
    """Return the type of a file that is not regular ("a directory", "a pipe (FIFO)"), else None."""
    if stat.S_ISREG(mode):
        return None
    return next((words for has_type, words in _FILE_TYPES if has_type(mode)), "a special file")


def resolve_inside(path: Path, project: Path) -> Path:
    """Return a path after following every link, if that is allowed.

    A link in the project, or in the checkout that contains the project, must not lead out of it or into
    `.git`. Raises OutsideProjectError and OSError.
    """
    real_path, absolute_path = resolve_path(path), Path(os.path.normpath(path.absolute()))
    top = find_checkout(project)
    for root in (project, top):
        real_root = resolve_path(root)
        is_path_inside = any(
            absolute_path.is_relative_to(directory)
            for directory in (Path(os.path.normpath(root.absolute())), real_root)
        )
        if is_path_inside and not real_path.is_relative_to(real_root):
            raise OutsideProjectError(path, "the path is a link to a file outside the project")
    _refuse_git_path(path, real_path, top)
    return real_path


def name_in_project(path: Path, project: Path) -> str:
    """Return the path relative to its project, after following every link.

    Raises OutsideProjectError for a path outside the project or inside `.git`, and OSError.
    """
    real_path, real_project = resolve_path(path), resolve_path(project)
    if not real_path.is_relative_to(real_project):
        raise OutsideProjectError(path, "the path is outside the project")
    _refuse_git_path(path, real_path, find_checkout(real_project))
    return real_path.relative_to(real_project).as_posix()


def contains_git_name(names: Iterable[str]) -> bool:
    """Return whether one of these file or directory names is `.git`, in any spelling."""
    return any(_DOT_GIT.fullmatch(_IGNORED_IN_NAMES.sub("", name)) for name in names)


def _refuse_git_path(path: Path, real_path: Path, top: Path) -> None:
    """Raise OutsideProjectError if `real_path` is inside a `.git` of the checkout at `top`.

    `path` is for messages.
    """
    if not real_path.is_relative_to(top):
        return
    git_directory = _git_directory(top)
    if contains_git_name(real_path.relative_to(top).parts) or (
        git_directory is not None and real_path.is_relative_to(git_directory)
    ):
        raise OutsideProjectError(path, "the path is inside .git, which is not part of the project")


def _git_directory(top: Path) -> Path | None:
    """Return the git directory that a `.git` link or `.git` file points to.

    None if `.git` is a directory, or if the git directory contains `top`.
    """
    entry = top / ".git"
    if kind_of(entry) == "a directory":
        return None
    try:
        git_directory = resolve_path(entry)
        if git_directory.is_file():
            text = read(git_directory, _MAX_GIT_FILE_BYTES).decode("utf-8", "surrogateescape")
            git_directory = resolve_path(top / text.removeprefix("gitdir:").strip())
    except OSError:
        return None
    return None if top.is_relative_to(git_directory) else git_directory


def find_checkout(project: Path) -> Path:
    """Return the nearest directory with a `.git`, from the project upwards, or else the project."""
    real_project = resolve_path(project)
    return next(
        (
            directory
            for directory in (real_project, *real_project.parents)
            if os.path.lexists(directory / ".git")
        ),
        real_project,
    )


# Reading.


def read(path: Path, limit: int, follow: bool = True) -> bytes:
    """Return the content of a regular file, at most `limit` + 1 bytes. `follow` allows a link."""
    with _open_file(path, follow) as (file, mode):
        if kind := _file_type(mode):
            raise UnusablePathError(path, f"the path is {kind}, not a regular file")
        return b"".join(_read_chunks(file, limit + 1))


def read_stream(path: Path, limit: int, timeout: float) -> bytes:
    """Return the content of a file or pipe, at most `limit` + 1 bytes; empty for a pipe without a writer.

    Raises OSError if no program closed the pipe within `timeout` seconds.
    """
    with _open_file(path, follow=True) as (file, mode):
        if not stat.S_ISFIFO(mode) and (kind := _file_type(mode)):
            raise UnusablePathError(path, f"the path is {kind}, not a file")
        deadline = time.monotonic() + timeout
        content = b""
        while len(content) <= limit:
            try:
                piece = os.read(file, limit + 1 - len(content))
            except BlockingIOError:
                seconds_left = max(0.0, deadline - time.monotonic())
                if not select.select([file], [], [], seconds_left)[0]:
                    raise UnusablePathError(
                        path, f"no program closed the pipe within {timeout:g} seconds"
                    ) from None
                continue
            if not piece:
                break
            content += piece
        return content


@contextmanager
def _open_file(path: Path, follow: bool) -> Iterator[tuple[int, int]]:
    """Open a file for reading, and yield its descriptor and mode.

    A device is not opened, because opening alone can affect a device.
    """
    try:
        mode = path.stat().st_mode if follow else path.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise UnusablePathError(path, f"the path is {_file_type(mode)}, not a regular file")
        file = os.open(path, _READ_FLAGS | (0 if follow else _NO_LINK))
    except ValueError:
        raise UnusablePathError(path, "the path is not a valid file name") from None
    try:
        yield file, os.fstat(file).st_mode
    finally:
        os.close(file)


def _read_chunks(file: int, most: int) -> Iterator[bytes]:
    """Yield the content of an open file in chunks, at most `most` bytes in total."""
    while most > 0 and (piece := os.read(file, min(most, _CHUNK_BYTES))):
        yield piece
        most -= len(piece)


# Writing.


def create_private_file(path: Path) -> int:
    """Create a file that only its owner may read, and return its descriptor. Raises FileExistsError."""
    return os.open(path, _NEW_FILE_FLAGS, 0o600)


def new_file_beside(path: Path, content: bytes, private: bool = False) -> Path:
    """Write a new file into the directory of `path`, and return its path.

    The caller then renames it to `path`, so that readers see the old or the new content. The new file has the
    mode of the file that it will replace; only its owner may read a private one. Raises OSError if `path` is
    neither a regular file nor a link.
    """
    if (kind := kind_of(path)) not in (None, "a link"):
        raise UnusablePathError(path, f"the path is {kind}, not a regular file")
    for _ in range(100):
        new_path = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}")
        with suppress(FileExistsError):
            file = os.open(new_path, _NEW_FILE_FLAGS, 0o600 if private else 0o666)
            break
    else:
        raise UnusablePathError(path, "dpsync cannot create a temporary file in the same directory")
    try:
        try:
            write_and_sync(file, content)
            replaced = not private and path.is_file() and not path.is_symlink()
            if replaced and hasattr(os, "fchmod"):
                os.fchmod(file, path.stat().st_mode & 0o777)
        finally:
            os.close(file)
    except OSError:
        new_path.unlink(missing_ok=True)
        raise
    return new_path


def replace_file(path: Path, content: bytes, private: bool = False) -> None:
    """Write a file as a whole or not at all.

    Raises OSError if the path is not a regular file, or is a link. Only its owner may read a private file.
    """
    if kind := kind_of(path):
        raise UnusablePathError(path, f"the path is {kind}, not a regular file")
    new_path = new_file_beside(path, content, private)
    try:
        new_path.replace(path)
    finally:
        new_path.unlink(missing_ok=True)


def write_and_sync(file: int, content: bytes) -> None:
    """Write all of the content, and return when it is on disk."""
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def append(path: Path, content: bytes) -> None:
    """Append to a regular file; create it if it does not exist. Its directory must exist."""
    if kind := kind_of(path):
        raise UnusablePathError(path, f"the path is {kind}, not a regular file")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _COMMON_FLAGS, 0o600)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


# Directories and locks of dpsync.


@contextmanager
def own_directory() -> Iterator[Path]:
    """Yield a temporary directory that only its owner may enter. Its removal does not follow links."""
    with tempfile.TemporaryDirectory(prefix="dpsync-") as path:
        yield Path(path)


def write_new_file(path: Path, content: bytes) -> None:
    """Create a file with this content, which only its owner may read. Raises FileExistsError."""
    file = create_private_file(path)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


def make_own_directory(path: Path) -> None:
    """Create dpsync's own directory in a project, with a .gitignore that keeps it out of git."""
    make_directory(path, own=1)
    with suppress(FileExistsError):
        ignore = create_private_file(path / ".gitignore")
        os.write(ignore, b"*\n")
        os.close(ignore)


def make_directory(path: Path, own: int = 0) -> None:
    """Create a directory and its parents.

    The last `own` of them belong to dpsync, so they may not be links: files written there could land
    elsewhere.
    """
    for directory in [path, *path.parents][:own]:
        if kind_of(directory) == "a link":
            raise UnusablePathError(directory, f"{directory} is a link, but must be a directory")
    if path.exists() and not path.is_dir():
        raise UnusablePathError(path, f"{path} is not a directory")
    path.mkdir(parents=True, exist_ok=True)


@contextmanager
def lock(path: Path, seconds: float = 0) -> Iterator[None]:
    """Hold a lock between processes inside the block. The lock file stays, and nothing is written into it.

    Raises BlockingIOError if another process still holds the lock after this time in seconds.
    """
    from filelock import FileLock, Timeout  # imported late, because only an apply takes locks

    if kind := kind_of(path):
        raise UnusablePathError(path, f"{path} is {kind}, not a regular file")
    file_lock = FileLock(path, timeout=seconds, mode=0o600, fallback_to_soft=False)
    try:
        file_lock.acquire()
    except Timeout:
        raise BlockingIOError(errno.EAGAIN, "another process has locked the file", str(path)) from None
    try:
        yield
    finally:
        file_lock.release()
