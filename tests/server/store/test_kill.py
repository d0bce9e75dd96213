"""`kill -9` at any moment, over and over: what was acknowledged is there, and no transition is half done."""

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from databases import Database
from postgres_cluster import Cluster
from processes import Serving, serving

from tests.soak import examples

ROUNDS = examples(1, soak=60)
CHILDREN = 200
WORLD = {
    "users": [{"id": "ada", "displayName": "Ada"}],
    "tokens": {"ada-token": "ada"},
    "organizations": [
        {
            "id": "acme",
            "title": "Acme",
            "members": [{"user": "ada", "role": "admin"}],
            "collections": [{"id": f"full-{number}", "title": "Full"} for number in range(ROUNDS + 1)],
            "spaces": [
                {"id": f"in-{number}-{child}", "title": "In it", "parent": f"full-{number}"}
                for number in range(ROUNDS + 1)
                for child in range(CHILDREN)
            ],
        }
    ],
}


@pytest.fixture
def durable(request: pytest.FixtureRequest, database: Database) -> Iterator[Database]:
    """As it is in production: PostgreSQL waits for the disk."""
    if not database.shared:
        yield database
        return
    cluster: Cluster = request.getfixturevalue("postgres")
    cluster.wait_for_disk(True)
    yield database
    cluster.wait_for_disk(False)


@dataclass
class Acknowledged:
    """What has been answered: titles of teams, and collections that are deleted."""

    titles: dict[str, str] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)


def send(http: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    answer = http.request(method, f"/v1{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


class Writer(threading.Thread):
    """Goes on until the connection breaks."""

    def __init__(self, http: httpx.Client, known: Acknowledged) -> None:
        super().__init__()
        self.http = http
        self.known = known
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.write()
        except httpx.TransportError:
            pass
        except BaseException as failure:
            self.failure = failure

    def write(self) -> None:
        """Create and rename teams, and record each acknowledged title, which must never revert."""
        while True:
            id = send(self.http, "PUT", "/orgs/acme/teams", {"title": "made"})["id"]
            self.known.titles[id] = "made"
            send(self.http, "PATCH", f"/orgs/acme/teams/{id}", {"title": f"title of {id}"})
            self.known.titles[id] = f"title of {id}"


class Deleter(Writer):
    """Of one full collection: all that is in it moves to where it stood."""

    def __init__(self, http: httpx.Client, known: Acknowledged, number: int) -> None:
        super().__init__(http, known)
        self.number = number

    def write(self) -> None:
        send(self.http, "DELETE", f"/collections/full-{self.number}")
        self.known.deleted.add(self.number)


def write_until_killed(running: Serving, known: Acknowledged, number: int, seconds: float) -> None:
    """Kill the server this long after the start of a collection's delete, while others write as well."""
    writers = [Writer(running.client(), known) for _ in range(2)]
    deleter = Deleter(running.client(), known, number)
    already = len(known.titles)
    for writer in writers:
        writer.start()
    while len(known.titles) < already + 5 and all(writer.is_alive() for writer in writers):
        writers[0].join(0.001)
    deleter.start()
    deleter.join(seconds)
    running.kill()
    for writer in (*writers, deleter):
        writer.join()
        assert writer.failure is None


def check(running: Serving, known: Acknowledged, begun: int) -> None:
    http = running.client()
    for id, title in known.titles.items():
        assert send(http, "GET", f"/orgs/acme/teams/{id}")["title"] in (title, f"title of {id}")
    parents = {space["id"]: space.get("parent") for space in all_spaces(http)}
    for number in range(begun):
        collection = f"full-{number}"
        there = http.get(f"/v1/collections/{collection}").is_success
        inside = {parents[f"in-{number}-{child}"] for child in range(CHILDREN)}
        assert inside == ({collection} if there else {None})
        assert not (there and number in known.deleted)


def all_spaces(http: httpx.Client) -> Iterator[Any]:
    page: dict[str, str] = {}
    while True:
        found = send(http, "GET", f"/orgs/acme/spaces?{urlencode({'limit': '1000', **page})}")
        yield from found["items"]
        if "next" not in found:
            return
        page = found["next"]


def test_postgres_crash_loses_no_acknowledged_write(postgres: Cluster, postgres_url: str) -> None:
    postgres.wait_for_disk(True)
    titles = [f"made {number}" for number in range(20)]
    with serving(Database(postgres_url)) as running:
        http = running.client()
        for title in titles:
            send(http, "PUT", "/orgs/acme/teams", {"title": title})
        postgres.crash()
        assert http.get("/v1/orgs/acme/teams").status_code == 503
        postgres.start()
        kept = [team["title"] for team in send(http, "GET", "/orgs/acme/teams?limit=1000")["items"]]
    assert kept[-20:] == titles
    postgres.wait_for_disk(False)


def test_killed_server_leaves_no_lost_or_partial_writes(durable: Database) -> None:
    known = Acknowledged()
    chance = random.Random(f"{durable.shared}")
    with serving(durable) as running:
        http = running.client()
        assert http.put("/_dpsync/world", json=WORLD).status_code == 204
        began = time.monotonic()
        send(http, "DELETE", f"/collections/full-{ROUNDS}")
        taken = time.monotonic() - began
    for number in range(ROUNDS):
        with serving(durable) as running:
            check(running, known, number)
            write_until_killed(running, known, number, chance.uniform(0, 1.2) * taken)
    with serving(durable) as running:
        check(running, known, ROUNDS)
    assert len(known.titles) >= 5 * ROUNDS
