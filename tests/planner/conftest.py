"""One companion per test process; each test fills it with a world of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.server.app import build
from dpsync.server.store import open_store
from dpsync.server.thread import ThreadedServer

from .lab import Lab


@pytest.fixture(scope="session")
def server() -> Iterator[ThreadedServer]:
    store = open_store(":memory:")
    with ThreadedServer(build(store)) as running:
        yield running
    store.close()


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(server, tmp_path)
