"""One companion per test process, over real HTTP, holding every answer against the model of its operation."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from companion_calls import Api, StillClock, fresh
from covers import Seen
from postgres_cluster import postgres, postgres_url  # noqa: F401

from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from dpsync.server.world import load_builtin_world
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

WORLD = load_builtin_world()
SEEN = Seen()


@pytest.fixture(autouse=True)
def _covered(request: pytest.FixtureRequest) -> Iterator[None]:
    SEEN.answers.clear()
    yield
    assert SEEN.missing(request.node) == []


def serving(profile: str = "full") -> Iterator[Api]:
    clock = StillClock()
    store = open_store(":memory:")
    app = build_companion(store, profile=profile, clock=clock, check_responses=True)
    with (
        ThreadedServer(app) as server,
        httpx.Client(
            base_url=server.url, event_hooks={"response": [SEEN.note]}, timeout=PATIENCE, **NO_TLS
        ) as http,
    ):
        yield Api(server, http, clock)
    store.close()


@pytest.fixture(scope="session")
def companion() -> Iterator[Api]:
    yield from serving()


@pytest.fixture(scope="session")
def reference_companion() -> Iterator[Api]:
    yield from serving("reference")


@pytest.fixture
def api(companion: Api) -> Iterator[Api]:
    yield from fresh(companion)


@pytest.fixture(scope="session")
def published_companion() -> Iterator[Api]:
    yield from serving("published")


@pytest.fixture
def published(published_companion: Api) -> Iterator[Api]:
    """Yield the companion as the edition that the vendor publishes today."""
    yield from fresh(published_companion)


@pytest.fixture
def reference(reference_companion: Api) -> Iterator[Api]:
    yield from fresh(reference_companion)


@pytest.fixture
def builtin_world() -> dict[str, Any]:
    return WORLD


@pytest.fixture
def impatient(api: Api) -> Iterator[Api]:
    """Yield a companion that waits only briefly for the answers of other servers."""
    before = api.app.outside_services.timeout_seconds
    api.app.outside_services.timeout_seconds = 0.1
    yield api
    api.app.outside_services.timeout_seconds = before
