"""Stopped in the middle: a signal lets what is in flight finish, and the next apply finishes the rest.

The process is a real one. The platform holds the third write back until the signal has been sent.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.held import Held, holding
from tests.patience import PATIENCE


@pytest.fixture
def held() -> Iterator[tuple[ThreadedServer, Held]]:
    with holding(3) as found:
        yield found


def environment(server: ThreadedServer, tmp_path: Path) -> dict[str, str]:
    own = {"DPSYNC_URL": server.url, "DPSYNC_TOKEN": "ada-token", "XDG_STATE_HOME": str(tmp_path / "state")}
    return {**os.environ, **own}


def start(directory: Path, env: dict[str, str], *program: object) -> subprocess.Popen[str]:
    """Start an apply in its own process, with `program` instead of the installed dpsync if given."""
    chosen = program or (sys.executable, "-m", "dpsync")
    command = [*map(str, chosen), "apply", "--yes", "--parallelism", "1", "-C", str(directory)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_apply_is_completed_by_next_apply(
    number: signal.Signals,
    code: int,
    held: tuple[ThreadedServer, Held],
    example: Path,
    tmp_path: Path,
    programs: Path,
) -> None:
    server, app = held
    env = environment(server, tmp_path)
    process = start(example, env)
    assert app.reached.wait(PATIENCE)
    process.send_signal(number)
    assert process.stderr is not None
    assert any("Stopping:" in line for line in process.stderr)  # it has heard the signal
    app.let_go()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "Interrupted" in out
    assert "Traceback" not in err
    assert "; 23 steps not tried. Interrupted. To finish the rest: dpsync apply" in out
    (journal,) = (example / ".dpsync" / "journal").glob("*.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    names = ["journal", "start", *["intent", "outcome"] * 3, "not-tried", "end", "exit"]
    assert [event["event"] for event in events] == names
    again = start(example, env, programs / "dpsync")
    out, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0
    assert "Applied: 12 created, 8 changed, 1 moved, in " in out


def test_killed_apply_is_completed_without_journal(
    held: tuple[ThreadedServer, Held], example: Path, tmp_path: Path, programs: Path
) -> None:
    server, app = held
    env = environment(server, tmp_path)
    process = start(example, env)
    assert app.reached.wait(PATIENCE)
    process.kill()
    process.communicate(timeout=PATIENCE)
    app.let_go()
    for journal in (example / ".dpsync" / "journal").glob("*.jsonl"):
        journal.unlink()
    again = start(example, env, programs / "dpsync")
    out, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0
    assert "Verified: a new plan has no changes." in out


def test_concurrent_second_apply_is_refused(
    held: tuple[ThreadedServer, Held], example: Path, tmp_path: Path, programs: Path
) -> None:
    server, app = held
    env = environment(server, tmp_path)
    first = start(example, env)
    assert app.reached.wait(PATIENCE)
    second = start(example, env, programs / "dpsync")
    _, err = second.communicate(timeout=PATIENCE)
    assert second.returncode == 4
    assert "another dpsync command on this machine is applying" in err
    app.let_go()
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 0
