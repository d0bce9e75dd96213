"""Before the first write what the plan touches is read again, and held against what the plan saw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Session, load, load_registry
from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.client import WriteClient
from dpsync.client.transport import HttpTransport, Request, Response, Token, Transport
from dpsync.server.process.threaded_server import ThreadedServer
from tests.apply.late import Meanwhile
from tests.patience import PATIENCE

REGISTRY = load_registry()
IGNORED = """
dpsync: 1
policy: { ignore: [%s] }
organizations:
  acme:
    id: acme
    spaces:
      guides: { id: guides, title: Guides, emoji: 1f4d8, language: fr }
      fresh: { title: Fresh, emoji: 1f4d8 }
"""
SEVERAL = """
dpsync: 1
organizations:
  acme:
    id: acme
    title: Acme again
    teams: { fresh: { title: Fresh } }
    spaces: { fresh: { title: Fresh } }
    collections: { fresh: { title: Fresh } }
"""


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Session]:
    def make(text: str, parallelism: int = 4) -> Session:
        (tmp_path / "dpsync.yaml").write_text(text, encoding="utf-8")
        return Session(load(tmp_path / "dpsync.yaml", {}), REGISTRY, parallelism)

    return make


@pytest.mark.parametrize("pattern", ["spaces/*#emoji", "acme/spaces/guides#emoji", "spaces/**#emoji"])
def test_preflight_skips_ignored_fields(
    pattern: str, session: Callable[..., Session], client: WriteClient
) -> None:
    text = IGNORED % f'"{pattern}"'
    report = session(text).apply(client, session(text).plan(client), secrets={})
    assert report.complete


def test_preflight_compares_exactly_the_fields_listed_in_plan(
    session: Callable[..., Session], client: WriteClient
) -> None:
    planned = session(IGNORED % '"spaces/*#emoji"').plan(client)
    changes = {change.address: change for change in planned.plan.changes}
    assert changes["acme/spaces/guides"].watched == ("language", "title")
    assert changes["acme/spaces/fresh"].watched == ()


class Watching:
    """Sees how many requests are on their way at once; at a `barrier` the first ones wait for each other."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.lock = threading.Lock()
        self.now = self.most = self.seen = 0
        self.barrier: threading.Barrier | None = None

    def send(self, request: Request) -> Response:
        with self.lock:
            self.now += 1
            self.seen += 1
            self.most = max(self.most, self.now)
            first = self.barrier is not None and self.seen <= self.barrier.parties
        try:
            if first and self.barrier is not None:
                self.barrier.wait(PATIENCE)
            return self.inner.send(request)
        finally:
            with self.lock:
                self.now -= 1

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_preflight_reads_in_parallel_up_to_limit(
    parallelism: int, session: Callable[..., Session], server: ThreadedServer
) -> None:
    watching = Watching(HttpTransport(server.url, Token("ada-token")))
    with WriteClient(server.url, "ada-token", transport=watching) as client:
        run = session(SEVERAL, parallelism)
        planned = run.plan(client)
        watching.seen = watching.most = 0
        watching.barrier = threading.Barrier(parallelism)
        assert run.apply(client, planned, secrets={}).complete
    assert watching.most == parallelism


def test_change_after_first_write_makes_create_stale(
    session: Callable[..., Session], server: ThreadedServer
) -> None:
    def meanwhile() -> None:
        with WriteClient(server.url, "ada-token") as other:
            other.send("PUT", "/orgs/acme/teams", {"title": "Fresh"}, repeatable=False)

    transport = Meanwhile(HttpTransport(server.url, Token("ada-token")), meanwhile)
    with WriteClient(server.url, "ada-token", transport=transport) as client:
        run = session(SEVERAL, 1)
        report = run.apply(client, run.plan(client), secrets={})
    (outcome,) = [item for item in report.outcomes if item.result != "done"]
    assert (outcome.address, outcome.result) == ("acme/teams/fresh", "stale")
    assert "somebody else created this object" in (outcome.error or "")


def test_preflight_refuses_plan_when_object_was_deleted(
    session: Callable[..., Session], client: WriteClient
) -> None:
    run = session(
        SEVERAL.replace(
            "fresh: { title: Fresh } }\n    spaces", "sales: { id: sales, title: S1 } }\n    spaces"
        )
    )
    planned = run.plan(client)
    client.send("DELETE", "/orgs/acme/teams/sales", repeatable=True)
    with pytest.raises(StaleStateError) as refused:
        run.apply(client, planned, secrets={})
    assert refused.value.stale == {"acme/teams/sales": "this object was deleted after the plan was made"}
