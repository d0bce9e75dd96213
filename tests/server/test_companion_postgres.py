"""Every operation, once, on PostgreSQL and on SQLite: it succeeds, and does and answers the same on both."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from cases import BODIES
from companion_calls import START, Api, StillClock
from postgres_cluster import Cluster
from test_companion_operations import path_of, prepare

from dpsync.server.http.app import build_companion
from dpsync.server.operations import OPERATIONS, PUBLISHED_ONLY_OPERATIONS
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.request.operation import Operation
from dpsync.server.store import open_store
from tests.patience import PATIENCE
from tests.soak import slice_of


@dataclass(frozen=True)
class Done:
    """What an operation has answered, wherever it was reached, and the state when all work was done."""

    status: int
    text: str
    state: Any


def served(where: str, profile: str = "full") -> Iterator[Api]:
    """With a key for addresses of PDF that is not by chance."""
    store = open_store(where)
    with store.transaction():
        store.set_setting("pdf-key", "00" * 32)
    clock = StillClock()
    app = build_companion(store, profile=profile, clock=clock, check_responses=True)
    with ThreadedServer(app) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        yield Api(server, http, clock)
    store.close()


@pytest.fixture(scope="module")
def on_sqlite() -> Iterator[Api]:
    yield from served(":memory:")


@pytest.fixture(scope="module")
def on_postgres(postgres: Cluster) -> Iterator[Api]:
    with postgres.database() as url:
        yield from served(url)


@pytest.fixture(scope="module")
def today_on_sqlite() -> Iterator[Api]:
    yield from served(":memory:", "published")


@pytest.fixture(scope="module")
def today_on_postgres(postgres: Cluster) -> Iterator[Api]:
    with postgres.database() as url:
        yield from served(url, "published")


def done(api: Api, row: Operation, world: Any) -> Done:
    api.clock.now = START
    prepare(api, world)
    answer = api.call(row.method, path_of(row), BODIES.get(row.id))
    api.server.wait_for_jobs()
    assert api.app.violations == []
    return Done(answer.status_code, answer.text.replace(api.server.url, "https://here.example"), api.state())


COMPARED, COMPARED_TODAY = 60, 8
"""How many operations a normal run compares, and how many of those that only today's edition has."""


@pytest.mark.parametrize("row", slice_of(OPERATIONS, COMPARED), ids=lambda row: str(row.id))
def test_every_operation_matches_on_sqlite_and_postgres(
    on_sqlite: Api, on_postgres: Api, row: Operation, builtin_world: Any
) -> None:
    expected, found = (done(api, row, builtin_world) for api in (on_sqlite, on_postgres))
    assert found == expected
    assert found.status == row.status, found.text


@pytest.mark.parametrize(
    "row", slice_of(PUBLISHED_ONLY_OPERATIONS, COMPARED_TODAY), ids=lambda row: str(row.id)
)
def test_published_api_version_matches_on_sqlite_and_postgres(
    today_on_sqlite: Api, today_on_postgres: Api, row: Operation, builtin_world: Any
) -> None:
    expected, found = (done(api, row, builtin_world) for api in (today_on_sqlite, today_on_postgres))
    assert found == expected
    assert found.status in (row.status, 205), found.text
