"""A navigation changes its kind of root when somebody says so; whatever stops it, the next run goes on."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from dpsync.api import Options
from dpsync.client.client import WriteClient
from dpsync.model.journal import Report
from dpsync.server import world
from tests.direct import transport
from tests.properties.faults import Kill, Killed
from tests.soak import slice_of

from .lab import Lab, group, section, site, spaces

CONFIRM = "restructure acme/sites/docs"
SECTIONS = """
spaces: { a: { title: Space a }, b: { title: Space b }, c: { title: Space c } }
sites:
  docs:
    title: Docs
    structure:
      - { type: section-group, key: more, title: More, children: [
          { type: section, key: news, title: News, path: news, children: [
              { type: space, key: c, space: c, path: c } ] } ] }
      - { type: section, key: guides, title: Guides, path: guides, default: true, children: [
          { type: space, key: a, space: a, path: first },
          { type: space, key: b, space: b, path: b } ] }
"""
ONE = """
spaces: { a: { title: Space a }, b: { title: Space b }, c: { title: Space c } }
sites:
  docs:
    title: Docs
    structure:
      - { type: section, key: news, title: News, path: news, children: [
          { type: space, key: c, space: c, path: c } ] }
"""
SPACES = """
spaces: { a: { title: Space a }, b: { title: Space b }, c: { title: Space c } }
sites:
  docs:
    title: Docs
    published: true
    structure:
      - { type: space, key: b, space: b, path: b }
      - { type: space, key: a, space: a, path: a, default: true }
