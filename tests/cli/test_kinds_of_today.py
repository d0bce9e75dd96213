"""Kinds that only today's edition has: on other profiles each is not managed, and one line says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    sites:
      docs:
        id: docs
        title: Acme Docs
        mcpServers: { tools: { name: Tools, url: "https://mcp.acme.example/" } }
"""


@pytest.mark.usefixtures("platform")
def test_plan_blocks_kind_unsupported_by_api_version(run: Run, project: Project) -> None:
    ended = run("plan", "-C", str(project(TEXT)), "--color", "never")
    assert ended.code == 0, ended.out
    said = [line for line in ended.out.splitlines() if "MCP server" in line]
    assert said == ["    blocked: the API version full has no operation for reading an MCP server"]
