"""Choose the git base (the commit that dpsync compares with), and read the configuration in it.

`read_base` is the entry point. Without `--base`, the base is HEAD. In CI, HEAD is the commit under test, so
the base is a merge base or an earlier commit, which the variables of the CI system name. A missing default
base is only a warning, because everything works without one. A base that the user named must exist.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from dpsync import disk
from dpsync.config import codes
from dpsync.config.commits import EarlierConfigurations, Project
from dpsync.config.edits import MissingFiles
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.ids_file import parse
from dpsync.config.layers import Layers
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.kinds.registry import Registry
from dpsync.model.desired import Base
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit

FETCH_HISTORY_HINT: Final = (
    "fetch the whole history: set fetch-depth: 0 in actions/checkout, or run git fetch --unshallow"
)
_LARGEST_EVENT: Final = 64 * 1024 * 1024


def default_base(repository: Repository, env: Mapping[str, str]) -> Base:
    """Return the default commit to compare the files with (git base): HEAD, or in CI one before the change.

    Its configuration is not loaded yet. Without such a commit, the name of the base says why.
    """
    if repository.resolve_commit("HEAD") is None:
        return Base("the repository has no commit")
    if not in_ci(env):
        return _base_at_head(repository)
    if env.get("GITLAB_CI"):
        return _gitlab_base(repository, env)
    return _github_base(repository, env)


def in_ci(env: Mapping[str, str]) -> bool:
    """Return whether this is a job of a CI system: nobody is at a terminal, and HEAD is under test."""
    return env.get("CI", "").lower() not in ("", "0", "false")


def missing_base_warning(why: str, hint: str) -> Diagnostic:
    """Return the warning that there is no commit to compare with, and what that prevents."""
    message = (
        f"dpsync cannot compare the files with an earlier commit: {why}. In this run, dpsync cannot notice "
        "that an entry was renamed, or that a line under policy.protect was removed"
    )
    return Diagnostic(codes.BASE, message, hint=hint, severity="warning")


def _github_base(repository: Repository, env: Mapping[str, str]) -> Base:
    """Return the default base in a job of GitHub Actions, which depends on the event.

    Pull request or merge queue: the merge base with the target branch. Push: the commit before the push. Any
    other event: HEAD, because nothing has just changed.
    """
    event_name, event = env.get("GITHUB_EVENT_NAME"), read_github_event(env)
    # GITHUB_BASE_REF is not set for every event of a pull request: not for a review.
    if target := env.get("GITHUB_BASE_REF") or text_at(event, "pull_request", "base", "ref"):
        # If the target branch was not fetched, its commit may still be here, as a parent of the test merge.
        tips = (
            repository.resolve_commit(f"refs/remotes/origin/{target}"),
            commit_at(event, "pull_request", "base", "sha"),
        )
        return _merge_base(repository, f"origin/{target}", tips)
    if event_name == "merge_group":
        tip = commit_at(event, "merge_group", "base_sha")
        return _merge_base(repository, "the target branch of the merge queue", (tip,))
    if event_name not in (None, "push"):
        return _base_at_head(repository)  # a schedule or a manual start: nothing has just changed
    return _base_before_push(repository, commit_at(event, "before"))


def _gitlab_base(repository: Repository, env: Mapping[str, str]) -> Base:
    """Return the default base in a job of GitLab CI, which depends on the source of the pipeline.

    Merge request: the merge base with the target branch. Push: the commit before the push. Otherwise: HEAD.
    """
    source = env.get("CI_PIPELINE_SOURCE")
    if source == "merge_request_event":
        # The first variable is set only in pipelines for merged results. The second commit may be older.
        tip, older = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA"), env.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
        target = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or "the target branch"
        return _merge_base(repository, target, (commit_id(tip), commit_id(older)))
    if source not in (None, "push"):
        return _base_at_head(repository)
    return _base_before_push(repository, commit_id(env.get("CI_COMMIT_BEFORE_SHA")))


def _base_at_head(repository: Repository) -> Base:
    """Return HEAD as the commit to compare with."""
    return Base("HEAD", repository.resolve_commit("HEAD"))


def _merge_base(repository: Repository, target: str, tips: Iterable[str | None]) -> Base:
    """Return the merge base of HEAD and a target branch, or a Base whose name says why it is missing.

    `tips` are candidates for the last commit of the target branch, the best first.
    """
    for tip in tips:
        other = repository.resolve_commit(tip) if tip else None
        if other and (commit := repository.merge_base("HEAD", other)):
            return Base(f"the merge base with {target}", commit, is_merge_base=True)
    return _missing_base(f"the merge base with {target}")


def _base_before_push(repository: Repository, previous_commit: str | None) -> Base:
    """Return the commit before a push as the git base. Without a known one, return the first parent of HEAD.

    `previous_commit` is the commit id in the event of the CI system. A push may contain several commits.
    If the clone lacks the commit, the name of the returned Base says so.
    """
    if previous_commit is not None:
        commit = repository.resolve_commit(previous_commit)
        name = "the commit before the push"
        return Base(name, commit) if commit else _missing_base(name)
    commit = repository.resolve_commit("HEAD^1")
    if commit is None:
        return _missing_base("the parent of HEAD") if repository.shallow else Base("HEAD is the first commit")
    return Base("the parent of HEAD", commit)


def _missing_base(base_name: str) -> Base:
    """Return a Base without a commit, and a warning that `base_name` is not in this clone."""
    reason = f"{base_name} is not in this clone"
    return Base(reason, warning=missing_base_warning(reason, FETCH_HISTORY_HINT), is_commit_missing=True)


def read_github_event(env: Mapping[str, str]) -> Any:
    """Return the JSON of the GitHub event that started the job; None if it cannot be read."""
    path = env.get("GITHUB_EVENT_PATH")
    try:
        return json.loads(disk.read(Path(path), _LARGEST_EVENT)) if path else None
    except (OSError, ValueError):
        return None


def commit_at(event: Any, *names: str) -> str | None:
    """Return the commit id at a path of keys in the JSON of an event; None if there is none."""
    return commit_id(_value_at(event, *names))


def text_at(event: Any, *names: str) -> str:
    """Return the text at a path of keys in the JSON of an event; "" if there is none."""
    value = _value_at(event, *names)
    return value if isinstance(value, str) else ""


def _value_at(event: Any, *names: str) -> Any:
    """Return the value at a path of keys in the JSON of an event; None if a key is missing."""
    for name in names:
        event = event.get(name) if isinstance(event, dict) else None
    return event


def commit_id(text: Any) -> str | None:
    """Return `text` if it is a full commit id, else None. An id of zeros means that there is no commit."""
    is_id = isinstance(text, str) and len(text) >= 40 and not set(text) - set("0123456789abcdef")
    return text if is_id and set(text) != {"0"} else None


def read_base(
    root: Path,
    registry: Registry,
    env: Mapping[str, str],
    ref: str | None = None,
    layers: Layers | None = None,
    ids: Path | None = None,
) -> Base:
    """Return the git base: an earlier commit with its configuration, with which the files are compared.

    `ref` is the commit that the user named with `--base`; None for the default. `ids` is the path of the ids
    file: the base gets this file as it is in the commit. If the default base cannot be used, the name of the
    result says why. Raises DiagnosticError (exit 5) if a commit that the user named cannot be used.
    """
    try:
        repository = Repository.containing(root.parent)
    except NoRepositoryError as none:
        if ref is not None:
            raise _unusable_base(ref, str(none), none.hint) from None
        return Base(str(none), warning=missing_base_warning(str(none), none.hint) if none.hint else None)
    base = _named_base(repository, ref) if ref is not None else default_base(repository, env)
    if base.commit is None:
        return base
    base = replace(base, is_shallow_clone=repository.shallow)
    project = Project(repository, root, registry, env, layers or Layers())
    loaded = _load_base(project, base, ref)
    return loaded if ids is None or loaded.desired is None else _with_ids(repository, loaded, registry, ids)


def _named_base(repository: Repository, ref: str) -> Base:
    """Return the commit that the user named with `--base`. Raises DiagnosticError if the clone lacks it."""
    commit = repository.resolve_commit(ref)
    if commit is None:
        raise _unusable_base(
            ref, "this clone does not contain the commit", FETCH_HISTORY_HINT if repository.shallow else None
        )
    return Base(ref, commit)


def _unusable_base(ref: str, why: str, hint: str | None = None) -> DiagnosticError:
    """Return the error that the commit named with `--base` cannot be used."""
    message = f'dpsync cannot compare the files with "{ref}": {why}'
    return DiagnosticError([Diagnostic(codes.BASE, message, hint=hint)], Exit.INVALID)


# The configuration of the base.


def _load_base(project: Project, base: Base, ref: str | None) -> Base:
    """Return the git base with its configuration loaded, or a Base whose name says why there is none.

    `ref` is the commit that the user named with `--base`: if its configuration is invalid, DiagnosticError
    is raised. An invalid configuration of the default base (`ref` is None) is only a warning.
    """
    assert base.commit is not None
    loaded = project.load(base.commit)
    if loaded is None:
        return Base(f"{base.name} does not contain {project.root.name}")
    first = loaded.error
    if first is None:
        earlier = EarlierConfigurations(project, base.commit, loaded)
        return replace(
            base,
            desired=loaded.desired,
            earlier_configurations=earlier,
            describe_missing_file=MissingFiles(project).describe,
            has_all_overlays=loaded.complete,
        )
    position = f"{first.span.file}:{first.span.line}: " if first.span else ""
    why = f"the configuration in this commit is invalid ({position}{first.message})"
    if ref is not None:
        raise _unusable_base(ref, why)
    reason = f"the configuration in {base.name} is invalid"
    warning = missing_base_warning(
        f"{reason} ({position}{first.message})", "choose another commit with --base"
    )
    return Base(reason, warning=warning)


def _with_ids(repository: Repository, base: Base, registry: Registry, path: Path) -> Base:
    """Return the git base with the ids file as it is in its commit.

    Return the base unchanged if the commit has no such file, and with a warning if the file is invalid.
    """
    absolute_path = path.parent.resolve() / path.name
    if base.commit is None or not absolute_path.is_relative_to(repository.top):
        return base
    name = absolute_path.relative_to(repository.top).as_posix()
    data = repository.read_file(base.commit, name, DEFAULT_LIMITS.bytes)
    if data is None:
        return base
    ids, problems = parse(data, path.name, registry.with_all_kinds)
    if not problems:
        return replace(base, ids=ids)
    first = problems[0]
    position = f"{first.span.line}: " if first.span else ""
    message = f"the ids file in {base.name} is invalid ({name}:{position}{first.message})"
    return replace(base, warning=Diagnostic(codes.BASE, message, severity="warning"))
