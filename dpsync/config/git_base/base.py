"""Which commit is the base, and the configuration in it: read from git without a checkout.

A default base that cannot be had is a warning, since everything works without one. A base that somebody named
must be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from dpsync.config import codes
from dpsync.config.composing.layers import Layers
from dpsync.config.git_base.commits import Earlier, Project
from dpsync.config.git_base.default_base import DEEPER, default_base, warning
from dpsync.config.git_base.git import NoRepository, Repository
from dpsync.config.git_base.missing_files import MissingFiles
from dpsync.config.reading.ids_file import parse
from dpsync.config.reading.reader import DEFAULT_LIMITS
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Base
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit


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
        return Base(str(none), warning=warning(str(none), none.hint) if none.hint else None)
    found = _named(repository, ref) if ref is not None else default_base(repository, env)
    if found.commit is None:
        return found
    found = replace(found, shallow=repository.shallow)
    project = Project(repository, root, registry, env, layers or Layers())
    loaded = _loaded(project, found, ref)
    return loaded if ids is None or loaded.desired is None else _with_ids(repository, loaded, registry, ids)


def _named(repository: Repository, ref: str) -> Base:
    commit = repository.commit(ref)
    if commit is None:
        raise _unusable(ref, "this clone does not contain the commit", DEEPER if repository.shallow else None)
    return Base(ref, commit)


def _unusable(ref: str, why: str, hint: str | None = None) -> DiagnosticError:
    message = f'dpsync cannot compare the files with "{ref}": {why}'
    return DiagnosticError([Diagnostic(codes.BASE, message, hint=hint)], Exit.INVALID)


# Its configuration.


def _loaded(project: Project, base: Base, ref: str | None) -> Base:
    assert base.commit is not None
    loaded = project.load(base.commit)
    if loaded is None:
        return Base(f"{base.name} does not contain {project.root.name}")
    first = loaded.wrong
    if first is None:
        earlier = Earlier(project, base.commit, loaded)
        return replace(
            base,
            desired=loaded.desired,
            earlier=earlier,
            missing_file=MissingFiles(project).describe,
            complete=loaded.complete,
        )
    where = f"{first.span.file}:{first.span.line}: " if first.span else ""
    why = f"the configuration in this commit is invalid ({where}{first.message})"
    if ref is not None:
        raise _unusable(ref, why)
    said = f"the configuration in {base.name} is invalid"
    remark = warning(f"{said} ({where}{first.message})", "choose another commit with --base")
    return Base(said, warning=remark)


def _with_ids(repository: Repository, base: Base, registry: Registry, path: Path) -> Base:
    """With the ids file of its commit. One that cannot be used is a warning: the rest of the past counts."""
    at = path.parent.resolve() / path.name
    if base.commit is None or not at.is_relative_to(repository.top):
        return base
    name = at.relative_to(repository.top).as_posix()
    data = repository.file(base.commit, name, DEFAULT_LIMITS.bytes)
    if data is None:
        return base
    ids, found = parse(data, path.name, registry.whole)
    if not found:
        return replace(base, ids=ids)
    first = found[0]
    where = f"{first.span.line}: " if first.span else ""
    message = f"the ids file in {base.name} is invalid ({name}:{where}{first.message})"
    return replace(base, warning=Diagnostic(codes.BASE, message, severity="warning"))
