"""`dpsync doctor --contact`: what differs between the answers of a platform and its API edition."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import load as load_registry
from dpsync.server.http.app import build
from dpsync.server.process.thread import ThreadedServer
from dpsync.server.store import open_store
from tests.altering_proxy import Answer, altering_proxy

from .conftest import Run

Project = Callable[..., Path]
ACME = "dpsync: 1\norganizations: { acme: { id: acme } }\n"


@pytest.fixture(scope="module", params=PROFILES)
def edition(request: pytest.FixtureRequest) -> Iterator[ThreadedServer]:
    with ThreadedServer(build(open_store(":memory:"), profile=request.param)) as running:
        running.reset()
        yield running


def examined(
    run: Run, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, token: str = "ada-token"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `doctor --contact` prints as JSON, and its report."""
    monkeypatch.setenv("DPSYNC_URL", url)
    monkeypatch.setenv("DPSYNC_TOKEN", token)
    monkeypatch.delenv("DPSYNC_PROFILE", raising=False)
    ended = run("doctor", "-C", str(folder), "--contact", "--report", "report.json", "--format", "json")
    return json.loads(ended.out), json.loads((folder / "report.json").read_text(encoding="utf-8"))


def said(document: dict[str, Any], topic: str, level: str) -> list[str]:
    return [one["said"] for one in document["checks"] if (one["topic"], one["level"]) == (topic, level)]


