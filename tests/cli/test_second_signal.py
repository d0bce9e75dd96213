"""A second signal ends an apply at once, also while the platform has to answer, and the report is true."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.cli.output import Output
from tests.cli.conftest import Run
from tests.cli.held import holding
from tests.patience import PATIENCE

Project = Callable[..., Path]
TEAMS = "".join(f"      t{number}: {{ title: Team {number} }}\n" for number in range(5))
CONFIG = f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams:\n{TEAMS}"


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once the first signal has been taken."""
    taken = threading.Event()
    complain = Output.print_problem

    def watched(out: Output, text: str) -> None:
        complain(out, text)
        if text.startswith("Stopping"):
            taken.set()

    monkeypatch.setattr(Output, "print_problem", watched)
    return taken


@pytest.mark.parametrize(("first", "second", "code"), [
    (signal.SIGINT, signal.SIGTERM, 130), (signal.SIGINT, signal.SIGINT, 130),
    (signal.SIGTERM, signal.SIGINT, 143),
])  # fmt: skip
def test_unanswered_write_is_unknown_after_second_interrupt_signal(
    first: int, second: int, code: int, project: Project, run: Run, stopping: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    directory = project(CONFIG)
    with holding(3) as (server, app):
        monkeypatch.setenv("DPSYNC_URL", server.url)
        monkeypatch.setenv("DPSYNC_TOKEN", "ada-token")

        def interrupt() -> None:
            for condition, number in ((app.reached, first), (stopping, second)):
                assert condition.wait(PATIENCE)
                os.kill(os.getpid(), number)

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        apply = ("apply", "--yes", "--parallelism", "1", "-C", str(directory))
        ended = run(*apply)
        interrupting.join()
        assert not app.is_let_go.is_set()
        assert ended.code == code
        assert "; 1 step unknown, 2 not tried. Interrupted. To finish the rest: dpsync apply" in ended.out
        (journal,) = (directory / ".dpsync" / "journal").glob("*.jsonl")
        events = [json.loads(line) for line in journal.read_text().splitlines()]
        names = ["journal", "start", *["intent", "outcome"] * 3, "not-tried", "end", "exit"]
        assert [event["event"] for event in events] == names
        told = [event["outcome"]["result"] for event in events if event["event"] == "outcome"]
        assert told == ["done", "done", "unknown"]
        ids = (directory / ".dpsync" / "ids.yaml").read_text()
        assert [f"acme/teams/t{number}" in ids for number in range(4)] == [True, True, False, False]
        app.let_go()  # the platform carries it out after all
        again = run(*apply)
        assert (again.code, "Applied: 2 created, in " in again.out) == (0, True)
