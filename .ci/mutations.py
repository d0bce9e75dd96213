"""Measure how well the tests notice mistakes in recently changed code.

    python3 .ci/mutations.py [--base REF] [--most N] [--seed N]

The script inserts one small mistake at a time into a line that changed since REF, and runs the tests of the
package. A copy of the code with a mistake is a mutant. A failing test kills the mutant. If all tests pass,
the mutant survives. The report on stdout is Markdown and shows each survivor. A person judges the survivors:
some are harmless, and tests of another package may notice others. Therefore, survivors leave the exit code 0.
The exit code is 1 if tests fail without a mistake or cannot run.

Needs .venv (environment.py), and a network for the first run, which installs Cosmic Ray in .venv-mutation.
The mutants are made in a temporary clone of HEAD, so the checkout stays untouched, and only commits count.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / ".venv" / "bin"
VENV = ROOT / ".venv-mutation"
READY = VENV / "ready"
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--assert=plain")
BASELINE_LIMIT = 1800
"""Seconds for the tests of one package without a mutant."""
TESTS = {
    "__init__": "tests/cli",
    "__main__": "tests/cli",
    "api": "tests/docs/test_python.py tests/kinds tests/server/test_control_client.py",
    "apply": "tests/apply tests/ids",
    "cli": "tests/cli",
    "client": "tests/client",
    "collector": "tests/test_collector.py",
    "config": "tests/config",
    "disk": "tests/test_disk.py",
    "document": "tests/document",
    "github": "tests/github",
    "identity": "tests/identity tests/ids",
    "importing": "tests/importing",
    "kinds": "tests/kinds",
    "live": "tests/live",
    "model": "tests/model",
    "planner": "tests/planner",
    "rehearse": "tests/rehearse",
    "render": "tests/render tests/cli",
    "server": "tests/server",
    "testing": "tests/testing",
    "workflows": "tests/workflows",
}
"""The tests of each package or module in dpsync/. Only tests/cli checks many texts of `render`."""


class Mutant(NamedTuple):
    """One mistake: the code that an operator of Cosmic Ray replaces, from `start` to `end`."""

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    operator: str
    occurrence: int
    job: str
    """The random id of the mutant in its session."""


def main() -> int:
    """Test a sample of mutants and print the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", metavar="REF", help="mutate lines changed since REF (default: a day ago)")
    parser.add_argument("--most", metavar="N", type=int, default=40, help="number of mutants (default: 40)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="choose another sample (default: 0)")
    options = parser.parse_args()
    if Path(sys.prefix) != VENV:
        make_environment()
        os.execv(VENV / "bin" / "python", [str(VENV / "bin" / "python"), __file__, *sys.argv[1:]])
    base = find_base(ROOT, options.base)
    packages = group_by_package(find_changed_files(ROOT, base))
    with tempfile.TemporaryDirectory(prefix="dpsync-mutations-") as folder:
        sessions = Sessions(Path(folder), base)
        candidates = [mutant for name, files in packages.items() for mutant in sessions.prepare(name, files)]
        sample = choose_mutants(candidates, options.most, options.seed)
        print(f"# Mutants of the code changed since {base[:8]}\n", flush=True)
        print(f"{len(sample)} of {len(candidates)} possible mutants, seed {options.seed}.\n", flush=True)
        outcomes = Counter[str]()
        for name in packages:
            if chosen := [mutant for mutant in sample if package_of(mutant.path) == name]:
                outcomes += sessions.run(name, chosen)
    tested = outcomes["killed"] + outcomes["survived"]
    if tested:
        print(f"{outcomes['killed']} of {tested} killed ({outcomes['killed'] / tested:.0%}).")
    return 1 if outcomes["untested"] else 0


def make_environment() -> None:
    """Create .venv-mutation with the dependency group `mutation`, unless it is newer than pyproject.toml."""
    if READY.exists() and READY.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime:
        return
    print("Setting up .venv-mutation (once) …", file=sys.stderr, flush=True)
    uv = PROGRAMS / "uv"
    for command in (
        (uv, "venv", "--quiet", "--clear", "--python", PROGRAMS / "python", VENV),
        (uv, "pip", "install", "--quiet", "--python", VENV / "bin" / "python", "--group", "mutation"),
    ):
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            sys.exit(f"set-up failed: {shlex.join(map(str, command))}")
    READY.touch()


def run_git(repository: Path, *words: str) -> str:
    """Return the output of git. If git fails, exit: git has printed the reason on stderr."""
    done = subprocess.run(["git", "-C", repository, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: git {shlex.join(words)}")
    return done.stdout.strip()


def find_base(repository: Path, ref: str | None) -> str:
    """Return the merge base of `ref` and HEAD. Without `ref`, return the commit that HEAD was 25 hours ago.

    A nightly run may start an hour late. In a younger repository, return the empty tree: all lines are new.
    """
    if ref is not None:
        return run_git(repository, "merge-base", ref, "HEAD")
    day_ago = run_git(repository, "rev-list", "-1", "--first-parent", "--before=25 hours ago", "HEAD")
    return day_ago or run_git(repository, "hash-object", "-t", "tree", os.devnull)


def find_changed_files(repository: Path, base: str) -> list[str]:
    """Return the paths of the modules of dpsync that were added or changed between `base` and HEAD."""
    names = ("diff", "--name-only", "-z", "--diff-filter=d", base, "HEAD", "--", "dpsync/*.py")
    return sorted(name for name in run_git(repository, *names).split("\0") if name)


def package_of(path: str) -> str:
    """Return the key in TESTS: `planner` for `dpsync/planner/plan.py`, `disk` for `dpsync/disk.py`."""
    return Path(path).parts[1].removesuffix(".py")


def group_by_package(files: Iterable[str]) -> dict[str, list[str]]:
    """Return the files of each package."""
    packages: dict[str, list[str]] = {}
    for path in files:
        packages.setdefault(package_of(path), []).append(path)
    return packages


def find_annotations(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the start and end of each type annotation: line from 1, column from 0.

    With `from __future__ import annotations`, Python does not evaluate annotations: no test can notice that
    `int | None` became `int + None`.
    """
    for node in ast.walk(ast.parse(source)):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if annotation is not None:
            start = (annotation.lineno, annotation.col_offset)
            yield start, (annotation.end_lineno, annotation.end_col_offset)


def choose_mutants(candidates: Sequence[Mutant], most: int, seed: int) -> list[Mutant]:
    """Choose at most `most` mutants at random, at most one for each position in the code.

    Otherwise, the eleven mutants of one `|` would fill the sample. The same seed gives the same mutants.
    """
    chance = random.Random(seed)
    by_position: dict[tuple[str, tuple[int, int]], list[Mutant]] = {}
    for mutant in sorted(candidates):
        by_position.setdefault((mutant.path, mutant.start), []).append(mutant)
    one_each = [chance.choice(mutants) for mutants in by_position.values()]
    return sorted(chance.sample(one_each, min(most, len(one_each))))


class Sessions:
    """One session of Cosmic Ray for each package, in a clone of the checkout."""

    def __init__(self, folder: Path, base: str) -> None:
        """Clone HEAD into `folder` and compile its modules."""
        self.folder = folder
        self.base = base
        self.clone = folder / "clone"
        settings = ("diff.noprefix=false", "diff.mnemonicPrefix=false")  # cr-filter-git reads "+++ b/…"
        words = [word for setting in settings for word in ("--config", setting)]
        run_git(ROOT, "clone", "--quiet", "--shared", *words, str(ROOT), str(self.clone))
        (self.clone / ".venv").symlink_to(ROOT / ".venv")  # tests take programs and npm packages from there
        with (self.clone / ".git" / "info" / "exclude").open("a", encoding="utf-8") as excluded:
            excluded.write("/.venv\n")
        # Cosmic Ray sets PYTHONDONTWRITEBYTECODE: without this bytecode, each process compiles all modules.
        compiled = ("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "dpsync", "tests")
        subprocess.run([PROGRAMS / "python", *compiled], cwd=self.clone, check=True)

    def prepare(self, package: str, files: Sequence[str]) -> list[Mutant]:
        """Create the session of a package; return the mutants in changed lines, except in annotations."""
        from cosmic_ray.work_db import WorkDB, use_db

        self.configure(package, files, BASELINE_LIMIT)
        made = self.call("cosmic-ray", "init", f"{package}.toml", f"{package}.sqlite")
        if not made or not self.call("cr-filter-git", "--config", f"{package}.toml", f"{package}.sqlite"):
            sys.exit(f"Cosmic Ray could not create the session of dpsync/{package}")
        annotations = {
            path: [*find_annotations((self.clone / path).read_text(encoding="utf-8"))] for path in files
        }
        with use_db(self.folder / f"{package}.sqlite", WorkDB.Mode.open) as session:
            mutants = [
                Mutant(
                    str(mutation.module_path), mutation.start_pos, mutation.end_pos,
                    mutation.operator_name.removeprefix("core/"), mutation.occurrence, item.job_id,
                )
                for item in session.pending_work_items
                for mutation in item.mutations
            ]  # fmt: skip
        return [
            mutant
            for mutant in mutants
            if not any(start <= mutant.start and mutant.end <= end for start, end in annotations[mutant.path])
        ]

    def run(self, package: str, chosen: Sequence[Mutant]) -> Counter[str]:
        """Run the tests with each chosen mutant, print the report of the package and count the outcomes."""
        from cosmic_ray.work_db import WorkDB, use_db
        from cosmic_ray.work_item import WorkerOutcome, WorkResult

        print(f"## dpsync/{package}, tested by {TESTS[package]}\n", flush=True)
        began = time.monotonic()
        baseline = ("--verbosity", "CRITICAL", "baseline", f"{package}.toml", "--session-file")
        if not self.call("cosmic-ray", *baseline, f"{package}.baseline"):
            with use_db(self.folder / f"{package}.baseline", WorkDB.Mode.open) as session:
                ((_, result),) = session.results
            print("Not tested, because these tests fail without a mutant:\n")
            print(f"```\n{(result.output or '').strip()}\n```\n", flush=True)
            return Counter(untested=len(chosen))
        # A mutant that exceeds the time limit counts as killed: the limit must be far above the usual time.
        files = sorted({mutant.path for mutant in chosen})
        self.configure(package, files, 60 + 3 * (time.monotonic() - began))
        jobs = {mutant.job: mutant for mutant in chosen}
        with use_db(self.folder / f"{package}.sqlite", WorkDB.Mode.open) as session:
            others = [item.job_id for item in session.pending_work_items if item.job_id not in jobs]
            session.set_multiple_results(others, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
        self.call("cosmic-ray", "exec", f"{package}.toml", f"{package}.sqlite")
        with use_db(self.folder / f"{package}.sqlite", WorkDB.Mode.open) as session:
            results = dict(session.results)
        outcomes = Counter[str]()
        for job, mutant in jobs.items():
            result = results.get(job, WorkResult(WorkerOutcome.ABNORMAL, "Cosmic Ray ended without a result"))
            outcome = result.test_outcome.value if result.test_outcome else "untested"
            outcomes["untested" if outcome == "incompetent" else outcome] += 1
            if outcome != "killed":
                details = (result.diff if outcome == "survived" else result.output) or ""
                print(f"- {outcome}: `{mutant.path}:{mutant.start[0]}` {mutant.operator}\n")
                print(f"```diff\n{details.removeprefix('--- mutation diff ---').strip()}\n```\n")
        print(f"{outcomes['killed']} of {len(chosen)} killed.\n", flush=True)
        return outcomes

    def configure(self, package: str, files: Sequence[str], limit: float) -> None:
        """Write the configuration of a session."""
        tests = shlex.join([str(PROGRAMS / "python"), *PYTEST, *TESTS[package].split()])
        text = f"""\
[cosmic-ray]
module-path = {json.dumps(files)}
timeout = {limit:.1f}
excluded-modules = []
test-command = {json.dumps(tests)}
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.git-filter]
branch = "{self.base}"
"""
        (self.folder / f"{package}.toml").write_text(text, encoding="utf-8")

    def call(self, program: str, *words: str) -> bool:
        """Run a program of Cosmic Ray in the clone; return whether it succeeded.

        Words with a dot are files of the temporary directory.
        """
        done = subprocess.run(
            [VENV / "bin" / program, *(self.folder / word if "." in word else word for word in words)],
            cwd=self.clone, env={**os.environ, "PYTHONPATH": str(self.clone)}, stdout=sys.stderr, check=False,
        )  # fmt: skip
        return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
