"""The one place that starts git. Nothing that a repository holds is run by it.

git runs programs that a repository's configuration names: hooks, filters, file system monitors, diffs,
helpers for credentials, and those that fetch what a partial clone lacks. A list that overrides each of them
would be incomplete with the next git. So git never sees the repository's own directory. Each call has a
directory of ours, with a configuration of ours; the objects, the refs and the index in it are links to
theirs. Of their configuration a few values are kept that say how things are stored: none of them names a
program. The command line says the same once more, for whatever a git does by default.

Each call has a time limit: git opens files of the working tree, such as `.gitattributes`, and would block
forever on a named pipe.

The repository is the one whose `.git` is found from a directory upwards. A directory that only looks like a
bare repository is none, since any commit can hold one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync import disk

_ON_COMMAND_LINE: Final = (
    "safe.bareRepository=explicit", "safe.directory=*", "core.hooksPath=/dev/null", "core.fsmonitor=false",
    "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.pager=cat", "core.editor=false",
    "core.askPass=false", "core.sshCommand=false", "credential.helper=", "protocol.allow=never",
    "diff.external=", "submodule.recurse=false", "log.showSignature=false", "gpg.program=false",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",
}
"""All that git has of an environment, beside PATH and the names of directories."""
_KEPT: Final = {
    "core.filemode": "true|false",
    "core.symlinks": "true|false",
    "core.ignorecase": "true|false",
    "core.precomposeunicode": "true|false",
    "core.autocrlf": "true|false|input",
    "core.eol": "lf|crlf|native",
    "extensions.objectformat": "sha1|sha256",
    "extensions.refstorage": "files|reftable",
    r"branch\..+\.remote": r"[\w./-]+",
    r"branch\..+\.merge": r"refs/[^\x00-\x20\x7f]+",
    r"remote\..+\.fetch": r"\+?refs/[^\x00-\x20\x7f]+",
}
"""What is kept of a repository's configuration, and the values that it may have."""
_HEADS: Final = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
_OF_ALL: Final = ("objects", "refs", "packed-refs", "shallow", "reftable")
_SMALL: Final = 1 << 20
"""Bytes of a HEAD or of a configuration."""
_LARGE: Final = 1 << 26
"""Bytes of a list of refs."""
_TIME_LIMIT: Final = 60
"""Maximum seconds for one git call; `git status` in a very large working tree takes several."""
_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF: Final = re.compile(r"refs/(?!.*(?:\.\.|//))[^\x00-\x20\x7f]+")


class NoRepository(Exception):
    """There is no git here that could be asked; the text says why, `hint` what to do about it."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class GitDirectory(Struct, frozen=True):
    """Where a repository is. Every path is real: no part of it is a link.

    `top` is the root of the working tree, `own` git's directory for it, and `common` the one that it shares
    with other working trees of the repository.
    """

    top: Path
    own: Path
    common: Path

    @staticmethod
    def around(directory: Path) -> GitDirectory:
        """The one that a directory lies in. No program is started. Raises NoRepository."""
        try:
            begin = directory.resolve()
            device = begin.stat().st_dev
            for at in (begin, *begin.parents):
                if at.stat().st_dev != device:
                    break
                if (found := _at(at)) is not None:
                    return found
        except (OSError, RuntimeError, ValueError):
            pass
        raise NoRepository("the files are not in a git repository")

    def head(self) -> str | None:
        """The id of the commit that is checked out, read without a program; None where it is not known."""
        with suppress(OSError):
            said = _text(self.own / "HEAD")
            for _ in range(5):
                if _ID.fullmatch(said):
                    return said
                name = said.removeprefix("ref:").strip()
                if not said.startswith("ref:") or not _REF.fullmatch(name):
                    return None
                said = self._ref(name)
        return None

    @property
    def shallow(self) -> bool:
        """Return whether the repository is a shallow clone: git keeps a file with the missing parents."""
        return (self.common / "shallow").is_file()

    def _ref(self, name: str) -> str:
        with suppress(FileNotFoundError):
            return _text(self.common / name)
        packed = disk.read(self.common / "packed-refs", _LARGE).decode("utf-8", "surrogateescape")
        return next(
            (line[: -len(name)].strip() for line in packed.split("\n") if line.endswith(f" {name}")), ""
        )

    @contextmanager
    def shadow(self, config: str) -> Iterator[Path]:
        """A directory of ours that git takes for the repository's own."""
        with disk.own_directory() as made:
            disk.lay(made / "config", config.encode("utf-8", "surrogateescape"))
            for name in _HEADS:
                with suppress(OSError):
                    disk.lay(made / name, f"{_text(self.own / name)}\n".encode("utf-8", "surrogateescape"))
            (made / "logs").mkdir()
            linked = [self.common / name for name in _OF_ALL]
            linked += [self.own / "index", *self.own.glob("sharedindex.*")]
            for path in linked:
                _link(made / path.name, path)
            _link(made / "logs" / "HEAD", self.own / "logs" / "HEAD")
            _link(made / "logs" / "refs", self.common / "logs" / "refs")
            yield made


