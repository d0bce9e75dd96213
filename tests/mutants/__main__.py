"""How many small mistakes in the code do its tests notice? `make mutants`; `python -m tests.mutants --help`.

A mutant is the code with one mistake of cosmic-ray's operators in it. For each one only those tests are run
that execute the changed statement, the quickest first, until one of them fails. Everything happens in a
temporary copy of the tree.

One process imports and collects all tests once. For a mutant it forks; the child changes the functions in
memory and runs the tests. What only an import runs (a constant, a decorator, a default value) is changed in
the file instead, and the tests begin in a process that has imported nothing of it. Where the statement was
run while tests were collected, the test that failed is run again like that: it may have compared values
from before the change with values from after it. A test that fails on the code as it is kills nothing.

A sample takes as many places of each package, and places in the code, not mutants: at each place that is
drawn, one mistake is drawn. Otherwise operators with many replacements (`==` has seven) would be most of the
sample. Left out is what changes nothing in code that works: annotations, imports for type checkers, the size
of a cache, `strict=True`, the number in `x[0]` below `if len(x) == 1`; `is` in the place of `==` and the
other way round, which is the same for None and the members of an enumeration; and `<` in the place of `==`
with a word of the code, of which the alphabet decides (`!=` is drawn there). What is no Python any more
(`not` before `:=`) is no mutant.

Which tests execute a line is found out by one run of all tests under coverage. That is kept in the cache
directory of the user, under a digest of the packages, with a digest of each file of tests: another sample of
the same code begins at once, and only files of tests that have changed are run again. Of
what only an import runs coverage knows no reader: there the tests are tried that run anything of the file, or
that stand in a file which names the package. First come the tests that show a guard of the same function
(docs/guards.md), those that have found a mistake in the package, and those whose names are like the words of
the function; what is near to a mistake should see it.

A place that no test runs counts as survived. Tests that take longer than `--slow` seconds are not run, and of
those of one mutant no more than `--budget` seconds: so a survivor is one that these tests did not notice.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from functools import partial
from multiprocessing import Value
from pathlib import Path
from random import Random

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

from .child import all_in_children
from .collected import Collected
from .guards import PAGE, Guard, listed
from .observed import FIRST, Observed
from .observing import note_of, observe
from .places import Mutant, function, is_run_by_an_import, sample, statement
from .tree import ROOT, copied
from .trial import Trial

NAMES = (
    *("planner", "identity", "apply", "live", "github", "config", "importing", "client", "kinds", "document"),
    *("model", "workflows", "render", "cli", "server"),
)
"""Of packages; their own tests are in the directories with these names."""
PACKAGES = tuple(f"dpsync/{name}" for name in NAMES)
TESTS = ("tests",)


class Untried:
    """The mutants of a sample with their numbers. Each process gets the next one that no other has."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._mutants = mutants
        self._given = Value("l", 0)

    def __iter__(self) -> Iterator[tuple[int, Mutant]]:
        while True:
            with self._given.get_lock():
                self._given.value += 1
                number = self._given.value
            if number > len(self._mutants):
                return
            yield number, self._mutants[number - 1]


def main() -> None:
    options = _options()
    packages, tests = options.packages or PACKAGES, options.tests or TESTS
    note = options.notes.absolute() if options.notes else None
    with copied(options.root) as tree:
        observed = observe(tree, packages, tests, note or note_of(tree, packages), options.jobs)
        mutants = sample(tree, packages, options.sample, Random(options.seed), options.operators)
        print(f"seed {options.seed}: {len(mutants)} mutants of {', '.join(packages)}", flush=True)
        counts = [tree.parent / f"counts-{number}.json" for number in range(options.jobs)]
        untried = Untried(mutants)
        ended = all_in_children(
            [partial(_run_part, tests, observed, untried, one, options) for one in counts]
        )
        if {*ended} != {"0"}:
            sys.exit(f"not all mutants were tried (the processes ended with {', '.join(ended)})")
        _print_all([json.loads(path.read_text()) for path in counts], options.seed)


def _run_part(
    tests: Sequence[str],
    observed: Observed,
    untried: Untried,
    counts: Path,
    options: argparse.Namespace,
) -> int:
    """The mutants of one process, in a tree of its own: what an import runs is changed in its file."""
    with copied(options.root) as tree, Collected(tree, tests) as collected:
        counts.write_text(json.dumps(_run_all(tree, observed, collected, untried, options)))
    return 0


