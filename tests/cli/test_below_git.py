"""Files below a `.git` directory are outside every project, because `.git` holds the clone's credentials.

A pull request can name any file of the checkout, and dpsync prints parts of such a file in a comment.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Lay = Callable[[Path], None]

SECRET = "clone-token-ghs"
CREDENTIALS = f'[remote "origin"]\n\turl = https://x-access-token:{SECRET}@git.example/acme/docs\n'
BASE = "dpsync: 1\norganizations: { acme: { id: acme, title: Acme } }\n"


def configuration(name: str) -> str:
    return BASE.replace("title: Acme", f"agentInstructions: {{ file: '{name}' }}")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a clone with credentials, as the checkout action leaves it."""
    made = tmp_path / "checkout"
    made.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=made, check=True, env={"PATH": os.environ["PATH"]})
    write_credentials(made / ".git" / "config", made)
    (made / "dpsync.yaml").write_text(BASE)
    return made


def write_credentials(path: Path, _checkout: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CREDENTIALS)
    path.with_name("more.yaml").write_text(f"organizations: {{ {SECRET}: {{ id: acme }} }}\n")


NAMING = {
    "text": configuration(".git/config"),
    "text by a detour": configuration("./docs/../.git/config"),
    "schema": BASE.replace(
        "title: Acme", "sites: { s: { title: Docs, adaptiveSchema: { file: .git/more.yaml } } }"
    ),
    "rows": BASE.replace("title: Acme", "sites: { s: { title: Docs, redirects: { file: .git/config } } }"),
    "specification": BASE.replace(
        "title: Acme", "openapi: { api: { source: { text: { file: .git/config } } } }"
    ),
    "include": BASE.replace("organizations:", "include: [.git/config]\norganizations:"),
    "pattern": BASE.replace("organizations:", "include: ['.git/*']\norganizations:"),
    "pattern for any name": BASE.replace("organizations:", "include: ['.g*/config']\norganizations:"),
    "overlay": BASE + "environments: { e: { overlay: .git/more.yaml } }\n",
}


@pytest.mark.parametrize("text", NAMING.values(), ids=NAMING)
def test_configuration_key_with_path_below_git_is_rejected(text: str, checkout: Path, run: Run) -> None:
    (checkout / "dpsync.yaml").write_text(text)
    environment = ("--env", "e") if "environments" in text else ()
    ended = run("validate", "-C", str(checkout), *environment)
    assert ended.code == 5
    assert re.findall(r"error\[(\w+)\]", ended.err) == ["DP124" if "g*" in text else "DP125"]
    assert "dpsync.yaml:" in ended.err
    assert SECRET not in ended.out + ended.err


def a_link(checkout: Path) -> str:
    (checkout / "notes.md").symlink_to(".git/config")
    return "notes.md"


def a_link_to_git(checkout: Path) -> str:
    (checkout / "notes").symlink_to(".git")
    return "notes/config"


def a_submodule(checkout: Path) -> str:
    write_credentials(checkout / "docs" / ".git" / "config", checkout)
    return "docs/.git/config"


def another_case(checkout: Path) -> str:
    write_credentials(checkout / ".GIT" / "config", checkout)
    return ".GIT/config"


def a_trailing_dot(checkout: Path) -> str:
    write_credentials(checkout / ".git." / "config", checkout)
    return ".git./config"


def a_windows_short_name(checkout: Path) -> str:
    write_credentials(checkout / "GIT~1" / "config", checkout)
    return "GIT~1/config"


def an_ntfs_stream(checkout: Path) -> str:
    write_credentials(checkout / ".git::$INDEX_ALLOCATION" / "config", checkout)
    return ".git::$INDEX_ALLOCATION/config"


def an_ignored_character(checkout: Path) -> str:
    write_credentials(checkout / ".g\u200cit" / "config", checkout)
    return ".g\u200cit/config"


def a_git_file_to_another_directory(checkout: Path) -> str:
    (checkout / ".git").rename(checkout / "store")
    (checkout / ".git").write_text("gitdir: store\n")
    return "store/config"


def a_git_that_is_a_link(checkout: Path) -> str:
    (checkout / ".git").rename(checkout / "store")
    (checkout / ".git").symlink_to("store")
    return "store/config"


def a_gitdir_file(checkout: Path) -> str:
    (checkout / "docs").mkdir()
    (checkout / "docs" / ".git").write_text(f"gitdir: /{SECRET}\n")
    return "docs/.git"


PLACES = (
    a_link, a_link_to_git, a_submodule, another_case, a_trailing_dot, a_windows_short_name, an_ntfs_stream,
    an_ignored_character, a_git_file_to_another_directory, a_git_that_is_a_link, a_gitdir_file,
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_path_resolving_below_git_is_rejected(place: Callable[[Path], str], checkout: Path, run: Run) -> None:
    name = place(checkout)
    for text in (configuration(name), BASE.replace("organizations:", f"include: ['{name}']\norganizations:")):
        (checkout / "dpsync.yaml").write_text(text)
        ended = run("validate", "-C", str(checkout))
        assert (ended.code, "DP125" in ended.err) == (5, True), ended
        assert SECRET not in ended.out + ended.err


ARGUMENTS = {
    "root": ("validate", "-f", ".git/config"),
    "directory": ("validate", "-C", ".git", "-f", "config"),
    "overlay": ("validate", "-f", "dpsync.yaml", "-f", ".git/more.yaml"),
    "fmt": ("fmt", "--diff", ".git/more.yaml"),
    "ids": ("ids", "--ids", ".git/config", "--check"),
    "navigation": ("import", "--from-navigation", ".git/more.yaml", "--organization", "acme"),
}


@pytest.mark.parametrize("words", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.usefixtures("platform")
def test_argument_with_path_below_git_is_rejected(
    words: tuple[str, ...], checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    (checkout / ".git" / "more.yaml").write_text(f"{SECRET}:   1\n")
    ended = run(*words)
    assert ended.code == 5, ended
    assert SECRET not in ended.out + ended.err


@pytest.mark.usefixtures("platform")
def test_import_and_apply_write_no_files_below_git(
    checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    (checkout / ".git" / "docs").mkdir()
    (checkout / "acme").symlink_to(".git/docs")
    before = sorted(checkout.rglob("*"))
    assert run("import", "--organization", "acme", "--force").code == 4
    assert run("import", "-C", ".git/docs", "--organization", "acme").code == 5
    assert run("apply", "--yes", "--ids", ".git/docs/ids.yaml").code == 5
    assert sorted(checkout.rglob("*")) == before


def test_fmt_skips_git_directory(checkout: Path, run: Run) -> None:
    """Git keeps a file per branch, and a branch may be called `fix.yaml`."""
    (checkout / ".git" / "refs" / "heads" / "fix.yaml").write_text("a:   1\n")
    assert (run("fmt", "-C", str(checkout), ".").code, run("fmt", "-C", str(checkout), ".").out) == (0, "")
    assert (checkout / ".git" / "refs" / "heads" / "fix.yaml").read_text() == "a:   1\n"


def test_validate_accepts_worktree_below_git(checkout: Path, run: Run) -> None:
    """Some people keep the worktrees of a repository in its `.git` directory."""
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example")
    subprocess.run(["git", *author, "commit", "-q", "--allow-empty", "-m", "x"], cwd=checkout, check=True)
    subprocess.run(["git", "worktree", "add", "-q", ".git/docs"], cwd=checkout, check=True)
    (checkout / ".git" / "docs" / "dpsync.yaml").write_text(BASE)
    assert run("validate", "-C", str(checkout / ".git" / "docs")).code == 0
