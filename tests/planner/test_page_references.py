"""A plan finds the page of a redirect by id or path, and blocks a redirect to a missing page."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan
from tests.render.drift_text import render_drift

from .lab import Lab, reading, section, site, spaces

PLAIN = Paint(on=False)
PAGES = {
    "pages": [
        {"id": "p1", "title": "Start", "slug": "start"},
        {"id": "p2", "title": "Guides", "slug": "guides", "pages": [
            {"id": "p3", "title": "Install", "slug": "install"}]},
    ]
}  # fmt: skip
BODY = """
spaces: { a: { title: Space a }, b: { title: Space b } }
sites:
  docs:
    title: Docs
    structure:
      - { type: section, key: a, title: Section a, children: [{ type: space, key: a, space: a }] }
      - { type: section, key: b, title: Section b, children: [{ type: space, key: b, space: b }] }
    redirects:
      /old:
        destination:
          { kind: site-page, siteSpaceId: PLACE, pageId: PAGE }
"""
REDIRECT = "acme/sites/docs/redirects//old"


def body(page: str, place: str = "a/a") -> str:
    return BODY.replace("PAGE", page).replace("PLACE", place)


@pytest.fixture
def docs(lab: Lab) -> Lab:
    return lab_with_pages(lab)


def lab_with_pages(lab: Lab, **redirect: Any) -> Lab:
    """Set up a site with two spaces. Only the first space has pages. `redirect` may be a destination."""
    redirects = [{"source": "/old", "destination": redirect}] if redirect else []
    first, second = spaces("a", "b")
    shown = site(section("a", "a"), section("b", "b"), redirects=redirects)
    return lab.holds(spaces=[{**first, "content": PAGES}, second], sites=[shown])


def page_requests(lab: Lab) -> list[str]:
    paths = [path.removeprefix("/v1") for _, path, _ in lab.server.app.requests]
    return [path for path in paths if path.endswith("/content/pages")]


@pytest.mark.parametrize(
    ("page", "id"),
    [("p1", "p1"), ("start", "p1"), ("guides/install", "p3"), ("/guides/install/", "p3")],
    ids=["id", "path", "path of a page below another", "path with slashes"],
)
def test_redirect_to_page_converges(docs: Lab, page: str, id: str) -> None:
    docs.converges(body(page))
    (made,) = docs.world()["organizations"][0]["sites"][0]["redirects"]
    assert made["destination"] == {"kind": "site-page", "siteSpaceId": "a-a", "pageId": id}
    assert docs.plan(body(page)).changes == ()


@pytest.mark.parametrize("place", ["a/a", "{ id: a-a }"], ids=["key", "id"])
def test_new_redirect_to_missing_page_is_blocked(docs: Lab, place: str) -> None:
    """Otherwise, the platform refuses the request in the middle of an apply."""
    plan = docs.plan(body("guides/instal", place))
    assert plan.changes == ()
    (blocked,) = plan.blocked
    assert blocked.address == f"{REDIRECT}#destination"
    assert 'there is no page "guides/instal" in ' in blocked.reason
    assert plan.origins[blocked.address].line == 15


ALL_PAGES = "use the path of a page in that space: guides, guides/install, start"


@pytest.mark.parametrize(
    ("page", "todo"),
    [
        ("guides/instal", f'did you mean "guides/install"? Otherwise, {ALL_PAGES}'),
        ("install", f'did you mean "guides/install"? Otherwise, {ALL_PAGES}'),
        ("setup/instal", f'did you mean "guides/install"? Otherwise, {ALL_PAGES}'),
        ("pricing", ALL_PAGES),
    ],
    ids=["similar path", "last segment", "similar last segment", "nothing similar"],
)
def test_missing_page_message_suggests_and_lists_pages(docs: Lab, page: str, todo: str) -> None:
    """Without the paths, a person must look for them in GitBook although dpsync has read them."""
    (blocked,) = docs.plan(body(page)).blocked
    assert blocked.todo == todo


def test_missing_page_message_counts_pages_after_eight(lab: Lab) -> None:
    pages = [{"id": f"q{number}", "title": "T", "slug": f"topic-{number}"} for number in range(10)]
    lab_with_pages(lab)
    world = lab.world()
    world["organizations"][0]["spaces"][0]["content"]["pages"] = pages
    lab.server.reset(world)
    (blocked,) = lab.plan(body("pricing")).blocked
    assert blocked.todo.endswith("topic-6, topic-7 and 2 more")


def test_missing_page_message_of_empty_space_says_so(docs: Lab) -> None:
    (blocked,) = docs.plan(body("p1", "b/b")).blocked
    assert blocked.todo == "create the page and apply again: the space has no pages"


def test_redirect_changed_to_missing_page_is_blocked(lab: Lab) -> None:
    lab_with_pages(lab, kind="site-page", siteSpaceId="a-a", pageId="p1")
    plan = lab.plan(body("p9"))
    assert plan.changes == ()
    (blocked,) = plan.blocked
    assert (blocked.address, blocked.reason) == (
        f"{REDIRECT}#destination", 'there is no page "p9" in acme/spaces/a',
    )  # fmt: skip


def test_redirect_to_page_of_another_space_is_blocked(docs: Lab) -> None:
    (blocked,) = docs.plan(body("p1", "b/b")).blocked
    assert blocked.reason == 'there is no page "p1" in acme/spaces/b'


def test_redirect_to_page_of_new_space_is_blocked(docs: Lab) -> None:
    text = body("p1", "c/c").replace("b: { title: Space b }", "b: { title: Space b }, c: { title: New }")
    new = "- { type: section, key: c, title: Section c, children: [{ type: space, key: c, space: c }] }"
    text = text.replace("redirects:", f"  {new}\n    redirects:", 1)
    (blocked,) = docs.plan(text, "{}", "new acme/spaces/c").blocked
    assert blocked.reason == "acme/spaces/c does not exist yet, so it has no pages"


def test_unchanged_redirect_to_deleted_page_needs_no_change(lab: Lab) -> None:
    lab_with_pages(lab, kind="site-page", siteSpaceId="a-a", pageId="p1")
    text = body("p1")
    world = lab.world()
    world["organizations"][0]["spaces"][0]["content"]["pages"] = []
    lab.server.reset(world)
    plan = lab.plan(text)
    assert (plan.changes, plan.blocked) == ((), ())


@pytest.mark.parametrize(
    ("live", "change"),
    [
        ({}, "destination { page: a/a/guides/install }"),
        (
            {"kind": "site-page", "siteSpaceId": "a-a", "pageId": "p1"},
            "destination  { page: a/a/start } → { page: a/a/guides/install }",
        ),
    ],
    ids=["new redirect", "changed redirect"],
)
def test_plan_prints_page_paths_of_redirects(lab: Lab, live: dict[str, str], change: str) -> None:
    """A reader does not find the page's id in the files."""
    lab_with_pages(lab, **live)
    assert change in render_plan(lab.plan(body("guides/install")), PLAIN)


