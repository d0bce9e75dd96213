"""How many entries of a place an import writes in which way."""

from __future__ import annotations

import pytest

from dpsync.api import import_
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import reading
from tests.planner.lab import REGISTRY, site, spaces, world

ONE_LINE = "    members: { a@x.co: member, b@x.co: member, c@x.co: member }"
LINES = ["    members:", *(f"      {name}@x.co: member" for name in "abcd")]


@pytest.mark.parametrize(("names", "lines"), [("abc", [ONE_LINE]), ("abcd", LINES)])
def test_import_writes_up_to_three_members_inline(
    server: ThreadedServer, names: str, lines: list[str]
) -> None:
    live = world(teams=[{"id": "t", "title": "T", "members": [{"user": name} for name in names]}])
    live["users"] += [{"id": n, "displayName": n, "email": f"{n}@x.co"} for n in names]
    (acme,) = live["organizations"]
    acme["members"] += [{"user": name, "role": "read"} for name in names]
    server.reset(live)
    with reading(server) as client:
        written = import_(client, REGISTRY).made.files["acme/teams.yaml"].decode()
    assert written.splitlines()[5:] == lines


@pytest.mark.parametrize(("number", "as_rows"), [(49, False), (50, True)])
def test_import_writes_fifty_redirects_as_csv(server: ThreadedServer, number: int, as_rows: bool) -> None:
    to = {"kind": "external", "url": "https://a.example/"}
    redirects = [{"source": f"/old/{n}", "destination": to} for n in range(number)]
    server.reset(world(spaces=spaces("a"), sites=[site(redirects=redirects)]))
    with reading(server) as client:
        found = import_(client, REGISTRY)
    assert found.proven
    assert ("acme/sites/docs.redirects.csv" in found.made.files) is as_rows
