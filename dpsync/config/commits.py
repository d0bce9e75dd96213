"""Load the configuration of one commit, and of the commits before or after it, without a checkout.

`Project` loads the configuration of a commit. `EarlierConfigurations` has those before the git base (the
commit that dpsync compares with), `CommitsSince` those since the last apply, from which labels ("edited
here") follow. A label never follows from a part of the history: no commit is returned if one is missing in a
shallow clone or does not load. Values with environment variables are left out, because git does not know
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from dpsync.config import codes
from dpsync.config.discovery import ROOT_NAMES, matches_include
from dpsync.config.git import CommitFiles, NoRepositoryError, Repository
from dpsync.config.ids_file import parse
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.config.variables import WithoutVariables
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.kinds.registry import Registry
from dpsync.model.desired import CommittedFiles, Desired
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.values import digest, to_plain

_TOLERATED_CODES: Final = (
    codes.MISSING_VARIABLE, codes.NO_ENVIRONMENT, codes.FORBIDDEN_VARIABLE, codes.FORBIDDEN_URL_VARIABLE,
    "DP234", "DP240", "DP241", "DP244", "DP247",
)  # fmt: skip
"""Errors that dpsync ignores in the configuration of an earlier commit, to keep its protections in effect.

Missing variables match nothing, environments may be new, dpsync sends no token to the addresses of that
commit, and texts, conditions and redirects are only compared."""
_MAX_EARLIER_COMMITS: Final = 10
"""The maximum number of commits before the base that are read: older ones were applied long ago."""
_MAX_HISTORY_CHARS: Final = 1_000_000
"""The maximum total size of these commits, in characters."""


class LoadedCommit(Struct, frozen=True):
    """The configuration in a commit, with its first error."""

    desired: Desired
    error: Diagnostic | None
    """The first error in the configuration."""
    patterns: tuple[str, ...] = ()
    """The paths and patterns of its includes, relative to the project."""
    complete: bool = True
    """Whether the commit has each overlay and the environment that were asked for."""

    def reads(self, name: str) -> bool:
        """Return whether the configuration reads a file, or would read it if it existed."""
        return name in self.desired.texts or any(matches_include(name, pattern) for pattern in self.patterns)


def commit_files(repository: Repository, commit: str, root: Path) -> CommitFiles | None:
    """Return the files of a project in a commit; None if the commit has no root file.

    In the commit, the root file may have the other allowed name (`dpsync.yaml` or `dpsync.yml`).
    """
    directory = _project_directory(repository, root)
    if directory is None:
        return None
    files = CommitFiles(repository, commit, directory, root.name)
    others = [name for name in ROOT_NAMES if name in files] if root.name in ROOT_NAMES else []
    name = root.name if root.name in files else next(iter(others), None)
    if name is None:
        return None
    files.root = name
    return files


def _project_directory(repository: Repository, root: Path) -> str | None:
    """Return the project directory relative to the repository: "" for its root, None if it is outside."""
    project_directory = root.parent.resolve()
    if not project_directory.is_relative_to(repository.top):
        return None
    directory = project_directory.relative_to(repository.top).as_posix()
    return "" if directory == "." else directory


class Project(Struct, frozen=True):
    """Loads the configuration in a directory of a repository, for any commit."""

    repository: Repository
    root: Path
    registry: Registry
    env: Mapping[str, str]
    layers: Layers

    def load(self, commit: str) -> LoadedCommit | None:
        """Return the configuration in a commit; None if the commit has no root file.

        Overlays that the commit lacks are left out, and errors with `_TOLERATED_CODES` are ignored. The
        result has the first other error, and whether all overlays and the environment exist (`complete`).
        """
        files = commit_files(self.repository, commit, self.root)
        if files is None:
            return None
        available_layers = replace(
            self.layers, overlays=tuple(name for name in self.layers.overlays if name in files)
        )
        desired, diagnostics = load_from(files, self.registry, self.env, available_layers)
        errors = (
            finding
            for finding in diagnostics
            if finding.severity == "error" and finding.code not in _TOLERATED_CODES
        )
        complete = available_layers == self.layers and all(
            finding.code != codes.NO_ENVIRONMENT for finding in diagnostics
        )
        desired = replace(desired, commit=commit)
        return LoadedCommit(desired, next(errors, None), (*files.patterns, *files.names_read), complete)

    def differences(self, commits: list[str]) -> Iterator[tuple[str, frozenset[str] | None]]:
        """Yield each commit whose project files differ from those of the commit before in the list.

        With each commit, the names of the files that differ, relative to the project; None if any may differ.
        """
        directory = _project_directory(self.repository, self.root)
        return self.repository.differences(commits, directory) if directory is not None else iter(())

    def changes(self, commit: str) -> list[tuple[str, frozenset[str]]]:
        """Return the commits up to `commit` that change files of the project, the latest first."""
        directory = _project_directory(self.repository, self.root)
        return self.repository.changes(commit, directory) if directory is not None else []

    @property
    def directory(self) -> str:
        """The project directory, relative to the repository."""
        return _project_directory(self.repository, self.root) or ""

    def parent(self, commit: str) -> str | None:
        """Return the first parent of a commit; None if there is none, or this clone lacks it."""
        return self.repository.resolve_commit(f"{commit}~1")


class EarlierConfigurations(Struct):
    """The configurations in the commits before the git base, the latest first, loaded on first use.

    A commit that does not load, or that a shallow clone lacks, is left out. Before the first configuration
    there was one without entries. Each commit decides which files make up its configuration, because a file
    may have had another name.
    """

    project: Project
    commit: str
    base: LoadedCommit
    _loaded: list[Desired] = field(default_factory=list)
    _remaining: Iterator[Desired] | None = None

    def __iter__(self) -> Iterator[Desired]:
        """Yield the configurations, and load each one only once, even if several iterations run."""
        if self._remaining is None:
            self._remaining = self._read()
        position = 0
        while True:
            if position == len(self._loaded):
                configuration = next(self._remaining, None)
                if configuration is None:
                    return
                self._loaded.append(configuration)
            yield self._loaded[position]
            position += 1

    def _read(self) -> Iterator[Desired]:
        """Yield the valid configurations in the commits before the git base, the latest first, within limits.

        For each commit that changed a file of the next newer configuration, the configuration in its parent
        commit is loaded. If the parent commit has no configuration, an empty one is yielded last. The
        iteration ends early where a shallow clone lacks commits.
        """
        size = sum(map(len, self.base.desired.texts.values()))
        remaining, newer = min(_MAX_EARLIER_COMMITS, max(1, _MAX_HISTORY_CHARS // max(1, size))), self.base
        for commit, changed in self.project.changes(self.commit):
            if remaining == 0:
                return
            if not any(map(newer.reads, changed)):
                continue
            parent_commit = self.project.parent(commit)
            if parent_commit is None and self.project.repository.shallow:
                return
            loaded = self.project.load(parent_commit) if parent_commit is not None else None
            if loaded is None:
                yield Desired({}, {})
                return
            remaining, newer = remaining - 1, loaded
            if loaded.error is None:
                yield loaded.desired


_MAX_LABEL_COMMITS: Final = 20
"""Maximum number of configurations that are loaded."""
_MAX_LABEL_HISTORY_CHARS: Final = 4_000_000
"""Maximum total size of these configurations, in characters."""


class CommitsSince(Struct):
    """The commits since the last apply, the applied commit first, loaded on first use.

    `digest` is the digest that the configuration of the applied commit must have, if it is known.
    """

    root: Path
    registry: Registry
    layers: Layers
    commit: str
    ids: Path | None = None
    digest: str | None = None
    _loaded: list[CommittedFiles] | None = field(default=None)

    def __iter__(self) -> Iterator[CommittedFiles]:
        if self._loaded is None:
            self._loaded = self._load()
        return iter(self._loaded)

    def _load(self) -> list[CommittedFiles]:
        """Return the configurations of the applied commit and of all later ones, the oldest first.

        The result is empty if a commit is missing, because labels need the whole history.
        """
        try:
            repository = Repository.containing(self.root.parent)
            commits = repository.commits_since(self.commit)
            if commits is None:
                return []
            project = Project(repository, self.root, self.registry, WithoutVariables(), self.layers)
            return self._configurations(project, [*commits, self.commit][::-1])
        except NoRepositoryError:
            return []

    def _configurations(self, project: Project, commits: list[str]) -> list[CommittedFiles]:
        """Return each different configuration in `commits`, the oldest first; empty if one cannot be used.

        A configuration cannot be used if it is invalid, incomplete or beyond the limits, or if the first one
        has not the expected digest: a label must never follow from a part of the history.
        """
        configurations: list[CommittedFiles] = []
        latest: LoadedCommit | None = None
        remaining = _MAX_LABEL_COMMITS
        for commit, changed in project.differences(commits):
            if latest is not None and changed is not None and not any(map(latest.reads, changed)):
                continue
            latest = project.load(commit)
            if latest is None or latest.error is not None or not latest.complete or remaining == 0:
                return []
            if not configurations:
                if self.digest not in (None, configuration_digest(latest.desired)):
                    return []
                size = sum(map(len, latest.desired.texts.values()))
                remaining = min(_MAX_LABEL_COMMITS, max(2, _MAX_LABEL_HISTORY_CHARS // max(1, size)))
            remaining -= 1
            configurations.append(
                CommittedFiles(latest.desired, ids_at(project.repository, commit, self.registry, self.ids))
            )
        return configurations


def applied_digest(root: Path, registry: Registry, layers: Layers, commit: str) -> str | None:
    """Return the digest of the configuration in a commit, or None if it does not load.

    A later run compares it, to find out whether the commit has the configuration that was applied.
    """
    try:
        project = Project(Repository.containing(root.parent), root, registry, WithoutVariables(), layers)
        loaded = project.load(commit)
    except NoRepositoryError:
        return None
    usable = loaded is not None and loaded.error is None and loaded.complete
    return configuration_digest(loaded.desired) if loaded is not None and usable else None


def ids_at(repository: Repository, commit: str, registry: Registry, path: Path | None) -> IdsFile:
    """Return the ids file of a commit; an empty one if the commit has none or an invalid one."""
    absolute_path = path.parent.resolve() / path.name if path is not None else None
    if absolute_path is None or not absolute_path.is_relative_to(repository.top):
        return NO_IDS
    data = repository.read_file(
        commit, absolute_path.relative_to(repository.top).as_posix(), DEFAULT_LIMITS.bytes
    )
    ids, problems = (
        parse(data, absolute_path.name, registry.with_all_kinds) if data is not None else (NO_IDS, [])
    )
    return NO_IDS if problems else ids


def configuration_digest(desired: Desired) -> str:
    """Return a digest of what a configuration declares.

    Positions, comments and environments do not count, so the same declaration in other files has the same
    digest.
    """
    entries = [
        to_builtins(
            replace(
                entry,
                fields=to_plain(entry.fields),
                previously=to_plain(entry.previously),
                span=None,
                spans={},
                value_files={},
            ),
            str_keys=True,
        )
        for _, entry in sorted(desired.entries.items())
    ]
    policy = {
        name: [pattern.text for pattern in value] if isinstance(value, tuple) else to_builtins(value)
        for name in ("prune", "protect", "ignore", "limits", "forget", "watch", "removed")
        for value in [getattr(desired.policy, name)]
    }
    address_lists = [
        sorted(map(str, addresses)) for addresses in (desired.scopes, desired.lookups, desired.unsupported)
    ]
    return digest([desired.profile, entries, policy, address_lists])
