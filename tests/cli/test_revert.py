"""`dpsync revert`: shown, asked about, carried out and recorded like any other plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.cli.test_git_base import git
from tests.cli.test_plan_and_apply import writes
from tests.cli.test_show_journal import newest

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
policy: { limits: { deletes: 5, percent: 100 } }
organizations:
  acme:
    id: acme
    teams:
      writers: { id: writers, title: Authors }
"""


@pytest.fixture
def applied(run: Run, project: Project, platform: ThreadedServer) -> Path:
    """Return a project whose apply has changed the title of a team."""
    at = project(TEXT)
    assert run("apply", "-C", str(at), "--yes").code == 0
    platform.app.requests.clear()
    return at


def title(platform: ThreadedServer) -> str:
    found = by_hand(platform, "GET", "/orgs/acme/teams/writers", None, "ada-token")
    return str(found["title"])


def test_revert_writes_a_second_journal(run: Run, applied: Path, platform: ThreadedServer) -> None:
    first = newest(applied)
    ended = run("revert", str(first), "-C", str(applied), "--yes")
    assert ended.code == 0, ended
    assert title(platform) == "Technical writers"
    second = newest(applied)
    assert second != first
    assert run("revert", str(second), "-C", str(applied), "--yes").code == 0
    assert title(platform) == "Authors"


def test_no_input_revert_shows_plan_without_writing(
    run: Run, applied: Path, platform: ThreadedServer
) -> None:
    ended = run("revert", str(newest(applied)), "-C", str(applied), "--no-input")
    assert ended.code == 4
    assert "Plan: 1 to change." in ended.out
    assert writes(platform) == []


def test_revert_writes_no_configuration_file(run: Run, applied: Path) -> None:
    before = {path: path.read_bytes() for path in applied.glob("*.yaml")}
    run("revert", str(newest(applied)), "-C", str(applied), "--yes")
    assert {path: path.read_bytes() for path in applied.glob("*.yaml")} == before


def test_revert_warns_about_lines_applied_again(run: Run, applied: Path) -> None:
    ended = run("revert", str(newest(applied)), "-C", str(applied), "--yes", "-v")
    assert (
        "dpsync.yaml:7 still contains the value that the apply wrote, "
        "so the next apply writes this value again" in ended.out
    )


def test_revert_applies_only_the_approved_plan(run: Run, applied: Path, platform: ThreadedServer) -> None:
    file = str(newest(applied))
    shown = json.loads(run("revert", file, "-C", str(applied), "--no-input", "--format", "json").out)
    wrong = run("revert", file, "-C", str(applied), "--approved", "0" * 32)
    assert (wrong.code, writes(platform)) == (4, [])
    assert run("revert", file, "-C", str(applied), "--approved", shown["plan"]["digest"]).code == 0


def test_revert_of_saved_plan_restores_title(run: Run, project: Project, platform: ThreadedServer) -> None:
    at = str(project(TEXT))
    assert run("plan", "-C", at, "--out", "plan.json").code == 0
    assert run("apply", "plan.json", "-C", at, "--yes").code == 0
    assert run("revert", "plan.json", "-C", at, "--yes").code == 0
    assert title(platform) == "Technical writers"


def test_revert_keeps_title_of_excluded_team(run: Run, applied: Path, platform: ThreadedServer) -> None:
    ended = run("revert", str(newest(applied)), "-C", str(applied), "--yes", "--exclude", "teams/writers")
    assert (ended.code, title(platform)) == (0, "Authors")


def test_revert_of_journal_from_other_platform_is_refused(
    run: Run, applied: Path, platform: ThreadedServer
) -> None:
    file = newest(applied)
    file.write_text(file.read_text().replace(platform.url, "https://api.acme.example"))
    ended = run("revert", str(file), "-C", str(applied), "--yes")
    assert ended.code == 4
    assert "error[DP145]" in ended.err
    assert writes(platform) == []


@pytest.mark.parametrize(("name", "code"), [("gone.jsonl", "DP143"), ("dpsync.yaml", "DP143")])
def test_revert_of_invalid_journal_file_exits_5(name: str, code: str, run: Run, applied: Path) -> None:
    ended = run("revert", name, "-C", str(applied), "--yes")
    assert ended.code == 5
    assert f"error[{code}]" in ended.err


