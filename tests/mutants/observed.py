"""Which tests run each line, and how long each of them takes: one run of all on the code as it is."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .child import arguments, in_a_child

FIRST = 25
"""So many of the quickest tests are tried before any others."""
OF_EACH_LINE = 5
"""So many of the tests of a line around the change are tried then."""
OTHERS = 4
"""So many times longer are the turns of a package's own tests."""


@dataclass(frozen=True)
class Observed:
    """One run of all tests on the code as it is."""

    seconds: dict[str, float]
    """Of CPU, by test."""
    contexts: dict[str, dict[int, list[str]]]
    """The tests that ran a line, by file and line. While tests are collected, that is the test `""`."""

    def tests_of(self, file: str, lines: range, at_import: bool, slow: float, own: str) -> list[str]:
        """The tests that ran these lines, the quickest first.

        For what an import runs: all that ran any line of the file, idle ones, and those of the package, whose
        directory is `own`. A declaration is run once, whoever reads it later.
        """
        by_line = self.contexts.get(file, {})
        found = {test for line in lines for test in by_line.get(line, ())}
        if at_import:
            found = {test for tests in by_line.values() for test in tests} | self.idle
            found |= {test for test in self.seconds if test.startswith(f"{own}/")}
        fast = [test for test in found if self.seconds.get(test, slow) < slow]
        return sorted(fast, key=lambda test: (self.seconds[test], test))

    @cached_property
    def idle(self) -> set[str]:
        """The tests that run no line of the packages: some look at the modules themselves."""
        files = self.contexts.values()
        return self.seconds.keys() - {test for lines in files for tests in lines.values() for test in tests}

    def outside(self, file: str, lines: range) -> bool:
        """Whether these lines were run while tests were collected."""
        return any("" in self.contexts.get(file, {}).get(line, ()) for line in lines)

    def within(self, tests: Sequence[str], budget: float, own: str, file: str, around: range) -> list[str]:
        """Of many tests the quickest, some of each line around it, those that run the most of the file; then
        some of each file of tests.

        A line that few of them run is a case of its own, so that it comes first. The files take turns: a turn
        is an amount of time, so that all tests of values come before the second one of a server. Tests in the
        package's `own` directory have longer turns, since they were written for it.
        """
        by_line = self.contexts.get(file, {})
        ran = [frozenset(by_line.get(line, ())) for line in around]
        cases = [[test for test in tests if test in there] for there in ran]
        rare = sorted((case for case in cases if len(case) < len(tests)), key=len)
        depth = Counter(test for there in by_line.values() for test in there)
        quick = [test for test in tests if self.seconds[test] * FIRST < budget]
        deep = sorted(quick, key=lambda test: (-depth[test], self.seconds[test]))[:FIRST]
        of_lines = (test for case in rare for test in case[:OF_EACH_LINE])
        first = dict.fromkeys([*tests[:FIRST], *of_lines, *deep])
        taken: dict[str, float] = {}
        rest = []
        for test in tests:
            name = test.partition("::")[0]
            weight = 1 if name.startswith(f"{own}/") else OTHERS
            taken[name] = taken.get(name, 0.0) + weight * self.seconds[test]
            rest.append((taken[name], test))
        chosen: list[str] = []
        for test in dict.fromkeys([*first, *(test for _, test in sorted(rest))]):
            budget -= self.seconds[test]
            if budget < 0 and chosen:
                break
            chosen.append(test)
        return chosen


def observe(tree: Path, packages: Sequence[str], tests: Sequence[str], note: Path) -> Observed:
    """All tests once, in a process of their own, which notes for each line the tests that run it and pass."""
    if not note.exists():
        ended = in_a_child(lambda: _noting(tree, packages, tests, note), cpu=None)
        if ended not in ("0", "1"):
            note.unlink(missing_ok=True)
            sys.exit(f"the tests cannot be run (pytest ended with {ended})")
    read = json.loads(note.read_text())
    tests = ["", *read["seconds"]]
    contexts = {
        file: {int(line): [tests[number] for number in numbers] for line, numbers in lines.items()}
        for file, lines in read["contexts"].items()
    }
    return Observed(read["seconds"], contexts)


def _noting(tree: Path, packages: Sequence[str], tests: Sequence[str], note: Path) -> int:
    import pytest
    from coverage import Coverage

    sys.dont_write_bytecode = False
    sources = [str(tree / package) for package in packages]
    watched = Coverage(data_file=None, config_file=False, source=sources)
    seconds: dict[str, float] = {}

    class Contexts:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
            watched.switch_context(item.nodeid)
            began, failed = time.process_time(), item.session.testsfailed
            result = yield
            if item.session.testsfailed > failed:
                print(f"left out, since it fails on the code as it is: {item.nodeid}", flush=True)
            else:
                seconds[item.nodeid] = time.process_time() - began
            watched.switch_context("")
            return result

    watched.start()
    words = [word for word in arguments(tree) if word != "-x"]
    ended = pytest.main([*words, *tests], plugins=[Contexts()])
    watched.stop()
    data = watched.get_data()
    numbers = {test: number for number, test in enumerate(["", *seconds])}
    contexts = {
        str(Path(file).relative_to(tree)): {
            line: sorted(numbers[test] for test in tests if test in numbers)
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    note.write_text(json.dumps({"seconds": seconds, "contexts": contexts}))
    return int(ended)
