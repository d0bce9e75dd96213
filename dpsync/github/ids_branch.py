"""Save the ids file on a branch after an apply, by a commit or a pull request.

`IdsFileUpdate` compares the ids file of the working copy with its commit and saves the new lines, because the
working copy of the runner is lost. Lines that could not be saved are listed in the log and in the job
summary; the exit code does not change.

Each write names the blob or commit that was read before, and GitHub refuses the write if that is outdated. So
`IdsBranch` needs no lock and never forces a push: each try reads and merges again.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from msgspec import Struct

from dpsync import disk
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.ids_file import parse, render_ids_file
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.github.api import GitHub
from dpsync.github.runner import Log
from dpsync.github.transport import GitHubError, member_at, number_at, text_at
from dpsync.github.workspace import WorkflowRun, make_key
from dpsync.kinds.registry import Registry
from dpsync.model.ids import IdsFile, MergedIds, RecordedLine, line_changes, merge_ids
from dpsync.model.text import format_count, is_or_are, shorten_list
from dpsync.render.markdown import code_span, escape_prose, fence
from dpsync.render.view import clip_text
from dpsync.render.visible import visible

_SHA: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class FileVersion(Struct, frozen=True):
    """A file on a branch or in a commit. Both values are None if there is no file."""

    data: bytes | None = None
    blob_sha: str | None = None


class PullRequestState(Struct, frozen=True):
    """A pull request; `head` is its last commit."""

    number: int
    open: bool
    head: str


class Branches(Struct, frozen=True):
    """Requests about the branches of one repository. Every method raises GitHubError."""

    github: GitHub
    repository: str
    """`owner/name`."""

    def head(self, branch: str) -> str | None:
        """Return the last commit of a branch; None if the branch does not exist."""
        try:
            answer = self.github.request("GET", f"/git/ref/heads/{quote(branch)}")
        except GitHubError as error:
            if not error.is_missing:
                raise
            return None
        return _sha_at(answer, "object", "sha")

    def contains(self, branch: str, commit: str) -> bool:
        """Return whether a commit is on a branch; False if GitHub does not know the branch or the commit."""
        try:
            return self.merge_base(quote(branch), commit) == commit
        except GitHubError as error:
            if not error.is_missing:
                raise
            return False

    def read_file(self, path: str, ref: str) -> FileVersion:
        """Return a file on a branch or in a commit; an empty FileVersion if it does not exist.

        GitHub sends the content of a large file only in a second request, for the blob.
        """
        try:
            answer = self.github.request("GET", f"/contents/{quote(path)}", query={"ref": ref})
        except GitHubError as error:
            if not error.is_missing:
                raise
            return FileVersion()
        if not isinstance(answer, dict) or answer.get("type") != "file":
            raise GitHubError(f"{path} is not a file on the branch")
        blob = _sha_at(answer, "sha")
        if answer.get("encoding") != "base64":  # it is longer than a megabyte
            answer = self.github.request("GET", f"/git/blobs/{blob}")
        text = member_at(answer, "content")
        if not isinstance(text, str) or answer.get("encoding") != "base64":
            raise GitHubError("the response of GitHub has no file content")
        try:
            return FileVersion(b64decode(text), blob)
        except ValueError:
            raise GitHubError("the response of GitHub has no file content") from None

    def commit_file(self, path: str, branch: str, data: bytes, replaced: FileVersion, message: str) -> str:
        """Commit a file to a branch, and return the id of the commit.

        `replaced` is the version of the file that was read before. GitHub refuses the request if the branch
        has another version by now.
        """
        content = {"message": message, "content": b64encode(data).decode(), "branch": branch}
        if replaced.blob_sha is not None:
            content["sha"] = replaced.blob_sha
        return _sha_at(self.github.request("PUT", f"/contents/{quote(path)}", content), "commit", "sha")

    def create_commit(
        self, path: str, data: bytes, tree_commit: str, parents: list[str], message: str
    ) -> str:
        """Create a commit that no branch contains yet. Return its SHA.

        Args:
            tree_commit: The commit whose files the new commit has, except for `path`.
            parents: The parents of the new commit.
        """
        tree = _sha_at(self.github.request("GET", f"/git/commits/{tree_commit}"), "tree", "sha")
        entry = {"path": path, "mode": "100644", "type": "blob", "content": data.decode()}
        new_tree = self.github.request("POST", "/git/trees", {"base_tree": tree, "tree": [entry]})
        content = {"message": message, "tree": _sha_at(new_tree, "sha"), "parents": parents}
        return _sha_at(self.github.request("POST", "/git/commits", content), "sha")

    def create_branch(self, branch: str, commit: str) -> None:
        """Create a branch."""
        self.github.request("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})

    def fast_forward(self, branch: str, commit: str) -> None:
        """Move a branch forward to a commit that follows its last commit."""
        self.github.request("PATCH", f"/git/refs/heads/{quote(branch)}", {"sha": commit, "force": False})

    def merge_base(self, base: str, head: str) -> str:
        """Return the merge base of two commits or branches.

        Raises GitHubError with status 404 if there is none.
        """
        answer = self.github.request("GET", f"/compare/{base}...{head}", query={"per_page": "1"})
        return _sha_at(answer, "merge_base_commit", "sha")

    def pull_requests(self, branch: str, base: str) -> list[PullRequestState]:
        """Return the latest 100 pull requests from one branch into another, open or closed."""
        owner = self.repository.partition("/")[0]
        query = {"head": f"{owner}:{branch}", "base": base, "state": "all", "per_page": "100"}
        answer = self.github.request("GET", "/pulls", query=query)
        if not isinstance(answer, list):
            raise GitHubError("the response of GitHub is not a list of pull requests")
        return [_parse_pull_request(body) for body in answer]

    def open_pull_request(self, branch: str, base: str, title: str, body: str) -> PullRequestState:
        """Open a pull request."""
        content = {"title": title, "head": branch, "base": base, "body": body}
        return _parse_pull_request(self.github.request("POST", "/pulls", content))


def _parse_pull_request(body: Any) -> PullRequestState:
    """Return a pull request from GitHub's JSON. Raises GitHubError for other JSON."""
    number = number_at(body, "number")
    if number is None:
        raise GitHubError("the response of GitHub is not a pull request")
    return PullRequestState(number, body.get("state") == "open", _sha_at(body, "head", "sha"))


