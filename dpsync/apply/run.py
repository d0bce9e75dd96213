"""One apply from end to end: preflight, execute, read back, plan again.

The report says what happened, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dpsync.apply.executor import Executor
from dpsync.apply.expected import Refused
from dpsync.apply.journal import record
from dpsync.apply.lost_values import unkept
from dpsync.client.errors import ClientError
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plans.journal import Outcome, Report, Restorable
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import PlatformTrouble


def carry_out(executor: Executor, plan_again: Callable[[], Plan]) -> Report:
    """Apply the executor's plan. Raises Refused or DiagnosticError before the first write, never after it."""
    plan = executor.plan
    missing = executor.missing_secrets()
    if missing:
        names = ", ".join(missing)
        raise DiagnosticError([Diagnostic("DP131", f"not set in the environment: {names}")], Exit.INVALID)
    stale = executor.preflight()
    if stale:
        raise Refused(stale, executor.plan.origins)
    digest = plan.digest  # of a large plan it takes long
    executor.journal.write("start", plan=digest, steps=sum(len(change.steps) for change in plan.changes))
    recorder = executor.recorder
    recorder.flush()
    # Things are written from here on: a report must come out, whatever goes wrong.
    try:
        executor.run()
        trouble = list(executor.trouble)
        remaining = None if executor.stopped else _proof(plan_again, trouble)
    finally:
        recorder.close()
    report = _report(executor, digest, remaining, trouble)
    counts = {result: report.count(result) for result in ("done", "failed", "unknown", "not-tried")}
    problem = record(executor.journal, "end", converged=report.converged, **counts)
    if problem is not None:
        return report.model_copy(update={"trouble": (*report.trouble, problem)})
    return report


def _proof(plan_again: Callable[[], Plan], trouble: list[str]) -> Plan | None:
    """What a new plan would still do; None when it cannot be made, with the reason in `trouble`."""
    try:
        return plan_again()
    except (ClientError, DiagnosticError) as error:
        trouble.append(f"the result could not be verified: {error}")
    except Exception as mistake:
        trouble.append(f"not verified: a mistake of our own ({type(mistake).__name__})")
    return None


def _report(executor: Executor, digest: str, remaining: Plan | None, trouble: Iterable[str]) -> Report:
    sent = executor.client.stats().by_method
    report = Report(
        plan=digest,
        outcomes=_in_order(executor.plan, executor.outcomes),
        interrupted=executor.stopped and not executor.trouble,
        verified=remaining is not None,
        remaining=remaining,
        started=tuple(_started(executor, remaining)) if remaining else (),
        unkept=tuple(unkept(executor.plan, remaining, executor.outcomes.values())) if remaining else (),
        restorable=tuple(_restorable(executor)),
        reads=sent.get("GET", 0),
        writes=sum(sent.values()) - sent.get("GET", 0),
        journal=executor.journal.path,
        trouble=tuple(trouble),
        unrecorded=executor.recorder.trouble,
    )
    if executor.mask is None:
        return report
    try:
        return executor.mask.model(report)
    except Exception as mistake:
        # What may hold a secret is left out; the outcomes are masked already.
        words = f"not told: a mistake of our own ({type(mistake).__name__})"
        return report.model_copy(update={"verified": False, "remaining": None, "trouble": (words,)})


def _restorable(executor: Executor) -> Iterator[Restorable]:
    """What was seen to be deleted and whose kind can be brought back by its pin."""
    for change in executor.plan.changes:
        restore = executor.registry[change.kind].lifecycle.restore
        if change.action != "delete" or change.id is None or restore is None:
            continue
        done = [executor.outcomes[step.id].result for step in change.steps if step.id in executor.outcomes]
        if "done" in done:
            yield Restorable(address=change.address, id=change.id, days=restore.days)


def _started(executor: Executor, remaining: Plan) -> Iterator[PlatformTrouble]:
    """What is in trouble on the platform since this apply wrote it."""
    written = {outcome.address for outcome in executor.outcomes.values() if outcome.sent}
    for item in remaining.trouble:
        if item.address in written and item not in executor.plan.trouble:
            yield item


def _in_order(plan: Plan, outcomes: dict[str, Outcome]) -> tuple[Outcome, ...]:
    steps = (step.id for change in plan.changes for step in change.steps)
    return tuple(outcomes[id] for id in steps if id in outcomes)
