"""What the platform itself syncs with a repository: import leaves it to the repository, and says so."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import Imported, import_
from dpsync.live.decode import UnexpectedShapeError, decode
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import reading
from tests.planner.lab import REGISTRY, section, site, spaces, world

SYNC = {"repoName": "acme/docs", "installationProvider": "github", "installationStatus": "active"}
REDIRECT = {"source": "/old", "destination": {"kind": "site-section", "siteSectionId": "news"}}


def imported(server: ThreadedServer, **organization: Any) -> Imported:
    server.reset(world(**organization))
    with reading(server) as client:
        return import_(client, REGISTRY)


def text(found: Imported) -> str:
    return "\n".join(content.decode() for content in found.made.files.values())


def test_import_omits_structure_of_git_synced_site(published_server: ThreadedServer) -> None:
    synced = site(section("news", "a"), gitSync=SYNC, redirects=[REDIRECT])
    found = imported(published_server, spaces=spaces("a"), sites=[synced])
    why = "GitBook syncs the structure with the repository acme/docs (github)"
    assert f"# Not imported: structure. {why}\n" in text(found)
    assert "structure:" not in text(found)
    assert "{ id: news }" in text(found)
    assert [(note.address, note.field) for note in found.made.left_out] == [("acme/sites/docs", "structure")]
    assert found.plan is not None
    assert (found.proven, found.plan.changes, found.plan.blocked) == (True, (), ())


def test_import_omits_edit_mode_of_git_synced_space(server: ThreadedServer) -> None:
    found = imported(server, spaces=spaces("a", gitSync=SYNC, editMode="locked"))
    assert "editMode:" not in text(found)
    assert found.plan is not None
    assert (found.proven, found.plan.changes) == (True, ())


def test_repository_name_cannot_break_yaml_comment(published_server: ThreadedServer) -> None:
    name = "acme/docs\n    basename: hijacked\n#"
    found = imported(published_server, sites=[site(gitSync={**SYNC, "repoName": name})])
    assert "\n    basename: hijacked" not in text(found)
    assert found.problems == ()


@pytest.mark.parametrize("said", ["on", ["x"], True, 3])
def test_unexpected_git_sync_value_is_refused(said: Any) -> None:
    """Otherwise, whether something is synced is guessed from an answer of another shape."""
    body = {"id": "a", "title": "A", "editMode": "live", "gitSync": said}
    with pytest.raises(UnexpectedShapeError):
        decode(REGISTRY["space"], body, ("organization", "acme"), "/spaces")
