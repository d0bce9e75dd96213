"""Every question of a plan can be answered at a terminal. The terminal is a real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.terminal import Terminal, apply, environment
from tests.cli.test_drift import change
from tests.cli.test_git_base import git
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
Answer = tuple[str, str]
"""What a prompt says, and what is typed."""
VERIFIED = "Verified: a new plan has no changes.\n"
YES = ("[y/N]", "y")
ACME = "dpsync: 1\n{policy}organizations:\n  acme:\n    id: acme\n"
THREE_TEAMS = "writers: { title: Technical writers }, reviewers: { title: Reviewers }"
SPACES = """\
    collections: { one: { title: Product }, two: { title: API } }
    spaces:
      guides: { title: Guides, collection: one }
      reference: { title: API reference, collection: two }
"""


def text(body: str, policy: str = "") -> str:
    """Return a root file with the body of the organization."""
    return ACME.format(policy=f"policy: {{ {policy} }}\n" if policy else "") + body


def teams(more: str) -> str:
    return f"    teams: {{ {THREE_TEAMS}, {more} }}\n"


LIMITS = "prune: [teams], limits: { deletes: 0 }"
BEFORE = text(teams("sales: { title: Sales }, legacy: { title: Legacy }"), LIMITS)
LIMITED = text(teams("sales: { title: Sales }"), LIMITS)
"""A team was removed since BEFORE, and the limits allow no delete."""
RENAMED = text("    teams: { tech: { title: Technical writer } }\n")
EXPOSING = text("    members: { kim@acme.example: admin }\n", "limits: { exposures: 0 }")
REPLACED = text(teams("sells: { title: Sells }"), "prune: [teams]")
REBUILT = text("""\
    spaces: { support: { title: Support } }
    sites:
      help:
        title: Help center
        basename: help
        structure:
          - type: section
            key: all
            title: All articles
            children: [{ type: space, key: support, space: support }]
