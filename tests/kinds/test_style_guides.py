"""Style guides: made for a site, named by several, and no spaces that anybody declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.registry import load
from dpsync.kinds.types import Own
from dpsync.model.values import LiveId
from dpsync.server.http.app import build
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.store import open_store
from tests.planner.lab import Lab

GUIDE = {"id": "guide", "title": "Style guide", "type": "styleguide"}
SITES = [{"id": "docs", "title": "Docs", "styleguide": "guide"}, {"id": "help", "title": "Help"}]
DOCS = "sites: { docs: { id: docs, title: Docs, styleguide: %s } }"


@pytest.fixture(scope="module")
def today() -> Iterator[ThreadedServer]:
    with ThreadedServer(build(open_store(":memory:"), profile="published")) as running:
        yield running


@pytest.fixture
def lab(today: ThreadedServer, tmp_path: Path) -> Lab:
    return Lab(today, tmp_path, load("published")).holds(
        spaces=[GUIDE, {"id": "one", "title": "One"}], sites=SITES
    )


def guide_of(lab: Lab, site: str) -> Any:
    return next(found for found in lab.world()["organizations"][0]["sites"] if found["id"] == site).get(
        "styleguide"
    )


def test_a_site_that_has_one_has_one_of_its_own(lab: Lab) -> None:
    assert lab.plan(DOCS % "own").changes == ()


def test_one_is_made_for_a_site_that_has_none(lab: Lab) -> None:
    lab.converges("sites: { help: { id: help, title: Help, styleguide: own } }")
    assert guide_of(lab, "help") not in (None, "guide")


def test_another_site_may_name_the_same_one(lab: Lab) -> None:
    lab.converges("sites: { help: { id: help, title: Help, styleguide: { id: guide } } }")
    assert guide_of(lab, "help") == "guide"


def test_null_lets_it_go_and_deletes_nothing(lab: Lab) -> None:
    lab.converges(DOCS % "null")
    assert guide_of(lab, "docs") is None
    assert "guide" in {space["id"] for space in lab.world()["organizations"][0]["spaces"]}


def test_a_style_guide_is_never_offered_nor_pruned(lab: Lab) -> None:
    """Otherwise, a style guide, which is listed among the spaces, is offered as unmanaged and goes where
    `prune` covers spaces.
    """
    plan = lab.plan("spaces: { one: { id: one, title: One } }", "{ prune: [spaces] }")
    assert plan.changes == ()
    assert "Style guide" not in str(plan)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("own", LiveId("a"), True), (LiveId("a"), LiveId("a"), True), (LiveId("a"), LiveId("b"), False)],
)
def test_one_of_its_own_is_any_that_is_there(one: Any, other: Any, same: bool) -> None:
    assert Own().same(one, other) is same
