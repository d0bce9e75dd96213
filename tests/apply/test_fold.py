"""The report of an apply is made from what is on record and from nothing else."""

from __future__ import annotations

from dpsync.apply.report import END_MISSING, IN_FLIGHT, NOT_REACHED, build_report, exit_code_of
from dpsync.model.change import Change, Step
from dpsync.model.diagnostic import Exit
from dpsync.model.journal import (
    Closed,
    Event,
    Intended,
    JournalOpened,
    NotTried,
    Outcome,
    Report,
    Restorable,
    Result,
    Started,
    StepEnded,
)
from dpsync.model.plan import Plan

ADDRESS = "acme/teams/t"


def step(name: str, method: str = "PATCH") -> Step:
    return Step(id=name, verb="update", method=method, path="/orgs/acme/teams/t", repeat="safe")


STEPS = (step("a"), step("b"), step("c"))
PLAN = Plan(changes=(Change(address=ADDRESS, kind="team", action="update", steps=STEPS),))
BEGIN: tuple[Event, ...] = (JournalOpened(dpsync="1"), Started(digest="d", steps=3, plan=PLAN))


def intent(name: str, method: str = "PATCH") -> Intended:
    return Intended(step=name, method=method)


def ended(name: str, result: Result = "done", sent: bool = True) -> StepEnded:
    return StepEnded(outcome=Outcome(step=name, address=ADDRESS, verb="update", result=result, sent=sent))


def folded(*events: Event) -> Report:
    report = build_report((*BEGIN, *events), "the journal")
    assert report is not None
    return report


def results(report: Report) -> dict[str, str]:
    return {outcome.step: outcome.result for outcome in report.outcomes}


def test_step_in_flight_at_process_end_is_unknown() -> None:
    """Otherwise, what was sent when the process was killed is told as not tried.

    Otherwise, an apply that was killed while it wrote is told as one that wrote nothing.
    """
    report = folded(intent("b"), ended("b"), intent("a"))
    assert results(report) == {"a": "unknown", "b": "done", "c": "not-tried"}
    assert [outcome.error for outcome in report.outcomes] == [IN_FLIGHT, None, NOT_REACHED]
    assert [outcome.sent for outcome in report.outcomes] == [True, True, False]


def test_unfinished_journal_is_reported_as_incomplete() -> None:
    """Otherwise, nobody is told that the apply did not come to its end."""
    report = folded(intent("a"), ended("a"), intent("b"), ended("b"), intent("c"), ended("c"))
    assert (report.trouble, report.verified, report.converged) == ((END_MISSING,), False, False)
    assert (report.writes, exit_code_of(report)) == (3, Exit.PARTIAL)


def test_journal_without_requests_reports_apply_as_failed() -> None:
    assert exit_code_of(folded()) is Exit.FAILED


def test_interrupted_wait_is_reported_as_not_sent() -> None:
    """Otherwise, what was only waited for is told as perhaps written."""
    report = folded(intent("a", "GET"))
    assert (results(report)["a"], report.outcomes[0].sent, report.writes) == ("not-tried", False, 0)


def test_journal_without_start_event_gives_no_report() -> None:
    assert build_report(BEGIN[:1], None) is None


def test_steps_not_tried_share_one_journal_line() -> None:
    report = folded(ended("a", "failed"), NotTried(steps=("b", "c"), why="it needs a"), Closed())
    assert results(report) == {"a": "failed", "b": "not-tried", "c": "not-tried"}
    assert {outcome.error for outcome in report.outcomes[1:]} == {"it needs a"}


def test_later_journal_outcome_of_step_wins() -> None:
    assert results(folded(ended("a", "unknown"), ended("a"), Closed())) == {"a": "done"}


def test_journal_end_event_fills_report() -> None:
    end = Closed(interrupted=True, reads=5, writes=2, trouble=("no room",), unrecorded="no ids")
    report = folded(ended("a"), end)
    assert (report.interrupted, report.reads, report.writes) == (True, 5, 2)
    assert (report.trouble, report.unrecorded, report.journal) == (("no room",), "no ids", "the journal")


def test_journal_with_empty_remaining_plan_reports_verified_apply() -> None:
    report = folded(*(ended(item.id) for item in STEPS), Closed(remaining=Plan()))
    assert (report.verified, report.converged, exit_code_of(report)) == (True, True, Exit.DONE)


def test_only_successful_deletes_are_reported_restorable() -> None:
    """Otherwise, what was never deleted is told as to be brought back."""
    gone = Change(address=ADDRESS, kind="space", action="delete", steps=(step("a"),))
    back = Restorable(address=ADDRESS, id="i", days=7)
    begin = Started(digest="d", steps=1, plan=Plan(changes=(gone,)), restorable=(back,))
    for result, told in (("done", (back,)), ("already", ()), ("failed", ())):
        report = build_report((begin, ended("a", result), Closed()), None)  # type: ignore[arg-type]
        assert report is not None
        assert report.restorable == told
