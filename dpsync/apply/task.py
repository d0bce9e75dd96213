"""The step of a plan as checks and attempts see it, and what a check may object to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsync.model.journal import Outcome, Result
from dpsync.model.plan import Change, Step


@dataclass(frozen=True)
class Task:
    """A step with the change that it belongs to."""

    change: Change
    step: Step

    def outcome(
        self,
        result: Result,
        error: str | None = None,
        status: int | None = None,
        id: str | None = None,
    ) -> Outcome:
        """What became of the step."""
        return Outcome(
            step=self.step.id,
            address=self.change.address,
            verb=self.step.verb,
            phase=self.step.phase,
            result=result,
            error=error,
            status=status,
            id=id,
        )


@dataclass(frozen=True)
class Objection:
    """Why a step must not be sent: the platform is not what the plan rests on."""

    result: Result
    reason: str


Check = Callable[[Task], Objection | None]
"""Reads what one step rests on right before it is sent. May raise ClientError: then it is not sent either."""
