"""Something that is run in a process of its own, and what came of it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

ELSEWHERE = 71
"""How a child ends in which no function has the change."""


def outcome_of(ended: str) -> str:
    known = {"0": "survived", "timeout": "timeout", str(ELSEWHERE): "elsewhere"}
    return known.get(ended, "killed")


def arguments(tree: Path) -> list[str]:
    """For pytest. Asserts stay as they are, so that the code in memory is that of the files."""
    ignored = "ignore::pytest.PytestAssertRewriteWarning"  # plugins were imported before
    return ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-W", ignored, "--rootdir", str(tree)]


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def in_a_child(run: Callable[[], int], cpu: float | None) -> str:
    """What a function answers in a process of its own, or "timeout".

    What counts is time of CPU, so that a busy machine changes nothing. What waits for ever ends after ten
    times as long.
    """
    return _end(_begun(run, cpu), cpu)


def all_in_children(runs: Sequence[Callable[[], int]]) -> list[str]:
    """What functions answer, each in a process of its own, all at the same time, for as long as they take."""
    begun = [_begun(run, None) for run in runs]
    try:
        return [_end(child, None) for child in begun]
    finally:  # also when the search is interrupted
        for child in begun:
            _kill(child)


def _begun(run: Callable[[], int], cpu: float | None) -> int:
    """The number of a process of its own in which a function runs."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        ended = 70
        try:
            os.setsid()
            if cpu is not None:
                silent = os.open(os.devnull, os.O_RDWR)
                for stream in (1, 2):
                    os.dup2(silent, stream)
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
            ended = run()
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(ended)
    return child


def _end(child: int, cpu: float | None) -> str:
    """How a process ended, once it has."""
    patience = threading.Timer(threading.TIMEOUT_MAX if cpu is None else 10 * cpu, _kill, [child])
    patience.daemon = True
    patience.start()
    try:
        _, status = os.waitpid(child, 0)
        child = 0
    finally:  # also when the search is interrupted
        patience.cancel()
        patience.join()
        if child:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "signal"
    return str(os.WEXITSTATUS(status))
