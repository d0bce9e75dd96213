"""No argument and no variable begins a line of what is printed: a runner of CI takes some as commands."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from dpsync.cli.main import COMMANDS, root

from .conftest import Run

FORGED = "x\n::error::forged\r::error::forged\x0b##[error]\u2028::error::forged"
CONFIG = "dpsync: 1\norganizations: { acme: { id: acme, title: Acne } }\n"
END = {"serve": ("--workers=0",)}
"""What keeps a command from running on and on."""


def each_argument() -> Iterator[tuple[str, ...]]:
    """Each command with the text in the place of each argument and of the value of each flag."""
    context = click.Context(root)
    yield (FORGED,)
    yield (f"--{FORGED}",)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        end = END.get(name, ())
        yield name, FORGED, *end
        yield name, FORGED, FORGED, FORGED, FORGED, *end
        yield name, f"--{FORGED}", *end
        yield name, f"-{FORGED}", *end
        for parameter in command.params:
            for flag in parameter.opts if isinstance(parameter, click.Option) else ():
                yield name, flag, *(FORGED for _ in range(parameter.nargs)), *end


def forged(ended: str) -> list[str]:
    return [line for line in ended.splitlines() if line.lstrip().startswith(("::", "##["))]


@pytest.mark.usefixtures("platform")
def test_arguments_cannot_inject_output_lines(
    run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(CONFIG))
    monkeypatch.setenv("GITHUB_WORKSPACE", "/nowhere")
    found = {}
    for words in each_argument():
        ended = run(*words)
        if lines := forged(ended.err) + forged(ended.out):
            found[words] = lines
        assert "internal error" not in ended.err, words
    assert found == {}


@pytest.mark.parametrize(
    "name",
    ["DPSYNC_URL", "DPSYNC_TOKEN", "DPSYNC_TOKEN_FILE", "DPSYNC_FILE", "DPSYNC_ENV", "DPSYNC_PROFILE",
     "HTTP_PROXY", "SSL_CERT_FILE", "GITHUB_BASE_REF", "NO_COLOR", "TERM", "XDG_STATE_HOME"],
)  # fmt: skip
@pytest.mark.usefixtures("platform")
def test_environment_variables_cannot_inject_output_lines(
    name: str, run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(CONFIG))
    if name == "DPSYNC_TOKEN_FILE":
        monkeypatch.delenv("DPSYNC_TOKEN")
    monkeypatch.setenv(name, FORGED)
    for words in (("plan",), ("validate",)):
        ended = run(*words)
        assert forged(ended.err) + forged(ended.out) == []
        assert "internal error" not in ended.err


@pytest.mark.usefixtures("platform")
def test_printed_apply_command_quotes_hostile_file_name(
    run: Run, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(CONFIG))
    name = "x\n::error::forged '\\\u202e.plan"
    (line,) = [line for line in run("plan", "--out", name).err.splitlines() if "saved" in line]
    command = line.partition("with: ")[2]
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    ).stdout.decode()
    assert words.split("\0")[:-1] == ["dpsync", "apply", name]