def test_drift_prints_page_paths_of_redirects(lab: Lab) -> None:
    lab_with_pages(lab, kind="site-page", siteSpaceId="a-a", pageId="p1")
    with reading(lab.server) as client:
        drift = lab.session(body("guides/install")).drift(client)
    assert "{ page: a/a/guides/install } → { page: a/a/start }" in render_drift(drift, PLAIN)


def test_plan_digest_ignores_page_notation(docs: Lab) -> None:
    """A page that moves after the approval of a plan does not change the id that the apply sends."""
    assert docs.plan(body("guides/install")).digest == docs.plan(body("p3")).digest


def test_redirects_to_space_share_page_request(docs: Lab) -> None:
    text = body("p1") + "".join(
        f"      /old{number}: {{ destination: {{ kind: site-page, siteSpaceId: a/a, pageId: p{number} }} }}\n"
        for number in (1, 2, 3)
    )
    docs.server.app.requests.clear()
    docs.plan(text)
    assert page_requests(docs) == ["/spaces/a/content/pages"]


def test_redirect_to_section_reads_no_pages(docs: Lab) -> None:
    text = body("p1").replace(
        "{ kind: site-page, siteSpaceId: a/a, pageId: p1 }", "{ kind: site-section, siteSectionId: a }"
    )
    docs.server.app.requests.clear()
    assert docs.plan(text).blocked == ()
    assert page_requests(docs) == []
