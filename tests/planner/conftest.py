"""Each test fills the companion with a world of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer

from .lab import Lab


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(server, tmp_path)
