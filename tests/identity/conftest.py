"""One companion per test process, and a project for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.server.app import build
from dpsync.server.store import open_store
from dpsync.server.thread import ThreadedServer

from .past import Project


@pytest.fixture(scope="session")
def server() -> Iterator[ThreadedServer]:
    store = open_store(":memory:")
    with ThreadedServer(build(store)) as running:
        yield running
    store.close()


@pytest.fixture
def project(server: ThreadedServer, tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(server, tmp_path / "project")
