"""Help is complete and fast; the version is the package's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpsync import __version__
from tests.cli.conftest import Run

HEAVY = ("httpx", "pydantic", "yaml", "jsonschema", "deepdiff", "starlette", "uvicorn", "sqlite3")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["plan", "--help"], ["apply", "--help"], ["drift", "--help"], ["serve", "--help"]],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom dpsync.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: dpsync" in ended.stdout
    assert ended.stderr.strip() == "[]"


@pytest.mark.parametrize("command", ["plan", "apply", "drift", "validate", "serve", "schema"])
def test_every_command_has_help(command: str, run: Run) -> None:
    ended = run(command, "--help")
    assert ended.code == 0
    assert command in run("--help").out


def test_the_exit_codes_are_in_the_help(run: Run) -> None:
    out = run("--help").out
    for code in ("0", "1", "2", "3", "4", "5", "64", "130"):
        assert f"  {code} " in out


def test_the_version(run: Run) -> None:
    assert run("--version").out == f"dpsync {__version__}\n"


def test_without_a_command_there_is_help(run: Run) -> None:
    ended = run()
    assert (ended.code, ended.out, ended.err) == (0, run("--help").out, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["apply", "--auto-approve"], "There is no flag --auto-approve: use --yes"),
        (["apply", "-auto-approve"], "use --yes"),
        (["plan", "-target=acme/teams"], "There is no flag -target: use --select ADDRESS"),
        (["plan", "--target", "x"], "use --select ADDRESS"),
        (["plan", "-out=plan.json"], "There is no flag -out: use -o FILE"),
        (["plan", "-var-file=prod.tfvars"], "use -f FILE for an overlay, or --env NAME"),
        (["plan", "-json"], "use --format json"),
        (["plan", "-refresh-only"], "use the command drift"),
        (["plan", "-destroy"], "policy: prune"),
        (["-chdir=docs", "plan"], "use -C DIR"),
        (["workspace"], 'There is no command "workspace": use --env NAME'),
        (["destroy"], "policy: prune"),
        (["refresh"], "use drift"),
        (["aply"], 'There is no command "aply": did you mean "apply"?'),
    ],
)
def test_a_habit_from_another_tool_is_told_what_it_is_called_here(
    run: Run, arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*arguments)
    assert (ended.code, words in ended.err) == (64, True), ended.err
    assert not list(tmp_path.iterdir())


def test_flags_that_are_ours_are_no_habits(run: Run, tmp_path: Path) -> None:
    for arguments in (["plan", "--out", "x"], ["plan", "-vv"], ["plan", "-o", "x"], ["plan", "-qC", "x"]):
        assert "There is no flag" not in run(*arguments, "-C", str(tmp_path)).err
