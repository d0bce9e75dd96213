"""Read files and history of past commits from git's object database, without the working tree or the index.

`Repository` runs git commands about commits; `CommitFiles` are the files of a project in one commit.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterator
from collections.abc import Sequence as Items
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from dpsync import disk
from dpsync.config import codes
from dpsync.config.discovery import IDS_NAME, IncludedFile, matches_include
from dpsync.config.git_program import Git, GitDirectory, NoRepositoryError
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Node, Scalar, Sequence
from dpsync.model.text import short_commit

__all__ = ["CommitFiles", "NoRepositoryError", "Repository"]

_LINK_MODE: Final = "120000"
_MAX_FILE_BYTES: Final = DEFAULT_LIMITS.bytes + 1
"""The maximum bytes of a fetched file: one more than the reader's limit."""
_MAX_SEARCHED_COMMITS: Final = 500
"""The maximum number of commits that are searched for changes of a file."""
_NAME_DIFF_COMMAND: Final = (
    "diff-tree",
    "-r",
    "-z",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
)
"""The git command that lists the names of files that commits have changed."""
_TREE_PAIR_LINE: Final = re.compile(rb"[0-9a-f]{40,64} [0-9a-f]{40,64}\n")
"""The line of two trees in the output of `git diff-tree --stdin`. No file below a project has such a name."""
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_LINKS: Final = 10
"""The maximum number of symbolic links on the way to one file."""


