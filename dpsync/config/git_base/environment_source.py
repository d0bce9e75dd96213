"""Find the commit that sets the address of an environment, and read the environment in this commit.

The author of an environment chooses which variable is sent to which host. A pull request must not choose
this, because its plan needs no approval. Therefore the address and the token variable come from the target of
the pull request. The CI system identifies the target by a commit id or by a fetched branch.

The rules for users are in docs/configuration.md#which-commit-sets-the-address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from dpsync.config.composing.compose import read_environment
from dpsync.config.git_base.commits import commit_files
from dpsync.config.git_base.default_base import DEEPER, commit_at, commit_id, event_of, text_at
from dpsync.config.git_base.git import CommitFiles, NoRepository, Repository
from dpsync.model.desired import Environment
from dpsync.model.diagnostic import Findings
from dpsync.model.text import short_commit


class EnvironmentSource(Struct, frozen=True):
    """The commit that sets the addresses of environments; `name` is its name for messages.

    `files` contains the project in this commit, or None if the commit has no root file. If the commit cannot
    be read, `problem` is the reason and `hint` is what to do.
    """

    name: str
    files: CommitFiles | None = None
    problem: str = ""
    hint: str | None = None
    under_review: bool = False
    """The working copy is a change under review, or may be one: no flag and no answer replaces the commit."""

    def environment(self, env: Mapping[str, str], name: str) -> tuple[Environment | None, Findings]:
        """Return the environment `name` in the commit (None if missing), and findings about it."""
        return read_environment(self.files, env, name) if self.files is not None else (None, Findings())


def may_be_under_review(env: Mapping[str, str]) -> bool:
    """Return whether this is a job of a CI system that says which change it is for."""
    return bool(env.get("GITHUB_EVENT_NAME")) or env.get("CI_PIPELINE_SOURCE") == "merge_request_event"


def environment_source(
    root: Path, env: Mapping[str, str], branches: Collection[str] = ()
) -> EnvironmentSource:
    """Return the commit that sets the addresses of the environments in a root file.

    `branches` lists the branches that the workflow may apply; empty means only the default branch.
    """
    review = may_be_under_review(env)
    try:
        repository = Repository.around(root.parent)
    except NoRepository as none:
        return EnvironmentSource("git", problem=str(none), hint=none.hint, under_review=review)
    if not review or _is_own_commit(repository, env):
        commit = repository.commit("HEAD")
        if commit is None:
            return EnvironmentSource("HEAD", problem="the repository has no commit")
        return EnvironmentSource(f"HEAD ({short_commit(commit)})", commit_files(repository, commit, root))
    on_github = bool(env.get("GITHUB_EVENT_NAME"))
    what, tips = _github(repository, env, branches) if on_github else _gitlab(env)
    for tip in tips:
        if tip and (commit := repository.commit(tip)):
            files = commit_files(repository, commit, root)
            return EnvironmentSource(f"{what} ({short_commit(commit)})", files, under_review=True)
    problem = f"{what} is not in this clone"
    return EnvironmentSource(what, problem=problem, hint=DEEPER, under_review=True)


def _is_own_commit(repository: Repository, env: Mapping[str, str]) -> bool:
    """Return whether HEAD is the commit or the branch of a run on GitHub that is about no pull request.

    Any other checkout may be a change that a workflow with secrets was asked to look at: by another workflow,
    a comment or a button.
    """
    kind = env.get("GITHUB_EVENT_NAME")
    if not kind or kind == "merge_group" or _target_branch(env, event_of(env)):
        return False
    head, branch = repository.commit("HEAD"), env.get("GITHUB_REF", "")
    if head is None or head == commit_id(env.get("GITHUB_SHA")):
        return head is not None
    if not branch.startswith("refs/heads/") or repository.is_nested:
        return False
    # The job may have waited until others had pushed.
    return head == repository.commit(f"refs/remotes/origin/{branch.removeprefix('refs/heads/')}")


def _github(
    repository: Repository, env: Mapping[str, str], branches: Collection[str]
) -> tuple[str, Iterator[str | None]]:
    """Return the name of the commit for people, and what may be its name in this clone."""
    event, kind = event_of(env), env["GITHUB_EVENT_NAME"]
    if kind == "merge_group":
        return "the target branch of the merge queue", iter([commit_at(event, "merge_group", "base_sha")])
    target = _target_branch(env, event)
    if not target:
        return f"the commit of this workflow run (event {kind})", iter([commit_id(env.get("GITHUB_SHA"))])
    default = text_at(event, "repository", "default_branch")
    # Anybody with push access can open a pull request that targets a branch of their own.
    branch = target if not default or target in (branches or (default,)) else default
    what = "the target branch of this pull request" if branch == target else "the default branch"
    return f"{branch} ({what})", _github_candidates(repository, env, event, branch, target)


def _target_branch(env: Mapping[str, str], event: Any) -> str:
    """Return the target branch of the pull request; "" if the event has none."""
    return env.get("GITHUB_BASE_REF") or text_at(event, "pull_request", "base", "ref")


def _github_candidates(
    repository: Repository, env: Mapping[str, str], event: Any, branch: str, target: str
) -> Iterator[str | None]:
    """Yield candidate git names of the last commit of a branch, the most recent first."""
    own = commit_id(env.get("GITHUB_SHA"))
    if env.get("GITHUB_REF") == f"refs/heads/{branch}":
        yield own
    if branch == target and own and repository.commit(own):
        # GitHub's test merge commit: the first parent is the tip of the target branch at that time.
        first, *others = repository.parents(own) or [""]
        if others == [commit_at(event, "pull_request", "head", "sha")]:
            yield first
    if not repository.is_nested:  # branch names of a submodule are chosen by the authors of the submodule
        yield f"refs/remotes/origin/{branch}"
    if branch == target:
        yield commit_at(event, "pull_request", "base", "sha")


def _gitlab(env: Mapping[str, str]) -> tuple[str, Iterator[str | None]]:
    # GitLab sets TARGET_BRANCH_SHA only in pipelines for merged results.
    names = ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA")
    branch = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or "a branch"
    what = f"{branch} (the target branch of this merge request)"
    return what, (commit_id(env.get(name)) for name in names)
