"""The files of a working copy, each compared with one commit before it is used.

A workflow that holds secrets may run where somebody else can write into the working copy: a build, or an
artifact that was unpacked. So the bytes that were read must be those of the commit whose id GitHub has named.
git's own directory is as easy to write. So an object counts only if its hash is its name, from the commit on.
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
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.nodes import Node
from dpsync.model.findings.span import Span
from dpsync.model.texts.words import short_commit

_DIRECTORY: Final = "40000"
_SUBMODULE: Final = "160000"
_LARGEST: Final = 1 << 26
"""Bytes of a commit or of the list of a directory."""
_MOST: Final = 1_000_000
"""Names below a directory: a few objects can stand for very many, as the same directory may be in others."""
_LINE_END: Final = re.compile(rb"(?<!\r)\n")


class VerifiedRepository(Repository, frozen=True):
    """A repository whose objects count only if their hash is their name."""

    @staticmethod
    def around(directory: Path) -> VerifiedRepository:
        return VerifiedRepository(Repository.around(directory).git)

    def objects(self, ids: Collection[str], largest: int) -> Iterator[tuple[str, bytes, bytes]]:
        for id_, kind, data in super().objects(ids, largest):
            if _hashed(id_, kind, data) == id_:
                yield id_, kind, data

    def names(self, commit: str, directory: str) -> dict[str, tuple[str, str]]:
        """Return mode and object of every file below a directory of a commit, by its name relative to that.

        Raises NoRepository where an object on the way is missing or of another content.
        """
        head = self._contents({commit}, b"commit")[commit]
        tree = head.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")
        for part in PurePosixPath(directory).parts:
            entries = _entries(self._contents({tree}, b"tree")[tree], len(tree) // 2)
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
                for mode, name, id_ in _entries(contents[tree], len(tree) // 2):
                    if mode == _DIRECTORY:
                        deeper[f"{prefix}{name}/"] = id_
                    elif mode != _SUBMODULE:
                        found[f"{prefix}{name}"] = mode, id_
            directories = deeper
        return found

    def _contents(self, ids: Collection[str], kind: bytes) -> dict[str, bytes]:
        found = {id_: data for id_, of, data in self.objects(ids, _LARGEST) if of == kind}
        if lacking := sorted({*ids} - found.keys()):
            raise NoRepository(
                f"the {kind.decode()} {short_commit(lacking[0])} is missing in git, or its hash is wrong"
            )
        return found


def _hashed(id_: str, kind: bytes, data: bytes) -> str:
    """Return the name that git gives to an object, by the algorithm that an id is of."""
    algorithm = "sha256" if len(id_) == 64 else "sha1"
    named = b"%s %d\0%s" % (kind, len(data), data)
    return hashlib.new(algorithm, named, usedforsecurity=False).hexdigest()


def _entries(tree: bytes, size: int) -> Iterator[tuple[str, str, str]]:
    """The mode, name and id of each entry of a directory. An id takes `size` bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + size
        yield mode.decode("ascii", "replace"), os.fsdecode(name), tree[end + 1 : at].hex()


class CheckedFiles(Struct):
    """The files of a project on the disk. Any other answer than that of the commit raises DiagnosticError.

    That goes for what a file holds, for which files a pattern means, and for where links lead.
    """

    root: str
    present: Directory
    committed: CommitFiles

    @staticmethod
    def of(root: Path, commit: str) -> CheckedFiles:
        """The files of the project of a root file. Raises DiagnosticError where the commit cannot be read."""
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
        raise _changed(name, self.committed.commit)


def check_file(path: Path, name: str, data: bytes | None, commit: str, project: Path) -> None:
    """Raise DiagnosticError unless a commit has these bytes as a file; None stands for no file.

    `name` is what messages call the file, and `project` a directory of the same checkout.
    """
    _compare(_committed(project, path, commit), path.name, name, data)


def check_root(start: Path, root: Path, commit: str) -> None:
    """Raise DiagnosticError where the commit has another root file that is nearer to a directory."""
    here, project = start.resolve(), root.parent.resolve()
    for directory in (here, *here.parents):
        committed = _committed(project, directory / root.name, commit)
        for name in ROOT_NAMES:
            if name in committed and directory / name != project / root.name:
                raise _changed((directory / name).relative_to(committed.repository.top).as_posix(), commit)
        if directory == project:
            return


def _committed(project: Path, path: Path, commit: str) -> CommitFiles:
    """The files of a commit beside and below a path of the checkout that a project is in."""
    try:
        repository = VerifiedRepository.around(project)
        directory = path.parent.resolve().relative_to(repository.top).as_posix()
        files = CommitFiles(repository, commit, "" if directory == "." else directory, path.name)
        _ = path.name in files  # reads the names
    except (NoRepository, ValueError) as why:
        said = f"{path.name} cannot be compared with the commit {short_commit(commit)}: {why}"
        hint = "fetch the commit with actions/checkout, in the job that runs dpsync"
        raise DiagnosticError([Diagnostic(codes.CHANGED_FILE, said, hint=hint)], Exit.REFUSED) from None
    return files


def _compare(committed: CommitFiles, name: str, called: str, data: bytes | None) -> None:
    try:
        expected = committed.read(name, DEFAULT_LIMITS.bytes)
    except OSError:
        expected = None
    if data == expected:
        return
    # A checkout may have given each line the end that .gitattributes or core.eol says, and nothing else.
    if data is None or expected is None or data != _LINE_END.sub(b"\r\n", expected):
        raise _changed(called, committed.commit)


def _changed(name: str, commit: str) -> DiagnosticError:
    said = f"{name} differs from the checked commit {short_commit(commit)}"
    hint = "an earlier step changed, added or removed this file: run dpsync right after actions/checkout"
    found = Diagnostic(codes.CHANGED_FILE, said, Span.start_of(name), hint=hint)
    return DiagnosticError([found], Exit.REFUSED)
