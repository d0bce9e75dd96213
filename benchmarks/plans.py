"""A plan without changes beside a script that only fetches and parses the same pages. Ratios of one run.

    python -m benchmarks.plans [--entries 10000] [--rounds 5] [--before DIRECTORY] [--octodns PYTHON]

Both are processes of their own, one after the other in each round, against a companion in another process:
without latency with 4 requests in flight, then with 50 ms and 4, and with 50 ms and 32. Printed are medians:
seconds of CPU and of the clock, the most memory, and the ratios of each round. With `--before` the dpsync of
another checkout runs in the same rounds. With `--octodns`, the path of a Python that has octoDNS, it plans
as many unchanged records, which it need not fetch (benchmarks/octodns.py).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import octodns
from benchmarks.organization import TOKEN, put_into, world

ROOT = Path(__file__).resolve().parents[1]
SITUATIONS = ((0, 4), (50, 4), (50, 32))
"""The companion's latency in milliseconds, and how many requests are in flight."""
FETCH = """
import http.client, json, os, sys, threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

url, own = urlsplit(os.environ["DPSYNC_URL"]), threading.local()
headers = {
    "Authorization": "Bearer " + os.environ["DPSYNC_TOKEN"],
    "Content-Type": "application/json",
}

def send(method, path, body=None):
    if not hasattr(own, "connection"):
        own.connection = http.client.HTTPConnection(url.hostname, url.port)
    own.connection.request(method, path, body, headers)
    try:
        return json.loads(own.connection.getresponse().read())
    except http.client.RemoteDisconnected:  # a connection that waited too long for its turn was closed
        if method != "GET":
            raise
        del own.connection
        return send(method, path, body)

def get(path):
    return send("GET", "/v1/orgs/acme" + path)

def pages(path):
    items, cursor = [], ""
    while True:
        page = get(path + "?limit=1000" + cursor)
        items += page["items"]
        if not page.get("next"):
            return items
        cursor = "&page=" + page["next"]["page"]

def read(pool):
    lists = ["/spaces", "/sites", "/teams", "/collections", "/members", "/translations"]
    _, sites, teams, *_ = pool.map(pages, lists)
    structures = pool.map(get, ["/sites/" + site["id"] + "/structure" for site in sites])
    members = pool.map(pages, ["/teams/" + team["id"] + "/members" for team in teams])
    return [*structures, *members]
"""
"""The part of a script that reads what a plan reads, with `read`."""
SCRIPT = f"""{FETCH}
with ThreadPoolExecutor(int(sys.argv[1])) as pool:
    print(len(read(pool)))
"""


@dataclass(frozen=True)
class Run:
    """One process: seconds of CPU and of the clock, the most memory in MB."""

    cpu: float
    clock: float
    memory: float


def run(command: Sequence[str], directory: Path, url: str) -> Run:
    environment = {**os.environ, "DPSYNC_URL": url, "DPSYNC_TOKEN": TOKEN, "PYTHONDONTWRITEBYTECODE": ""}
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Run(used.ru_utime + used.ru_stime, clock, _megabytes(used))


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1024)


@contextmanager
def companion(state: Path, latency: int) -> Iterator[str]:
    """Run a companion with this state and yield its URL."""
    command = [sys.executable, "-m", "dpsync", "serve", "--port", "0", "--world", str(state)]
    process = subprocess.Popen(
        [*command, "--latency", str(latency)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(commands: dict[str, tuple[list[str], Path]], url: str, rounds: int) -> dict[str, list[Run]]:
    """Every command once a round, one after the other, after a round that is not counted."""
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, (command, directory) in commands.items():
            one = run(command, directory, url)
            found[name] += [one] if number else []
    return found


def row(situation: str, name: str, runs: list[Run], script: list[Run], units: int = 0) -> str:
    """One line of the table; with `units` also the CPU milliseconds for each of these."""
    pairs = list(zip(runs, script, strict=True))
    ratios = (median(one.cpu / bare.cpu for one, bare in pairs), median(a.clock / b.clock for a, b in pairs))
    cpu, clock = median(one.cpu for one in runs), median(one.clock for one in runs)
    each = [f"{1000 * cpu / units:.2f}"] if units else []
    memory = median(one.memory for one in runs)
    cells = [f"{cpu:.2f}", *each, f"{clock:.2f}", f"{memory:.0f}", *(f"{value:.1f}" for value in ratios)]
    return f"| {situation} | {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, one line for each program and situation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=10_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--before", type=Path, metavar="DIRECTORY", help="another checkout, in the same rounds"
    )
    parser.add_argument(
        "--octodns", metavar="PYTHON", help="one that has octoDNS, which runs in these rounds"
    )
    given = parser.parse_args(arguments)
    if given.octodns is not None and not octodns.is_there(given.octodns):
        parser.exit(1, f"octoDNS is missing: {given.octodns} -m pip install octodns\n")
    heads = ["CPU (s)", "clock (s)", "memory (MB)", "CPU / script", "clock / script"]
    print(f"| latency, in flight | program | {' | '.join(heads)} |")
    print(f"|---|---|{'---:|' * len(heads)}")
    with tempfile.TemporaryDirectory() as directory:
        state, files = Path(directory, "world.json"), Path(directory, "files")
        files.mkdir()
        state.write_text(json.dumps(world(given.entries)), encoding="utf-8")
        put_into(files, given.entries)
        if given.octodns is not None:
            octodns.prepared(Path(directory, "octodns"), given.entries)
        for latency, flight in SITUATIONS:
            plan = [sys.executable, "-m", "dpsync", "plan", "-C", str(files), "--parallelism", str(flight)]
            commands = {"script": ([sys.executable, "-c", SCRIPT, str(flight)], ROOT), "dpsync": (plan, ROOT)}
            if given.before is not None:
                commands["before"] = (plan, given.before)
            if given.octodns is not None and not latency:
                commands["octoDNS"] = (octodns.command(given.octodns), Path(directory, "octodns"))
            with companion(state, latency) as url:
                found = measure(commands, url, given.rounds)
            for name, runs in found.items():
                print(row(f"{latency} ms, {flight}", name, runs, found["script"]), flush=True)


if __name__ == "__main__":
    main()
