"""Sites and spaces that the platform itself syncs with a repository: the whole way, on today's edition."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dpsync.api import Options, Session
from dpsync.apply.saved_plan import StaleStateError
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import writing

from .lab import Lab, section, site, spaces

TODAY = load_registry("published")
SYNC = {"repoName": "acme/docs", "installationProvider": "github"}
FILE = """
spaces: {{ a: {{ title: Space a }} }}
sites:
  docs:
    title: Docs
    basename: docs{more}
    structure:
      - type: section
        key: news
        title: {title}
        path: news
        children: [{{ type: space, key: a, space: a, path: a }}]
"""


def declared(title: str = "Section news", more: str = "") -> str:
    return FILE.format(title=title, more=f"\n    {more}" if more else "")


@pytest.fixture
def lab(published_server: ThreadedServer, tmp_path: Path) -> Lab:
    lab = Lab(published_server, tmp_path)
    return lab.holds(spaces=spaces("a"), sites=[site(section("news", "a"), gitSync=SYNC)])


def test_apply_skips_git_synced_site(lab: Lab) -> None:
    report = lab.apply(declared("Other"))
    assert (lab.writes, report.outcomes) == ([], ())
    assert report.remaining is not None
    [blocked] = report.remaining.blocked
    assert "the repository acme/docs (github)" in blocked.reason


def test_takeover_converges_git_synced_site(lab: Lab) -> None:
    lab.converges(declared("Other", "takeover: true"))
    assert lab.writes == ["PATCH /orgs/acme/sites/docs/sections/news"]


@pytest.mark.parametrize("turned_on", ["site", "nothing"])
def test_apply_is_refused_if_git_sync_starts_meanwhile(lab: Lab, turned_on: str) -> None:
    lab.holds(spaces=spaces("a"), sites=[site(section("news", "a"))])
    session: Session = lab.session(declared("Other"))
    session = Session(replace(session.desired, profile="published"), TODAY)
    with writing(lab.server) as client:
        plan = session.plan(client, Options())
        lab.server.app.requests.clear()
        world = lab.world()
        if turned_on == "site":
            world["organizations"][0]["sites"][0]["gitSync"] = SYNC
            lab.server.run_in_server(lambda: worlds.load_world(lab.server.app.store, world))
            with pytest.raises(StaleStateError, match="Git Sync"):
                session.apply(client, plan)
            assert lab.writes == []
        else:
            session.apply(client, plan)
            assert lab.writes == ["PATCH /orgs/acme/sites/docs/sections/news"]


@pytest.mark.parametrize(
    ("where", "file"),
    [
        ("takeover: perhaps", "true or false"),
        ("visibility: public\n    customization: { takeover: true }", "cannot sync a customization"),
    ],
)
def test_takeover_is_rejected_on_unsupported_entries(lab: Lab, where: str, file: str) -> None:
    with pytest.raises(DiagnosticError, match=file):
        lab.session(declared(more=where))
