"""How an apply ends when something goes wrong: 1 and 4 only where nothing was sent, and else a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from dpsync.apply.fresh_reads import FreshReads
from dpsync.client.client import WriteClient
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams: { a: { title: One }, b: { title: Two }, c: { title: Three } }
"""


@pytest.fixture
def directory(project: Project) -> Path:
    return project(TEXT)


def applied(run: Run, directory: Path, *flags: str) -> Ran:
    return run("apply", "-C", str(directory), "--yes", "--parallelism", "1", *flags)


def breaking(at: int, error: Exception) -> Any:
    """`send` that fails before it sends, at the write with this number."""
    send, calls = WriteClient.send, 0

    def broken(self: WriteClient, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise error
        return send(self, *arguments, **named)

    return broken


@pytest.mark.parametrize("error", [RuntimeError("dictionary"), KeyError("x"), OSError("x")])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.usefixtures("platform")
def test_internal_error_during_apply_exits_3_with_report(
    at: int, error: Exception, run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WriteClient, "send", breaking(at, error))
    ended = applied(run, directory, "--format", "json")
    report = json.loads(ended.out)["report"]
    assert ended.code == 3
    assert sorted(item["result"] for item in report["outcomes"]) == ["done", "done", "unknown"]
    events = [json.loads(line)["event"] for line in Path(report["journal"]).read_text().splitlines()]
    assert events == ["journal", "start", *["intent", "outcome"] * 3, "end", "exit"]


@pytest.mark.usefixtures("platform")
def test_apply_exits_3_when_every_step_is_rejected(
    run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsync.client.errors import RejectedError

    def refusing(_self: WriteClient, method: str, path: str, *_: Any, **__: Any) -> Any:
        raise RejectedError(method, path, 422, "the title is taken")

    monkeypatch.setattr(WriteClient, "send", refusing)
    ended = applied(run, directory)
    assert ended.code == 3
    assert ended.out.count("       at  dpsync.yaml:5 (title)\n") == 3


def test_apply_exits_1_when_no_request_was_sent(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsync.client.errors import NotSentError

    def unreachable(_self: WriteClient, method: str, path: str, *_: Any, **__: Any) -> Any:
        raise NotSentError(method, path, "refused")

    monkeypatch.setattr(WriteClient, "send", unreachable)
    assert applied(run, directory).code == 1
    assert writes(platform) == []


def test_apply_exits_1_when_stale_check_fails(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: FreshReads, _task: object) -> None:
        raise RuntimeError("x")

    monkeypatch.setattr(FreshReads, "check", broken)
    assert applied(run, directory).code == 1
    assert writes(platform) == []


def test_apply_exits_3_when_rendering_the_report_fails(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError("x")

    monkeypatch.setattr("dpsync.render.view_text.render_report", broken)
    ended = applied(run, directory)
    assert ended.code == 3
    assert "The journal contains all changes" in ended.err
    assert len(writes(platform)) == 3


def piped(server: ThreadedServer, directory: Path, tmp_path: Path, to: Any) -> int:
    """Run an apply whose output goes to `to` and return the exit code."""
    own = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "dpsync", "apply", "--yes", "-C", str(directory)]
    return subprocess.run(command, env={**os.environ, **own}, stdout=to, stderr=subprocess.DEVNULL).returncode


def test_apply_stops_if_plan_cannot_be_printed(
    directory: Path, platform: ThreadedServer, tmp_path: Path
) -> None:
    """A full disk under the output: the plan was not seen, so it is not carried out."""
    with open("/dev/full", "w") as full:  # noqa: PTH123
        assert piped(platform, directory, tmp_path, full) == 1
    assert writes(platform) == []


def test_apply_exits_0_when_stdout_closes_during_result(
    run: Run, directory: Path, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = click.echo

    def gone(text: str = "", **how: Any) -> None:
        if "Applied" in text:
            raise BrokenPipeError
        put(text, **how)

    monkeypatch.setattr("dpsync.cli.output.redirect_stdout_to_null", lambda: None)
    monkeypatch.setattr("click.echo", gone)
    assert applied(run, directory).code == 0
    assert len(writes(platform)) == 3


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_two_signals_before_first_write_interrupt_apply(
    number: int,
    code: int,
    run: Run,
    directory: Path,
    platform: ThreadedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = FreshReads.read

    def stopped(self: FreshReads, source: Any) -> Any:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        return read(self, source)

    monkeypatch.setattr(FreshReads, "read", stopped)
    ended = applied(run, directory)
    assert (ended.code, writes(platform)) == (code, [])
    last = [text.splitlines()[-1] for text in (ended.out, ended.err) if text]
    assert any(line.startswith("Nothing was applied") for line in last), last