"""


def place(space: str) -> dict[str, Any]:
    return {"type": "space", "id": f"at-{space}", "space": space, "path": space}


@pytest.fixture
def flat(lab: Lab) -> Lab:
    return lab.holds(spaces=spaces("a", "b", "c"), sites=[site(place("a"), place("b"), published=True)])


@pytest.fixture
def sectioned(lab: Lab) -> Lab:
    tree = [section("k", "a", "b"), group("g", section("l", "c"), group("h"))]
    return lab.holds(spaces=spaces("a", "b", "c"), sites=[site(*tree, published=True)])


def structure(lab: Lab) -> list[Any]:
    """Return the live navigation as nested lists of title, id and children."""

    def shown(nodes: list[Any]) -> list[Any]:
        return [
            (node.get("title") or node["path"], node.get("id"), shown(node.get("children", [])))
            for node in nodes
        ]

    state = lab.server.run_in_server(lambda: world.dump_world(lab.server.app.store))
    return shown(state["organizations"][0]["sites"][0]["structure"])


def until_done(lab: Lab, body: str) -> Report:
    """Apply, and again until it has converged: twice at most."""
    report = lab.apply(body, "{}", CONFIRM)
    if not report.converged:
        report = lab.apply(body, "{}", CONFIRM)
    assert report.complete, report.remaining
    return report


def killed(lab: Lab, body: str, number: int, after: bool) -> bool:
    """Whether an apply was killed at this write."""
    session, options = lab.session(body), Options((CONFIRM,))
    dying = Kill(transport(lab.server), number, "after" if after else "before")
    with WriteClient(lab.server.url, "token", transport=dying) as client:
        planned = session.plan(client, options)
        try:
            session.apply(client, planned)
        except Killed:
            return True
    return False


def test_restructure_to_sections_reuses_old_root(flat: Lab) -> None:
    first = flat.plan(SECTIONS, "{}", CONFIRM)
    assert first.can_apply
    assert [(change.address, change.action) for change in first.changes if change.steps] == [
        ("acme/sites/docs/structure/news", "create")
    ]
    assert "acme/sites/docs/structure/guides" in {item.address for item in first.blocked}

    report = flat.apply(SECTIONS, "{}", CONFIRM)
    assert flat.writes == ["POST /orgs/acme/sites/docs/sections"]
    assert not report.converged

    then = {change.address: change for change in flat.plan(SECTIONS, "{}", CONFIRM).changes}
    assert then["acme/sites/docs/structure/guides"].matched == "contents"
    flat.converges(SECTIONS, "{}", CONFIRM)
    titles = [(title, [inner[0] for inner in inside]) for title, _, inside in structure(flat)]
    assert titles == [("More", ["News"]), ("Guides", ["first", "b"])]
    assert [id for _, id, _ in structure(flat)[1][2]] == ["at-a", "at-b"]
    assert flat.apply(SECTIONS).writes == 0


def test_restructure_deletes_unused_old_root_last(flat: Lab) -> None:
    flat.apply(ONE, "{}", CONFIRM)
    flat.converges(ONE, "{}", CONFIRM)
    assert flat.writes[-1].startswith("DELETE /orgs/acme/sites/docs/sections/")
    assert [title for title, _, _ in structure(flat)] == ["News"]


def test_unconfirmed_restructure_keeps_unused_section(flat: Lab) -> None:
    flat.apply(ONE, "{}", CONFIRM)
    plan = flat.plan(ONE)
    assert plan.deletes == 0
    assert [name for item in plan.kept for name in item.addresses if name.endswith("structure/[Docs]")]


def test_restructure_to_spaces_unpublishes_site_temporarily(sectioned: Lab) -> None:
    sectioned.converges(SPACES, "{}", CONFIRM)

    site_ = "/orgs/acme/sites/docs"
    assert sectioned.writes[0] == f"POST {site_}/unpublish"
    assert {*sectioned.writes[1:5]} == {
        f"DELETE {site_}/sections/k", f"DELETE {site_}/sections/l",
        f"DELETE {site_}/section-groups/g", f"DELETE {site_}/section-groups/h",
    }  # fmt: skip
    assert sectioned.writes[-1] == f"POST {site_}/publish"
    assert [title for title, _, _ in structure(sectioned)] == ["b", "a"]
    assert sectioned.apply(SPACES).writes == 0


def test_restructure_recreates_redirect_in_next_apply(lab: Lab) -> None:
    leads = {"kind": "site-section", "siteSectionId": "news"}
    redirects = [{"id": "r", "source": "/old", "destination": leads}]
    lab.holds(spaces=spaces("a", "b", "c"), sites=[site(section("news", "c"), redirects=redirects)])
    new = "    redirects: { /old: { destination: { kind: site-space, siteSpaceId: b } } }\n    structure:"
    body = SPACES.replace("    structure:", new)
    plan = lab.plan(body, "{ limits: { deletes: 99 } }", CONFIRM)
    assert [item.address for item in plan.blocked] == ["acme/sites/docs/redirects//old"]
    (gone,) = (change for change in plan.changes if change.action == "delete")
    assert "acme/sites/docs/redirects//old" in {effect.address for effect in gone.effects}
    report = lab.apply(body, "{ limits: { deletes: 99 } }", CONFIRM)
    assert {item.result for item in report.outcomes} == {"done"}
    lab.converges(body)
    assert lab.writes == ["POST /orgs/acme/sites/docs/redirects"]


def test_restructure_plan_lists_every_lost_url(sectioned: Lab) -> None:
    plan = sectioned.plan(SPACES, "{}", CONFIRM)
    told = {item.address: item.before for item in plan.urls if item.before is not None}
    tree = "acme/sites/docs/structure"
    assert {*told} == {
        f"{tree}/[Section k]/[a]", f"{tree}/[Section k]/[b]", f"{tree}/[Section l]/[c]",
    }  # fmt: skip
    assert all("://" in text for text in told.values())
    assert [note.text for note in plan.notes if note.address == "acme/sites/docs"] == [
        "published is false while dpsync rebuilds the navigation"
    ]
    assert not [note for note in plan.notes if "made anew" in note.text]


@pytest.mark.parametrize("prune", ["{}", "{ prune: [sites/docs/structure] }"])
def test_refused_restructure_suggests_confirm_flag(sectioned: Lab, prune: str) -> None:
    plan = sectioned.plan(SPACES, prune)
    (refusal,) = [item for item in plan.refusals if item.code == "restructure"]
    assert f'--confirm "{CONFIRM}"' in refusal.way_out


def test_restructure_needs_declared_published_field(sectioned: Lab) -> None:
    """Otherwise, a site stays hidden for ever.

    Otherwise, a site whose entry does not say that it is published stays hidden for ever.
    """
    plan = sectioned.plan(SPACES.replace("    published: true\n", ""), "{}", CONFIRM)
    (refusal,) = plan.refusals
    assert (refusal.code, refusal.address) == ("restructure", "acme/sites/docs")
    assert "add published to the entry" in refusal.way_out


def test_restructure_is_refused_with_no_delete(sectioned: Lab) -> None:
    """Otherwise, a run that deletes nothing takes a navigation apart."""
    plan = sectioned.plan(SPACES, "{}", CONFIRM, delete=False)
    assert [item.code for item in plan.refusals] == ["restructure"]


@pytest.mark.parametrize("after", [False, True])
def test_next_run_finishes_interrupted_restructure_to_spaces(sectioned: Lab, after: bool) -> None:
    until_done(sectioned, SPACES)
    end = [title for title, _, _ in structure(sectioned)]
    for number in range(20):
        _sectioned_again(sectioned)
        if not killed(sectioned, SPACES, number, after):
            break
        until_done(sectioned, SPACES)
        assert [title for title, _, _ in structure(sectioned)] == end
    assert number > 5


def _sectioned_again(lab: Lab) -> None:
    tree = [section("k", "a", "b"), group("g", section("l", "c"), group("h"))]
    lab.holds(spaces=spaces("a", "b", "c"), sites=[site(*tree, published=True)])


@pytest.mark.parametrize(("body", "after"), slice_of([*product([SECTIONS, ONE], [False, True])], 2))
def test_next_runs_finish_interrupted_restructure_to_sections(lab: Lab, body: str, after: bool) -> None:
    def start() -> None:
        lab.holds(spaces=spaces("a", "b", "c"), sites=[site(place("a"), place("b"), published=True)])

    start()
    until_done(lab, body)
    end = [(title, [inner[0] for inner in inside]) for title, _, inside in structure(lab)]
    for number in range(12):
        start()
        if not killed(lab, body, number, after) and not killed(lab, body, number - 1, after):
            break
        until_done(lab, body)
        assert [(title, [inner[0] for inner in inside]) for title, _, inside in structure(lab)] == end
    assert number > 2


MOVED = """
spaces: { a: { title: Space a }, b: { title: Space b } }
sites:
  docs:
    title: Docs
    structure:
      - { type: section, key: k, title: Section k, path: k, children: [
          { type: space, key: b, space: b, path: b } ] }
      - { type: section, key: l, title: Section l, path: l, children: [
          { type: space, key: b, space: b, path: b }, { type: space, key: a, space: a, path: a } ] }
