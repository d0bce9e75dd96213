"""The configuration as commits have it: in one commit, and in those before it. Without a checkout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from dpsync.config import codes
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.git import CommitFiles, Repository
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Desired
from dpsync.model.diagnostic import Diagnostic

_FORGIVEN: Final = (codes.MISSING_VARIABLE, codes.NO_ENVIRONMENT, "DP234")
"""A variable that only the past needed is no reason to forget the past: its value matches nothing. Nor is an
environment that is new, or a pattern that fits nothing: what the others protect stays protected."""
_MOST: Final = 10
"""Commits before the base that are read at most: what is older was applied long ago."""
_LONGEST: Final = 1_000_000
"""Characters of all that is read of them, so that a large configuration is not read ten times."""
_NAMED: Final = 500
"""Of more files than these, git is asked about their directory."""


@dataclass(frozen=True)
class Project:
    """How the configuration in a directory of a repository is read, whatever the commit."""

    repository: Repository
    root: Path
    registry: Registry
    env: Mapping[str, str]
    layers: Layers

    def load(self, commit: str) -> tuple[Desired, Diagnostic | None] | None:
        """The configuration in a commit and the first thing that is wrong with it; None where it has none."""
        files = self._files(commit)
        if files is None:
            return None
        then = replace(self.layers, overlays=tuple(name for name in self.layers.overlays if name in files))
        desired, diagnostics = load_from(files, self.registry, self.env, then)
        wrong = (item for item in diagnostics if item.severity == "error" and item.code not in _FORGIVEN)
        return desired, next(wrong, None)

    def _files(self, commit: str) -> CommitFiles | None:
        """Under the present name of its root file or the other one."""
        at = self._directory
        if at is None:
            return None
        files = CommitFiles(self.repository, commit, at, self.root.name)
        others = [name for name in ROOT_NAMES if name in files] if self.root.name in ROOT_NAMES else []
        name = self.root.name if self.root.name in files else next(iter(others), None)
        if name is None:
            return None
        files.root = name
        return files

    @property
    def _directory(self) -> str | None:
        at = self.root.parent.resolve()
        if not at.is_relative_to(self.repository.top):
            return None
        directory = at.relative_to(self.repository.top).as_posix()
        return "" if directory == "." else directory

    def before(self, commit: str, names: list[str], most: int) -> list[str | None]:
        """The latest commits before one that have other files of the configuration than the next.

        Where that is all of the past, also the one before the files began; None: there is no such commit.
        """
        at = self._directory
        below = [f"{at}/{name}" if at else name for name in names] if len(names) <= _NAMED else [at or "."]
        # The first one has made the files what they are in the commit.
        found: list[str | None] = [*self.repository.changing(commit, below, most + 1)]
        if len(found) <= most:
            before = self.repository.commit(f"{found[-1] if found else commit}~1")
            if before is not None or not self.repository.shallow:
                found.append(before)
        return found[1:]


@dataclass
class Earlier:
    """The configuration in commits before the base, the latest first. Each is read when it is looked at.

    One that does not load says nothing; neither does one that a shallow clone lacks. Before there was a
    configuration there was one without entries.
    """

    project: Project
    commit: str
    base: Desired
    _left: list[str | None] | None = None
    _found: list[Desired] = field(default_factory=list)

    def __iter__(self) -> Iterator[Desired]:
        at = 0
        while at < len(self._found) or self._next():
            yield self._found[at]
            at += 1

    def _next(self) -> bool:
        if self._left is None:
            size = sum(map(len, self.base.texts.values()))
            most = min(_MOST, max(1, _LONGEST // max(1, size)))
            self._left = self.project.before(self.commit, sorted(self.base.texts), most)
        while self._left:
            commit = self._left.pop(0)
            loaded = self.project.load(commit) if commit is not None else None
            if loaded is None and not self._left:
                loaded = Desired({}, {}), None
            if loaded is not None and loaded[1] is None:
                self._found.append(loaded[0])
                return True
        return False
