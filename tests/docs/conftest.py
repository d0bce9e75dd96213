"""One companion with its built-in world for the examples of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsync.server.app import build
from dpsync.server.store import open_store
from dpsync.server.thread import ThreadedServer


@pytest.fixture(scope="session")
def companion() -> Iterator[ThreadedServer]:
    store = open_store(":memory:")
    with ThreadedServer(build(store)) as running:
        yield running
    store.close()


@pytest.fixture
def platform(companion: ThreadedServer) -> ThreadedServer:
    companion.reset()
    return companion
