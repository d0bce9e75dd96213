"""How many small mistakes in the code do its tests notice? `make mutants`; `python tests/mutants.py --help`.

A mutant is the code with one mistake of cosmic-ray's operators in it. For each one only those tests are run
that execute the changed statement, the quickest first, until one of them fails. Everything happens in a
temporary copy of the tree.

One process imports and collects all tests once. For a mutant it forks; the child changes the functions in
memory and runs the tests. What only an import runs (a constant, a decorator, a default value) is changed in
the file instead, and the tests begin in a process that has imported nothing of it. Where the statement was
run while tests were collected, the test that failed is run again like that: it may have compared values
from before the change with values from after it. A test that fails on the code as it is kills nothing.

A sample takes places in the code, not mutants: at each place that is drawn, one mistake is drawn. Otherwise
operators with many replacements (`==` has seven) would be most of the sample. Annotations are left out, since
nothing evaluates them, and so is `is` in the place of `==` and the other way round, which is the same for
None and the members of an enumeration. What is no Python any more (`not` before `:=`) is no mutant.

A place that no test runs counts as survived. Tests that take longer than `--slow` seconds are not run, and of
those of one mutant no more than `--budget` seconds: so a survivor is one that these tests did not notice.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache, cached_property
from io import StringIO
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tokenize import COMMENT, NL, OP, generate_tokens
from types import CodeType, FunctionType
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

PACKAGES = ("dpsync/planner", "dpsync/identity", "dpsync/apply")
TESTS = (
    "tests/planner",
    "tests/identity",
    "tests/apply",
    "tests/ids",
    *(f"tests/cli/test_{name}.py" for name in ("drift", "select", "saved", "secrets", "forget")),
)
"""Those of the packages, and of the commands that are the way to a module of theirs."""
LEFT_OUT = ("NoOp", "VariableReplacer", "VariableInserter", "Eq_Is", "NotEq_IsNot", "Is_Eq", "IsNot_NotEq")
FIRST = 25
"""So many of the quickest tests are tried before any others."""
OF_EACH_LINE = 5
"""So many of the tests of a line around the change are tried then."""
ELSEWHERE = 71
"""How a child ends in which no function has the change."""
OTHERS = 4
"""So many times longer are the turns of a package's own tests."""


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Observed:
    """One run of all tests on the code as it is."""

    seconds: dict[str, float]
    """Of CPU, by test."""
    contexts: dict[str, dict[int, list[str]]]
    """The tests that ran a line, by file and line. While tests are collected, that is the test `""`."""

    def tests_of(self, file: str, lines: range, at_import: bool, slow: float) -> list[str]:
        """The tests that ran these lines, the quickest first; all of a file, and idle ones, for an import."""
        by_line = self.contexts.get(file, {})
        found = {test for line in lines for test in by_line.get(line, ())}
        if at_import:
            found = {test for tests in by_line.values() for test in tests} | self.idle
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


def main() -> None:
    options = _options()
    packages, tests = options.packages or PACKAGES, options.tests or TESTS
    os.environ.setdefault("CI", "true")  # the properties draw the same examples each time
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        tree = Path(directory).resolve() / "tree"
        note = options.notes.absolute() if options.notes else tree.parent / "notes.json"
        _copy(options.root.resolve(), tree)
        elsewhere = [entry for entry in sys.path if Path(entry).resolve() != options.root.resolve()]
        sys.path[:] = [str(tree), *elsewhere]
        os.environ["PYTHONPATH"] = str(tree)
        os.chdir(tree)
        observed = _observe(tree, packages, tests, note)
        mutants = _sample(tree, packages, options.sample, Random(options.seed))
        print(f"seed {options.seed}: {len(mutants)} mutants of {', '.join(packages)}", flush=True)
        with _Collected(tree, tests) as collected:
            _run_all(tree, observed, collected, mutants, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=None, help="which ones; drawn and printed if not given")
    parser.add_argument("--only", type=int, nargs="+", help="of this sample, the ones with these numbers")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--slow", type=float, default=3.0, help="leave out tests of so many seconds (3)")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests for one mutant (20)")
    parser.add_argument("--notes", type=Path, help="what each test runs: read if it is there, else written")
    parser.add_argument("--patience", type=float, default=2.0, help="times the normal duration, plus 5 s (2)")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the tree to copy")
    parser.add_argument("--packages", nargs="+", help="directories to mutate, from the root")
    parser.add_argument("--tests", nargs="+", help="tests to run, from the root")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = Random().randrange(10**6)
    return options


