"""Which commit is the base, and the configuration in it: read from git without a checkout.

A default base that cannot be had is a warning, since everything works without one. A base that somebody named
must be there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dpsync import disk
from dpsync.config import codes
from dpsync.config.discovery import ROOT_NAMES
from dpsync.config.git import CommitFiles, NoRepository, Repository
from dpsync.config.ids_file import parse
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.config.reader import DEFAULT_LIMITS
from dpsync.kinds.registry import Registry
from dpsync.model.base import Base
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit

_DEEPER: Final = "fetch the whole history: fetch-depth: 0 in actions/checkout, or git fetch --unshallow"
_LARGEST_EVENT: Final = 64 * 1024 * 1024
_NO_COMMIT: Final = "0" * 40
_FORGIVEN: Final = (codes.MISSING_VARIABLE, codes.NO_ENVIRONMENT, "DP234")
"""A variable that only the past needed is no reason to forget the past: its value matches nothing. Nor is an
environment that is new, or a pattern that fits nothing: what the others protect stays protected."""


def read_base(
    root: Path,
    registry: Registry,
    env: Mapping[str, str],
    ref: str | None = None,
    layers: Layers | None = None,
    ids: Path | None = None,
) -> Base:
    """The base of the configuration in `root` with the same layers over it; `ref` is what somebody named.

    `ids` is where the ids file is; the base has the one of its commit, if that is in the repository.
    Raises DiagnosticError (exit 5) when a named base cannot be used.
    """
    try:
        repository = Repository.around(root.parent)
    except NoRepository as none:
        if ref is not None:
            raise _unusable(ref, str(none), none.hint) from None
        return Base(str(none), warning=_warning(str(none), none.hint) if none.hint else None)
    found = _named(repository, ref) if ref is not None else _default(repository, env)
    if found.commit is None:
        return found
    loaded = _loaded(repository, found, root, registry, env, ref, layers or Layers())
    return loaded if ids is None or loaded.desired is None else _with_ids(repository, loaded, registry, ids)


def _named(repository: Repository, ref: str) -> Base:
    commit = repository.commit(ref)
    if commit is None:
        raise _unusable(
            ref, "there is no such commit in this repository", _DEEPER if repository.shallow else None
        )
    return Base(ref, commit)


def _unusable(ref: str, why: str, hint: str | None = None) -> DiagnosticError:
    message = f'"{ref}" cannot be the base: {why}'
    return DiagnosticError([Diagnostic(codes.BASE, message, hint=hint)], Exit.INVALID)


# The default.


def _default(repository: Repository, env: Mapping[str, str]) -> Base:
    """HEAD; in CI, where HEAD is what is being tried or applied, the commit before it."""
    if repository.commit("HEAD") is None:
        return Base("the repository has no commit")
    if not in_ci(env):
        return Base("HEAD", repository.commit("HEAD"))
    if target := env.get("GITHUB_BASE_REF"):
        return _merge_base(repository, f"origin/{target}")
    event = env.get("GITHUB_EVENT_NAME")
    if event not in (None, "push"):
        return Base("HEAD", repository.commit("HEAD"))  # a timer or a button: nothing has just changed
    return _before(repository, env)


def in_ci(env: Mapping[str, str]) -> bool:
    """Whether this is a job of a CI system: nobody is at a terminal, and HEAD is what is being tried."""
    return env.get("CI", "").lower() not in ("", "0", "false")


def _merge_base(repository: Repository, target: str) -> Base:
    other = repository.commit(f"refs/remotes/{target}")
    commit = repository.merge_base("HEAD", other) if other else None
    if commit is None:
        return _missing(f"the merge base with {target}")
    return Base(f"the merge base with {target}", commit)


def _before(repository: Repository, env: Mapping[str, str]) -> Base:
    """What was there before the push, be it of several commits; else the first parent."""
    before = _pushed_on(env)
    if before is not None:
        commit = repository.commit(before)
        return (
            Base("the commit before the push", commit) if commit else _missing("the commit before the push")
        )
    commit = repository.commit("HEAD^1")
    if commit is None:
        return _missing("the parent of HEAD") if repository.shallow else Base("HEAD is the first commit")
    return Base("the parent of HEAD", commit)


def _pushed_on(env: Mapping[str, str]) -> str | None:
    path = env.get("GITHUB_EVENT_PATH")
    if not path:
        return None
    try:
        event: Any = json.loads(disk.read(Path(path), _LARGEST_EVENT))
    except (OSError, ValueError):
        return None
    before = event.get("before") if isinstance(event, dict) else None
    return before if isinstance(before, str) and before != _NO_COMMIT else None


def _missing(what: str) -> Base:
    said = f"{what} is not in this clone"
    return Base(said, warning=_warning(said, _DEEPER), lacking=True)


def _warning(why: str, hint: str) -> Diagnostic:
    message = f"no git base: {why}; renames and removed protection go unseen"
    return Diagnostic(codes.BASE, message, hint=hint, severity="warning")


# Its configuration.


def _loaded(
    repository: Repository,
    base: Base,
    root: Path,
    registry: Registry,
    env: Mapping[str, str],
    ref: str | None,
    layers: Layers,
) -> Base:
    assert base.commit is not None
    files = _project(repository, base.commit, root)
    if files is None:
        return Base(f"{root.name} is not in {base.said}")
    then = replace(layers, overlays=tuple(name for name in layers.overlays if name in files))
    desired, diagnostics = load_from(files, registry, env, then)
    wrong = [item for item in diagnostics if item.severity == "error" and item.code not in _FORGIVEN]
    if not wrong:
        return Base(base.said, base.commit, desired)
    first = wrong[0]
    where = f"{first.span.file}:{first.span.line}: " if first.span else ""
    why = f"its configuration does not load ({where}{first.message})"
    if ref is not None:
        raise _unusable(ref, why)
    said = f"the configuration in {base.said} does not load"
    warning = _warning(f"{said} ({where}{first.message})", "name another commit with --base")
    return Base(said, warning=warning)


def _with_ids(repository: Repository, base: Base, registry: Registry, path: Path) -> Base:
    """With the ids file of its commit. One that cannot be used is a warning: the rest of the past counts."""
    at = path.parent.resolve() / path.name
    if base.commit is None or not at.is_relative_to(repository.top):
        return base
    name = at.relative_to(repository.top).as_posix()
    data = repository.file(base.commit, name, DEFAULT_LIMITS.bytes)
    if data is None:
        return base
    ids, found = parse(data, path.name, registry)
    if not found:
        return replace(base, ids=ids)
    first = found[0]
    where = f"{first.span.line}: " if first.span else ""
    message = f"the ids file in {base.said} cannot be used ({name}:{where}{first.message})"
    return replace(base, warning=Diagnostic(codes.BASE, message, severity="warning"))


def _project(repository: Repository, commit: str, root: Path) -> CommitFiles | None:
    """The project as the commit has it, under the present name of its root file or the other one."""
    at = root.parent.resolve()
    if not at.is_relative_to(repository.top):
        return None
    directory = at.relative_to(repository.top).as_posix()
    files = CommitFiles(repository, commit, "" if directory == "." else directory, root.name)
    others = [name for name in ROOT_NAMES if name in files] if root.name in ROOT_NAMES else []
    name = root.name if root.name in files else next(iter(others), None)
    if name is None:
        return None
    files.root = name
    return files
