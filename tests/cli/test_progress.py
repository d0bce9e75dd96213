"""Long work says how far it is: on a terminal in one line that is rewritten, elsewhere now and then."""

from __future__ import annotations

import fcntl
import io
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from dpsync.api import import_
from dpsync.cli import output
from dpsync.cli.progress import (
    FIRST_OUTPUT_SECONDS,
    LINE_INTERVAL_SECONDS,
    READING,
    Progress,
    Stream,
    progress_on_stderr,
)
from dpsync.client.client import WriteClient
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import build_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.direct import Direct
from tests.patience import PATIENCE

Project = Callable[..., Path]


class Screen:
    """What was said, on a terminal so many columns wide, or on none."""

    def __init__(self, columns: int | None = None) -> None:
        self._columns = columns
        self.said: list[str] = []

    def columns(self) -> int | None:
        return self._columns

    def write(self, text: str) -> None:
        self.said.append(text)


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def told(screen: Screen, doing: str = READING, steps: int = 0) -> Iterator[tuple[Progress, Time]]:
    """Yield a progress display and its clock, which only moves when the test sets it."""
    time = Time()
    progress = Progress(screen, time)
    with progress.show_during(doing, steps):
        yield progress, time


def test_progress_starts_after_delay() -> None:
    screen = Screen(80)
    with told(screen) as (progress, time):
        time.now += 1.4
        progress.tick()
        assert screen.said == []
        time.now += 0.1
        progress.tick()
        assert len(screen.said) == 1


def test_progress_without_terminal_prints_every_ten_seconds() -> None:
    screen = Screen(None)
    with told(screen) as (progress, time):
        progress.start_batch(40)
        time.now += FIRST_OUTPUT_SECONDS
        for _ in range(12):
            progress.count_response("GET")
        for passed, lines in ((0.0, 1), (9.9, 1), (0.1, 2), (0.1, 2), (10.0, 3)):
            time.now += passed
            progress.tick()
            assert len(screen.said) == lines
    assert screen.said == ["Reading GitBook: read 12 of 40 requests\n"] * 3


def test_progress_on_terminal_rewrites_and_clears_line() -> None:
    screen = Screen(80)
    with told(screen) as (progress, time):
        time.now += FIRST_OUTPUT_SECONDS
        for _ in range(2):
            progress.count_response("GET")
            progress.tick()
    assert screen.said == [
        "\rReading GitBook: read 1 request\x1b[K",
        "\rReading GitBook: read 2 requests\x1b[K",
        "\r\x1b[K",
    ]


def test_progress_line_is_cleared_before_other_output() -> None:
    screen = Screen(80)
    with told(screen) as (progress, time):
        time.now += FIRST_OUTPUT_SECONDS
        progress.tick()
        with progress.paused():
            screen.write("a result\n")
        progress.tick()
    assert screen.said[1:3] == ["\r\x1b[K", "a result\n"]
    assert screen.said[3].startswith("\rReading")


def test_progress_shows_wait_reason_and_remaining_seconds() -> None:
    with told(Screen()) as (progress, time):
        progress.note_wait("rate limit", 30)
        progress.note_wait("retry", 2)
        assert progress.line().endswith(" (GitBook demands a pause, 30 s)")
        time.now += 12
        assert progress.line().endswith(" (GitBook demands a pause, 18 s)")
        time.now += 18
        assert progress.line() == "Reading GitBook: read 0 requests"
        progress.note_wait("retry", 2)
        assert progress.line().endswith(" (trying again, 2 s)")
        time.now += 1.9
        assert progress.line().endswith(" (trying again, 1 s)")


def test_apply_progress_counts_steps_then_reads() -> None:
    with told(Screen(), "Applying", 352) as (progress, _):
        for _ in range(61):
            progress.count_response("GET")
            progress.step()
        assert progress.line() == "[61/352] Applying"
        for _ in range(352 - 61):
            progress.step()
        assert progress.line() == "[352/352] reading back: read 61 requests"


