"""Our reader against PyYAML's CSafeLoader, on one generated configuration: time and peak memory, as ratios.

    python -m benchmarks.reader [--resources 20000] [--rounds 5]

Every reading is a process of its own, timed in CPU seconds; rounds are shuffled, so that a busy machine
disturbs all alike. Ours gives nodes with positions; CSafeLoader gives plain values without any. Only ratios
of one run mean something.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READERS = {
    "ours": "dpsync.config.yaml_reader.read",
    "c-safe": "CSafeLoader",
    "c-safe-paused": "CSafeLoader, gc paused",
}
_SECTIONS = 20


def configuration(resources: int) -> Iterator[str]:
    """Yield a configuration of about `resources` objects: spaces (a third), and sites that show them."""
    spaces = max(1, resources // 3)
    sites = max(1, (resources - spaces) // (2 * _SECTIONS + 1))
    yield "dpsync: 1\norganizations:\n  acme:\n    id: acme\n    spaces:\n"
    for number in range(spaces):
        yield (
            f"      space-{number}:\n"
            f'        title: "Space {number}: how it works"\n'
            "        language: en\n"
            "        emoji: '1f4d6'\n"
            "        defaultLevel: read # of everybody\n"
        )
    yield "    sites:\n"
    for site in range(sites):
        yield f"      site-{site}:\n        title: Site {site}\n        basename: site-{site}\n"
        yield "        structure:\n"
        for number in range(_SECTIONS):
            shown = (site * _SECTIONS + number) % spaces
            yield (
                f"          - type: section\n            key: s{number}\n"
                f"            title: Section {number}\n            path: section-{number}\n"
                "            children:\n"
                f"              - {{ type: space, key: en, space: space-{shown}, path: en, default: true }}\n"
            )


# One reading, in a process of its own.


def child(reader: str, path: Path) -> dict[str, float]:
    """Read the file once: seconds of CPU, and the peak of this process's memory in bytes."""
    text = path.read_text(encoding="utf-8")
    read = _ours(text) if reader == "ours" else _c_safe(text)
    if reader == "c-safe-paused":
        gc.disable()
    started = time.process_time()
    kept = read()
    seconds = time.process_time() - started
    assert kept is not None
    return {"seconds": seconds, "peak": _peak()}


def _ours(text: str) -> Callable[[], object]:
    from dpsync.config.yaml_reader import FileLimits, read

    # As long as the file is, so that large numbers can be measured, too.
    limits = FileLimits(bytes=4 * len(text) + 1, nodes=len(text) + 1)

    def run() -> object:
        node, problems = read(text, "dpsync.yaml", limits)
        assert not problems, problems[0]
        return node

    return run


def _c_safe(text: str) -> Callable[[], object]:
    import yaml

    return lambda: yaml.load(text, yaml.CSafeLoader)


def _peak() -> float:
    """Of this process alone: what getrusage says includes the parent's at the time of the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


# All of them.


def measure(path: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Every reader once per round, in an order that differs from round to round."""
    found: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
    shuffled = random.Random(1)  # noqa: S311
    for _ in range(rounds):
        for reader in shuffled.sample(sorted(READERS), len(READERS)):
            # As a module: as a file it would be taken for PyYAML by what it measures.
            command = [sys.executable, "-m", "benchmarks.reader", "--child", reader, str(path)]
            ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            found[reader].append(json.loads(ended.stdout))
    return found


def report(found: dict[str, list[dict[str, float]]]) -> str:
    """Format the median readings, and the ratio of our reader to each other reader."""
    medians = {
        reader: {of: statistics.median(one[of] for one in readings) for of in ("seconds", "peak")}
        for reader, readings in found.items()
    }
    ours = medians["ours"]
    lines = [f"{'':34} {'seconds':>8} {'peak MB':>8}  ours / this: time, memory"]
    for reader, name in READERS.items():
        seconds, peak = medians[reader]["seconds"], medians[reader]["peak"]
        ratio = f"{ours['seconds'] / seconds:.2f}, {ours['peak'] / peak:.2f}" if reader != "ours" else ""
        lines.append(f"{name:34} {seconds:8.3f} {peak / 1e6:8.1f}  {ratio}".rstrip())
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--resources", type=int, default=20_000, help="how many things (20000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each reader runs (5)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        print(json.dumps(child(given.child[0], Path(given.child[1]))))
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "dpsync.yaml"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(configuration(given.resources))
        size = path.stat().st_size / 1e6
        print(f"{given.resources} resources, {size:.1f} MB, medians of {given.rounds} rounds")
        print(report(measure(path, given.rounds)))


if __name__ == "__main__":
    main()