def test_incomplete_revert_ends_with_unreverted_field(
    run: Run, project: Project, platform: ThreadedServer
) -> None:
    """Otherwise, the report says that all changes were made, and the exit code says the opposite."""
    at = str(project(TEXT + "      sales: { id: sales, title: Selling }\n"))
    assert run("apply", "-C", at, "--yes").code == 0
    by_hand(platform, "PATCH", "/orgs/acme/teams/writers", {"title": "By hand"}, "ada-token")
    ended = run("revert", "--last", "-C", at, "--yes")
    shown = run("show", str(newest(Path(at))), "-C", at)
    for one in (ended, shown):
        assert one.code == 3
        result = one.out.splitlines()[-1]
        assert "Incomplete: dpsync does not revert acme/teams/writers#title, see above." in result


def test_second_revert_of_same_apply_has_no_changes(run: Run, applied: Path) -> None:
    """The live values differ from the files after a revert."""
    file = str(newest(applied))
    assert run("revert", file, "-C", str(applied), "--yes").code == 0
    ended = run("revert", file, "-C", str(applied), "--yes")
    older = f"To list older applies: dpsync history -C {applied}"
    nothing = "No changes. Nothing of this apply is left to revert."
    assert (ended.code, ended.out.splitlines()) == (0, [older, nothing])


@pytest.mark.usefixtures("platform")
def test_revert_of_delete_prints_next_steps(run: Run, project: Project) -> None:
    """The revert restores the team without its member; the next steps restore the member as well."""
    teams = "      sales: { title: Sales, members: { grace@acme.example: { role: member } } }\n"
    at = project(TEXT + teams)
    assert run("apply", "-C", str(at), "--yes").code == 0
    project(TEXT.replace("{ deletes: 5,", "{ deletes: 9,").replace("policy: {", "policy: { prune: [teams],"))
    names = ("Legacy", "Reviewers", "Sales")
    confirm = [word for name in names for word in ("--confirm", f"delete acme/teams/[{name}]")]
    pruned = run("apply", "-C", str(at), "--yes", *confirm)
    assert "deleted" in pruned.out, pruned
    ended = run("revert", "--last", "-C", str(at), "--yes")
    assert ended.code == 3
    *_, hint, result = ended.out.splitlines()
    assert "Incomplete: dpsync does not revert" in result
    assert hint == (
        "To keep the restored objects, undo the change in your files (git log -p shows the commits, and git "
        f"revert undoes a commit), or add the entries again. Then run dpsync apply -C {at}. The apply "
        "recognizes the restored objects, and changes everything else in GitBook to match your files, such "
        "as the members of a team."
    )
    project(TEXT + teams)
    again = run("apply", "-C", str(at), "--yes")
    assert "Applied: 1 created" in again.out, again
    assert "Verified: a new plan has no changes." in again.out


@pytest.mark.usefixtures("platform")
def test_revert_of_removed_entry_names_command_for_commit(run: Run, project: Project) -> None:
    """A command with a placeholder, such as `git revert COMMIT`, fails when somebody copies it."""
    text = TEXT.replace("policy: {", "policy: { prune: [teams],")
    at = project(text + "      sales: { title: Sales, new: true }\n")
    git(at, "init", "-q", "-b", "main")
    git(at, "add", "-A")
    git(at, "commit", "-qm", "Add sales")
    others = [
        word for name in ("Legacy", "Reviewers") for word in ("--confirm", f"delete acme/teams/[{name}]")
    ]
    first = run("apply", "-C", str(at), "--yes", *others)
    assert first.code == 0, first
    project(text)
    git(at, "commit", "-qam", "Remove sales")
    second = run("apply", "-C", str(at), "--yes", "--confirm", "delete 2")
    assert second.code == 0, second
    ended = run("revert", "--last", "-C", str(at), "--no-input")
    assert (
        "undo the commit that removed the entry (to find the commit: git log -p -- dpsync.yaml)" in ended.out
    )
    assert "COMMIT" not in ended.out
