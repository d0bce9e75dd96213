"""Runs the machine for some minutes: `make soak MINUTES=10`, or one history again: `--seed 7 --steps 0,3,4`.

What breaks a promise is printed with its seed, and with as few steps as were found that still break it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom

from .machine import BrokenPromiseError, Machine, machines, walk

STEPS = 30
"""Of one history."""
PATIENCE = 180.0
"""Seconds for the search of fewer steps."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to go on (default: 5)")
    parser.add_argument("--seed", type=int, help="the first history (default: drawn); alone: only this one")
    parser.add_argument("--steps", help="which steps of it, as 0,3,4 or as 0-29 (default: 0-29)")
    parser.add_argument("--histories", type=int, help="how many, instead of --minutes")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every history")
    options = parser.parse_args()
    first = SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    alone = options.steps is not None or (options.seed is not None and options.histories is None)
    steps = _steps(options.steps or f"0-{STEPS - 1}")
    end, broken, number = time.monotonic() + 60 * options.minutes, 0, 0
    print(f"seed {first}", flush=True)
    with tempfile.TemporaryDirectory(prefix="machine-") as directory, machines(Path(directory)) as made:
        while number < (1 if alone else options.histories or sys.maxsize) and time.monotonic() < end:
            machine = made(first + number)
            number += 1
            try:
                walk(machine, steps)
            except BrokenPromiseError as found:
                broken += 1
                _tell(made, machine.seed, steps, found, options.steps is not None)
            if options.verbose:
                print("\n".join([f"seed {machine.seed} {machine.profile}", *machine.log]), flush=True)
    print(f"{number} histories from seed {first}, of {len(steps)} steps each: {broken} break a promise")
    sys.exit(bool(broken))


def _steps(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if last else [int(one) for one in text.split(",") if one]


def _tell(
    made: Callable[[int], Machine], seed: int, steps: list[int], found: BrokenPromiseError, whole: bool
) -> None:
    """Print a failure, and with which steps it comes again."""
    print(f"\n{found}\n\nrepeat: {_again(seed, steps)}", flush=True)
    if not whole:
        fewer, found = reduced(made, seed, steps, found)
        print(f"\nwith fewer steps:\n{found}\n\nrepeat: {_again(seed, fewer)}", flush=True)


def _again(seed: int, steps: Sequence[int]) -> str:
    return f"python -m tests.machine --seed {seed} --steps {','.join(map(str, steps))}"


def reduced(
    made: Callable[[int], Machine], seed: int, steps: list[int], found: BrokenPromiseError
) -> tuple[list[int], BrokenPromiseError]:
    """Fewer steps that break the same promise: without halves, quarters, and at last one by one."""
    kind, end = found.promise.partition(")")[0], time.monotonic() + PATIENCE
    size = len(steps) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(steps) and time.monotonic() < end:
            fewer = steps[:at] + steps[at + size :]
            try:
                walk(made(seed), fewer)
                at += size
            except BrokenPromiseError as other:
                if other.promise.partition(")")[0] == kind:
                    steps, found = fewer, other
                else:
                    at += size
        size //= 2
    return steps, found


if __name__ == "__main__":
    main()
