"""A person at a terminal is asked whether to apply a plan. The terminal is a real one."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.cli.applying import exit_code_without_apply
from dpsync.cli.output import interactive
from dpsync.model.change import Change
from dpsync.model.diagnostic import Exit
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.test_drift import change
from tests.patience import PATIENCE

DELETING = """
dpsync: 1
policy: { prune: [teams], limits: { deletes: 9, percent: 100 }, removed: ['teams/[Legacy]'] }
organizations:
  acme:
    id: acme
    teams: { writers: { title: Technical writers }, reviewers: { title: Reviewers }, sales: { title: Sales } }
"""
"""A plan that deletes an empty team, and asks nothing else."""


def ask(
    directory: Path,
    server: ThreadedServer,
    answer: str,
    tmp_path: Path,
    programs: Path,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[int, str, str]:
    """Run apply with a terminal as stdin and stderr, type the answer, return code, stdout and the talk.

    `meanwhile` happens while it waits for the answer.
    """
    ours, theirs = pty.openpty()
    own = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "XDG_STATE_HOME": str(tmp_path / "state")}
    env = {name: value for name, value in os.environ.items() if name != "CI"} | own
    command = [programs / "dpsync", "apply", "-C", str(directory), "--color", "never"]
    process = subprocess.Popen(
        command, env=env, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, close_fds=True
    )
    os.close(theirs)
    said = b""
    while b"[y/N] " not in said:
        said += os.read(ours, 65536)
    meanwhile()
    os.write(ours, f"{answer}\n".encode())
    out, _ = process.communicate(timeout=PATIENCE)
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:
        pass  # the other side is closed: everything has been read
    os.close(ours)
    return process.returncode, out, said.decode()


@pytest.mark.parametrize(("answer", "code", "left"), [("y", 0, 0), ("n", 4, 26), ("", 4, 26)])
def test_apply_at_terminal_needs_confirmation(
    answer: str, code: int, left: int, example: Path, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    ended, out, said = ask(example, platform, answer, tmp_path, programs)
    writes = sum(method != "GET" for method, _, *_ in platform.app.requests)
    assert (ended, 26 - writes) == (code, left)
    assert f"Apply these changes to acme on {platform.url}? [y/N] " in said
    assert ("Nothing was applied." in out) == (code == 4)
    assert ("Verified: a new plan has no changes." in out) == (code == 0)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 4), ("1", 4), ("delete 1", 4)])
def test_delete_at_terminal_is_confirmed_only_by_y(
    answer: str, code: int, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "dpsync.yaml").write_text(DELETING)
    ended, out, said = ask(tmp_path / "project", platform, answer, tmp_path, programs)
    assert ended == code, out
    assert f"Apply these changes to acme on {platform.url}? [y/N] " in said


@pytest.mark.parametrize(
    ("value", "asked"),
    [(None, True), ("", True), ("0", True), ("false", True), ("1", False), ("true", False)],
)
def test_prompts_are_disabled_in_ci(value: str | None, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("sys.stdin", "sys.stderr"):
        monkeypatch.setattr(f"{stream}.isatty", lambda: True)
    monkeypatch.delenv("CI", raising=False)
    if value is not None:
        monkeypatch.setenv("CI", value)
    assert interactive(no_input=False) == asked
    assert not interactive(no_input=True)


def test_refused_plan_exits_without_prompt() -> None:
    change = Change(address="acme/teams/a", kind="team", action="create")
    refusal = Refusal(code="limits", address="acme", message="too many", way_out="fewer")
    assert exit_code_without_apply(Plan(changes=(change,))) is None
    assert exit_code_without_apply(Plan(changes=(change,), refusals=(refusal,))) == Exit.REFUSED
    assert exit_code_without_apply(Plan(refusals=(refusal,))) == Exit.REFUSED


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/orgs/acme/teams/sales", {"title": "Renamed"}),  # what the plan changes
        ("/orgs/acme/teams/reviewers", {"title": "Renamed"}),  # what it has nothing to do for
    ],
)
def test_apply_rejects_plan_changed_after_confirmation(
    path: str, body: dict[str, str], platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    (tmp_path / "project").mkdir()
    text = DELETING.replace("Sales", "Selling").replace("sales: {", "sales: { id: sales,")
    (tmp_path / "project" / "dpsync.yaml").write_text(text.replace("prune: [teams], ", ""))

    def meanwhile() -> None:
        change(platform, path, **body)
        platform.app.requests.clear()

    ended, _, said = ask(tmp_path / "project", platform, "y", tmp_path, programs, meanwhile)
    assert (ended, "stale" in said) == (4, True)
    assert "error[stale]: the plan that you confirmed " in said
    assert "saved plan" not in said
    assert [entry for entry in platform.app.requests if entry[0] != "GET"] == []
