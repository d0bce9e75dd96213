"""The requests to GitHub about branches: one file on them, commits, pull requests.

Each write names what was read before it, and GitHub refuses it where that is not so any more: a file by its
blob, a branch by the commit that the new one follows. Nothing is ever forced.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from dpsync.github.requests.api import GitHub
from dpsync.github.requests.members import at, number_at, text_at
from dpsync.github.requests.transport import GitHubError

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
