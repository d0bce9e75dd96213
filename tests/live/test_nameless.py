"""A thing without the name by which its kind is recognised: it is nobody's entry, and stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import build_registry
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.planner.lab import Lab

REGISTRY = build_registry("published")
LINKS = [{"id": "first", "name": "partners"}, {"id": "second", "name": "unnamed"}]


class Nameless(CachingClient):
    """The second share link has no name."""

    def pages(self, path: str, *rest: Any, **more: Any) -> list[dict[str, Any]]:
        found = [dict(item) for item in super().pages(path, *rest, **more)]
        for item in found:
            if item.get("id") == "second":
                item.pop("name", None)
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="published")) as server:
        sites = [{"id": "docs", "title": "Docs", "basename": "docs", "shareLinks": LINKS}]
        yield Lab(server, tmp_path, REGISTRY).holds(sites=sites)


def test_object_without_name_is_unmanaged_and_kept(lab: Lab) -> None:
    session = lab.session("sites: { docs: { title: Docs, basename: docs, shareLinks: { partners: {} } } }")
    with Nameless(lab.server.url, "token") as client:
        plan = session.plan(client).plan
    assert plan.changes == ()
    assert [kept.addresses for kept in plan.kept] == [("acme/sites/docs/shareLinks/[second]",)]


def test_import_succeeds_with_object_without_name(lab: Lab) -> None:
    with Nameless(lab.server.url, "token") as client:
        made = import_(client, REGISTRY, ["acme"])
    assert made.problems == ()
    assert made.proven
