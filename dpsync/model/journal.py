"""Define the events of a journal, and the report of an apply that is made from them.

A journal is the log file of one apply, one event per line, in the order in which the events happened. The
report of an apply follows from its journal alone. No secret is in either.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from dpsync.model.change import PlatformTrouble, Waiting
from dpsync.model.frozen import Frozen
from dpsync.model.plan import Origin, Plan, Rehearsal

Result = Literal["done", "already", "requested", "failed", "stale", "unknown", "not-tried"]
"""done: answered with success. already: it was so before. requested: the platform asks its admins first.
stale: the object was changed since the plan was made. unknown: sent, and nobody knows whether it happened."""

APPLIED: frozenset[Result] = frozenset({"done", "already"})
"""The results of a step whose change is in effect."""
SUCCESSFUL: frozenset[Result] = APPLIED | {"requested"}


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
        """Return the number of steps with one of these results."""
        return sum(outcome.result in results for outcome in self.outcomes)

    @property
    def applied_steps(self) -> set[str]:
        """Return the ids of the steps whose change is in effect."""
        return {outcome.step for outcome in self.outcomes if outcome.result in APPLIED}

    @property
    def may_have_written(self) -> bool:
        """Return whether anything may have been written."""
        return any(outcome.sent for outcome in self.outcomes)

    @property
    def as_declared(self) -> bool:
        """Return whether a new plan after the apply had no changes."""
        return self.verified and self.remaining is not None and self.remaining.empty

    @property
    def settled(self) -> bool:
        """Return whether a new plan has no changes, and no request may still be carried out later."""
        return self.as_declared and not self.count("unknown")

    @property
    def unsuccessful(self) -> int:
        """Return the number of steps that failed, were stale, or were not tried."""
        return self.count("failed", "stale", "not-tried")

    @property
    def converged(self) -> bool:
        """Return whether every step succeeded, and the platform has and processed all declared values."""
        return self.settled and not (self.unsuccessful or self.started or self.processing)

    @property
    def complete(self) -> bool:
        """Return whether everything is done, verified and recorded, and nothing is left for people to do."""
        blocked = self.remaining is not None and bool(self.remaining.blocked)
        return self.converged and not (blocked or self.count("requested")) and self.unrecorded is None


FORMAT: Final = "dpsync.journal/1"


class JournalEvent(Frozen):
    """What each event has. `at` is when it was put on disk, by the clock of the machine."""

    event: str
    at: datetime | None = None


class Flags(Frozen):
    """What was typed to start the apply: the commands that its report prints say it, too."""

    directory: str | None = None
    files: tuple[str, ...] = ()
    environment: str | None = None
    profile: str | None = None
    ids: str | None = None
    base: str | None = None


class JournalOpened(JournalEvent):
    """The first line of each journal."""

    event: Literal["journal"] = "journal"
    format: Literal["dpsync.journal/1"] = "dpsync.journal/1"
    dpsync: str
    """The version of dpsync."""
    flags: Flags = Flags()
    user: str | None = None
    """Who ran the apply: the actor of the workflow, or the user of the operating system."""
    reverts: str | None = None
    """The file name of the journal or saved plan that this apply reverts."""


class Rehearsed(JournalEvent):
    """What the rehearsal of the plan has shown, where there was one. Nothing was sent before this line."""

    event: Literal["rehearsal"] = "rehearsal"
    rehearsal: Rehearsal


class Started(JournalEvent):
    """The plan that is carried out now. Nothing was sent before this line."""

    event: Literal["start"] = "start"
    digest: str
    """Of the plan, before secrets were masked in it."""
    steps: int
    plan: Plan
    restorable: tuple[Restorable, ...] = ()
    """What the plan deletes and can be brought back for a while."""


class Intended(JournalEvent):
    """A request is about to be sent. `address` and `id` are those of what it changes, where that is live."""

    event: Literal["intent"] = "intent"
    step: str
    method: str
    address: str | None = None
    id: str | None = None


class StepEnded(JournalEvent):
    """What became of one step, and how long it took (seconds)."""

    event: Literal["outcome"] = "outcome"
    outcome: Outcome
    seconds: float = 0.0


class NotTried(JournalEvent):
    """Steps that were not tried, and why."""

    event: Literal["not-tried"] = "not-tried"
    steps: tuple[str, ...]
    why: str


class Closed(JournalEvent):
    """The end of an apply, and the plan that proves it."""

    event: Literal["end"] = "end"
    interrupted: bool = False
    remaining: Plan | None = None
    """What a new plan would still do; None when it could not be made."""
    reads: int = 0
    writes: int = 0
    trouble: tuple[str, ...] = ()
    unrecorded: str | None = None


class Exited(JournalEvent):
    """The exit code of the apply. A signal may have decided on it."""

    event: Literal["exit"] = "exit"
    code: int


Event = JournalOpened | Rehearsed | Started | Intended | StepEnded | NotTried | Closed | Exited
EVENT_ADAPTER: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
"""Reads one line."""
