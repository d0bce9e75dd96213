"""OpenAPI specifications: fetched, read and processed in the background."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from companion_calls import START, Api, StillClock
from covers import covers
from loopback import Quiet, listening

from dpsync.server import world
from dpsync.server.http.app import build_companion
from dpsync.server.jobs import specification_checks
from dpsync.server.operations import OPERATIONS
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.request.context import Context
from dpsync.server.store import open_store
from tests.patience import PATIENCE

SPECS = "/orgs/acme/openapi"
GOOD = """\
openapi: 3.0.3
info: { title: Shop, version: '1' }
paths: { /items: { get: { responses: { 200: {} } } } }
"""
ERRORS = ("lastProcessErrorCode", "lastProcessedErrors")


class Site:
    """A web server on loopback: what it answers by path, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}
        self.asked: list[str] = []
        self.hangs = threading.Event()
        self.release = threading.Event()

    def shows(self, path: str, text: str | bytes, status: int = 200, **headers: str) -> str:
        self.answers[path] = (status, text.encode() if isinstance(text, str) else text, headers)
        return self.url + path


@contextmanager
def serving() -> Iterator[Site]:
    class Answers(Quiet):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path == "/hangs":
                site.hangs.set()
                site.release.wait(PATIENCE)
            self.answer(*site.answers.get(self.path, (404, b"", {})))

    with listening(Answers) as url:
        site = Site(url)
        try:
            yield site
        finally:
            site.release.set()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def processed(api: Api, slug: str) -> Any:
    api.server.wait_for_jobs()
    spec = api.get(f"{SPECS}/{slug}")
    assert spec["processingState"] == "complete"
    return spec


def process(api: Api, **source: str) -> Any:
    api.ok("PUT", f"{SPECS}/new", {"source": source}, 200 if "new" in slugs(api) else 201)
    return processed(api, "new")


def slugs(api: Api) -> list[str]:
    return [spec["slug"] for spec in api.items(SPECS)]


@covers("createOpenAPISpec", 201)
@covers("getOpenAPISpecBySlug", 200)
def test_openapi_source_is_fetched_in_background(api: Api, site: Site) -> None:
    url = site.shows("/openapi.yaml", GOOD)
    made = api.make(SPECS, {"slug": "new", "source": {"url": url}})
    assert (made["processingState"], made["visibility"], made["sourceURL"]) == ("pending", "private", url)
    assert "lastVersion" not in made
    api.clock.pass_by(minutes=1)
    spec = processed(api, "new")
    assert site.asked == ["/openapi.yaml"]
    assert spec["lastVersion"]
    assert spec["lastProcessedAt"] >= made["updatedAt"]
    assert not set(ERRORS) & spec.keys()


def test_openapi_spec_shows_fetch_in_progress(api: Api, site: Site) -> None:
    url = site.shows("/hangs", GOOD)
    api.make(SPECS, {"slug": "new", "source": {"url": url}})
    assert site.hangs.wait(PATIENCE)
    assert api.get(f"{SPECS}/new")["processingState"] == "progress"
    site.release.set()
    assert processed(api, "new")["lastVersion"]


@covers("createOrUpdateOpenAPISpecBySlug", 200, 201)
def test_openapi_put_creates_spec_and_always_reprocesses(api: Api, site: Site) -> None:
    url = site.shows("/openapi.yaml", GOOD)
    assert api.put(f"{SPECS}/new", {"source": {"url": url}}, 201)["processingState"] == "pending"
    first = processed(api, "new")
    assert api.put(f"{SPECS}/new", {"source": {"url": url}})["processingState"] == "pending"
    second = processed(api, "new")
    assert first["lastVersion"] != second["lastVersion"]
    assert (first["id"], first["createdAt"]) == (second["id"], second["createdAt"])
    assert len(site.asked) == 2


def test_openapi_text_is_processed_without_source(api: Api) -> None:
    spec = process(api, text=GOOD)
    assert "sourceURL" not in spec
    assert spec["lastVersion"]


def test_failed_openapi_update_keeps_last_version(api: Api, site: Site) -> None:
    good = process(api, text=GOOD)
    bad = process(api, url=site.shows("/openapi.yaml", "openapi: 3.0.0"))
    assert bad["lastProcessErrorCode"] == "PARSE_ERROR"
    assert [error["code"] for error in bad["lastProcessedErrors"]] == ["INFO", "INFO", "PATHS"]
    assert bad["lastVersion"] == good["lastVersion"]
    assert not set(ERRORS) & process(api, text=GOOD).keys()


@pytest.mark.parametrize(
    ("status", "content"),
    [(404, GOOD), (500, ""), (204, ""), (200, b"\xff\xfe"), (200, b"x" * (10 << 20) + b"x")],
)
def test_unusable_openapi_source_gives_fetch_error(
    api: Api, site: Site, status: int, content: str | bytes
) -> None:
    spec = process(api, url=site.shows("/openapi.yaml", content, status))
    assert spec["lastProcessErrorCode"] == spec["lastProcessedErrors"][0]["code"] == "FETCH_ERROR"


