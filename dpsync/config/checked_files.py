"""Check files and environments of the working copy against a commit before they are used.

In a workflow with secrets, untrusted code (a build, an unpacked artifact) may write into the working copy and
its `.git` directory. `CheckedFiles` compares each file with the commit whose id GitHub has provided, and uses
a git object only if its hash matches its id. The author of an environment chooses which variable is sent to
which host. A pull request must not choose this, because its plan needs no approval: `environment_source`
takes both from its target branch (docs/configuration.md#which-commit-sets-the-address).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, NoReturn

from msgspec import Struct

from dpsync.config import codes
from dpsync.config.commits import commit_files
from dpsync.config.compose import read_environment
from dpsync.config.discovery import ROOT_NAMES, DiskFiles, IncludedFile
from dpsync.config.git import CommitFiles, NoRepositoryError, Repository
from dpsync.config.git_base import FETCH_HISTORY_HINT, commit_at, commit_id, read_github_event, text_at
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.model.desired import Environment
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit, Findings
from dpsync.model.nodes import Node, Span
from dpsync.model.text import short_commit

_DIRECTORY: Final = "40000"
_SUBMODULE: Final = "160000"
_MAX_OBJECT_BYTES: Final = 1 << 26
"""Maximum size, in bytes, of a commit object or a tree object."""
_MAX_FILES: Final = 1_000_000
"""Maximum number of files in a commit: nested copies of one tree object can expand to very many files."""
_LINE_END: Final = re.compile(rb"(?<!\r)\n")


class VerifiedRepository(Repository, frozen=True):
    """A repository that returns only objects whose hash matches their id."""

    @staticmethod
    def containing(directory: Path) -> VerifiedRepository:
        """Return the repository that contains a directory. Raises NoRepositoryError."""
        return VerifiedRepository(Repository.containing(directory).git)

    def objects(self, ids: Collection[str], largest: int) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield the id, type and content of each object whose hash matches its id; skip all others."""
        for id_, kind, data in super().objects(ids, largest):
            # git computes an id as the hash of "TYPE LENGTH\0CONTENT". Its length tells the algorithm.
            algorithm = "sha256" if len(id_) == 64 else "sha1"
            hashed_bytes = b"%s %d\0%s" % (kind, len(data), data)
            if hashlib.new(algorithm, hashed_bytes, usedforsecurity=False).hexdigest() == id_:
                yield id_, kind, data

    def list_tree(self, commit: str, directory: str) -> dict[str, tuple[str, str]]:
        """Return the mode and object id of each file in a directory of a commit, by path below the directory.

        Raises NoRepositoryError if a needed object is missing or its hash does not match its id.
        """
        head = self._contents({commit}, b"commit")[commit]
        tree = head.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")
        for part in PurePosixPath(directory).parts:
            entries = _tree_entries(self._contents({tree}, b"tree")[tree], len(tree) // 2)
            subtree_id = next(
                (id_ for mode, name, id_ in entries if (mode, name) == (_DIRECTORY, part)), None
            )
            if subtree_id is None:
                return {}
            tree = subtree_id
        files: dict[str, tuple[str, str]] = {}
        directories = {"": tree}
        while directories:
            if len(files) + len(directories) > _MAX_FILES:
                raise NoRepositoryError(f"the commit {short_commit(commit)} has too many files")
            contents = self._contents({*directories.values()}, b"tree")
            deeper: dict[str, str] = {}
            for prefix, tree in directories.items():
                for mode, name, id_ in _tree_entries(contents[tree], len(tree) // 2):
                    if mode == _DIRECTORY:
                        deeper[f"{prefix}{name}/"] = id_
                    elif mode != _SUBMODULE:
                        files[f"{prefix}{name}"] = mode, id_
            directories = deeper
        return files

    def _contents(self, ids: Collection[str], kind: bytes) -> dict[str, bytes]:
        """Return the contents of git objects of one type, by id.

        Raises NoRepositoryError if an object is missing, has another type, or its hash does not match its id.
        """
        contents = {id_: data for id_, of, data in self.objects(ids, _MAX_OBJECT_BYTES) if of == kind}
        if missing := sorted({*ids} - contents.keys()):
            raise NoRepositoryError(
                f"the {kind.decode()} {short_commit(missing[0])} is missing in git, or its hash is wrong"
            )
        return contents


def _tree_entries(tree: bytes, size: int) -> Iterator[tuple[str, str, str]]:
    r"""Yield the mode, name and id of each entry of a git tree object (a directory).

    The format of git is `MODE NAME\\0ID` per entry, where the id has `size` bytes. The id is yielded as
    hexadecimal text.
    """
    offset = 0
    while offset < len(tree):
        end = tree.index(b"\0", offset)
        mode, _, name = tree[offset:end].partition(b" ")
        offset = end + 1 + size
        yield mode.decode("ascii", "replace"), os.fsdecode(name), tree[end + 1 : offset].hex()


class CheckedFiles(Struct):
    """The files of a project on disk. Raises DiagnosticError for every difference from the commit.

    File contents, the files that a pattern matches, and the targets of links are compared.
    """

    root: str
    working_copy: DiskFiles
    committed: CommitFiles

    @staticmethod
    def of(root: Path, commit: str) -> CheckedFiles:
        """Return the files of the project of `root`. Raises DiagnosticError if the commit cannot be read."""
        return CheckedFiles(root.name, DiskFiles(root), _committed_files(root.parent, root, commit))

    def included(
        self, include: Node, including_file: str = ""
    ) -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files on disk that `include` names. Raises DiagnosticError if the commit has others."""
        files, problems = self.working_copy.included(include, including_file)
        expected, _ = self.committed.included(include, including_file)
        for name in sorted({file.name for file in files} ^ {file.name for file in expected}):
            self._refuse(name)
        return files, problems

    def real_name(self, name: str) -> str | None:
        """Return the name after following links. Raises DiagnosticError if it differs in the commit."""
        resolved_name = self.working_copy.real_name(name)
        if resolved_name != self.committed.real_name(name):
            self._refuse(name)
        return resolved_name

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file on disk. Raises DiagnosticError if it differs from the commit.

        A file that is missing on disk and in the commit raises OSError.
        """
        try:
            data = self.working_copy.read(name, DEFAULT_LIMITS.bytes)
        except OSError:
            _compare(self.committed, name, name, None)
            raise
        _compare(self.committed, name, name, data)
        return data[: limit + 1]

    def _refuse(self, name: str) -> NoReturn:
        """Raise the DiagnosticError that a file differs from the commit."""
        raise _changed_file_error(name, self.committed.commit)


def check_file(path: Path, name: str, data: bytes | None, commit: str, project: Path) -> None:
    """Raise DiagnosticError unless a file has the content `data` in the commit; None means no file.

    It is for a single file that was already read from disk. `name` is the file name for messages. `project`
    is a directory in the same checkout.
    """
    _compare(_committed_files(project, path, commit), path.name, name, data)


def check_nearest_root(start: Path, root: Path, commit: str) -> None:
    """Raise DiagnosticError if the commit has a root file nearer to `start` than `root`.

    Untrusted code may have deleted the nearer root file, so that dpsync uses another project.
    """
    start_directory, project = start.resolve(), root.parent.resolve()
    for directory in (start_directory, *start_directory.parents):
        committed = _committed_files(project, directory / root.name, commit)
        for name in ROOT_NAMES:
            if name in committed and directory / name != project / root.name:
                raise _changed_file_error(
                    (directory / name).relative_to(committed.repository.top).as_posix(), commit
                )
        if directory == project:
            return


def _committed_files(project: Path, path: Path, commit: str) -> CommitFiles:
    """Return the files that a commit has in the directory of `path`, from the checkout of `project`.

    Raises DiagnosticError (exit 4) if the commit cannot be read.
    """
    try:
        repository = VerifiedRepository.containing(project)
        directory = path.parent.resolve().relative_to(repository.top).as_posix()
        files = CommitFiles(repository, commit, "" if directory == "." else directory, path.name)
        _ = path.name in files  # load the names now, so that errors are raised here
    except (NoRepositoryError, ValueError) as why:
        message = f"{path.name} cannot be compared with the commit {short_commit(commit)}: {why}"
        hint = "run actions/checkout in the same job, before dpsync"
        raise DiagnosticError([Diagnostic(codes.CHANGED_FILE, message, hint=hint)], Exit.REFUSED) from None
    return files


def _compare(committed: CommitFiles, name: str, shown_name: str, data: bytes | None) -> None:
    """Raise DiagnosticError if a file on disk differs from the committed file.

    `data` is the content on disk; None means that the file does not exist. `shown_name` is the file name for
    the message.
    """
    try:
        expected = committed.read(name, DEFAULT_LIMITS.bytes)
    except OSError:
        expected = None
    if data == expected:
        return
    # The only accepted difference: a checkout may convert LF to CRLF (.gitattributes, core.eol).
    if data is None or expected is None or data != _LINE_END.sub(b"\r\n", expected):
        raise _changed_file_error(shown_name, committed.commit)


def _changed_file_error(name: str, commit: str) -> DiagnosticError:
    """Return the error that a file differs from the checked-out commit."""
    message = f"{name} differs from the checked-out commit {short_commit(commit)}"
    hint = (
        "an earlier step of the job changed, added or deleted this "
        "file. Run dpsync right after actions/checkout"
    )
    finding = Diagnostic(codes.CHANGED_FILE, message, Span.start_of(name), hint=hint)
    return DiagnosticError([finding], Exit.REFUSED)


class EnvironmentSource(Struct, frozen=True):
    """The commit that decides which address an environment has and which token is sent there.

    `name` is the name of the commit for messages. `files` contains the project in this commit, or None if the
    commit has no root file. If the commit cannot be read, `problem` is the reason and `hint` is what to do.
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
    """Return whether a job of a CI system names a change, so that the checkout may be unreviewed."""
    return bool(env.get("GITHUB_EVENT_NAME")) or env.get("CI_PIPELINE_SOURCE") == "merge_request_event"


def environment_source(
    root: Path, env: Mapping[str, str], branches: Collection[str] = ()
) -> EnvironmentSource:
    """Return the commit that decides which address an environment has and which token is sent there.

    It is HEAD if the checkout is not under review, else the target branch of the pull request. `branches`
    lists the branches that the workflow may apply; empty means only the default branch.
    """
    review = may_be_under_review(env)
    try:
        repository = Repository.containing(root.parent)
    except NoRepositoryError as none:
        return EnvironmentSource("git", problem=str(none), hint=none.hint, under_review=review)
    if not review or _is_commit_of_run(repository, env):
        commit = repository.resolve_commit("HEAD")
        if commit is None:
            return EnvironmentSource("HEAD", problem="the repository has no commit")
        return EnvironmentSource(f"HEAD ({short_commit(commit)})", commit_files(repository, commit, root))
    on_github = bool(env.get("GITHUB_EVENT_NAME"))
    source_name, tips = _github_source(repository, env, branches) if on_github else _gitlab_source(env)
    for tip in tips:
        if tip and (commit := repository.resolve_commit(tip)):
            files = commit_files(repository, commit, root)
            return EnvironmentSource(f"{source_name} ({short_commit(commit)})", files, under_review=True)
    problem = f"{source_name} is not in this clone"
    return EnvironmentSource(source_name, problem=problem, hint=FETCH_HISTORY_HINT, under_review=True)


def _is_commit_of_run(repository: Repository, env: Mapping[str, str]) -> bool:
    """Return whether HEAD is the commit or branch for which GitHub started the run, and no pull request.

    Only then may the files at HEAD set API URLs, to which dpsync sends tokens, because such a checkout counts
    as reviewed. Any other checkout may be an unreviewed change that a workflow with secrets was asked to look
    at: by another workflow, a comment or a button.
    """
    event_name = env.get("GITHUB_EVENT_NAME")
    if not event_name or event_name == "merge_group" or _target_branch(env, read_github_event(env)):
        return False
    head, branch = repository.resolve_commit("HEAD"), env.get("GITHUB_REF", "")
    if head is None or head == commit_id(env.get("GITHUB_SHA")):
        return head is not None
    if not branch.startswith("refs/heads/") or repository.is_nested:
        return False
    # The job may have checked out a later commit of its branch, if others pushed while the job waited.
    return head == repository.resolve_commit(f"refs/remotes/origin/{branch.removeprefix('refs/heads/')}")


def _github_source(
    repository: Repository, env: Mapping[str, str], branches: Collection[str]
) -> tuple[str, Iterator[str | None]]:
    """Return the commit that may set environment addresses in a GitHub run: its name, and git revisions.

    The name is for messages ("main (the default branch)"). The revisions are candidates for this commit, the
    best first; a shallow clone may lack some of them.
    """
    event, event_name = read_github_event(env), env["GITHUB_EVENT_NAME"]
    if event_name == "merge_group":
        return "the target branch of the merge queue", iter([commit_at(event, "merge_group", "base_sha")])
    target = _target_branch(env, event)
    if not target:
        return f"the commit of this workflow run (event {event_name})", iter(
            [commit_id(env.get("GITHUB_SHA"))]
        )
    default = text_at(event, "repository", "default_branch")
    # Anybody with push access can open a pull request that targets a branch of their own.
    branch = target if not default or target in (branches or (default,)) else default
    branch_role = "the target branch of this pull request" if branch == target else "the default branch"
    return f"{branch} ({branch_role})", _github_candidates(repository, env, event, branch, target)


def _target_branch(env: Mapping[str, str], event: Any) -> str:
    """Return the target branch of the pull request; "" if the event has none."""
    return env.get("GITHUB_BASE_REF") or text_at(event, "pull_request", "base", "ref")


def _github_candidates(
    repository: Repository, env: Mapping[str, str], event: Any, branch: str, target: str
) -> Iterator[str | None]:
    """Yield git revisions that may be the last commit of a branch, the most recent first.

    `target` is the target branch of the pull request, if `branch` is a fallback for it.
    """
    run_commit = commit_id(env.get("GITHUB_SHA"))
    if env.get("GITHUB_REF") == f"refs/heads/{branch}":
        yield run_commit
    if branch == target and run_commit and repository.resolve_commit(run_commit):
        # GitHub's test merge commit: the first parent is the tip of the target branch at that time.
        first, *others = repository.parents(run_commit) or [""]
        if others == [commit_at(event, "pull_request", "head", "sha")]:
            yield first
    if not repository.is_nested:  # branch names of a submodule are chosen by the authors of the submodule
        yield f"refs/remotes/origin/{branch}"
    if branch == target:
        yield commit_at(event, "pull_request", "base", "sha")


def _gitlab_source(env: Mapping[str, str]) -> tuple[str, Iterator[str | None]]:
    """Return the commit that may set environment addresses in a GitLab merge request.

    The result is the name of the target branch for messages, and candidate commit ids, the best first.
    """
    # GitLab sets TARGET_BRANCH_SHA only in pipelines for merged results.
    names = ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA")
    branch = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or "a branch"
    source_name = f"{branch} (the target branch of this merge request)"
    return source_name, (commit_id(env.get(name)) for name in names)
