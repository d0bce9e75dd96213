"""Load the commits that labels compare with: the commit that was applied last, and each commit since then.

Values with environment variables are left out, because git does not know the values that an apply used. If a
commit is missing in a shallow clone, does not load, or lacks a layer, no commit is returned: a label never
follows from a part of the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from dpsync.config.composing.layers import Layers
from dpsync.config.composing.variables import WithoutVariables
from dpsync.config.git_base.commits import Loaded, Project
from dpsync.config.git_base.git import NoRepository, Repository
from dpsync.config.reading.ids_file import parse
from dpsync.config.reading.reader import DEFAULT_LIMITS
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Desired, PastFiles
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.values import digest, to_plain

_MOST: Final = 20
"""Maximum number of configurations that are loaded."""
_LONGEST: Final = 4_000_000
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
    _found: list[PastFiles] | None = field(default=None)

    def __iter__(self) -> Iterator[PastFiles]:
        if self._found is None:
            self._found = self._load()
        return iter(self._found)

    def _load(self) -> list[PastFiles]:
        try:
            repository = Repository.around(self.root.parent)
            commits = repository.since(self.commit)
            if commits is None:
                return []
            project = Project(repository, self.root, self.registry, WithoutVariables(), self.layers)
            return self._configurations(project, [*commits, self.commit][::-1])
        except NoRepository:
            return []

    def _configurations(self, project: Project, commits: list[str]) -> list[PastFiles]:
        found: list[PastFiles] = []
        known: Loaded | None = None
        left = _MOST
        for commit, changed in project.differences(commits):
            if known is not None and changed is not None and not any(map(known.reads, changed)):
                continue
            known = project.load(commit)
            if known is None or known.wrong is not None or not known.complete or left == 0:
                return []
            if not found:
                if self.digest not in (None, configuration_digest(known.desired)):
                    return []
                size = sum(map(len, known.desired.texts.values()))
                left = min(_MOST, max(2, _LONGEST // max(1, size)))
            left -= 1
            found.append(
                PastFiles(known.desired, ids_at(project.repository, commit, self.registry, self.ids))
            )
        return found


def applied_digest(root: Path, registry: Registry, layers: Layers, commit: str) -> str | None:
    """Return the digest of the configuration in a commit, without variables; None if it does not load."""
    try:
        project = Project(Repository.around(root.parent), root, registry, WithoutVariables(), layers)
        loaded = project.load(commit)
    except NoRepository:
        return None
    usable = loaded is not None and loaded.wrong is None and loaded.complete
    return configuration_digest(loaded.desired) if loaded is not None and usable else None


def ids_at(repository: Repository, commit: str, registry: Registry, path: Path | None) -> IdsFile:
    """Return the ids file of a commit; an empty one if the commit has none or an invalid one."""
    at = path.parent.resolve() / path.name if path is not None else None
    if at is None or not at.is_relative_to(repository.top):
        return NO_IDS
    data = repository.file(commit, at.relative_to(repository.top).as_posix(), DEFAULT_LIMITS.bytes)
    ids, found = parse(data, at.name, registry.whole) if data is not None else (NO_IDS, [])
    return NO_IDS if found else ids


def configuration_digest(desired: Desired) -> str:
    """Return a digest of what a configuration declares. Positions, comments and environments do not count."""
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
        for _, entry in sorted(desired.resources.items())
    ]
    policy = {
        name: [pattern.text for pattern in value] if isinstance(value, tuple) else to_builtins(value)
        for name in ("prune", "protect", "ignore", "limits", "forget", "watch", "removed")
        for value in [getattr(desired.policy, name)]
    }
    places = [sorted(map(str, found)) for found in (desired.scopes, desired.lookups, desired.unserved)]
    return digest([desired.profile, entries, policy, places])
