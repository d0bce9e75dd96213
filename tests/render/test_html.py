"""The HTML report in a real browser: it opens from disk, runs nothing of anybody else's, and stays usable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from playwright.sync_api import Browser, Page, expect
from pydantic import BaseModel

from dpsync.model.change import (
    Change,
    Difference,
    Effect,
    Exposure,
    NavigationChange,
    NavigationNode,
    SitePreview,
)
from dpsync.model.plan import Organization, Origin, Plan
from dpsync.model.question import Refusal
from dpsync.render.formats import render
from dpsync.render.json_conversion import plan_document
from dpsync.render.views import make_view
from tests.render.hostile import DOCUMENTS, PIECES

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
Open = Callable[..., Page]


class Elements(HTMLParser):
    """Which elements a page has, and what is in the ones with an id."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.inside = dict(attrs).get("id") or ""

    def handle_data(self, data: str) -> None:
        if self.inside == "data":
            self.data += data

    def handle_endtag(self, _tag: str) -> None:
        self.inside = ""

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"<!--{data}-->")


def elements(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    found.close()
    return found


EMPTY = elements(render(plan_document(Plan()), "html")).tags


@settings(max_examples=25, deadline=None)
@given(DOCUMENTS)
def test_hostile_text_adds_no_elements_to_html_report(document: BaseModel) -> None:
    found = elements(render(document, "html"))
    assert found.tags == EMPTY
    shown = [entry["address"] for block in json.loads(found.data)["blocks"] for entry in block["entries"]]
    assert shown == [entry.address for entry in make_view(document)]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a document as a file from disk. Whatever the browser complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_(document: BaseModel, scheme: Any = "light") -> Page:
        path = tmp_path / "report.html"
        path.write_text(render(document, "html"), encoding="utf-8")
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda one: complaints.append(one.url) if one.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def violations(page: Page) -> list[Any]:
    """Return the findings of axe-core, which is injected from outside, despite the page's policy."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run()")["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


TEXT = Difference(field="instructions", before="Be brief.\nBe kind.", after="Be kind.\nBe clear.")
PLAN = Plan(
    platform="https://docs.example.com",
    organizations=(Organization(address="acme", id="org-1"),),
    changes=(
        Change(
            address="acme/sites/docs", kind="site", action="update", label="Docs",
            differences=(
                Difference(field="title", before="Acme", after="Acme Docs", cause="edited here"),
                TEXT.model_copy(update={"cause": "edited here"}),
            ),
        ),
        Change(
            address="acme/spaces/guides", kind="space", action="update", label="Guides",
            differences=(Difference(field="title", before="Guide", after="Guides", cause="changed outside"),),
        ),
        Change(address="acme/teams/new", kind="team", action="create", label="New", cause="edited here"),
        Change(
            address="acme/teams/[Old]", kind="team", action="delete", label="Old", cause="edited here",
            effects=(Effect(address="acme/teams/[Old]/[ada]", what="goes with it"),),
        ),
    ),
    navigation=(
        NavigationChange(
            address="acme/sites/docs",
            before=(NavigationNode(address="acme/sites/docs/structure/api", kind="section", title="API"),),
            after=(NavigationNode(address="acme/sites/docs/structure/en", kind="section", title="Guides"),),
        ),
    ),
    exposures=(Exposure(address="acme/sites/docs", field="visibility", words="becomes public"),),
    refusals=(Refusal(code="limits", address="acme", message="2 would go", way_out="say so"),),
    origins={"acme/sites/docs": Origin(file="dpsync.yaml", line=4, column=7)},
    base="0" * 40,
    base_from="HEAD",
)  # fmt: skip


def shown(page: Page) -> list[str]:
    """Return the addresses of the visible entries."""
    return page.locator("article:visible").evaluate_all("all => all.map(x => x.querySelector('.said').title)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_html_report_opens_from_disk_and_is_accessible(open_page: Open, scheme: str) -> None:
    page = open_page(plan_document(PLAN), scheme)
    expect(page).to_have_title(re.compile(r"2 to delete \(1 team, 1 object\)"))
    expect(page.locator("#count")).to_have_text("6 of 6 shown")
    assert violations(page) == []
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    assert dark == (scheme == "dark")


def glances(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator("#glances li").all_inner_texts()]


def test_html_report_starts_with_key_figures(open_page: Open) -> None:
    page = open_page(plan_document(PLAN))
    assert glances(page) == [
        "1 reason why dpsync refuses the plan",
        "2 to delete",
        "1 to open access",
        "1 to change for readers: 1 navigation",
        "3 objects to create, change or move",
    ]
    page.locator("#glances a", has_text="open access").click()
    assert page.evaluate("() => document.querySelector(':target .said').title") == "acme/sites/docs"


def test_html_report_shows_zero_key_figures(open_page: Open) -> None:
    page = open_page(plan_document(Plan(changes=PLAN.changes[:1])))
    assert glances(page) == [
        "0 to delete", "0 to open access", "0 to change for readers",
        "1 object to create, change or move",
    ]  # fmt: skip
    assert page.locator("#glances a").count() == 1


def test_html_report_of_empty_plan_hides_controls(open_page: Open) -> None:
    page = open_page(plan_document(Plan()))
    expect(page.get_by_role("heading", level=1)).to_have_text("No changes. GitBook matches your files.")
    for part in ("#glances", "#filters", "nav"):
        expect(page.locator(part)).to_be_hidden()
    assert violations(page) == []


def test_html_report_links_site_previews(open_page: Open) -> None:
    previews = (
        SitePreview(
            address="acme/sites/docs", title="<b>Docs</b>", url="https://app.gitbook.com/preview/docs"
        ),
        SitePreview(address="acme/sites/help", title="Help", url="javascript:alert(1)"),
    )
    page = open_page(plan_document(PLAN.model_copy(update={"previews": previews})))
    expect(page.locator("#previews")).to_have_text("Preview: <b>Docs</b>")
    link = page.locator("#previews a")
    expect(link).to_have_attribute("href", "https://app.gitbook.com/preview/docs")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert violations(page) == []


def test_html_report_fits_narrow_screens(open_page: Open) -> None:
    long = "https://docs.example.com/" + "a" * 300
    change = PLAN.changes[0].model_copy(
        update={"address": f"acme/sites/{'b' * 300}", "differences": (Difference(field="title", after=long),)}
    )
    page = open_page(plan_document(PLAN.model_copy(update={"changes": (change,)})))
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def test_html_report_filters_and_keyboard_shortcuts_work(open_page: Open) -> None:
    page = open_page(plan_document(PLAN))
    everything = shown(page)
    assert everything[0] == "acme/teams/new"
    for name, left in (
        ("Deletes (1)", ["acme/teams/[Old]"]),
        ("Creates (1)", ["acme/teams/new"]),
        ("Changes (2)", ["acme/sites/docs", "acme/spaces/guides"]),
    ):
        page.get_by_role("button", name=name).click()
        assert shown(page) == left
        page.get_by_role("button", name=name).click()
    page.keyboard.press("/")
    page.keyboard.type("BE CLEAR")
    assert shown(page) == ["acme/sites/docs"]
    expect(page.locator("#count")).to_have_text("1 of 6 shown")
    page.keyboard.press("Escape")
    assert shown(page) == everything
    focused = "() => document.activeElement.closest('article').querySelector('.said').title"
    for key, address in (("j", everything[0]), ("j", everything[1]), ("k", everything[0])):
        page.keyboard.press(key)
        assert page.evaluate(focused) == address
    details = page.locator("article details").first
    opened = details.get_attribute("open")
    page.keyboard.press("Enter")
    assert details.get_attribute("open") != opened
    page.locator("#tree a", has_text="guides").click()
    assert page.evaluate("() => document.querySelector(':target .said').title") == "acme/spaces/guides"


def test_html_report_tree_keeps_slashes_of_redirect(open_page: Open) -> None:
    change = Change(address="acme/sites/docs/redirects//old/start", kind="redirect", action="create")
    page = open_page(plan_document(Plan(changes=(change,))))
    names = page.locator("#tree summary, #tree a").all_inner_texts()
    assert names == ["acme (1)", "sites (1)", "docs (1)", "redirects (1)", "/old/start"]


def test_html_report_shows_values_side_by_side(open_page: Open) -> None:
    page = open_page(plan_document(PLAN))
    sides = page.locator(".sides", has_text="instructions")
    assert sides.locator(".before .marked").all_inner_texts() == ["Be brief."]
    assert sides.locator(".after .marked").all_inner_texts() == ["Be clear."]
    assert page.locator(".nodes .goes").all_inner_texts() == ["- API"]
    assert page.locator(".nodes .comes").all_inner_texts() == ["+ Guides"]
    before, after = (sides.locator(name).bounding_box() for name in (".before", ".after"))
    assert before is not None
    assert after is not None
    assert before["y"] == after["y"]
    assert before["x"] + before["width"] <= after["x"]


def test_html_report_renders_hostile_text_as_text(open_page: Open) -> None:
    hostile = [f"{piece}<script>alert(1)</script><img src=x onerror=alert(2)>" for piece in PIECES]
    changes = tuple(
        Change(
            address=f"acme/teams/{text.replace('/', '%2F')}", kind="team", action="update", label=text,
            differences=(Difference(field="title", before=text, after=f"{text}\n{text}"),), moved=text,
        )
        for text in hostile
    )  # fmt: skip
    page = open_page(plan_document(Plan(changes=changes, base_from="</script><script>alert(3)</script>")))
    page.keyboard.press("e")
    page.keyboard.press("e")
    assert page.locator("img, iframe, object, a:not(#tree a, #glances a)").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("article").count() == len(PIECES)


def test_html_report_blocks_injected_scripts(browser: Browser, tmp_path: Path) -> None:
    text = render(plan_document(PLAN), "html")
    (tmp_path / "report.html").write_text(text.replace("<main", "<script>window.ran = 1</script><main", 1))
    with browser.new_page() as page:
        page.goto((tmp_path / "report.html").as_uri())
        expect(page.locator("#count")).to_have_text("6 of 6 shown")
        assert page.evaluate("() => window.ran") is None


def test_html_report_handles_five_thousand_changes(open_page: Open) -> None:
    item = Difference(field="title", before="before", after="after")
    changes = tuple(
        Change(
            address=f"acme/spaces/s{n}", kind="space", action="update", label=f"S {n}", differences=(item,)
        )
        for n in range(5000)
    )
    page = open_page(plan_document(Plan(changes=changes)))
    expect(page.locator("#count")).to_have_text("5000 of 5000 shown")
    assert page.locator(".inside").count() <= 30
    assert page.evaluate("() => document.getElementsByTagName('*').length") < 70_000
    page.locator("#text").fill("s4321")
    expect(page.locator("#count")).to_have_text("1 of 5000 shown")
    assert shown(page) == ["acme/spaces/s4321"]
    page.locator("article:visible summary").click()
    expect(page.locator("article:visible .after")).to_contain_text("after")
