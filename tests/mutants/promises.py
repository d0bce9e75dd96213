"""Break each promise of docs/promises.md on purpose and run the tests that prove it: `make promises`.

docs/promise-mutants.md is the list. A heading is a promise. A row below the heading names a symbol of dpsync,
its replacement in this package, the resulting harm, and tests of the promise. Each of these tests must fail
with the replacement, and pass without it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .breaking import REPLACEMENT, SYMBOL

ROOT = Path(__file__).parents[2]
PAGE = "docs/promise-mutants.md"
MINUTES = 10
"""How long the tests of a row may take."""
_HEADING = re.compile(r"### (\d+)\. .+")
_ROW = re.compile(r"\| `([\w.]+:[\w.]+)` \| \[(\w+\.\w+)\]\(\.\./tests/mutants/\w+\.py\) \| (.+?) \| (.+) \|")
_TEST = re.compile(r"\[(\w+)\]\(\.\./(tests/[\w/]+\.py)\)")


@dataclass(frozen=True)
class Broken:
    """A mistake that breaks one promise."""

    promise: int
    symbol: str
    """Module and name, as `dpsync.disk:lock`."""
    replacement: str
    """Module of this package and name, as `applying.never_lock`."""
    harm: str
    tests: tuple[str, ...]
    """As pytest names them: "tests/identity/test_match.py::test_ambiguous_match_is_reported"."""

    def __str__(self) -> str:
        return f"promise {self.promise}: {self.symbol} → {self.replacement}"


def listed(page: str) -> Iterator[Broken]:
    """Yield the rows of the page. Raises ValueError for a malformed row."""
    promise = 0
    for line in page.splitlines():
        if heading := _HEADING.fullmatch(line):
            promise = int(heading[1])
        elif promise and line.startswith("| `"):
            row = _ROW.fullmatch(line)
            if row is None:
                raise ValueError(f"expected a symbol, its replacement, the harm and tests: {line}")
            symbol, replacement, harm, tests = row.groups()
            names = tuple(f"{path}::{name}" for name, path in _TEST.findall(tests))
            yield Broken(promise, symbol, replacement, harm, names)


def run(tests: Sequence[str], broken: Broken | None, *options: str) -> int:
    """Run tests in a new process and return the exit code of pytest, or -1 if they take too long."""
    env = {**os.environ, "CI": "true"}  # properties draw the same examples each time
    if broken is not None:
        env |= {SYMBOL: broken.symbol, REPLACEMENT: broken.replacement}
        env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent / "site"), str(ROOT)])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    output = None if broken is None else subprocess.DEVNULL
    try:
        ended = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env=env,
            check=False,
            timeout=60 * MINUTES,
            stdout=output,
            stderr=output,
        )
    except subprocess.TimeoutExpired:
        return -1
    return ended.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("promises", nargs="*", type=int, help="only these promises")
    numbers = parser.parse_args().promises
    rows = [
        row
        for row in listed((ROOT / PAGE).read_text(encoding="utf-8"))
        if not numbers or row.promise in numbers
    ]
    if run(sorted({test for row in rows for test in row.tests}), None, "-n", "2"):
        sys.exit("tests fail without any mistake")

    trials = [(row, test) for row in rows for test in row.tests]
    with ThreadPoolExecutor(2) as pool:
        ends = pool.map(lambda trial: run([trial[1]], trial[0]), trials)
        unnoticed = 0
        for (row, test), end in zip(trials, ends, strict=True):
            noticed = end == 1  # some tests failed; any other code means that pytest could not run them
            unnoticed += not noticed
            print(f"{'noticed' if noticed else f'NOT NOTICED ({end})'} {row} {test}", flush=True)
    print(
        f"{len(rows)} mistakes, each of which breaks a promise: {unnoticed} not noticed by a test of its row"
    )
    sys.exit(bool(unnoticed))


if __name__ == "__main__":
    main()
