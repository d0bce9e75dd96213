"""What an apply has done, change by change."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsync.model.plans.change import Change
from dpsync.model.plans.journal import Report
from dpsync.model.plans.plan import Plan

_TRIED: Final = frozenset({"done", "already", "requested", "unknown"})


class Applied(Struct, frozen=True):
    """One change of an apply that was carried out, or may have been. `made`: the id of what it has made."""

    change: Change
    made: str | None = None


def applied(plan: Plan, report: Report | None = None) -> list[Applied]:
    """The changes of a plan that were carried out; without a report all of them may have been."""
    found = []
    for change in plan.changes:
        if report is None:
            found.append(Applied(change))
            continue
        steps = {step.id for step in change.steps}
        mine = [one for one in report.outcomes if one.step in steps and one.result in _TRIED]
        made = next((one.id for one in mine if one.verb == "create" and one.id is not None), None)
        if mine or not steps:
            found.append(Applied(change, made))
    return found
