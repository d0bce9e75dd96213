"""Run git without running any program that the repository's configuration names.

Only this module starts git. A repository's configuration can name hooks, filters, file monitors and
credential helpers. So each call gets a temporary git directory (`GitDirectory.isolated_git_dir`) with
dpsync's own configuration and links to the repository's objects, refs and index. Each call has a time limit,
because git could block on a named pipe such as `.gitattributes`. The repository is found through `.git`, from
a directory upwards. A directory that looks like a bare repository is ignored, because any commit can contain
one.
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

_FORCED_SETTINGS: Final = (
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
"""The environment variables of git, besides PATH and the names of directories."""
_KEPT_SETTINGS: Final = {
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
"""The settings of a repository's configuration that are kept, and their allowed values."""
_HEAD_FILES: Final = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
_SHARED_FILES: Final = ("objects", "refs", "packed-refs", "shallow", "reftable")
_MAX_CONFIG_BYTES: Final = 1 << 20
"""The maximum size of a HEAD or a configuration file, in bytes."""
_MAX_REF_LIST_BYTES: Final = 1 << 26
"""The maximum size of a list of refs, in bytes."""
_TIMEOUT_SECONDS: Final = 60
"""Maximum seconds for one git call; `git status` in a very large working tree takes several."""
_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF: Final = re.compile(r"refs/(?!.*(?:\.\.|//))[^\x00-\x20\x7f]+")


