"""How many requests a plan takes, for organizations that grow: a count of the companion's log, not a time.

    python -m benchmarks.reads [--sizes 10 100 1000 3000]

An organization of size N has N spaces, N / 10 sections in N / 50 sites (at least one each), and N / 20 teams
with their members. The plan is made twice: with everything as it is, and with every title changed. Both take
the same number of requests: what is read depends on what is declared, and no kind is read one by one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpsync.api import Session, load, load_registry
from dpsync.client.client import ReadClient
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

Json = dict[str, Any]
TOKEN = "ada-token"  # noqa: S105  (of the world below, and of nothing else)


def world(size: int) -> Json:
    """Return an organization in which the id of each object equals its key."""
    sites, teams = max(1, size // 50), max(1, size // 20)
    sections = max(1, size // 10 // sites)
    return {
        "users": [{"id": "ada", "displayName": "Ada", "email": "ada@acme.example"}],
        "tokens": {TOKEN: "ada"},
        "organizations": [
            {
                "id": "acme",
                "title": "Acme",
                "members": [{"user": "ada", "role": "admin"}],
                "teams": [
                    {"id": f"t{n}", "title": f"Team {n}", "members": [{"user": "ada", "role": "owner"}]}
                    for n in range(teams)
                ],
                "spaces": [{"id": f"p{n}", "title": f"Space {n}"} for n in range(size)],
                "sites": [_site(n, sections, size) for n in range(sites)],
            }
        ],
    }


def _site(number: int, sections: int, spaces: int) -> Json:
    def section(n: int) -> Json:
        shown = (number * sections + n) % spaces
        child = {"type": "space", "id": f"w{number}-s{n}-en", "space": f"p{shown}", "path": "en"}
        title: Json = {"title": f"Section {n}", "path": f"s{n}"}
        return {"type": "section", "id": f"w{number}-s{n}", **title, "children": [child]}

    structure = [section(n) for n in range(sections)]
    return {"id": f"w{number}", "title": f"Site {number}", "basename": f"w{number}", "structure": structure}


def configuration(live: Json, suffix: str = "") -> Json:
    """Return the world as a configuration. `suffix` is appended to the titles of spaces, teams and sites."""
    (organization,) = live["organizations"]

    def pinned(item: Json) -> Json:
        return {"id": item["id"], "title": item["title"] + suffix}

    def node(item: Json) -> Json:
        kept: Json = {name: item[name] for name in ("type", "title", "path", "space") if name in item}
        inside = {"children": [node(child) for child in item["children"]]} if "children" in item else {}
        return {"key": item["id"], **kept, **inside}

    return {
        "dpsync": 1,
        "organizations": {
            "acme": {
                "id": "acme",
                "members": {"ada@acme.example": "admin"},
                "teams": {
                    team["id"]: {**pinned(team), "members": {"ada@acme.example": "owner"}}
                    for team in organization["teams"]
                },
                "spaces": {space["id"]: pinned(space) for space in organization["spaces"]},
                "sites": {
                    site["id"]: {**pinned(site), "structure": [node(item) for item in site["structure"]]}
                    for site in organization["sites"]
                },
            }
        },
    }


def count(server: ThreadedServer, size: int, directory: Path) -> Json:
    """Return the request counts of an unchanged and a changed plan, and how many objects there are."""
    live = world(size)
    (organization,) = live["organizations"]
    found: Json = {
        "spaces": size,
        "sites": len(organization["sites"]),
        "sections": sum(len(site["structure"]) for site in organization["sites"]),
        "teams": len(organization["teams"]),
    }
    for name, suffix in (("unchanged", ""), ("changed", "!")):
        server.reset(live)
        root = directory / "dpsync.yaml"
        root.write_text(json.dumps(configuration(live, suffix)), encoding="utf-8")
        with ReadClient(server.url, TOKEN) as client:
            plan = Session(load(root, {}), load_registry()).plan(client).plan
        found[name] = server.run_in_server(lambda: len(server.app.requests))
        found[f"{name} changes"] = len(plan.changes)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Count and print, one line for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000, 3000], metavar="N")
    given = parser.parse_args(arguments)
    columns = ("spaces", "sites", "sections", "teams", "unchanged", "changed", "changed changes")
    print("".join(f"{name:>16}" for name in (*columns[:-1], "changes")))
    with (
        tempfile.TemporaryDirectory() as directory,
        ThreadedServer(build_companion(open_store(":memory:"))) as server,
    ):
        for size in given.sizes:
            found = count(server, size, Path(directory))
            print("".join(f"{found[name]:>16}" for name in columns))


if __name__ == "__main__":
    main()
