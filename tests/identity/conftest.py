"""A project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer

from .past import Project


@pytest.fixture
def project(server: ThreadedServer, tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(server, tmp_path / "project")