class Repository(Struct, frozen=True):
    """A git repository."""

    git: Git

    @staticmethod
    def containing(directory: Path) -> Repository:
        """Return the repository that contains a directory. Raises NoRepositoryError."""
        return Repository(Git.containing(directory))

    @property
    def top(self) -> Path:
        """Return the root of the working tree."""
        return self.git.directory.top

    @property
    def is_nested(self) -> bool:
        """Return whether the working tree is inside another repository, as with a submodule."""
        try:
            GitDirectory.containing(self.top.parent)
        except NoRepositoryError:
            return False
        return True

    def resolve_commit(self, ref: str) -> str | None:
        """Return the id of the commit that a git name means; None if there is none."""
        return self._output_line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")

    def merge_base(self, first: str, second: str) -> str | None:
        """Return the id of the merge base of two commits; None if there is none."""
        return self._output_line("merge-base", first, second)

    def parents(self, commit: str) -> list[str]:
        """Return the parent ids of a commit, including parents that a shallow clone lacks."""
        for _, _, data in self.objects([commit], _MAX_FILE_BYTES):
            head = data.partition(b"\n\n")[0].splitlines()
            return [line[7:].decode("ascii", "replace") for line in head if line.startswith(b"parent ")]
        return []

    def first_parent_line(self, commit: str) -> list[str]:
        """Return a commit and its first-parent ancestors, the latest first, at most some hundreds."""
        listed = self.git.run(
            "rev-list", "--first-parent", f"--max-count={_MAX_SEARCHED_COMMITS + 1}", commit
        ).stdout
        return listed.decode("ascii", "replace").split()

    def changes(self, commit: str, directory: str) -> list[tuple[str, frozenset[str]]]:
        """Return the commits up to `commit` that change files in a directory, the latest first.

        Only first parents count, and at most some hundreds. With each commit come the names of the changed
        files, relative to the directory.
        """
        commits = self.first_parent_line(commit)
        pairs = [f"{commit_id} {before}\n" for commit_id, before in pairwise(commits)]
        pairs += [f"{commits[-1]}\n"] if 0 < len(commits) <= _MAX_SEARCHED_COMMITS else []
        prefix = f"{directory}/" if directory else ""
        arguments = (*_NAME_DIFF_COMMAND, "--stdin", "--root", "--", directory or ".")
        diff = self.git.run(*arguments, stdin="".join(pairs).encode()).stdout
        commit_ids, changed_names = (
            {commit_id.encode() for commit_id in commits},
            list[tuple[str, set[str]]](),
        )
        for text in diff.split(b"\0"):
            if text in commit_ids:
                changed_names.append((text.decode(), set()))
            elif text:
                changed_names[-1][1].add(os.fsdecode(text).removeprefix(prefix))
        return [(commit_id, frozenset(names)) for commit_id, names in changed_names]

    def commits_since(self, commit: str) -> list[str] | None:
        """Return the commits of HEAD that a commit does not have, children before parents.

        None if the commit is not HEAD or an ancestor of HEAD, if there are too many commits, or if a shallow
        clone lacks one of them.
        """
        if self.git.run("merge-base", "--is-ancestor", commit, "HEAD").returncode:
            return None
        arguments = (
            "--topo-order",
            "--parents",
            f"--max-count={_MAX_SEARCHED_COMMITS + 1}",
            "HEAD",
            f"^{commit}",
        )
        listed = self.git.run("rev-list", *arguments).stdout.decode("ascii", "replace").splitlines()
        parents = {child: known for child, *known in map(str.split, listed)}
        if len(parents) > _MAX_SEARCHED_COMMITS:
            return None
        if self.shallow and any(self.parents(child) != known for child, known in parents.items()):
            return None
        return list(parents)

    def differences(self, commits: Items[str], directory: str) -> Iterator[tuple[str, frozenset[str] | None]]:
        """Yield each commit whose directory differs from that of the commit before it in the list.

        With each commit, the names of the files that differ, relative to the directory; None for the first
        commit, and if one of the two commits does not have the directory. Three git processes are enough for
        any number of commits.
        """
        requested = "".join(f"{commit}:{directory}\n" for commit in commits).encode()
        listed = self.git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=requested).stdout
        words_per_commit = [line.split() for line in listed.decode("ascii", "replace").splitlines()]
        trees = [words[1] if words[:1] == ["tree"] else "" for words in words_per_commit]
        if len(trees) != len(commits):
            return
        yield commits[0], None
        pairs = {(a, b): f"{a} {b}\n".encode() for a, b in pairwise(trees) if a and b and a != b}
        diff = self.git.run(*_NAME_DIFF_COMMAND, "--stdin", stdin=b"".join(pairs.values())).stdout
        names = {pair: frozenset(_names_below(diff, head)) for pair, head in pairs.items()}
        for commit, (previous_tree, tree) in zip(commits[1:], pairwise(trees), strict=True):
            if previous_tree != tree or not tree:
                yield commit, names.get((previous_tree, tree))

    def changed_files(self, base: str) -> frozenset[str]:
        """Return the files that differ between a commit and HEAD, relative to the root of the repository."""
        names = self.git.run(*_NAME_DIFF_COMMAND, base, "HEAD").stdout
        return frozenset(os.fsdecode(name) for name in names.split(b"\0") if name)

    def renamed_files(self, base: str) -> dict[str, str]:
        """Return the files that git shows as renamed between a commit and the index, as `{old: new}`."""
        arguments = ("-r", "-z", "--cached", "-M", "--diff-filter=R", "--name-status", "--no-ext-diff")
        words = self.git.run("diff-index", *arguments, "--no-textconv", base).stdout.split(b"\0")
        pairs = zip(words[1::3], words[2::3], strict=False)
        return {os.fsdecode(old): os.fsdecode(new) for old, new in pairs}

    def index_state(self, name: str) -> str:
        """Return how the index has a file: "H" as usual, "S" outside a sparse checkout, "" not at all."""
        return self.git.run("ls-files", "-z", "-t", "--", name).stdout[:1].decode("ascii", "replace")

    def ignores(self, name: str) -> bool:
        """Return whether a pattern in a .gitignore matches a file."""
        # "./": otherwise git reads a name that begins with a colon as a pattern.
        arguments = ("check-ignore", "-q", "--no-index", "--", f"./{name}")
        return self.git.run(*arguments, literal=False).returncode == 0

    @property
    def shallow(self) -> bool:
        """Return whether the repository is a shallow clone, which lacks earlier commits."""
        return self.git.directory.shallow

    def list_tree(self, commit: str, directory: str) -> dict[str, tuple[str, str]]:
        """Return mode and object id of every file below a directory of a commit, by its relative name."""
        prefix = f"{directory}/" if directory else ""
        listed = self.git.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", prefix or ".").stdout
        files: dict[str, tuple[str, str]] = {}
        for entry in listed.split(b"\0"):
            head, _, name = entry.partition(b"\t")
            if name:
                mode, type_, id = head.decode().split(" ")
                if type_ == "blob":
                    files[os.fsdecode(name).removeprefix(prefix)] = mode, id
        return files

    def blobs(self, ids: Collection[str], largest: int) -> dict[str, bytes]:
        """Return the contents of several files by id. Missing and larger files are skipped."""
        return {id: data for id, kind, data in self.objects(ids, largest) if kind == b"blob"}

    def objects(self, ids: Collection[str], largest: int) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield the id, type and content of several objects, read with two git processes.

        Missing objects, and objects larger than `largest`, are skipped.
        """
        request = "".join(f"{id}\n" for id in ids).encode()
        sizes = self.git.run("cat-file", "--batch-check=%(objectsize)", stdin=request).stdout.splitlines()
        ids = [id for id, size in zip(ids, sizes, strict=False) if size.isdigit() and int(size) <= largest]
        answer = self.git.run("cat-file", "--batch", stdin="".join(f"{id}\n" for id in ids).encode()).stdout
        offset = 0
        for id in ids:
            end = answer.find(b"\n", offset)
            head = answer[offset:end].split(b" ")  # id, type and size; another form for a missing object
            offset = end + 1
            if len(head) == 3:
                _, type_, size_text = head
                size = int(size_text)
                yield id, type_, answer[offset : offset + size]
                offset += size + 1

    def read_file(self, commit: str, name: str, largest: int) -> bytes | None:
        """Return the content of a regular file of a commit; None if it is missing or too large."""
        listed = self.git.run("ls-tree", "-z", "--full-tree", commit, "--", name).stdout
        mode, _, remainder = listed.partition(b" ")
        id = remainder.partition(b" ")[2].partition(b"\t")[0].decode()
        if not mode.startswith(b"100") or not id:
            return None
        return self.blobs([id], largest).get(id)

    def uncommitted_names(self, directory: Path) -> set[str]:
        """Return the names of files below a directory that differ from HEAD or that git does not track.

        Names are relative to the root of the repository. A directory that is ignored as a whole is one name.
        """
        arguments = (
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignored=matching",
            "--ignore-submodules=all",
        )
        listed = self.git.run("status", *arguments, "--", str(directory.resolve())).stdout
        return {os.fsdecode(entry[3:]).rstrip("/") for entry in listed.split(b"\0") if entry}

    def tracks(self, directory: Path) -> bool:
        """Return whether git tracks a file below a directory, or HEAD has one."""
        directory_name = directory.resolve().relative_to(self.top).as_posix()
        listed = self.git.run("ls-files", "-z", "--", directory_name)
        head = self.git.run("ls-tree", "-z", "--full-tree", "HEAD", "--", directory_name)
        return bool(listed.returncode or head.returncode or listed.stdout or head.stdout)

    def _output_line(self, *arguments: str) -> str | None:
        """Return the output of a git command, stripped; None if the command fails or prints nothing."""
        result = self.git.run(*arguments)
        return None if result.returncode else result.stdout.decode("utf-8", "replace").strip() or None


def _names_below(diff: bytes, head: bytes) -> Iterator[str]:
    """Yield the file names that `git diff-tree -z --stdin` prints for one pair of trees.

    `head` is the line that names the pair. The names that follow it end with the line of the next pair.
    """
    remaining = diff.partition(head)[2]
    while remaining and not _TREE_PAIR_LINE.match(remaining):
        name, _, remaining = remaining.partition(b"\0")
        yield os.fsdecode(name)


class _BlobCache:
    """The contents of blobs, so that loading the same commit again starts no git process.

    Contents with one id never change. Missing blobs are looked for each time.
    """

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._blobs: dict[tuple[Repository, str], bytes] = {}

    def get(self, repository: Repository, ids: Collection[str]) -> dict[str, bytes]:
        """Return the contents of blobs by id. Missing and too large blobs are skipped."""
        contents = {id: blob for id in ids if (blob := self._blobs.get((repository, id))) is not None}
        if missing_ids := [id for id in ids if id not in contents]:
            fetched = repository.blobs(missing_ids, _MAX_FILE_BYTES)
            contents |= fetched
            size = sum(map(len, fetched.values()))
            if self._size + size > self._most:
                self._blobs.clear()
                self._size = 0
            if size <= self._most:
                self._blobs |= {(repository, id): blob for id, blob in fetched.items()}
                self._size += size
        return contents


_BLOB_CACHE: Final = _BlobCache(1 << 24)
_TREE_CACHE: Final[dict[tuple[Repository, str, str], dict[str, tuple[str, str]]]] = {}
"""Cached names of the files in a directory of a commit."""
_MAX_CACHED_TREES: Final = 8


class CommitFiles(Struct, dict=True):
    """The files of a project in a commit. `directory` is the project's path in the repository."""

    repository: Repository
    commit: str
    directory: str
    root: str
    _contents: dict[str, bytes] = field(default_factory=dict)
    patterns: list[str] = field(default_factory=list)
    """The paths and patterns of its includes. A pattern may match a file of another commit."""

    @property
    def names_read(self) -> Collection[str]:
        """Return the names of the files that were read."""
        return self._contents.keys()

    @cached_property
    def _names(self) -> dict[str, tuple[str, str]]:
        """Return the mode and object id of each file in the project, by name. Cached for a commit id."""
        key = self.repository, self.commit, self.directory
        if (known := _TREE_CACHE.get(key)) is not None:
            return known
        names = self.repository.list_tree(self.commit, self.directory)
        if names and _OBJECT_ID.fullmatch(self.commit):
            if len(_TREE_CACHE) >= _MAX_CACHED_TREES:
                _TREE_CACHE.clear()
            _TREE_CACHE[key] = names
        return names

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def included(
        self, include: Node, including_file: str = ""
    ) -> tuple[list[IncludedFile], list[Diagnostic]]:
        """Return the files of the commit that `include` names, each once, sorted by name."""
        if not isinstance(include, Sequence):
            return [], [Diagnostic(codes.INCLUDE, '"include" must be a list of paths', include.span)]
        files: dict[str, IncludedFile] = {}
        problems: list[Diagnostic] = []
        for include_item in include:
            text = posixpath.join(
                posixpath.dirname(including_file),
                str(include_item.value) if isinstance(include_item, Scalar) else "",
            )
            self.patterns.append(text)
            matched_names = self._matching_names(text)
            if not matched_names:
                problems.append(Diagnostic(codes.NO_MATCH, f'no file matches "{text}"', include_item.span))
            for name in matched_names:
                files.setdefault(name, IncludedFile(name, Path(name), include_item.span))
        files.pop(self.root, None)
        self._fetch(list(files))
        return sorted(files.values(), key=attrgetter("name")), problems

    def _matching_names(self, text: str) -> list[str]:
        """Return the names of files in the commit that a path or pattern matches, after following links."""
        if "*" in text:
            fixed_directory = posixpath.dirname(text.partition("*")[0])
            real = self.real_name(fixed_directory) if fixed_directory else ""
            pattern = text if real in (None, fixed_directory) else f"{real}{text[len(fixed_directory) :]}"
            self.patterns.append(pattern)
            names = [name for name in self._names if name != IDS_NAME and matches_include(name, pattern)]
        else:
            names = [text]
        return [real for name in names if (real := self.real_name(name)) is not None and real in self._names]

    def real_name(self, name: str) -> str | None:
        """Return the name after following links in the commit; None if it leads outside the project."""
        path = posixpath.normpath(name)
        for _ in range(_MAX_LINKS):
            if path.startswith(("../", "/")) or path == ".." or disk.contains_git_name(path.split("/")):
                return None
            parts = path.split("/")
            leading = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
            link = next(
                (prefix for prefix in leading if self._names.get(prefix, ("", ""))[0] == _LINK_MODE), None
            )
            if link is None:
                return path
            target = posixpath.join(posixpath.dirname(link), os.fsdecode(self._content(link)))
            path = posixpath.normpath(f"{target}{path[len(link) :]}")
        return None

    def read(self, name: str, limit: int) -> bytes:
        """Return at most `limit` + 1 bytes of a file in the commit. Raises FileNotFoundError."""
        real = self.real_name(name)
        if real is None or real not in self._names:
            raise FileNotFoundError(f"the commit {short_commit(self.commit)} does not contain the file")
        return self._content(real)[: limit + 1]

    def _content(self, name: str) -> bytes:
        """Return the content of a file, read from git at the first call. Raises FileNotFoundError."""
        if name not in self._contents:
            self._fetch([name])
        if name not in self._contents:
            raise FileNotFoundError(
                f"git cannot read the file in {short_commit(self.commit)}, or the file is too large"
            )
        return self._contents[name]

    def _fetch(self, names: list[str]) -> None:
        """Read several files with one call of git, and keep their contents."""
        ids = {name: self._names[name][1] for name in names}
        contents = _BLOB_CACHE.get(self.repository, ids.values())
        self._contents |= {name: contents[id] for name, id in ids.items() if id in contents}
