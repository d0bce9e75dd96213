"""Help is complete and fast; the version is the package's."""

from __future__ import annotations

import subprocess
import sys

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
