"""The companion with its built-in world for the examples of the documentation."""

from __future__ import annotations

import pytest

from dpsync.server.process.threaded_server import ThreadedServer


@pytest.fixture
def platform(server: ThreadedServer) -> ThreadedServer:
    server.reset()
    return server
