"""Read and change the ids file, which says which live object each entry is, on disk.

Another dpsync process may write to the same file for another organization. So an edit reads the file again
under a lock, changes only its own lines, and replaces the file atomically.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync import disk
from dpsync.apply.journal import NoStateDirectoryError, state_directory
from dpsync.config.ids_file import (
    find_conflict_markers,
    invalid_ids_file_error,
    parse,
    parse_conflict,
    read_ids_file,
    render_ids_file,
)
from dpsync.config.yaml_reader import DEFAULT_LIMITS, decode
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError, Findings
from dpsync.model.ids import IdsEdits, IdsFile, LinesByAddress

_LOCK_TIMEOUT: Final = 2.0
"""Seconds to wait for the lock, which is held for one reading and one writing."""


class IdsWriteError(Exception):
    """The ids file was not written. The text says which file, and why."""


class ResolvedIds(Struct, frozen=True):
    """The content of an ids file that may have a merge conflict: the lines about which both sides agree."""

    ids: IdsFile
    conflicting_lines: frozenset[tuple[str, str, Address]] = frozenset()
    """Platform, organization and address of the lines about which the sides differ: they are not in `ids`."""
    has_conflict_markers: bool = False


class IdsOnDisk:
    """One ids file of a project. Links in its path must not lead out of the project.

    `name` stands for the file in messages. With `commit`, the file must equal the file in that commit.
    """

    def __init__(
        self, path: Path, registry: Registry, name: str | None = None, project: Path | None = None,
        commit: str | None = None,
    ) -> None:  # fmt: skip
        self.path = path
        self.name = name or str(path)
        self._registry = registry
        self._project = project or path.parent
        self._commit = commit

    def read(self) -> IdsFile:
        """Return the lines of the file, or no lines without a file.

        Raises DiagnosticError (exit code 5 or 4).
        """
        data = read_ids_file(self.path, self.name, self._project)
        if self._commit is not None:
            from dpsync.config.checked_files import check_file  # loads git code, rarely needed

            check_file(self.path, self.name, data, self._commit, self._project)
        return IdsFile() if data is None else self._parse(data)

    def read_both(self) -> ResolvedIds:
        """Return the lines of an ids file that may have merge conflicts, from both sides of each conflict.

        Raises DiagnosticError (exit code 5) for an invalid file.
        """
        data = read_ids_file(self.path, self.name, self._project)
        if data is None:
            return ResolvedIds(IdsFile())
        ids, conflicting, problems = parse_conflict(data, self.name, self._registry)
        if problems:
            raise self._invalid_file_error(problems, data)
        has_markers = bool(find_conflict_markers(decode(data, self.name)[0], self.name))
        return ResolvedIds(ids, conflicting, has_conflict_markers=has_markers or bool(conflicting))

    def edit(self, platform: str, edits: IdsEdits) -> None:
        """Change these lines of the file, and no others. Raises IdsWriteError."""
        self._change(lambda ids: ids.with_edits(platform, edits))

    def replace(self, platform: str, sections: Mapping[str, LinesByAddress]) -> None:
        """Replace all lines of some organizations. Raises IdsWriteError."""

        def replaced(ids: IdsFile) -> IdsFile:
            """Return the file with these lines for the organizations."""
            for organization, lines in sections.items():
                ids = ids.with_section(platform, organization, lines)
            return ids

        self._change(replaced)

    def put(self, ids: IdsFile) -> None:
        """Replace the whole file, without reading it. Raises IdsWriteError."""
        try:
            self._write(render_ids_file(ids))
        except OSError as error:
            raise self._not_written_error(disk.error_reason(error)) from None

    def _change(self, change: Callable[[IdsFile], IdsFile]) -> None:
        """Read the file under its lock, apply `change`, and write the file if it differs.

        Raises IdsWriteError.
        """
        try:
            with _locked(self.path):
                try:
                    path = disk.resolve_inside(self.path, self._project)
                    data = disk.read(path, DEFAULT_LIMITS.bytes, follow=False)
                except FileNotFoundError:
                    present = IdsFile()
                else:
                    present = self._parse(data)
                changed = change(present)
                if changed.sections != present.sections or present.duplicate_lines:
                    self._write(render_ids_file(changed))
        except DiagnosticError as unusable:
            first = unusable.diagnostics[0]
            where = f"line {first.span.line}: " if first.span else ""
            raise self._not_written_error(f"{where}{first.message}") from None
        except BlockingIOError:
            raise self._not_written_error("another dpsync command keeps changing the file") from None
        except OSError as error:
            raise self._not_written_error(disk.error_reason(error)) from None

    def _parse(self, data: bytes) -> IdsFile:
        """Return the lines in the content of the file. Raises DiagnosticError (exit code 5)."""
        ids, problems = parse(data, self.name, self._registry)
        if problems:
            raise self._invalid_file_error(problems, data)
        return ids

    def _invalid_file_error(self, problems: Findings, data: bytes) -> DiagnosticError:
        """Return the error for an invalid file.

        Lines of a file outside the project's checkout are not shown.
        """
        is_in_checkout = disk.resolve_path(self.path).is_relative_to(disk.find_checkout(self._project))
        return invalid_ids_file_error(problems, data, self.name, excerpts=is_in_checkout)

    def _write(self, data: bytes) -> None:
        """Replace the file atomically, and create dpsync's own directory for it. Raises OSError."""
        disk.resolve_inside(self.path, self._project)
        if self.path.parent.name == disk.OWN_DIRECTORY_NAME:
            disk.make_own_directory(self.path.parent)
        disk.replace_file(self.path, data)

    def _not_written_error(self, why: str) -> IdsWriteError:
        """Return the error for a file that cannot be written."""
        return IdsWriteError(f"the ids file {self.name} cannot be written: {why}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the ids file. Raises BlockingIOError if another process keeps the lock.

    If no lock file can be created, the ids file is written without a lock: it is replaced atomically anyway.
    """
    with ExitStack() as locks:
        try:
            directory = state_directory(os.environ) / "locks"
            name = hashlib.sha256(f"ids {path.resolve()}".encode()).hexdigest()
            disk.make_directory(directory)
            locks.enter_context(disk.lock(directory / name, _LOCK_TIMEOUT))
        except BlockingIOError:
            raise
        except (NoStateDirectoryError, OSError):
            pass
        yield
