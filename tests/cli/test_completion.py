"""A shell completes commands, flags, addresses and environments, and is offered nothing that it would run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from dpsync import __version__
from dpsync.cli.foreign_flags import move_directory_flag
from tests.cli.conftest import Run

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "version.schema.json").read_text(encoding="utf-8")
)
ROOT = """\
dpsync: 1
environments: { staging: {}, production: {} }
organizations:
  acme:
    id: acme
    teams: { writers: { title: Writers } }
    members: { "ada@acme.example": admin, "$(id)@acme.example": read, "a;b@acme.example": read }
"""


@pytest.fixture
def complete(
    run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], list[str]]:
    """Return a function that lists bash's completions of a command line."""
    monkeypatch.chdir(project(ROOT))
    monkeypatch.setenv("_DPSYNC_COMPLETE", "bash_complete")

    def offered(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        return [one.partition(",")[2] for one in run().out.splitlines() if one]

    return offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("dpsync pl", ["plan"]),
        ("dpsync plan --det", ["--detailed-exitcode"]),
        ("dpsync plan --env p", ["production"]),
        ("dpsync plan --select acme/teams/", ["acme/teams/writers"]),
        ("dpsync drift --exclude acme/te", ["acme/teams/writers"]),
        ("dpsync import acme/teams", ["acme/teams/writers"]),
        ("dpsync explain site.vis", ["site.visibility"]),
        ("dpsync explain DP101", ["DP101"]),
        ("dpsync help pl", ["plan"]),
        ("dpsync help env", ["environment"]),
    ],
)
def test_completion_offers_matching_words(
    line: str, offered: list[str], complete: Callable[[str], list[str]]
) -> None:
    assert complete(line) == offered


def test_completion_skips_words_with_shell_metacharacters(complete: Callable[[str], list[str]]) -> None:
    """Otherwise, a key that somebody has written is run by the shell of whoever presses Tab and Enter."""
    assert complete("dpsync plan --select acme/members/") == ["acme/members/ada@acme.example"]


def test_completion_without_configuration_is_empty(
    complete: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert complete("dpsync plan --env x") == []
    assert complete("dpsync plan --select x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_matches_shell(shell: str, run: Run) -> None:
    ended = run("completion", shell)
    assert ended.code == 0
    assert f"_DPSYNC_COMPLETE={shell}_complete" in ended.out
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=ended.out, text=True, check=True)


def test_completion_imports_no_command_modules() -> None:
    code = (
        "import os, sys\n"
        "os.environ |= {'_DPSYNC_COMPLETE': 'bash_complete', 'COMP_WORDS': 'dpsync p', 'COMP_CWORD': '1'}\n"
        "from dpsync.cli.main import main\n"
        "try:\n    main([])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith('dpsync.cli.commands.')], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr.strip()) == ("plain,plan\n", "[]")


def test_version_command_prints_text_and_json(run: Run) -> None:
    assert run("version").out == f"dpsync {__version__}\n"
    document = json.loads(run("version", "--json").out)
    jsonschema.validate(document, SCHEMA)
    assert document["version"] == __version__


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["-C", "a", "plan"], ["plan", "-C", "a"]),
        (["-Ca", "plan", "-q"], ["plan", "-Ca", "-q"]),
        (["--directory", "a", "plan"], ["plan", "--directory", "a"]),
        (["--directory=a", "plan"], ["plan", "--directory=a"]),
        (["plan", "-C", "a"], ["plan", "-C", "a"]),
        (["-C", "a"], ["-C", "a"]),
        (["-C"], ["-C"]),
        ([], []),
        (["--help"], ["--help"]),
    ],
)
def test_directory_flag_moves_behind_the_command(typed: list[str], meant: list[str]) -> None:
    assert move_directory_flag(typed) == meant


def test_directory_flag_before_command_is_used(run: Run, project: Callable[..., Path]) -> None:
    assert run("-C", str(project(ROOT)), "validate").code == 0


def test_duplicate_directory_flag_exits_64(run: Run, tmp_path: Path) -> None:
    ended = run("-C", str(tmp_path), "validate", "-C", ".")
    assert (ended.code, "appears twice" in ended.err) == (64, True)


def test_plan_rejects_json_flag_of_version(run: Run) -> None:
    assert "use --format json" in run("plan", "--json").err
