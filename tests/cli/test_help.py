"""Help is complete and fast; the version is the package's."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from dpsync import __version__
from dpsync.cli.main import COMMANDS, root
from tests.cli.conftest import Run

HEAVY = ("httpx", "pydantic", "yaml", "jsonschema", "deepdiff", "starlette", "uvicorn", "sqlite3")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["plan", "--help"],
        ["apply", "--help"],
        ["drift", "--help"],
        ["serve", "--help"],
        ["help", "plan"],
    ],
)
def test_help_imports_no_heavy_modules(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom dpsync.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: dpsync" in ended.stdout
    assert ended.stderr.strip() == "[]"


TOPICS = ("environment", "exit-codes")
GROUPS = {"Start", "Every day", "When something is wrong", "In CI", "Local server", "Help"}


def command_named(name: str) -> click.Command:
    found = root.get_command(click.Context(root), name)
    assert found is not None
    return found


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create the directories and files whose names are in examples."""
    (tmp_path / "docs-config").mkdir()
    (tmp_path / "acme.json").touch()
    monkeypatch.chdir(tmp_path)


def test_help_fits_on_single_screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("--help").out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert {line.removesuffix(":") for line in lines if re.match(r"\w.*:$", line)} == GROUPS
    assert {line.split()[0] for line in lines[3:] if line.startswith("  ")} == {*COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_summary_matches_in_overview_and_command_help(command: str) -> None:
    first = (command_named(command).help or "").partition("\n\n")[0].strip()
    if command not in ("revert", "history", "help"):  # their own page says a bit more
        assert first == f"{COMMANDS[command]}."


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("example_files")
def test_help_examples_of_command_parse(command: str) -> None:
    """An example with a flag that does not exist fails when somebody copies it."""
    lines = getattr(command_named(command), "examples", [])
    assert lines
    for line in lines:
        for example in re.findall(r"dpsync (?:'[^']*'|[^)|#<>'])+", line):
            _, name, *arguments = shlex.split(example)
            with command_named(name).make_context(
                name, arguments, parent=click.Context(root, **root.context_settings)
            ):
                pass


@pytest.mark.parametrize("command", COMMANDS)
def test_help_assigns_every_flag_to_group(command: str, run: Run) -> None:
    """Under "Other" is only --help, so that a new flag gets a group whose title explains it."""
    out = run(command, "--help").out
    assert re.findall(r"^  .*", out[out.index("\nOther:\n") :], re.MULTILINE) == [
        "  -h, --help  Show this message and exit."
    ]
    found = command_named(command)
    named = {flag for flags in getattr(found, "groups", {}).values() for flag in flags}
    assert named <= {flag for one in found.params for flag in one.opts}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_command_matches_help_flag(command: str, run: Run) -> None:
    assert run("help", command).out == run(command, "--help").out


def test_help_command_without_argument_lists_commands(run: Run) -> None:
    assert run("help").out == run("--help").out


def test_help_prints_examples_before_details(run: Run) -> None:
    out = run("help", "apply").out
    assert out.index("Examples:\n  dpsync apply\n") < out.index("\n  dpsync shows the plan")


@pytest.mark.parametrize("topic", TOPICS)
def test_help_topic_starts_with_an_example(topic: str, run: Run) -> None:
    lines = run("help", topic).out.splitlines()
    assert lines[2] == "Example:"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        pytest.param("aply", 'Did you mean "apply"?', id="misspelled command"),
        pytest.param("exit-code", 'Did you mean "exit-codes"?', id="misspelled topic"),
        pytest.param("kubernetes", "`dpsync help` lists all commands", id="unknown word"),
    ],
)
def test_unknown_help_topic_exits_64(topic: str, words: str, run: Run) -> None:
    ended = run("help", topic)
    assert (ended.code, words in ended.err) == (64, True), ended.err


def test_help_lists_exit_codes(run: Run) -> None:
    out = run("help", "exit-codes").out
    for code in ("0", "1", "2", "3", "4", "5", "64", "130"):
        assert f"  {code} " in out


def test_version_flag_prints_package_version(run: Run) -> None:
    assert run("--version").out == f"dpsync {__version__}\n"


def test_dpsync_without_command_prints_help(run: Run) -> None:
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
        (
            ["plan", "-var-file=prod.tfvars"],
            "use -f FILE for an overlay (a file that replaces values), or --env NAME",
        ),
        (["plan", "-json"], "use --format json"),
        (["plan", "-refresh-only"], "use `dpsync drift`"),
        (["plan", "-destroy"], "policy: prune"),
        (["-chdir=docs", "plan"], "use -C DIR"),
        (["workspace"], 'There is no command "workspace": use --env NAME'),
        (["destroy"], "policy: prune"),
        (["refresh"], "use `dpsync drift`"),
        (["aply"], 'There is no command "aply": did you mean "apply"?'),
    ],
)
def test_foreign_command_or_flag_error_suggests_equivalent(
    run: Run, arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*arguments)
    assert (ended.code, words in ended.err) == (64, True), ended.err
    assert not list(tmp_path.iterdir())


def test_valid_flags_are_not_reported_as_foreign(run: Run, tmp_path: Path) -> None:
    for arguments in (["plan", "--out", "x"], ["plan", "-vv"], ["plan", "-o", "x"], ["plan", "-qC", "x"]):
        assert "There is no flag" not in run(*arguments, "-C", str(tmp_path)).err
