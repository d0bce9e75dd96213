"""What a rate limit costs: a plan and an apply on a companion that refuses whoever is too fast.

    python -m benchmarks.pace [--limit 20/s] [--teams 100] [--rate 19]

An apply makes so many teams, four requests at once. Told are the requests, how many of them were refused with
429, and the time against the ideal: as if each window of the limit were used up to its last request.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpsync.api import Session, load, load_registry
from dpsync.client.client import WriteClient
from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.control.rate_limit import RateLimit
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store


class Counted(Gateway):
    """A companion that counts whom it refuses."""

    refused = 0

    def check_rate_limit(self, scope: Any) -> Any:
        found = super().check_rate_limit(scope)
        self.refused += found[1] is not None
        return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", default="20/s")
    parser.add_argument("--teams", type=int, default=100)
    parser.add_argument("--rate", type=float, help="the configured rate, in requests for each second")
    given = parser.parse_args(arguments)
    store = open_store(":memory:")
    companion = build_companion(store)
    limit = RateLimit.parse(given.limit)
    gateway = Counted(companion, rate_limit=limit)
    plane = ControlPlane(gateway, MovableClock(store), lambda _: None)
    teams = "".join(f"      t{number}: {{ title: Team {number} }}\n" for number in range(given.teams))
    with ThreadedServer(companion, plane) as server, tempfile.TemporaryDirectory() as folder:
        server.reset()
        root = Path(folder) / "dpsync.yaml"
        root.write_text(f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    teams:\n{teams}")
        began = time.monotonic()
        with WriteClient(server.url, "ada-token", rate=given.rate) as client:
            session = Session(load(root), load_registry())
            report = session.apply(client, session.plan(client), secrets={})
            sent = client.requests
        took = time.monotonic() - began
    ideal = sent / limit.requests * limit.seconds
    done = report.count("done")
    print(f"limit {given.limit}: {sent} requests, {gateway.refused} refused, {done} steps done")
    print(f"{took:.1f} s, ideal {ideal:.1f} s, ratio {took / ideal:.2f}")


if __name__ == "__main__":
    main()
