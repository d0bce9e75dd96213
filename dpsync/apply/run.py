"""One apply from end to end: preflight, execute, read back, plan again.

The report says what happened, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsync.apply.executor import Executor
from dpsync.apply.journal import record
from dpsync.client.errors import ClientError
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import Outcome, Report
from dpsync.model.plan import Plan


class Refused(Exception):
    """Nothing was written: what the plan rests on has changed. `stale` says why, by address."""

    def __init__(self, stale: Mapping[str, str]) -> None:
        self.stale = dict(stale)
        super().__init__(self.stale)


def carry_out(executor: Executor, plan_again: Callable[[], Plan]) -> Report:
    """Apply the executor's plan. Raises Refused or DiagnosticError before the first write, never after it."""
    plan = executor.plan
    missing = executor.missing_secrets()
    if missing:
        names = ", ".join(missing)
        raise DiagnosticError([Diagnostic("DP131", f"not set in the environment: {names}")], Exit.INVALID)
    stale = executor.preflight()
    if stale:
        raise Refused(stale)
    executor.journal.write("start", plan=plan.digest, steps=sum(len(change.steps) for change in plan.changes))
    executor.run()
    trouble = list(executor.trouble)
    remaining: Plan | None = None
    if not executor.stopped:
        try:
            remaining = plan_again()
        except (ClientError, DiagnosticError) as error:
            trouble.append(f"the result could not be verified: {error}")
        except Exception as mistake:
            # Things were written by now: the report must come out, whatever we did wrong.
            trouble.append(f"not verified: a mistake of our own ({type(mistake).__name__})")
    sent = executor.client.stats().by_method
    report = Report(
        plan=plan.digest,
        outcomes=_in_order(plan, executor.outcomes),
        interrupted=executor.stopped and not executor.trouble,
        verified=remaining is not None,
        remaining=remaining,
        reads=sent.get("GET", 0),
        writes=sum(sent.values()) - sent.get("GET", 0),
        journal=executor.journal.path,
        trouble=tuple(trouble),
    )
    report = executor.mask.model(report)
    counts = {result: report.count(result) for result in ("done", "failed", "unknown", "not-tried")}
    problem = record(executor.journal, "end", converged=report.converged, **counts)
    if problem is not None:
        return report.model_copy(update={"trouble": (*report.trouble, problem)})
    return report


def _in_order(plan: Plan, outcomes: dict[str, Outcome]) -> tuple[Outcome, ...]:
    steps = (step.id for change in plan.changes for step in change.steps)
    return tuple(outcomes[id] for id in steps if id in outcomes)
