"""Labels of plan and drift: who changed a value, as far as git knows, in real repositories and over HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpsync.server.process.threaded_server import ThreadedServer

from .conftest import Run
from .test_drift import TEAMS, change, text
from .test_git_base import git
from .test_plan_and_apply import SCHEMAS, asked

Project = Callable[..., Path]
Labels = dict[str, str | None]
FILE = text(
    TEAMS.replace("basename: docs", "basename: docs, visibility: public"),
    policy="  limits: { deletes: 9, percent: 99 }\n  removed: ['teams/[Sales]', 'teams/[Temporary]']\n",
)
NEW_TEAM = ("legacy: { title: Legacy }", "legacy: { title: Legacy }\n      new: { title: New, new: true }")
ANEW = ("--confirm", "new acme/teams/legacy")


@pytest.fixture
def applied(project: Project, run: Run, platform: ThreadedServer) -> Path:
    """Return a checkout whose only commit was applied completely."""
    del platform
    directory = project(FILE)
    git(directory, "init", "-q", "-b", "main")
    commit(directory, "as it is")
    assert run("apply", "-C", str(directory), "--yes").code == 0
    return directory


@pytest.fixture
def pull_request(applied: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout of a pull request in CI: a branch with one commit, and the remote target branch."""
    git(applied, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(applied, "switch", "-q", "-c", "topic")
    edited = FILE.replace("Acme Docs", "Acme documentation").replace("      sales: { title: Sales }\n", "")
    project(edited.replace(*NEW_TEAM))
    commit(applied, "a pull request")
    for path in (applied / ".dpsync" / "applied").iterdir():
        path.unlink()  # a runner has a new checkout
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    return applied


def commit(directory: Path, message: str) -> str:
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


def at_the_browser(platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme/sites/docs", visibility="unlisted")
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    change(platform, "/orgs/acme/teams", "PUT", title="Temporary")


def document(run: Run, directory: Path, command: str, *flags: str) -> dict[str, Any]:
    ended = run(command, "-C", str(directory), "--format", "json", *flags)
    found: dict[str, Any] = json.loads(ended.out)
    jsonschema.validate(found, json.loads((SCHEMAS / f"{command}.schema.json").read_text()))
    return found


def labels(run: Run, directory: Path, *flags: str, command: str = "drift") -> Labels:
    """Return the label of each field and whole object that a command finds."""
    found = document(run, directory, command, *flags)[command]
    items = found["found"] if command == "drift" else found["changes"]
    labels: Labels = {}
    for item in items:
        whole = item.get("what") in ("missing", "undeclared") or item.get("action") in ("create", "delete")
        if whole or item.get("place") or item.get("moved"):
            labels[item["address"]] = item["cause"]
        if not whole:
            parts = item.get("fields") or item.get("differences") or ()
            labels |= {f"{item['address']}#{one['field']}": one["cause"] for one in parts}
    return labels


OUTSIDE: Labels = {
    "acme/sites/docs#visibility": "changed outside",
    "acme/teams/legacy": "changed outside",
    "acme/teams/[Temporary]": "changed outside",
}


def test_drift_labels_manual_change_as_changed_outside(
    run: Run, platform: ThreadedServer, applied: Path
) -> None:
    assert "No drift." in run("drift", "-C", str(applied)).out
    at_the_browser(platform)
    assert labels(run, applied) == OUTSIDE
    assert labels(run, applied, *ANEW, command="plan") == OUTSIDE
    said = run("drift", "-C", str(applied)).out
    for words in ("    changed outside", "    deleted outside", "    made outside"):
        assert words in said


def test_plan_in_pull_request_labels_edited_values(
    run: Run, platform: ThreadedServer, pull_request: Path
) -> None:
    at_the_browser(platform)
    assert labels(run, pull_request, *ANEW, command="plan") == {
        "acme/sites/docs#title": "edited here", "acme/sites/docs#visibility": None,
        "acme/teams/legacy": None, "acme/teams/new": "edited here",
        "acme/teams/[Sales]": "edited here", "acme/teams/[Temporary]": None,
    }  # fmt: skip


def test_drift_labels_value_changed_on_both_sides(
    run: Run, platform: ThreadedServer, applied: Path, project: Project
) -> None:
    at_the_browser(platform)
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    project(FILE.replace("Acme Docs", "Acme documentation"))
    assert labels(run, applied) == {**OUTSIDE, "acme/sites/docs#title": "both"}


def test_drift_omits_label_for_value_from_later_commit(
    run: Run, platform: ThreadedServer, applied: Path, project: Project
) -> None:
    """Another clone may have applied the commit between: the change is not from outside."""
    project(FILE.replace("Acme Docs", "Acme documentation"))
    commit(applied, "edit")
    project(FILE)
    commit(applied, "revert the edit")
    change(platform, "/orgs/acme/sites/docs", title="Acme documentation")
    assert labels(run, applied) == {"acme/sites/docs#title": None}
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    assert labels(run, applied) == {"acme/sites/docs#title": "changed outside"}


def test_drift_omits_label_for_value_changed_by_merged_branch(
    run: Run, platform: ThreadedServer, applied: Path, project: Project
) -> None:
    git(applied, "switch", "-q", "-c", "topic")
    project(FILE.replace("Acme Docs", "Acme documentation"))
    commit(applied, "edit")
    project(FILE)
    commit(applied, "revert the edit")
    git(applied, "switch", "-q", "main")
    commit(applied, "somebody else was faster")
    git(applied, "merge", "-q", "--no-ff", "-m", "merged", "topic")
    change(platform, "/orgs/acme/sites/docs", title="Acme documentation")
    assert labels(run, applied) == {"acme/sites/docs#title": None}


UNKNOWN: dict[str, Callable[[Run, Path, Project], None]] = {
    "partial apply": lambda run, at, project: _edit_and_apply(
        run, at, project, "--select", "acme/sites/docs"
    ),
    "apply from edited files": lambda run, at, project: _edit_and_apply(run, at, project),
    "apply without deletes": lambda run, at, project: _edit_and_apply(run, at, project, "--no-delete"),
    "reverted apply": lambda run, at, project: _apply_and_revert(run, at, project),
    "rewritten history": lambda _run, at, _project: _rewrite(at),
    "another root file": lambda _run, at, _project: _rename_root(at),
}


def _edit_and_apply(run: Run, directory: Path, project: Project, *flags: str) -> None:
    project(FILE.replace("Acme Docs", "Acme documentation"))
    assert run("apply", "-C", str(directory), "--yes", *flags).code == 0
    project(FILE)
    change_back = run("apply", "-C", str(directory), "--yes", "--select", "acme/sites/docs")
    assert change_back.code == 0


def _apply_and_revert(run: Run, directory: Path, project: Project) -> None:
    project(FILE.replace("Acme Docs", "Acme documentation"))
    commit(directory, "edit")
    assert run("apply", "-C", str(directory), "--yes").code == 0
    assert run("revert", "-C", str(directory), "--last", "--yes").code == 0


def _rewrite(directory: Path) -> None:
    git(directory, "commit", "-q", "--amend", "-m", "another message")


def _rename_root(directory: Path) -> None:
    git(directory, "mv", "dpsync.yaml", "dpsync.yml")
    commit(directory, "rename the root file")


@pytest.mark.parametrize("situation", UNKNOWN)
def test_drift_omits_labels_when_applied_commit_is_unknown(
    run: Run, platform: ThreadedServer, applied: Path, project: Project, situation: str
) -> None:
    UNKNOWN[situation](run, applied, project)
    at_the_browser(platform)
    assert set(labels(run, applied).values()) == {None}


@pytest.mark.usefixtures("platform")
def test_plan_base_flag_labels_edits_since_base(run: Run, applied: Path, project: Project) -> None:
    (note,) = (applied / ".dpsync" / "applied").iterdir()
    note.unlink()
    first = git(applied, "rev-parse", "HEAD")
    project(FILE.replace("Acme Docs", "Acme documentation"))
    commit(applied, "edit")
    assert labels(run, applied, command="plan") == {"acme/sites/docs#title": None}
    found = labels(run, applied, "--base", first, command="plan")
    assert found == {"acme/sites/docs#title": "edited here"}


def test_drift_omits_label_for_value_with_variable(
    run: Run, platform: ThreadedServer, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable may have had another value when its commit was applied."""
    monkeypatch.setenv("SITE_TITLE", "Acme Docs")
    directory = project(FILE.replace("Acme Docs", "'${SITE_TITLE:-Docs}'"))
    git(directory, "init", "-q", "-b", "main")
    commit(directory, "with a variable")
    assert run("apply", "-C", str(directory), "--yes").code == 0
    monkeypatch.setenv("SITE_TITLE", "Acme documentation")
    at_the_browser(platform)
    assert labels(run, directory) == {**OUTSIDE, "acme/sites/docs#title": None}
    monkeypatch.delenv("SITE_TITLE")
    assert labels(run, directory) == {**OUTSIDE, "acme/sites/docs#title": None}


@pytest.mark.parametrize(("depth", "label"), [("1", None), ("2", None), ("3", "changed outside")])
def test_drift_in_shallow_clone_needs_history_for_labels(
    run: Run, platform: ThreadedServer, applied: Path, tmp_path: Path, depth: str, label: str | None
) -> None:
    for message in ("one more", "another one"):
        commit(applied, message)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", depth, f"file://{applied}", str(clone))
    (clone / ".dpsync" / "applied").mkdir(parents=True)
    (note,) = (applied / ".dpsync" / "applied").iterdir()
    (clone / ".dpsync" / "applied" / note.name).write_bytes(note.read_bytes())
    change(platform, "/orgs/acme/sites/docs", visibility="unlisted")
    assert labels(run, clone) == {"acme/sites/docs#visibility": label}


def test_file_recording_applied_commit_is_private_and_gitignored(applied: Path) -> None:
    (note,) = (applied / ".dpsync" / "applied").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    assert git(applied, "status", "--porcelain") == ""
    assert json.loads(note.read_text())["commit"] == git(applied, "rev-parse", "HEAD")


def _commit_note(directory: Path, note: Path) -> None:
    (directory / ".dpsync" / ".gitignore").unlink()
    git(directory, "add", "-f", ".dpsync/applied")
    git(directory, "commit", "-q", "-m", "a note")
    at = json.loads(note.read_text())
    note.write_text(json.dumps({**at, "commit": git(directory, "rev-parse", "HEAD~1")}))


def _link_note(directory: Path, note: Path) -> None:
    note.rename(directory.parent / "note.json")
    note.symlink_to(directory.parent / "note.json")


def _link_directory(directory: Path, note: Path) -> None:
    note.parent.rename(directory.parent / "applied")
    note.parent.symlink_to(directory.parent / "applied")


def _pipe(_directory: Path, note: Path) -> None:
    note.unlink()
    os.mkfifo(note)


def _edit_note(**values: Any) -> Callable[[Path, Path], None]:
    def edit(_directory: Path, note: Path) -> None:
        note.write_text(json.dumps({**json.loads(note.read_text()), **values}))

    return edit


HOSTILE: dict[str, Callable[[Path, Path], None]] = {
    "committed note": _commit_note,
    "link to a note": _link_note,
    "linked directory": _link_directory,
    "pipe": _pipe,
    "huge note": lambda _directory, note: note.write_bytes(note.read_bytes() + b" " * 30_000_000),
    "no JSON": lambda _directory, note: note.write_bytes(b"\xff{"),
    "branch name as commit": _edit_note(commit="main"),
    "option as commit": _edit_note(commit="--output=x"),
    "unknown commit": _edit_note(commit="0" * 40),
    "another digest": _edit_note(digest="0" * 64),
    "another platform": _edit_note(platform="https://api.gitbook.com"),
    "another organization": _edit_note(organizations=["globex"]),
    "additional key": _edit_note(token="x"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_drift_ignores_forged_file_recording_applied_commit(
    run: Run, platform: ThreadedServer, applied: Path, name: str
) -> None:
    (note,) = (applied / ".dpsync" / "applied").iterdir()
    HOSTILE[name](applied, note)
    at_the_browser(platform)
    assert set(labels(run, applied).values()) == {None}
    # An apply goes on, and leaves a valid note instead.
    ended = run("apply", "-C", str(applied), "--yes", *ANEW)
    assert ended.code == 0, ended.out + ended.err


def test_apply_of_other_organization_keeps_drift_labels(
    run: Run, platform: ThreadedServer, applied: Path
) -> None:
    """With several environments, each organization has a note of its own."""
    other = applied / "globex.yaml"
    other.write_text("dpsync: 1\norganizations:\n  globex: { id: globex, title: Globex }\n")
    commit(applied, "another organization")
    assert run("apply", "-f", str(other), "--yes").code == 0
    at_the_browser(platform)
    assert labels(run, applied) == OUTSIDE


def test_plan_labels_need_no_extra_requests(run: Run, platform: ThreadedServer, applied: Path) -> None:
    at_the_browser(platform)
    platform.app.requests.clear()
    run("plan", "-C", str(applied))
    with_labels = len(asked(platform))
    for path in (applied / ".dpsync" / "applied").iterdir():
        path.unlink()
    platform.app.requests.clear()
    run("plan", "-C", str(applied))
    assert len(asked(platform)) == with_labels


def test_plan_approved_before_merge_is_applied_after_merge(
    run: Run, platform: ThreadedServer, pull_request: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_the_browser(platform)
    approved = document(run, pull_request, "plan", *ANEW)["digest"]
    git(pull_request, "switch", "-q", "main")
    before = commit(pull_request, "somebody else was faster")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": before}))
    git(pull_request, "merge", "-q", "--no-ff", "-m", "merged", "topic")
    monkeypatch.delenv("GITHUB_BASE_REF")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    ended = run("apply", "-C", str(pull_request), "--yes", "--approved", approved, *ANEW)
    assert ended.code == 0, ended.out + ended.err
    assert document(run, pull_request, "plan")["plan"]["changes"] == []


@pytest.mark.usefixtures("platform")
def test_plan_omits_label_for_value_from_unset_variable(run: Run, project: Project) -> None:
    directory = project(FILE.replace("Acme Docs", "'${OLD}'").replace("public", "'${PAST}'"))
    git(directory, "init", "-q", "-b", "main")
    first = commit(directory, "with variables")
    project(FILE.replace("Acme Docs", "Other").replace("visibility: public", "visibility: unlisted"))
    assert labels(run, directory, "--base", first, command="plan") == {
        "acme/sites/docs#title": None, "acme/sites/docs#visibility": None,
    }  # fmt: skip


NOT_RECORDED = "Later plans will not show why a value differs, because "
UNCOMMITTED = "your files differ from the commit HEAD. Commit your files before the next apply."


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ((), UNCOMMITTED),
        (
            ("--select", "acme/sites/docs"),
            "this apply did not include all objects. After the next apply of all ",
        ),
        (("--no-delete",), "this apply did not include all objects. After the next apply of all "),
        (("-q",), None),
        (("--format", "json"), None),
    ],
    ids=["edited files", "selected part", "no deletes", "quiet", "JSON"],
)
@pytest.mark.usefixtures("platform")
def test_apply_explains_missing_labels_in_later_plans(
    run: Run, applied: Path, project: Project, flags: tuple[str, ...], reason: str | None
) -> None:
    """Otherwise, a later plan has no label, and nobody knows why."""
    project(FILE.replace("Acme Docs", "Acme documentation"))
    lines = run("apply", "-C", str(applied), "--yes", *flags).out.splitlines()
    said = [line for line in lines if NOT_RECORDED in line]
    assert said == lines[-2:-1] if reason else not said
    assert not reason or lines[-2].startswith(f"{NOT_RECORDED}{reason}")


@pytest.mark.usefixtures("platform")
def test_apply_of_committed_files_prints_no_label_warning(run: Run, applied: Path, project: Project) -> None:
    project(FILE.replace("Acme Docs", "Acme documentation"))
    commit(applied, "edit")
    assert NOT_RECORDED not in run("apply", "-C", str(applied), "--yes").out


@pytest.mark.parametrize("has_git", [True, False], ids=["no commit", "no git"])
def test_apply_outside_git_warns_about_labels_when_verbose(
    run: Run, platform: ThreadedServer, project: Project, has_git: bool
) -> None:
    directory = project(FILE)
    if has_git:
        git(directory, "init", "-q", "-b", "main")
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    assert (NOT_RECORDED + UNCOMMITTED in run("apply", "-C", str(directory), "--yes").out) == has_git
    change(platform, "/orgs/acme/sites/docs", title="Acme Dox")
    reason = UNCOMMITTED if has_git else "your files are not in a git repository."
    assert NOT_RECORDED + reason in run("apply", "-C", str(directory), "--yes", "-v").out


@pytest.mark.usefixtures("platform")
def test_apply_in_ci_prints_no_label_warning(
    run: Run, applied: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner has a new checkout for each job."""
    monkeypatch.setenv("CI", "true")
    project(FILE.replace("Acme Docs", "Acme documentation"))
    assert NOT_RECORDED not in run("apply", "-C", str(applied), "--yes").out
