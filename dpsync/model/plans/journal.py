"""What happened to each step, and the report of an apply. Only what was recorded is ever reported."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dpsync.model.frozen import Frozen
from dpsync.model.plans.plan import Origin, Plan
from dpsync.model.plans.remark import PlatformTrouble, Waiting

Result = Literal["done", "already", "requested", "failed", "stale", "unknown", "not-tried"]
"""done: answered with success. already: it was so before. requested: the platform asks its admins first.
stale: the object was changed since the plan was made. unknown: sent, and nobody knows whether it happened."""

GOOD: frozenset[Result] = frozenset({"done", "already", "requested"})


class Outcome(Frozen):
    """What became of one step. `error` is for people.

    Of a step that did not go well `origin` is where its entry is written, or the `field` of it that the
    platform's answer names.
    """

    step: str
    address: str
    verb: str
    phase: str | None = None
    result: Result
    error: str | None = None
    status: int | None = None
    id: str | None = None
    field: str | None = None
    origin: Origin | None = None
    sent: bool = False
    """Whether a request that writes may have reached the platform."""


class Unkept(Frozen):
    """A part of a field that was sent and accepted, and is another one now. `path` begins with the field."""

    address: str
    field: str
    path: str
    sent: Any = None
    live: Any = None
    way_out: str = ""
    """How the files get what is live."""


class Restorable(Frozen):
    """Something that was deleted: an entry that is pinned to its id brings it back, for a while."""

    address: str
    id: str
    days: int


class Report(Frozen):
    """What an apply did, step by step, and whether the platform is now as configured."""

    format: Literal["dpsync.report/1"] = "dpsync.report/1"
    plan: str
    """The digest of the plan that was applied."""
    outcomes: tuple[Outcome, ...] = ()
    interrupted: bool = False
    verified: bool = False
    """Whether the result could be read back."""
    remaining: Plan | None = None
    """What a new plan would still do; None when it could not be made."""
    started: tuple[PlatformTrouble, ...] = ()
    """Errors that the platform reports for written objects: new errors, or errors about sent values."""
    processing: tuple[Waiting, ...] = ()
    """Sent values that the platform was still processing when the apply ended."""
    unkept: tuple[Unkept, ...] = ()
    """What the platform dropped or made into something else, of what this apply wrote."""
    restorable: tuple[Restorable, ...] = ()
    """What was deleted and can be brought back for a while."""
    reads: int = 0
    """Reading requests that were sent over the client's life, repeated ones included."""
    writes: int = 0
    """Writing requests that were sent, repeated ones included."""
    journal: str | None = None
    trouble: tuple[str, ...] = Field(default_factory=tuple)
    """What kept the apply from going on or from being verified."""
    unrecorded: str | None = None
    """Why the ids file lacks what this apply has learned."""

    def count(self, *results: Result) -> int:
        return sum(outcome.result in results for outcome in self.outcomes)

    @property
    def sent(self) -> bool:
        """Whether anything may have been written."""
        return any(outcome.sent for outcome in self.outcomes)

    @property
    def as_declared(self) -> bool:
        """A new plan had no changes when it was made."""
        return self.verified and self.remaining is not None and self.remaining.empty

    @property
    def settled(self) -> bool:
        """It is as declared and stays so: no request is left that could be carried out later."""
        return self.as_declared and not self.count("unknown")

    @property
    def unsuccessful(self) -> int:
        """Number of steps that failed, were stale, or were not tried."""
        return self.count("failed", "stale", "not-tried")

    @property
    def converged(self) -> bool:
        """Whether every step succeeded, objects are as declared, and the platform processed all values."""
        return self.settled and not (self.unsuccessful or self.started or self.processing)

    @property
    def complete(self) -> bool:
        """Everything was done, proven and recorded, nothing was left to people, nothing has failed since."""
        blocked = self.remaining is not None and bool(self.remaining.blocked)
        return self.converged and not (blocked or self.count("requested")) and self.unrecorded is None
