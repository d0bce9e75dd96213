"""`dpsync history` lists the applies of a checkout, and `dpsync revert --last` reverts the last apply."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.cli.test_show_journal import newest
from tests.planner.lab import world

Project = Callable[..., Path]
TITLES = ("One", "Two", "Three")
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      writers: {{ id: w, title: {title} }}
"""


@pytest.fixture
def applied_project(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return a project that was applied three times, each time with another team title."""
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("DPSYNC_TOKEN", "token")
    platform.reset(world(teams=[{"id": "w", "title": "Writers"}]))
    for title in TITLES:
        directory = project(TEXT.format(title=title))
        assert run("apply", "-C", str(directory), "--yes").code == 0
    return directory


def team_title(platform: ThreadedServer) -> str:
    return str(by_hand(platform, "GET", "/orgs/acme/teams/w", None, "token")["title"])


def history_entries(run: Run, directory: Path) -> list[dict[str, object]]:
    ended = run("history", "-C", str(directory), "--format", "json")
    assert ended.code == 0
    return list(json.loads(ended.out)["applies"])


def test_history_lists_applies_newest_first(run: Run, applied_project: Path) -> None:
    entries = history_entries(run, applied_project)
    journals = sorted((applied_project / ".dpsync" / "journal").glob("*.jsonl"), reverse=True)
    assert sorted(str(entry["journal"]) for entry in entries) == sorted(path.name for path in journals)
    began = [str(entry["began"]) for entry in entries]
    assert began == sorted(began, reverse=True)
    assert {(e["user"], e["changes"], e["result"], e["exit"]) for e in entries} == {("ada", 1, "complete", 0)}


def test_history_text_has_a_line_for_each_apply(run: Run, applied_project: Path) -> None:
    lines = run("history", "-C", str(applied_project)).out.splitlines()
    assert [line.split("  ")[1:5] for line in lines] == [
        ["ada", "acme", "1 changed: acme/teams/writers", "complete"]
    ] * 3


def test_history_names_deleted_object_and_counts_cascade(
    run: Run, applied_project: Path, project: Project, platform: ThreadedServer
) -> None:
    """The report of the apply counts the team and its member."""
    by_hand(platform, "PUT", "/orgs/acme/teams/w/members", {"add": ["ada"]}, "token")
    by_hand(platform, "PUT", "/orgs/acme/teams", {"title": "Sales"}, "token")
    policy = "policy: { prune: [teams], removed: ['teams/[Three]'], limits: { percent: 100 } }\n"
    project(f"{TEXT.partition('      writers')[0]}      sales: {{ title: Sales }}\n{policy}")
    applied = run("apply", "-C", str(applied_project), "--yes")
    assert "Applied: 2 deleted" in applied.out
    line, *_ = run("history", "-C", str(applied_project)).out.splitlines()
    assert line.split("  ")[3] == "2 deleted: acme/teams/[Three] and 1 more"


def test_history_without_journals_prints_no_applies(run: Run, project: Project) -> None:
    ended = run("history", "-C", str(project(TEXT.format(title="One"))))
    assert (ended.code, ended.out.startswith("No past runs of dpsync apply: ")) == (0, True)


def test_second_revert_last_reverts_older_apply(
    run: Run, applied_project: Path, platform: ThreadedServer
) -> None:
    assert run("revert", "--last", "-C", str(applied_project), "--yes").code == 0
    assert team_title(platform) == "Two"
    assert run("revert", "--last", "-C", str(applied_project), "--yes").code == 0
    assert team_title(platform) == "One"


@pytest.fixture
def two_teams_applied(
    run: Run, project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return a project with two applies of two team titles. The second apply also deleted a team."""
    monkeypatch.setenv("DPSYNC_TOKEN", "token")
    names = ("w", "x", "y")
    policy = "policy: { limits: { deletes: 9, percent: 99 }, prune: [teams], removed: ['teams/[y]'] }\n"
    platform.reset(world(teams=[{"id": name, "title": name} for name in names]))
    for title in TITLES[:2]:
        others = f"      x: {{ id: x, title: {title} x }}\n"
        others += "      y: { id: y, title: y }\n" if title == "One" else ""
        directory = project(TEXT.format(title=title) + others + policy)
        assert run("apply", "-C", str(directory), "--yes").code == 0
    return directory


def team_titles(platform: ThreadedServer) -> list[str]:
    found = by_hand(platform, "GET", "/orgs/acme/teams", None, "token")
    return sorted(str(team["title"]) for team in found["items"])


def test_revert_last_finishes_partial_revert_first(
    run: Run, two_teams_applied: Path, platform: ThreadedServer
) -> None:
    """Otherwise, the second revert changes objects back to values before an older apply."""
    revert = ("revert", "--last", "-C", str(two_teams_applied), "--yes")
    run(*revert, "--select", "acme/teams/writers")
    assert team_titles(platform) == ["One", "Two x"]
    assert [entry["reverted_by"] for entry in history_entries(run, two_teams_applied)] == [None] * 3
    run(*revert)
    assert team_titles(platform) == ["One", "One x", "y"]
    finished, _, apply, _ = history_entries(run, two_teams_applied)
    assert apply["reverted_by"] == finished["journal"]
    run(*revert)
    assert team_titles(platform) == ["w", "x", "y"]


def test_revert_last_after_killed_revert_targets_same_apply(
    run: Run, two_teams_applied: Path, platform: ThreadedServer
) -> None:
    """The journal of a killed revert does not say whether the revert made all changes."""
    revert = ("revert", "--last", "-C", str(two_teams_applied), "--yes")
    run(*revert)
    journal = newest(two_teams_applied)
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if json.loads(line)["event"] not in ("end", "exit")))
    assert [entry["reverted_by"] for entry in history_entries(run, two_teams_applied)] == [None] * 3
    *_, older, result = run(*revert).out.splitlines()
    assert older == f"To list older applies: dpsync history -C {two_teams_applied}"
    assert result.startswith("No changes.")
    assert team_titles(platform) == ["One", "One x", "y"]