def test_unresponsive_openapi_source_gives_fetch_timeout(impatient: Api, site: Site) -> None:
    spec = process(impatient, url=site.shows("/hangs", GOOD))
    assert spec["lastProcessErrorCode"] == "FETCH_TIMEOUT"


def test_unreachable_openapi_source_gives_fetch_error(api: Api) -> None:
    assert process(api, url="http://127.0.0.1:1/openapi.yaml")["lastProcessErrorCode"] == "FETCH_ERROR"


@pytest.mark.parametrize(
    "url",
    [
        "https://acme.example/openapi.yaml",
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://127.0.0.1.acme.example/",
        "http://localhost@acme.example/",
        "http://[::2]/",
        "file:///etc/passwd",
        "http:nowhere",
        "http://[",
    ],
)
def test_openapi_source_outside_loopback_gives_fetch_error(api: Api, url: str) -> None:
    spec = process(api, url=url)
    assert spec["lastProcessErrorCode"] == "FETCH_ERROR"


def test_openapi_source_redirect_must_stay_on_loopback(api: Api, site: Site) -> None:
    site.shows("/openapi.yaml", GOOD)
    there = site.shows("/there", "", 302, Location="/openapi.yaml")
    assert process(api, url=there)["lastVersion"]
    away = site.shows("/away", "", 302, Location="http://169.254.169.254/latest")
    spec = process(api, url=away)
    assert "may not contact 169.254.169.254" in spec["lastProcessedErrors"][0]["message"]
    around = site.shows("/around", "", 302, Location="/around")
    assert "redirects" in process(api, url=around)["lastProcessedErrors"][0]["message"]


def test_openapi_source_on_allowed_host_is_contacted(impatient: Api) -> None:
    impatient.app.outside_services.allowed_hosts = ["ACME.invalid"]
    spec = process(impatient, url="http://acme.invalid/openapi.yaml")
    impatient.app.outside_services.allowed_hosts = ()
    assert "may not contact" not in spec["lastProcessedErrors"][0]["message"]


def test_last_openapi_put_wins_over_unfinished_fetch(api: Api, site: Site) -> None:
    hanging = site.shows("/hangs", "no document")
    api.make(SPECS, {"slug": "new", "source": {"url": hanging}})
    assert site.hangs.wait(PATIENCE)
    good = process(api, text=GOOD)
    site.release.set()
    api.server.wait_for_jobs(include_abandoned=True)
    assert api.get(f"{SPECS}/new") == good


def test_openapi_spec_deleted_during_fetch_stays_deleted(api: Api, site: Site) -> None:
    api.make(SPECS, {"slug": "new", "source": {"url": site.shows("/hangs", GOOD)}})
    assert site.hangs.wait(PATIENCE)
    api.delete(f"{SPECS}/new")
    site.release.set()
    api.server.wait_for_jobs(include_abandoned=True)
    api.refused(404, "GET", f"{SPECS}/new")


def test_unfinished_openapi_fetch_continues_after_server_data_reload(api: Api, site: Site) -> None:
    api.make(SPECS, {"slug": "new", "source": {"url": site.shows("/hangs", GOOD)}})
    assert site.hangs.wait(PATIENCE)
    dumped = api.server.run_in_server(lambda: world.dump_world(api.app.store))
    api.server.reset(dumped)
    site.release.set()
    assert processed(api, "new")["lastVersion"]
    assert site.asked == ["/hangs", "/hangs"]


def test_unfinished_openapi_processing_continues_after_restart(tmp_path: Path) -> None:
    """The answer was given, and the process died before anything else."""
    left = open_store(str(tmp_path / "state.db"))
    world.load_world(left, world.load_builtin_world())
    (row,) = (row for row in OPERATIONS if row.id == "createOpenAPISpec")
    assert row.body_model is not None
    body = row.body_model.model_validate({"slug": "new", "source": {"text": GOOD}})
    build_companion(left).run_operation(
        row, Context(left, "ada", lambda: START, {"organizationId": "acme"}, body=body)
    )
    left.close()
    store = open_store(str(tmp_path / "state.db"))
    with (
        ThreadedServer(build_companion(store)) as server,
        httpx.Client(base_url=server.url, timeout=PATIENCE) as http,
    ):
        assert processed(Api(server, http, StillClock()), "new")["lastVersion"]
    store.close()


