"""Every file that dpsync reads or writes is opened here: none can make it hang, swell or harm another one.

- What is read is a regular file, and never more of it than a limit. A FIFO, a device, a socket or a directory
  is an error at once. One exception: `read_stream`, for a token that a shell passes by a pipe.
- Everything inside `.git` is outside every project: `.git` contains the credentials of the clone.
- What is written is new, or takes the place of a regular file as a whole. Nothing is written through a link.
- Directories that dpsync makes for itself are directories, never links to another place.

Links are followed where a person names a file, and inside of a project; the caller says which. Every error is
an OSError whose `strerror` is a sentence about the file.
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
    """The flags for `os.open` of these names, without those that the system does not have."""
    return sum(getattr(os, name, 0) for name in names)


_ALWAYS: Final = _flags("O_CLOEXEC", "O_NOINHERIT", "O_BINARY")
_NO_LINK: Final = _flags("O_NOFOLLOW")
_READ: Final = os.O_RDONLY | _ALWAYS | _flags("O_NONBLOCK", "O_NOCTTY")
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _ALWAYS
_PIECE: Final = 1 << 20
_LONGEST_PATH: Final = 1 << 16
OWN: Final = ".dpsync"
"""The name of dpsync's own directory in a project."""
_DOT_GIT: Final = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.DOTALL)
"""Names that some file systems treat as `.git`: NTFS has short names and streams, and drops final dots."""
_IGNORED_IN_NAMES: Final = re.compile(r"[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that HFS+ ignores when it compares names."""
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Unfit(OSError):
    """What is there is no file that dpsync would use; `strerror` says what it is."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


class OutsideProject(Unfit):
    """A path outside the project, or inside `.git`."""


def why(error: OSError) -> str:
    """What was wrong with a file, in words."""
    return error.strerror or str(error) or type(error).__name__


def resolved(path: Path) -> Path:
    """The path after every link was followed. Raises OSError where they lead round in a circle."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError):
        raise Unfit(path, "the links form a loop, or the path is not a valid file name") from None


def kind_of(path: Path) -> str | None:
    """What a path is when it is no regular file: "a directory", "a link"; None for a file or nothing."""
    try:
        return _kind(path.lstat().st_mode)
    except (OSError, ValueError):
        return None


def _kind(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    return next((words for is_one, words in _KINDS if is_one(mode)), "a special file")


def inside(path: Path, project: Path) -> Path:
    """Return the path after following every link.

    A link in the project, or in the checkout that contains the project, must not lead out of it or into
    `.git`. Raises OutsideProject and OSError.
    """
    real, named = resolved(path), Path(os.path.normpath(path.absolute()))
    top = checkout(project)
    for place in (project, top):
        whole = resolved(place)
        is_named = any(named.is_relative_to(one) for one in (Path(os.path.normpath(place.absolute())), whole))
        if is_named and not real.is_relative_to(whole):
            raise OutsideProject(path, "the path is a link to a file outside the project")
    _refuse_git_path(path, real, top)
    return real


def name_in_project(path: Path, project: Path) -> str:
    """Return the path relative to its project, after following every link.

    Raises OutsideProject for a path outside the project or inside `.git`, and OSError.
    """
    real, whole = resolved(path), resolved(project)
    if not real.is_relative_to(whole):
        raise OutsideProject(path, "the path is outside the project")
    _refuse_git_path(path, real, checkout(whole))
    return real.relative_to(whole).as_posix()


def contains_git_name(names: Iterable[str]) -> bool:
    """Return whether one of these file or directory names is `.git`, in any spelling."""
    return any(_DOT_GIT.fullmatch(_IGNORED_IN_NAMES.sub("", name)) for name in names)


def _refuse_git_path(path: Path, real: Path, top: Path) -> None:
    """Raise OutsideProject if `real` is inside a `.git` of the checkout at `top`. `path` is for messages."""
    if not real.is_relative_to(top):
        return
    own = _git_directory(top)
    if contains_git_name(real.relative_to(top).parts) or (own is not None and real.is_relative_to(own)):
        raise OutsideProject(path, "the path is inside .git, which is not part of the project")


def _git_directory(top: Path) -> Path | None:
    """Return the directory that a `.git` link or `.git` file points to; None if `.git` is a directory."""
    entry = top / ".git"
    if kind_of(entry) == "a directory":
        return None
    try:
        own = resolved(entry)
        if own.is_file():
            text = read(own, _LONGEST_PATH).decode("utf-8", "surrogateescape")
            own = resolved(top / text.removeprefix("gitdir:").strip())
    except OSError:
        return None
    return None if top.is_relative_to(own) else own


def checkout(project: Path) -> Path:
    """Return the nearest directory with a `.git`, from the project upwards, or else the project."""
    whole = resolved(project)
    return next((one for one in (whole, *whole.parents) if os.path.lexists(one / ".git")), whole)


# Reading.


def read(path: Path, limit: int, follow: bool = True) -> bytes:
    """The content of a regular file, at most one byte more than `limit`. `follow` allows for a link."""
    with _opened(path, follow) as (file, mode):
        if kind := _kind(mode):
            raise Unfit(path, f"the path is {kind}, not a regular file")
        return b"".join(_pieces(file, limit + 1))


def read_stream(path: Path, limit: int, patience: float) -> bytes:
    """The same, or what a pipe gives until its end. A pipe that nobody writes into is empty.

    Raises OSError when a pipe has not ended after `patience` seconds.
    """
    with _opened(path, follow=True) as (file, mode):
        if not stat.S_ISFIFO(mode) and (kind := _kind(mode)):
            raise Unfit(path, f"the path is {kind}, not a file")
        until = time.monotonic() + patience
        content = b""
        while len(content) <= limit:
            try:
                piece = os.read(file, limit + 1 - len(content))
            except BlockingIOError:
                left = max(0.0, until - time.monotonic())
                if not select.select([file], [], [], left)[0]:
                    raise Unfit(path, f"no program closed the pipe within {patience:g} seconds") from None
                continue
            if not piece:
                break
            content += piece
        return content


@contextmanager
def _opened(path: Path, follow: bool) -> Iterator[tuple[int, int]]:
    """A file descriptor and its mode. A device is not even opened: for some, that alone does something."""
    try:
        before = path.stat().st_mode if follow else path.lstat().st_mode
        if not stat.S_ISREG(before) and not stat.S_ISFIFO(before):
            raise Unfit(path, f"the path is {_kind(before)}, not a regular file")
        file = os.open(path, _READ | (0 if follow else _NO_LINK))
    except ValueError:
        raise Unfit(path, "the path is not a valid file name") from None
    try:
        yield file, os.fstat(file).st_mode
    finally:
        os.close(file)


def _pieces(file: int, most: int) -> Iterator[bytes]:
    while most > 0 and (piece := os.read(file, min(most, _PIECE))):
        yield piece
        most -= len(piece)


# Writing.


def create(path: Path) -> int:
    """The descriptor of a new file that only its owner may read. Raises FileExistsError."""
    return os.open(path, _NEW, 0o600)


def new_file_beside(path: Path, content: bytes, private: bool = False) -> Path:
    """A new file with the content, on disk, beside the place that it is for: to be renamed to it.

    Its mode is that of the file that it replaces; a private one only its owner may read. Raises OSError
    where something else than a regular file or a link is in that place.
    """
    if (kind := kind_of(path)) not in (None, "a link"):
        raise Unfit(path, f"the path is {kind}, not a regular file")
    for _ in range(100):
        made = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}")
        with suppress(FileExistsError):
            file = os.open(made, _NEW, 0o600 if private else 0o666)
            break
    else:
        raise Unfit(path, "dpsync cannot create a temporary file in the same directory")
    try:
        try:
            write(file, content)
            replaced = not private and path.is_file() and not path.is_symlink()
            if replaced and hasattr(os, "fchmod"):
                os.fchmod(file, path.stat().st_mode & 0o777)
        finally:
            os.close(file)
    except OSError:
        made.unlink(missing_ok=True)
        raise
    return made


def put(path: Path, content: bytes, private: bool = False) -> None:
    """Write a file as a whole or not at all. What is there must be a regular file, and no link to one.

    A private file only its owner may read.
    """
    if kind := kind_of(path):
        raise Unfit(path, f"the path is {kind}, not a regular file")
    made = new_file_beside(path, content, private)
    try:
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def write(file: int, content: bytes) -> None:
    """All of it, and on disk before this returns."""
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def append(path: Path, content: bytes) -> None:
    """Write behind what a regular file holds. It must be there, or its directory: it is made then."""
    if kind := kind_of(path):
        raise Unfit(path, f"the path is {kind}, not a regular file")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _ALWAYS, 0o600)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


