"""Run one apply from end to end: check, execute the steps, plan again to verify, report.

`apply_plan` returns the report, which is made from the journal events only (apply/report.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsync.apply.executor import Executor
from dpsync.apply.journal import try_to_record
from dpsync.apply.report import build_report
from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.errors import ClientError
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.journal import Closed, Report, Restorable, Started
from dpsync.model.plan import Plan


def apply_plan(executor: Executor, plan_again: Callable[[], Plan]) -> Report:
    """Apply the plan of an executor, verify the result with a new plan, and return the report.

    Raises StaleStateError or DiagnosticError before the first write, never after it. `plan_again` makes the
    new plan.
    """
    missing = executor.missing_secrets()
    if missing:
        names = ", ".join(missing)
        raise DiagnosticError(
            [Diagnostic("DP131", (f"these environment variables are not set: {names}"))], Exit.INVALID
        )
    stale = executor.find_stale_changes()
    if stale:
        raise StaleStateError(stale, executor.plan.origins)
    plan = executor.plan
    executor.journal.write(
        Started(
            digest=plan.digest,
            steps=sum(len(change.steps) for change in plan.changes),
            plan=plan,
            restorable=tuple(_restorable(executor)),
        )
    )
    recorder = executor.recorder
    recorder.flush()
    # Requests are sent from here on, so a report is needed whatever goes wrong.
    try:
        executor.run()
        trouble = list(executor.trouble)
        remaining = None if executor.is_stopped else _plan_again(plan_again, trouble)
    finally:
        recorder.close()
    problem = try_to_record(executor.journal, _closed_event(executor, remaining, trouble))
    report = _build_report(executor)
    if problem is not None:
        return report.model_copy(update={"trouble": (*report.trouble, problem)})
    return report


def _closed_event(executor: Executor, remaining: Plan | None, trouble: list[str]) -> Closed:
    """Return the last event of the journal, with the remaining changes and the numbers of requests."""
    counts = executor.client.stats().by_method
    return Closed(
        interrupted=executor.is_stopped and not executor.trouble,
        remaining=remaining,
        reads=counts.get("GET", 0),
        writes=sum(counts.values()) - counts.get("GET", 0),
        trouble=tuple(trouble),
        unrecorded=executor.recorder.trouble,
    )


def _plan_again(plan_again: Callable[[], Plan], trouble: list[str]) -> Plan | None:
    """Plan again after the apply to verify the result: that plan should contain no changes.

    If planning fails, add the reason to `trouble`, a list of texts for the report, and return None.
    """
    try:
        return plan_again()
    except (ClientError, DiagnosticError) as error:
        trouble.append(f"the result could not be verified: {error}")
    except Exception as mistake:
        trouble.append(
            f"the result was not verified: dpsync has an internal error ({type(mistake).__name__})"
        )
    return None


def _build_report(executor: Executor) -> Report:
    """Build the report from the recorded events, without the secrets that the apply sent.

    If masking fails, everything that may contain a secret is left out.
    """
    report = build_report(executor.journal.events, executor.journal.path)
    assert report is not None
    if executor.mask is None:
        return report
    try:
        return executor.mask.mask_model(report)
    except Exception as error:
        # Leave out everything that may contain a secret. The outcomes are already masked.
        words = f"the result was not reported: dpsync has an internal error ({type(error).__name__})"
        outcomes = tuple(executor.outcomes[outcome.step] for outcome in report.outcomes)
        left_out = {"remaining": None, "unkept": (), "started": (), "processing": (), "verified": False}
        return report.model_copy(update={**left_out, "outcomes": outcomes, "trouble": (words,)})


def _restorable(executor: Executor) -> Iterator[Restorable]:
    """Yield the objects that the plan deletes and that an entry with their id (`pin`) can restore."""
    for change in executor.plan.changes:
        restore = executor.registry[change.kind].lifecycle.restore
        if change.action == "delete" and change.id is not None and restore is not None:
            yield Restorable(address=change.address, id=change.id, days=restore.days)
