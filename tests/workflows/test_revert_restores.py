"""A revert restores the changes of an apply, and has a note for each change that it cannot restore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpsync.api import Options, WriteClient, applied, reverting
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.server.control.clock import MovableClock
from dpsync.server.control.gateway import Gateway
from dpsync.server.control.plane import ControlPlane
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.agreed import agreed
from tests.by_hand import by_hand
from tests.no_tls import NO_TLS
from tests.planner.lab import Lab, section, site, spaces, world
from tests.workflows.test_revert import DOCS, Done, titles

CONFIRMATIONS = ("delete 1",)


@pytest.fixture
def lab(server: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(server, tmp_path)


def installation(**configuration: Any) -> dict[str, Any]:
    return {"id": "i", "integration": "tools", "configuration": configuration}


SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "empty settings": ({}, "channel: docs"),
    "settings with another member": ({"server": "a"}, "channel: docs"),
    "nested settings": ({"server": {"a": "b"}}, "server: { c: d }"),
    "changed settings": ({"channel": "news"}, "channel: docs, server: a"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_revert_removes_settings_that_apply_added(lab: Lab, case: str) -> None:
    before, written = SETTINGS[case]
    lab.server.reset(world_with_settings(before))
    done = Done(lab, f"integrations: {{ tools: {{ configuration: {{ {written} }} }} }}")
    assert live_settings(lab) != before
    assert done.back().converged
    assert live_settings(lab) == before
    assert done.plan()[0].not_reverted == ()


def world_with_settings(configuration: dict[str, Any]) -> dict[str, Any]:
    tools = {"name": "tools", "title": "Tools", "script": "x"}
    return world(installations=[installation(**configuration)], integrations=[tools])


def live_settings(lab: Lab) -> dict[str, Any]:
    return lab.world()["organizations"][0]["installations"][0].get("configuration") or {}


def test_revert_removes_link_that_apply_added_to_banner(lab: Lab) -> None:
    banner = {"enabled": True, "message": "Read this", "style": "info"}
    lab.holds(sites=[{**DOCS, "customization": {"announcement": banner}}])
    done = Done(
        lab,
        """
        sites:
          docs:
            title: Docs
            customization:
              announcement:
                message: Read this
                link: { title: More, to: { kind: url, url: "https://acme.example/" } }
        """,
    )
    assert "link" in live_announcement(lab)
    assert done.back().converged
    assert live_announcement(lab) == banner
    assert done.plan()[0].not_reverted == ()


def live_announcement(lab: Lab) -> Any:
    return by_hand(lab.server, "GET", "/orgs/acme/sites/docs/customization", None, "token")["announcement"]


def test_revert_keeps_created_space_with_added_page(lab: Lab) -> None:
    done = Done(lab.holds(), "spaces: { s: { title: Guides } }")
    add_page(lab, "space-1")
    assert done.notes()["acme/spaces/s"] == (
        "Not reverted: somebody has used this space since the apply: the space has 1 page"
    )
    assert done.plan(*CONFIRMATIONS)[1].plan.changes == ()


def add_page(lab: Lab, space: str) -> None:
    """Add a page to a space through a merged change request."""
    request = by_hand(lab.server, "POST", f"/spaces/{space}/change-requests", {"subject": "Page"}, "token")
    at = f"/spaces/{space}/change-requests/{request['id']}"
    page = {"changes": [{"operation": "insert_page", "page": {"title": "Start", "markdown": "Hello"}}]}
    by_hand(lab.server, "POST", f"{at}/content", page, "token")
    by_hand(lab.server, "POST", f"{at}/merge", None, "token")


def test_revert_keeps_created_space_used_in_site(lab: Lab) -> None:
    done = Done(lab.holds(sites=[DOCS]), "spaces: { s: { title: Guides } }")
    by_hand(lab.server, "POST", "/orgs/acme/sites/docs/site-spaces", {"spaceId": "space-1"}, "token")
    assert "somebody has used this space since the apply: acme/sites/" in done.notes()["acme/spaces/s"]
    assert done.plan(*CONFIRMATIONS)[1].plan.changes == ()


def test_revert_keeps_created_team_with_added_member(lab: Lab) -> None:
    done = Done(lab.holds(), "teams: { c: { title: Gamma } }")
    by_hand(lab.server, "PUT", "/orgs/acme/teams/team-1/members/bo", None, "token")
    assert "somebody has used this team since the apply: " in done.notes()["acme/teams/c"]
    assert done.plan(*CONFIRMATIONS)[1].plan.changes == ()


def test_revert_deletes_created_translation_with_its_space(lab: Lab) -> None:
    done = Done(
        lab.holds(spaces=[{"id": "g", "title": "Guides"}]),
        "spaces: { guides: { title: Guides } }\n"
        "translations: { it: { source: { space: guides, language: en }, language: it } }",
    )
    assert len(live_space_ids(lab)) == 2
    assert done.back("delete 2").converged
    assert live_space_ids(lab) == ["g"]


def test_revert_deletes_translated_space_without_entry(lab: Lab) -> None:
    done = Done(
        lab.holds(spaces=[{"id": "g", "title": "Guides"}]),
        "translations: { it: { source: { space: { id: g }, language: en }, language: it } }",
    )
    assert done.back("delete 2").converged
    assert live_space_ids(lab) == ["g"]


def live_space_ids(lab: Lab) -> list[str]:
    found = by_hand(lab.server, "GET", "/orgs/acme/spaces?limit=100", None, "token")["items"]
    return [space["id"] for space in found]


DEFAULTS = """
spaces: {{ en: {{ title: Space en }}, de: {{ title: Space de }} }}
sites:
  docs:
    title: Docs
    structure:
      - {{ type: section, key: one, title: Section one, path: one{one},
          children: [ {{ type: space, key: en, space: en, path: en }} ] }}
      - {{ type: section, key: two, title: Section two, path: two{two},
          children: [ {{ type: space, key: de, space: de, path: de }} ] }}
