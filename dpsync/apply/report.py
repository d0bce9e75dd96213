"""Build the report of an apply from the events of its journal (log file), and from nothing else.

So a killed apply has a report, too: the step in flight is unknown, and the remaining steps were not tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.apply.lost_values import find_lost_values
from dpsync.apply.task import StepTask
from dpsync.model.diagnostic import Exit
from dpsync.model.journal import (
    Closed,
    Event,
    Intended,
    NotTried,
    Outcome,
    Report,
    Restorable,
    Started,
    StepEnded,
)
from dpsync.model.plan import Plan

IN_FLIGHT = "the apply ended before it recorded the response, so the result is unknown"
NOT_REACHED = "the apply ended before this step"
END_MISSING = "the last line of the journal is missing, because the apply was killed or is still running"


def build_report(events: Iterable[Event], journal: str | None) -> Report | None:
    """Return the report of an apply; None if the apply ended before its first step.

    If several events are about one step, the last one counts.

    Args:
        journal: The path of the journal, for the report.
    """
    started: Started | None = None
    closed: Closed | None = None
    tasks: dict[str, StepTask] = {}
    intents: dict[str, Intended] = {}
    outcomes: dict[str, Outcome] = {}
    for event in events:
        match event:
            case Started(plan=plan):
                started = event
                tasks = {
                    step.id: StepTask(change, step, plan.origins)
                    for change in plan.changes
                    for step in change.steps
                }
            case Intended(step=step):
                intents[step] = event
            case StepEnded(outcome=outcome):
                outcomes[outcome.step] = outcome
            case NotTried(steps=steps, why=why):
                outcomes |= {step: tasks[step].outcome("not-tried", why) for step in steps if step in tasks}
            case Closed():
                closed = event
    if started is None:
        return None
    if closed is None:
        outcomes = {
            id: outcomes.get(id) or _outcome_of_unrecorded(task, intents.get(id))
            for id, task in tasks.items()
        }
        writes = sum(intent.method != "GET" for intent in intents.values())
        closed = Closed(trouble=(END_MISSING,), writes=writes)
    return _report(started, closed, [outcomes[id] for id in tasks if id in outcomes], journal)


def _outcome_of_unrecorded(task: StepTask, intent: Intended | None) -> Outcome:
    """Return the outcome of a step whose outcome is not in the journal, because the apply was killed.

    It is "unknown" if the request may have been sent.
    """
    if intent is None:
        return task.outcome("not-tried", NOT_REACHED)
    if intent.method == "GET":  # the step only waited for the platform
        return task.outcome("not-tried", NOT_REACHED)
    return task.outcome("unknown", IN_FLIGHT).model_copy(update={"sent": True})


def _report(started: Started, closed: Closed, outcomes: list[Outcome], journal: str | None) -> Report:
    """Return the report of an apply from its first and last event and the outcomes of its steps.

    Of the platform's problems, the report has those that are new or concern a value that the apply sent.
    """
    plan, remaining = started.plan, closed.remaining
    written = _written_addresses(outcomes)
    sent_fields = _sent_fields(plan, outcomes)
    new_trouble, processing = [], []
    if remaining is not None:
        new_trouble = [
            item
            for item in remaining.trouble
            if item.address in written
            and (item not in plan.trouble or (item.address, item.field) in sent_fields)
        ]
        processing = [item for item in remaining.waiting if (item.address, item.field) in sent_fields]
    return Report(
        plan=started.digest,
        outcomes=tuple(outcomes),
        interrupted=closed.interrupted,
        verified=remaining is not None,
        remaining=remaining,
        started=tuple(new_trouble),
        processing=tuple(processing),
        unkept=tuple(find_lost_values(plan, remaining, outcomes)) if remaining else (),
        restorable=tuple(_restorable(started, outcomes)),
        reads=closed.reads,
        writes=closed.writes,
        journal=journal,
        trouble=closed.trouble,
        unrecorded=closed.unrecorded,
    )


def _written_addresses(outcomes: Iterable[Outcome]) -> set[str]:
    """Return the addresses of the objects to which this apply sent a write."""
    return {outcome.address for outcome in outcomes if outcome.sent}


def _sent_fields(plan: Plan, outcomes: Iterable[Outcome]) -> set[tuple[str, str | None]]:
    """Return address and field name of each value that this apply may have written."""
    written = _written_addresses(outcomes)
    changes = (change for change in plan.changes if change.address in written)
    return {(change.address, difference.field) for change in changes for difference in change.differences}


def _restorable(started: Started, outcomes: Iterable[Outcome]) -> Iterator[Restorable]:
    """Yield the objects that this apply deleted and that an entry with their id (`pin`) restores."""
    results = {outcome.step: outcome.result for outcome in outcomes}
    steps = {change.address: [step.id for step in change.steps] for change in started.plan.changes}
    for item in started.restorable:
        if "done" in [results.get(step) for step in steps.get(item.address, ())]:
            yield item


def exit_code_of(report: Report) -> Exit:
    """Return the exit code of an apply that no signal ended.

    Codes 1 and 4 mean that nothing was written, so they require that no request was sent.
    """
    if report.complete:
        return Exit.DONE
    if not report.may_have_written:
        if report.count("stale"):
            return Exit.REFUSED
        if report.count("failed") or report.trouble:
            return Exit.FAILED
    return Exit.PARTIAL