@covers("listOpenAPISpecs", 200)
@covers("createOpenAPISpec", 201, 400)
@covers("createOrUpdateOpenAPISpecBySlug", 201, 400)
def test_openapi_slug_must_be_unique_and_valid(api: Api) -> None:
    assert slugs(api) == ["shop", "billing"]
    source = {"source": {"text": GOOD}}
    assert api.refused(400, "POST", SPECS, {"slug": "shop", **source}).startswith("body.slug")
    for slug in ("", "-a", "a--b", "a_b", "x" * 101):
        assert api.refused(400, "POST", SPECS, {"slug": slug, **source}).startswith("body.slug")
    for slug in ("-a", "a_b", "x" * 101):
        api.refused(400, "PUT", f"{SPECS}/{slug}", source)
    assert api.put(f"{SPECS}/Shop-2", source, 201)["slug"] == "Shop-2"
    assert api.make("/orgs/globex/openapi", {"slug": "shop", **source})["slug"] == "shop"


@covers("createOrUpdateOpenAPISpecBySlug", 400)
@pytest.mark.parametrize(
    "source", [None, {}, {"url": "no url"}, {"text": ""}, {"url": "https://a.example/", "text": GOOD}]
)
def test_openapi_source_is_either_url_or_text(api: Api, source: Any) -> None:
    assert api.refused(400, "PUT", f"{SPECS}/new", {"source": source}).startswith("body.source")


@covers("updateOpenAPISpecBySlug", 200, 400, 404)
def test_openapi_visibility_update_changes_published_url(api: Api) -> None:
    assert api.get(f"{SPECS}/shop")["urls"]["published"]
    assert "published" not in api.patch(f"{SPECS}/shop", {"visibility": "private"})["urls"]
    assert api.patch(f"{SPECS}/billing", {"visibility": "public"})["visibility"] == "public"
    api.refused(400, "PATCH", f"{SPECS}/shop", {"visibility": "secret"})
    api.refused(400, "PATCH", f"{SPECS}/shop", {})
    api.refused(404, "PATCH", f"{SPECS}/none", {"visibility": "public"})


@covers("deleteOpenAPISpecBySlug", 204)
@covers("getOpenAPISpecBySlug", 404)
def test_openapi_spec_delete_is_scoped_to_organization(api: Api) -> None:
    api.delete(f"{SPECS}/shop")
    api.delete(f"{SPECS}/shop")
    api.refused(404, "GET", f"{SPECS}/shop")
    api.delete(f"{SPECS}/reactor")
    assert [spec["slug"] for spec in api.items("/orgs/globex/openapi")] == ["reactor"]


@pytest.mark.parametrize(
    ("role", "reads", "writes"),
    [("create", 200, 200), ("edit", 200, 403), ("read", 200, 403), (None, 403, 403)],
)
def test_openapi_access_depends_on_role(api: Api, role: str | None, reads: int, writes: int) -> None:
    api.patch("/orgs/acme/members/grace", {"role": role})
    grace = api.as_("grace-token")
    shown = grace.call("GET", f"{SPECS}/shop")
    assert shown.status_code == reads
    if reads == 200:
        assert shown.json()["permissions"] == {"view": True, "edit": writes == 200}
    assert grace.call("PATCH", f"{SPECS}/shop", {"visibility": "public"}).status_code == writes


# --- what is a document ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (GOOD, []),
        ('{"swagger": "2.0", "info": {"title": "T", "version": "1"}, "paths": {}}', []),
        ("openapi: 3.1.0\ninfo: {title: T, version: '1'}\nwebhooks: {}", []),
        ("openapi: 3.0.0\ninfo: {title: T, version: '1'}\nwebhooks: {}", ["PATHS"]),
        ("openapi: 3\ninfo: {title: T, version: 1}\npaths: []", ["VERSION", "INFO", "PATHS"]),
        (GOOD + "x: {$ref: '#/paths/~1items/get/responses/200'}", []),
        (GOOD + "x: {$ref: '#/paths/~1items/put'}", ["REFERENCE"]),
        (GOOD + "x: {$ref: '#/paths/~1items/get/responses/²'}", ["REFERENCE"]),
        (GOOD + "x: {$ref: 'other.yaml#/x'}", []),
        (GOOD + "x: &x [*x]", []),
        (GOOD.replace("/items", "items"), ["PATHS"]),
        ("- a", ["SYNTAX"]),
        ("", ["SYNTAX"]),
        ("{", ["SYNTAX"]),
        ("a: [", ["SYNTAX"]),
        ("a: 2020-99-99", ["SYNTAX"]),
        ("? [a]\n: b", ["SYNTAX"]),
        ("a: !!python/object:os.system x", ["SYNTAX"]),
        ("[" * 200_000 + "]" * 200_000, ["SYNTAX"]),
        ('{"a":' * 200_000 + "1" + "}" * 200_000, ["SYNTAX"]),
    ],
)
def test_openapi_document_errors_are_reported_by_code(text: str, codes: list[str]) -> None:
    assert [error["code"] for error in specification_checks.find_errors(text)] == codes