def _copy(root: Path, tree: Path) -> None:
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(root, tree, ignore=left_out)


# -- what each test runs -------------------------------------------------------------------------------------


def _observe(tree: Path, packages: Sequence[str], tests: Sequence[str], note: Path) -> Observed:
    """All tests once, in a process of their own, which notes for each line the tests that run it."""
    if not note.exists():
        ended = _in_a_child(lambda: _noting(tree, packages, tests, note), cpu=None)
        if ended != "0":
            note.unlink(missing_ok=True)
            sys.exit(f"the tests do not pass on the code as it is (pytest ended with {ended})")
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
            began = time.process_time()
            result = yield
            seconds[item.nodeid] = time.process_time() - began
            watched.switch_context("")
            return result

    watched.start()
    ended = pytest.main([*_arguments(tree), *tests], plugins=[Contexts()])
    watched.stop()
    data = watched.get_data()
    numbers = {test: number for number, test in enumerate(["", *seconds])}
    contexts = {
        str(Path(file).relative_to(tree)): {
            line: sorted(numbers[test] for test in tests)
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    note.write_text(json.dumps({"seconds": seconds, "contexts": contexts}))
    return int(ended)


# -- tests that were collected once --------------------------------------------------------------------------


class _Collected:
    """A process in which all tests are collected. It runs some of them in children, each with one change."""

    def __init__(self, tree: Path, tests: Sequence[str]) -> None:
        self._tree = tree
        self._connection, there = Pipe()
        self._child = os.fork()
        if self._child == 0:
            self._connection.close()
            try:
                _serve(tree, tests, there)
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(1)
        there.close()

    def __enter__(self) -> _Collected:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        os.waitpid(self._child, 0)

    def run(self, tests: Sequence[str], file: str, changed: str | None, cpu: float) -> tuple[str, str]:
        """What came of these tests with this text of a file, or without a change; and the one that failed."""
        self._connection.send((tests, file, changed, cpu))
        answer: tuple[str, str] = self._connection.recv()
        return answer

    @cache  # noqa: B019
    def passes(self, test: str) -> bool:
        """Whether a test passes on the code as it is."""
        return self.run([test], "", None, 60.0)[0] == "survived"


def _serve(tree: Path, tests: Sequence[str], there: Connection) -> None:
    import pytest

    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    failed = tree.parent / "failed"

    class Serving:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            items = {item.nodeid: item for item in session.items}
            gc.unfreeze()  # what is frozen is not told
            functions = [one for one in gc.get_objects() if type(one) is FunctionType]
            gc.freeze()

            def run() -> int:
                if changed is not None and not _change(functions, tree / file, changed):
                    return ELSEWHERE
                for name, after in zip(names, [*names[1:], None], strict=True):
                    following = items[after] if after else None
                    session.config.hook.pytest_runtest_protocol(item=items[name], nextitem=following)
                    if session.testsfailed:
                        failed.write_text(name)
                        return 1
                return 0

            with contextlib.suppress(EOFError):
                while True:
                    names, file, changed, cpu = there.recv()
                    failed.write_text("")
                    there.send((_outcome(_in_a_child(run, cpu)), failed.read_text()))
            return True

    pytest.main([*_arguments(tree), "-s", "--tb=no", *tests], plugins=[Serving()])


def _change(functions: Sequence[FunctionType], path: Path, text: str) -> bool:
    """Give the functions of a module the code that they would have with another text of its file.

    False where nothing but an import would make the difference.
    """
    codes = [compile(one, path, "exec", dont_inherit=True) for one in (path.read_text(), text)]
    different = dict(_different(*codes))
    found = False
    for function in functions:
        new = different.get(function.__code__) if function.__code__.co_filename == str(path) else None
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
            found = True
    return found


def _different(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """What is not the same in two codes and in the codes inside them."""
    if old != new:
        yield old, new
        inside = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
        if len(inside[0]) == len(inside[1]):
            for pair in zip(*inside, strict=True):
                yield from _different(*pair)


# -- mutants -------------------------------------------------------------------------------------------------


def _sample(tree: Path, packages: Sequence[str], count: int, random: Random) -> list[Mutant]:
    """One mutant of each place, in an order by chance; when there are no places left, another one of each."""
    places: list[list[Mutant]] = []
    for package in packages:
        for path in sorted((tree / package).rglob("*.py")):
            places += _places(path, str(path.relative_to(tree)))
    for mutants in places:
        random.shuffle(mutants)
    rounds: list[Mutant] = []
    for number in range(max(map(len, places), default=0)):
        there = [mutants[number] for mutants in places if number < len(mutants)]
        random.shuffle(there)
        rounds += there
    return rounds[:count]


def _places(path: Path, file: str) -> list[list[Mutant]]:
    source = path.read_text()
    annotations = [
        ((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0))
        for node in ast.walk(ast.parse(source))
        for n in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(n, ast.expr)
    ]
    unpacking = _unpacking(source)
    nodes = list(ast_nodes(get_ast(source)))
    places: dict[Any, list[Mutant]] = {}
    for name in sorted(operator_names()):
        if name.endswith(LEFT_OUT):
            continue
        operator = get_operator(name)()
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, stop) in enumerate(positions):
            if start not in unpacking and not any(
                first <= start and stop <= last for first, last in annotations
            ):
                places.setdefault((start, stop), []).append(Mutant(file, start[0], name, occurrence))
    return list(places.values())


def _unpacking(source: str) -> set[tuple[int, int]]:
    """Where a star is no operator between two values."""
    tokens = [
        token for token in generate_tokens(StringIO(source).readline) if token.type not in (NL, COMMENT)
    ]
    return {
        token.start
        for before, token in pairwise(tokens)
        if token.string in ("*", "**") and before.type == OP and before.string not in (")", "]", "}")
    }


def _statement(source: str, line: int) -> range:
    """The lines of the innermost statement there; of one with a body, those before the body.

    A `break` or `continue` often leaves no trace when it is run: it goes with the statement that it is in.
    """
    found = range(line, line + 1)
    narrowest = sys.maxsize
    tree = ast.parse(source)
    around = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.ExceptHandler):
            continue
        body = getattr(node, "body", None)
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if isinstance(node, ast.Break | ast.Continue):
            first = getattr(around[node], "lineno", first)
        last = max(node.lineno, body[0].lineno - 1) if body else (node.end_lineno or node.lineno)
        if first <= line <= last and last - first < narrowest:
            found, narrowest = range(first, last + 1), last - first
    return found


def _function(source: str, line: int) -> range:
    """The lines of the innermost function there, or only this one."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    around = [range(node.lineno, (node.end_lineno or 0) + 1) for node in functions]
    return min((lines for lines in around if line in lines), key=len, default=range(line, line + 1))


def _is_run_by_an_import(source: str, line: int) -> bool:
    """Whether it is in no function's body. Only the first test that imports the module is noted there."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef))
    return not any(n.body[0].lineno <= line <= (n.end_lineno or 0) for n in functions)


# -- running -------------------------------------------------------------------------------------------------


def _run_all(
    tree: Path,
    observed: Observed,
    collected: _Collected,
    mutants: Sequence[Mutant],
    options: argparse.Namespace,
) -> None:
    began = time.monotonic()
    count = {"killed": 0, "survived": 0, "timeout": 0}
    for number, mutant in enumerate(mutants, 1):
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
        lines, at_import = _statement(source, mutant.line), _is_run_by_an_import(source, mutant.line)
        tests = observed.tests_of(mutant.file, lines, at_import, options.slow)
        chosen = observed.within(
            tests, options.budget, f"tests/{path.parent.name}", mutant.file, _function(source, mutant.line)
        )
        cpu = options.patience * sum(observed.seconds[test] for test in chosen) + 5
        trial = _Trial(tree, collected, mutant.file, changed, cpu)
        if at_import:
            outcome, killer = trial.from_the_start(chosen), ""
        else:
            outcome, killer = trial.in_memory(chosen, observed.outside(mutant.file, lines))
        count[outcome] += 1
        what = f"{len(chosen)} of {len(tests)} tests" if tests else "no test runs it"
        print(f"{outcome} #{number} {mutant.file}:{mutant.line} {mutant.operator} ({killer or what})")
        if outcome != "killed":
            print(_difference(source, changed))
        if sum(count.values()) % 25 == 0:
            print(f"… {count}")
        sys.stdout.flush()
    ran = sum(count.values())
    noticed = count["killed"] + count["timeout"]
    print(
        f"seed {options.seed}: {ran} mutants: {count['killed']} killed, {count['survived']} survived, "
        f"{count['timeout']} timeout; {100 * noticed / max(ran, 1):.1f}% noticed"
    )


@dataclass(frozen=True)
class _Trial:
    """One change of a file."""

    tree: Path
    collected: _Collected
    file: str
    changed: str
    cpu: float

    def in_memory(self, tests: Sequence[str], outside: bool) -> tuple[str, str]:
        """What the tests say, and which one failed. One that fails for another reason is passed over."""
        while tests:
            outcome, killer = self.collected.run(tests, self.file, self.changed, self.cpu)
            if outcome == "elsewhere" or (outcome == "killed" and not killer):
                return self.from_the_start(tests), ""
            if outcome != "killed":
                return outcome, ""
            right = self.collected.passes(killer)
            if right and not (outside and self.from_the_start([killer]) == "survived"):
                return outcome, killer
            tests = tests[tests.index(killer) + 1 :]
        return "survived", ""

    def from_the_start(self, tests: Sequence[str]) -> str:
        """What the tests say when all modules are imported with the change."""

        def run() -> int:
            import pytest

            sys.dont_write_bytecode = True
            importlib.invalidate_caches()
            for part in (tests[:FIRST], tests[FIRST:]):
                if part and (ended := pytest.main([*_arguments(self.tree), *part])):
                    return int(ended)
            return 0

        with _changed(self.tree / self.file, self.changed):
            return _outcome(_in_a_child(run, self.cpu)) if tests else "survived"


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


@contextlib.contextmanager
def _changed(path: Path, text: str) -> Iterator[None]:
    """The file has this text for a while. Its bytecode, known by time and size only, goes for as long."""
    source, times = path.read_bytes(), path.stat()
    cached = Path(importlib.util.cache_from_source(str(path)))
    bytecode = cached.read_bytes() if cached.exists() else None
    cached.unlink(missing_ok=True)
    path.write_text(text)
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if bytecode is not None:
            cached.write_bytes(bytecode)


def _outcome(ended: str) -> str:
    known = {"0": "survived", "timeout": "timeout", str(ELSEWHERE): "elsewhere"}
    return known.get(ended, "killed")


def _arguments(tree: Path) -> list[str]:
    ignored = "ignore::pytest.PytestAssertRewriteWarning"  # plugins were imported before
    return ["-x", "-q", "-p", "no:cacheprovider", "-W", ignored, "--rootdir", str(tree)]


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _in_a_child(run: Any, cpu: float | None) -> str:
    """What a function answers in a process of its own, or "timeout".

    What counts is time of CPU, so that a busy machine changes nothing. What waits for ever ends after ten
    times as long.
    """
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


if __name__ == "__main__":
    main()
