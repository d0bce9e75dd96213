"""Find the files of a configuration: the root file, and the files that `include` names. Parses nothing.

Every file must be inside the project (the directory of the root file), after following symbolic links. The
loader reads files through `Files`: from a directory (`DiskFiles`), or from a commit (`CommitFiles` in
git.py). File names are relative to the project and joined with "/".
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from operator import attrgetter
from os.path import relpath
from pathlib import Path, PurePath
from typing import Final, Protocol

from msgspec import Struct

from dpsync import disk
from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Node, Scalar, Sequence, Span
from dpsync.model.text import format_command

ROOT_NAMES: Final = ("dpsync.yaml", "dpsync.yml")
IDS_NAME: Final = "dpsync.ids.yaml"
"""The ids file, next to the root file. It is not configuration, so no pattern of `include` matches it."""
MOVE_INSIDE_HINT: Final = "move the file into the directory of the root file, outside .git"
"""The hint for a path that leads outside the project."""
_MAX_SEARCHED_DIRECTORIES: Final = 200
"""The maximum number of directories that are searched for a suggestion."""


class IncludedFile(Struct, frozen=True):
    """A file of the configuration: its name relative to the project, its real path, and its include."""

    name: str
    path: Path
    span: Span


def find_root(start: Path) -> Path:
    """Return the root file of the nearest directory that has one, from `start` up to the git root.

    Outside git, the search ends at the root of the file system. Raises DiagnosticError (exit 5) if there is
    no root file, or if one directory has both names.
    """
    try:
        start_directory = directory = start.resolve()
    except FileNotFoundError:
        raise DiagnosticError(
            [Diagnostic(codes.NO_ROOT, "the current directory does not exist any more")], Exit.INVALID
        ) from None
    for directory in (start_directory, *start_directory.parents):
        root_files = [directory / name for name in ROOT_NAMES if _is_root_file(directory / name)]
        if len(root_files) > 1:
            message = f"{directory} contains both {ROOT_NAMES[0]} and {ROOT_NAMES[1]}"
            problem = Diagnostic(
                codes.SEVERAL_ROOTS, message, hint="delete one of the two files, or choose one with --file"
            )
            raise DiagnosticError([problem], Exit.INVALID)
        if root_files:
            return root_files[0]
        with suppress(OSError):
            if (directory / ".git").exists():
                break
    message = (
        f"dpsync found no {ROOT_NAMES[0]} in {start_directory} or in the directories above, up to {directory}"
    )
    hint = (
        "choose the directory with -C DIR, choose the file with --file, "
        f"or create a file with {format_command('init')}"
    )
    raise DiagnosticError([Diagnostic(codes.NO_ROOT, message, hint=hint)], Exit.INVALID)


def has_root(directory: Path) -> bool:
    """Return whether a directory itself has a root file, valid or not."""
    return any(_is_root_file(directory / name) for name in ROOT_NAMES)


def included_files(
    root: Path, include: Node, including_file: str = ""
) -> tuple[list[IncludedFile], list[Diagnostic]]:
    """Return the files that the value of `include` names: each once, sorted by name.

    `including_file` is the file that contains the `include`, if that is not the root file.
    """
    if not isinstance(include, Sequence):
        message = '"include" must be a list of paths'
        return [], [Diagnostic(codes.INCLUDE, message, include.span, hint="write include: [sites/*.yaml]")]
    project = root.parent.resolve()
    files: dict[Path, IncludedFile] = {}
    problems: list[Diagnostic] = []
    for include_item in include:
        if not isinstance(include_item, Scalar) or not isinstance(include_item.value, str):
            problems.append(
                Diagnostic(
                    codes.INCLUDE, 'an item of "include" must be a path or a pattern', include_item.span
                )
            )
            continue
        matched_files, refused = _files_of_path(
            root, project, (project / including_file).parent if including_file else project, include_item
        )
        problems.extend(refused)
        for file in matched_files:
            files.setdefault(file.path, file)
    return sorted(files.values(), key=attrgetter("name")), problems


def _files_of_path(
    root: Path, project: Path, directory: Path, include_item: Scalar
) -> tuple[list[IncludedFile], list[Diagnostic]]:
    """Return the files that one item of `include` names, and findings about it.

    `include_item` is a path or a pattern with `*`, relative to `directory`. If it is a pattern, the root file
    and the ids file are left out.
    """
    text, span = str(include_item.value), include_item.span
    if not text.strip() or text.startswith(("/", "~")) or "://" in text:
        message = f'"{text}" is not a path relative to {root.name}'
        return [], [
            Diagnostic(
                codes.INCLUDE,
                message,
                span,
                hint='"include" can only contain paths inside the project, such as sites/docs.yaml',
            )
        ]
    if "*" not in text:
        file_or_problem = _included_file(project, directory / text, text, span, directory)
        if isinstance(file_or_problem, IncludedFile) and file_or_problem.path == root.resolve():
            return [], [
                Diagnostic(codes.INCLUDE, f"{root.name} includes itself", span, hint="delete the item")
            ]
        return ([], [file_or_problem]) if isinstance(file_or_problem, Diagnostic) else ([file_or_problem], [])
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if ".." in segments:
        return [], [_outside_finding(text, span, 'a pattern cannot contain ".."')]
    if disk.contains_git_name(segments):
        return [], [_outside_finding(text, span)]
    files: list[IncludedFile] = []
    problems: list[Diagnostic] = []
    for path in _matching_files(directory, segments):
        file_or_problem = _included_file(project, path, path.relative_to(project).as_posix(), span, directory)
        if isinstance(file_or_problem, Diagnostic):
            problems.append(file_or_problem)
        elif file_or_problem.path != root.resolve() and file_or_problem.name != IDS_NAME:
            # A pattern such as "*.yaml" often matches the root file and the ids file too: skip them.
            files.append(file_or_problem)
    if not files and not problems:
        problems.append(_no_match_finding(text, span, project, directory))
    return files, problems


def _included_file(
    project: Path, path: Path, text: str, span: Span, directory: Path
) -> IncludedFile | Diagnostic:
    """Return the file at a path, or the finding why it may not be included.

    `text` is the path as written in `include`, for messages; `directory` is what it is relative to.
    """
    try:
        name = disk.name_in_project(path, project)
    except disk.OutsideProjectError:
        return _outside_finding(text, span)
    except OSError as error:
        return Diagnostic(codes.UNREADABLE, f'"{text}" cannot be read: {disk.error_reason(error)}', span)
    real = project / name
    try:
        name.encode()
        mode = real.stat().st_mode
    except UnicodeEncodeError:
        return Diagnostic(
            codes.UNREADABLE, f'the file name "{text}" is not UTF-8', span, hint="rename the file"
        )
    except FileNotFoundError:
        return _no_match_finding(text, span, project, directory)
    except OSError as error:
        return Diagnostic(codes.UNREADABLE, f'"{text}" cannot be read: {disk.error_reason(error)}', span)
    if stat.S_ISREG(mode):
        return IncludedFile(name, real, span)
    if stat.S_ISDIR(mode):
        hint = f'to include the files of this directory, write "{text.rstrip("/")}/*.yaml"'
        return Diagnostic(codes.NOT_A_FILE, f'"{text}" is a directory', span, hint=hint)
    return Diagnostic(codes.NOT_A_FILE, f'"{text}" is not a regular file', span)


def _outside_finding(text: str, span: Span, hint: str = MOVE_INSIDE_HINT) -> Diagnostic:
    """Return the finding that a path leads outside the project."""
    return Diagnostic(codes.OUTSIDE, f'"{text}" is outside the project', span, hint=hint)


def _no_match_finding(text: str, span: Span, project: Path, directory: Path) -> Diagnostic:
    """Return the finding that an item of `include` matches no file, suggesting a file of the same name."""
    message = f'no file matches "{text}"' if "*" in text else f'there is no file "{text}"'
    base_file = "the root file" if directory == project else "this file"
    hint = f"paths are relative to the directory of {base_file}"
    name = text.rpartition("/")[2]
    same_name = next(
        (path for path in yaml_files(project, _MAX_SEARCHED_DIRECTORIES) if path.name == name), None
    )
    if same_name is not None:
        hint += f': did you mean "{PurePath(relpath(same_name, directory.resolve())).as_posix()}"?'
    return Diagnostic(codes.NO_MATCH, message, span, hint=hint)


def _matching_files(project: Path, segments: list[str]) -> Iterator[Path]:
    """Yield the files that a pattern of `include` matches, read from disk.

    `*` stays within one name, `**` is any number of directories. Neither matches a name that begins with a
    dot, or follows a link to a directory (loops). Patterns never match `.git`.

    The algorithm walks the directory tree with a set of positions in the pattern, as a nondeterministic
    automaton does. So each directory is read once, for any number of `**`.
    """
    last = len(segments)
    if segments and segments[-1] == "**":
        segments, last = [*segments, "*"], last + 1
    pending = [(project, _with_empty_matches(segments, {0}))]
    while pending:
        directory, positions = pending.pop()
        for entry in _directory_entries(directory):
            if disk.contains_git_name((entry.name,)):
                continue
            next_positions = {i + 1 for i in positions if segments[i] == entry.name}
            # Wildcards do not follow a link to a directory.
            if not entry.is_symlink() or not _is_directory(entry):
                next_positions |= {i + 1 for i in positions if _matches_segment(segments[i], entry.name)}
                if not entry.name.startswith("."):
                    next_positions |= {i for i in positions if segments[i] == "**"}
            if _is_directory(entry):
                # The position after the last segment matches only files.
                inner_positions = _with_empty_matches(segments, next_positions) - {last}
                if inner_positions:
                    pending.append((Path(entry.path), inner_positions))
            elif last in next_positions:
                yield Path(entry.path)


def yaml_files(project: Path, most: int, nested: bool = True) -> Iterator[Path]:
    """Yield the YAML files below a directory, by name, from at most `most` directories.

    Links, and names that begin with a dot, are skipped. If `nested` is false, other projects inside are
    skipped too: directories with a root file or a git repository of their own.
    """
    pending, searched = [project], 0
    while pending and searched < most:
        searched += 1
        directory = pending.pop(0)
        entries = sorted(_directory_entries(directory), key=lambda entry: entry.name)
        if not nested and directory != project and any(e.name in (".git", *ROOT_NAMES) for e in entries):
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if _is_directory(entry):
                pending.append(Path(entry.path))
            elif entry.name.endswith((".yaml", ".yml")):
                yield Path(entry.path)


def matches_include(name: str, pattern: str) -> bool:
    """Return whether a file name matches a pattern of `include`, without reading a directory.

    The rules are those of `_matching_files`. It is used for the files of a commit.
    """
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    last = len(segments)
    if segments and segments[-1] == "**":
        segments, last = [*segments, "*"], last + 1
    *directories, file = name.split("/")
    positions = _with_empty_matches(segments, {0})
    for part in directories:
        next_positions = {i + 1 for i in positions if i < last and _equals_or_matches(segments[i], part)}
        if not part.startswith("."):
            next_positions |= {i for i in positions if i < last and segments[i] == "**"}
        positions = _with_empty_matches(segments, next_positions)
    return any(i == last - 1 and _equals_or_matches(segments[i], file) for i in positions)


def _equals_or_matches(segment: str, name: str) -> bool:
    """Return whether a name matches one segment of a pattern, literally or by `*`."""
    return segment == name or _matches_segment(segment, name)


def _with_empty_matches(segments: list[str], positions: Iterable[int]) -> frozenset[int]:
    """Add the positions in a pattern that are reached if `**` matches no directory.

    A position is the number of pattern segments that are already matched.
    """
    closure = set(positions)
    for i, segment in enumerate(segments):
        if segment == "**" and i in closure:
            closure.add(i + 1)
    return frozenset(closure)


def _matches_segment(pattern: str, name: str) -> bool:
    """Return whether a name matches a segment with `*`, in linear time (unlike a regular expression)."""
    if pattern == "**" or "*" not in pattern or (name.startswith(".") and not pattern.startswith(".")):
        return False
    first, *middle, end = pattern.split("*")
    if not name.startswith(first) or not name.endswith(end) or len(name) < len(first) + len(end):
        return False
    position, stop = len(first), len(name) - len(end)
    for piece in middle:
        index = name.find(piece, position, stop)
        if index < 0:
            return False
        position = index + len(piece)
    return True


def _directory_entries(directory: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a directory; empty if it may not be read."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a directory, also through a link; false if that cannot be read."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_root_file(path: Path) -> bool:
    """Return whether a path with the name of a root file exists, valid or not."""
    return os.path.lexists(path) and not os.path.isdir(path)  # noqa: PTH112 - which raises nothing


class Files(Protocol):
    """The files of one project. `root` is the name of the root file."""

    root: str

    def included(
        self, include: Node, including_file: str = ""
    ) -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files that the value of `include` names: each once, sorted by name, and findings.

        `including_file` is the file that contains the `include`; "" means the root file.
        """
        ...

    def real_name(self, name: str) -> str | None:
        """Return the name after following links; None if it is outside the project or inside `.git`."""
        ...

    def read(self, name: str, limit: int) -> bytes:
        """Return the content, at most `limit` + 1 bytes. Raises OSError."""
        ...


