"""How the CPU time of planning grows with what is planned: 2 for each doubling is linear.

    python -m benchmarks.slopes [--sizes 1000 2000 4000 8000] [--rounds 1] [--only "sections of one site"]

Each shape (benchmarks/shapes.py) is planned against answers in memory, so that what is measured is reading,
recognising and planning, and neither HTTP nor a server. Of "applying creates" it is the apply. All sizes are
measured at the same time, each in a process of its own and all of them on one core, which they share in turns
of milliseconds: where a machine is faster at one moment than at another, it is so for every size. A smaller
size runs so often that all take about as long. The seconds are the CPU time of one run, the mean of all runs.
It ends with 1 when a shape takes more than 2.4 times as long after one of the doublings.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import mean

from benchmarks.memory import Memory
from benchmarks.shapes import ACME, ORGANIZATION, SHAPES, Shape
from dpsync.api import Options, Session, load, load_registry
from dpsync.client.client import WriteClient
from dpsync.model.desired import NO_BASE, Base, Desired
from dpsync.model.plan import Plan


def run(shape: Shape, parallelism: int = 4) -> Callable[[], int]:
    """Prepare a run and return a function that plans or applies and returns the number of changes.

    With a `parallelism` of 1 it does the same each time, however fast the machine is.
    """
    if shape.applied:
        return applying(shape, parallelism)
    plan = planning(shape, parallelism)
    return lambda: len(plan().changes)


def planning(shape: Shape, parallelism: int = 4) -> Callable[[], Plan]:
    session, objects = _session(shape, parallelism)

    def plan() -> Plan:
        with _client(shape, objects) as client:
            return session.plan(client, Options(shape.confirm)).plan

    return plan


def applying(shape: Shape, parallelism: int = 4) -> Callable[[], int]:
    session, objects = _session(shape, parallelism)

    def apply() -> int:
        with _client(shape, objects) as client:
            report = session.apply(client, session.plan(client, Options(shape.confirm)))
            return sum(outcome.result == "done" for outcome in report.outcomes)

    return apply


def _session(shape: Shape, parallelism: int) -> tuple[Session, dict[str, dict[str, object]]]:
    session = Session(_desired(shape, shape.entries), load_registry(), parallelism, base=_base(shape))
    return session, {ORGANIZATION: ACME, **shape.objects}


def _client(shape: Shape, objects: dict[str, dict[str, object]]) -> WriteClient:
    return WriteClient("http://platform.example/v1", "token", transport=Memory(objects, shape.lists))


def _base(shape: Shape) -> Base:
    return NO_BASE if shape.before is None else Base("base", "0" * 40, _desired(shape, shape.before))


def _desired(shape: Shape, entries: dict[str, object]) -> Desired:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / "dpsync.yaml"
        root.write_text(json.dumps(shape.configuration(entries)), encoding="utf-8")
        return load(root, {})


def measure(make: Callable[[int], Shape], sizes: Sequence[int], rounds: int) -> list[float]:
    """Return the CPU seconds of each size. The largest size runs once per round."""
    works = [run(make(size)) for size in sizes]
    forks = get_context("fork")
    answers = []
    for size, once in zip(sizes, works, strict=True):
        receiving, sending = forks.Pipe(duplex=False)
        times = rounds * max(sizes) // size
        forks.Process(target=_send, args=(sending, once, times)).start()
        sending.close()
        answers.append(receiving)
    return [answer.recv() for answer in answers]


def _send(sending: Connection, once: Callable[[], int], times: int) -> None:
    """In a process of its own: what it takes, to the one that measures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sending.send(mean(_seconds(once) for _ in range(times)))


def _seconds(once: Callable[[], int]) -> float:
    gc.collect()
    before = time.process_time()
    once()
    return time.process_time() - before


def ratios(seconds: Sequence[float]) -> list[float]:
    """Of each doubling."""
    return [after / before for before, after in pairwise(seconds)]


def steep(seconds: Sequence[float], most: float) -> bool:
    """Whether it grows by too much."""
    return any(ratio > most for ratio in ratios(seconds))


def row(name: str, seconds: Sequence[float]) -> str:
    """One line of the table."""
    cells = [*(f"{value:.2f}" for value in seconds), *(f"{value:.1f}" for value in ratios(seconds))]
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print, one line for each shape."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 4000, 8000], metavar="N")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--most", type=float, default=2.4, metavar="RATIO")
    parser.add_argument("--only", choices=SHAPES, action="append")
    given = parser.parse_args(arguments)
    heads = [*(f"{size:,} (s)" for size in given.sizes), *(f"to {size:,}" for size in given.sizes[1:])]
    print(f"| shape | {' | '.join(heads)} |")
    print(f"|---|{'---:|' * len(heads)}")
    missed = []
    for name in given.only or SHAPES:
        seconds = measure(SHAPES[name], given.sizes, given.rounds)
        print(row(name, seconds), flush=True)
        missed += [name] if steep(seconds, given.most) else []
    for name in missed:
        print(f"more than {given.most} for a doubling: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
