"""Save the ids file on a branch after an apply.

The requests to GitHub about branches: one file on them, commits, pull requests.

Each write names what was read before it, and GitHub refuses it where that is not so any more: a file by its
blob, a branch by the commit that the new one follows. Nothing is ever forced.

One ids file onto its branch, by a commit or by a pull request, whoever else writes it meanwhile.

Every try reads what is there now and merges the lines again; GitHub refuses what rests on something older. So
a try may be repeated after any fault, and no lock is held.

After an apply: the ids file of the branch is brought up to date, since that of the runner is lost with it.

What is brought is what the working copy says and its commit does not. It changes no exit code: lines that
could not be brought are told, all of them, in the log and in the summary of the job.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from msgspec import Struct

from dpsync import disk
from dpsync.config.git import NoRepository, Repository
from dpsync.config.ids_file import parse, render
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.github.api import GitHub
from dpsync.github.runner import Log
from dpsync.github.transport import GitHubError, at, number_at, text_at
from dpsync.github.workspace import WorkflowRun, make_key
from dpsync.kinds.registry import Registry
from dpsync.model.ids import IdsFile, LineChange, MergedIds, RecordedLine, line_changes, merge_ids
from dpsync.model.text import are, counted, some
from dpsync.render.markdown import code, fence, prose
from dpsync.render.view import clip
from dpsync.render.visible import visible

_SHA: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class FileVersion(Struct, frozen=True):
    """A file on a branch or in a commit. Both are None where there is none."""

    data: bytes | None = None
    blob: str | None = None


class PullRequestState(Struct, frozen=True):
    """A pull request; `head` is the commit at its end."""

    number: int
    open: bool
    head: str


class Branches(Struct, frozen=True):
    """Those of one repository. Every method raises GitHubError."""

    github: GitHub
    repository: str
    """`owner/name`."""

    def head(self, branch: str) -> str | None:
        """The last commit of a branch; None: there is no such branch."""
        try:
            answer = self.github.ask("GET", f"/git/ref/heads/{quote(branch)}")
        except GitHubError as error:
            if not error.missing:
                raise
            return None
        return _sha(answer, "object", "sha")

    def has(self, branch: str, commit: str) -> bool:
        """Whether a commit is one of a branch's."""
        try:
            return self.common(quote(branch), commit) == commit
        except GitHubError as error:
            if not error.missing:
                raise
            return False

    def file(self, path: str, ref: str) -> FileVersion:
        """A file on a branch or in a commit."""
        try:
            answer = self.github.ask("GET", f"/contents/{quote(path)}", query={"ref": ref})
        except GitHubError as error:
            if not error.missing:
                raise
            return FileVersion()
        if not isinstance(answer, dict) or answer.get("type") != "file":
            raise GitHubError(f"{path} is not a file on the branch")
        blob = _sha(answer, "sha")
        if answer.get("encoding") != "base64":  # it is longer than a megabyte
            answer = self.github.ask("GET", f"/git/blobs/{blob}")
        return FileVersion(_decoded(answer), blob)

    def put(self, path: str, branch: str, data: bytes, instead_of: FileVersion, message: str) -> str:
        """Commit a file onto a branch, in place of what was read; the commit."""
        content = {"message": message, "content": b64encode(data).decode(), "branch": branch}
        if instead_of.blob is not None:
            content["sha"] = instead_of.blob
        return _sha(self.github.ask("PUT", f"/contents/{quote(path)}", content), "commit", "sha")

    def commit(self, path: str, data: bytes, like: str, parents: list[str], message: str) -> str:
        """Make a commit with the files of another one, but for one of them. No branch has it yet."""
        tree = _sha(self.github.ask("GET", f"/git/commits/{like}"), "tree", "sha")
        entry = {"path": path, "mode": "100644", "type": "blob", "content": data.decode()}
        made = self.github.ask("POST", "/git/trees", {"base_tree": tree, "tree": [entry]})
        content = {"message": message, "tree": _sha(made, "sha"), "parents": parents}
        return _sha(self.github.ask("POST", "/git/commits", content), "sha")

    def create(self, branch: str, commit: str) -> None:
        """Make a branch."""
        self.github.ask("POST", "/git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})

    def advance(self, branch: str, commit: str) -> None:
        """Give a branch a commit that follows its last one."""
        self.github.ask("PATCH", f"/git/refs/heads/{quote(branch)}", {"sha": commit, "force": False})

    def common(self, one: str, other: str) -> str:
        """The last commit that two commits or branches have in common; 404 where there is none."""
        answer = self.github.ask("GET", f"/compare/{one}...{other}", query={"per_page": "1"})
        return _sha(answer, "merge_base_commit", "sha")

    def requests(self, branch: str, base: str) -> list[PullRequestState]:
        """The latest pull requests of a branch into another one, open or not."""
        owner = self.repository.partition("/")[0]
        query = {"head": f"{owner}:{branch}", "base": base, "state": "all", "per_page": "100"}
        answer = self.github.ask("GET", "/pulls", query=query)
        if not isinstance(answer, list):
            raise GitHubError("the response of GitHub is not a list of pull requests")
        return [_request(one) for one in answer]

    def open_request(self, branch: str, base: str, title: str, body: str) -> PullRequestState:
        """Open a pull request."""
        content = {"title": title, "head": branch, "base": base, "body": body}
        return _request(self.github.ask("POST", "/pulls", content))


def _decoded(answer: Any) -> bytes:
    text = at(answer, "content")
    if not isinstance(text, str) or answer.get("encoding") != "base64":
        raise GitHubError("the response of GitHub has no file content")
    try:
        return b64decode(text)
    except ValueError:
        raise GitHubError("the response of GitHub has no file content") from None


def _request(found: Any) -> PullRequestState:
    number = number_at(found, "number")
    if number is None:
        raise GitHubError("the response of GitHub is not a pull request")
    return PullRequestState(number, found.get("state") == "open", _sha(found, "head", "sha"))


def _sha(found: Any, *names: str) -> str:
    sha = text_at(found, *names)
    if not _SHA.fullmatch(sha):
        raise GitHubError("the response of GitHub contains no commit or file")
    return sha


By = Literal["commit", "pull-request"]
TITLE: Final = "Record live objects in the ids file"
TRIES: Final = 20
"""As many others may write first, each of them once."""
_FAULT: Final = 7
"""How many tries a fault costs."""
_RACE: Final = (409, 422)
_RULES: Final = re.compile(r"\brules?\b|protected|\brequired|must be made|refusing", re.IGNORECASE)
"""What GitHub says where a branch takes no such commit, however often it is tried."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 3.0
"""Seconds at most, so that not all who lost against one write come back at once."""


class Unclear(Exception):
    """The lines belong to no branch that is known, or to no file that can be merged; the text says why."""


class Learned(Struct, frozen=True):
    """What an apply has left in the working copy. `path` is the file's in the repository."""

    path: str
    commit: str
    before: IdsFile
    after: IdsFile


class Brought(Struct, frozen=True):
    """Where the lines are now. `url` is "" where the branch had them all."""

    url: str
    merged: MergedIds
    trouble: str = ""
    """What a person must do still."""


def parsed(data: bytes, path: str, registry: Registry) -> IdsFile:
    """What a file says. Raises Unclear for one that is wrong."""
    ids, found = parse(data, path, registry)
    for wrong in found:
        where = f":{wrong.span.line}" if wrong.span else ""
        raise Unclear(f"{path}{where}: {wrong.message}")
    return ids


def kept_out(error: GitHubError) -> bool:
    """Whether a rule of the repository does not let a commit onto the branch."""
    return bool(_RULES.search(error.said))


class IdsBranch(Struct, frozen=True):
    """A file and the branch that it belongs to. `bring` raises GitHubError and Unclear."""

    branches: Branches
    place: WorkflowRun
    registry: Registry
    learned: Learned

    def bring(self, by: By) -> Brought:
        """Bring the lines there, and try again while somebody else's writes get in between."""
        left, pause = TRIES, _FIRST_PAUSE
        while True:
            try:
                return self._commit() if by == "commit" else self._request()
            except GitHubError as error:
                left -= 1 if error.status in _RACE else _FAULT
                if left <= 0 or error.not_allowed or kept_out(error):
                    raise
            self.branches.github.pause(secrets.randbelow(int(pause * 1000)) / 1000)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _commit(self) -> Brought:
        """Onto the branch itself."""
        branch, path = self.place.branch, self.learned.path
        content = self.branches.file(path, branch)
        present = self._parsed(content)
        merged = self._merged(present)
        if merged.ids.sections == present.sections:
            return Brought("", merged)
        made = self.branches.put(path, branch, render(merged.ids), content, self._message())
        return Brought(f"{self._site}/commit/{made}", merged)

    def _request(self) -> Brought:
        """Onto a branch of its own, which holds the lines that are not merged yet, and no older ones."""
        base, path, branches = self.place.branch, self.learned.path, self.branches
        name = f"dpsync/ids-{make_key(path, base)[:8]}"
        last, head = branches.head(base), branches.head(name)
        if last is None:
            raise Unclear(f"the branch {base} does not exist")
        requests = branches.requests(name, base) if head is not None else []
        request = next((one for one in requests if one.open), None)
        content = branches.file(path, last)
        present = waiting = self._parsed(content)
        stale = True
        if head is not None and (request or head not in {one.head for one in requests}):
            there = self._parsed(branches.file(path, head))
            common = branches.common(last, head)
            old = content if common == last else branches.file(path, common)
            waiting = merge_ids(self._parsed(old), there, present).ids
            stale = there != self._merged(waiting).ids or old.blob != content.blob
        merged = self._merged(waiting)
        if request is None and merged.ids.sections == present.sections:
            return Brought("", merged)
        if stale:
            parents = [last] if head is None else [head, last]
            made = branches.commit(path, render(merged.ids), last, parents, self._message())
            if head is None:
                branches.create(name, made)
            else:
                branches.advance(name, made)
        return self._opened(request, name, merged)

    def _opened(self, request: PullRequestState | None, name: str, merged: MergedIds) -> Brought:
        base = self.place.branch
        if request is None:
            try:
                request = self.branches.open_request(name, base, TITLE, self._body())
            except GitHubError as error:
                if not error.not_allowed:
                    raise
                url = f"{self._site}/compare/{quote(base)}...{quote(name)}?expand=1"
                said = (error.said or error.what).rstrip(".")
                trouble = (
                    f"The lines are on the branch {name}, but dpsync could not open a pull request ({said}). "
                    "Allow GitHub Actions to create pull requests in the repository settings, or set an "
                    f"ids-token that may create pull requests. To create the pull request by hand: {url}"
                )
                return Brought(url, merged, trouble)
        return Brought(f"{self._site}/pull/{request.number}", merged)

    # What is written.

    @property
    def _site(self) -> str:
        return f"{self.place.server}/{self.place.repository}"

    def _message(self) -> str:
        return f"{TITLE}\n\nBy dpsync apply: {self.place.url}\n"

    def _body(self) -> str:
        return (
            f"An apply ([run {self.place.run}]({self.place.url})) recorded the ids of live objects in "
            f"{code(self.learned.path)}. With the new lines, dpsync recognizes an entry also after a rename. "
            "Until you merge this pull request, dpsync recognizes the entries of the new lines by their "
            "names only.\n\n"
            "Later applies add their lines to this pull request. Do not push to this branch, because the "
            "next apply removes your commits."
        )

    def _merged(self, present: IdsFile) -> MergedIds:
        return merge_ids(self.learned.before, self.learned.after, present)

    def _parsed(self, content: FileVersion) -> IdsFile:
        return parsed(content.data or b"", self.learned.path, self.registry)


_TOLD: Final = 100_000
"""Characters of lines in the summary; the log has them all."""
_NAMED: Final = 5
_REFUSALS: Final = range(400, 500)
"""Any other status of an error says nothing about what was done."""
_INTERRUPTED: Final = "the run was interrupted"


def learned(file: Path, registry: Registry) -> Learned:
    """What an ids file says, and what the commit of its working copy said. Raises Unclear."""
    try:
        repository = Repository.around(file.parent)
        path = (file.parent.resolve() / file.name).relative_to(repository.top).as_posix()
        commit = repository.commit("HEAD")
        if commit is None or file.is_symlink():
            raise Unclear(f"{path} is not a regular file in a commit")
        before = repository.file(commit, path, DEFAULT_LIMITS.bytes) or b""
    except NoRepository as why:
        raise Unclear(str(why)) from None
    except ValueError:
        raise Unclear(f"{file.name} is outside of the checked-out repository") from None
    try:
        data = disk.read(file, DEFAULT_LIMITS.bytes)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise Unclear(f"dpsync cannot read {path}: {disk.why(error)}") from None
    return Learned(path, commit, parsed(before, path, registry), parsed(data, path, registry))


class IdsFileUpdate(Struct):
    """The ids file of one apply. `branches` is None without a token for them."""

    file: Path
    by: By
    branches: Branches | None
    place: WorkflowRun
    log: Log
    registry: Registry
    url: str = ""
    """The commit or pull request with the lines; "" where there is none."""
    summary: str = ""
    """For the summary of the job, as Markdown."""
    _left: str = _INTERRUPTED
    """Why lines are missing; "" where they are not."""
    _sure: bool = True
    """Whether it is known that they are."""

    def bring(self) -> None:
        """Bring the lines that the apply has learned to the branch, and tell it."""
        try:
            found = learned(self.file, self.registry)
            if changes := line_changes(found.before, found.after):
                self._tell(found, self._bring(found, len(changes)), len(changes))
            self._left = ""
        except Unclear as why:
            self._left, self._sure = str(why), True
        except GitHubError as error:
            self._left, self._sure = self._why(error), error.status in _REFUSALS

    def end(self) -> None:
        """Whatever has happened: tell of lines that were not brought, and which they are."""
        if not self._left:
            return
        try:
            found = learned(self.file, self.registry)
        except Unclear:
            if self._left != _INTERRUPTED:
                self._say(f"dpsync did not write the ids file to the branch: {self._left}")
            return
        lines = list(_lines(line_changes(found.before, found.after)))
        if not lines:
            return
        verb = are(len(lines)) if self._sure else "may be"
        branch = self.place.branch or "the branch"
        self._say(f"{counted(len(lines), 'line')} of {found.path} {verb} missing on {branch}: {self._left}")
        with self.log.text() as stream:
            stream.write("".join(f"{line}\n" for line in lines))
        self.summary += f"\n\n{_block(lines)}"

    def _bring(self, found: Learned, number: int) -> Brought:
        branch = self.place.branch
        if self.branches is None:
            raise Unclear('the input "github-token" is missing')
        if not branch:
            raise Unclear(
                f"this CI run (event: {self.place.event or 'unknown'}) does not belong to a branch of this "
                "repository"
            )
        with self.log.text() as stream:
            stream.write(f"{visible(found.path)}: {counted(number, 'line')} for {visible(branch)}\n")
        if found.commit != self.place.tested and not self.branches.has(branch, found.commit):
            raise Unclear(f"the checked-out commit is not on {branch}")
        self._sure = False  # an interruption from here on may come too late
        return IdsBranch(self.branches, self.place, self.registry, found).bring(self.by)

    def _tell(self, found: Learned, brought: Brought, number: int) -> None:
        self.url = brought.url
        if brought.trouble:
            self._say(brought.trouble)
        elif brought.url:
            kind = "commit" if self.by == "commit" else "pull request"
            self.summary = (
                f"Saved {counted(number, 'line')} of the ids file for {code(self.place.branch)} "
                f"in a [{kind}]({brought.url})."
            )
        for lines, became in (
            (brought.merged.replaced, "had other ids for these lines, and dpsync replaced the ids"),
            (
                brought.merged.kept,
                "has other ids for lines that the apply deleted, and dpsync kept the lines",
            ),
        ):
            if lines:
                names = some([clip(_said(line), 200) for line in lines], _NAMED)
                self._say(f"{found.path} on {self.place.branch} {became}: {names}")

    def _why(self, error: GitHubError) -> str:
        said = f" ({error.said.rstrip('.')})" if error.said else ""
        if kept_out(error):
            other = "ids-file: pull-request, or " if self.by == "commit" else ""
            return (
                f"a rule of the repository forbids the commit{said}. Set {other}an ids-token that is allowed "
                "to commit"
            )
        hint = ""
        if error.not_allowed and "rate limit" not in error.said.lower():
            also = " and pull-requests: write" if self.by == "pull-request" else ""
            hint = f". The run is for a fork, or the job lacks the permission contents: write{also}"
        return f"{error.what}{said}{hint}"

    def _say(self, text: str) -> None:
        self.log.notice(f"{text}.")
        self.summary = "\n\n".join(filter(None, (self.summary, f"{prose(text)}.")))


def _lines(changes: tuple[LineChange, ...]) -> Iterator[str]:
    for change in changes:
        if change.before is not None:
            yield f"- {_said(change.before)}"
        if change.after is not None:
            yield f"+ {_said(change.after)}"


def _said(line: RecordedLine) -> str:
    ids = " ".join(filter(None, (line.id, line.also)))
    return visible(f"{line.address}: {ids}{' (kept)' if line.kept else ''}")


def _block(lines: list[str]) -> str:
    kept, room = [], _TOLD
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    more = f"\n\nThe log contains {counted(left, 'more line')} of the ids file." if left else ""
    return "\n".join(fence(kept, "diff")) + more
