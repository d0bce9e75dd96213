"""A platform that answers with hostile ids: each command ends with an error about the platform."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.planner.lab import world

CONFIGURATION = """\
dpsync: 1
organizations: { acme: { id: acme, teams: { ops: { title: Ops } } } }
"""


@pytest.fixture
def hostile(server: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> ThreadedServer:
    """Serve a platform that has a team with the id `..`."""
    server.reset(world(teams=[{"id": "..", "title": "Ops"}]))
    monkeypatch.setenv("DPSYNC_URL", server.url)
    monkeypatch.setenv("DPSYNC_TOKEN", "token")
    return server


@pytest.mark.parametrize(
    "words",
    [("plan",), ("apply", "--yes"), ("drift",), ("ids",), ("import", "--organization", "acme", "--force")],
)
@pytest.mark.usefixtures("hostile")
def test_id_of_only_dots_is_platform_error(
    words: tuple[str, ...], run: Run, project: Callable[..., Path]
) -> None:
    ended = run(*words, "-C", str(project(CONFIGURATION)))
    assert ended.code == 1, ended
    assert ended.err.startswith(
        "error[bad-answer]: the response to GET /orgs/acme/teams is not as expected: "
        "in items[0] (id '..'), 'id' is only dots, not an id\n"
    )


def test_doctor_continues_after_id_of_only_dots(
    hostile: ThreadedServer, run: Run, project: Callable[..., Path]
) -> None:
    ended = run("doctor", "-C", str(project(CONFIGURATION)))
    assert "internal error" not in ended.err
    asked = [path for _, path, _ in hostile.app.requests]
    assert "/v1/orgs/acme/teams" in asked
    assert not [path for path in asked if ".." in path]