""")
CASES: dict[str, tuple[str, Sequence[Answer], str]] = {
    "number of deletes": (
        LIMITED,
        [
            (
                "Delete team legacy in acme on {url}? This cannot be undone. "
                "Type the number of deletes (1): ",
                "1",
            )
        ],
        "Applied: 1 deleted, in ",
    ),
    "one of the candidates": (RENAMED, [("Type 1 or new: ", "1"), YES], "Applied: 1 changed, in "),
    "a new object": (RENAMED, [("Type 1 or new: ", "new"), YES], "Applied: 1 created, in "),
    "a choice after a typing error": (
        RENAMED,
        [("Type 1 or new: ", "2"), ("Type 1 or new: ", "new"), YES],
        "Applied: 1 created, in ",
    ),
    "number of exposures": (
        EXPOSING,
        [('To confirm all changes marked "opens access", type the number (1): ', "1"), YES],
        "Applied: 1 changed, in ",
    ),
    "new object and deletes": (
        REPLACED,
        [("Type 1 or new: ", "new"), ("Type the number of deletes (3): ", "3")],
        "Applied: 1 created, 3 deleted, in ",
    ),
}


@pytest.fixture
def project(project: Project) -> Project:
    """Write files into a new project; what LIMITED and REPLACED remove is in its git."""

    def write(root: str) -> Path:
        if root in (LIMITED, REPLACED):
            directory = project(BEFORE)
            git(directory, "init", "-q", "-b", "main")
            git(directory, "add", "dpsync.yaml")
            git(directory, "commit", "-q", "-m", "Declare the teams")
        return project(root)

    return write


@pytest.mark.parametrize("case", CASES)
def test_plan_question_is_answered_at_terminal_prompt(
    case: str, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    files, answers, result = CASES[case]
    with apply(project(files), platform, tmp_path, programs) as terminal:
        code, printed = terminal.answer((prompt.format(url=platform.url), typed) for prompt, typed in answers)
    assert code == 0, printed
    assert printed.splitlines()[-1].startswith(result)
    assert printed.endswith(VERIFIED)


def test_swapped_titles_are_resolved_at_terminal_prompt(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    for id, title in (("product", "API"), ("api", "Product")):
        change(platform, f"/collections/{id}", title=title)
    with apply(project(text(SPACES)), platform, tmp_path, programs) as terminal:
        code, printed = terminal.answer([("Type 1 or 2: ", "2"), ("Type 1: ", "1"), YES])
    assert code == 0, printed
    assert "Applied: 2 changed, in " in printed


def test_navigation_rebuild_requires_typed_address(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    with apply(project(REBUILT), platform, tmp_path, programs) as terminal:
        terminal.until("To rebuild the navigation, type the address (acme/sites/help): ")
        terminal.type("acme/sites/help")
        terminal.until(f"Apply these changes to acme on {platform.url}? [y/N] ")
        terminal.type("n")
        code, printed = terminal.end()
    assert (code, printed.splitlines()[-1]) == (4, "Nothing was applied.")


@pytest.mark.usefixtures("run")
def test_object_chosen_at_prompt_is_saved_to_ids(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    """Otherwise, the next plan asks again which object the entry is."""
    directory = project(RENAMED)
    with apply(directory, platform, tmp_path, programs) as terminal:
        for prompt, answer in CASES["one of the candidates"][1]:
            terminal.until(prompt)
            terminal.type(answer)
        assert terminal.end()[0] == 0
    assert "acme/teams/tech: writers" in (directory / ".dpsync" / "ids.yaml").read_text()


@pytest.mark.parametrize(
    ("files", "prompt", "answer"),
    [
        (LIMITED, "Type the number of deletes (1): ", "2"),
        (LIMITED, "Type the number of deletes (1): ", "y"),
        (LIMITED, "Type the number of deletes (1): ", ""),
        (RENAMED, "Type 1 or new: ", ""),
        (EXPOSING, "type the number (1): ", "delete 1"),
        (text(teams("new: { title: New }")), "[y/N] ", ""),
    ],
    ids=["another number", "yes", "no number", "no choice", "another answer", "no yes"],
)
def test_declined_apply_prompt_sends_no_writes(
    files: str, prompt: str, answer: str, project: Project, platform: ThreadedServer, tmp_path: Path,
    programs: Path,
) -> None:  # fmt: skip
    with apply(project(files), platform, tmp_path, programs) as terminal:
        terminal.until(prompt)
        terminal.type(answer)
        code, printed = terminal.end()
    assert (code, writes(platform)) == (4, [])
    assert printed.splitlines()[-1] == "Nothing was applied."


def test_declined_question_prints_flags_and_file_answers(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    with apply(project(RENAMED), platform, tmp_path, programs) as terminal:
        terminal.until("Type 1 or new: ")
        terminal.type("")
        _, printed = terminal.end()
    _, _, below = printed.partition("Type 1 or new: ")
    assert "You can also decide in the files, or with flags:" in below
    assert "new: true" in below


@pytest.mark.parametrize("files", [LIMITED, RENAMED], ids=["deletes", "who is who"])
def test_yes_flag_does_not_answer_questions(
    files: str, run: Run, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    directory = project(files)
    assert run("apply", "-C", str(directory), "--yes").code == 4
    with apply(directory, platform, tmp_path, programs, "--yes") as terminal:
        terminal.until("Type ")
        terminal.type("")
        assert terminal.end()[0] == 4
    assert writes(platform) == []


def test_plan_is_reprinted_only_after_changing_answer(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    for answer, times in (("new", 1), ("1", 2)):
        with apply(project(RENAMED), platform, tmp_path, programs) as terminal:
            terminal.until("Type 1 or new: ")
            terminal.type(answer)
            terminal.until("[y/N]")
            terminal.type("n")
            _, printed = terminal.end()
        assert printed.count("\nPlan: ") == times


def test_apply_rejects_platform_change_during_prompt(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    with apply(project(LIMITED), platform, tmp_path, programs) as terminal:
        terminal.until("Type the number of deletes (1): ")
        change(platform, "/orgs/acme/teams/sales", title="Renamed")
        platform.app.requests.clear()
        terminal.type("1")
        code, printed = terminal.end()
    assert (code, writes(platform)) == (4, [])
    assert "error[stale]: the plan that you confirmed " in printed
    assert printed.splitlines()[-1] == "Nothing was applied."


def test_refusal_without_possible_answer_exits_4_without_prompt(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    directory = project(text("    members: { ada@acme.example: read, grace@acme.example: read }\n"))
    with apply(directory, platform, tmp_path, programs) as terminal:
        code, printed = terminal.end()
    assert (code, printed.splitlines()[-1]) == (4, "Nothing was applied.")
    assert "Type " not in printed


def test_revert_delete_requires_typed_number(
    run: Run, project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    directory = project(text(teams("new: { title: New }"), "limits: { deletes: 0 }"))
    assert run("apply", "-C", str(directory), "--yes").code == 0
    command = [programs / "dpsync", "revert", "--last", "-C", directory, "--color", "never"]
    with Terminal(command, environment(platform, tmp_path)) as terminal:
        terminal.until(f'Delete team "New" in acme on {platform.url}?')
        terminal.type("1")
        code, printed = terminal.end()
    assert code == 0, printed
    assert "Applied: 1 deleted, in " in printed


def test_apply_interrupted_at_prompt_sends_no_writes(
    project: Project, platform: ThreadedServer, tmp_path: Path, programs: Path
) -> None:
    with apply(project(LIMITED), platform, tmp_path, programs) as terminal:
        terminal.until("Type the number of deletes (1): ")
        terminal.interrupt()
        code, printed = terminal.end()
    assert (code, writes(platform)) == (130, [])
    assert printed.splitlines()[-1] == "Interrupted. Nothing was applied."