def _sha_at(body: Any, *names: str) -> str:
    """Return the SHA of a commit or blob under a path of keys in GitHub's JSON.

    Raises GitHubError if there is no valid SHA.
    """
    sha = text_at(body, *names)
    if not _SHA.fullmatch(sha):
        raise GitHubError("the response of GitHub contains no commit or file")
    return sha


SaveMethod = Literal["commit", "pull-request"]
PULL_REQUEST_TITLE: Final = "Record live objects in the ids file"
MAX_TRIES: Final = 20
"""The largest number of tries: so many other writers may each come first once."""
_TRIES_PER_FAULT: Final = 7
"""The number of tries that a fault counts as."""
_RACE_STATUSES: Final = (409, 422)
_RULE_MESSAGE: Final = re.compile(r"\brules?\b|protected|\brequired|must be made|refusing", re.IGNORECASE)
"""Words in GitHub's response if a rule of the repository forbids the commit, however often it is sent."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 3.0
"""The longest pause in seconds. Pauses are random, so that competing writers do not all return at once."""


class UnclearIdsError(Exception):
    """The lines belong to no known branch, or the file cannot be merged. The text says why."""


class LocalIds(Struct, frozen=True):
    """The ids file in the working copy before and after an apply. `path` is relative to the repository."""

    path: str
    commit: str
    before: IdsFile
    after: IdsFile


class PushResult(Struct, frozen=True):
    """The result of a save. `url` is "" if the branch already had all lines."""

    url: str
    merged: MergedIds
    problem: str = ""
    """What a person must still do; "" for nothing."""


def parse_ids_file(data: bytes, path: str, registry: Registry) -> IdsFile:
    """Parse an ids file, which maps addresses to ids. Raises UnclearIdsError with the first problem."""
    ids, findings = parse(data, path, registry)
    for finding in findings:
        where = f":{finding.span.line}" if finding.span else ""
        raise UnclearIdsError(f"{path}{where}: {finding.message}")
    return ids


def is_forbidden_by_rule(error: GitHubError) -> bool:
    """Return whether GitHub refused a commit because of a rule, such as branch protection.

    Then another try would fail, too.
    """
    return bool(_RULE_MESSAGE.search(error.response_message))


class IdsBranch(Struct, frozen=True):
    """The ids file on a branch, into which the lines of the working copy are merged."""

    branches: Branches
    workflow_run: WorkflowRun
    registry: Registry
    local_ids: LocalIds

    def push(self, by: SaveMethod) -> PushResult:
        """Save the new lines by a commit or a pull request, and try again while other writers come first.

        The pauses between tries are random and become longer. Raises GitHubError after too many tries, and
        UnclearIdsError.
        """
        tries_left, pause = MAX_TRIES, _FIRST_PAUSE
        while True:
            try:
                return self._save_by_commit() if by == "commit" else self._save_by_pull_request()
            except GitHubError as error:
                tries_left -= 1 if error.status in _RACE_STATUSES else _TRIES_PER_FAULT
                if tries_left <= 0 or error.not_allowed or is_forbidden_by_rule(error):
                    raise
            self.branches.github.pause(secrets.randbelow(int(pause * 1000)) / 1000)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _save_by_commit(self) -> PushResult:
        """Merge the new lines into the ids file on the branch, and commit the result to the branch.

        GitHub refuses the commit if somebody else has changed the file in the meantime.
        """
        branch, path = self.workflow_run.branch, self.local_ids.path
        content = self.branches.read_file(path, branch)
        present = self._parse(content)
        merged = self._merge_into(present)
        if merged.ids.sections == present.sections:
            return PushResult("", merged)
        commit = self.branches.commit_file(
            path, branch, render_ids_file(merged.ids), content, self._commit_message()
        )
        return PushResult(f"{self._repository_url}/commit/{commit}", merged)

    def _save_by_pull_request(self) -> PushResult:
        """Commit the new lines of the ids file to a separate branch, and open a pull request for it.

        Lines of earlier applies on the separate branch that are not merged yet are kept. Nothing is committed
        if the target branch (`base`) already has all lines, or if the separate branch is up to date. Raises
        UnclearIdsError if the target branch does not exist.
        """
        base, path, branches = self.workflow_run.branch, self.local_ids.path, self.branches
        name = f"dpsync/ids-{make_key(path, base)[:8]}"
        base_head, head = branches.head(base), branches.head(name)
        if base_head is None:
            raise UnclearIdsError(f"the branch {base} does not exist")
        requests = branches.pull_requests(name, base) if head is not None else []
        request = next((state for state in requests if state.open), None)
        content = branches.read_file(path, base_head)
        present = with_unmerged_lines = self._parse(content)
        needs_commit = True
        # The head of a closed pull request is ignored: its lines were merged or rejected.
        if head is not None and (request or head not in {state.head for state in requests}):
            proposed = self._parse(branches.read_file(path, head))
            common = branches.merge_base(base_head, head)
            old = content if common == base_head else branches.read_file(path, common)
            with_unmerged_lines = merge_ids(self._parse(old), proposed, present).ids
            needs_commit = (
                proposed != self._merge_into(with_unmerged_lines).ids or old.blob_sha != content.blob_sha
            )
        merged = self._merge_into(with_unmerged_lines)
        if request is None and merged.ids.sections == present.sections:
            return PushResult("", merged)
        if needs_commit:
            parents = [base_head] if head is None else [head, base_head]
            commit = branches.create_commit(
                path, render_ids_file(merged.ids), base_head, parents, self._commit_message()
            )
            if head is None:
                branches.create_branch(name, commit)
            else:
                branches.fast_forward(name, commit)
        return self._ensure_pull_request(request, name, merged)

    def _ensure_pull_request(
        self, request: PullRequestState | None, name: str, merged: MergedIds
    ) -> PushResult:
        """Open a pull request for the branch `name` if there is none (`request` is None).

        Without the permission to do so, the result has a link by which a person can open the pull request.
        """
        base = self.workflow_run.branch
        if request is None:
            try:
                request = self.branches.open_pull_request(
                    name, base, PULL_REQUEST_TITLE, self._pull_request_body()
                )
            except GitHubError as error:
                if not error.not_allowed:
                    raise
                url = f"{self._repository_url}/compare/{quote(base)}...{quote(name)}?expand=1"
                why = (error.response_message or error.problem).rstrip(".")
                trouble = (
                    f"The lines are on the branch {name}, but dpsync could not open a pull request ({why}). "
                    "Allow GitHub Actions to create pull requests in the repository settings, or set an "
                    f"ids-token that may create pull requests. To create the pull request by hand: {url}"
                )
                return PushResult(url, merged, trouble)
        return PushResult(f"{self._repository_url}/pull/{request.number}", merged)

    # What is written.

    @property
    def _repository_url(self) -> str:
        return f"{self.workflow_run.server}/{self.workflow_run.repository}"

    def _commit_message(self) -> str:
        """Return the commit message."""
        return f"{PULL_REQUEST_TITLE}\n\nBy dpsync apply: {self.workflow_run.url}\n"

    def _pull_request_body(self) -> str:
        """Return the description of the pull request."""
        return (
            f"An apply ([run {self.workflow_run.run_id}]({self.workflow_run.url})) recorded the ids "
            "of live objects in "
            f"{code_span(self.local_ids.path)}. With the new lines, dpsync recognizes an entry also "
            "after a rename. "
            "Until you merge this pull request, dpsync recognizes the entries of the new lines by their "
            "names only.\n\n"
            "Later applies add their lines to this pull request. Do not push to this branch, because the "
            "next apply removes your commits."
        )

    def _merge_into(self, present: IdsFile) -> MergedIds:
        """Merge the lines that the apply changed into another version of the ids file."""
        return merge_ids(self.local_ids.before, self.local_ids.after, present)

    def _parse(self, content: FileVersion) -> IdsFile:
        """Parse a version of the ids file from the repository. Raises UnclearIdsError."""
        return parse_ids_file(content.data or b"", self.local_ids.path, self.registry)


_SUMMARY_SIZE: Final = 100_000
"""The largest number of characters of lines in the summary. The log has all lines."""
_MAX_NAMED_LINES: Final = 5
_REFUSAL_STATUSES: Final = range(400, 500)
"""Statuses that mean that nothing was written. After any other error, this is unknown."""
_INTERRUPTED: Final = "the run was interrupted"


def read_local_ids(file: Path, registry: Registry) -> LocalIds:
    """Read the ids file before and after an apply: from the checked-out commit and from the disk.

    Raises UnclearIdsError if a file is invalid or does not belong to a commit.
    """
    try:
        repository = Repository.containing(file.parent)
        path = (file.parent.resolve() / file.name).relative_to(repository.top).as_posix()
        commit = repository.resolve_commit("HEAD")
        if commit is None or file.is_symlink():
            raise UnclearIdsError(f"{path} is not a regular file in a commit")
        before = repository.read_file(commit, path, DEFAULT_LIMITS.bytes) or b""
    except NoRepositoryError as why:
        raise UnclearIdsError(str(why)) from None
    except ValueError:
        raise UnclearIdsError(f"{file.name} is outside of the checked-out repository") from None
    try:
        data = disk.read(file, DEFAULT_LIMITS.bytes)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise UnclearIdsError(f"dpsync cannot read {path}: {disk.error_reason(error)}") from None
    return LocalIds(
        path, commit, parse_ids_file(before, path, registry), parse_ids_file(data, path, registry)
    )


class IdsFileUpdate(Struct):
    """The update of one ids file after an apply. `branches` is None without a token."""

    file: Path
    save_method: SaveMethod
    branches: Branches | None
    workflow_run: WorkflowRun
    log: Log
    registry: Registry
    url: str = ""
    """The URL of the commit or pull request with the lines; "" without one."""
    summary: str = ""
    """Markdown for the job summary."""
    _problem: str = _INTERRUPTED
    """Why lines are missing; "" if all lines are saved."""
    _is_certain: bool = True
    """Whether the lines are certainly missing."""

    def push_and_report(self) -> None:
        """Save the lines that the apply changed on the branch, and report the result.

        An error does not end the run: `report_unsaved` reports it at the end.
        """
        try:
            ids = read_local_ids(self.file, self.registry)
            if changes := line_changes(ids.before, ids.after):
                self._report(ids, self._save(ids, len(changes)), len(changes))
            self._problem = ""
        except UnclearIdsError as why:
            self._problem, self._is_certain = str(why), True
        except GitHubError as error:
            self._problem, self._is_certain = self._failure_text(error), error.status in _REFUSAL_STATUSES

    def report_unsaved(self) -> None:
        """Write the lines that were not saved to the log and the summary, so that a person can save them.

        Call this method at every end of a run.
        """
        if not self._problem:
            return
        try:
            ids = read_local_ids(self.file, self.registry)
        except UnclearIdsError:
            if self._problem != _INTERRUPTED:
                self._add_notice(f"dpsync did not write the ids file to the branch: {self._problem}")
            return
        lines: list[str] = []
        for change in line_changes(ids.before, ids.after):
            lines += [f"- {_line_text(change.before)}"] if change.before is not None else []
            lines += [f"+ {_line_text(change.after)}"] if change.after is not None else []
        if not lines:
            return
        verb = is_or_are(len(lines)) if self._is_certain else "may be"
        branch = self.workflow_run.branch or "the branch"
        self._add_notice(
            f"{format_count(len(lines), 'line')} of {ids.path} {verb} missing on {branch}: {self._problem}"
        )
        with self.log.text_stream() as stream:
            stream.write("".join(f"{line}\n" for line in lines))
        self.summary += f"\n\n{_code_block(lines)}"

    def _save(self, ids: LocalIds, number: int) -> PushResult:
        """Save the changed lines on the branch of the run. `number` is their count, for the log.

        Raises UnclearIdsError if it is not clear which branch the lines belong to, and GitHubError.
        """
        branch = self.workflow_run.branch
        if self.branches is None:
            raise UnclearIdsError('the input "github-token" is missing')
        if not branch:
            raise UnclearIdsError(
                f"this CI run (event: {self.workflow_run.event or 'unknown'}) does not belong to a "
                "branch of this "
                "repository"
            )
        with self.log.text_stream() as stream:
            stream.write(f"{visible(ids.path)}: {format_count(number, 'line')} for {visible(branch)}\n")
        if ids.commit != self.workflow_run.github_sha and not self.branches.contains(branch, ids.commit):
            raise UnclearIdsError(f"the checked-out commit is not on {branch}")
        self._is_certain = False  # if the run is interrupted from here on, the lines may have been saved
        return IdsBranch(self.branches, self.workflow_run, self.registry, ids).push(self.save_method)

    def _report(self, local_ids: LocalIds, result: PushResult, number: int) -> None:
        """Write the result of a save to the summary, and a notice for lines that conflicted.

        `number` is the count of the saved lines.
        """
        self.url = result.url
        if result.problem:
            self._add_notice(result.problem)
        elif result.url:
            kind = "commit" if self.save_method == "commit" else "pull request"
            self.summary = (
                f"Saved {format_count(number, 'line')} of the ids file for "
                f"{code_span(self.workflow_run.branch)} "
                f"in a [{kind}]({result.url})."
            )
        for lines, became in (
            (result.merged.replaced_lines, "had other ids for these lines, and dpsync replaced the ids"),
            (
                result.merged.kept_lines,
                "has other ids for lines that the apply deleted, and dpsync kept the lines",
            ),
        ):
            if lines:
                names = shorten_list([clip_text(_line_text(line), 200) for line in lines], _MAX_NAMED_LINES)
                self._add_notice(f"{local_ids.path} on {self.workflow_run.branch} {became}: {names}")

    def _failure_text(self, error: GitHubError) -> str:
        """Return why GitHub refused to save the lines, and what a person can do."""
        why = f" ({error.response_message.rstrip('.')})" if error.response_message else ""
        if is_forbidden_by_rule(error):
            other = "ids-file: pull-request, or " if self.save_method == "commit" else ""
            return (
                f"a rule of the repository forbids the commit{why}. Set {other}an ids-token that is allowed "
                "to commit"
            )
        hint = ""
        if error.not_allowed and "rate limit" not in error.response_message.lower():
            also = " and pull-requests: write" if self.save_method == "pull-request" else ""
            hint = f". The run is for a fork, or the job lacks the permission contents: write{also}"
        return f"{error.problem}{why}{hint}"

    def _add_notice(self, text: str) -> None:
        """Add a sentence without a period to the log and to the summary."""
        self.log.notice(f"{text}.")
        self.summary = "\n\n".join(filter(None, (self.summary, f"{escape_prose(text)}.")))


def _line_text(line: RecordedLine) -> str:
    """Return a line of the ids file for people, such as `acme/sites/docs: site_1`.

    A second id is that of the object that GitBook creates with the entry: its output, or its first child.
    """
    ids = " ".join(filter(None, (line.id, line.second_id)))
    return visible(f"{line.address}: {ids}{' (kept)' if line.kept else ''}")


def _code_block(lines: list[str]) -> str:
    """Return changed lines as a Markdown code block, up to the size limit of the summary."""
    shown_lines, remaining_chars = [], _SUMMARY_SIZE
    for line in lines:
        remaining_chars -= len(line)
        if remaining_chars < 0:
            break
        shown_lines.append(line)
    omitted_count = len(lines) - len(shown_lines)
    note = (
        f"\n\nThe log contains {format_count(omitted_count, 'more line')} of the ids file."
        if omitted_count
        else ""
    )
    return "\n".join(fence(shown_lines, "diff")) + note