class NoRepositoryError(Exception):
    """There is no usable git repository. The text says why, `hint` what to do."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class GitDirectory(Struct, frozen=True):
    """The location of a repository. Every path is real, without links.

    `top` is the root of the working tree, `git_dir` its git directory, and `common_dir` the git directory
    that it shares with other working trees of the repository.
    """

    top: Path
    git_dir: Path
    common_dir: Path

    @staticmethod
    def containing(directory: Path) -> GitDirectory:
        """Return the repository that contains a directory, without starting a program.

        Raises NoRepositoryError.
        """
        try:
            start = directory.resolve()
            device = start.stat().st_dev
            for parent in (start, *start.parents):
                if parent.stat().st_dev != device:
                    break
                if (repository := _repository_at(parent)) is not None:
                    return repository
        except (OSError, RuntimeError, ValueError):
            pass
        raise NoRepositoryError("the files are not in a git repository")

    def head(self) -> str | None:
        """Return the id of the checked-out commit, read without starting a program; None if it is unknown."""
        with suppress(OSError):
            content = _read_short_file(self.git_dir / "HEAD")
            for _ in range(5):
                if _ID.fullmatch(content):
                    return content
                name = content.removeprefix("ref:").strip()
                if not content.startswith("ref:") or not _REF.fullmatch(name):
                    return None
                content = self._read_ref(name)
        return None

    @property
    def shallow(self) -> bool:
        """Return whether the repository is a shallow clone: git keeps a file with the missing parents."""
        return (self.common_dir / "shallow").is_file()

    def _read_ref(self, name: str) -> str:
        """Return the content of a ref such as `refs/heads/main`: of its own file, or of packed-refs."""
        with suppress(FileNotFoundError):
            return _read_short_file(self.common_dir / name)
        packed = disk.read(self.common_dir / "packed-refs", _MAX_REF_LIST_BYTES).decode(
            "utf-8", "surrogateescape"
        )
        return next(
            (line[: -len(name)].strip() for line in packed.split("\n") if line.endswith(f" {name}")), ""
        )

    @contextmanager
    def isolated_git_dir(self, config: str) -> Iterator[Path]:
        """Yield a temporary git directory with the text `config` as its only configuration.

        It links to the objects, refs and index of the repository. git uses it in place of the repository's
        git directory, whose configuration could name programs to run.
        """
        with disk.own_directory() as shadow_directory:
            disk.write_new_file(shadow_directory / "config", config.encode("utf-8", "surrogateescape"))
            for name in _HEAD_FILES:
                with suppress(OSError):
                    disk.write_new_file(
                        shadow_directory / name,
                        f"{_read_short_file(self.git_dir / name)}\n".encode("utf-8", "surrogateescape"),
                    )
            (shadow_directory / "logs").mkdir()
            linked = [self.common_dir / name for name in _SHARED_FILES]
            linked += [self.git_dir / "index", *self.git_dir.glob("sharedindex.*")]
            for path in linked:
                _link(shadow_directory / path.name, path)
            _link(shadow_directory / "logs" / "HEAD", self.git_dir / "logs" / "HEAD")
            _link(shadow_directory / "logs" / "refs", self.common_dir / "logs" / "refs")
            yield shadow_directory


def _link(link: Path, path: Path) -> None:
    """Create a link to a directory or a regular file, if it exists. Anything else could make git wait."""
    with suppress(OSError):
        if path.is_dir() or path.is_file():
            link.symlink_to(path)


def _repository_at(top: Path) -> GitDirectory | None:
    """Return the repository whose working tree is exactly `top`; None if there is none.

    `.git` is a directory, or a file with the path of the git directory. Raises NoRepositoryError.
    """
    entry = top / ".git"
    git_directory_path = entry
    if disk.kind_of(entry) is None:
        if not entry.exists():
            return None
        content = _read_short_file(entry)
        if not content.startswith("gitdir: "):
            raise NoRepositoryError(f"{entry} does not contain the path of a git directory")
        git_directory_path = top / content.removeprefix("gitdir: ")
    own_directory = git_directory_path.resolve()
    with suppress(OSError):
        commondir_file = own_directory / "commondir"
        common_directory = (
            (own_directory / _read_short_file(commondir_file)).resolve()
            if commondir_file.exists()
            else own_directory
        )
        _read_short_file(own_directory / "HEAD")
        if (common_directory / "objects").is_dir() and (common_directory / "refs").is_dir():
            for git_directory in dict.fromkeys((own_directory, common_directory)):
                _refuse_git_directory_in_working_tree(top, git_directory)
            return GitDirectory(top, own_directory, common_directory)
    return None


def _refuse_git_directory_in_working_tree(top: Path, git_directory: Path) -> None:
    """Raise NoRepositoryError if a git directory is among the files of a working tree.

    A commit could contain such a forged git directory. A directory named `.git` is safe, because git does not
    commit files below it.
    """
    error = NoRepositoryError(
        f"the git directory of {top} is {git_directory}, which is inside a working tree",
        "use a git directory outside the working tree",
    )
    if _is_below(git_directory, top) and not _in_dot_git(git_directory, top):
        raise error
    if _in_dot_git(git_directory, Path(git_directory.anchor)):
        return
    try:
        outer = Git.containing(git_directory.parent)
    except NoRepositoryError:
        return
    if outer.directory.top != top and outer.run("ls-files", "-z", "--", f"{git_directory}/").stdout:
        raise error


def _is_below(path: Path, top: Path) -> bool:
    """Return whether a path is a directory or below this directory."""
    return path == top or path.is_relative_to(top)


def _in_dot_git(path: Path, top: Path) -> bool:
    """Return whether a path is inside a `.git` directory below `top`."""
    return ".git" in path.relative_to(top).parts


def _read_short_file(path: Path) -> str:
    """Return the text of a short file of git.

    HEAD may be a link to a ref in old repositories: it is returned as the usual text `ref: refs/…`.
    """
    if path.is_symlink() and (target := str(path.readlink())).startswith("refs/"):
        return f"ref: {target}"
    data = disk.read(path, _MAX_CONFIG_BYTES)
    return data[:_MAX_CONFIG_BYTES].decode("utf-8", "surrogateescape").strip()


class Git(Struct, frozen=True):
    """git for one repository. `program` is its path, `config` the text of its configuration."""

    directory: GitDirectory
    program: str
    config: str

    @staticmethod
    def containing(directory: Path) -> Git:
        """Return git for the repository that contains a directory.

        Raises NoRepositoryError without a repository or git, or if the repository belongs to another user.
        """
        repository = GitDirectory.containing(directory)
        program = find_program("git", repository.top)
        if program is None:
            raise NoRepositoryError("git is not installed")
        _check_owner(repository, program)
        minimal_git = Git(repository, program, _MINIMAL_CONFIG)
        return Git(repository, program, minimal_git._configuration())

    def run(
        self, *arguments: str, stdin: bytes = b"", literal: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command, isolated from the configuration of the repository and the user.

        File names are relative to the root of the working tree. `literal`: whether file names are taken
        literally, which not every git command supports. Raises NoRepositoryError if git cannot be started or
        exceeds the time limit.
        """
        try:
            settings = [word for setting in _FORCED_SETTINGS for word in ("-c", setting)]
            with self.directory.isolated_git_dir(self.config) as directory:
                directories = {"GIT_DIR": directory, "GIT_WORK_TREE": self.directory.top, "HOME": directory}
                return _run_git(
                    [self.program, *settings, *(["--literal-pathspecs"] if literal else [])],
                    arguments,
                    {**_ENVIRONMENT, **{name: str(path) for name, path in directories.items()}},
                    directory, stdin,
                )  # fmt: skip
        except OSError as error:
            raise NoRepositoryError(f"dpsync cannot start git: {disk.error_reason(error)}") from None

    def _configuration(self) -> str:
        """Return dpsync's own git configuration with a few harmless settings of the repository.

        Raises NoRepositoryError if the configuration of the repository cannot be read.
        """
        try:
            content = disk.read(self.directory.common_dir / "config", _MAX_CONFIG_BYTES)
        except FileNotFoundError:
            return _MINIMAL_CONFIG
        except OSError as error:
            raise NoRepositoryError(f"dpsync cannot read .git/config: {disk.error_reason(error)}") from None
        return _MINIMAL_CONFIG + _kept_settings(self, content)


