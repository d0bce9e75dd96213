"""Identify the workflow run and its working copy, from environment variables and the event file.

The `…_key` functions make the keys (hashes) that identify a plan, its target or a branch in the markers of
comments and issues.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from dpsync.github.transport import member_at, number_at, text_at
from dpsync.model.plan import Plan
from dpsync.model.urls import is_loopback

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_SERVER: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+")
_PRIVILEGED_EVENTS: Final = ("pull_request_target", "workflow_run")
"""Events whose runs have the secrets of the repository although anybody's change may have caused them."""


class WorkflowRun(Struct, frozen=True):
    """A workflow run. `number` is the number of its pull request; None without one."""

    repository: str
    run_id: int
    attempt: int
    event: str
    sha: str
    """The commit of this run: of a pull request the head, and not GitHub's trial merge."""
    github_sha: str
    """The commit that GitHub would check out."""
    server: str = "https://github.com"
    number: int | None = None
    is_from_fork: bool = False
    """Whether the change comes from another repository, so that the run has no secrets and may not write."""
    branch: str = ""
    """The branch of this run; of a merged pull request, its base. "" if it is not in this repository."""
    lacks_secrets: bool = False
    """Whether the run has no secrets, because a fork or Dependabot caused it."""
    is_from_comment: bool = False
    """Whether a comment in the pull request started the run, so GitHub must name the head (commits.py)."""
    comment_id: int | None = None
    """The id of the comment that started the run."""
    base_branch_override: str = ""
    """The base branch of the pull request, if the environment variables of the run do not contain it."""
    base_branch: str = ""
    """The base branch of the pull request."""
    head: str = ""
    """The head commit of the pull request or workflow run that caused this run."""
    verified_commit: str = ""
    """The commit named by GitHub, whose files the working copy must equal. "": compare nothing."""

    @property
    def age(self) -> tuple[int, int]:
        """The run id and attempt, for comparisons: a later run or attempt has the greater value."""
        return self.run_id, self.attempt

    @property
    def url(self) -> str:
        """The URL of the run's page on GitHub."""
        return f"{self.server}/{self.repository}/actions/runs/{self.run_id}"

    @property
    def is_privileged(self) -> bool:
        """Whether the run has secrets although anybody's change may have caused it."""
        return self.event in _PRIVILEGED_EVENTS


class WorkingCopy(Struct, frozen=True):
    """The files of the run.

    Somebody else may have written them, so nothing is read before the run is checked.

    `find_link` returns a symbolic link in the path to the files, `read_head` the checked-out commit; both
    start no other program. `merged_commit` returns the second parent of a merge commit: for GitHub's trial
    merge, the merged head.
    """

    find_link: Callable[[], str | None]
    read_head: Callable[[], str | None]
    merged_commit: Callable[[str], str | None] = lambda _commit: None


def find_workflow_run(env: Mapping[str, str], event: Any) -> WorkflowRun:
    """Return the workflow run that the environment variables and the event describe.

    Raises:
        ValueError: The variables do not identify a workflow run.
    """
    repository, github_sha = env.get("GITHUB_REPOSITORY", ""), env.get("GITHUB_SHA", "")
    server = env.get("GITHUB_SERVER_URL", "").rstrip("/")
    run_id = env.get("GITHUB_RUN_ID", "")
    if not (_REPOSITORY.fullmatch(repository) and run_id.isdecimal()):
        raise ValueError(
            "the environment variables GITHUB_REPOSITORY and GITHUB_RUN_ID do not identify a workflow run"
        )
    name = env.get("GITHUB_EVENT_NAME", "")
    request = member_at(event, "pull_request")
    is_from_fork = False
    if request is not None:
        is_from_fork = member_at(request, "head", "repo", "full_name") != repository
    elif name == "workflow_run":
        is_from_fork = member_at(event, "workflow_run", "head_repository", "full_name") != repository
    issue = member_at(event, "issue") if name == "issue_comment" else None
    is_comment_on_pull_request = member_at(issue, "pull_request") is not None
    number = number_at(issue if is_comment_on_pull_request else request, "number")
    head = text_at(event, "workflow_run", "head_sha") if request is None else text_at(request, "head", "sha")
    head = head if _COMMIT.fullmatch(head) else ""
    sha = github_sha if request is None else head or github_sha
    attempt = env.get("GITHUB_RUN_ATTEMPT", "")
    return WorkflowRun(
        repository=repository,
        run_id=int(run_id),
        attempt=int(attempt) if attempt.isdecimal() else 1,
        event=name,
        sha=sha if _COMMIT.fullmatch(sha) else "",
        github_sha=github_sha if _COMMIT.fullmatch(github_sha) else "",
        server=server if _SERVER.fullmatch(server) else "https://github.com",
        number=number,
        is_from_fork=is_from_fork,
        branch="" if is_from_fork or is_comment_on_pull_request else _branch_of_run(env, event),
        lacks_secrets=is_from_fork or env.get("GITHUB_ACTOR") == "dependabot[bot]",
        is_from_comment=is_comment_on_pull_request,
        comment_id=number_at(event, "comment", "id") if is_comment_on_pull_request else None,
        base_branch=text_at(request, "base", "ref"),
        head=head,
    )


def _branch_of_run(env: Mapping[str, str], event: Any) -> str:
    """Return the branch that a run is about.

    This is the branch of GITHUB_REF, for an unmerged pull request its head branch, for a merged one its base
    branch, and for other events, such as a tag, the default branch.
    """
    ref = env.get("GITHUB_REF", "")
    if ref.startswith("refs/heads/"):
        return ref.removeprefix("refs/heads/")
    request = member_at(event, "pull_request")
    if request is None:
        return text_at(event, "repository", "default_branch")
    return text_at(request, "base" if member_at(request, "merged") else "head", "ref")


def plan_key(name: str, plan: Plan) -> str:
    """Return the key (a hash) that identifies the platform and the organizations of a plan in markers.

    Markers are the invisible first lines of dpsync's comments on pull requests. By this key, dpsync finds the
    approvals for a plan again. `name` is the key of the configuration.
    """
    return target_key(name, plan.platform, (organization.id for organization in plan.organizations))


def target_key(name: str, address: str, organizations: Iterable[str]) -> str:
    """Return the key (a hash) that identifies a platform and its organizations in markers.

    `name` is the key of the configuration. All platforms on this machine (loopback) have the same key,
    because their ports change.
    """
    return make_key(name, "" if is_loopback(address) else address, *sorted(organizations))


def branch_key(name: str) -> str:
    """Return the key (a hash) that identifies a branch in markers; "" for no branch."""
    return make_key("branch", name) if name else ""


def make_key(*parts: str) -> str:
    """Return a hash of several texts in 32 hexadecimal digits, which identifies them in markers."""
    joined = "\0".join(part.replace("\0", "") for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]
