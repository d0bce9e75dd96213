"""What a person types about deletes at a terminal, and each thing once. The terminal is a real one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.terminal import apply
from tests.cli.test_git_base import git
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
TITLES = {"writers": "Technical writers", "reviewers": "Reviewers", "sales": "Sales", "legacy": "Legacy"}
EMPTY, FULL = "legacy", "reviewers"
"""A team without members, and one with a member."""
AGREE = ("Apply these changes to acme on {url}? [y/N] ", "y")
COUNT = (
    'Delete team reviewers and 1 membership in acme on {url}? This cannot be undone. '
    "Type the number of deletes (2): ",
    "2",
)  # fmt: skip
COUNT_ALL = ("Type the number of deletes (3): ", "3")
NAME = ("type the address (acme/teams/[Legacy]): ", "acme/teams/[Legacy]")


def files(*teams: str, policy: str = "prune: [teams]") -> str:
    """Return a root file that declares some of the teams."""
    entries = "\n".join(f"      {key}: {{ title: {TITLES[key]} }}" for key in teams)
    return (
        f"dpsync: 1\npolicy: {{ {policy} }}\norganizations:\n  acme:\n    id: acme\n    teams:\n{entries}\n"
    )


def changed(project: Project, before: str, after: str) -> Path:
    """Return a checkout whose HEAD has one root file, and whose directory has another one."""
    directory = project(before)
    git(directory, "init", "-q", "-b", "main")
    git(directory, "add", "dpsync.yaml")
    git(directory, "commit", "-q", "-m", "Declare the teams")
    return project(after)


CASES: dict[str, tuple[str, str, Sequence[tuple[str, str]], Sequence[str], str]] = {
    "removed and empty": (
        files(*TITLES), files("writers", "reviewers", "sales"), [AGREE], [], "Applied: 1 deleted, in ",
    ),
    "removed with a member": (
        files(*TITLES), files("writers", "sales", "legacy"), [COUNT], ["delete 2"], "Applied: 2 deleted, in ",
    ),
    "removed above the limits": (
        files(*TITLES, policy="prune: [teams], limits: { deletes: 0 }"),
        files("writers", "reviewers", "sales", policy="prune: [teams], limits: { deletes: 0 }"),
        [("Type the number of deletes (1): ", "1")], ["delete 1"], "Applied: 1 deleted, in ",
    ),
    "never declared": (
        files("writers", "reviewers", "sales"), files("writers", "reviewers", "sales"), [NAME, AGREE],
        ["delete acme/teams/[Legacy]"], "Applied: 1 deleted, in ",
    ),
    "removed and never declared": (
        files("writers", "reviewers", "sales"), files("writers", "sales"), [NAME, COUNT_ALL],
        ["delete acme/teams/[Legacy]", "delete 3"], "Applied: 3 deleted, in ",
    ),
    "named in the policy": (
        files("writers", "reviewers", "sales"),
        files("writers", "reviewers", "sales", policy="prune: [teams], removed: ['teams/[Legacy]']"),
        [AGREE], [], "Applied: 1 deleted, in ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_delete_is_confirmed_once_at_terminal(
    case: str, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    """Otherwise, people learn to type y or a number without reading what it is for."""
    before, after, prompts, _, result = CASES[case]
    with apply(changed(project, before, after), platform, tmp_path, programs) as terminal:
        code, printed = terminal.answer((prompt.format(url=platform.url), typed) for prompt, typed in prompts)
    assert code == 0, printed
    assert printed.splitlines()[-1].startswith(result)
    asked = [line for line in printed.splitlines() if "[y/N]" in line or "ype the " in line]
    assert len(asked) == len(prompts), printed


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][3]])
def test_yes_flag_still_prompts_for_risky_delete(
    case: str, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    before, after, prompts, *_ = CASES[case]
    with apply(changed(project, before, after), platform, tmp_path, programs, "--yes") as terminal:
        terminal.until(prompts[0][0].format(url=platform.url))
        terminal.type("")
        code, printed = terminal.end()
    assert (code, writes(platform)) == (4, [])
    assert printed.splitlines()[-1] == "Nothing was applied."


@pytest.mark.parametrize("case", CASES)
def test_delete_without_terminal_needs_confirm_flags(
    case: str, run: Run, project: Project, platform: ThreadedServer
) -> None:
    before, after, _, answers, result = CASES[case]
    directory = str(changed(project, before, after))
    if answers:
        refused = run("apply", "-C", directory, "--yes")
        assert (refused.code, writes(platform)) == (4, [])
        assert all(f'--confirm "{answer}"' in refused.out for answer in answers), refused.out
    flags = [word for answer in answers for word in ("--confirm", answer)]
    applied = run("apply", "-C", directory, "--yes", *flags)
    assert applied.code == 0, applied.out + applied.err
    assert result in applied.out


@pytest.mark.usefixtures("platform")
def test_delete_refusal_prints_command_to_keep_object(run: Run, project: Project) -> None:
    """A team that a colleague creates in GitBook stops every plan until somebody decides."""
    now = files("writers", "reviewers", "sales")
    directory = str(changed(project, now, now))
    refused = run("plan", "-C", directory)
    assert refused.code == 4
    _, _, printed = refused.out.partition("to keep the object, run dpsync ")
    assert printed, refused.out
    kept = run(*shlex.split(printed.splitlines()[0]))
    assert kept.code == 0, kept.out + kept.err
    assert run("plan", "-C", directory).out.startswith("No changes.")


@pytest.mark.usefixtures("platform")
def test_delete_refusal_suggests_import_into_overlay(run: Run, project: Project) -> None:
    now = files("writers", "reviewers", "sales") + "environments: { prod: { overlay: prod.yaml } }\n"
    directory = changed(project, now, now)
    (directory / "prod.yaml").write_text("organizations: {}\n")
    refused = run("plan", "-C", str(directory), "--env", "prod")
    assert "--env prod --add 'acme/teams/[Legacy]' --into prod.yaml" in refused.out


@pytest.mark.usefixtures("platform")
def test_plan_warns_about_access_lost_by_removed_member(run: Run, project: Project) -> None:
    """With `prune: [members]`, a removed entry needs no further confirmation."""
    text = (
        "dpsync: 1\npolicy: { prune: [members], limits: { percent: 100 } }\norganizations:\n  acme:\n"
        "    id: acme\n    members: { ada@acme.example: admin, grace@acme.example: admin }\n"
    )
    planned = run("plan", "-C", str(project(text)))
    lines = planned.out.splitlines()
    removed = lines.index("- member [eve@acme.example]")
    assert lines[removed + 1].startswith("    this person loses access to the organization")
