"""Check how a run reacts when a job is cancelled.

The runner signals only the process of the step, none of its children: SIGINT, then SIGTERM after 7.5
seconds, then SIGKILL after 2.5 more.

No test waits for these times: the platform keeps a write waiting, and each signal comes when the one before
it was taken.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpsync.github.plan_comment import PlanMarker, read_marker
from tests.cli.held import Held, holding
from tests.github.conftest import CONFIG, Workflow
from tests.github.runner import Step, read_outputs
from tests.github.test_drift import by_hand, check
from tests.github.tool_cache import action_in, script
from tests.patience import PATIENCE

TOOLS = Path(sys.executable).parent
TEAMS = "".join(f"      t{number}: {{ title: Team {number} }}\n" for number in range(4))
"""With the one of CONFIG five to create."""


@pytest.fixture
def held(workflow: Workflow) -> Iterator[tuple[Workflow, Held]]:
    """Yield a merged pull request of five creates, the third of which the platform holds."""
    with holding(3) as (server, app):
        there = replace(workflow, platform=server)
        there.commit(CONFIG + TEAMS)
        there.run("pull_request", there.request())
        there.github.merge(there.git("rev-parse", "HEAD"), 7)
        yield there, app


def start(workflow: Workflow, tmp_path: Path, **inputs: str) -> subprocess.Popen[str]:
    """Start a step of action.yml as the runner does."""
    given = {"api-url": workflow.platform.url, "api-token": "ada-token", "github-token": "token", **inputs}
    environment = {
        **os.environ, "PATH": f"{TOOLS}:/usr/bin:/bin", "CI": "true",
        "GITHUB_ACTION_PATH": str(action_in(tmp_path / "action")),
        "GITHUB_OUTPUT": str(tmp_path / "step"), "GITHUB_RUN_ID": "900",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "said"), "GITHUB_EVENT_NAME": "push",
        "GITHUB_REF": "refs/heads/main", "GITHUB_SHA": workflow.git("rev-parse", "HEAD"),
    }  # fmt: skip
    file = tmp_path / "script.sh"
    file.write_text(script(given))
    return subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(file)],
        cwd=workflow.folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def until(running: subprocess.Popen[str], wanted: str) -> str:
    """Return the output up to a line that contains `wanted`."""
    assert running.stdout is not None
    printed = ""
    while wanted not in printed:
        line = running.stdout.readline()
        assert line, printed
        printed += line
    return printed


def outputs(tmp_path: Path) -> dict[str, str]:
    return read_outputs((tmp_path / "step").read_text(encoding="utf-8"))


def events(workflow: Workflow) -> list[str]:
    (journal,) = (workflow.folder / ".dpsync" / "journal").glob("*.jsonl")
    return [json.loads(line)["event"] for line in journal.read_text().splitlines()]


def titles(workflow: Workflow) -> list[str]:
    found = workflow.ask("GET", "/v1/orgs/acme/teams")["items"]
    return sorted(team["title"] for team in found)


def finished(workflow: Workflow, app: Held, left: int) -> None:
    """Release the held write, and check that the next run creates the rest without duplicates."""
    app.let_go()
    again = workflow.run("push", command="apply", run_id="901")
    assert (again.outputs["outcome"], again.outputs["create"]) == ("applied", str(left))
    assert len(titles(workflow)) == len(set(titles(workflow))) == 9
    body = workflow.github.bodies(7)[0]
    assert f"**Applied: {left} created.** Verified" in body


def test_terminated_apply_reports_unanswered_write_as_unknown(
    held: tuple[Workflow, Held], tmp_path: Path
) -> None:
    workflow, app = held
    running = start(workflow, tmp_path, command="apply", **{"extra-args": "--parallelism\n1"})
    assert app.reached.wait(PATIENCE)
    running.send_signal(signal.SIGINT)
    printed = until(running, "Stopping: ")
    running.send_signal(signal.SIGTERM)
    printed += running.communicate(timeout=PATIENCE)[0]
    assert not app.is_let_go.is_set()
    assert running.returncode == 130
    assert Step().read(printed).stopped is None
    found = outputs(tmp_path)
    assert (found["outcome"], found["failure-reason"]) == ("partial", "interrupted")
    assert found["comment-url"].endswith("#issuecomment-1")
    assert events(workflow) == [
        "journal",
        "start",
        *["intent", "outcome"] * 3,
        "not-tried",
        "end",
        "exit",
    ]
    (body,) = workflow.github.bodies(7)
    marker = read_marker(body, PlanMarker)
    assert marker is not None
    assert marker.state == "applied"
    assert "**Applied: 2 created; 1 step unknown, 2 not tried.**" in body
    assert "Applied: 2 created; 1 step unknown" in (tmp_path / "said").read_text(encoding="utf-8")
    finished(workflow, app, 2)


def test_killed_apply_leaves_journal_and_unknown_outcome(held: tuple[Workflow, Held], tmp_path: Path) -> None:
    workflow, app = held
    before = workflow.github.bodies(7)
    running = start(workflow, tmp_path, command="apply", **{"extra-args": "--parallelism\n1"})
    assert app.reached.wait(PATIENCE)
    running.send_signal(signal.SIGINT)
    until(running, "Stopping: ")
    running.kill()
    running.communicate(timeout=PATIENCE)
    found = outputs(tmp_path)
    assert (found["outcome"], found["failure-reason"], found["exit-code"]) == (
        "unknown",
        "interrupted",
        "137",
    )
    assert events(workflow) == ["journal", "start", *["intent", "outcome"] * 2, "intent"]
    assert workflow.github.bodies(7) == before
    finished(workflow, app, 2)


def test_interrupted_apply_waits_for_sent_requests(held: tuple[Workflow, Held], tmp_path: Path) -> None:
    workflow, app = held
    workflow.github.git.push("main", {}, at=workflow.git("rev-parse", "HEAD"))
    more = {"extra-args": "--parallelism\n1\n--ids=dpsync.ids.yaml", "ids-file": "commit"}
    running = start(workflow, tmp_path, command="apply", **more)
    assert app.reached.wait(PATIENCE)
    running.send_signal(signal.SIGINT)
    until(running, "Stopping: ")
    app.let_go()
    running.communicate(timeout=PATIENCE)
    assert (running.returncode, outputs(tmp_path)["outcome"]) == (130, "partial")
    recorded = workflow.github.git.text("main", "dpsync.ids.yaml")
    assert recorded.count("\n    acme/teams/") == 4 + 3  # those that were there, and what was made
    assert "**Applied: 3 created; 2 steps not tried.**" in workflow.github.bodies(7)[0]


# While GitHub is told: in this process, the signals come from what GitHub is asked.


def at(wanted: str, *numbers: int) -> Callable[[str, str], None]:
    """Send signals when GitHub is asked for something for the first time."""
    left = list(numbers)

    def before(method: str, path: str) -> None:
        if f"{method} {path}".endswith(wanted):
            while left:
                os.kill(os.getpid(), left.pop(0))

    return before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_finishes_pull_request_comment(number: int, workflow: Workflow) -> None:
    workflow.github.before = at("/7/comments", number)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["outcome"]) == (0, "changes")
    assert ended.outputs["comment-url"].endswith("#issuecomment-1")
    assert 'team support "Support"' in workflow.github.bodies(7)[0]
    assert 'team support "Support"' in ended.summary


def test_interrupted_run_finishes_closing_issue(workflow: Workflow) -> None:
    workflow.commit(CONFIG.replace("      support: { title: Support }\n", ""))
    by_hand(workflow, "Acne")
    check(workflow)
    by_hand(workflow, "Acme")
    workflow.github.before = at("/1/comments", signal.SIGINT)
    assert check(workflow).outputs["outcome"] == "no-changes"
    (issue,) = workflow.github.issues.values()
    assert issue["state"] == "closed"


def test_second_signal_stops_reporting_but_sets_outputs(workflow: Workflow) -> None:
    workflow.github.before = at("POST /repos/acme/docs/issues/7/comments", signal.SIGINT, signal.SIGTERM)
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["outcome"], ended.outputs["comment-url"]) == (0, "changes", "")
    assert "may be incomplete" in ended.step.of("warning")[0].data
    assert 'team support "Support"' in ended.summary


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_before_apply_prevents_apply(number: int, workflow: Workflow) -> None:
    workflow.run("pull_request", workflow.request())
    workflow.github.merge(workflow.git("rev-parse", "HEAD"), 7)
    workflow.github.before = at("/pulls", number)
    ended = workflow.run("push", command="apply")
    assert (ended.code, ended.outputs["outcome"], ended.outputs["failure-reason"]) == (
        128 + number, "failed", "interrupted",
    )  # fmt: skip
    assert "$ dpsync" not in ended.printed
    assert "Support" not in titles(workflow)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_during_input_reading_prevents_apply(
    number: int, code: int, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsync.github.runner.read_inputs", lambda _: os.kill(os.getpid(), number))
    ended = workflow.run("push", command="apply", approval="none")
    assert (ended.code, ended.outputs["exit-code"]) == (code, str(code))
    assert (ended.outputs["outcome"], ended.outputs["failure-reason"]) == ("failed", "interrupted")
    assert "$ dpsync" not in ended.printed


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_plan_sends_no_request_to_github(
    number: int, code: int, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsync.workflows.session.Session.plan", lambda *_: os.kill(os.getpid(), number))
    ended = workflow.run("pull_request", workflow.request())
    assert (ended.code, ended.outputs["outcome"], ended.outputs["failure-reason"]) == (
        code, "failed", "interrupted",
    )  # fmt: skip
    assert workflow.github.asked == []
