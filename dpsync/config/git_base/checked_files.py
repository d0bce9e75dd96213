"""Compare each file of a working copy with a commit before dpsync uses the file.

In a workflow with secrets, untrusted code (a build, an unpacked artifact) may write into the working copy.
Therefore each file must be identical in the commit whose id GitHub has provided. Untrusted code could also
change the `.git` directory, so each git object is used only if its hash matches its id.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NoReturn

from msgspec import Struct

from dpsync.config import codes
from dpsync.config.composing.discovery import ROOT_NAMES, Included
from dpsync.config.composing.files import Directory
from dpsync.config.git_base.git import CommitFiles, NoRepository, Repository
from dpsync.config.reading.reader import DEFAULT_LIMITS
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.nodes import Node, Span
from dpsync.model.text import short_commit

_DIRECTORY: Final = "40000"
_SUBMODULE: Final = "160000"
_LARGEST: Final = 1 << 26
"""Maximum size, in bytes, of a commit object or a tree object."""
_MOST: Final = 1_000_000
"""Maximum number of files in a commit: nested copies of one tree object can expand to very many files."""
_LINE_END: Final = re.compile(rb"(?<!\r)\n")


class VerifiedRepository(Repository, frozen=True):
    """A repository that returns only objects whose hash matches their id."""

    @staticmethod
    def around(directory: Path) -> VerifiedRepository:
        return VerifiedRepository(Repository.around(directory).git)

    def objects(self, ids: Collection[str], largest: int) -> Iterator[tuple[str, bytes, bytes]]:
        for id_, kind, data in super().objects(ids, largest):
            if _object_id(id_, kind, data) == id_:
                yield id_, kind, data

    def names(self, commit: str, directory: str) -> dict[str, tuple[str, str]]:
        """Return the mode and object id of each file in a directory of a commit, by path below the directory.

        Raises NoRepository if a needed object is missing or its hash does not match its id.
        """
        head = self._contents({commit}, b"commit")[commit]
        tree = head.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")
        for part in PurePosixPath(directory).parts:
            entries = _tree_entries(self._contents({tree}, b"tree")[tree], len(tree) // 2)
            below = next((id_ for mode, name, id_ in entries if (mode, name) == (_DIRECTORY, part)), None)
            if below is None:
                return {}
            tree = below
        found: dict[str, tuple[str, str]] = {}
        directories = {"": tree}
        while directories:
            if len(found) + len(directories) > _MOST:
                raise NoRepository(f"the commit {short_commit(commit)} has too many files")
            contents = self._contents({*directories.values()}, b"tree")
            deeper: dict[str, str] = {}
            for prefix, tree in directories.items():
                for mode, name, id_ in _tree_entries(contents[tree], len(tree) // 2):
                    if mode == _DIRECTORY:
                        deeper[f"{prefix}{name}/"] = id_
                    elif mode != _SUBMODULE:
                        found[f"{prefix}{name}"] = mode, id_
            directories = deeper
        return found

    def _contents(self, ids: Collection[str], kind: bytes) -> dict[str, bytes]:
        found = {id_: data for id_, of, data in self.objects(ids, _LARGEST) if of == kind}
        if missing := sorted({*ids} - found.keys()):
            raise NoRepository(
                f"the {kind.decode()} {short_commit(missing[0])} is missing in git, or its hash is wrong"
            )
        return found


def _object_id(id_: str, kind: bytes, data: bytes) -> str:
    """Return the id that git computes for an object, with the same hash algorithm as `id_`."""
    algorithm = "sha256" if len(id_) == 64 else "sha1"
    named = b"%s %d\0%s" % (kind, len(data), data)
    return hashlib.new(algorithm, named, usedforsecurity=False).hexdigest()


def _tree_entries(tree: bytes, size: int) -> Iterator[tuple[str, str, str]]:
    """Yield the mode, name and id of each entry of a tree object. `size` is the length of an id in bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + size
        yield mode.decode("ascii", "replace"), os.fsdecode(name), tree[end + 1 : at].hex()


