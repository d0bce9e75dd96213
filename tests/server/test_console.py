"""The page for people: what it shows, to whom it answers, and what its switches do."""

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from console import BANNER, HOSTILE, READ, Companion, hostile_world, printing, served

from dpsync.server import world as worlds
from dpsync.server.console.plan_runner import PlanProgram
from dpsync.server.console.safe_text import MASKED, escape_invisible, is_secret_name, mask_query, mask_secrets
from dpsync.server.http.app import build_companion
from dpsync.server.store import open_store
from tests.no_tls import NO_TLS
from tests.patience import PATIENCE

PAGE = "/_dpsync/page/"
TOKEN = {"Authorization": "Bearer ada-token"}


class Elements(HTMLParser):
    """The elements of a page, its links, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] not in (["style"], ["script"]):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def running() -> Iterator[Companion]:
    with served(read=READ) as companion:
        yield companion


@pytest.fixture
def http(running: Companion) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running.url, timeout=PATIENCE, **NO_TLS) as client:
        assert client.post("/_dpsync/reset").status_code == 204
        yield client


@pytest.fixture(scope="module")
def published() -> Iterator[Companion]:
    with served("published") as companion:
        yield companion


def page(http: httpx.Client, path: str) -> Elements:
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    return Elements(answer.text)


# --- what it shows ------------------------------------------------------------------------------------


def test_console_home_shows_organization_tree(http: httpx.Client) -> None:
    text = page(http, "/").text
    for part in (
        "Acme Docs published public Guides /guides default Guides /en default More group News /news",
        "Product product API api API reference api-reference Guides guides",
        "Technical writers writers Ada Byron ada owner Lin Yutang lin",
        "Gus Fring gus guest",
    ):
        assert part in text


def test_console_selects_organization_by_query(http: httpx.Client) -> None:
    assert "Homer Simpson" in page(http, "/?organization=globex").text
    assert http.get("/?organization=none").status_code == 404


def test_console_marks_hidden_site_spaces(http: httpx.Client) -> None:
    assert re.search(r'class="site-space unseen">.*?Archive', http.get("/").text, re.DOTALL)


def test_console_shows_api_response_of_admin(http: httpx.Client) -> None:
    found = page(http, f"{PAGE}api/v1/orgs/globex/teams")
    api = http.get("/v1/orgs/globex/teams", headers=TOKEN).json()
    assert json.dumps(api, indent=2) in "".join(found.words)
    assert f"{PAGE}api/v1/orgs/globex" in found.links
    assert f"{PAGE}api/v1/orgs/globex/teams/{api['items'][0]['id']}" in found.links


def test_console_shows_organization_of_another_admin(running: Companion, http: httpx.Client) -> None:
    world = worlds.load_builtin_world()
    world["organizations"][1]["members"] = [{"user": "hank", "role": "admin"}]
    world["organizations"][1] = {name: world["organizations"][1][name] for name in ("id", "title", "members")}
    running.load(world)
    assert "as returned to hank" in page(http, f"{PAGE}api/v1/orgs/globex").text


def test_console_list_links_to_next_page(running: Companion, http: httpx.Client) -> None:
    world = worlds.load_builtin_world()
    world["organizations"][0]["teams"] += [{"id": f"t{n}", "title": f"T {n}"} for n in range(60)]
    running.load(world)
    (following,) = [link for link in page(http, f"{PAGE}api/v1/orgs/acme/teams").links if "?page=" in link]
    assert f"{PAGE}api/v1/orgs/acme/teams/t59" in page(http, following).links


def crawled(http: httpx.Client) -> dict[str, Elements]:
    """Every page that the first one leads to, by way of others. One that is not there fails."""
    found: dict[str, Elements] = {}
    ahead = ["/"]
    while ahead:
        path = ahead.pop()
        if path not in found:
            elements = found[path] = page(http, path)
            links = (urljoin(path, link) for link in elements.links if not link.startswith("#"))
            ahead += [link for link in links if link.startswith(("/?", f"{PAGE}api/"))]
    return found


@pytest.mark.parametrize("edition", ["full", "published"])
def test_console_links_resolve_and_pages_contain_no_secrets(
    edition: str, request: pytest.FixtureRequest
) -> None:
    companion: Companion = request.getfixturevalue("running" if edition == "full" else "published")
    world = worlds.load_builtin_world()
    (organization,) = world["organizations"] = world["organizations"][1:]
    site = organization["sites"][0]
    secrets = [f"planted-{number}" for number in range(3)]
    organization["saml"] = [{"id": "login", "label": "Login", "certificate": secrets[0]}]
    site["shareLinks"] = [{"id": "share", "name": "Share", "token": secrets[1]}]
    site["mcpServers"] = [{"id": "mcp", "name": "m", "headers": {"X-Any": secrets[2]}}]
    companion.load(world)
    kept = "".join(f"{one.ref}{one.text}" for one in companion.store.all_records())
    assert all(secret in kept for secret in secrets)
    with httpx.Client(base_url=companion.url, timeout=PATIENCE, **NO_TLS) as http:
        pages = crawled(http)
    assert len(pages) > 100
    assert any(MASKED in one.text for one in pages.values())
    for path, one in pages.items():
        for secret in (*secrets, *world["tokens"]):
            assert secret not in one.text, (path, secret)


def test_console_treats_expected_members_as_secret() -> None:
    """A new member that holds a secret under another name is to be named in `texts.py`."""
    found = set()
    for profile in ("full", "published"):
        store = open_store(":memory:")
        models = json.loads(build_companion(store, profile=profile).openapi_json())["components"][
            "schemas"
        ].values()
        found |= {name for one in models for name in one.get("properties", {})}
        store.close()
    assert {name for name in found if is_secret_name(name)} == {
        "accessToken", "certificate", "cookies", "headers", "key", "privateKey", "secrets", "token",
        "trackingCookie",
    }  # fmt: skip


def test_secret_values_are_masked_at_any_depth() -> None:
    """Otherwise, the page shows secrets that the world holds.

    Otherwise, the log of requests shows the secret of a share link.
    """
    value = {"name": "a", "list": [{"apiToken": "x", "headers": {"A": "b"}}], "secrets": {}, "token": None}
    assert mask_secrets(value) == {
        "name": "a", "list": [{"apiToken": MASKED, "headers": MASKED}], "secrets": {}, "token": None,
    }  # fmt: skip
    assert mask_query("limit=2&shareKey=abc") == "limit=2&shareKey=…"
    assert mask_query("title=a%20b") == "title=a%20b"


# --- foreign texts ------------------------------------------------------------------------------------


def test_hostile_titles_do_not_change_console_elements(running: Companion, http: httpx.Client) -> None:
    plain = json.loads(json.dumps(hostile_world()))
    for number, text in enumerate(HOSTILE):
        plain = json.loads(json.dumps(plain).replace(json.dumps(text), json.dumps(f"T {number}")))
    pages = ["/", f"{PAGE}api/v1/orgs/zoo/teams", f"{PAGE}api/v1/orgs/zoo/sites/site/structure"]
    found = []
    for world in (plain, hostile_world()):
        running.load(world)
        found.append([[tag for tag in page(http, path).tags if tag not in ("bdi", "span")] for path in pages])
    assert found[0] == found[1]


def test_platform_url_is_never_a_console_link(running: Companion, http: httpx.Client) -> None:
    running.load(hostile_world())
    elements = page(http, "/")
    assert "javascript:alert(4)" in elements.text
    assert [link for link in elements.links if not link.startswith(("/", "#", "data:,"))] == []


def test_invisible_characters_are_shown_escaped() -> None:
    assert escape_invisible("a\u202eb\x00c\u200d\nd\te") == "a\\u{202e}b\\u{0}c\\u{200d}\nd\te"
    assert escape_invisible("مرحبا") == "مرحبا"
    assert escape_invisible(None) == ""
    assert escape_invisible(3) == 3


# --- to whom it answers -------------------------------------------------------------------------------

STRANGERS = [
    ({"Host": "evil.example"}, 421),
    ({"Host": "evil.example:8787"}, 421),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"X-Forwarded-For": "203.0.113.9"}, 404),
    ({"Via": "1.1 proxy"}, 404),
]


@pytest.mark.parametrize(("headers", "status"), STRANGERS, ids=str)
def test_console_refuses_pages_of_other_sites(
    http: httpx.Client, headers: dict[str, str], status: int
) -> None:
    for path in ("/", f"{PAGE}requests", f"{PAGE}requests.json", f"{PAGE}switches", f"{PAGE}plan/report"):
        answer = http.get(path, headers=headers)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("headers", "status"), STRANGERS, ids=str)
def test_console_forms_refuse_cross_site_requests(
    http: httpx.Client, headers: dict[str, str], status: int
) -> None:
    """Otherwise, a page of another site turns faults on, resets the world and reads what it holds."""
    for path, form in (
        ("switches/flip", {"name": "down"}), ("switches/add", {"fault": "down", "often": "always"}),
        ("switches/clock", {"do": "freeze"}), ("switches/reset", {"sure": "yes"}),
    ):  # fmt: skip
        assert http.post(PAGE + path, data=form, headers=headers).status_code == status
    assert http.get("/_dpsync/faults").json() == {"rules": []}
    assert http.get("/_dpsync/clock").json()["mode"] == "real"


def test_console_request_without_form_is_refused(http: httpx.Client) -> None:
    """Otherwise, a request that is no form of the page changes the platform."""
    assert http.post(f"{PAGE}switches/flip", json={"name": "down"}).status_code == 415
    assert http.post(f"{PAGE}requests/clear", content=b"").status_code == 415
    assert http.get(f"{PAGE}switches/flip?name=down").status_code == 404
    assert http.get("/_dpsync/faults").json() == {"rules": []}


def test_console_responses_have_strict_security_headers(http: httpx.Client) -> None:
    for path in (
        "/",
        f"{PAGE}requests",
        f"{PAGE}requests.json",
        f"{PAGE}switches",
        f"{PAGE}plan",
        f"{PAGE}none",
    ):
        headers = http.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"


def test_api_paths_are_unaffected_by_console(http: httpx.Client) -> None:
    for method, path in (("POST", "/"), ("DELETE", "/"), ("GET", "/v1"), ("GET", "/index.html")):
        answer = http.request(method, path)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == 404
    assert http.get("/v1/user", headers=TOKEN).json()["id"] == "ada"
    assert [one["path"] for one in http.get("/_dpsync/requests").json()["requests"]][-1] == "/v1/user"


def test_console_requests_are_not_logged(http: httpx.Client) -> None:
    for path in ("/", f"{PAGE}api/v1/orgs/acme", f"{PAGE}requests"):
        page(http, path)
    assert http.get("/_dpsync/requests").json()["requests"] == []


# --- the log ------------------------------------------------------------------------------------------


def test_request_log_page_lists_newest_first_without_secrets(http: httpx.Client) -> None:
    http.get("/v1/user", headers=TOKEN)
    http.get("/v1/orgs/acme/sites/docs?shareKey=hidden-key", headers={"Authorization": "Bearer hidden-token"})
    text = page(http, f"{PAGE}requests").text
    assert re.search(
        r"2 401 GET /v1/orgs/acme/sites/docs\?shareKey=… getSiteById unknown .* 1 200 GET /v1/user", text
    )
    assert "hidden" not in text


def test_request_log_poll_returns_only_new_rows(http: httpx.Client) -> None:
    def new(after: int, cleared: int) -> tuple[int, list[int]]:
        found = http.get(f"{PAGE}requests.json?after={after}&cleared={cleared}").json()
        return found["cleared"], [row["number"] for row in found["rows"]]

    cleared, _ = new(0, 0)
    for _ in range(3):
        http.get("/v1/user")
    assert new(1, cleared) == (cleared, [2, 3])
    assert new(3, cleared) == (cleared, [])
    http.delete("/_dpsync/requests")
    http.get("/v1/user")
    assert new(3, cleared) == (cleared + 1, [1])
    assert http.get(f"{PAGE}requests.json?after=x&cleared=").status_code == 200


def test_request_log_can_be_cleared(http: httpx.Client) -> None:
    http.get("/v1/user")
    assert http.post(f"{PAGE}requests/clear", data={"a": "b"}).status_code == 303
    assert "No requests yet" in page(http, f"{PAGE}requests").text


# --- switches -----------------------------------------------------------------------------------------


def test_console_switch_toggles_simulated_fault(http: httpx.Client) -> None:
    flip = {"name": "down"}
    answer = http.post(f"{PAGE}switches/flip", data=flip)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PAGE}switches")
    assert http.get("/v1/user", headers=TOKEN).status_code == 503
    assert "Applied 1 time to 1 matching request." in page(http, f"{PAGE}switches").text
    http.post(f"{PAGE}switches/flip", data=flip)
    assert http.get("/v1/user", headers=TOKEN).status_code == 200


def test_console_switch_keeps_other_fault_rules(http: httpx.Client) -> None:
    http.put("/_dpsync/faults", json=[{"operation": "getUser", "nth": 9, "fault": {"kind": "reset"}}])
    http.get("/v1/user", headers=TOKEN)
    http.post(f"{PAGE}switches/flip", data={"name": "slow"})
    (rule, _) = http.get("/_dpsync/faults").json()["rules"]
    assert rule["matched"] == 1
    assert "getUser reset: nth 9 1 0" in page(http, f"{PAGE}switches").text
    http.post(f"{PAGE}switches/remove", data={"rule": "0"})
    assert [one["rule"]["fault"]["kind"] for one in http.get("/_dpsync/faults").json()["rules"]] == ["delay"]


def test_console_adds_fault_for_single_operation(http: httpx.Client) -> None:
    given = {"operation": " getUser ", "fault": "down", "often": "once"}
    assert http.post(f"{PAGE}switches/add", data=given).status_code == 303
    statuses = [http.get("/v1/user", headers=TOKEN).status_code for _ in range(2)]
    assert statuses == [503, 200]


@pytest.mark.parametrize(
    ("form", "given", "why"),
    [
        ("flip", {"name": "none"}, "switch does not exist"),
        ("flip", {}, "switch does not exist"),
        ("add", {"operation": "<b>", "fault": "down", "often": "once"}, "unknown operation '<b>'"),
        ("add", {"fault": "down", "often": "never"}, "fault does not exist"),
        ("remove", {"rule": "7"}, "rule no longer exists"),
        ("remove", {"rule": "-1"}, "rule no longer exists"),
        ("clock", {"do": "at", "at": "yesterday"}, "the form.frozen"),
        ("clock", {"do": "at"}, "the form.frozen"),
        ("reset", {}, "Confirm that"),
    ],
)
def test_invalid_console_form_is_refused(
    http: httpx.Client, form: str, given: dict[str, str], why: str
) -> None:
    """Otherwise, one wrong click loses every change of a database that is kept."""
    http.put("/v1/orgs/acme/teams", json={"title": "Kept"}, headers=TOKEN)
    answer = http.post(f"{PAGE}switches/{form}", data=given or {"x": ""})
    assert answer.status_code == 400
    assert why in Elements(answer.text).text
    assert http.get("/_dpsync/faults").json() == {"rules": []}
    assert "Kept" in http.get("/v1/orgs/acme/teams", headers=TOKEN).text


def test_console_freezes_moves_and_resumes_clock(http: httpx.Client) -> None:
    def turn(**given: str) -> dict[str, Any]:
        assert http.post(f"{PAGE}switches/clock", data=given).status_code == 303
        found: dict[str, Any] = http.get("/_dpsync/clock").json()
        return found

    assert turn(do="freeze")["mode"] == "frozen"
    assert turn(do="at", at="2030-01-02T03:04") == {"now": "2030-01-02T03:04:00.000Z", "mode": "frozen"}
    assert "2030-01-02 03:04:00 UTC" in page(http, f"{PAGE}switches").text
    assert turn(do="week")["now"] == "2030-01-10T03:04:00.000Z"
    assert turn(do="real")["mode"] == "real"


def test_console_reset_restores_initial_server_data(http: httpx.Client) -> None:
    http.put("/v1/orgs/acme/teams", json={"title": "Gone"}, headers=TOKEN)
    assert http.post(f"{PAGE}switches/reset", data={"sure": "yes"}).status_code == 303
    assert "Gone" not in http.get("/v1/orgs/acme/teams", headers=TOKEN).text


def test_console_fault_switches_need_single_worker() -> None:
    with served(workers=2) as companion, httpx.Client(base_url=companion.url, **NO_TLS) as http:
        assert "The request log needs a single server process" in page(http, f"{PAGE}requests").text
        assert "local server with --workers 1" in page(http, f"{PAGE}switches").text
        assert http.post(f"{PAGE}switches/flip", data={"name": "down"}).status_code == 400
        assert http.get("/v1/user", headers=TOKEN).status_code == 200


# --- the banner ---------------------------------------------------------------------------------------


def test_loading_other_server_data_hides_console_banner(http: httpx.Client) -> None:
    for path in ("/", f"{PAGE}requests", f"{PAGE}switches", f"{PAGE}plan", f"{PAGE}api/v1/orgs"):
        assert BANNER in page(http, path).text
    http.put("/_dpsync/world", json=worlds.load_builtin_world())
    assert BANNER not in page(http, "/").text
    http.post("/_dpsync/reset")
    assert BANNER in page(http, "/").text


# --- the plan -----------------------------------------------------------------------------------------


def test_plan_page_without_directory_explains_option(http: httpx.Client) -> None:
    assert "dpsync serve --plan DIRECTORY" in page(http, f"{PAGE}plan").text
    assert http.get(f"{PAGE}plan/report").status_code == 404


def test_plan_report_is_sandboxed_with_temporary_token() -> None:
    program = printing("<!doctype html><title>{DPSYNC_TOKEN}</title>")
    with served(program=program) as companion, httpx.Client(base_url=companion.url, **NO_TLS) as http:
        assert f"{PAGE}plan/report" in page(http, f"{PAGE}plan").links
        answer = http.get(f"{PAGE}plan/report")
        assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts;")
        (token,) = re.findall("<title>(.*)</title>", answer.text)
        assert len(token) == 32
        assert http.get("/v1/user", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_plan_program_gets_only_needed_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the companion may contain platform tokens."""
    monkeypatch.setenv("DPSYNC_TOKEN_FILE", "token-of-the-platform")
    monkeypatch.setenv("ACME_TOKEN", "another")
    script = "import json, os; print('<!doctype html>', json.dumps([dict(os.environ), os.listdir()]))"
    program = PlanProgram("docs", (sys.executable, "-I", "-c", script), "dpsync plan")
    with served(program=program) as companion, httpx.Client(base_url=companion.url, **NO_TLS) as http:
        printed = http.get(f"{PAGE}plan/report").text.removeprefix("<!doctype html>")
        variables, files = json.loads(printed)
    assert {*variables} - {"LC_CTYPE"} == {"DPSYNC_TOKEN", "DPSYNC_URL", "NO_COLOR"}
    assert variables["DPSYNC_URL"] == companion.url
    assert files == []


def test_failed_plan_shows_output_without_token() -> None:
    program = printing("", code=5, said="<b>no</b> file for {DPSYNC_TOKEN}")
    with served(program=program) as companion, httpx.Client(base_url=companion.url, **NO_TLS) as http:
        text = page(http, f"{PAGE}plan/report").text
        assert "ended with exit code 5 and this output: <b>no</b> file for (the token)" in text


def test_plan_page_without_admin_returns_404() -> None:
    with served(program=printing("x")) as companion, httpx.Client(base_url=companion.url, **NO_TLS) as http:
        companion.load({"organizations": [{"id": "o", "title": "O"}]})
        answer = http.get(f"{PAGE}plan/report")
        assert answer.status_code == 404
        assert "No organization has an admin" in answer.text
        assert "There are no sites" in page(http, "/").text
        companion.load({})
        assert "has no organization" in page(http, "/").text
