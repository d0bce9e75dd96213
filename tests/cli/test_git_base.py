"""`--base` and what plan and apply say about the git base, in real repositories."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.config import git_program
from tests.pipes import pipe

from .conftest import Run

BASE = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n"
BEFORE = BASE + "    teams: { authors: { title: Technical writers } }\n"
AFTER = BASE + "    teams: { authors: { title: Authors } }\n"
Project = Callable[..., Path]


def git(directory: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example", "-c", "maintenance.auto=false")
    command = ["git", "-C", str(directory), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()


@pytest.fixture
def renamed(project: Project) -> Path:
    """Return a checkout in which a team was renamed after the last commit."""
    directory = project(BEFORE)
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "before")
    return project(AFTER)


@pytest.mark.usefixtures("platform")
def test_plan_explains_how_rename_was_matched(run: Run, renamed: Path) -> None:
    ended = run("plan", "-v", "-C", str(renamed))
    assert ended.code == 0
    assert "renamed: object writers, found by the name that the entry had in HEAD" in ended.out
    assert '"Technical writers" → "Authors"' in ended.out
    assert f"base: HEAD ({git(renamed, 'rev-parse', 'HEAD')[:12]})" in ended.out


@pytest.mark.usefixtures("platform")
def test_second_apply_of_rename_has_no_changes(run: Run, renamed: Path) -> None:
    assert run("apply", "--yes", "-C", str(renamed)).code == 0
    assert "No changes." in run("apply", "--yes", "-C", str(renamed)).out


@pytest.mark.usefixtures("platform")
def test_swapped_titles_are_applied_once(run: Run, project: Project, renamed: Path) -> None:
    def teams(one: str, other: str) -> Path:
        return project(f"{BASE}    teams: {{ one: {{ title: {one} }}, other: {{ title: {other} }} }}\n")

    git(teams("Technical writers", "Sales"), "commit", "-q", "-a", "-m", "two teams")
    assert run("apply", "--yes", "-C", str(renamed)).code == 0
    directory = teams("Sales", "Technical writers")
    assert run("apply", "--yes", "-C", str(directory)).code == 0
    ended = run("plan", "-C", str(directory))
    assert "No changes." in ended.out, ended.out


@pytest.mark.usefixtures("platform")
def test_plan_from_subdirectory_uses_git_base(
    run: Run, renamed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (renamed / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(renamed / "a" / "b")
    assert "found by the name that the entry had in HEAD" in run("plan", "-v").out


@pytest.mark.usefixtures("platform")
def test_base_flag_keeps_matched_objects(run: Run, renamed: Path) -> None:
    git(renamed, "commit", "-q", "-a", "-m", "after")
    plans = [run("plan", "-C", str(renamed), *flags).out for flags in ((), ("--base", "HEAD~1"))]
    assert ["~ team authors" in plan for plan in plans] == [True, True]
    assert ["to create" in plan for plan in plans] == [False, False]


@pytest.mark.parametrize("command", ["ids", "doctor", "list", "import --update acme", "world world.json"])
def test_ids_doctor_list_and_import_reject_base_flag(run: Run, renamed: Path, command: str) -> None:
    """Its result would depend on the commit that somebody names."""
    ended = run(*command.split(), "-C", str(renamed), "--base", "HEAD")
    assert ended.code == 64
    assert "No such option '--base'" in ended.err


@pytest.mark.parametrize("command", [["plan"], ["apply", "--yes"]])
@pytest.mark.usefixtures("platform")
def test_unknown_git_base_exits_5(run: Run, renamed: Path, command: list[str]) -> None:
    ended = run(*command, "-C", str(renamed), "--base", "nowhere")
    assert ended.code == 5
    assert "DP140" in ended.err
    assert 'dpsync cannot compare the files with "nowhere"' in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_reports_missing_git_repository(run: Run, project: Project) -> None:
    directory = str(project(AFTER))
    assert run("plan", "-C", directory).err == ""
    ended = run("plan", "-v", "-C", directory)
    assert ended.code == 0
    assert "base: none (the files are not in a git repository)" in ended.out


@pytest.mark.usefixtures("platform")
def test_invalid_configuration_in_git_base_is_warning(run: Run, project: Project, renamed: Path) -> None:
    project(BASE + "    titel: Acme\n")
    git(renamed, "commit", "-q", "-a", "-m", "a mistake")
    project(AFTER)
    ended = run("plan", "-v", "-C", str(renamed))
    assert ended.code == 0
    assert "warning[DP140]" in ended.err
    assert "base: none (the configuration in HEAD is invalid)" in ended.out
    assert run("plan", "-C", str(renamed), "--base", "HEAD").code == 5


@pytest.mark.usefixtures("platform")
def test_shallow_clone_in_ci_suggests_fetch_depth(
    run: Run, renamed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(renamed, "commit", "-q", "-a", "-m", "after")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{renamed}", "shallow")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert "fetch-depth" not in run("plan", "-C", str(tmp_path / "shallow"), "--base", "HEAD").err
    monkeypatch.setenv("GITHUB_BASE_REF", "other")
    ended = run("plan", "-C", str(tmp_path / "shallow"))
    assert ended.code == 4  # a team would be made, and nobody can tell what it was before
    assert "fetch-depth: 0" in ended.err


@pytest.mark.usefixtures("platform")
def test_plan_digest_is_independent_of_git_base(run: Run, renamed: Path) -> None:
    git(renamed, "tag", "before")
    head = json.loads(run("plan", "-C", str(renamed), "--format", "json").out)
    tag = json.loads(run("plan", "-C", str(renamed), "--format", "json", "--base", "before").out)
    assert head["plan"]["base"] == tag["plan"]["base"] == git(renamed, "rev-parse", "HEAD")
    assert (head["plan"]["base_from"], tag["plan"]["base_from"]) == ("HEAD", "HEAD")
    assert head["digest"] == tag["digest"]


@pytest.mark.usefixtures("platform")
def test_approved_plan_is_applied_after_merge(run: Run, renamed: Path) -> None:
    """The base is another commit then, and what it says of the causes is something else."""
    approved = json.loads(run("plan", "-C", str(renamed), "--format", "json").out)
    git(renamed, "commit", "-q", "--allow-empty", "-m", "another change")
    merged = json.loads(run("plan", "-C", str(renamed), "--format", "json").out)
    assert merged["plan"]["base"] != approved["plan"]["base"]
    assert run("apply", "--yes", "-C", str(renamed), "--approved", approved["digest"]).code == 0


@pytest.mark.usefixtures("platform")
def test_similar_existing_space_makes_plan_exit_4(run: Run, project: Project) -> None:
    directory = project(BASE + "    spaces: { guides: { title: guides } }\n")
    ended = run("plan", "-C", str(directory))
    assert ended.code == 4
    assert "unclear" in ended.out
    assert "previously: Guides" in ended.out
    assert "new: true" in ended.out
    assert re.search(r"^\+ space guides +dpsync\.yaml:5$", ended.out, re.MULTILINE)


@pytest.mark.usefixtures("platform")
def test_import_is_refused_when_git_times_out(
    run: Run, renamed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_program, "_TIMEOUT_SECONDS", 5, raising=False)
    before = (renamed / "dpsync.yaml").read_text()
    with pipe(renamed / ".gitignore"):
        ended = run("import", "-C", str(renamed), "--add", "acme/teams/[Legacy]")
    assert ended.code == 4, ended
    assert "git status did not finish within 5 seconds" in ended.err
    assert "for example at .gitattributes. Delete the pipe" in ended.err
    assert (renamed / "dpsync.yaml").read_text() == before


@pytest.mark.usefixtures("platform")
def test_plan_fails_when_git_times_out(run: Run, renamed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_program, "_TIMEOUT_SECONDS", 5, raising=False)
    with pipe(renamed / ".git" / "refs" / "heads" / "main"):
        ended = run("plan", "-C", str(renamed))
    assert ended.code == 1, ended
    assert "error[git]: git rev-parse did not finish within 5 seconds" in ended.err
