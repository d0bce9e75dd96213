"""Compare what two commits of dpsync do, and print each difference.

    python -m tools.compare_behavior A B            a quick comparison: about five minutes of processor time
    python -m tools.compare_behavior A B --full     2,000 pairs, 300 applies: about two hours of it

The tool checks both commits out, records the behavior of each, and compares the records. The exit code is 1
if a record differs. The parts of a record are:

- pairs: for generated files and live data, the plan in every format, its requests, and the drift
- applies: the requests, the journal, the report, the changed data, the next plan, and the revert
- operations: answers of every operation of the companion with the three profiles, and the OpenAPI documents
- situations: help texts, schemas, `schemas/surface.txt`, and the output and exit code of fixed commands

Benchmarks are not compared: run `benchmarks/` for these.

The tool uses only what users can rely on: commands, HTTP, and the formats of files. Records are kept in
`--out`, by commit, so that the next comparison with the same commit is faster. This tool is temporary: it
exists for a restructuring of the code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from .generator import PROFILES

Job = tuple[str, int, int]

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_PER_JOB = {"pairs": 20, "applies": 10}
_CONTEXT = 2
_LONGEST_LINE = 300


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.full:
        options.pairs, options.applies, options.ids, options.situations = 2000, 300, 4, 1000
    out = Path(options.out).resolve()
    jobs = _jobs(options.pairs, options.applies, options.ids, options.situations)
    commits = [_git("rev-parse", "--verify", f"{revision}^{{commit}}") for revision in (options.a, options.b)]
    before = _record(commits[0], out, options.seed, jobs, options.jobs)
    after = _record(commits[1], out, options.seed, jobs, options.jobs, options.again)
    return compare(before, after, jobs, options.show)


def compare(before: Path, after: Path, jobs: list[Job], most: int) -> int:
    """Print the differences of two directories with records, up to `most`; return 1 if there are any."""
    different: Counter[str] = Counter()
    compared = 0
    for job in jobs:
        old, new = _read(before / _file_name(job)), _read(after / _file_name(job))
        for name in dict.fromkeys([*old, *new]):
            compared += 1
            if old.get(name) != new.get(name):
                different[job[0]] += 1
                if different.total() <= most:
                    print("\n".join(_difference(f"{job[0]}: {name}", old.get(name), new.get(name))))
    total = different.total()
    if total > most:
        print(f"and {total - most} more; to see these, add --show {total}")
    parts = ", ".join(f"{count} in {part}" for part, count in different.items())
    print(f"{compared} records compared, {total} differ{f': {parts}' if parts else ''}")
    return 1 if total else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.compare_behavior",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", help="a commit")
    parser.add_argument("b", help="the commit to compare with the first one")
    parser.add_argument("--full", action="store_true", help="compare everything")
    parser.add_argument("--pairs", type=int, default=40, help="number of plans [default: 40]")
    parser.add_argument("--applies", type=int, default=10, help="number of applies [default: 10]")
    parser.add_argument("--ids", type=int, default=1, help="objects for each operation, up to 4 [default: 1]")
    parser.add_argument("--situations", type=int, default=1000, help="number of situations [default: all]")
    parser.add_argument("--seed", type=int, default=1, help="seed of the pairs [default: 1]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time")
    parser.add_argument("--show", type=int, default=20, help="number of differences to print [default: 20]")
    parser.add_argument(
        "--out", default="build/behavior", help="where records are kept [default: build/behavior]"
    )
    parser.add_argument("--again", action="store_true", help="record B anew, to compare a commit with itself")
    return parser


def _jobs(pairs: int, applies: int, ids: int, situations: int) -> list[Job]:
    """Return the parts to record: pairs and applies in slices, so that slices can be reused."""
    jobs: list[Job] = [(f"operations of {profile}", 0, ids) for profile in PROFILES if ids]
    jobs += [("situations", 0, situations)] if situations else []
    for part, count in (("applies", applies), ("pairs", pairs)):
        size = _PER_JOB[part]
        jobs += [(part, first, min(first + size, count)) for first in range(0, count, size)]
    return jobs


def _record(commit: str, out: Path, seed: int, jobs: list[Job], processes: int, again: bool = False) -> Path:
    """Record what is not recorded yet of a commit, and return the directory of its records."""
    # Another version of this tool records other things.
    tool = hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(_HERE.rglob("*.*")) if path.suffix in (".py", ".json"))
    )
    folder = out / f"{commit[:12]}-{tool.hexdigest()[:8]}-{seed}{'-again' if again else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    if again:
        for path in folder.iterdir():
            path.unlink()
    missing = [job for job in jobs if not (folder / _file_name(job)).exists()]
    if missing:
        with _checkout(commit) as checkout, ThreadPoolExecutor(processes) as pool:
            for _ in pool.map(lambda job: _run(checkout, job, seed, folder), missing):
                pass
    return folder


def _run(checkout: Path, job: Job, seed: int, folder: Path) -> None:
    """Record one part in a process that imports dpsync from the checkout, and this tool from here."""
    part, first, last = job
    target = folder / _file_name(job)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(checkout), str(_HERE.parent)]), "PYTHONHASHSEED": "0",
    }  # fmt: skip
    command = [
        sys.executable,
        "-P",
        "-m",
        "compare_behavior.record",
        str(checkout),
        part,
        str(seed),
        str(first),
    ]
    ended = subprocess.run(
        [*command, str(last), str(target)],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(
            f"cannot record {part} {first} to {last} of {checkout.name}:\n{ended.stderr[-4000:]}"
        )


def _file_name(job: Job) -> str:
    part, first, last = job
    return f"{part.replace(' ', '-')}-{first}-{last}.jsonl"


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="dpsync-commit-") as folder:
        checkout = Path(folder).resolve() / commit[:12]
        _git("worktree", "add", "--quiet", "--detach", str(checkout), commit)
        try:
            yield checkout
        finally:
            _git("worktree", "remove", "--force", str(checkout))


def _git(*arguments: str) -> str:
    ended = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {ended.stderr.strip()}")
    return ended.stdout.strip()


def _read(path: Path) -> dict[str, str]:
    """Return the records by name; a name that comes again gets a number."""
    records: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, text = json.loads(line)
        while name in records:
            name += " (again)"
        records[name] = text
    return records


def _difference(name: str, before: str | None, after: str | None) -> Iterator[str]:
    """Print the name of a record, and its first line that differs with the lines before and after."""
    yield f"--- {name}"
    if before is None or after is None:
        yield f"    only {'B' if before is None else 'A'} has this record"
        return
    old, new = before.split("\n"), after.split("\n")
    pairs = zip(old, new, strict=False)
    number = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))
    yield f"    line {number + 1}"
    yield from (f"      {line[:_LONGEST_LINE]}" for line in old[max(0, number - _CONTEXT) : number])
    for sign, lines in (("A", old), ("B", new)):
        shown = lines[number : number + 1 + _CONTEXT] or ["(the text has ended)"]
        yield from (f"    {sign} {line[:_LONGEST_LINE]}" for line in shown)


if __name__ == "__main__":
    sys.exit(main())
