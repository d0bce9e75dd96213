"""An import beside a script that sends the same requests. Ratios of one run.

    python -m benchmarks.imports [--entries 2000] [--rounds 5] [--before DIRECTORY]

Both are processes of their own, one after the other in each round, against a companion in another process:
without latency with 4 requests in flight, then with 50 ms and 16. Of each space two lists of permissions
are read. The script reads them and the lists of a plan, and writes nothing. Printed are medians: seconds of
CPU and of the clock, milliseconds of CPU for each request of the import, the most memory, and the ratios of
each round. With `--before` the dpsync of another checkout runs in the same rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.organization import TOKEN, world
from benchmarks.plans import FETCH, ROOT, Run, companion, row, run

SITUATIONS = ((0, 4), (50, 16))
"""The companion's latency in milliseconds, and how many requests are in flight."""
SCRIPT = f"""{FETCH}
def permissions(space):
    at = "/v1/spaces/" + space["id"] + "/permissions/"
    return send("GET", at + "users?limit=1000")["items"], send("GET", at + "teams?limit=1000")["items"]

with ThreadPoolExecutor(int(sys.argv[1])) as pool:
    read(pool)
    print(len(list(pool.map(permissions, pages("/spaces")))))
"""


def command(flight: int, into: Path) -> list[str]:
    """Return the command that imports into a directory."""
    arguments = ["import", "--quiet", "--parallelism", str(flight), "-C", str(into)]
    return [sys.executable, "-m", "dpsync", *arguments]


def requests(flight: int, into: Path, url: str) -> int:
    """How many requests an import sends, as it says."""
    environment = {**os.environ, "DPSYNC_URL": url, "DPSYNC_TOKEN": TOKEN}
    given = [*command(flight, into), "--verbose"]
    said = subprocess.run(given, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = re.search(r"\((\d+) requests to read\)", said.stdout)
    assert found is not None, said.stdout
    return int(found[1])


def measure(flight: int, url: str, rounds: int, files: Path, before: Path | None) -> dict[str, list[Run]]:
    """Every program once a round, each import into a directory of its own."""
    found: dict[str, list[Run]] = {}
    for number in range(rounds):
        into = files / str(number)
        programs = {
            "script": ([sys.executable, "-c", SCRIPT, str(flight)], ROOT),
            "dpsync": (command(flight, into / "now"), ROOT),
        }
        if before is not None:
            programs["before"] = (command(flight, into / "before"), before)
        for name, (given, directory) in programs.items():
            found.setdefault(name, []).append(run(given, directory, url))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, one line for each program and situation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=2000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--before", type=Path, metavar="DIRECTORY", help="another checkout, in the same rounds"
    )
    given = parser.parse_args(arguments)
    heads = ["CPU (s)", "CPU a request (ms)", "clock (s)", "memory (MB)", "CPU / script", "clock / script"]
    print(f"| latency, in flight | program | {' | '.join(heads)} |")
    print(f"|---|---|{'---:|' * len(heads)}")
    with tempfile.TemporaryDirectory() as directory:
        state = Path(directory, "world.json")
        state.write_text(json.dumps(world(given.entries)), encoding="utf-8")
        for number, (latency, flight) in enumerate(SITUATIONS):
            files = Path(directory, str(number))
            with companion(state, latency) as url:
                sent = requests(flight, files / "first", url)
                found = measure(flight, url, given.rounds, files, given.before)
            for name, runs in found.items():
                print(row(f"{latency} ms, {flight}", name, runs, found["script"], sent), flush=True)


if __name__ == "__main__":
    main()
