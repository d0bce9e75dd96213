"""A rehearsal beside the plan that it rehearses. Ratios of one run.

    python -m benchmarks.rehearsals [--entries 10000] [--changes 1000] [--rounds 3]

So many spaces of an organization get another emoji. Both are processes of their own, one after the other in
each round, against a companion in another process that answers at once. Printed are medians: seconds of CPU
and of the clock, milliseconds of CPU for each change, the most memory, and the ratios of each round to the
plan.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.organization import EMOJI, configuration, world
from benchmarks.plans import ROOT, companion, measure, row

OTHER = "1f600"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, one line for each program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=10_000, metavar="N")
    parser.add_argument("--changes", type=int, default=1_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(arguments)
    heads = ["CPU (s)", "CPU / change (ms)", "clock (s)", "memory (MB)", "CPU / plan", "clock / plan"]
    print(f"| entries, changes | program | {' | '.join(heads)} |")
    print(f"|---|---|{'---:|' * len(heads)}")
    with tempfile.TemporaryDirectory() as directory:
        state, files = Path(directory, "world.json"), Path(directory, "files")
        files.mkdir()
        state.write_text(json.dumps(world(given.entries)), encoding="utf-8")
        text = configuration(given.entries).replace(EMOJI, OTHER, given.changes)
        (files / "dpsync.yaml").write_text(text, encoding="utf-8")
        commands = {
            name: ([sys.executable, "-m", "dpsync", name, "--quiet", "-C", str(files)], ROOT)
            for name in ("plan", "rehearse")
        }
        with companion(state, 0) as url:
            found = measure(commands, url, given.rounds)
        what = f"{given.entries}, {given.changes}"
        for name, runs in found.items():
            print(row(what, name, runs, found["plan"], given.changes), flush=True)


if __name__ == "__main__":
    main()
