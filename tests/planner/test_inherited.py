"""What one space of a site has of its own, where answers have what it inherits: the edition of today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsync.kinds.registry import load
from dpsync.server.http.app import build
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.store import open_store

from .lab import Lab, section, site, spaces


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with ThreadedServer(build(open_store(":memory:"), profile="published")) as server:
        lab = Lab(server, tmp_path, load("published"))
        yield lab.holds(spaces=spaces("en"), sites=[site(section("one", "en"))])


def declared(site_title: str, own: str) -> str:
    return f"""
        spaces: {{ en: {{ title: Space en }} }}
        sites:
          docs:
            title: Docs
            customization: {{ title: {site_title} }}
            structure:
              - type: section
                key: one
                title: Section one
                path: one
                children: [{{ type: space, key: en, space: en, path: en, customization: {own} }}]
    """


def test_its_own_looks_are_written_before_those_of_its_site(lab: Lab) -> None:
    report = lab.converges(declared("Manuals", "{ title: Guide, styling: { corners: straight } }"))
    assert report.count("stale") == 0
    assert [path.rpartition("/sites/")[2] for path in lab.writes] == [
        "docs/site-spaces/one-en/customization",
        "docs/customization",
    ]


def test_only_what_is_declared_is_sent_so_that_what_is_inherited_stays_so(lab: Lab) -> None:
    lab.converges(declared("Manuals", "{ styling: { corners: straight } }"))
    place = lab.world()["organizations"][0]["sites"][0]["structure"][0]["children"][0]
    assert place["customization"] == {"styling": {"corners": "straight"}}
    lab.converges(declared("Handbook", "{ styling: { corners: straight } }"))
    assert lab.plan(declared("Handbook", "{ title: Handbook }")).changes == ()
