"""A token that may not read everything: what it may not see is blocked with its line, the rest goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Run
from tests.cli.test_plan_and_apply import writes

Project = Callable[..., Path]
TEXT = """\
dpsync: 1
policy: { prune: [saml], limits: { percent: 100 }, removed: ['teams/[Legacy]'] }
organizations:
  acme:
    id: acme
    teams:
      writers: { title: Technical writers }
    saml:
      okta: { label: Okta }
"""


@pytest.fixture
def directory(project: Project, platform: ThreadedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project and set the token of a user who may not read the SAML providers."""
    del platform
    monkeypatch.setenv("DPSYNC_TOKEN", "kim-token")
    return project(TEXT)


def test_plan_blocks_unreadable_object_with_line(run: Run, directory: Path) -> None:
    ended = run("plan", "-C", str(directory), "--detailed-exitcode")
    assert ended.code == 0, ended.err
    assert re.search(r"^! acme/saml/okta +dpsync\.yaml:9$", ended.out, re.MULTILINE)
    assert "blocked: this token has no access to GET /orgs/acme/saml (status 403)" in ended.out
    assert "to do: use the token of a user who can read SAML providers, such as an admin\n" in ended.out


def test_drift_lists_unreadable_objects(run: Run, directory: Path) -> None:
    ended = run("drift", "-C", str(directory))
    assert ended.code == 0, ended.err
    assert "No drift in the objects that dpsync could read." in ended.out
    assert "Not checked: 1 object that this token cannot read." in ended.out
    document = json.loads(run("drift", "-C", str(directory), "--format", "json").out)
    assert document["drift"]["unread"] == ["acme/saml/okta"]


def test_apply_with_unreadable_object_exits_3(run: Run, directory: Path, platform: ThreadedServer) -> None:
    platform.app.requests.clear()
    ended = run("apply", "-C", str(directory), "--yes")
    assert (ended.code, writes(platform)) == (3, []), ended.out + ended.err


@pytest.mark.usefixtures("directory")
def test_drift_omits_unreadable_ignored_object(run: Run, project: Project) -> None:
    """Otherwise, a list is told as not readable beside each of its entries."""
    ignored = TEXT.replace("{ prune: [saml]", "{ prune: [saml], ignore: [saml/okta]")
    ended = run("drift", "-C", str(project(ignored)))
    assert (ended.code, "No drift." in ended.out) == (0, True), ended.out
