"""Data that looks like a plan's marker is sent to the platform unchanged, without reading a variable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.by_hand import by_hand
from tests.cli.conftest import Run

Project = Callable[..., Path]
LIKE_A_MARKER = {"dpsync:env": "LEAK"}
SECRET = "very-secret-value"
TEXT = """\
dpsync: 1
organizations:
  acme:
    id: acme
    publishedIntegrations:
      own-tool: { title: New tool, script: "x()"%s }
"""


@pytest.fixture
def own_tool(platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Return a function that reads the integration from the platform."""
    monkeypatch.setenv("LEAK", SECRET)
    return lambda: by_hand(platform, "GET", "/integrations/own-tool", None, "ada-token")


def test_variable_marker_in_platform_data_is_not_substituted(
    run: Run, project: Project, platform: ThreadedServer, own_tool: Callable[[], Any]
) -> None:
    """Publishing sends live data back to the platform, so the author of that data could obtain a secret."""
    published = {"organization": "acme", "title": "Old tool", "script": "x()"}
    published |= {"contentSecurityPolicy": LIKE_A_MARKER}
    by_hand(platform, "POST", "/integrations/own-tool", published, "ada-token")
    ended = run("apply", "-C", str(project(TEXT % "")), "--yes")
    assert (ended.code, own_tool()["title"]) == (0, "New tool")
    assert own_tool()["contentSecurityPolicy"] == LIKE_A_MARKER


def test_variable_marker_in_configuration_data_is_not_substituted(
    run: Run, project: Project, own_tool: Callable[[], Any]
) -> None:
    at = project(TEXT % ', contentSecurityPolicy: { "dpsync:env": LEAK }')
    ended = run("apply", "-C", str(at), "--yes")
    assert (ended.code, own_tool()["contentSecurityPolicy"]) == (0, LIKE_A_MARKER)
    assert '{ dpsync:env: "LEAK" }' in ended.out
