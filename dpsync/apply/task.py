"""Define a step (one request of a plan) as its checks and its attempts see it, and the ids that steps share.

`LiveIds` maps addresses to live ids while an apply creates objects. A `Check` may object to a `StepTask`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from dpsync.model.address import Address
from dpsync.model.change import Change, Step
from dpsync.model.journal import SUCCESSFUL, Outcome, Result
from dpsync.model.plan import Origin


class LiveIds:
    """The live id of each entry during an apply, which adds the ids of created objects. Thread-safe."""

    def __init__(self, ids: Mapping[Address, str]) -> None:
        self._lock = threading.Lock()
        self._ids: dict[Address, str] = {}
        self._addresses: dict[str, set[Address]] = {}
        for address, id in ids.items():
            self.set(address, id)

    def get(self, address: Address) -> str | None:
        """Return the live id of an entry, None if its object is not created yet."""
        with self._lock:
            return self._ids.get(address)

    def set(self, address: Address, id: str) -> None:
        """Set the live id of an entry."""
        with self._lock:
            if (previous_id := self._ids.get(address)) is not None:
                self._addresses[previous_id].discard(address)
            self._ids[address] = id
            self._addresses.setdefault(id, set()).add(address)

    def addresses(self, id: str) -> frozenset[Address]:
        """Return every address with this id. A person has one id, but is a member entry in several places."""
        with self._lock:
            return frozenset(self._addresses.get(id, ()))


class StepTask(Struct, frozen=True):
    """A step of a plan with its change, and the positions of the plan's entries and fields in the files."""

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
        """Return an outcome of the step, with the position in the files that a failure is about.

        `answer` is the text with which the platform refused the request. If it names a field that the step
        changes, the position is that of the field, otherwise that of the entry.
        """
        field_name = self._mentioned_field(answer or "")
        origin = self.origins.get(self.change.address)
        if field_name is not None:
            origin = self.origins.get(str(self.change.location.field(field_name))) or origin
        return Outcome(
            step=self.step.id,
            address=self.change.address,
            verb=self.step.verb,
            phase=self.step.phase,
            result=result,
            error=error,
            status=status,
            id=id,
            field=field_name,
            origin=None if result in SUCCESSFUL else origin,
        )

    def _mentioned_field(self, answer: str) -> str | None:
        """Return the changed field that the platform's text names first, None if it names none."""
        fields_by_position = {
            match.start(): difference.field
            for difference in self.change.differences
            if (match := re.search(rf"(?<![\w-]){re.escape(difference.field)}(?![\w-])", answer))
        }
        return fields_by_position[min(fields_by_position)] if fields_by_position else None


class StaleStep(Struct, frozen=True):
    """Why a step must not be sent: the live state differs from the plan."""

    result: Result
    reason: str


Check = Callable[[StepTask], StaleStep | None]
"""Reads the state that a step depends on, right before the step is sent. A ClientError prevents it too."""
