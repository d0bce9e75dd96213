"""Planning twice as much takes twice as much: lines of dpsync that are run are counted, not seconds.

Of each function the lines that it runs are counted for three sizes. What grows with the size, and what does
not, cancels out; what is left over is what grows with pairs of things. Where that is a line for each pair,
somebody looks for a thing among all of them, for each of them. What C does by itself (copying a set) is not
seen by that: `python -m benchmarks.slopes` finds it.

How fast the machine is must not be counted: one request is in flight at a time, so that threads take no
turns, and what an apply has learned is written at its end, not once a second.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import dpsync
from benchmarks.shapes import SHAPES
from benchmarks.slopes import planning, run
from dpsync.apply import ids_recorder

SIZE = 10
MOST = 0.8
"""Lines for a pair: looking through all of them for each takes one or two, sorting some tenths of one."""

Where = tuple[str, str, int]
Tracer = Callable[[FrameType, str, Any], Any]
PACKAGE = str(Path(dpsync.__file__).parent)


def lines(work: Callable[[], object]) -> Counter[Where]:
    """How often a line of each function of dpsync was run, in any thread."""
    counted: dict[
        int, tuple[CodeType, Tracer | None, list[int]]
    ] = {}  # by identity: equal code takes long to hash

    def trace(frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if (known := counted.get(id(code))) is None:
            # Methods of dataclasses come from no file.
            ours = code.co_filename.startswith(PACKAGE) or code.co_filename == "<string>"
            known = counted[id(code)] = (code, *(counting() if ours else (None, [0])))
        _, inside, times = known
        times[0] += 1
        return inside

    before, of_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        threading.settrace(of_threads)
    found: Counter[Where] = Counter()
    for code, inside, times in counted.values():
        if inside is not None:
            found[code.co_filename, code.co_name, code.co_firstlineno] += times[0]
    return found


def counting() -> tuple[Tracer, list[int]]:
    """Return a tracer that counts the executed lines of functions, and its counter."""
    times = [0]

    def inside(_frame: FrameType, _event: str, _argument: Any) -> Any:
        times[0] += 1
        return inside

    return inside, times


def of_pairs(make: Callable[[int], Callable[[], object]]) -> dict[Where, float]:
    """Of each function how many lines it runs for a pair of things."""
    make(4 * SIZE)()  # what is remembered from now on is remembered for every size
    few, some, many = (lines(make(size)) for size in (SIZE, 2 * SIZE, 4 * SIZE))
    pairs = 6 * SIZE * SIZE
    return {where: (many[where] - 3 * some[where] + 2 * few[where]) / pairs for where in many}


def steep(make: Callable[[int], Callable[[], object]]) -> dict[Where, float]:
    """Return the code that runs about once per pair. The comparisons of a sort are exempt."""
    found = of_pairs(make).items()
    return {where: slope for where, slope in found if slope > MOST and where[1] != "__lt__"}


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an apply write ids only at its start and its end, however long it takes."""
    monkeypatch.setattr(ids_recorder, "WRITE_INTERVAL", 1e6)


@pytest.mark.parametrize("name", SHAPES)
def test_planner_function_calls_grow_at_most_linearly(name: str) -> None:
    assert steep(lambda size: run(SHAPES[name](size), parallelism=1)) == {}


def test_repeated_apply_executes_same_number_of_lines() -> None:
    apply = [run(SHAPES["applying creates"](SIZE), parallelism=1) for _ in range(3)]
    _, first, second = (lines(one) for one in apply)
    assert first == second


@pytest.mark.parametrize("name", SHAPES)
def test_apply_step_dependencies_grow_linearly(name: str) -> None:
    few, some, many = (_edges(name, size) for size in (SIZE, 2 * SIZE, 4 * SIZE))
    assert many - 2 * some <= some - 2 * few + SIZE


def _edges(name: str, size: int) -> int:
    steps = (step for change in planning(SHAPES[name](size))().changes for step in change.steps)
    return sum(len(step.needs) + len(step.follows) for step in steps)


def _looks_through(size: int) -> None:
    """Compare all pairs of numbers, in code that is counted as if it belonged to dpsync."""
    code = compile("[one for one in things for other in things if one is other]", "<string>", "eval")
    eval(code, {"things": range(size)})


def test_growth_check_detects_quadratic_function() -> None:
    assert steep(lambda size: lambda: _looks_through(size))
    assert not steep(lambda size: lambda: [_looks_through(2) for _ in range(size)])
