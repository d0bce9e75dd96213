"""Before the first write what the plan touches is read again, and held against what the plan saw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Session, load, load_registry
from dpsync.client.client import WriteClient
from dpsync.client.transport import HttpTransport, Request, Response, Token, Transport
from dpsync.server.thread import ThreadedServer

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
def test_an_ignored_field_is_not_what_the_platform_is_held_against(
    pattern: str, session: Callable[..., Session], client: WriteClient
) -> None:
    text = IGNORED % f'"{pattern}"'
    report = session(text).apply(session(text).executor(client, session(text).plan(client), secrets={}))
    assert report.complete


def test_what_it_is_held_against_is_in_the_plan(session: Callable[..., Session], client: WriteClient) -> None:
    planned = session(IGNORED % '"spaces/*#emoji"').plan(client)
    changes = {change.address: change for change in planned.plan.changes}
    assert changes["acme/spaces/guides"].watched == ("language", "title")
    assert changes["acme/spaces/fresh"].watched == ()


class Meeting:
    """Answers no reading before so many are on their way at once."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.barrier: threading.Barrier | None = None

    def send(self, request: Request) -> Response:
        if self.barrier is not None:
            self.barrier.wait(30)
        return self.inner.send(request)

    def close(self) -> None:
        self.inner.close()

    def stats(self) -> Any:
        return self.inner.stats()


def test_all_that_the_plan_touches_is_read_at_once(
    session: Callable[..., Session], server: ThreadedServer
) -> None:
    meeting = Meeting(HttpTransport(server.url, Token("ada-token")))
    with WriteClient(server.url, "ada-token", transport=meeting) as client:
        run = session(SEVERAL)
        executor = run.executor(client, run.plan(client), secrets={})
        meeting.barrier = threading.Barrier(4)
        before = client.requests
        assert executor.preflight() == {}
        assert client.requests - before == 4


def test_no_more_is_read_at_once_than_was_asked_for(
    session: Callable[..., Session], server: ThreadedServer
) -> None:
    most, now, lock = 0, 0, threading.Lock()

    class Counting(Meeting):
        def send(self, request: Request) -> Response:
            nonlocal most, now
            with lock:
                now += 1
                most = max(most, now)
            try:
                return super().send(request)
            finally:
                with lock:
                    now -= 1

    counting = Counting(HttpTransport(server.url, Token("ada-token")))
    with WriteClient(server.url, "ada-token", transport=counting) as client:
        run = session(SEVERAL, parallelism=2)
        executor = run.executor(client, run.plan(client), secrets={})
        most = 0
        executor.preflight()
    assert most <= 2
