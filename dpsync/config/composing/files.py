"""Where the files of a project come from: a directory, or (git.py) a commit. The loader knows no third thing.

Names are relative to the project, the directory of the root file, and joined with "/".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from dpsync import disk
from dpsync.config.composing.discovery import Included, included_files
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Node


class Files(Protocol):
    """The files of one project. `root` is the name of the root file."""

    root: str

    def included(self, include: Node, at: str = "") -> tuple[list[Included], list[Diagnostic]]:
        """The files that the value of `include` in the file `at` names: each once, sorted by name."""
        ...

    def real(self, name: str) -> str | None:
        """Return the name after following links; None if it is outside the project or inside `.git`."""
        ...

    def read(self, name: str, limit: int) -> bytes:
        """The content, at most one byte more than `limit`. Raises OSError."""
        ...


class InFront:
    """Some files as they are to become, in front of the rest of a project."""

    def __init__(self, files: Files, contents: Mapping[str, bytes]) -> None:
        self.root = files.root
        self._files = files
        self._contents = contents

    def included(self, include: Node, at: str = "") -> tuple[list[Included], list[Diagnostic]]:
        return self._files.included(include, at)

    def real(self, name: str) -> str | None:
        return self._files.real(name)

    def read(self, name: str, limit: int) -> bytes:
        if name in self._contents:
            return self._contents[name][: limit + 1]
        return self._files.read(name, limit)


class Directory:
    """The project as it lies on the disk."""

    def __init__(self, root: Path) -> None:
        self.root = root.name
        self._path = root
        self._project = root.parent.resolve()

    def included(self, include: Node, at: str = "") -> tuple[list[Included], list[Diagnostic]]:
        return included_files(self._path, include, at)

    def real(self, name: str) -> str | None:
        try:
            return disk.name_in_project(self._project / name, self._project)
        except disk.OutsideProject:
            return None
        except OSError:
            return name  # reading it will say what is wrong with it

    def read(self, name: str, limit: int) -> bytes:
        return disk.read(disk.inside(self._project / name, self._project), limit, follow=False)
