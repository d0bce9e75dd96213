"""Whatever lies where a file should be: a command ends with a finding that names it, and harms nothing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.apply import journal
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run

Project = Callable[..., Path]
Lay = Callable[[Path], None]

BASE = "dpsync: 1\norganizations: { acme: { id: acme, title: Acme } }\n"
CHANGED = BASE.replace("title: Acme", "title: Acme Inc")
OUTSIDE = "PRECIOUS"


def outside(path: Path) -> Path:
    """Create a file outside of the test's project and return its path."""
    for above in path.parents:
        if above.name.startswith("test_"):
            (above / "outside").write_text(OUTSIDE, encoding="utf-8")
            return above / "outside"
    raise AssertionError


ODD: dict[str, Lay] = {
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "outside": lambda path: path.symlink_to(outside(path)),
    "circle": lambda path: path.symlink_to(path.name),
}


@pytest.fixture(params=ODD)
def lay(request: pytest.FixtureRequest) -> Lay:
    """Return a function that replaces the file at a path with something odd."""

    def lay_(path: Path) -> None:
        path.unlink(missing_ok=True)
        ODD[request.param](path)

    return lay_


def told(ended: Ran, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert OUTSIDE not in ended.out + ended.err
    assert "internal error" not in ended.err
    for word in words:
        assert word in ended.err


NAMED = {
    "included": BASE.replace("organizations:", "include: [odd.yaml]\norganizations:"),
    "a value": BASE.replace("title: Acme", "agentInstructions: { file: odd.yaml }"),
    "free-form": BASE.replace(
        "title: Acme", "sites: { s: { title: S, adaptiveSchema: { file: odd.yaml } } }"
    ),
    "overlay": BASE + "environments: { e: { overlay: odd.yaml } }\n",
}


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED)
def test_validate_rejects_irregular_referenced_file(run: Run, project: Project, lay: Lay, text: str) -> None:
    at = project(text)
    lay(at / "odd.yaml")
    env = ["--env", "e"] if "environments" in text else []
    told(run("validate", "-C", str(at), *env), 5, "odd.yaml", "dpsync.yaml:")


def test_validate_rejects_irregular_root_file(run: Run, project: Project, lay: Lay) -> None:
    at = project(BASE)
    lay(at / "dpsync.yaml")
    told(run("validate", "-C", str(at)), 5, "dpsync.yaml cannot be read")
    told(run("validate", "-f", str(at / "dpsync.yaml")), 5, "dpsync.yaml cannot be read")


def test_validate_rejects_irregular_overlay_file(run: Run, project: Project, lay: Lay) -> None:
    at = project(BASE)
    lay(at / "over.yaml")
    told(run("validate", "-C", str(at), "-f", "dpsync.yaml", "-f", "over.yaml"), 5, "over.yaml")


def test_validate_follows_symlinks_inside_project(run: Run, project: Project) -> None:
    """As Kubernetes lays out a ConfigMap: each file is a link into a directory that is a link."""
    at = project(BASE.replace("organizations:", "include: [more.yaml]\norganizations:"))
    (at / "..data_1").mkdir()
    (at / "..data").symlink_to("..data_1")
    (at / "..data_1" / "more.yaml").write_text("organizations: { acme: { emailDomains: [a.example] } }\n")
    (at / "dpsync.yaml").rename(at / "..data_1" / "dpsync.yaml")
    for name in ("dpsync.yaml", "more.yaml"):
        (at / name).symlink_to(f"..data/{name}")
    (at.parent / "alias").symlink_to(at)
    for place in (at, at.parent / "alias"):
        assert run("validate", "-C", str(place)).out.startswith("Valid: ")


@pytest.mark.parametrize("own", [".dpsync", ".dpsync/journal", ".dpsync/.gitignore"])
@pytest.mark.usefixtures("platform")
def test_apply_does_not_write_through_symlinked_dpsync_directory(
    own: str, run: Run, project: Project
) -> None:
    at = project(CHANGED)
    elsewhere = outside(at).parent / "elsewhere"
    elsewhere.mkdir()
    (at / own).parent.mkdir(exist_ok=True)
    target = elsewhere if own != ".dpsync/.gitignore" else elsewhere / "made"
    (at / own).symlink_to(target)
    ended = run("apply", "-C", str(at), "--yes")
    assert list(elsewhere.iterdir()) == []
    if own == ".dpsync/.gitignore":
        told(ended, 0)
    elif own == ".dpsync/journal":
        told(ended, 1, "error[journal]", "is a link")
    else:
        told(ended, 5, "DP122", "is a link")