def _link(link: Path, path: Path) -> None:
    """A link to a directory or a regular file, where there is one: anything else could make git wait."""
    with suppress(OSError):
        if path.is_dir() or path.is_file():
            link.symlink_to(path)


def _at(top: Path) -> GitDirectory | None:
    """The repository whose working tree begins in a directory, if one does. Raises NoRepository."""
    entry = top / ".git"
    named = entry
    if disk.kind_of(entry) is None:
        if not entry.exists():
            return None
        said = _text(entry)
        if not said.startswith("gitdir: "):
            raise NoRepository(f"{entry} does not contain the path of a git directory")
        named = top / said.removeprefix("gitdir: ")
    own = named.resolve()
    with suppress(OSError):
        common = own / "commondir"
        shared = (own / _text(common)).resolve() if common.exists() else own
        _text(own / "HEAD")
        if (shared / "objects").is_dir() and (shared / "refs").is_dir():
            for one in dict.fromkeys((own, shared)):
                _is_no_content(top, one)
            return GitDirectory(top, own, shared)
    return None


def _is_no_content(top: Path, own: Path) -> None:
    """Raise NoRepository where git's directory is among the files of a working tree: a commit can hold one.

    git keeps nothing that is below a `.git`.
    """
    wrong = NoRepository(
        f"the git directory of {top} is {own}, which is inside a working tree",
        "use a git directory outside the working tree",
    )
    if _below(own, top) and not _in_dot_git(own, top):
        raise wrong
    if _in_dot_git(own, Path(own.anchor)):
        return
    try:
        outer = Git.around(own.parent)
    except NoRepository:
        return
    if outer.place.top != top and outer.run("ls-files", "-z", "--", f"{own}/").stdout:
        raise wrong


def _below(path: Path, top: Path) -> bool:
    return path == top or path.is_relative_to(top)


def _in_dot_git(path: Path, top: Path) -> bool:
    return ".git" in path.relative_to(top).parts


def _text(path: Path) -> str:
    """A short file. A link is what it says, as git has it for a HEAD of old."""
    if path.is_symlink() and (target := str(path.readlink())).startswith("refs/"):
        return f"ref: {target}"
    data = disk.read(path, _SMALL)
    return data[:_SMALL].decode("utf-8", "surrogateescape").strip()


