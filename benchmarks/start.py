"""How long a command takes that has next to nothing to do: its start, as a ratio to `import click`.

    python -m benchmarks.start [--rounds 21] [--before DIRECTORY]

One entry is declared, and it is live in a companion in this process. Each run is a process of its own, in
shuffled rounds, so that a busy machine disturbs all alike; what is told is the median of the CPU time that
the process took. With --before the same commands of another checkout are run in the same rounds. Only ratios
of one run mean something. It ends with 1 when a ratio is above its goal.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

ROOT = Path(__file__).resolve().parents[1]
CLICK = "import click"
START = "from dpsync.cli import main; main()"
"""What the installed program does."""
TAB = "pl⇥"
"""What a shell asks for when somebody presses the tabulator key behind `dpsync pl`."""
GOALS = {"--version": 1.3, "--help": 1.3, "completion bash": 1.5, TAB: 1.5, "validate": 4.0, "plan": 6.0}
"""The commands, and how often the time of `import click` each may take."""
ASKED = {"_DPSYNC_COMPLETE": "bash_complete", "COMP_WORDS": "dpsync pl", "COMP_CWORD": "1"}
TOKEN = "ada-token"  # noqa: S105  (of the world below, and of nothing else)
CONFIGURATION = "dpsync: 1\norganizations:\n  acme: { id: acme, title: Acme }\n"
WORLD = {
    "users": [{"id": "ada", "displayName": "Ada"}],
    "tokens": {TOKEN: "ada"},
    "organizations": [{"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}]}],
}


def run(arguments: Sequence[str], directory: Path, url: str, checkout: Path = ROOT) -> float:
    """Run Python with these arguments and return its CPU seconds. Fail unless Python exits with 0."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("DPSYNC", "PYTHON", "CI"))
    }
    surroundings = {**kept, "DPSYNC_URL": url, "DPSYNC_TOKEN": TOKEN, "PYTHONPATH": str(checkout)}
    if TAB in arguments:
        arguments, surroundings = [one for one in arguments if one != TAB], surroundings | ASKED
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=directory, env=surroundings, stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


def measure(rounds: int, before: Path | None = None) -> dict[tuple[str, Path | None], float]:
    """Medians of CPU seconds: by command and checkout, and of `import click`, which is of neither."""
    checkouts = [ROOT] if before is None else [ROOT, before]
    runs: dict[tuple[str, Path | None], list[float]] = {(CLICK, None): []}
    runs |= {(command, checkout): [] for command in GOALS for checkout in checkouts}
    with (
        tempfile.TemporaryDirectory() as name,
        ThreadedServer(build_companion(open_store(":memory:"))) as server,
    ):
        server.reset(WORLD)
        directory = Path(name)
        (directory / "dpsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
        for number in range(rounds + 1):
            for (command, checkout), seconds in random.sample(list(runs.items()), len(runs)):
                code = [CLICK] if checkout is None else [START, *command.split()]
                found = run(["-c", *code], directory, server.url, checkout or ROOT)
                if number:  # the first round writes bytecode
                    seconds.append(found)
    return {one: statistics.median(seconds) for one, seconds in runs.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--before", type=lambda text: Path(text).resolve(), help="another checkout of dpsync")
    options = parser.parse_args(arguments)
    found = measure(options.rounds, options.before)
    click = found[CLICK, None]
    checkouts = [ROOT] if options.before is None else [options.before, ROOT]
    titles = ["CPU (ms)"] if options.before is None else ["before (ms)", "after (ms)"]
    ratios = ["ratio"] if options.before is None else ["before", "after"]
    print(f"| command | {' | '.join([*titles, *ratios])} | goal |\n|---|{'---:|' * (2 * len(titles) + 1)}")
    print(f"| `{CLICK}` | {' | '.join([f'{click * 1000:.0f}'] * len(titles) + ['1.0'] * len(ratios))} | |")
    for command, goal in GOALS.items():
        seconds = [found[command, checkout] for checkout in checkouts]
        cells = [*(f"{one * 1000:.0f}" for one in seconds), *(f"{one / click:.1f}" for one in seconds)]
        print(f"| `{command}` | {' | '.join(cells)} | {goal:g} |")
    return int(any(found[command, ROOT] > goal * click for command, goal in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main())
