"""The page for people in a real browser: by keyboard, without a script, and with another page beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from console import READ, Companion, hostile_world, served
from playwright.sync_api import Browser, Page, expect

from dpsync.server.console.plan_runner import PlanProgram
from dpsync.server.world import load_builtin_world
from tests.browser import REBOUND
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "companion-page.png"
PAGE = "/_dpsync/page/"
PAGES = (
    "/", "/?organization=globex", f"{PAGE}requests", f"{PAGE}switches", f"{PAGE}plan", f"{PAGE}none",
    f"{PAGE}api/v1/orgs/acme/teams", f"{PAGE}api/v1/orgs/acme/sites/docs/structure",
)  # fmt: skip
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def running() -> Iterator[Companion]:
    with served(read=READ) as companion:
        yield companion


@pytest.fixture
def http(running: Companion) -> Iterator[httpx.Client]:
    headers = {"Authorization": "Bearer ada-token"}
    with httpx.Client(base_url=running.url, headers=headers, timeout=PATIENCE, **NO_TLS) as client:
        assert client.post("/_dpsync/reset").status_code == 204
        yield client


@pytest.fixture
def opened(browser: Browser, running: Companion) -> Iterator[Open]:
    """Open a page of the companion. Whatever the browser complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_(path: str, **how: Any) -> Page:
        size = {"width": 1200, "height": 800}
        context = browser.new_context(base_url=running.url, **{"viewport": size, **how})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda one: complaints.append(one.url) if elsewhere(one.url) else None)
        page.goto(path)
        return page

    def elsewhere(url: str) -> bool:
        return not url.startswith((f"{running.url}/", "data:,"))

    yield open_
    for context in contexts:
        context.close()
    missing = "Failed to load resource: the server responded with a status of 404 (Not Found)"
    assert [one for one in complaints if one != missing] == []