def test_terminal_progress_shows_first_step_immediately() -> None:
    screen = Screen(80)
    with told(screen, "Applying", 7) as (progress, _):
        progress.step("acme/teams/a create")
        progress.tick()
    assert screen.said == ["\r[1/7] acme/teams/a create\x1b[K", "\r\x1b[K"]


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        (20, "20 more requests, which take about 10 s"),
        (120, "120 more requests, which take about 60 s"),
        (179, "179 more requests, which take about 90 s"),
        (180, "180 more requests, which take about 2 min"),
        (10_799, "10799 more requests, which take about 90 min"),
        (10_800, "10800 more requests, which take about 2 h"),
        (7_000, "7000 more requests, which take about 58 min"),
        (100_000, "100000 more requests, which take about 14 h"),
    ],
)
def test_progress_announces_expected_requests_and_duration(requests: int, said: str) -> None:
    screen = Screen(None)
    with told(screen) as (progress, time):
        for _ in range(8):
            progress.count_response("GET")
        time.now += 4
        progress.expect_reads(requests)
    assert screen.said == [f"Reading GitBook: at least {said}\n"]


def test_progress_does_not_announce_short_reads() -> None:
    screen = Screen(None)
    with told(screen) as (progress, time):
        for _ in range(8):
            progress.count_response("GET")
        time.now += 4
        progress.expect_reads(19)
    assert screen.said == []


def test_progress_gives_no_estimate_before_first_response() -> None:
    screen = Screen(None)
    with told(screen) as (progress, time):
        time.now += 4
        progress.expect_reads(7_000)
    assert screen.said == []


def test_progress_line_is_truncated_to_terminal_width() -> None:
    """A text in the last column would begin the next line on some terminals."""
    whole = "Reading GitBook: read 0 requests"
    for columns, text in ((33, whole), (32, f"{whole[:30]}…"), (10, f"{whole[:8]}…"), (2, "…"), (1, "…")):
        screen = Screen(columns)
        with told(screen) as (progress, time):
            time.now += FIRST_OUTPUT_SECONDS
            progress.tick()
        assert screen.said[0] == f"\r{text}\x1b[K"


def test_unknown_terminal_width_defaults_to_80_columns() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert Stream(Terminal()).columns() == 80


@pytest.mark.parametrize("columns", [80, 40, 10, 1])
def test_progress_line_is_narrower_than_terminal(columns: int) -> None:
    screen = Screen(columns)
    with told(screen) as (progress, time):
        progress.start_batch(5678)
        progress.note_wait("platform at work", 60)
        time.now += FIRST_OUTPUT_SECONDS
        progress.tick()
    assert len(screen.said[0].removeprefix("\r").removesuffix("\x1b[K")) < max(columns, 2)


def test_progress_survives_broken_output_pipe() -> None:
    class Gone(Screen):
        def write(self, _text: str) -> None:
            raise BrokenPipeError

    with told(Gone(80)) as (progress, time):
        time.now += FIRST_OUTPUT_SECONDS
        progress.tick()
        progress.tick()
        progress.count_response("GET")
        assert progress.line() == "Reading GitBook: read 1 request"


def test_progress_line_is_cleared_on_error() -> None:
    screen = Screen(80)

    def interrupted() -> None:
        with told(screen) as (progress, time):
            time.now += FIRST_OUTPUT_SECONDS
            progress.tick()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert screen.said[-1] == "\r\x1b[K"


def test_progress_is_silent_with_quiet_or_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_on_stderr(False, 1)._screen is not None
    silent = [progress_on_stderr(True, 0), progress_on_stderr(False, 2)]
    monkeypatch.setattr(sys, "stderr", None)
    for progress in (*silent, progress_on_stderr(False, 0)):
        assert progress._screen is None
        with progress.show_during(READING):
            progress.tick()


# Against a platform.


class Latency(Progress):
    """Every answer takes a while."""

    def __init__(self, screen: Screen, seconds: float) -> None:
        self.time, self.seconds, self.answers = Time(), seconds, 0
        super().__init__(screen, self.time)

    def count_response(self, method: str) -> None:
        with self._lock:
            super().count_response(method)
            self.time.now += self.seconds
            self.answers += 1
            self.tick()