class CheckedFiles(Struct):
    """The files of a project on disk. Raises DiagnosticError for every difference from the commit.

    File contents, the files that a pattern matches, and the targets of links are compared.
    """

    root: str
    present: Directory
    committed: CommitFiles

    @staticmethod
    def of(root: Path, commit: str) -> CheckedFiles:
        """Return the files of the project of `root`. Raises DiagnosticError if the commit cannot be read."""
        return CheckedFiles(root.name, Directory(root), _committed(root.parent, root, commit))

    def included(self, include: Node, at: str = "") -> tuple[list[Included], list[Diagnostic]]:
        found, problems = self.present.included(include, at)
        expected, _ = self.committed.included(include, at)
        for name in sorted({one.name for one in found} ^ {one.name for one in expected}):
            self._refuse(name)
        return found, problems

    def real(self, name: str) -> str | None:
        found = self.present.real(name)
        if found != self.committed.real(name):
            self._refuse(name)
        return found

    def read(self, name: str, limit: int) -> bytes:
        try:
            data = self.present.read(name, DEFAULT_LIMITS.bytes)
        except OSError:
            _compare(self.committed, name, name, None)
            raise
        _compare(self.committed, name, name, data)
        return data[: limit + 1]

    def _refuse(self, name: str) -> NoReturn:
        raise _changed_file_error(name, self.committed.commit)


def check_file(path: Path, name: str, data: bytes | None, commit: str, project: Path) -> None:
    """Raise DiagnosticError unless the file has the content `data` in the commit; None means no file.

    `name` is the file name for messages. `project` is a directory in the same checkout.
    """
    _compare(_committed(project, path, commit), path.name, name, data)


def check_nearest_root(start: Path, root: Path, commit: str) -> None:
    """Raise DiagnosticError if the commit has a root file nearer to `start` than `root`."""
    here, project = start.resolve(), root.parent.resolve()
    for directory in (here, *here.parents):
        committed = _committed(project, directory / root.name, commit)
        for name in ROOT_NAMES:
            if name in committed and directory / name != project / root.name:
                raise _changed_file_error(
                    (directory / name).relative_to(committed.repository.top).as_posix(), commit
                )
        if directory == project:
            return


def _committed(project: Path, path: Path, commit: str) -> CommitFiles:
    """Return the files that a commit has in the directory of `path`, from the checkout of `project`."""
    try:
        repository = VerifiedRepository.around(project)
        directory = path.parent.resolve().relative_to(repository.top).as_posix()
        files = CommitFiles(repository, commit, "" if directory == "." else directory, path.name)
        _ = path.name in files  # load the names now, so that errors are raised here
    except (NoRepository, ValueError) as why:
        message = f"{path.name} cannot be compared with the commit {short_commit(commit)}: {why}"
        hint = "run actions/checkout in the same job, before dpsync"
        raise DiagnosticError([Diagnostic(codes.CHANGED_FILE, message, hint=hint)], Exit.REFUSED) from None
    return files


def _compare(committed: CommitFiles, name: str, shown_name: str, data: bytes | None) -> None:
    try:
        expected = committed.read(name, DEFAULT_LIMITS.bytes)
    except OSError:
        expected = None
    if data == expected:
        return
    # The only accepted difference: a checkout may convert LF to CRLF (.gitattributes, core.eol).
    if data is None or expected is None or data != _LINE_END.sub(b"\r\n", expected):
        raise _changed_file_error(shown_name, committed.commit)


def _changed_file_error(name: str, commit: str) -> DiagnosticError:
    message = f"{name} differs from the checked-out commit {short_commit(commit)}"
    hint = (
        "an earlier step of the job changed, added or deleted this "
        "file. Run dpsync right after actions/checkout"
    )
    found = Diagnostic(codes.CHANGED_FILE, message, Span.start_of(name), hint=hint)
    return DiagnosticError([found], Exit.REFUSED)
