"""A result that nobody reads to its end, or that has no room."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer

from .conftest import Run

CHANGED = "dpsync: 1\norganizations: { acme: { id: acme, title: Acme Inc } }\n"


class Broken(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, why: OSError) -> None:
        super().__init__()
        self.why = why

    def write(self, _text: str) -> int:
        raise self.why


GONE, FULL = BrokenPipeError(), OSError(ENOSPC, os.strerror(ENOSPC))


@pytest.fixture
def directory(project: Callable[..., Path], platform: ThreadedServer) -> str:
    del platform
    return str(project(CHANGED))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("plan",), 0),
        (("plan", "--detailed-exitcode"), 2),
        (("plan", "--format", "json"), 0),
        (("drift",), 2),
        (("drift", "--format", "markdown"), 2),
        (("validate",), 0),
        (("plan", "--base", "nothing"), 5),
        (("apply", "--yes"), 1),  # nobody has seen it
        (("--help",), 0),
        (("schema",), 0),
    ],
)
def test_closed_output_pipe_keeps_exit_code(
    command: tuple[str, ...], code: int, run: Run, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(GONE))
    more = () if command[0] in ("--help", "schema") else ("-C", directory)
    ended = run(*command, *more)
    assert ended.code == code
    assert "Error" not in ended.err


@pytest.mark.parametrize(
    "command",
    [("plan",), ("plan", "--format", "html"), ("drift",), ("apply", "--yes"), ("--help",), ("schema",)],
)
def test_full_disk_for_output_exits_1(
    command: tuple[str, ...],
    run: Run,
    directory: str,
    platform: ThreadedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(FULL))
    more = () if command[0] in ("--help", "schema") else ("-C", directory)
    ended = run(*command, *more)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "Error: dpsync cannot write the result: No space left on device"
    assert all(method == "GET" for method, _, _ in platform.app.requests)


def test_full_disk_for_stderr_keeps_exit_code(
    run: Run, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", Broken(FULL))
    assert run("plan", "-C", directory, "--base", "nothing").code == 5
    assert run("plan", "--nonsense").code == 64


def test_closed_stdout_and_stderr_keep_exit_code(directory: str) -> None:
    command = f'exec "{sys.executable}" -m dpsync drift -C "{directory}" >&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", command], env={**os.environ}).returncode == 2