class Git(Struct, frozen=True):
    """git for one repository. `program` is its path, `config` the text of its configuration."""

    place: GitDirectory
    program: str
    config: str

    @staticmethod
    def around(directory: Path) -> Git:
        """The git of the repository that a directory is in. Raises NoRepository."""
        place = GitDirectory.around(directory)
        program = find_program("git", place.top)
        if program is None:
            raise NoRepository("git is not installed")
        _is_trusted(place, program)
        first = Git(place, program, _BARE)
        return Git(place, program, first._kept())

    def run(
        self, *arguments: str, given: bytes = b"", literal: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one of its commands with `given` as its input. Names of files are from the top on.

        `literal`: whether names of files are taken literally, which not every command of git supports.
        Raises NoRepository if git cannot be started or exceeds the time limit.
        """
        try:
            with self.place.shadow(self.config) as directory:
                named = {"GIT_DIR": directory, "GIT_WORK_TREE": self.place.top, "HOME": directory}
                return _started(
                    [self.program, *_settings(), *(["--literal-pathspecs"] if literal else [])], arguments,
                    {**_ENVIRONMENT, **{name: str(path) for name, path in named.items()}},
                    directory, given,
                )  # fmt: skip
        except OSError as error:
            raise NoRepository(f"dpsync cannot start git: {disk.why(error)}") from None

    def _kept(self) -> str:
        """The configuration for this repository."""
        try:
            theirs = disk.read(self.place.common / "config", _SMALL)
        except FileNotFoundError:
            return _BARE
        except OSError as error:
            raise NoRepository(f"dpsync cannot read .git/config: {disk.why(error)}") from None
        return _BARE + _kept_lines(self, theirs)


@lru_cache(maxsize=32)
def _kept_lines(git: Git, config: bytes) -> str:
    """Return the kept values in the text of a repository's configuration. One command needs them often."""
    listed = git.run("config", "--file", "-", "--no-includes", "-z", "--list", given=config)
    if listed.returncode:
        raise NoRepository("git cannot read .git/config")
    lines = []
    for entry in listed.stdout.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = entry.partition("\n")
        if any(re.fullmatch(key, name) and re.fullmatch(of, value) for key, of in _KEPT.items()):
            lines.append(_said(name, value))
    return "".join(lines)


_WINDOWS: Final = ("SYSTEMROOT",) if sys.platform == "win32" else ()
_BARE: Final = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"


def _said(name: str, value: str) -> str:
    """One value in the language of git's configuration."""
    section, _, rest = name.partition(".")
    sub, _, key = rest.rpartition(".")
    quoted = sub.replace("\\", "\\\\").replace('"', '\\"')
    if re.search(r"[\x00-\x1f]", quoted):
        return ""
    head = f'{section} "{quoted}"' if sub else section
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{head}]\n\t{key} = "{text}"\n'


def _settings() -> list[str]:
    return [word for setting in _ON_COMMAND_LINE for word in ("-c", setting)]


def _started(
    git: list[str], arguments: Sequence[str], env: dict[str, str], directory: Path, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run git with only these environment variables, plus one that every program needs on Windows.

    Raises NoRepository if git exceeds the time limit.
    """
    system = [] if sys.platform == "win32" else ["/usr/bin", "/bin"]
    path = os.pathsep.join(dict.fromkeys([str(Path(git[0]).parent), *system]))
    own = {"PATH": path} | {name: os.environ[name] for name in _WINDOWS if name in os.environ}
    try:
        return subprocess.run(
            [*git, *arguments], input=given, capture_output=True, cwd=directory, env={**own, **env},
            check=False, timeout=_TIME_LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NoRepository(
            f"git {arguments[0]} did not finish within {_TIME_LIMIT} seconds",
            "git may be waiting for a named pipe or a device, for example "
            "at .gitattributes. Delete the pipe or device",
        ) from None


def find_program(name: str, repository: Path) -> str | None:
    """The path of a program that is not found by a relative path, nor in a repository or on the way to it."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    outside = [repository, *([Path(workspace).resolve()] if workspace else [])]
    suffix = ".exe" if sys.platform == "win32" else ""
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(entry) / f"{name}{suffix}"
        if not Path(entry).is_absolute() or not os.access(path, os.X_OK) or not path.is_file():
            continue
        places = (Path(entry).resolve(), path.resolve())
        if not any(_below(place, top) for place in places for top in outside):
            return str(path)
    return None


def _is_trusted(place: GitDirectory, program: str) -> None:
    """Raise NoRepository where the repository belongs to another user, who could make up a past for it.

    What root has made is trusted, and root trusts everybody: in a container the checkout is often another's.
    """
    if not hasattr(os, "geteuid"):  # Windows, where Python knows no owner of a file: docs/installing.md
        return
    user = os.geteuid()
    owners = {path.stat().st_uid for path in (place.top, place.own, place.common)}
    if user == 0 or owners <= {user, 0}:
        return
    env = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    env |= {"LC_ALL": "C", "GIT_DIR": os.devnull}
    with disk.own_directory() as nowhere:
        asked = ("config", "--global", "-z", "--get-all", "safe.directory")
        said = _started([program], asked, env, nowhere)
    safe = said.stdout.decode("utf-8", "surrogateescape").split("\0")
    if not any(one == "*" or Path(one) == place.top for one in safe if one):
        hint = f"run git config --global --add safe.directory {place.top}"
        raise NoRepository("git does not trust this directory, because it belongs to another user", hint)