def _print_all(counts: Sequence[dict[str, dict[str, int]]], seed: int) -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in counts:
        for package, outcomes in one.items():
            found[package].update(outcomes)
    for package in sorted(found):
        print(f"{package}: {_said(found[package])}")
    print(f"seed {seed}: {_said(sum(found.values(), Counter()))}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=None, help="which ones; drawn and printed if not given")
    parser.add_argument("--only", type=int, nargs="+", help="of this sample, the ones with these numbers")
    parser.add_argument(
        "--operators", default="", help="only mistakes with this in their name: NumberReplacer, Comparison"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--slow", type=float, default=3.0, help="leave out tests of so many seconds (3)")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests for one mutant (20)")
    parser.add_argument(
        "--notes", type=Path, help="what each test runs: read if it is there, else written (a cache)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="how many processes (one for each core)"
    )
    parser.add_argument("--patience", type=float, default=2.0, help="times the normal duration, plus 5 s (2)")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to copy")
    parser.add_argument("--packages", nargs="+", help="directories to mutate, from the root")
    parser.add_argument("--tests", nargs="+", help="tests to run, from the root")
    options = parser.parse_args()
    options.root = options.root.resolve()
    if options.seed is None:
        options.seed = Random().randrange(10**6)
    return options


def _run_all(
    tree: Path,
    observed: Observed,
    collected: Collected,
    mutants: Iterable[tuple[int, Mutant]],
    options: argparse.Namespace,
) -> dict[str, Counter[str]]:
    """What came of these mutants, by package. Their numbers are those in the sample."""
    began = time.monotonic()
    page = tree / PAGE
    guards = [*listed(page.read_text(encoding="utf-8"))] if page.exists() else []
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    killers: dict[str, dict[str, None]] = defaultdict(dict)
    for number, mutant in mutants:
        if time.monotonic() - began > options.minutes * 60:
            print(f"stopped after {options.minutes:g} minutes")
            break
        if options.only and number not in options.only:
            continue
        path = tree / mutant.file
        source = path.read_text()
        changed = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
        if not _is_python(changed):
            continue
        lines = statement(source, mutant.line)
        at_import = is_run_by_an_import(source, mutant.line) or observed.only_outside(mutant.file, lines)
        package = _package(mutant, options.packages or PACKAGES)
        own, before = f"tests/{package}", killers[package]
        readers = _readers(tree, mutant.file, own) if at_import else set()
        tests = observed.tests_of(mutant.file, lines, at_import, options.slow, readers)
        around = function(source, mutant.line)
        text = "\n".join(source.splitlines()[around.start - 1 : around.stop - 1])
        shown = _shown(guards, mutant.file, text)
        near = [
            *(test for test in tests if test.partition("[")[0] in shown),
            *[test for test in reversed(before) if test in set(tests)][:FIRST],
            *observed.alike(tests, text),
        ]
        chosen = observed.within(tests, options.budget, own, mutant.file, around, near)
        cpu = options.patience * sum(observed.seconds[test] for test in chosen) + 5
        trial = Trial(tree, collected, mutant.file, changed, cpu)
        if at_import:
            outcome, killer = trial.from_the_start(chosen)
        else:
            outcome, killer = trial.in_memory(chosen, observed.outside(mutant.file, lines))
        if killer:
            before.pop(killer, None)
            before[killer] = None
        by_package[package][outcome] += 1
        what = f"{len(chosen)} of {len(tests)} tests" if tests else "no test runs it"
        told = [f"{outcome} #{number} {mutant.file}:{mutant.line} {mutant.operator} ({killer or what})"]
        if outcome != "killed":
            told.append(_difference(source, changed))
        print("\n".join(told), flush=True)
    return by_package


def _said(count: Counter[str]) -> str:
    ran = count.total()
    noticed = 100 * (count["killed"] + count["timeout"]) / max(ran, 1)
    return (
        f"{ran} mutants: {count['killed']} killed, {count['survived']} survived, {count['timeout']} timeout; "
        f"{noticed:.1f}% noticed"
    )


def _package(mutant: Mutant, packages: Sequence[str]) -> str:
    """The name of the package that a mutant is in."""
    return next(Path(one).name for one in packages if mutant.file.startswith(f"{one}/"))


def _shown(guards: Sequence[Guard], file: str, text: str) -> set[str]:
    """The tests by which guards of a function are shown, where this is the text of that function."""
    name = re.search(r"\bdef (\w+)", text)
    rows = (guard for guard in guards if name and guard.file == file)
    return {test for guard in rows if name and guard.function.endswith(name[1]) for test in guard.tests}


def _readers(tree: Path, file: str, own: str) -> set[str]:
    """The files of tests in the package's `own` directory, and those that name the package."""
    package = ".".join(Path(file).parts[:2]).removesuffix(".py")
    files = {str(path.relative_to(tree)): path for path in (tree / "tests").rglob("test_*.py")}
    return {name for name, path in files.items() if name.startswith(f"{own}/") or package in path.read_text()}


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "", "exec")
    except SyntaxError:
        return False
    return True


def _difference(source: str, changed: str) -> str:
    lines = [[line.strip() for line in text.splitlines()] for text in (source, changed)]
    found = list(unified_diff(*lines, n=0, lineterm=""))[2:]
    return "\n".join(f"  {line[0]} {line[1:]}" for line in found if line[0] in "+-" and line[1:])


if __name__ == "__main__":
    main()