"""


@pytest.mark.parametrize(
    "one", ["", ", default: false"], ids=["old default not declared", "old default declared"]
)
def test_revert_restores_default_section(lab: Lab, one: str) -> None:
    lab.holds(
        spaces=spaces("en", "de"), sites=[site(section("one", "en", default=True), section("two", "de"))]
    )
    done = Done(lab, DEFAULTS.format(one=one, two=", default: true"))
    assert default_sections(lab) == ["two"]
    assert done.back().converged
    assert default_sections(lab) == ["one"]


def default_sections(lab: Lab) -> list[str]:
    (docs,) = lab.world()["organizations"][0]["sites"]
    return [node["id"] for node in docs["structure"] if node.get("default")]


CONNECTIONS = {
    "settings without secrets": (
        {"connector": "builtin:youtube", "setupSettings": {"channelId": "@gitbook"}},
        True,
    ),
    "settings with a secret": ({"connector": "builtin:linear", "setupSettings": {"token": "x"}}, False),
}


@pytest.mark.parametrize("case", CONNECTIONS)
def test_revert_recreates_context_connection_without_secret_settings(
    published_server: ThreadedServer, tmp_path: Path, case: str
) -> None:
    live, restored = CONNECTIONS[case]
    lab = Lab(published_server, tmp_path, load_registry("published"))
    lab.holds(sites=[{**DOCS, "contextConnections": [{"id": "c", **live}]}])
    done = Done(
        lab,
        "sites: { docs: { title: Docs, contextConnections: {} } }",
        "{ prune: [sites/docs/contextConnections], limits: { percent: 100 } }",
    )
    assert done.back().converged
    found = by_hand(lab.server, "GET", "/orgs/acme/sites/docs/context-connections", None, "token")["items"]
    assert [one["connector"] for one in found] == ([live["connector"]] if restored else [])
    if not restored:
        (text,) = [text for at, text in done.notes().items() if "contextConnections" in at]
        assert text.endswith("a new context connection needs setupSettings, which the plan does not contain")


def test_revert_restores_title_after_site_key_change(lab: Lab) -> None:
    done = Done(lab.holds(sites=[DOCS]), "sites: { docs: { id: docs, title: Handbook } }")
    done.files("sites: { manual: { id: docs, title: Handbook } }")
    assert done.back().converged
    assert titles(lab, "sites") == {"docs": "Docs"}


def test_revert_restores_share_link_after_site_key_change(lab: Lab) -> None:
    link = {"id": "l1", "name": "press", "active": False}
    lab.holds(sites=[{**DOCS, "visibility": "share-link", "shareLinks": [link]}])
    body = "sites: {{ {key}: {{ id: docs, title: Docs, shareLinks: {{ press: {{ active: true }} }} }} }}"
    done = Done(lab, body.format(key="docs")).files(body.format(key="manual"))
    assert done.back().converged
    (docs,) = lab.world()["organizations"][0]["sites"]
    assert docs["shareLinks"][0]["active"] is False


@pytest.fixture
def faulty_lab(tmp_path: Path) -> Iterator[Lab]:
    """Yield a lab with a companion that can return faults."""
    store = open_store(":memory:")
    app = build_companion(store)
    with ThreadedServer(app, ControlPlane(Gateway(app), MovableClock(store), lambda _: None)) as server:
        yield Lab(server, tmp_path)
    store.close()


def test_revert_deletes_partially_created_site(faulty_lab: Lab) -> None:
    lab = faulty_lab.holds()
    session = lab.session("sites: { docs: { title: Docs, basename: manual, visibility: unlisted } }")
    faults = f"{lab.server.url}/_dpsync/faults"
    operation = "PATCH /orgs/{organizationId}/sites/{siteId}"
    rule = {"operation": operation, "every": 1, "fault": {"kind": "status", "status": 403}}
    httpx.put(faults, json=[rule], **NO_TLS).raise_for_status()
    with WriteClient(
        lab.server.url, "token"
    ) as client:  # over HTTP, because the companion injects faults there
        planned = agreed(session, client)
        report = session.apply(client, planned)
        httpx.put(faults, json=[], **NO_TLS).raise_for_status()
        assert (titles(lab, "sites"), report.count("failed")) == ({"site-1": "Docs"}, 1)
        revert = reverting(client, session, applied(planned.plan, report))
        back = revert.plan(client, Options(CONFIRMATIONS))
        assert revert.session.apply(client, back).converged
    assert titles(lab, "sites") == {}
