"""One companion for all laws, reset for every example; it holds every answer against its own models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

from .platform import Platform


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with ThreadedServer(build_companion(open_store(":memory:"), check_responses=True)) as server:
        yield Platform(server, tmp_path_factory.mktemp("laws"))
        assert server.app.violations == []


@pytest.fixture(scope="session")
def today(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Serve the edition that the vendor publishes today; yield it with its kinds."""
    app = build_companion(open_store(":memory:"), profile="published", check_responses=True)
    with ThreadedServer(app) as server:
        yield Platform(server, tmp_path_factory.mktemp("today"), build_registry("published"))
        assert server.app.violations == []


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Serve only the documented operations; yield the platform with its kinds."""
    app = build_companion(open_store(":memory:"), profile="reference", check_responses=True)
    with ThreadedServer(app) as server:
        yield Platform(server, tmp_path_factory.mktemp("reference"), build_registry("reference"))
        assert server.app.violations == []
