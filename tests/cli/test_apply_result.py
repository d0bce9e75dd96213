"""The end of an apply: one line of result, with everything that went wrong above it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.terminal import Terminal, environment

Project = Callable[..., Path]
HEAD = "dpsync: 1\npolicy: { prune: [teams], removed: ['teams/[Legacy]', 'teams/[Sales]'] }\n"
UNNAMED = "dpsync: 1\npolicy: { prune: [teams] }\n"
LEGACY = ("--confirm", "delete acme/teams/[Legacy]")
SALES = ("--confirm", "delete acme/teams/[Sales]")
MORE = """\
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Writers, id: writers }
      reviewers: { title: Reviewers }
      support: { title: Support }
"""
LESS = """\
organizations:
  acme:
    id: acme
    teams: { writers: { title: Technical writers }, reviewers: { title: Reviewers }, sales: { title: Sales } }
"""
MASKED = re.compile(r", in \d+ s\b")


def ended(printed: str) -> list[str]:
    """Return the lines below the plan, without the time that the apply took."""
    _, _, below = MASKED.sub("", printed).rpartition("Plan: ")
    return below.splitlines()[1:]


def after_steps(printed: str) -> list[str]:
    """Return the lines below the steps of an apply."""
    return [
        line
        for line in ended(printed)
        if not re.match(r"\[\d+/\d+\] |digest |base: |not compared: ", line) and line
    ]


@pytest.mark.usefixtures("platform")
def test_apply_result_is_single_line(run: Run, project: Project) -> None:
    printed = run("apply", "-C", str(project(HEAD + MORE)), "--yes").out
    assert after_steps(printed) == [
        "Applied: 1 created, 1 changed, 3 deleted. Verified: a new plan has no changes."
    ]


@pytest.mark.parametrize("flag", ["-v", "--format=json"])
def test_apply_shows_journal_path_with_verbose_or_json(
    flag: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    printed = run("apply", "-C", str(project(HEAD + MORE)), "--yes").out
    platform.reset()
    detailed = run("apply", "-C", str(project(HEAD + MORE)), "--yes", flag).out
    assert [".jsonl" in text for text in (printed, detailed)] == [False, True]


@pytest.mark.usefixtures("platform")
def test_apply_steps_are_printed_to_stdout_in_order(run: Run, project: Project) -> None:
    """Otherwise, a log shows steps above the plan, because stderr is not buffered."""
    ran = run("apply", "-C", str(project(HEAD + MORE)), "--yes", "--parallelism", "1")
    steps = [line for line in ended(ran.out) if line.startswith("[")]
    assert [line.split()[0] for line in steps] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert steps[-1] == "[4/4] acme/teams/[Sales] delete"
    assert ran.err == ""


@pytest.mark.usefixtures("platform")
def test_apply_without_changes_prints_empty_plan(run: Run, project: Project) -> None:
    directory = str(project("dpsync: 1\n" + LESS))
    planned = run("plan", "-C", directory).out
    applied = run("apply", "-C", directory, "--yes")
    assert (applied.code, applied.out) == (0, planned)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ((), 4),
        (("--yes",), 4),
        (("--approved", "0" * 32, *LEGACY, *SALES), 4),
        (("--yes", "--env", "nowhere"), 5),
    ],
    ids=["nobody to ask", "refused", "another plan approved", "unknown environment"],
)
@pytest.mark.usefixtures("platform")
def test_refused_apply_ends_with_not_applied_message(
    flags: tuple[str, ...], code: int, run: Run, project: Project
) -> None:
    directory = str(project(UNNAMED + MORE))
    ran = run("apply", "-C", directory, *flags)
    assert ran.code == code
    assert (ran.err or ran.out).splitlines()[-1] == "Nothing was applied."


@pytest.mark.usefixtures("platform")
def test_failed_apply_prints_plan_once(run: Run, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, whoever looks for the reason of a failure reads the same plan twice."""
    monkeypatch.setenv("DPSYNC_TOKEN", "rui-token")  # may read, and not write
    ran = run("apply", "-C", str(project("dpsync: 1\n" + MORE)), "--yes")
    assert (ran.code, ran.out.count("\nPlan: ")) == (3, 1)
    assert ran.out.splitlines()[-1].startswith("Nothing was applied: 2 steps failed.")


def test_terminal_progress_lines_are_erased_after_apply(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    command = [programs / "dpsync", "apply", "--yes", "-C", project(HEAD + MORE), "--color", "never"]
    with Terminal(command, environment(platform, tmp_path)) as terminal:
        code, printed = terminal.end()
    left = [line.rpartition("\r")[2] for line in printed.rstrip("\n").split("\n")]
    assert (code, [line for line in left if line.startswith("[")]) == (0, [])
    assert left[-1].startswith("Applied: 1 created, 1 changed, 3 deleted, in ")
    assert printed.count("\nPlan: ") == 1


@pytest.mark.usefixtures("platform")
def test_apply_report_tells_where_to_copy_share_links(run: Run, project: Project) -> None:
    """The URL of a share link contains a secret, so no output of dpsync has it."""
    links = "      docs: { id: docs, title: Acme Docs, shareLinks: { partners: {}, press: {} } }\n"
    at = project(f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    sites:\n{links}")
    applied = run("apply", "-C", str(at), "--yes")
    assert applied.code == 0, applied
    hint = (
        "To copy the URLs of acme/sites/docs/shareLinks/partners, acme/sites/docs/shareLinks/press, open the "
        "audience settings of the site in GitBook. dpsync does not print the URLs, because a share link "
        "contains a secret."
    )
    assert after_steps(applied.out)[0] == hint
    journal = next((at / ".dpsync" / "journal").glob("*.jsonl"))
    assert hint in run("show", str(journal), "--format", "markdown").out.replace("`", "")
