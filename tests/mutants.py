"""How many small mistakes in the code do its tests notice? `make mutants`; `python tests/mutants.py --help`.

A mutant is the code with one mistake of cosmic-ray's operators in it. For each one only those tests are run
that execute the changed statement, the quickest first, until one of them fails. Everything happens in a
temporary copy of the tree.

A sample takes places in the code, not mutants: at each place that is drawn, one mistake is drawn. Otherwise
operators with many replacements (`==` has seven) would be most of the sample. Annotations are left out, since
nothing evaluates them, and so is `is` in the place of `==` and the other way round, which is the same for
None and the members of an enumeration.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
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
"""So many tests are tried before the modules of all others are imported."""
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
    """The tests that ran a line, by file and line. Lines that only an import runs have none."""
    modules: list[str]

    def tests_of(self, file: str, lines: range, at_import: bool, slow: float) -> list[str]:
        """The tests that ran these lines, quickest first; of what an import runs, those of the file."""
        by_line = self.contexts.get(file, {})
        found = {test for line in lines for test in by_line.get(line, ())}
        if at_import:
            found = {test for tests in by_line.values() for test in tests}
        fast = [test for test in found if self.seconds.get(test, slow) < slow]
        return sorted(fast, key=lambda test: (self.seconds[test], test))

    def within(self, tests: Sequence[str], budget: float, own: str) -> list[str]:
        """Of many tests some of each file: the quickest ones of all, then the files take turns.

        A turn is an amount of time: so all tests of values come before the second one of a server. Tests in
        the package's `own` directory have longer turns, since they were written for it.
        """
        taken: dict[str, float] = {}
        rest = []
        for test in tests[FIRST:]:
            file = test.partition("::")[0]
            weight = 1 if file.startswith(f"{own}/") else OTHERS
            taken[file] = taken.get(file, 0.0) + weight * self.seconds[test]
            rest.append((taken[file], test))
        chosen: list[str] = []
        for test in [*tests[:FIRST], *(test for _, test in sorted(rest))]:
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
        _import_what_stays_the_same(observed.modules, packages)
        mutants = _sample(tree, packages, options.sample, Random(options.seed))
        print(f"seed {options.seed}: {len(mutants)} mutants of {', '.join(packages)}", flush=True)
        _run_all(tree, observed, mutants, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=None, help="which ones; drawn and printed if not given")
    parser.add_argument("--only", type=int, nargs="+", help="of this sample, the ones with these numbers")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--slow", type=float, default=3.0, help="leave out tests of so many seconds (3)")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests for one mutant (20)")
    parser.add_argument("--notes", type=Path, help="what each test runs: read if it is there, else written")
    parser.add_argument("--patience", type=float, default=4.0, help="times the normal duration, plus 5 s (4)")
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
    contexts = {file: {int(n): t for n, t in lines.items()} for file, lines in read["contexts"].items()}
    return Observed(read["seconds"], contexts, read["modules"])


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
    contexts = {
        str(Path(file).relative_to(tree)): {
            line: sorted(filter(None, tests)) for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    modules = [name for name, module in sys.modules.items() if _may_be_imported_early(tree, module)]
    note.write_text(json.dumps({"seconds": seconds, "contexts": contexts, "modules": modules}))
    return int(ended)


def _may_be_imported_early(tree: Path, module: Any) -> bool:
    """Not the tests: pytest wants to import these itself."""
    file, name = getattr(module, "__file__", None), getattr(module, "__name__", "__main__")
    return bool(file) and name != "__main__" and not Path(file).is_relative_to(tree / "tests")


class _Blocked:
    """Lets nothing import the packages that are mutated."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.names = [package.replace("/", ".") for package in packages]

    def find_spec(self, name: str, *_: Any) -> None:
        if any(name == blocked or name.startswith(f"{blocked}.") for blocked in self.names):
            raise ImportError(name)


