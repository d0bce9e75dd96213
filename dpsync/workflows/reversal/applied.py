"""The changes that an apply carried out, read from its plan and its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from dpsync.model.change import Change
from dpsync.model.journal import GOOD, Outcome, Report
from dpsync.model.plan import Plan

_TRIED: Final = frozenset({*GOOD, "unknown"})


class Applied(Struct, frozen=True):
    """One change of which at least one step was, or may have been, carried out."""

    change: Change
    created_id: str | None = None
    """The id of the object that the change created, if the platform returned one."""
    complete: bool = True
    """Whether every step of the change succeeded."""


class AppliedPlan(Struct, frozen=True):
    """The changes of an apply. `ids` maps each declared address to the object id at the time of the apply."""

    platform: str
    changes: tuple[Applied, ...]
    ids: Mapping[str, str] = field(default_factory=dict)
    profile: str = "full"
    """The API edition that the apply was planned for."""


def applied(plan: Plan, report: Report | None = None) -> AppliedPlan:
    """Return the changes that an apply of the plan carried out. Without a report, these are all changes."""
    if report is None:
        changes = [Applied(change) for change in plan.changes]
    else:
        outcomes = {outcome.step: outcome for outcome in report.outcomes}
        changes = [one for change in plan.changes if (one := _carried_out(change, outcomes)) is not None]
    created = {one.change.address: one.created_id for one in changes if one.created_id is not None}
    return AppliedPlan(plan.platform, tuple(changes), {**plan.bindings, **created}, plan.profile)


def _carried_out(change: Change, outcomes: Mapping[str, Outcome]) -> Applied | None:
    """Return the change with its result; None if no step of the change reached the platform."""
    own = [outcomes[step.id] for step in change.steps if step.id in outcomes]
    if change.steps and not any(outcome.result in _TRIED for outcome in own):
        return None
    created = (outcome.id for outcome in own if outcome.verb == "create" and outcome.result in _TRIED)
    good = [outcome for outcome in own if outcome.result in GOOD]
    return Applied(change, next(filter(None, created), None), complete=len(good) == len(change.steps))
