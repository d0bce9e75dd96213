"""Style guides: made for a site, named by several, and no spaces that anybody declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import OwnReference
from dpsync.model.values import LiveId
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.planner.lab import Lab

GUIDE = {"id": "guide", "title": "Style guide", "type": "styleguide"}
SITES = [{"id": "docs", "title": "Docs", "styleguide": "guide"}, {"id": "help", "title": "Help"}]
DOCS = "sites: { docs: { id: docs, title: Docs, styleguide: %s } }"


@pytest.fixture(scope="module")
def today() -> Iterator[ThreadedServer]:
    with ThreadedServer(build_companion(open_store(":memory:"), profile="published")) as running:
        yield running


@pytest.fixture
def lab(today: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(today, tmp_path, build_registry("published")).holds(
        spaces=[GUIDE, {"id": "one", "title": "One"}], sites=SITES
    )


def guide_of(lab: Lab, site: str) -> Any:
    return next(found for found in lab.world()["organizations"][0]["sites"] if found["id"] == site).get(
        "styleguide"
    )


def test_own_styleguide_matches_existing_own_styleguide(lab: Lab) -> None:
    assert lab.plan(DOCS % "own").changes == ()


def test_own_styleguide_is_created_for_site_without_styleguide(lab: Lab) -> None:
    lab.converges("sites: { help: { id: help, title: Help, styleguide: own } }")
    assert guide_of(lab, "help") not in (None, "guide")


def test_site_can_use_existing_styleguide_by_id(lab: Lab) -> None:
    lab.converges("sites: { help: { id: help, title: Help, styleguide: { id: guide } } }")
    assert guide_of(lab, "help") == "guide"


def test_null_styleguide_detaches_without_deleting(lab: Lab) -> None:
    lab.converges(DOCS % "null")
    assert guide_of(lab, "docs") is None
    assert "guide" in {space["id"] for space in lab.world()["organizations"][0]["spaces"]}


def test_styleguide_space_is_never_unmanaged_or_pruned(lab: Lab) -> None:
    """Otherwise, `prune` deletes a style guide, because the API lists it among the spaces."""
    plan = lab.plan("spaces: { one: { id: one, title: One } }", "{ prune: [spaces] }")
    assert plan.changes == ()
    assert "Style guide" not in str(plan)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("own", LiveId("a"), True), (LiveId("a"), LiveId("a"), True), (LiveId("a"), LiveId("b"), False)],
)
def test_own_styleguide_equals_any_live_styleguide(one: Any, other: Any, same: bool) -> None:
    assert OwnReference().equals(one, other) is same