@pytest.mark.parametrize("own", ["dpsync.ids.yaml", ".dpsync/ids.yaml", "in/ids.yaml"])
@pytest.mark.usefixtures("platform")
def test_irregular_ids_file_exits_5(own: str, run: Run, project: Project, lay: Lay) -> None:
    at = project(CHANGED)
    (at / own).parent.mkdir(exist_ok=True)
    lay(at / own)
    named = () if own == ".dpsync/ids.yaml" else ("--ids", own)
    for words in (
        ("plan",),
        ("apply", "--yes"),
        ("ids",),
        ("ids", "--forget", "acme/teams/writers"),
        ("drift",),
    ):
        told(run(*words, "-C", str(at), *named), 5, own)
    assert outside(at).read_text(encoding="utf-8") == OUTSIDE
    assert not stat.S_ISREG((at / own).lstat().st_mode)


@pytest.mark.parametrize("own", [".dpsync/ids.yaml", "in/ids.yaml"])
@pytest.mark.usefixtures("platform")
def test_ids_file_behind_symlinked_directory_is_rejected(own: str, run: Run, project: Project) -> None:
    """Otherwise, a link in the project has the journal, with all that was written, put anywhere."""
    at = project(CHANGED)
    elsewhere = outside(at).parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "ids.yaml").write_text(OUTSIDE)
    (at / own).parent.symlink_to(elsewhere)
    named = ("--ids", own) if own == "in/ids.yaml" else ()
    for words in (("plan",), ("apply", "--yes"), ("ids",)):
        told(run(*words, "-C", str(at), *named), 5, "is a link to a file outside the project", own)
    told(
        run("apply", "--yes", "-C", str(at), "--ids", "a.yaml", "--journal", "in/journal"),
        1 if own == "in/ids.yaml" else 0,
    )
    assert [path.read_text() for path in elsewhere.iterdir()] == [OUTSIDE]


@pytest.mark.usefixtures("platform")
def test_ids_file_outside_project_is_not_quoted(run: Run, project: Project) -> None:
    at = project(BASE)
    outside(at).write_text(f"a: {{ b: {OUTSIDE} }}\n")
    told(run("plan", "-C", str(at), "--ids", str(outside(at))), 5, "DP150")
    (at / "a.yaml").write_text(f"a: {{ b: {OUTSIDE} }}\n")
    assert OUTSIDE in run("plan", "-C", str(at), "--ids", "a.yaml").err


@pytest.mark.usefixtures("platform")
def test_ids_file_may_be_symlink_inside_project(run: Run, project: Project) -> None:
    at = project(BASE)
    (at / "kept.yaml").write_text("")
    (at / "dpsync.ids.yaml").symlink_to("kept.yaml")
    assert run("plan", "-C", str(at), "--ids", "dpsync.ids.yaml").code == 0


@pytest.mark.usefixtures("platform")
def test_apply_rejects_irregular_saved_plan(run: Run, project: Project, lay: Lay) -> None:
    """Otherwise, a file that is no plan ends in a mistake of dpsync's."""
    at = project(BASE)
    lay(at / "plan.json")
    told(run("apply", "-C", str(at), "plan.json"), 5, "DP143", "plan.json")


@pytest.mark.usefixtures("platform")
def test_plan_out_rejects_irregular_file(run: Run, project: Project, lay: Lay) -> None:
    at = project(BASE)
    lay(at / "plan.json")
    before = (at / "plan.json").lstat()
    told(run("plan", "-C", str(at), "--out", "plan.json"), 1, "DP143", "plan.json")
    assert (at / "plan.json").lstat() == before
    assert outside(at).read_text(encoding="utf-8") == OUTSIDE


@pytest.mark.usefixtures("platform")
def test_import_never_writes_through_irregular_file(run: Run, project: Project, lay: Lay) -> None:
    """A link is replaced by a file (with --force alone) and never written through."""
    at = project(BASE)
    lay(at / "dpsync.yaml")
    import_ = ("import", "-C", str(at), "--organization", "acme")
    told(run(*import_), 4, "dpsync.yaml")
    was_link = (at / "dpsync.yaml").is_symlink()
    told(run(*import_, "--force"), 0 if was_link else 4)
    assert (at / "dpsync.yaml").is_file() is was_link
    assert outside(at).read_text(encoding="utf-8") == OUTSIDE


