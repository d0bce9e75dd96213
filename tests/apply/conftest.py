"""A companion with its built-in world, and three teams to write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.api import Session, load, load_registry
from dpsync.client.client import WriteClient
from dpsync.server.process.threaded_server import ThreadedServer

CONFIGURATION = """
dpsync: 1
organizations:
  acme:
    id: acme
    teams:
      one: { title: One }
      two: { title: Two }
      sales: { id: sales, title: Selling }
"""


@pytest.fixture
def server(server: ThreadedServer) -> ThreadedServer:
    server.reset()
    return server


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "dpsync.yaml").write_text(CONFIGURATION)
    return Session(load(tmp_path / "dpsync.yaml"), load_registry(), parallelism=1)


@pytest.fixture
def client(server: ThreadedServer) -> Iterator[WriteClient]:
    with WriteClient(server.url, "ada-token") as client:
        yield client


def writes(server: ThreadedServer) -> int:
    return sum(method != "GET" for method, _, _ in server.app.requests)
