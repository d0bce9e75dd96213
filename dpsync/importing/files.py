"""Read and write the files of an import.

A reading client that asks everything once: what was imported is checked against the very same answers.

It lives for one import, since it holds raw answers.

Puts files in place: all of them or none, and nothing over work that git does not have yet.

Every file is written beside its place first; only when all are there do they take their names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dpsync import disk
from dpsync.client.client import JSON, PAGE_LIMIT, Params, ReadClient
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.git import NoRepository, Repository
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit


class RememberingClient(ReadClient):
    """Sends each GET once. Lists are remembered whole, since one that moves is read a second time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._answers: dict[str, JSON] = {}
        self._texts: dict[str, str] = {}
        self._lists: dict[str, list[dict[str, Any]]] = {}

    def get(self, path: str, params: Params | None = None) -> JSON:
        """The answer, also when it was asked before. What failed is asked again."""
        asked = json.dumps([path, sorted((params or {}).items())])
        if asked in self._answers:
            self.observer.more(-1)
        else:
            self._answers[asked] = super().get(path, params)
        return self._answers[asked]

    def text(self, path: str) -> str:
        """The text, also when it was asked for before."""
        if path in self._texts:
            self.observer.more(-1)
        else:
            self._texts[path] = super().text(path)
        return self._texts[path]

    def pages(self, path: str, params: Params | None = None, limit: int = PAGE_LIMIT) -> list[dict[str, Any]]:
        """The items, also when they were asked for before."""
        asked = json.dumps([path, sorted((params or {}).items()), limit])
        if asked in self._lists:
            self.observer.more(-1)
        else:
            self._lists[asked] = super().pages(path, params, limit)
        return self._lists[asked]


State = Literal["new", "replaced", "unchanged"]


class Put(Struct, frozen=True):
    """A file and what became of it. The path is relative to the project."""

    path: str
    state: State


def put(
    directory: Path, files: Mapping[str, bytes], stray: tuple[str, ...] = (), force: bool = False
) -> list[Put]:
    """Write the files below a directory.

    Raises DiagnosticError: exit 4 where something would be overwritten that is not committed (`force` allows
    it), or where `stray` files would become part of the new configuration; exit 1 when writing failed.
    """
    states = {path: _state(directory / path, content) for path, content in files.items()}
    found = [
        *_no_files(directory, files),
        *_outside(directory, files),
        *_other_root(directory, files),
        *map(_stray, stray),
    ]
    if not force:
        replaced = [path for path, state in states.items() if state == "replaced"]
        found += _uncommitted(directory, replaced)
    if found:
        raise DiagnosticError(found, Exit.REFUSED)
    _write(directory, {path: files[path] for path, state in states.items() if state != "unchanged"})
    return [Put(path, state) for path, state in sorted(states.items())]


def _state(path: Path, content: bytes) -> State:
    if not os.path.lexists(path):
        return "new"
    try:
        return "unchanged" if disk.read(path, len(content), follow=False) == content else "replaced"
    except OSError:
        return "replaced"


def _uncommitted(directory: Path, paths: list[str]) -> list[Diagnostic]:
    """The files whose present content git could not give back."""
    if not paths:
        return []
    hint = "commit the file, import into another directory, or use --force"
    try:
        repository = Repository.around(directory)
        lost = {repository.top / name for name in repository.uncommitted(directory)}
        why = "has changes that are not committed"
    except NoRepository as reason:
        lost, why = {directory.resolve()}, f"exists already, and git cannot restore the file: {reason}"
        hint = reason.hint or hint
    return [
        Diagnostic("exists", f"{path} {why}", hint=hint)
        for path in paths
        if lost & {directory.resolve() / path, *(directory.resolve() / path).parents}
    ]


def _no_files(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """Places that something else has than a file or a link, which a file would take the place of."""
    kinds = {path: disk.kind_of(directory / path) for path in paths}
    return [
        Diagnostic(
            "exists", f"{path} exists and is {kind}, not a regular file", hint=f"move or remove {path}"
        )
        for path, kind in kinds.items()
        if kind not in (None, "a link")
    ]


def _outside(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """Return an error for each path outside the project: behind a link, or below a `.git` directory."""
    found = []
    for path in paths:
        try:
            disk.name_in_project((directory / path).parent, directory)
        except OSError as error:
            message = f"{path} would be written outside {directory}: {disk.why(error)}"
            found.append(
                Diagnostic("outside", message, hint="remove the link, or write to another directory")
            )
    return found


def _other_root(directory: Path, paths: Mapping[str, bytes]) -> list[Diagnostic]:
    """A root file by the other name: with two there is no configuration."""
    if paths.keys().isdisjoint(ROOT_NAMES):
        return []
    return [
        Diagnostic(
            "exists",
            f"the directory already has a root file, {name}",
            hint="remove the file, or import into another directory",
        )
        for name in ROOT_NAMES
        if name not in paths and (directory / name).exists()
    ]


def _stray(path: str) -> Diagnostic:
    message = f"{path} exists and would become part of the configuration"
    return Diagnostic(
        "stray",
        message,
        hint="the import writes nothing into this file. Delete the file, or move it to another directory",
    )


def _write(directory: Path, files: Mapping[str, bytes]) -> None:
    waiting: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for name, content in files.items():
            path = directory / name
            made += _directories(path.parent)
            waiting[disk.new_file_beside(path, content)] = path
        while waiting:
            beside, path = next(iter(waiting.items()))
            beside.replace(path)
            del waiting[beside]
    except OSError as error:
        for beside in waiting:
            beside.unlink(missing_ok=True)
        for empty in reversed(made):
            if not any(empty.iterdir()):
                empty.rmdir()
        message = f"cannot write {error.filename or directory}: {disk.why(error)}"
        raise DiagnosticError([Diagnostic("unwritable", message)], Exit.FAILED) from None


def _directories(path: Path) -> list[Path]:
    """Make a directory and those above it; which ones were new."""
    missing = [one for one in reversed((path, *path.parents)) if not one.exists()]
    for one in missing:
        one.mkdir()
    return missing
