"""How the companion's answers grow with what it holds: one object and the first page of every list.

    python -m benchmarks.companion [--sizes 1000 100000] [--rounds 15]

An organization of size N has N spaces in N / 100 collections (at least 100), and 100 members, teams
and sites. What is timed is the CPU of the companion's handlers in this process, without HTTP: the best of the
rounds, once after another request, and once right after a space was changed. It ends with 1 when the last
size takes more than twice as long as the first one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import httpx

from dpsync.server import world as worlds
from dpsync.server.http.app import Companion, build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

Json = dict[str, Any]
TOKEN = "ada-token"  # noqa: S105  (of the world below, and of nothing else)
ORG = "/orgs/acme"
PATHS = [
    "/spaces/p7",
    f"{ORG}/members/u7",
    f"{ORG}/members",
    f"{ORG}/members?sort=name&order=asc",
    f"{ORG}/members/u7/spaces",
    f"{ORG}/teams",
    f"{ORG}/teams/t0/members",
    f"{ORG}/sites",
    f"{ORG}/collections",
    f"{ORG}/spaces",
]
OTHERS = 100
"""How many members, teams and sites there are: as many as a page shows."""


def world(size: int) -> Json:
    numbers, shelves = range(OTHERS), max(OTHERS, size // 100)
    return {
        "users": [{"id": f"u{n}", "displayName": f"User {n}"} for n in numbers],
        "tokens": {TOKEN: "u0"},
        "organizations": [
            {
                "id": "acme",
                "members": [{"user": f"u{n}", "role": "read" if n else "admin"} for n in numbers],
                "teams": [
                    {"id": f"t{n}", "title": f"Team {n}", "members": [{"user": f"u{n}"}]} for n in numbers
                ],
                "collections": [{"id": f"c{n}", "title": f"Collection {n}"} for n in range(shelves)],
                "spaces": [
                    {"id": f"p{n}", "title": f"Space {n}", "parent": f"c{n % shelves}"} for n in range(size)
                ],
                "sites": [{"id": f"w{n}", "title": f"Site {n}", "basename": f"w{n}"} for n in numbers],
            }
        ],
    }


class Asked:
    """A companion in this process, asked over HTTP; what is timed is the companion alone."""

    def __init__(self, size: int) -> None:
        store = open_store(":memory:")
        worlds.load_world(store, world(size))
        self.app: Companion = build_companion(store)
        self.server = ThreadedServer(self.app)
        self.server.__enter__()
        self.http = httpx.Client(
            base_url=f"{self.server.url}/v1", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=600
        )
        self.spent = 0.0
        self.written = 0
        run = self.app.run_operation

        def timed(*given: Any) -> Any:
            before = time.thread_time()
            try:
                return run(*given)
            finally:
                self.spent = time.thread_time() - before

        self.app.run_operation = timed  # type: ignore[method-assign]

    def get(self, path: str, *, after_a_write: bool) -> float:
        if after_a_write:
            self.written += 1
            title = {"title": f"Changed {self.written}"}
            self.http.patch("/spaces/p9", json=title).raise_for_status()
        else:
            # Another request on the same state, so that only the answer itself is made anew.
            self.http.get("/user").raise_for_status()
        self.http.get(path, params={"limit": 100} if "?" not in path else None).raise_for_status()
        return self.spent

    def close(self) -> None:
        self.http.close()
        self.server.__exit__(None, None, None)
        self.app.store.close()


def measure(sizes: Sequence[int], rounds: int) -> dict[tuple[str, bool], list[float]]:
    """Return the best seconds per size, for each path, before and after a write; rounds are interleaved."""
    asked = [Asked(size) for size in sizes]
    best = {(path, after): [float("inf")] * len(asked) for path in PATHS for after in (False, True)}
    for companion in asked:
        for path in PATHS:
            companion.get(path, after_a_write=False)
    for _ in range(rounds):
        for (path, after), found in best.items():
            for number, companion in enumerate(asked):
                found[number] = min(found[number], companion.get(path, after_a_write=after))
    for companion in asked:
        companion.close()
    return best


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 100_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--most", type=float, default=2.0, metavar="RATIO")
    given = parser.parse_args(arguments)
    heads = [f"{size:,} (ms)" for size in given.sizes]
    print(f"| GET | {' | '.join(heads)} | ratio | {' | '.join(f'written, {one}' for one in heads)} | ratio |")
    print(f"|---|{'---:|' * (2 * len(heads) + 2)}")
    missed = []
    best = measure(given.sizes, given.rounds)
    for path in PATHS:
        cells = []
        for after in (False, True):
            found = best[path, after]
            ratio = found[-1] / found[0]
            cells += [*(f"{1000 * value:.2f}" for value in found), f"{ratio:.1f}"]
            missed += [path] if ratio > given.most else []
        print(f"| `{path}` | {' | '.join(cells)} |")
    for path in missed:
        print(f"more than {given.most} times: {path}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