@lru_cache(maxsize=32)
def _kept_settings(git: Git, config: bytes) -> str:
    """Return the kept settings of a repository's configuration, in the syntax of git.

    `config` is the text of the repository's configuration. The result is cached, because one dpsync command
    needs it for many git calls.
    """
    listed = git.run("config", "--file", "-", "--no-includes", "-z", "--list", stdin=config)
    if listed.returncode:
        raise NoRepositoryError("git cannot read .git/config")
    lines = []
    for entry in listed.stdout.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = entry.partition("\n")
        if any(
            re.fullmatch(pattern, name) and re.fullmatch(allowed, value)
            for pattern, allowed in _KEPT_SETTINGS.items()
        ):
            lines.append(_config_setting(name, value))
    return "".join(lines)


_WINDOWS_VARIABLES: Final = ("SYSTEMROOT",) if sys.platform == "win32" else ()
_MINIMAL_CONFIG: Final = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"


def _config_setting(name: str, value: str) -> str:
    """Return one setting in the syntax of git's configuration; "" for a name that the syntax cannot hold."""
    section, _, remainder = name.partition(".")
    subsection, _, key = remainder.rpartition(".")
    quoted = subsection.replace("\\", "\\\\").replace('"', '\\"')
    if re.search(r"[\x00-\x1f]", quoted):
        return ""
    head = f'{section} "{quoted}"' if subsection else section
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{head}]\n\t{key} = "{text}"\n'


def _run_git(
    git: list[str], arguments: Sequence[str], env: dict[str, str], directory: Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run git with only these environment variables, plus one that every program needs on Windows.

    Raises NoRepositoryError if git exceeds the time limit.
    """
    system = [] if sys.platform == "win32" else ["/usr/bin", "/bin"]
    path = os.pathsep.join(dict.fromkeys([str(Path(git[0]).parent), *system]))
    own = {"PATH": path} | {name: os.environ[name] for name in _WINDOWS_VARIABLES if name in os.environ}
    try:
        return subprocess.run(
            [*git, *arguments], input=stdin, capture_output=True, cwd=directory, env={**own, **env},
            check=False, timeout=_TIMEOUT_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NoRepositoryError(
            f"git {arguments[0]} did not finish within {_TIMEOUT_SECONDS} seconds",
            "git may be waiting for a named pipe or a device, for example "
            "at .gitattributes. Delete the pipe or device",
        ) from None


def find_program(name: str, repository: Path) -> str | None:
    """Return the path of a program in PATH; None if there is none.

    Relative entries of PATH are skipped, and so are programs in the repository or in the workspace of a
    workflow.
    """
    workspace = os.environ.get("GITHUB_WORKSPACE")
    untrusted = [repository, *([Path(workspace).resolve()] if workspace else [])]
    suffix = ".exe" if sys.platform == "win32" else ""
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(entry) / f"{name}{suffix}"
        if not Path(entry).is_absolute() or not os.access(path, os.X_OK) or not path.is_file():
            continue
        real_paths = (Path(entry).resolve(), path.resolve())
        if not any(_is_below(real_path, directory) for real_path in real_paths for directory in untrusted):
            return str(path)
    return None


def _check_owner(repository: GitDirectory, program: str) -> None:
    """Raise NoRepositoryError if the repository belongs to another user, who could forge its history.

    As in git, `safe.directory` in the user's git configuration allows it. Files of root are allowed, and
    root may use every repository, because the checkout in a container often has another owner.
    """
    if not hasattr(os, "geteuid"):  # on Windows, Python cannot tell who owns a file: docs/installing.md
        return
    user = os.geteuid()
    owners = {path.stat().st_uid for path in (repository.top, repository.git_dir, repository.common_dir)}
    if user == 0 or owners <= {user, 0}:
        return
    env = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    env |= {"LC_ALL": "C", "GIT_DIR": os.devnull}
    with disk.own_directory() as empty_directory:
        arguments = ("config", "--global", "-z", "--get-all", "safe.directory")
        listed = _run_git([program], arguments, env, empty_directory)
    safe = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
    if not any(
        safe_directory == "*" or Path(safe_directory) == repository.top
        for safe_directory in safe
        if safe_directory
    ):
        hint = f"run git config --global --add safe.directory {repository.top}"
        raise NoRepositoryError("git does not trust this directory, because it belongs to another user", hint)