# Places of our own.


@contextmanager
def own_directory() -> Iterator[Path]:
    """A new directory that nobody else may enter, for a moment. Links in it are removed and not followed."""
    with tempfile.TemporaryDirectory(prefix="dpsync-") as made:
        yield Path(made)


def lay(path: Path, content: bytes) -> None:
    """Write a new file there. Raises FileExistsError."""
    file = create(path)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


def make_own(path: Path) -> None:
    """Make dpsync's own directory in a project, and keep it out of git."""
    make_directory(path, own=1)
    with suppress(FileExistsError):
        ignore = create(path / ".gitignore")
        os.write(ignore, b"*\n")
        os.close(ignore)


def make_directory(path: Path, own: int = 0) -> None:
    """Make a directory and what is above it. The last `own` of them are dpsync's, and may not be links."""
    for one in [path, *path.parents][:own]:
        if kind_of(one) == "a link":
            raise Unfit(one, f"{one} is a link, but must be a directory")
    if path.exists() and not path.is_dir():
        raise Unfit(path, f"{path} is not a directory")
    path.mkdir(parents=True, exist_ok=True)


@contextmanager
def lock(path: Path, seconds: float = 0) -> Iterator[None]:
    """Hold the lock which a file stands for. Nothing is written into that file, and it stays.

    Raises BlockingIOError where somebody else still holds it after that time (seconds).
    """
    from filelock import FileLock, Timeout  # not part of a start: only what applies holds locks

    if kind := kind_of(path):
        raise Unfit(path, f"{path} is {kind}, not a regular file")
    held = FileLock(path, timeout=seconds, mode=0o600, fallback_to_soft=False)
    try:
        held.acquire()
    except Timeout:
        raise BlockingIOError(errno.EAGAIN, "another process has locked the file", str(path)) from None
    try:
        yield
    finally:
        held.release()
