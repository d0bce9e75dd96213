"""`dpsync doctor --contact`: what differs between the answers of a platform and its API edition."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsync.kinds.profiles import PROFILES
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.server.process.threaded_server import ThreadedServer
from tests.altering_proxy import Answer, altering_proxy
from tests.planted import (
    ACME,
    DOCTOR,
    PLANTED,
    Difference,
    local_server,
    named_differences,
    plant,
    planted_server,
)

from .conftest import Run

Project = Callable[..., Path]


@pytest.fixture(scope="module", params=PROFILES)
def edition(request: pytest.FixtureRequest) -> Iterator[ThreadedServer]:
    with local_server(request.param) as running:
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


def test_doctor_contact_finds_no_differences_in_companion_server(
    edition: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition.run_in_server(edition.app.requests.clear)
    document, report = examined(run, project(ACME), edition.url, monkeypatch)

    assert named_differences(report) == set()
    assert said(document, "contact", "problem") == []
    (first, *_) = said(document, "contact", "ok")
    assert re.fullmatch(
        rf"dpsync checked \d\d API operations with \d\d GET requests. Every response fits the API version "
        rf"{edition.app.profile}", first,
    )  # fmt: skip
    assert {method for method, *_ in edition.run_in_server(lambda: list(edition.app.requests))} == {"GET"}
    assert 15 <= len(report["operations"]) <= 35
    assert (report["profile"], report["served"]) == (edition.app.profile, edition.app.profile)


def test_doctor_estimates_request_count_of_first_plan(
    edition: ThreadedServer, run: Run, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, _ = examined(run, project(ACME), edition.url, monkeypatch)
    (announced,) = (int(re.findall(r"\d+", text)[0]) for text in said(document, "first plan", "ok"))
    edition.run_in_server(edition.app.requests.clear)
    run("import", "-C", str(tmp_path / "new"), "--organization", "acme")
    sent = len(edition.run_in_server(lambda: list(edition.app.requests)))

    assert announced / 1.5 <= sent <= announced * 1.5


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the JSON output and the report of one run against a server with all planted differences."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "dpsync.yaml").write_text(ACME, encoding="utf-8")
    with local_server("full") as server, planted_server(server.url) as url:
        ended = subprocess.run(
            [*DOCTOR, "--format", "json"],
            cwd=folder,
            env={**os.environ, "DPSYNC_URL": url, "DPSYNC_TOKEN": "ada-token"},
            capture_output=True,
            check=False,
        )
        yield json.loads(ended.stdout), json.loads((folder / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("difference", [one.difference for one in PLANTED.values()], ids=[*PLANTED])
def test_doctor_contact_check_finds_simulated_api_difference(
    planted: tuple[dict[str, Any], dict[str, Any]], difference: Difference
) -> None:
    document, report = planted
    assert difference in named_differences(report)
    assert str(difference) in said(document, "contact", "problem")


def test_doctor_contact_check_reports_only_simulated_api_differences(
    planted: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    document, report = planted
    expected = {one.difference for one in PLANTED.values()}
    named = {text for text in said(document, "contact", "problem") if text.startswith("GET /")}

    assert len(expected) == 20
    assert named_differences(report) == expected
    assert named == set(map(str, expected))
    assert document["exit"] == 1


def vocabulary() -> set[str]:
    """Return the words of the API and of the report, which may also occur as values."""
    registry = load_registry()
    declared = {
        name
        for kind in registry.in_dependency_order
        for name in (*kind.noun.split(), *kind.url_path.split("/"))
    }
    paths = {part for kind in registry.in_dependency_order for part in re.split(r"[/?=]", kind.read.path)}
    types = {"a", "an", "", "boolean", "content", "list", "missing", "null", "number", "object", "text"}
    members = {
        item.wire_name for kind in registry.in_dependency_order for item in kind.fields if item.wire_name
    }
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


def test_doctor_contact_check_report_contains_no_platform_data(
    server: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody attaches the report to a public issue."""
    values: set[str] = set()

    def alter(_method: str, path: str, answer: Answer) -> None:
        plant(path, answer)
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


def test_doctor_contact_check_lists_unreadable_object_types(
    server: ThreadedServer, run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reset()
    document, report = examined(run, project(ACME), server.url, monkeypatch, token="gus-token")

    (note,) = said(document, "contact", "note")
    assert note.startswith("this token cannot read objects of these types: ")
    assert "member" in note
    assert "member" in report["refused"]
    assert named_differences(report) == set()


def test_doctor_report_flag_without_contact_flag_exits_64(run: Run, project: Project) -> None:
    ended = run("doctor", "-C", str(project(ACME)), "--report", "report.json")
    assert (ended.code, "--report can only be used with --contact" in ended.err) == (64, True)


def test_doctor_contact_writes_no_report_when_unreachable(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(ACME)
    monkeypatch.setenv("DPSYNC_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DPSYNC_TOKEN", "t")
    ended = run("doctor", "-C", str(folder), "--contact", "--report", "report.json")

    assert (ended.code, (folder / "report.json").exists()) == (1, False)
    assert "dpsync wrote no report" in ended.err