def test_large_import_shows_progress_from_start(server: ThreadedServer) -> None:
    server.reset()
    writer = Direct(server, "ada-token")
    with WriteClient(server.url, "ada-token", transport=writer) as client:
        for number in range(115):
            body = {"title": f"Space {number}"}
            client.send("POST", "/orgs/acme/spaces", body, repeatable=False)
    screen = Screen(None)
    progress = Latency(screen, 0.2)
    with (
        CachingClient(
            server.url, "ada-token", transport=Direct(server, "ada-token"), observer=progress
        ) as client,
        progress.show_during(READING),
    ):
        import_(client, build_registry(), ["acme"])
        requests = client.requests
    assert requests > 300
    assert progress.answers == requests
    said = [one for one in screen.said if "at least" not in one]
    lines = [re.fullmatch(r"Reading GitBook: read (\d+)(?: of (\d+))? requests\n", one) for one in said]
    assert all(lines)
    read = [(int(one[1]), int(one[2] or 0)) for one in lines if one]
    assert read[0][0] <= 12  # before the third four have ended
    assert all(after[0] - before[0] <= LINE_INTERVAL_SECONDS / 0.2 + 1 for before, after in pairwise(read))
    assert max(total for _, total in read) <= requests
    assert any(total > 250 for _, total in read)

    (announced,) = set(screen.said) - set(said)
    assert screen.said.index(announced) < 2
    found = re.fullmatch(r"Reading GitBook: at least (\d+) more requests, which take about 57 s\n", announced)
    assert found
    assert requests - 20 < int(found[1]) < requests


class Noted(Progress):
    def __init__(self) -> None:
        super().__init__(Screen())
        self.phases: list[tuple[str, int]] = []
        self.events: set[str] = set()
        self.steps = 0

    @contextmanager
    def show_during(self, doing: str, steps: int = 0) -> Iterator[None]:
        self.phases.append((doing, steps))
        with super().show_during(doing, steps):
            yield

    def start_batch(self, requests: int) -> None:
        self.events.add("batch")
        super().start_batch(requests)

    def count_response(self, method: str) -> None:
        self.events.add(method)
        super().count_response(method)

    def step(self, name: str = "") -> None:
        self.steps += 1
        super().step(name)


@pytest.mark.parametrize(
    ("command", "phases"),
    [
        (["plan"], [READING]),
        (["drift"], [READING]),
        (["ids"], [READING]),
        (["import", "--organization", "acme"], [READING]),
        (["apply", "--yes"], [READING, "Applying"]),
    ],
    ids=["plan", "drift", "ids", "import", "apply"],
)
@pytest.mark.usefixtures("platform")
def test_reading_commands_report_progress(
    command: list[str],
    phases: list[str],
    run: Run,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    noted = Noted()
    monkeypatch.setattr(output, "progress_on_stderr", lambda _quiet, _verbose: noted)
    directory = project("dpsync: 1\norganizations: { acme: { id: acme, teams: { n: { title: New } } } }\n")
    if command[0] == "import":
        directory = tmp_path / "new"
    run(*command, "-C", str(directory))
    assert [doing for doing, _ in groupby(doing for doing, _ in noted.phases)] == phases
    assert {"batch", "GET"} <= noted.events
    assert noted.steps == sum(steps for _, steps in noted.phases) == (command[0] == "apply")


@contextmanager
def terminal(columns: int) -> Iterator[tuple[int, int]]:
    """Open a pseudo-terminal; yield the descriptors to read from and to write to."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        yield master, slave
    finally:
        os.close(master)
        os.close(slave)


def test_progress_stream_reads_terminal_width() -> None:
    with terminal(33) as (master, slave), open(slave, "w", closefd=False) as stream:
        assert Stream(stream).columns() == 33
        Stream(stream).write("\rhere")
        assert os.read(master, 100) == b"\rhere"


def until(master: int, wanted: bytes) -> bytes:
    """Read the output of a terminal until it contains `wanted`."""
    found = b""
    while wanted not in found:
        assert select.select([master], [], [], PATIENCE)[0], found
        found += os.read(master, 4096)
    return found


def heard() -> None:
    """Restore the default for SIGINT, because a shell's background processes ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_plan_clears_progress_line(project: Project) -> None:
    """The platform takes the request and never answers."""
    directory = project("dpsync: 1\norganizations: { acme: { id: acme, teams: { n: { title: New } } } }\n")
    with socket.create_server(("127.0.0.1", 0)) as silent, terminal(80) as (master, slave):
        own = {
            "DPSYNC_URL": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "DPSYNC_TOKEN": "t",
            "TERM": "xterm",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "dpsync.cli", "plan", "-C", str(directory)],
            stderr=slave, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **own},
            preexec_fn=heard,
        )  # fmt: skip
        try:
            said = until(master, b"Reading GitBook: read 0")
            process.send_signal(signal.SIGINT)
            rest = until(master, b"Interrupted.")
        finally:
            process.kill()
            out = process.communicate()[0]
    assert process.returncode in (130, -signal.SIGKILL)
    assert b"\n" not in said
    assert rest.rpartition(b"\r\x1b[K")[2].split() == [b"Interrupted."]
    assert out == b""