def _import_what_stays_the_same(modules: Sequence[str], packages: Sequence[str]) -> None:
    """Modules that need no mutated one are imported once, and inherited by each mutant's process."""
    blocked = _Blocked(packages)
    sys.meta_path.insert(0, blocked)  # type: ignore[arg-type]
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    sys.meta_path.remove(blocked)  # type: ignore[arg-type]
    gc.freeze()  # pytest collects garbage several times a run


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
    nodes = list(ast_nodes(get_ast(source)))
    places: dict[Any, list[Mutant]] = {}
    for name in sorted(operator_names()):
        if name.endswith(LEFT_OUT):
            continue
        operator = get_operator(name)()
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, (start, stop) in enumerate(positions):
            if not any(first <= start and stop <= last for first, last in annotations):
                places.setdefault((start, stop), []).append(Mutant(file, start[0], name, occurrence))
    return list(places.values())


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


def _is_run_by_an_import(source: str, line: int) -> bool:
    """Whether it is in no function's body. Only the first test that imports the module is noted there."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef))
    return not any(n.body[0].lineno <= line <= (n.end_lineno or 0) for n in functions)


# -- running -------------------------------------------------------------------------------------------------


def _run_all(tree: Path, observed: Observed, mutants: Sequence[Mutant], options: argparse.Namespace) -> None:
    began = time.monotonic()
    count = {"killed": 0, "survived": 0, "timeout": 0}
    quickest = sorted(observed.seconds, key=lambda test: observed.seconds[test])[:FIRST]
    if _try(tree, quickest, cpu=None) != "survived":
        sys.exit("tests that pass with all others do not pass by themselves")
    for number, mutant in enumerate(mutants, 1):
        if time.monotonic() - began > options.minutes * 60:
            print(f"stopped after {options.minutes:g} minutes")
            break
        if options.only and number not in options.only:
            continue
        path = tree / mutant.file
        source = path.read_text()
        changed = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
        lines, at_import = _statement(source, mutant.line), _is_run_by_an_import(source, mutant.line)
        tests = observed.tests_of(mutant.file, lines, at_import, options.slow)
        chosen = observed.within(tests, options.budget, f"tests/{path.parent.name}")
        normal = sum(observed.seconds[test] for test in chosen)
        with _changed(path, changed):
            outcome = _try(tree, chosen, cpu=options.patience * normal + 5) if chosen else "survived"
        count[outcome] += 1
        if sum(count.values()) % 25 == 0:
            print(f"… {count}", flush=True)
        if outcome != "killed":
            what = f"{len(chosen)} of {len(tests)} tests" if tests else "no test runs it"
            print(f"{outcome} #{number} {mutant.file}:{mutant.line} {mutant.operator} ({what})")
            print(_difference(source, changed), flush=True)
    ran = sum(count.values())
    noticed = count["killed"] + count["timeout"]
    print(
        f"seed {options.seed}: {ran} mutants: {count['killed']} killed, {count['survived']} survived, "
        f"{count['timeout']} timeout; {100 * noticed / max(ran, 1):.1f}% noticed"
    )


def _difference(source: str, changed: str) -> str:
    before, after = source.splitlines(), changed.splitlines()
    if len(before) != len(after):  # a line is gone
        gone = next((old for old, new in zip(before, after, strict=False) if old != new), before[-1])
        return f"  - {gone.strip()}"
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    return "\n".join(f"  - {old.strip()}\n  + {new.strip()}" for old, new in pairs)


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


def _try(tree: Path, tests: Sequence[str], cpu: float | None) -> str:
    def run() -> int:
        import pytest

        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        for part in (tests[:FIRST], tests[FIRST:]):
            if part and (ended := pytest.main([*_arguments(tree), *part])):
                return int(ended)
        return 0

    ended = _in_a_child(run, cpu)
    return {"0": "survived", "timeout": "timeout"}.get(ended, "killed")


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