def test_import_rejects_pipe_as_navigation_file(run: Run, project: Project, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "navigation.yaml")
    navigation = ("--from-navigation", str(tmp_path / "navigation.yaml"), "--organization", "acme")
    told(run("import", "-C", str(project(BASE)), *navigation), 5, "navigation.yaml", "a pipe")


# The lock, and the directory that it is in.


def lock_of(run: Run, at: Path) -> Path:
    assert run("apply", "-C", str(at), "--yes").code == 0
    return next(journal.state_directory(os.environ).glob("locks/*"))


@pytest.mark.usefixtures("platform")
def test_apply_exits_1_for_irregular_lock_file(run: Run, project: Project, lay: Lay) -> None:
    at = project(CHANGED)
    held = lock_of(run, at)
    lay(held)
    (at / "dpsync.yaml").write_text(BASE)
    told(run("apply", "-C", str(at), "--yes"), 1, "error[state]", "XDG_STATE_HOME")
    assert outside(at).read_text(encoding="utf-8") == OUTSIDE


def test_apply_exits_1_when_state_directory_is_file(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = project(CHANGED)
    monkeypatch.setenv("XDG_STATE_HOME", str(outside(at)))
    platform.app.requests.clear()
    told(run("apply", "-C", str(at), "--yes"), 1, "error[state]", "outside")
    found = json.loads(run("apply", "-C", str(at), "--yes", "--format", "json").out)
    assert [item["code"] for item in found["findings"]] == ["state"]
    assert [path for method, path, _ in platform.app.requests if method != "GET"] == []


@pytest.mark.usefixtures("platform")
def test_apply_exits_1_for_unwritable_state_directory(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc")
    told(run("apply", "-C", str(project(CHANGED)), "--yes"), 1, "error[state]", "/proc/dpsync/locks")


@pytest.mark.usefixtures("platform")
def test_apply_exits_1_without_home_directory(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", none)
    for named in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        told(run("apply", "-C", str(project(CHANGED)), "--yes"), 1, "error[state]", "neither HOME nor")


# The token.


@pytest.fixture
def token_file(platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    del platform
    monkeypatch.delenv("DPSYNC_TOKEN")
    monkeypatch.setenv("DPSYNC_TOKEN_FILE", str(tmp_path / "token"))
    return tmp_path / "token"


def test_irregular_token_file_exits_64(
    run: Run, project: Project, token_file: Path, platform: ThreadedServer
) -> None:
    odd: dict[str, tuple[Lay, str]] = {
        "pipe": (os.mkfifo, "is empty"),  # nobody writes into it
        "device": (lambda path: path.symlink_to("/dev/zero"), "a device"),
        "directory": (Path.mkdir, "a directory"),
        "large": (lambda path: path.write_text("t" * 20_000), "larger than 16 KiB"),
        "bytes": (lambda path: path.write_bytes(b"\xff"), "not UTF-8"),
        "nothing": (lambda path: path.write_text("\n"), "is empty"),
        "missing": (lambda _: None, "No such file"),
    }
    for make, words in odd.values():
        make(token_file)
        told(run("plan", "-C", str(project(BASE))), 64, "DPSYNC_TOKEN_FILE", words)
        if token_file.is_dir() and not token_file.is_symlink():
            token_file.rmdir()
        else:
            token_file.unlink(missing_ok=True)
    assert list(platform.app.requests) == []


def test_token_file_may_be_symlink(run: Run, project: Project, token_file: Path) -> None:
    """As Kubernetes mounts a secret."""
    (token_file.parent / "..data_1").mkdir()
    (token_file.parent / "..data").symlink_to("..data_1")
    (token_file.parent / "..data_1" / "token").write_text("ada-token\n")
    token_file.symlink_to("..data/token")
    told(run("plan", "-C", str(project(BASE))), 0)


@pytest.mark.usefixtures("platform")
def test_token_file_may_be_process_substitution(project: Project) -> None:
    plan = f'DPSYNC_TOKEN_FILE=<(echo ada-token) "{sys.executable}" -m dpsync plan -C "{project(BASE)}"'
    env = {name: value for name, value in os.environ.items() if name != "DPSYNC_TOKEN"}
    ended = subprocess.run(["bash", "-c", plan], capture_output=True, text=True, check=False, env=env)
    assert ended.returncode == 0, ended.stderr
    assert "No changes." in ended.stdout
