"""The step of a plan as checks and attempts see it, and what a check may object to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from dpsync.model.change import Change, Step
from dpsync.model.journal import GOOD, Outcome, Result
from dpsync.model.plan import Origin


class Task(Struct, frozen=True):
    """A step with the change that it belongs to, and where the entries and fields of the plan are written."""

    change: Change
    step: Step
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def outcome(
        self,
        result: Result,
        error: str | None = None,
        status: int | None = None,
        id: str | None = None,
        answer: str | None = None,
    ) -> Outcome:
        """What became of the step. `answer`: what the platform said when it refused."""
        named = self._named(answer or "")
        origin = self.origins.get(self.change.address)
        if named is not None:
            origin = self.origins.get(str(self.change.location.field(named))) or origin
        return Outcome(
            step=self.step.id,
            address=self.change.address,
            verb=self.step.verb,
            phase=self.step.phase,
            result=result,
            error=error,
            status=status,
            id=id,
            field=named,
            origin=None if result in GOOD else origin,
        )

    def _named(self, answer: str) -> str | None:
        """The field of the change that the platform's words name first, as a word of its own."""
        found = {
            place.start(): item.field
            for item in self.change.differences
            if (place := re.search(rf"(?<![\w-]){re.escape(item.field)}(?![\w-])", answer))
        }
        return found[min(found)] if found else None


class Objection(Struct, frozen=True):
    """Why a step must not be sent: the platform is not what the plan rests on."""

    result: Result
    reason: str


Check = Callable[[Task], Objection | None]
"""Reads what one step rests on right before it is sent. May raise ClientError: then it is not sent either."""
