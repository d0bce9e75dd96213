"""An apply waits until the platform has processed the sent values, and its exit code tells the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Options, Session, load, load_registry
from dpsync.apply.report import exit_code_of
from dpsync.client.client import Params, WriteClient
from dpsync.client.retry import Clock
from dpsync.model.diagnostic import Exit
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.render.documents import ApplyDocument
from dpsync.render.formats import FormatOptions, render
from dpsync.render.json_conversion import plan_document
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report
from dpsync.server.process.threaded_server import ThreadedServer

VALID = "openapi: 3.1.0\ninfo: { title: Pets, version: '1' }\npaths: {}\n"
WITHOUT_PATHS = "openapi: 3.0.0\ninfo: { title: Pets, version: '1' }\n"
CONFIGURATION = """
dpsync: 1
organizations:
  acme:
    id: acme
    %s
    openapi: { pets: { source: { text: { file: pets.yaml } } } }
"""


class InstantClock(Clock):
    """A clock that does not wait: the companion finishes its background work instead."""

    def __init__(self, server: ThreadedServer) -> None:
        self.server = server
        self.seconds = 0.0

    def wait(self, seconds: float, _cancelled: object) -> None:
        self.seconds += seconds
        self.server.wait_for_jobs()


class SlowClient(WriteClient):
    """A client that shows specifications as pending for `looks` reads after the first write."""

    looks = 0

    def pages(self, path: str, params: Params | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        """Return the items of a list, marked as pending while the simulated platform is slow."""
        items = super().pages(path, params, limit)
        writes = self.requests - self.stats().by_method.get("GET", 0)
        if not path.endswith("/openapi") or not writes or not self.looks:
            return items
        self.looks -= 1
        return [{**item, "processingState": "pending"} for item in items]


Apply = Callable[..., tuple[Report, InstantClock]]


@pytest.fixture
def apply(server: ThreadedServer, published_server: ThreadedServer, tmp_path: Path) -> Apply:
    """Return a function that applies a specification text to empty organizations."""
    for running in (server, published_server):
        running.reset({"users": [{"id": "ada"}], "tokens": {"token": "ada"}, "organizations": [
            {"id": "acme", "title": "Acme", "members": [{"user": "ada", "role": "admin"}]}]})  # fmt: skip

    def run(text: str, looks: int = 2, profile: str = "full", more: str = "") -> tuple[Report, InstantClock]:
        running = published_server if profile == "published" else server
        (tmp_path / "dpsync.yaml").write_text(CONFIGURATION % more)
        (tmp_path / "pets.yaml").write_text(text)
        registry = load_registry(profile)
        session = Session(load(tmp_path / "dpsync.yaml", {}, registry), registry, 1)
        clock = InstantClock(running)
        with SlowClient(running.url, "token", clock=clock) as client:
            client.looks = looks
            send = ("send acme/openapi/pets#source",) if profile == "reference" else ()
            live = client.pages("/orgs/acme/openapi")
            planned = session.plan(client, Options(send if live else ()))
            return session.apply(client, planned), clock

    return run


def test_apply_waits_until_openapi_text_is_processed(apply: Apply) -> None:
    report, clock = apply(VALID)
    assert clock.seconds == pytest.approx(0.1 + 0.2)
    assert report.remaining is not None
    assert report.remaining.waiting == ()
    assert exit_code_of(report) is Exit.DONE


@pytest.mark.parametrize("profile", ["full", "reference", "published"])
def test_apply_is_incomplete_when_processing_fails(apply: Apply, profile: str) -> None:
    """Otherwise, a job is green although no reader sees the new version, each time that it runs."""
    for _ in ("created", "sent again"):
        report, _ = apply(WITHOUT_PATHS, profile=profile)
        assert [item.result for item in report.outcomes] == ["done"]
        assert [item.field for item in report.started] == ["source"]
        assert exit_code_of(report) is Exit.PARTIAL
        text = render_report(Plan(), report, Paint(False))
        assert "PARSE_ERROR" in text
        document = ApplyDocument(exit=3, converged=False, plan=plan_document(Plan()), report=report)
        page = render(document, "markdown", FormatOptions())
        assert "PARSE_ERROR" in page
        assert "Verified" not in text
        assert "did not keep" not in text
    report, _ = apply(VALID, profile=profile)
    assert exit_code_of(report) is Exit.DONE


def test_apply_is_incomplete_while_platform_processes_openapi_text(apply: Apply) -> None:
    """Otherwise, what nobody knows yet is called converged."""
    report, clock = apply(VALID, looks=1000)
    assert 60 <= clock.seconds < 65
    assert [(item.address, item.field) for item in report.processing] == [("acme/openapi/pets", "source")]
    assert exit_code_of(report) is Exit.PARTIAL
    text = render_report(Plan(), report, Paint(False))
    assert "acme/openapi/pets" in text
    assert "GitBook is still processing 1 object that this apply changed, see above." in text


def test_apply_without_specifications_does_not_wait(apply: Apply) -> None:
    apply(VALID)
    report, clock = apply(VALID, looks=1000, more="teams: { new: { title: New } }")
    assert clock.seconds == 0
    assert exit_code_of(report) is Exit.DONE
