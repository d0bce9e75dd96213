"""A pull request and somebody at the browser at once: each difference says whose it is, in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpsync.server.process.thread import ThreadedServer
from tests.by_hand import by_hand

from .conftest import Run
from .test_drift import TEAMS, change, text
from .test_git_base import git
from .test_plan_and_apply import SCHEMAS, asked, golden

Project = Callable[..., Path]
FILE = text(
    TEAMS.replace("basename: docs", "basename: docs, visibility: public"),
    policy="  limits: { deletes: 9, percent: 99 }\n  removed: ['teams/[Sales]', 'teams/[Temporary]']\n",
)


@pytest.fixture
def pull_request(
    project: Project, monkeypatch: pytest.MonkeyPatch, run: Run, platform: ThreadedServer
) -> Path:
    """A checkout as CI makes it: a branch of one commit, and the branch that it goes to as a remote one."""
    directory = project(FILE)
    assert run("apply", "-C", str(directory), "--yes").code == 0
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "as it is")
    git(directory, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(directory, "switch", "-q", "-c", "topic")
    edited = FILE.replace("Acme Docs", "Acme documentation").replace("      sales: { title: Sales }\n", "")
    project(
        edited.replace(
            "legacy: { title: Legacy }", "legacy: { title: Legacy }\n      new: { title: New, new: true }"
        )
    )
    git(directory, "commit", "-q", "-a", "-m", "a pull request")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    return directory


def at_the_browser(platform: ThreadedServer) -> None:
    change(platform, "/orgs/acme/sites/docs", visibility="unlisted")
    change(platform, "/orgs/acme/teams/legacy", "DELETE")
    change(platform, "/orgs/acme/teams", "PUT", title="Temporary")


GROUPS = {
    "this_change": [
        {"address": "acme/sites/docs", "fields": ["title"], "whole": False},
        {"address": "acme/teams/new", "fields": ["title"], "whole": True},
        {"address": "acme/teams/[Sales]", "fields": [], "whole": True},
    ],
    "there_already": [
        {"address": "acme/sites/docs", "fields": ["visibility"], "whole": False},
        {"address": "acme/teams/legacy", "fields": ["title"], "whole": True},
        {"address": "acme/teams/[Temporary]", "fields": [], "whole": True},
    ],
    "origin_unknown": [],
}


ANEW = ("--confirm", "new acme/teams/legacy")


def document(run: Run, directory: Path, command: str, *flags: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(command, "-C", str(directory), "--format", "json", *flags).out)
    jsonschema.validate(found, json.loads((SCHEMAS / f"{command}.schema.json").read_text()))
    return found


def test_a_plan_separates_what_this_change_does_from_drift(
    run: Run, platform: ThreadedServer, pull_request: Path
) -> None:
    at_the_browser(platform)
    ended = run("plan", "-C", str(pull_request), *ANEW)
    assert ended.code == 0, ended.out + ended.err
    found = document(run, pull_request, "plan", *ANEW)
    text = ended.out.replace(found["plan"]["base"][:12], "COMMIT").replace(found["digest"][:32], "DIGEST")
    golden("causes.txt", text)
    assert found["groups"] == GROUPS


def test_drift_tells_the_same_two_parts_of_the_same_things(
    run: Run, platform: ThreadedServer, pull_request: Path
) -> None:
    at_the_browser(platform)
    groups = document(run, pull_request, "drift")["groups"]
    for name, items in GROUPS.items():
        fields = {item["address"]: item["fields"] for item in groups[name]}
        assert fields.keys() == {item["address"] for item in items}
        assert fields.get("acme/sites/docs") in (["title"], ["visibility"], None)
    text = run("drift", "-C", str(pull_request)).out
    first, _, then = text.partition("What this change does:")
    assert "Drift that was there already:" in first
    for said in ('"public"  (changed outside)', "is not live  (deleted outside)", "(made outside)"):
        assert said in first
    for said in ("(edited here)", "is not live  (added here)", "(removed here)"):
        assert said in then


def test_nothing_more_is_asked_of_the_platform(
    run: Run, platform: ThreadedServer, pull_request: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_browser(platform)
    platform.app.requests.clear()
    run("plan", "-C", str(pull_request), "--base", "main")
    with_base = len(asked(platform))
    platform.app.requests.clear()
    git(pull_request, "update-ref", "-d", "refs/remotes/origin/main")
    assert "base: none" in run("plan", "-C", str(pull_request)).out
    assert len(asked(platform)) == with_base


def test_after_the_merge_the_approved_plan_is_applied_and_what_was_edited_is_live(
    run: Run, platform: ThreadedServer, pull_request: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_the_browser(platform)
    approved = document(run, pull_request, "plan", *ANEW)["digest"]
    before = git(pull_request, "rev-parse", "main")
    git(pull_request, "switch", "-q", "main")
    git(pull_request, "commit", "-q", "--allow-empty", "-m", "somebody else was faster")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": git(pull_request, "rev-parse", "HEAD")}))
    git(pull_request, "merge", "-q", "--no-ff", "-m", "merged", "topic")
    monkeypatch.delenv("GITHUB_BASE_REF")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    merged = document(run, pull_request, "plan", *ANEW)
    assert merged["plan"]["base"] not in (None, before)
    assert merged["plan"]["base_from"] == "the commit before the push"
    ended = run("apply", "-C", str(pull_request), "--yes", "--approved", approved, *ANEW)
    assert ended.code == 0, ended.out + ended.err
    done = document(run, pull_request, "plan")
    assert (done["plan"]["changes"], done["plan"]["same_edit_twice"]) == ([], ["acme/sites/docs#title"])
    assert "same edit twice: 1 field live already" in run("plan", "-C", str(pull_request)).out


def test_what_was_merged_and_not_applied_is_not_blamed_on_anybody(
    run: Run, platform: ThreadedServer, pull_request: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_browser(platform)
    monkeypatch.delenv("GITHUB_BASE_REF")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "schedule")
    text = run("drift", "-C", str(pull_request)).out
    assert "base: HEAD" in text
    assert '"Acme documentation"  (not applied yet)' in text
    assert '"public"  (changed outside)' in text
    assert 'the team "New" is not live  (not applied yet)' in text
    assert 'the team "Legacy" is not live  (deleted outside)' in text
    assert 'the team "Sales" is live and not in the files, 2 more go with it  (not applied yet)' in text
    assert "What this change does" not in text


def test_what_only_the_past_needed_cannot_be_compared(
    run: Run, platform: ThreadedServer, project: Project
) -> None:
    directory = project(FILE.replace("Acme Docs", "'${OLD}'").replace("public", "'${PAST}'"))
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "with a variable")
    project(FILE.replace("Acme Docs", "Other").replace("visibility: public", "visibility: unlisted"))
    plan = document(run, directory, "plan")["plan"]
    (change,) = plan["changes"]
    assert plan["base"] is not None
    assert {item["field"]: item["cause"] for item in change["differences"]} == {
        "title": "origin unknown", "visibility": "origin unknown",
    }  # fmt: skip


def test_what_was_committed_for_the_first_time_is_not_blamed_on_anybody(
    run: Run, platform: ThreadedServer, project: Project, tmp_path: Path
) -> None:
    directory = project(FILE.replace("legacy: {", "new: { title: New, new: true }\n      legacy: {"))
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "the first")
    assert '+ new  new team "New"  (not applied yet)' in run("plan", "-C", str(directory)).out
    # Where a clone lacks what was before, nobody can tell.
    git(directory, "commit", "-q", "--allow-empty", "-m", "another")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{directory}", str(tmp_path / "shallow"))
    assert '+ new  new team "New"  (deleted outside)' in run("plan", "-C", str(tmp_path / "shallow")).out
    # Once applied, it was deleted by somebody.
    assert run("apply", "-C", str(directory), "--yes").code == 0
    team = next(one for one in asked_teams(platform) if one["title"] == "New")
    change(platform, f"/orgs/acme/teams/{team['id']}", "DELETE")
    anew = run("plan", "-C", str(directory), "--confirm", "new acme/teams/new").out
    assert '+ new  new team "New"  (deleted outside)' in anew


def asked_teams(platform: ThreadedServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = by_hand(platform, "GET", "/orgs/acme/teams")["items"]
    return found
