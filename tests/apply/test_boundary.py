"""Whatever goes wrong in a step, in the journal or around them: report and journal come to their end."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import Session
from dpsync.apply.executor import Schedule
from dpsync.apply.fresh_reads import FreshReads
from dpsync.apply.journal import JournalFullError
from dpsync.client.client import WriteClient
from dpsync.model.journal import Event, Outcome
from dpsync.model.mask import Mask
from dpsync.server.process.threaded_server import ThreadedServer
from tests.apply.conftest import writes


class Recorded:
    """A journal in memory that fails in any way at one event."""

    path: str | None = None

    def __init__(self, at: str = "", number: int = 1, error: BaseException | None = None) -> None:
        self.at, self.left, self.error = at, number, error
        self.events: list[str] = []

    def write(self, event: Event) -> None:
        self.events.append(event.event)
        if event.event == self.at:
            self.left -= 1
            if self.left == 0 and self.error is not None:
                raise self.error


def failing(at: int, error: BaseException) -> Any:
    """Return a decorator whose function raises `error` at the call with the number `at`."""
    calls = 0

    def called(inner: Any) -> Any:
        def outer(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                raise error
            return inner(*arguments, **named)

        return outer

    return called


ERRORS = [RuntimeError("x"), OSError("x"), MemoryError("x"), KeyError("x"), JournalFullError("x")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("number", [1, 3])
def test_exception_in_safety_check_fails_only_its_step(
    error: Exception,
    number: int,
    client: WriteClient,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = Recorded()
    monkeypatch.setattr(FreshReads, "check", failing(number, error)(FreshReads.check))
    report = session.apply(client, session.plan(client), journal=journal)
    assert report.count("done") == 2
    assert report.count("failed") == 1
    assert journal.events[-1] == "end"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("event", ["intent", "outcome", "end"])
def test_journal_failure_stops_writes_but_keeps_report(
    error: Exception,
    event: str,
    client: WriteClient,
    session: Session,
    server: ThreadedServer,
) -> None:
    """Otherwise, something is sent that is not on record.

    Otherwise, writes go on after the journal cannot be written.
    Otherwise, writes go on after the journal cannot be written, or after a signal.
    Otherwise, what was done is told as not tried.
    Otherwise, a fact that cannot be written down stops an apply in the middle, without a report.
    """
    journal = Recorded(event, 1, error)
    report = session.apply(client, session.plan(client), journal=journal)
    assert report.count("done") == {"intent": 0, "outcome": 1, "end": 3}[event] == writes(server)
    assert report.trouble
    assert journal.events[-1] == "end"


def test_scheduler_and_journal_failure_are_both_reported(
    client: WriteClient, session: Session, server: ThreadedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Schedule, "end_step", failing(1, KeyError("x"))(Schedule.end_step))
    journal = Recorded("not-tried", 1, JournalFullError("no space left"))
    report = session.apply(client, session.plan(client), journal=journal)
    assert "no space left" in report.trouble
    assert (report.count("done"), report.count("not-tried"), writes(server)) == (1, 2, 1)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_scheduler_error_stops_apply_but_keeps_report(
    error: Exception,
    client: WriteClient,
    session: Session,
    server: ThreadedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise, after a mistake of dpsync's, with half of it done, the result is told as proven."""
    journal = Recorded()
    monkeypatch.setattr(Schedule, "end_step", failing(1, error)(Schedule.end_step))
    report = session.apply(client, session.plan(client), journal=journal)
    assert (report.count("done"), report.count("not-tried"), writes(server)) == (1, 2, 1)
    assert report.trouble
    assert not report.converged
    assert not report.verified
    assert journal.events[-1] == "end"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_reporter_error_does_not_stop_apply(error: Exception, client: WriteClient, session: Session) -> None:
    """Otherwise, a terminal that is gone leaves things half done."""

    def told(_: object) -> None:
        raise error

    report = session.apply(client, session.plan(client), journal=(journal := Recorded()), report=told)
    assert report.count("done") == 3
    assert report.converged
    assert journal.events[-1] == "end"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_failed_verification_is_reported(
    error: Exception,
    client: WriteClient,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned, journal = session.plan(client), Recorded()
    monkeypatch.setattr(Session, "plan", failing(1, error)(Session.plan))
    report = session.apply(client, planned, journal=journal)
    assert (report.count("done"), report.verified) == (3, False)
    assert journal.events[-1] == "end"


@pytest.mark.parametrize("number", [4, 7])  # what is told of the first and of the second step
def test_masking_error_does_not_stop_apply(
    number: int, client: WriteClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, an outcome that cannot be written down stops the apply in the middle."""
    planned, journal = session.plan(client), Recorded()
    monkeypatch.setattr("dpsync.apply.executor.sent_secrets", lambda *_: ["never-in-it"])
    monkeypatch.setattr(Mask, "mask_model", failing(number, RuntimeError("x"))(Mask.mask_model))
    report = session.apply(client, planned, journal=journal)
    assert report.count("done") == 3
    assert journal.events[-1] == "end"


def test_step_outcome_is_shown_despite_secret_in_name(
    client: WriteClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsync.apply.executor.sent_secrets", lambda *_: ["acme/teams/one"])
    told: list[Outcome] = []
    report = session.apply(client, session.plan(client), report=told.append)
    expected = {
        "[secret] create": "done",
        "acme/teams/two create": "done",
        "acme/teams/sales update": "done",
    }
    assert {item.step: item.result for item in report.outcomes} == expected
    assert {item.step: item.result for item in told} == expected
    assert report.remaining is not None
    assert "acme/teams/two" in report.remaining.bindings
    assert "acme/teams/one" not in report.model_dump_json()
