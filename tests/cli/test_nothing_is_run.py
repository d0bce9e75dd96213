"""No command runs a program that a repository contains.

The whole directory may be hostile: from an archive, or from a stranger's change in CI. Every trap runs one
program, which records its call. A plain git command triggers each trap first, to prove that the trap works.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import dpsync
from dpsync.config.git import NoRepositoryError, Repository
from dpsync.config.git_base import default_base
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

from .conftest import Run

SOURCE = Path(dpsync.__file__).parent
BEFORE = "dpsync: 1\norganizations: { acme: { id: acme, title: Acme } }\n"
AFTER = BEFORE.replace("title: Acme", "title: Acne")


@dataclass
class Trap:
    """A repository, and the program that must not run in it."""

    folder: Path
    program: Path
    witness: Path

    def git(self, *words: str, check: bool = True) -> str:
        """Plain git, as a person runs it."""
        author = ["-c", "user.name=Eve", "-c", "user.email=eve@acme.example"]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *author, *words], cwd=self.folder, env=env, capture_output=True, text=True, check=check
        )
        return done.stdout.strip()

    def set(self, **values: str) -> None:
        """Values of the repository's configuration: `core_pager` is core.pager."""
        for name, value in values.items():
            self.git("config", name.replace("_", "."), value)

    def lay(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def went_off(self) -> list[str]:
        """Return the recorded calls of the trap's program and clear the record."""
        said = self.witness.read_text().splitlines() if self.witness.exists() else []
        self.witness.unlink(missing_ok=True)
        return said


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """Create a repository with a commit and an uncommitted change to its file."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    program = tmp_path / "program"
    witness = tmp_path / "witness"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {witness}\nexit 1\n', encoding="utf-8")
    program.chmod(0o755)
    made = Trap(folder, program, witness)
    made.git("init", "-q", "-b", "main")
    made.lay("dpsync.yaml", BEFORE)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "before")
    made.lay("dpsync.yaml", AFTER)
    return made


# The traps.


def hooks(trap: Trap) -> None:
    for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        trap.folder.joinpath(".git", "hooks").mkdir(exist_ok=True)
        trap.folder.joinpath(".git", "hooks", name).symlink_to(trap.program)


def hooks_elsewhere(trap: Trap) -> None:
    trap.lay("githooks/x", "")
    trap.folder.joinpath("githooks", "post-index-change").symlink_to(trap.program)
    trap.set(core_hooksPath="githooks")


def monitor(trap: Trap) -> None:
    trap.set(core_fsmonitor=str(trap.program))


def included_monitor(trap: Trap) -> None:
    trap.lay("more.conf", f"[core]\n\tfsmonitor = {trap.program}\n")
    trap.set(include_path="../more.conf")


def included_here(trap: Trap) -> None:
    trap.lay("more.conf", f"[core]\n\tfsmonitor = {trap.program}\n")
    trap.git("config", f"includeIf.gitdir:{trap.folder}/.path", "../more.conf")


def monitor_of_this_working_tree(trap: Trap) -> None:
    trap.set(extensions_worktreeConfig="true")
    trap.git("config", "--worktree", "core.fsmonitor", str(trap.program))


def clean_filter(trap: Trap) -> None:
    trap.lay(".gitattributes", "* filter=evil\n")
    trap.set(filter_evil_clean=str(trap.program), filter_evil_process=str(trap.program))


def filter_of_info(trap: Trap) -> None:
    trap.lay(".git/info/attributes", "* filter=evil\n")
    trap.set(filter_evil_smudge=str(trap.program), filter_evil_clean=str(trap.program))


def external_diff(trap: Trap) -> None:
    trap.set(diff_external=str(trap.program))


def diff_of_attributes(trap: Trap) -> None:
    trap.lay(".gitattributes", "* diff=evil\n")
    trap.set(diff_evil_command=str(trap.program))


def textconv(trap: Trap) -> None:
    trap.lay(".gitattributes", "* diff=evil\n")
    trap.set(diff_evil_textconv=str(trap.program))


def lacking(trap: Trap, name: str) -> None:
    """Take the object of a file of the last commit away, so that a git would fetch it."""
    id = trap.git("rev-parse", f"HEAD:{name}")
    trap.folder.joinpath(".git", "objects", id[:2], id[2:]).unlink()


def partial_clone(trap: Trap) -> None:
    trap.set(
        core_repositoryformatversion="1", extensions_partialClone="origin", remote_origin_promisor="true"
    )
    trap.set(remote_origin_url=str(trap.folder), remote_origin_uploadpack=str(trap.program))
    lacking(trap, "dpsync.yaml")


def partial_clone_by_ssh(trap: Trap) -> None:
    trap.set(
        core_repositoryformatversion="1", extensions_partialClone="origin", remote_origin_promisor="true"
    )
    trap.set(remote_origin_url="ssh://x/y", core_sshCommand=str(trap.program))
    lacking(trap, "dpsync.yaml")


def partial_clone_by_a_helper(trap: Trap) -> None:
    trap.set(
        core_repositoryformatversion="1", extensions_partialClone="origin", remote_origin_promisor="true"
    )
    trap.set(remote_origin_url=f"ext::{trap.program}", protocol_ext_allow="always")
    lacking(trap, "dpsync.yaml")


def signatures(trap: Trap) -> None:
    trap.set(gpg_program=str(trap.program), log_showSignature="true")
    commit = trap.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    path = trap.lay("signed", commit + "\n")
    trap.git("update-ref", "HEAD", trap.git("hash-object", "-t", "commit", "-w", str(path)))


def submodule(trap: Trap) -> None:
    inner = trap.folder / "inner"
    inner.mkdir()
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "x")):
        trap.git("-C", str(inner), *words)
    trap.git("-C", str(inner), "config", "core.fsmonitor", str(trap.program))
    trap.lay(".gitmodules", '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    trap.git("add", "inner", ".gitmodules")
    trap.git("commit", "-q", "-m", "with one inside")


def bare_repository(trap: Trap) -> None:
    """Create files that a fork can commit and that make the configuration's directory a bare repository."""
    trap.git("clone", "-q", "--bare", ".", "docs")
    docs = trap.folder / "docs"
    docs.joinpath("config").write_text(
        "[core]\n\trepositoryformatversion = 1\n\tworktree = .\n\tbare = false\n"
        f"\tfsmonitor = {trap.program}\n[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\turl = .\n\tpromisor = true\n\tuploadpack = {trap.program}\n'
    )
    docs.joinpath("HEAD").write_text("1" * 40)
    docs.joinpath("dpsync.yaml").write_text(AFTER)


TRAPS: dict[Callable[[Trap], None], tuple[str, ...]] = {
    submodule: ("status",),
    signatures: ("log",),
    bare_repository: ("-C", "docs", "cat-file", "-p", "HEAD"),
    hooks: ("status",),
    hooks_elsewhere: ("status",),
    monitor: ("status",),
    included_monitor: ("status",),
    included_here: ("status",),
    monitor_of_this_working_tree: ("status",),
    clean_filter: ("status",),
    filter_of_info: ("status",),
    external_diff: ("diff",),
    diff_of_attributes: ("diff",),
    textconv: ("diff",),
    partial_clone: ("cat-file", "-p", "HEAD:dpsync.yaml"),
    partial_clone_by_ssh: ("cat-file", "-p", "HEAD:dpsync.yaml"),
    partial_clone_by_a_helper: ("cat-file", "-p", "HEAD:dpsync.yaml"),
}


TIMES = itertools.count(1_000_000_000)


def touched(trap: Trap) -> None:
    """Give the files a time that git has never seen, so that git reads their content.

    git compares whole seconds, and the current second may be the one that git knows.
    """
    now = next(TIMES)
    for path in trap.folder.glob("*"):
        os.utime(path, (now, now))


@pytest.mark.parametrize("lay", TRAPS, ids=lambda one: one.__name__)
def test_git_queries_run_no_code_from_repository(lay: Callable[[Trap], None], trap: Trap) -> None:
    lay(trap)
    touched(trap)
    trap.git(*TRAPS[lay], check=False)
    assert trap.went_off(), "plain git does not walk into it"
    touched(trap)
    folder = trap.folder / "docs" if lay is bare_repository else trap.folder
    repository = Repository.containing(folder)
    assert repository.top == trap.folder
    head = repository.resolve_commit("HEAD")
    assert head == trap.git("rev-parse", "HEAD")
    assert head == repository.git.directory.head()
    assert default_base(repository, {}).commit == head
    names = repository.list_tree(head, "")
    repository.blobs([id for _, id in names.values()], 100_000)
    repository.read_file(head, "dpsync.yaml", 100_000)
    repository.parents(head)
    repository.merge_base(head, head)
    repository.changes(head, "")
    repository.changed_files(head)
    assert repository.uncommitted_names(trap.folder)
    assert repository.shallow is False
    assert trap.went_off() == []


COMMANDS = (
    ("validate", "--changes"), ("plan",), ("plan", "--base", "HEAD"), ("plan", "--out", "plan.json"),
    ("show", "plan.json"), ("rehearse",), ("drift",), ("graph",), ("ids",), ("list",), ("config",),
    ("fmt", "--check"), ("doctor",), ("world", "world.json"), ("import", "--organization", "acme", "--force"),
    ("import", "--update", "acme"), ("apply", "--yes", "--rehearse"), ("plan", "--format", "github"),
    ("plan", "--format", "sarif"),
)  # fmt: skip


@pytest.mark.usefixtures("platform")
def test_commands_run_no_code_from_repository(trap: Trap, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for lay in TRAPS:
        if lay not in (partial_clone, partial_clone_by_a_helper, included_here, included_monitor):
            lay(trap)
    for name in ("git", "python3", "sh", "ssh", "less", "gpg"):
        trap.folder.joinpath(name).symlink_to(trap.program)
    for name in ("yaml", "click", "pydantic", "sitecustomize", "usercustomize", "dpsync"):
        trap.lay(f"docs/{name}.py", f"open({str(trap.witness)!r}, 'a').write('python\\n')\n")
    trap.lay("docs/.env", f"PATH={trap.folder}\n")
    monkeypatch.chdir(trap.folder / "docs")
    monkeypatch.setenv("PATH", f":.:{trap.folder}:{os.environ['PATH']}")
    trap.went_off()
    for words in COMMANDS:
        touched(trap)
        ended = run(*words)
        assert ended.code in (0, 2, 3, 4), (words, ended)
        assert trap.went_off() == [], words


def test_serve_plan_imports_no_modules_from_checkout(trap: Trap) -> None:
    """The process that made the page's plan imported click.py from the working directory."""
    code = f"open({str(trap.witness)!r}, 'a').write(__name__ + ' ')\n"
    for name in ("click", "yaml", "sitecustomize", "usercustomize", "dpsync/__init__", "dpsync/__main__"):
        trap.lay(f"{name}.py", code)
    command = [sys.executable, "-P", "-m", "dpsync", "serve", "--port", "0", "--plan", "."]
    env = {"PATH": os.environ["PATH"], "DPSYNC_TOKEN": "token-of-the-platform"}
    with subprocess.Popen(command, cwd=trap.folder, env=env, stdout=subprocess.PIPE, text=True) as companion:
        try:
            assert companion.stdout is not None
            url = companion.stdout.readline().strip()
            page = httpx.get(f"{url}/_dpsync/page/plan/report", timeout=PATIENCE, **NO_TLS).text
        finally:
            companion.terminate()
    assert trap.went_off() == []
    assert "Acne" in page


def test_python_p_option_imports_no_local_modules(trap: Trap) -> None:
    """Python itself takes a module of the working directory first, and asks nobody."""
    for name in ("dpsync", "click"):
        trap.lay(f"{name}.py", f"open({str(trap.witness)!r}, 'a').write('{name}\\n')\n")

    def started(*options: str) -> str:
        command = [sys.executable, *options, "-m", "dpsync", "--version"]
        return subprocess.run(command, cwd=trap.folder, capture_output=True, text=True, check=False).stdout

    assert (started(), trap.went_off()) == ("", ["dpsync"])
    assert (started("-P"), trap.went_off()) == (f"dpsync {dpsync.__version__}\n", [])


@pytest.mark.usefixtures("platform")
def test_git_process_receives_no_secrets(
    trap: Trap, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    spy.write_text(f'#!/bin/sh\nenv >> {tmp_path}/seen\necho "$@" >> {tmp_path}/words\nexec {real} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("OKTA_CERTIFICATE", "a secret of the configuration")
    monkeypatch.chdir(trap.folder)
    assert run("plan").code == 0
    seen = (tmp_path / "seen").read_text()
    assert "GIT_NO_LAZY_FETCH=1" in seen
    for secret in ("ada-token", "a secret of the configuration", "DPSYNC_"):
        assert secret not in seen
    for line in (tmp_path / "words").read_text().splitlines():
        assert "-c safe.bareRepository=explicit" in line
        assert "-c core.hooksPath=/dev/null" in line


def test_only_three_modules_start_processes() -> None:
    """The companion forks itself as its workers; it starts a program for the plan on its page alone."""
    starting = re.compile(
        r"\b(?:subprocess|multiprocessing|webbrowser|runpy|pty)\b"
        r"|\bos\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|fork\w*)\b|click\.(?:edit|launch|echo_via_pager)"
    )
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if starting.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"config/git_program.py", "server/console/plan_runner.py", "server/process/workers.py"}


# Which repository it is.


def test_git_directory_inside_working_tree_is_rejected(trap: Trap) -> None:
    bare_repository(trap)
    trap.git("add", "-A")
    (trap.folder / "inside").mkdir()
    for folder, target in ((trap.folder / "inside", "../docs"), (trap.folder / "docs", ".")):
        (folder / ".git").write_text(f"gitdir: {target}\n")
        with pytest.raises(NoRepositoryError, match="inside a working tree"):
            Repository.containing(folder)
    assert trap.went_off() == []


def test_git_worktrees_are_recognized(trap: Trap, tmp_path: Path) -> None:
    trap.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    trap.git("clone", "-q", "--bare", ".", str(tmp_path / "all" / ".bare"))
    trap.git("-C", str(tmp_path / "all" / ".bare"), "worktree", "add", "-q", "../main", "main")
    (tmp_path / "all" / ".git").write_text("gitdir: ./.bare\n")
    trap.git("init", "-q", f"--separate-git-dir={tmp_path}/apart.git", str(tmp_path / "separate"))
    for name in ("other", "all/main"):
        repository = Repository.containing(tmp_path / name)
        assert (repository.top, repository.resolve_commit("HEAD")) == (
            tmp_path / name,
            trap.git("rev-parse", "HEAD"),
        )
        assert repository.git.directory.head() == repository.resolve_commit("HEAD")
    assert Repository.containing(tmp_path / "separate").top == tmp_path / "separate"


def test_git_revision_names_resolve_to_commit(trap: Trap, tmp_path: Path) -> None:
    trap.git("clone", "-q", ".", str(tmp_path / "clone"))
    head = trap.git("rev-parse", "HEAD")
    repository = Repository.containing(tmp_path / "clone")
    for name in ("@{upstream}", "origin/main", "main@{0}", "HEAD@{0}", "main", head[:12]):
        assert repository.resolve_commit(name) == head, name


def test_git_head_is_read_from_files(trap: Trap) -> None:
    place = Repository.containing(trap.folder).git.directory
    head = trap.git("rev-parse", "HEAD")
    trap.git("pack-refs", "--all")
    assert place.head() == head
    trap.git("checkout", "-q", "--detach")
    assert place.head() == head
    for text in ("ref: refs/heads/none", "ref: ../../x", "ref: refs/heads/../../config", "x"):
        (trap.folder / ".git" / "HEAD").write_text(text)
        assert place.head() is None