class StagedFiles:
    """The files of a project, some with new content that is not written yet, to check it before writing."""

    def __init__(self, files: Files, contents: Mapping[str, bytes]) -> None:
        self.root = files.root
        self._files = files
        self._contents = contents

    def included(
        self, include: Node, including_file: str = ""
    ) -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files that `include` names. New files with staged content are not found."""
        return self._files.included(include, including_file)

    def real_name(self, name: str) -> str | None:
        """Return the name after following links."""
        return self._files.real_name(name)

    def read(self, name: str, limit: int) -> bytes:
        """Return the staged content of a file, or else its content on disk."""
        if name in self._contents:
            return self._contents[name][: limit + 1]
        return self._files.read(name, limit)


class DiskFiles:
    """The files of a project on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root.name
        self._path = root
        self._project = root.parent.resolve()

    def included(
        self, include: Node, including_file: str = ""
    ) -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files that `include` names, and findings about it."""
        return included_files(self._path, include, including_file)

    def real_name(self, name: str) -> str | None:
        """Return the name after following links; None if it is outside the project or inside `.git`."""
        try:
            return disk.name_in_project(self._project / name, self._project)
        except disk.OutsideProjectError:
            return None
        except OSError:
            return name  # reading the file will raise the error again

    def read(self, name: str, limit: int) -> bytes:
        """Return at most `limit` + 1 bytes of a file. Raises OSError, also for a path outside the project."""
        return disk.read(disk.resolve_inside(self._project / name, self._project), limit, follow=False)
