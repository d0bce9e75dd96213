"""Which tests are tried for a change of some lines: what is known of each test, and how they are chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

FIRST = 25
"""So many of the quickest tests are tried before any others."""
OF_EACH_LINE = 5
"""So many of the tests of a line around the change are tried then."""
OF_EACH_NAME = 2
"""So many of the cases of one test are among those whose names are like the change."""
OTHERS = 4
"""So many times longer are the turns of a package's own tests."""


@dataclass(frozen=True)
class Observed:
    """One run of all tests on the code as it is."""

    seconds: dict[str, float]
    """Of CPU, by test."""
    contexts: dict[str, dict[int, list[str]]]
    """The tests that ran a line, by file and line. While tests are collected, that is the test `""`."""

    def tests_of(self, file: str, lines: range, at_import: bool, slow: float, readers: Set[str]) -> list[str]:
        """The tests that ran these lines, the quickest first.

        For what an import runs: all that ran any line of the file, idle ones, and those in the files of tests
        that are `readers`. A declaration is run once, whoever reads it later.
        """
        by_line = self.contexts.get(file, {})
        found = {test for line in lines for test in by_line.get(line, ())}
        if at_import:
            found = {test for tests in by_line.values() for test in tests} | self.idle
            found |= {test for test in self.seconds if test.partition("::")[0] in readers}
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

    def only_outside(self, file: str, lines: range) -> bool:
        """Whether nothing but the collection of tests ran these lines: a value is made once, and kept."""
        return {test for line in lines for test in self.contexts.get(file, {}).get(line, ())} == {""}

    def alike(self, tests: Sequence[str], text: str) -> list[str]:
        """Of these tests the ones whose names have the most of the words of a text.

        A word that few names have counts more. Words are the same that begin alike: deletes, deleted.
        """
        wanted = _words(text)
        found: dict[str, list[str]] = {}
        for test in tests:
            found.setdefault(test.partition("[")[0], []).append(test)
        known = {name: _words(name) for name in found}
        often = Counter(word for words in known.values() for word in words)
        likeness = {name: sum(1 / often[word] for word in known[name] & wanted) for name in found}
        nearest = sorted((name for name in found if likeness[name]), key=lambda name: -likeness[name])
        return [test for name in nearest[:FIRST] for test in found[name][:OF_EACH_NAME]]

    def within(
        self, tests: Sequence[str], budget: float, own: str, file: str, around: range, near: Sequence[str]
    ) -> list[str]:
        """Of many tests those `near` to the change, the quickest, some of each line around it, and those that
        run the most of the file; then some of each file of tests.

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
        among = set(tests)
        first = dict.fromkeys([*(test for test in near if test in among), *tests[:FIRST], *of_lines, *deep])
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


def _words(text: str) -> set[str]:
    """The beginnings of its words, those in names included."""
    return {word[:5] for word in re.findall("[a-z]{4,}", text.lower())}