def differences(report: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    return {
        (one["operation"].removeprefix("GET "), each["member"], each["expected"], each["found"])
        for one in report["operations"]
        for each in one["differences"]
    }


def test_companion_does_not_differ_from_its_edition(
    edition: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition.call(edition.app.requests.clear)
    document, report = examined(run, project(ACME), edition.url, monkeypatch)

    assert differences(report) == set()
    assert said(document, "contact", "problem") == []
    (first, *_) = said(document, "contact", "ok")
    assert re.fullmatch(
        rf"\d\d GET requests, \d\d operations: every response matches API version "
        rf"{edition.app.profile}", first,
    )  # fmt: skip
    assert {method for method, *_ in edition.call(lambda: list(edition.app.requests))} == {"GET"}
    assert 15 <= len(report["operations"]) <= 35
    assert (report["profile"], report["served"]) == (edition.app.profile, edition.app.profile)


def test_first_plan_needs_about_the_announced_requests(
    edition: ThreadedServer, run: Run, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, _ = examined(run, project(ACME), edition.url, monkeypatch)
    (announced,) = (int(re.findall(r"\d+", text)[0]) for text in said(document, "first plan", "ok"))
    edition.call(edition.app.requests.clear)
    run("import", "-C", str(tmp_path / "new"), "--organization", "acme")
    sent = len(edition.call(lambda: list(edition.app.requests)))

    assert announced / 1.5 <= sent <= announced * 1.5


ORG, SITE = "/orgs/{organization}", "/orgs/{organization}/sites/{site}"


def first(answer: Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.body["items"][0]
    return item


def node(answer: Answer) -> dict[str, Any]:
    item: dict[str, Any] = answer.body["structure"][0]
    return item


PLANTED: list[tuple[str, Callable[[Answer], Any], tuple[str, str, str, str]]] = [
    ("/user", lambda one: one.body.pop("email"), ("/user", "email", "a text", "missing")),
    ("/orgs", lambda one: one.body.update(count="2"), ("/orgs", "count", "a whole number", "a text")),
    ("/orgs/acme", lambda one: one.body.update(title=7), (ORG, "title", "a text", "a number")),
    (
        "/orgs/acme/collections",
        lambda one: first(one).pop("title"),
        (f"{ORG}/collections", "items[].title", "a value in every response", "missing"),
    ),
    (
        "/orgs/acme/members",
        lambda one: first(one).update(role={"jane@acme.example": True}),
        (f"{ORG}/members", "items[].role", "a text", "an object"),
    ),
    (
        "/orgs/acme/teams",
        lambda one: one.body["items"][-1].pop("id"),
        (f"{ORG}/teams", "items[].id", "an id", "missing"),
    ),
    (
        "/orgs/acme/teams",
        lambda one: one.body["items"][-1].update(title=None),
        (f"{ORG}/teams", "items[].title", "a text", "null"),
    ),
    (
        "/orgs/acme/openapi",
        lambda one: one.body.pop("items"),
        (f"{ORG}/openapi", "items", "a list", "missing"),
    ),
    (
        "/orgs/acme/spaces",
        lambda one: one.body.update(next={"page": 5}),
        (f"{ORG}/spaces", "next.page", "a text", "a number"),
    ),
    (
        "/orgs/acme/members",
        lambda one: one.body["items"][1].update(role="for-janes-team"),
        (f"{ORG}/members", "items[].role", "a known value", "an unknown value"),
    ),
    (
        "/orgs/acme/saml",
        lambda one: setattr(one, "status", 404),
        (f"{ORG}/saml", "", "status 200", "status 404"),
    ),
    (
        "/orgs/acme/translations",
        lambda one: setattr(one, "status", 410),
        (f"{ORG}/translations", "", "status 200", "status 410"),
    ),
    (
        "/orgs/acme/agent-instructions",
        lambda one: one.headers.update({"content-type": "text/html"}),
        (f"{ORG}/agent-instructions", "", "JSON", "another content type"),
    ),
    (
        "/orgs/acme/sites",
        lambda one: first(one).update(visibility=True),
        (f"{ORG}/sites", "items[].visibility", "a text", "a boolean"),
    ),
    (
        "/orgs/acme/sites",
        lambda one: one.body["items"].append("a site"),
        (f"{ORG}/sites", "items[]", "an object", "a text"),
    ),
    (
        "/orgs/acme/sites/docs/structure",
        lambda one: node(one).update(title=["Jane"]),
        (f"{SITE}/structure", "structure[].title", "a text", "a list"),
    ),
    (
        "/orgs/acme/sites/docs/structure",
        lambda one: one.body["structure"].append({"title": "Without a type"}),
        (f"{SITE}/structure", "structure[].object", "a text", "missing"),
    ),
    (
        "/orgs/acme/sites/docs/customization",
        lambda one: one.body.update(title={"de": "x"}),
        (f"{SITE}/customization", "title", "a text", "an object"),
    ),
    (
        "/orgs/acme/sites/docs/publishing/auth",
        lambda one: one.body.update(backend=1),
        (f"{SITE}/publishing/auth", "backend", "a text", "a number"),
    ),
    (
        "/orgs/acme/sites/docs/redirects",
        lambda one: one.body.update(items={"/jane": {}}),
        (f"{SITE}/redirects", "items", "a list", "an object"),
    ),
]


@pytest.fixture
def planted(server: ThreadedServer) -> Iterator[str]:
    """The address of a server whose answers differ in the planted ways."""

    def alter(_method: str, path: str, answer: Answer) -> None:
        for where, change, _ in PLANTED:
            if where == path and answer.body is not None:
                change(answer)

    server.reset()
    with altering_proxy(server.url, alter) as url:
        yield url


def test_all_planted_differences_and_no_others_are_found(
    planted: str, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, report = examined(run, project(ACME), planted, monkeypatch)
    expected = {difference for *_, difference in PLANTED}

    assert len(expected) == 20
    assert differences(report) == expected
    assert document["exit"] == 1
    assert {text for text in said(document, "contact", "problem") if text.startswith("GET /")} == {
        f"GET {operation}: {f'{member}: ' if member else ''}expected {wanted}, found {found}"
        for operation, member, wanted, found in expected
    }


def vocabulary() -> set[str]:
    """The words of the API and of the report, which some value may be, too."""
    registry = load_registry()
    declared = {name for kind in registry.ordered for name in (*kind.noun.split(), *kind.at.split("/"))}
    paths = {part for kind in registry.ordered for part in re.split(r"[/?=]", kind.read.path)}
    types = {"a", "an", "", "boolean", "content", "list", "missing", "null", "number", "object", "text"}
    members = {item.wire for kind in registry.ordered for item in kind.fields if item.wire}
    return declared | paths | types | members | {"full", "user"}


def texts(body: Any) -> Iterator[str]:
    """Every text in an answer that is a value, and every key that no API would have."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from () if re.fullmatch(r"[A-Za-z_]+", name) else (name,)
            yield from texts(value)
    elif isinstance(body, list):
        for item in body:
            yield from texts(item)
    elif isinstance(body, str):
        yield body


def test_report_has_no_value_of_the_platform(
    server: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody attaches the report to a public issue."""
    values: set[str] = set()

    def alter(_method: str, path: str, answer: Answer) -> None:
        for where, change, _ in PLANTED:
            if where == path and answer.body is not None:
                change(answer)
        if path.endswith("/customization") and answer.body is not None:
            answer.body["localizedTitle"] = {"jane@acme.example": 5, "jane": 5}
        if path.endswith("/spaces") and answer.body is not None:
            answer.body["items"][0] |= {"jane@acme.example": 1, "Jane's key": 2, "ÄÖ": 3}
        values.update(texts(answer.body))

    server.reset()
    with altering_proxy(server.url, alter) as url:
        _, report = examined(run, project(ACME), url, monkeypatch)
    words = {
        word
        for text in texts([report, [list(one["members"]) for one in report["operations"]]])
        for word in re.split(r"[/.\s]|\[\]|GET ", text)
    }

    assert {"acme", "docs", "Acme Docs", "ada@acme.example", "jane@acme.example", "ÄÖ"} <= values
    assert values & words <= vocabulary()
    text = json.dumps(report, ensure_ascii=False).lower()
    assert not [name for name in ("jane", "acme", "@", "byron", "Ä") if name.lower() in text]


def test_token_with_less_access_names_what_it_may_not_read(
    server: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    document, report = examined(run, project(ACME), server.url, monkeypatch, token="gus-token")

    (note,) = said(document, "contact", "note")
    assert note.startswith("this token may not read: ")
    assert "member" in note
    assert "member" in report["refused"]
    assert differences(report) == set()


def test_report_without_contact_is_wrong_usage(run: Run, project: Project) -> None:
    ended = run("doctor", "-C", str(project(ACME)), "--report", "report.json")
    assert (ended.code, "--report needs --contact" in ended.err) == (64, True)


def test_unreachable_platform_writes_no_report(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(ACME)
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    ended = run("doctor", "-C", str(folder), "--contact", "--report", "report.json")

    assert (ended.code, (folder / "report.json").exists()) == (1, False)
    assert "no report was written" in ended.err