def violations(page: Page) -> list[Any]:
    """Return the findings of axe-core, which is injected from outside, despite the page's policy."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run({iframes: false})")["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 360)])
def test_console_pages_pass_accessibility_checks(
    opened: Open, http: httpx.Client, scheme: str, width: int
) -> None:
    http.get("/v1/user")
    http.put("/_dpsync/faults", json=[{"operation": "getUser", "nth": 9, "fault": {"kind": "reset"}}])
    page = opened("/", color_scheme=scheme, viewport={"width": width, "height": 800})
    for path in PAGES if scheme == "light" else PAGES[::2]:
        page.goto(path)
        assert violations(page) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), path
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"
    assert dark == (scheme == "dark")


@pytest.mark.usefixtures("http")
def test_hostile_titles_are_shown_as_text(opened: Open, running: Companion) -> None:
    running.load(hostile_world())
    for path in ("/", f"{PAGE}api/v1/orgs/zoo/teams", f"{PAGE}api/v1/spaces/s1"):
        page = opened(path)
        assert page.locator("img, iframe, object, script:not(body > script)").count() == 0
    assert violations(page) == []


def test_console_fault_switch_works_by_keyboard(opened: Open, http: httpx.Client) -> None:
    page = opened("/")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    page.get_by_role("link", name="Faults and clock").focus()
    page.keyboard.press("Enter")
    switch = page.get_by_role("switch", name="The server is down")
    expect(switch).not_to_be_checked()
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).to_be_checked()
    assert http.get("/v1/user").status_code == 503
    switch.press("Enter")
    expect(switch).not_to_be_checked()
    assert http.get("/v1/user").status_code == 200


def test_request_log_page_updates_and_filters_rows(opened: Open, http: httpx.Client) -> None:
    page = opened(f"{PAGE}requests")
    expect(page.get_by_text("No requests yet.")).to_be_visible()
    http.get("/v1/user")
    http.get("/v1/orgs/<b>none")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("/v1/orgs/<b>none")
    page.get_by_role("button", name="Failed only").click()
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    page.get_by_role("button", name="Failed only").click()
    page.get_by_label("Filter").fill("GETUSER")
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    expect(page.locator("#count")).to_have_text("1 of 2 shown")
    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name="Empty the log").click()
    expect(page.get_by_text("No requests yet.")).to_be_visible()


def test_paused_request_log_page_does_not_update(opened: Open, http: httpx.Client) -> None:
    page = opened("/")
    page.clock.install()
    page.goto(f"{PAGE}requests")
    page.get_by_role("button", name="Pause").click()
    http.get("/v1/user")
    page.clock.run_for(10_000)
    expect(page.locator("tbody tr")).to_have_count(0)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(2000)
    expect(page.locator("tbody tr")).to_have_count(1)


def test_console_works_without_javascript(opened: Open, http: httpx.Client) -> None:
    http.get("/v1/user")
    page = opened("/", java_script_enabled=False)
    expect(page.get_by_role("link", name="Acme Docs")).to_be_visible()
    page.goto(f"{PAGE}requests")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_text("Reload the page")).to_be_visible()
    page.goto(f"{PAGE}switches")
    page.get_by_role("switch", name="Stop the clock").click()
    expect(page.get_by_role("switch", name="Stop the clock")).to_be_checked()
    assert http.get("/_dpsync/clock").json()["mode"] == "frozen"


@pytest.mark.usefixtures("http")
def test_fault_rule_is_added_and_removed_by_reset(opened: Open) -> None:
    page = opened(f"{PAGE}switches")
    page.get_by_text("A fault for one operation").click()
    page.get_by_label("Operation").fill("getUser")
    page.get_by_label("Fault", exact=True).select_option("Slow responses")
    page.get_by_label("For", exact=True).select_option("the next request")
    page.get_by_role("button", name="Add the rule").click()
    expect(page.get_by_role("region", name="Other rules")).to_contain_text("getUser")
    page.get_by_role("button", name="Restore the test data").click()  # the browser asks to confirm first
    expect(page.get_by_role("region", name="Other rules")).to_be_visible()
    page.get_by_label("I want to lose").check()
    page.get_by_role("button", name="Restore the test data").click()
    expect(page.get_by_role("region", name="Other rules")).to_have_count(0)


@contextmanager
def other_page(html: str) -> Iterator[str]:
    """Serve a foreign page on another port of this machine and yield its URL."""

    class Serving(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Serving) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_page_of_other_site_cannot_use_console(
    browser: Browser, running: Companion, http: httpx.Client, name: str
) -> None:
    target = running.url.replace("127.0.0.1", name)
    form = f'<form method="post" action="{target}{PAGE}switches/flip"><input name="name" value="down">'
    html = f'{form}<button>Win</button></form><iframe src="{target}/"></iframe>'
    with other_page(html) as url, browser.new_page() as page:
        page.goto(url)
        read = f"fetch('{target}{PAGE}requests.json').then((it) => it.text(), () => 'refused')"
        assert page.evaluate(f"() => {read}") == "refused"
        (frame,) = page.frames[1:]
        assert "Acme" not in frame.content()
        page.get_by_role("button", name="Win").click()
        expect(page.locator("body")).to_contain_text("refuses requests from pages of other sites")
    assert http.get("/_dpsync/faults").json() == {"rules": []}


def test_dns_rebinding_page_cannot_read_local_server(browser: Browser, running: Companion) -> None:
    """The browser treats a page with the rebound name and the companion as the same origin."""
    target = running.url.replace("127.0.0.1", REBOUND)
    ask = "path => fetch(path, {headers: {Authorization: 'Bearer ada-token'}}).then(answer => answer.status)"
    with browser.new_page() as page:
        page.goto(f"{target}/v1/openapi.json")
        paths = ("/v1/user", "/v1/openapi.json", "/_dpsync/world", "/")
        assert {path: page.evaluate(ask, path) for path in paths} == dict.fromkeys(paths, 421)


def test_plan_page_shows_report_of_directory(browser: Browser) -> None:
    arguments = (
        sys.executable,
        "-m",
        "dpsync",
        "plan",
        "-C",
        str(ROOT / "examples" / "acme"),
        "--format",
        "html",
    )
    program = PlanProgram("examples/acme", arguments, "dpsync plan -C examples/acme")
    with served(program=program) as companion, browser.new_page(base_url=companion.url) as page:
        page.goto(f"{PAGE}plan")
        report = page.frame_locator("iframe")
        expect(report.get_by_role("heading", level=1)).to_contain_text("to create", timeout=PATIENCE * 1000)
        assert report.locator("body").evaluate("() => self.origin") == "null"


def test_documentation_has_console_screenshot(opened: Open, http: httpx.Client) -> None:
    http.put("/_dpsync/world", json=load_builtin_world())  # no copy of anything, so that there is no banner
    page = opened("/", viewport={"width": 1200, "height": 860})
    expect(page.get_by_role("heading", level=1)).to_have_text("Acme")
    if os.environ.get("UPDATE_SCREENSHOTS"):
        page.screenshot(path=PICTURE)
    assert PICTURE.is_file()
