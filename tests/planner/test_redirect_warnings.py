"""A plan warns about redirects that conflict with paths and hosts that are not in the files."""

from __future__ import annotations

from typing import Any

import pytest

from .lab import Lab, section, site, spaces

DECLARED = "sites: { docs: { title: Docs, structure: [NODES], redirects: { REDIRECTS } } }"
NODES = (
    "{ type: section, key: a, title: Section a, children: [{ type: space, key: a, space: { id: a } }] }, "
    "{ type: section, key: b, title: Section b, children: [{ type: space, key: b, space: { id: b } }] }"
)
PUBLIC = {"published": True, "visibility": "public"}
TO_A = "{ destination: { kind: site-section, siteSectionId: a } }"
HOST = "https://acme.docs.example/docs"


def warnings(lab: Lab, redirects: str, **changed: Any) -> list[tuple[str, str]]:
    structure = (section("a", "a", default=True), section("b", "b", **changed))
    lab.holds(hostname="acme", spaces=spaces("a", "b"), sites=[site(*structure, **PUBLIC)])
    plan = lab.plan(DECLARED.replace("NODES", NODES).replace("REDIRECTS", redirects))
    return [(note.address, note.text) for note in plan.notes if note.severity == "warning"]


@pytest.mark.parametrize(
    ("redirects", "source", "words"),
    [
        pytest.param(f"/B: {TO_A}", "/b", '"/B" is the path of the section "b"', id="live path"),
        pytest.param(
            "/b: { destination: { kind: site-section, siteSectionId: b } }",
            "/b",
            'the redirect from "/b" leads to itself',
            id="own section",
        ),
        pytest.param(
            f"/x: {{ destination: {{ kind: external, url: '{HOST}/y' }} }}, "
            f"/y: {{ destination: {{ kind: external, url: '{HOST}/x' }} }}",
            "/x",
            "circle: /x → /y → /x",
            id="circle of live URLs",
        ),
    ],
)
def test_redirect_from_live_path_gets_warning(lab: Lab, redirects: str, source: str, words: str) -> None:
    ((address, text),) = warnings(lab, redirects)
    assert address == f"acme/sites/docs/redirects/{source}"
    assert words in text


@pytest.mark.parametrize(
    ("redirects", "changed"),
    [
        pytest.param(f"/old: {TO_A}", {}, id="path without content"),
        pytest.param(f"/a: {TO_A}", {}, id="section at the root of the site"),
        pytest.param(f"/b: {TO_A}", {"condition": "visitor.claims.isBeta"}, id="conditional section"),
        pytest.param(f"/b: {TO_A}", {"draft": True}, id="draft section"),
    ],
)
def test_redirect_from_unused_path_has_no_warning(lab: Lab, redirects: str, changed: dict[str, Any]) -> None:
    assert warnings(lab, redirects, **changed) == []


PAGES = [
    {"id": "p1", "title": "Start", "slug": "start"},
    {"id": "g", "title": "More", "slug": "more", "type": "group"},
]
TO_PAGE = "{ destination: { kind: site-page, siteSpaceId: b/b, pageId: p1 } }"


@pytest.mark.parametrize(
    ("source", "warned"),
    [("/b/start", True), ("/b/Start", True), ("/b/more", False), ("/b/other", False)],
    ids=["page", "page in another case", "group of pages", "no page"],
)
def test_redirect_from_page_path_gets_warning(lab: Lab, source: str, warned: bool) -> None:
    """A plan reads the pages of each space to which a `site-page` redirect leads."""
    first, second = spaces("a", "b")
    shown = site(section("a", "a", default=True), section("b", "b"), **PUBLIC)
    lab.holds(spaces=[first, {**second, "content": {"pages": PAGES}}], sites=[shown])
    plan = lab.plan(DECLARED.replace("NODES", NODES).replace("REDIRECTS", f"{source}: {TO_PAGE}"))
    place = "acme/sites/docs/structure/b/b"
    words = f'this redirect has no effect, because "{source}" is the path of a page in {place}'
    found = [note.text for note in plan.notes if note.severity == "warning"]
    assert [text.startswith(words) for text in found] == [True] * warned


def test_plan_does_not_repeat_redirect_warnings(lab: Lab) -> None:
    structure = (section("a", "a", default=True), section("b", "b"))
    lab.holds(spaces=spaces("a", "b"), sites=[site(*structure, **PUBLIC)])
    nodes = NODES.replace("key: b, title: Section b", "key: b, title: Section b, path: b")
    text = DECLARED.replace("NODES", nodes).replace("REDIRECTS", f"/b: {TO_A}")
    assert [one.code for one in lab.session(text).desired.warnings] == ["DP248"]
    assert [note for note in lab.plan(text).notes if note.severity == "warning"] == []
