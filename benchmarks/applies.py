"""An apply beside a script that sends the same requests, as many at a time. Ratios of one run.

    python -m benchmarks.applies [--writes 2000] [--rounds 5] [--before DIRECTORY]

Every space of an organization gets another emoji. Both are processes of their own, one after the other in
each round, against a companion in another process that answers after 50 ms: with 16 requests in flight, and
with 64. The script knows the ids; it reads the same lists as often as an apply does (to plan, right before
the first write, and to prove the result), and sends the same writes. Printed are medians: seconds of CPU
and of the clock, milliseconds of CPU for each write, the most memory, and the ratios of each round. With
`--before` the dpsync of another checkout runs in the same rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from benchmarks.organization import EMOJI, configuration, world
from benchmarks.plans import FETCH, ROOT, Run, companion, row, run

LATENCY = 50
"""Milliseconds until the companion answers."""
FLIGHTS = (16, 64)
"""How many requests are in flight."""
SCRIPT = f"""{FETCH}
def write(space):
    body = json.dumps({{"emoji": sys.argv[2]}})
    return send("PATCH", "/v1/spaces/" + space["id"], body)["id"]

with ThreadPoolExecutor(int(sys.argv[1])) as pool:
    read(pool)
    spaces = pages("/spaces")
    print(len(list(pool.map(write, spaces))))
    read(pool)
"""


def commands(flight: int, files: Path, emoji: str, before: Path | None) -> dict[str, tuple[list[str], Path]]:
    """By name each program that is measured, and where it is run."""
    apply = [sys.executable, "-m", "dpsync", "apply", "--yes", "--quiet", "-C", str(files)]
    apply += ["--parallelism", str(flight)]
    found = {"script": ([sys.executable, "-c", SCRIPT, str(flight), emoji], ROOT), "dpsync": (apply, ROOT)}
    return found if before is None else {**found, "before": (apply, before)}


def measure(
    flight: int, url: str, writes: int, rounds: int, files: Path, before: Path | None
) -> dict[str, list[Run]]:
    """Every program once a round, each with an emoji of its own, after a round that is not counted."""
    found: dict[str, list[Run]] = {}
    emojis = (f"{0x1F400 + number:x}" for number in count())
    text = configuration(writes * 2)  # half of the entries are spaces
    for number in range(rounds + 1):
        for name in commands(flight, files, "", before):
            emoji = next(emojis)
            (files / "dpsync.yaml").write_text(text.replace(EMOJI, emoji), encoding="utf-8")
            one = run(*commands(flight, files, emoji, before)[name], url)
            found.setdefault(name, []).extend([one] if number else [])
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, one line for each program and number of requests in flight."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--writes", type=int, default=2000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--before", type=Path, metavar="DIRECTORY", help="another checkout, in the same rounds"
    )
    given = parser.parse_args(arguments)
    heads = ["CPU (s)", "CPU a write (ms)", "clock (s)", "memory (MB)", "CPU / script", "clock / script"]
    print(f"| in flight | program | {' | '.join(heads)} |")
    print(f"|---|---|{'---:|' * len(heads)}")
    with tempfile.TemporaryDirectory() as directory:
        state, files = Path(directory, "world.json"), Path(directory, "files")
        files.mkdir()
        state.write_text(json.dumps(world(given.writes * 2)), encoding="utf-8")
        for flight in FLIGHTS:
            with companion(state, LATENCY) as url:
                found = measure(flight, url, given.writes, given.rounds, files, given.before)
            for name, runs in found.items():
                print(row(str(flight), name, runs, found["script"], given.writes), flush=True)


if __name__ == "__main__":
    main()
