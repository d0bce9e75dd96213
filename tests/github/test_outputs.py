"""What later steps are told, by values: an outcome that sounds like success is one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from dpsync.github.runner import failure_reason, outputs, outputs_if_killed
from dpsync.model.change import Blocked, Change
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.drift import Drift
from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import Plan
from dpsync.render.documents import ApplyDocument
from dpsync.render.json_conversion import drift_document, findings_document, plan_document

CHANGE = Change(address="acme/teams/a", kind="team", action="update", id="1")
SOME, NONE, LEFT = Plan(changes=(CHANGE,)), Plan(), Plan(blocked=(Blocked(address="acme/b", reason="so"),))


def outcome(result: Result, sent: bool = True) -> Outcome:
    return Outcome(step="s", address="acme/teams/a", verb="update", result=result, sent=sent)


def applied(*outcomes: Outcome, converged: bool = True, report: bool = True, plan: Plan = SOME) -> BaseModel:
    done = Report(plan="d", outcomes=outcomes) if report else None
    return ApplyDocument(exit=0, converged=converged, plan=plan_document(plan), report=done)


def findings(*codes: str, code: Exit = Exit.FAILED) -> BaseModel:
    return findings_document([Diagnostic(one, "it is so") for one in codes], code)


DONE, UNSENT = applied(outcome("done")), applied(outcome("not-tried", sent=False), converged=False)


@pytest.mark.parametrize(
    ("document", "code", "said"),
    [
        (plan_document(SOME), Exit.DONE, "changes"),
        (plan_document(SOME), Exit.CHANGES, "changes"),
        (plan_document(NONE), Exit.DONE, "no-changes"),
        (drift_document(Drift()), Exit.DONE, "no-changes"),
        (DONE, Exit.DONE, "applied"),
        (applied(report=False), Exit.DONE, "no-changes"),
        (DONE, Exit.PARTIAL, "partial"),
        (plan_document(SOME), Exit.REFUSED, "refused"),
        (findings("DP201"), Exit.INVALID, "invalid"),
        (findings("unreachable"), Exit.FAILED, "failed"),
        (DONE, Exit.FAILED, "failed"),
        (None, Exit.DONE, "no-changes"),
        (None, Exit.CHANGES, "failed"),
        (None, Exit.USAGE, "failed"),
        # Of what somebody has ended only what was written says that something was done.
        (DONE, Exit.INTERRUPTED, "applied"),
        (applied(outcome("done"), converged=False), Exit.TERMINATED, "partial"),
        (UNSENT, Exit.INTERRUPTED, "failed"),
        (applied(report=False), Exit.INTERRUPTED, "failed"),
        (plan_document(SOME), Exit.INTERRUPTED, "failed"),
        (None, 137, "failed"),
    ],
)
def test_action_outcome_matches_document_and_exit_code(
    document: BaseModel | None, code: int, said: str
) -> None:
    """Otherwise, a later step takes an apply that has sent nothing for one that did.

    Otherwise, a later step takes what was stopped for done.
    Otherwise, a later step takes what has failed for done.
    Otherwise, a later step takes what was refused for failed.
    Otherwise, a later step takes it that something was written.
    """
    assert outputs(document, code)["outcome"] == said


@pytest.mark.parametrize(
    ("document", "code", "why"),
    [
        (DONE, Exit.DONE, ""),
        (plan_document(SOME), Exit.CHANGES, ""),
        (DONE, Exit.INTERRUPTED, "interrupted"),
        (None, Exit.USAGE, "usage"),
        (applied(outcome("stale")), Exit.PARTIAL, "stale"),
        (applied(outcome("failed")), Exit.PARTIAL, "steps"),
        (applied(outcome("unknown")), Exit.PARTIAL, "steps"),
        (applied(outcome("not-tried")), Exit.PARTIAL, "steps"),
        (DONE, Exit.PARTIAL, "blocked"),
        (applied(report=False, plan=LEFT), Exit.PARTIAL, "blocked"),
        (findings("unreachable"), Exit.FAILED, "network"),
        (findings("unauthorized"), Exit.FAILED, "auth"),
        (findings("locked"), Exit.REFUSED, "locked"),
        (findings("not-approved"), Exit.REFUSED, "plan-changed"),
        (findings("DP201", "forbidden"), Exit.FAILED, "auth"),
        (findings("DP201"), Exit.INVALID, ""),
    ],
)
def test_failure_reason_output_names_the_cause(document: BaseModel | None, code: int, why: str) -> None:
    """Otherwise, why nothing was done has no word.

    Otherwise, that the platform has moved has no word.
    """
    assert outputs(document, code)["failure-reason"] == why


def test_warning_is_not_a_failure_reason() -> None:
    """Otherwise, a warning is told as the reason."""
    found = findings_document([Diagnostic("unreachable", "it is so", severity="warning")], Exit.FAILED)
    assert outputs(found, Exit.FAILED)["failure-reason"] == ""


def test_failure_reason_falls_back_to_outcome() -> None:
    assert failure_reason(findings("DP201"), Exit.INVALID) == "invalid"
    assert failure_reason(findings("unreachable"), Exit.FAILED) == "network"


@pytest.mark.parametrize(("applying", "outcome"), [(False, "failed"), (True, "unknown")])
def test_killed_apply_has_unknown_outcome_output(applying: bool, outcome: str) -> None:
    """Otherwise, a later step takes an apply that was killed for one that did nothing."""
    assert outputs_if_killed(applying)["outcome"] == outcome
    assert outputs_if_killed(applying)["has-changes"] == "false"
    assert outputs_if_killed(applying)["exit-code"] == "137"


def test_outputs_count_planned_changes() -> None:
    found = outputs(plan_document(SOME), Exit.DONE)
    counted = {name: found[name] for name in ("create", "update", "move", "delete", "blocked")}
    assert counted == {"create": "0", "update": "1", "move": "0", "delete": "0", "blocked": "0"}
    assert (found["has-changes"], found["digest"]) == ("true", SOME.digest)
    assert outputs(plan_document(LEFT), Exit.DONE)["blocked"] == "1"
    assert outputs(plan_document(LEFT), Exit.DONE)["has-changes"] == "false"
    more: Any = outputs(plan_document(SOME), Exit.DONE, {"outcome": "superseded"})
    assert more["outcome"] == "superseded"
