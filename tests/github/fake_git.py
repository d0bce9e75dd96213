"""The part of GitHub's stand-in that is about branches: commits, files, refs and pull requests.

It holds to what GitHub was seen to answer: 409 where a file is not the one that a write names, 422 where it
names none, where a branch is there already or the new commit does not follow its last one, 404 for what is
not there, and the sentence of a rule where one protects a branch. Commits and files are values in memory.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

LARGEST = 1024 * 1024
"""Bytes of a file whose content is in the answer of its path."""
RULE = "Repository rule violations found\n\nChanges must be made through a pull request.\n\n"
NOT_FOUND = (404, {"message": "Not Found"})
Files = dict[str, bytes]


@dataclass(frozen=True)
class Commit:
    files: Files
    parents: tuple[str, ...]
    message: str


@dataclass
class FakeGit:
    """The branches of one repository, and who may not write to them."""

    owner: str
    commits: dict[str, Commit] = field(default_factory=dict)
    trees: dict[str, Files] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    may_open: bool = True
    """The setting that lets a workflow open pull requests."""
    requests: dict[int, dict[str, Any]] = field(default_factory=dict)

    # What tests ask and do.

    def push(self, branch: str, files: dict[str, str], message: str = "by hand", at: str = "") -> str:
        """Somebody else's commit on top of a branch."""
        last = self.branches.get(branch)
        present = self.commits[last].files if last else {}
        new = {name: text.encode() for name, text in files.items()}
        commit = self._commit(Commit({**present, **new}, (last,) if last else (), message), at)
        self.branches[branch] = commit
        return commit

    def text(self, branch: str, path: str) -> str:
        return self.commits[self.branches[branch]].files[path].decode()

    def merge(self, number: int, squash: bool = False) -> None:
        """Merge a pull request, as its button does. The branch stays."""
        request = self.requests[number]
        base, head = self.branches[request["base"]["ref"]], self.branches[request["head"]["ref"]]
        common = self.common(base, head)
        old = self.commits[common].files if common else {}
        theirs, ours = self.commits[head].files, self.commits[base].files
        changed = {name: data for name, data in theirs.items() if old.get(name) != data}
        assert all(ours.get(name) in (old.get(name), data) for name, data in changed.items()), "a conflict"
        parents = (base,) if squash else (base, head)
        self.branches[request["base"]["ref"]] = self._commit(Commit({**ours, **changed}, parents, "merged"))
        request |= {"state": "closed", "merged_at": "now", "head": {**request["head"], "sha": head}}

    def history(self, commit: str) -> list[str]:
        """Return a commit and all its ancestors, the nearest ones first."""
        found, todo = [], [commit]
        while todo:
            one = todo.pop(0)
            if one not in found:
                found.append(one)
                todo += self.commits[one].parents
        return found

    def common(self, one: str, other: str) -> str | None:
        mine = self.history(one)
        return next((commit for commit in self.history(other) if commit in mine), None)

    # What it answers.

    def answer(
        self, method: str, parts: list[str], content: Any, writes: frozenset[str], query: dict[str, str]
    ) -> tuple[int, Any] | None:
        """None for what is no business of it."""
        if parts[:1] not in (["contents"], ["git"], ["compare"]) and parts != ["pulls"]:
            return None
        if method != "GET" and ("pull-requests" if parts == ["pulls"] else "contents") not in writes:
            return 403, {"message": "Resource not accessible by integration"}
        match method, *parts:
            case "GET", "contents", *path:
                return self._file(unquote("/".join(path)), query["ref"])
            case "PUT", "contents", *path:
                return self._put(unquote("/".join(path)), content)
            case "GET", "git", "blobs", sha:
                found = next((data for one in self.commits.values() for data in one.files.values()
                              if blob(data) == sha), None)  # fmt: skip
                return NOT_FOUND if found is None else (200, _content(found, sha))
            case "GET", "git", "ref", "heads", *name:
                sha = self.branches.get("/".join(name))
                return NOT_FOUND if sha is None else (200, {"object": {"sha": sha, "type": "commit"}})
            case "GET", "git", "commits", sha:
                return (200, self._shown(sha)) if sha in self.commits else NOT_FOUND
            case "POST", "git", "trees":
                files = dict(self.trees[content["base_tree"]])
                files |= {entry["path"]: entry["content"].encode() for entry in content["tree"]}
                return 201, {"sha": self._tree(files)}
            case "POST", "git", "commits":
                made = Commit(self.trees[content["tree"]], tuple(content["parents"]), content["message"])
                return 201, self._shown(self._commit(made))
            case "POST", "git", "refs":
                return self._set(content["ref"].removeprefix("refs/heads/"), content["sha"], new=True)
            case "PATCH", "git", "refs", "heads", *name:
                assert content["force"] is False
                return self._set("/".join(name), content["sha"])
            case "GET", "compare", both:
                one, other = (self.branches.get(name, name) for name in both.split("..."))
                known = one in self.commits and other in self.commits
                common = self.common(one, other) if known else None
                return (200, {"merge_base_commit": {"sha": common}}) if common else NOT_FOUND
            case "GET", "pulls":
                return 200, [one for one in map(self._request, reversed(self.requests)) if _is(one, query)]
            case "POST", "pulls":
                return self._open(content)
        return NOT_FOUND

    def _file(self, path: str, ref: str) -> tuple[int, Any]:
        commit = self.commits.get(self.branches.get(ref, ref))
        if commit is None:
            return 404, {"message": f"No commit found for the ref {ref}"}
        data = commit.files.get(path)
        return NOT_FOUND if data is None else (200, {"type": "file", **_content(data, blob(data), LARGEST)})

    def _put(self, path: str, content: dict[str, Any]) -> tuple[int, Any]:
        branch = content["branch"]
        if branch not in self.branches:
            return 404, {"message": f"Branch {branch} not found"}
        present = self.commits[self.branches[branch]].files.get(path)
        if present is not None and "sha" not in content:
            return 422, {"message": 'Invalid request.\n\n"sha" wasn\'t supplied.'}
        if present is not None and content["sha"] != blob(present):
            return 409, {"message": f"{path} does not match {content['sha']}"}
        if branch in self.protected:
            return 409, {"message": RULE}
        commit = self.push(branch, {path: b64decode(content["content"]).decode()}, content["message"])
        return 200 if present else 201, {"commit": self._shown(commit)}

    def _set(self, branch: str, sha: str, new: bool = False) -> tuple[int, Any]:
        if new is (branch in self.branches):
            return 422, {"message": f"Reference {'already exists' if new else 'does not exist'}"}
        if branch in self.protected:
            return 422, {"message": RULE}
        if not new and self.branches[branch] not in self.history(sha):
            return 422, {"message": "Update is not a fast forward"}
        self.branches[branch] = sha
        return 201 if new else 200, {"ref": f"refs/heads/{branch}", "object": {"sha": sha}}

    def _open(self, content: dict[str, Any]) -> tuple[int, Any]:
        if not self.may_open:
            return 403, {"message": "GitHub Actions is not permitted to create or approve pull requests."}
        name = content["head"]
        if any(one["state"] == "open" and one["head"]["ref"] == name for one in self.requests.values()):
            said = f"A pull request already exists for {self.owner}:{name}."
            return 422, {"message": "Validation Failed", "errors": [{"message": said}]}
        number = 40 + len(self.requests)
        said = {"number": number, "state": "open", "title": content["title"], "body": content["body"]}
        base = {"ref": content["base"]}
        self.requests[number] = {**said, "head": {"ref": name}, "base": base, "merged_at": None}
        return 201, self._request(number)

    def _request(self, number: int) -> dict[str, Any]:
        found = self.requests[number]
        sha = self.branches.get(found["head"]["ref"], "")
        return {
            **found,
            "head": {"label": f"{self.owner}:{found['head']['ref']}", "sha": sha, **found["head"]},
        }

    def _commit(self, made: Commit, sha: str = "") -> str:
        tree = self._tree(made.files)
        sha = sha or _name("commit", tree, *made.parents, made.message, str(len(self.commits)))
        self.commits[sha] = made
        return sha

    def _tree(self, files: Files) -> str:
        sha = _name("tree", json.dumps(sorted((name, blob(data)) for name, data in files.items())))
        self.trees[sha] = files
        return sha

    def _shown(self, sha: str) -> dict[str, Any]:
        parents = [{"sha": parent} for parent in self.commits[sha].parents]
        return {"sha": sha, "tree": {"sha": self._tree(self.commits[sha].files)}, "parents": parents}


def blob(data: bytes) -> str:
    """Return the hash that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _name(*parts: str) -> str:
    return hashlib.sha1("\0".join(parts).encode()).hexdigest()


def _content(data: bytes, sha: str, largest: int | None = None) -> dict[str, Any]:
    if largest is not None and len(data) > largest:
        return {"sha": sha, "size": len(data), "encoding": "none", "content": ""}
    lines = b64encode(data).decode()
    broken = "\n".join(lines[at : at + 60] for at in range(0, len(lines), 60))
    return {"sha": sha, "size": len(data), "encoding": "base64", "content": f"{broken}\n"}


def _is(request: dict[str, Any], query: dict[str, str]) -> bool:
    if query.get("state", "open") not in ("all", request["state"]):
        return False
    return query.get("head") in (None, request["head"]["label"]) and query.get("base") in (
        None,
        request["base"]["ref"],
    )