def test_history_links_apply_with_revert(run: Run, applied_project: Path) -> None:
    reverted = newest(applied_project).name
    assert run("revert", "--last", "-C", str(applied_project), "--yes").code == 0
    revert, apply, *others = history_entries(run, applied_project)
    assert (revert["reverts"], apply["journal"]) == (reverted, reverted)
    assert apply["reverted_by"] == revert["journal"]
    assert [other["reverted_by"] for other in others] == [None, None]


@pytest.mark.usefixtures("platform")
def test_revert_last_without_applies_exits_5(run: Run, project: Project) -> None:
    ended = run("revert", "--last", "-C", str(project(TEXT.format(title="One"))), "--yes")
    assert ended.code == 5
    assert "error[DP155]: nothing to revert" in ended.err


def test_revert_last_rejects_damaged_newest_journal(
    run: Run, applied_project: Path, platform: ThreadedServer
) -> None:
    """Otherwise, an older apply is reverted in place of the last one."""
    with newest(applied_project).open("a") as journal:
        journal.write("damaged\n")
    ended = run("revert", "--last", "-C", str(applied_project), "--yes")
    assert (ended.code, team_title(platform)) == (5, "Three")
    assert "error[DP144]: dpsync cannot tell which apply is the newest" in ended.err
    assert [entry["problem"] is None for entry in history_entries(run, applied_project)] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("arguments", [(), ("--last", "FILE")], ids=["neither", "both"])
def test_revert_requires_either_file_or_last(
    run: Run, applied_project: Path, arguments: tuple[str, ...]
) -> None:
    ended = run("revert", *arguments, "-C", str(applied_project), "--yes")
    assert ended.code == 64
    assert "pass the journal of an apply (see dpsync history), or use --last" in ended.err


@pytest.mark.parametrize("name", ["undo", "rollback"])
def test_undo_and_rollback_suggest_revert_command(run: Run, name: str) -> None:
    ended = run(name)
    assert ended.code == 64
    assert f'There is no command "{name}". Did you mean `dpsync revert`?' in ended.err


def test_incomplete_revert_exits_3(run: Run, applied_project: Path, platform: ThreadedServer) -> None:
    """The team title was changed by hand after the apply."""
    by_hand(platform, "PATCH", "/orgs/acme/teams/w", {"title": "By hand"}, "token")
    ended = run("revert", "--last", "-C", str(applied_project), "--yes")
    assert (ended.code, team_title(platform)) == (3, "By hand")
    assert "Not reverted: somebody has changed this field since the apply" in ended.out
    assert (
        ended.out.splitlines()[-1]
        == "No changes. dpsync does not revert acme/teams/writers#title, see above."
    )