"""


@pytest.mark.parametrize(
    ("prune", "what"),
    [("{ prune: [sites/docs/structure], limits: { percent: 100 } }", "is deleted"), ("{}", "stays")],
)
def test_site_space_moved_between_sections_is_recreated(lab: Lab, prune: str, what: str) -> None:
    tree = [section("k", "b", "a"), section("l", "b")]
    lab.holds(spaces=spaces("a", "b"), sites=[site(*tree, published=True)])

    plan = lab.plan(MOVED, prune)

    (note,) = [item for item in plan.notes if "creates a new object" in item.text]
    assert note.address == "acme/sites/docs/structure/l/a"
    said, _, url = note.text.partition(" (URL ")
    was = "acme/sites/docs/structure/k/[a]"
    expected = (
        f"if you moved {was}: GitBook cannot change the section of this object. dpsync therefore "
        f"creates a new object, and {was} {what}"
    )
    assert said == expected
    assert url.startswith("https://acme.docs.example/docs/")
    lab.converges(MOVED, prune)


def test_restructure_is_refused_without_any_space(flat: Lab) -> None:
    body = "sites: { docs: { title: Docs, structure: [{ type: section-group, key: g, title: G }] } }"
    (refusal,) = flat.plan(body, "{}", CONFIRM).refusals
    assert refusal.code == "restructure"
    assert "a section that contains a space" in refusal.way_out


def test_restructure_avoids_section_with_site_path(flat: Lab) -> None:
    body = SECTIONS.replace("title: News, path: news", "title: News, path: docs")
    first = flat.plan(body, "{}", CONFIRM)
    assert [change.address for change in first.changes if change.steps] == [
        "acme/sites/docs/structure/guides"
    ]
    flat.apply(body, "{}", CONFIRM)
    flat.converges(body, "{}", CONFIRM)
