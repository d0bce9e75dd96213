"""One apply from end to end: preflight, execute, read back, plan again.

The report is made from what was recorded (apply/report.py) and says nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsync.apply.executor import Executor
from dpsync.apply.journal import record
from dpsync.apply.report import report_of
from dpsync.apply.saved_plan import Refused
from dpsync.client.errors import ClientError
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import Closed, Report, Restorable, Started
from dpsync.model.plan import Plan


def carry_out(executor: Executor, plan_again: Callable[[], Plan]) -> Report:
    """Apply the executor's plan. Raises Refused or DiagnosticError before the first write, never after it."""
    missing = executor.missing_secrets()
    if missing:
        names = ", ".join(missing)
        raise DiagnosticError(
            [Diagnostic("DP131", (f"these environment variables are not set: {names}"))], Exit.INVALID
        )
    stale = executor.preflight()
    if stale:
        raise Refused(stale, executor.plan.origins)
    executor.journal.write(_started(executor))
    recorder = executor.recorder
    recorder.flush()
    # Things are written from here on: a report must come out, whatever goes wrong.
    try:
        executor.run()
        trouble = list(executor.trouble)
        remaining = None if executor.stopped else _proof(plan_again, trouble)
    finally:
        recorder.close()
    problem = record(executor.journal, _closed(executor, remaining, trouble))
    report = _report(executor)
    if problem is not None:
        return report.model_copy(update={"trouble": (*report.trouble, problem)})
    return report


def _started(executor: Executor) -> Started:
    plan = executor.plan
    steps = sum(len(change.steps) for change in plan.changes)
    return Started(digest=plan.digest, steps=steps, plan=plan, restorable=tuple(_restorable(executor)))


def _closed(executor: Executor, remaining: Plan | None, trouble: list[str]) -> Closed:
    sent = executor.client.stats().by_method
    return Closed(
        interrupted=executor.stopped and not executor.trouble,
        remaining=remaining,
        reads=sent.get("GET", 0),
        writes=sum(sent.values()) - sent.get("GET", 0),
        trouble=tuple(trouble),
        unrecorded=executor.recorder.trouble,
    )


def _proof(plan_again: Callable[[], Plan], trouble: list[str]) -> Plan | None:
    """What a new plan would still do; None when it cannot be made, with the reason in `trouble`."""
    try:
        return plan_again()
    except (ClientError, DiagnosticError) as error:
        trouble.append(f"the result could not be verified: {error}")
    except Exception as mistake:
        trouble.append(
            f"the result was not verified: dpsync has an internal error ({type(mistake).__name__})"
        )
    return None


def _report(executor: Executor) -> Report:
    """The report, without a secret: a fold over what was recorded."""
    report = report_of(executor.journal.events, executor.journal.path)
    assert report is not None
    if executor.mask is None:
        return report
    try:
        return executor.mask.model(report)
    except Exception as mistake:
        # What may hold a secret is left out; the outcomes are masked already.
        words = f"the result was not reported: dpsync has an internal error ({type(mistake).__name__})"
        outcomes = tuple(executor.outcomes[outcome.step] for outcome in report.outcomes)
        left_out = {"remaining": None, "unkept": (), "started": (), "processing": (), "verified": False}
        return report.model_copy(update={**left_out, "outcomes": outcomes, "trouble": (words,)})


def _restorable(executor: Executor) -> Iterator[Restorable]:
    """What the plan deletes and whose kind can be brought back by its pin."""
    for change in executor.plan.changes:
        restore = executor.registry[change.kind].lifecycle.restore
        if change.action == "delete" and change.id is not None and restore is not None:
            yield Restorable(address=change.address, id=change.id, days=restore.days)
