"""An answer that nothing asks for is an error where nobody can be asked, and a note otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.terminal import Terminal, environment
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
START = "organizations:\n  acme:\n    id: acme\n"
NEW_TEAM = f"dpsync: 1\n{START}    teams: {{ new: {{ title: New }} }}\n"
UNNEEDED = "this plan needs no such confirmation"


TWO_DELETES = f"""\
dpsync: 1
policy: {{ prune: [teams/*/members], limits: {{ deletes: 1, percent: 100 }} }}
{START}    teams:
      sales: {{ title: Sales, members: {{}} }}
      writers: {{ title: Technical writers, members: {{ ada@acme.example: owner }} }}
"""


@pytest.mark.parametrize("command", ["plan", "apply --yes", "rehearse"])
def test_unneeded_confirm_without_terminal_exits_64(
    command: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    """Otherwise, an answer stays in a workflow, and agrees to the next plan that happens to ask for it."""
    ran = run(*command.split(), "-C", str(project(NEW_TEAM)), "--confirm", "delete 3")
    assert (ran.code, ran.out, writes(platform)) == (64, "", [])
    assert f'error[DP333]: --confirm "delete 3": {UNNEEDED}' in ran.err
    assert "remove this flag. The plan needs no other confirmation" in ran.err


@pytest.mark.parametrize("command", ["plan", "apply --yes", "rehearse"])
@pytest.mark.usefixtures("platform")
def test_unneeded_confirm_for_empty_plan_is_note(command: str, run: Run, project: Project) -> None:
    """Otherwise, a job that has done its work cannot be run again."""
    directory = str(project(f"dpsync: 1\n{START}"))
    ran = run(*command.split(), "-C", directory, "--confirm", "delete 3")
    assert (ran.code, UNNEEDED in ran.out) == (0, True)


@pytest.mark.usefixtures("platform")
def test_wrong_confirm_error_names_required_answer(run: Run, project: Project) -> None:
    """Otherwise, whoever runs an interrupted apply again with the same flags does not know what to say."""
    directory = str(project(TWO_DELETES))
    refused = run("apply", "-C", directory, "--yes", "--confirm", "delete 9")
    assert refused.code == 64
    assert 'remove this flag. This plan needs --confirm "delete 2"' in refused.err
    assert run("apply", "-C", directory, "--yes", "--confirm", "delete 2").code == 0


def test_unneeded_confirm_at_terminal_is_note(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    command = [programs / "dpsync", "plan", "-C", project(NEW_TEAM), "--confirm", "delete 3"]
    with Terminal(command, environment(platform, tmp_path)) as terminal:
        code, printed = terminal.end()
    assert (code, UNNEEDED in printed) == (0, True)


def test_saved_plan_keeps_only_needed_confirm_answers(
    run: Run, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    """Otherwise, a plan that was saved at a terminal is refused in a workflow."""
    directory = project(NEW_TEAM)
    command = [programs / "dpsync", "plan", "-C", directory, "--confirm", "delete 3", "--out", "saved"]
    with Terminal(command, environment(platform, tmp_path)) as terminal:
        assert terminal.end()[0] == 0
    assert json.loads((directory / "saved").read_text())["plan"]["confirmed"] == []
    assert run("apply", "saved", "-C", str(directory), "--yes").code == 0


@pytest.mark.usefixtures("platform")
def test_saved_plan_with_needed_confirm_is_applied(run: Run, project: Project) -> None:
    directory = project(TWO_DELETES)
    assert run("plan", "-C", str(directory), "--confirm", "delete 2", "--out", "saved").code == 0
    assert run("apply", "saved", "-C", str(directory), "--yes").code == 0


def test_unneeded_confirm_for_revert_exits_64(run: Run, project: Project, platform: ThreadedServer) -> None:
    directory = str(project(NEW_TEAM))
    assert run("apply", "-C", directory, "--yes").code == 0
    platform.app.requests.clear()
    ran = run("revert", "--last", "-C", directory, "--yes", "--confirm", "restructure acme/sites/docs")
    assert (ran.code, writes(platform)) == (64, [])
