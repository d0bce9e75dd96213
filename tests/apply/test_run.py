"""From the first check to the report, with an executor of plain values."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpsync.apply.executor import Executor
from dpsync.apply.journal import InMemoryJournal, Journal, JournalFullError
from dpsync.apply.run import apply_plan
from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.errors import NotSentError
from dpsync.kinds.registry import build_registry
from dpsync.model.change import Change, PlatformTrouble, Step
from dpsync.model.diagnostic import DiagnosticError, Exit
from dpsync.model.journal import Closed, Event, Outcome, Report, Started, StepEnded
from dpsync.model.plan import Plan

ID = "acme/teams/t update"
STEP = Step(id=ID, verb="update", method="PATCH", path="/orgs/acme/teams/t", repeat="safe")
CHANGE = Change(address="acme/teams/t", kind="team", action="update", steps=(STEP,))
PLAN, EMPTY = Plan(changes=(CHANGE,)), Plan()
DONE = Outcome(step=ID, address="acme/teams/t", verb="update", result="done", sent=True)


class Run:
    """What an executor shows of itself. `during` happens while it carries the plan out."""

    def __init__(self, **facts: Any) -> None:
        self.plan = PLAN
        self.registry = build_registry()
        self.outcomes: dict[str, Outcome] = {}
        self.trouble: list[str] = facts.get("trouble", [])
        self.is_stopped: bool = facts.get("stopped", False)
        self.client = SimpleNamespace(stats=lambda: SimpleNamespace(by_method={"GET": 5, "PATCH": 2}))
        on_disk = SimpleNamespace(path="the journal", write=self._write)
        self.journal = InMemoryJournal(cast(Journal, on_disk))
        self.recorder = SimpleNamespace(
            flush=lambda: self.wrote.append("flush"),
            close=lambda: self.wrote.append("close"),
            trouble=facts.get("unrecorded"),
        )
        self.wrote: list[str] = []
        self.mask = SimpleNamespace(mask_model=facts.get("mask", lambda report: report))
        self._facts = facts

    def _write(self, event: Event) -> None:
        if event.event == self._facts.get("full"):
            raise JournalFullError("no space left")

    @property
    def events(self) -> list[str]:
        return [event.event for event in self.journal.events]

    def ended(self, outcome: Outcome) -> None:
        self.outcomes[ID] = outcome
        self.journal.write(StepEnded(outcome=outcome))

    def missing_secrets(self) -> list[str]:
        return self._facts.get("missing", [])

    def find_stale_changes(self) -> dict[str, str]:
        return self._facts.get("stale", {})

    def run(self) -> None:
        self.ended(DONE)


def carried_out(run: Run, again: Callable[[], Plan] = lambda: EMPTY) -> Report:
    return apply_plan(cast(Executor, run), again)


def failing(error: Exception) -> Callable[..., Any]:
    def fails(*_: object) -> Any:
        raise error

    return fails


def test_apply_reports_verified_result_in_journal() -> None:
    report = carried_out(run := Run())
    assert (report.outcomes, report.interrupted, report.verified, report.remaining) == (
        (DONE,),
        False,
        True,
        EMPTY,
    )
    assert (report.reads, report.writes, report.journal, report.trouble) == (5, 2, "the journal", ())
    assert report.converged
    start, *_, end = run.journal.events
    assert start == Started(digest=PLAN.digest, steps=1, plan=PLAN)
    assert end == Closed(remaining=EMPTY, reads=5, writes=2)


@pytest.mark.parametrize(
    ("facts", "error"),
    [({"missing": ["TOKEN"]}, DiagnosticError), ({"stale": {"acme/teams/t": "gone"}}, StaleStateError)],
)
def test_apply_refuses_missing_secret_or_stale_plan(facts: Any, error: type[Exception]) -> None:
    """Otherwise, an apply begins although the platform has moved.

    Otherwise, an apply begins without a secret that it needs halfway.
    """
    run = Run(**facts)
    with pytest.raises(error):
        carried_out(run)
    assert (run.outcomes, run.events) == ({}, [])


@pytest.mark.parametrize(
    ("stopped", "trouble", "interrupted", "verified"),
    [
        (False, [], False, True),
        (True, [], True, False),
        (True, ["no space left"], False, False),
        (False, ["it stumbled"], False, True),
    ],
)
def test_stopped_apply_is_not_verified(
    stopped: bool, trouble: list[str], interrupted: bool, verified: bool
) -> None:
    """Otherwise, what was stopped is told as proven or not."""
    report = carried_out(Run(stopped=stopped, trouble=trouble))
    assert (report.interrupted, report.verified, list(report.trouble)) == (interrupted, verified, trouble)
    assert (report.remaining is not None) is verified


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NotSentError("GET", "/orgs", "refused"), "the result could not be verified: GET /orgs"),
        (DiagnosticError([], Exit.FAILED), "the result could not be verified"),
        (KeyError("secret"), "the result was not verified: dpsync has an internal error (KeyError)"),
    ],
)
def test_failed_verification_leaves_result_unverified(error: Exception, words: str) -> None:
    """Otherwise, an apply whose result cannot be read is told as a mistake of dpsync's.

    Otherwise, a mistake of dpsync's after the writes hides what was done.
    """
    report = carried_out(Run(), failing(error))
    assert (report.verified, report.remaining, report.count("done")) == (False, None, 1)
    assert report.trouble[0].startswith(words)
    assert "secret" not in report.model_dump_json()


def test_secret_masking_error_keeps_outcomes_but_not_verification() -> None:
    """Otherwise, an internal error after the writes hides the outcomes, even where masking fails, too."""
    report = carried_out(Run(mask=failing(RuntimeError("secret"))))
    assert (report.outcomes, report.verified, report.remaining) == ((DONE,), False, None)
    assert report.trouble == ("the result was not reported: dpsync has an internal error (RuntimeError)",)


def test_apply_reports_failed_write_of_journal_end() -> None:
    """Otherwise, that the journal has no end is told by nobody."""
    report = carried_out(Run(full="end", trouble=["it stumbled"]))
    assert report.trouble == ("it stumbled", "no space left")


@pytest.mark.parametrize(
    ("kind", "action", "result", "told"),
    [
        ("space", "delete", "done", True),
        ("space", "delete", "already", False),
        ("space", "update", "done", False),
        ("space", "create", "done", False),
        ("team", "delete", "done", False),
    ],
)
def test_restorable_deletes_are_reported(kind: str, action: Any, result: Any, told: bool) -> None:
    """Otherwise, what was changed is told as to be brought back."""
    run = Run()
    run.plan = Plan(changes=(CHANGE.model_copy(update={"kind": kind, "action": action, "id": "i"}),))
    run.run = lambda: run.ended(DONE.model_copy(update={"result": result}))
    assert [item.id for item in carried_out(run).restorable] == ["i"] * told


def test_apply_report_omits_steps_without_outcome() -> None:
    run = Run()
    run.run = lambda: None
    assert carried_out(run).outcomes == ()


def test_ids_file_is_flushed_first_and_closed_last() -> None:
    """Otherwise, what the last second of an apply has learned is not in the ids file."""
    run = Run(unrecorded="no room")
    report = carried_out(run)

    assert run.wrote == ["flush", "close"]
    assert (report.unrecorded, report.converged, report.complete) == ("no room", True, False)


def test_ids_file_is_closed_when_apply_is_aborted() -> None:
    run = Run()

    def gone() -> Plan:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carried_out(run, gone)

    assert run.wrote == ["flush", "close"]


@pytest.mark.parametrize(
    ("sent", "reads", "writes"),
    [({"GET": 5, "PATCH": 2, "PUT": 1}, 5, 3), ({"GET": 5}, 5, 0), ({"PATCH": 2}, 0, 2), ({}, 0, 0)],
)
def test_reads_and_writes_are_counted_by_method(sent: dict[str, int], reads: int, writes: int) -> None:
    run = Run()
    run.client = SimpleNamespace(stats=lambda: SimpleNamespace(by_method=sent))
    report = carried_out(run)
    assert (report.reads, report.writes) == (reads, writes)


@pytest.mark.parametrize("known", [False, True])
def test_apply_reports_only_new_problems_of_changed_objects(known: bool) -> None:
    """Otherwise, trouble that somebody else has caused counts as this apply's.

    Otherwise, trouble that was there before counts as this apply's, which never converges.
    """
    mine, other = (PlatformTrouble(address=at, what="failed") for at in ("acme/teams/t", "acme/teams/u"))
    run = Run()
    run.plan = PLAN.model_copy(update={"trouble": (mine,) if known else ()})
    left = Plan(trouble=(mine, other))
    assert carried_out(run, lambda: left).started == (() if known else (mine,))
