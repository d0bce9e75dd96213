"""What is reported is what happened, whatever fails around it: the journal, the look-up, our own code."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import Planned, Session
from dpsync.apply.journal import JournalFullError
from dpsync.client.client import WriteClient
from dpsync.client.errors import InterruptedRequestError, UnknownOutcomeError
from dpsync.model.journal import Event
from dpsync.server.process.threaded_server import ThreadedServer
from tests.apply.conftest import writes


class Breaking:
    """A journal that fails at one event."""

    path: str | None = None

    def __init__(self, at: str, number: int) -> None:
        self.at, self.left = at, number

    def write(self, event: Event) -> None:
        if event.event == self.at:
            self.left -= 1
            if self.left == 0:
                raise JournalFullError("no space left")


class Losing(WriteClient):
    """Loses the answer of each creating write, and then fails to read."""

    lost = False

    def send(self, method: str, path: str, *rest: Any, **more: Any) -> Any:
        answer = super().send(method, path, *rest, **more)
        if method == "PUT":
            self.lost = True
            raise UnknownOutcomeError(method, path, "reset")
        return answer

    def pages(self, path: str, *rest: Any, **more: Any) -> Any:
        if self.lost:
            raise InterruptedRequestError("GET", path)
        return super().pages(path, *rest, **more)


def applied(session: Session, client: WriteClient, journal: Any = None) -> tuple[Planned, Any]:
    planned = session.plan(client)
    return planned, session.apply(client, planned, journal=journal)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_failed_journal_write_before_request_prevents_request(
    number: int, server: ThreadedServer, session: Session
) -> None:
    with WriteClient(server.url, "ada-token") as client:
        _, report = applied(session, client, Breaking("intent", number))
    assert writes(server) == number - 1 == report.count("done")
    assert report.count("not-tried") == 3 - report.count("done")
    assert report.trouble == ("no space left",)
    assert not report.converged


@pytest.mark.parametrize("number", [1, 2, 3])
def test_sent_step_is_done_if_journal_fails_afterwards(
    number: int, server: ThreadedServer, session: Session
) -> None:
    with WriteClient(server.url, "ada-token") as client:
        _, report = applied(session, client, Breaking("outcome", number))
    assert writes(server) == number == report.count("done")
    assert report.count("not-tried") == 3 - number


def test_create_is_unknown_when_lookup_fails(server: ThreadedServer, session: Session) -> None:
    with Losing(server.url, "ada-token") as client:
        _, report = applied(session, client)
    assert report.count("unknown") >= 1
    assert {item.verb for item in report.outcomes if item.result == "unknown"} == {"create"}
    assert not report.converged


def test_internal_error_in_one_step_keeps_others(
    server: ThreadedServer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = WriteClient.send

    def broken(self: WriteClient, method: str, *rest: Any, **more: Any) -> Any:
        if method == "PATCH":
            raise KeyError("a secret must not show")
        return send(self, method, *rest, **more)

    monkeypatch.setattr(WriteClient, "send", broken)
    with WriteClient(server.url, "ada-token") as client:
        _, report = applied(session, client)
    assert [item.result for item in report.outcomes] == ["done", "unknown", "done"]
    assert "a secret" not in report.model_dump_json()
    assert not report.converged
