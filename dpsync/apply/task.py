"""Define a step as checks and attempts see it, and the ids that all steps share.

Which live object each address is, while things are made: all steps of an apply read it and write to it.

The step of a plan as checks and attempts see it, and what a check may object to it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from dpsync.model.address import Address
from dpsync.model.change import Change, Step
from dpsync.model.journal import GOOD, Outcome, Result
from dpsync.model.plan import Origin


class Ids:
    """Ids by address. Threads share it, so that every access takes the lock."""

    def __init__(self, known: Mapping[Address, str]) -> None:
        self._lock = threading.Lock()
        self._ids: dict[Address, str] = {}
        self._addresses: dict[str, set[Address]] = {}
        for address, id in known.items():
            self.put(address, id)

    def get(self, address: Address) -> str | None:
        with self._lock:
            return self._ids.get(address)

    def put(self, address: Address, id: str) -> None:
        with self._lock:
            if (before := self._ids.get(address)) is not None:
                self._addresses[before].discard(address)
            self._ids[address] = id
            self._addresses.setdefault(id, set()).add(address)

    def addresses(self, id: str) -> frozenset[Address]:
        """Every address with this id: that of a person is the id of a member in several places."""
        with self._lock:
            return frozenset(self._addresses.get(id, ()))


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
