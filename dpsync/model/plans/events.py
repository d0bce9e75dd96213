"""The lines of a journal: what an apply records, one event each, in the order in which it happened.

Together they are all that is known of an apply: its report is made from them and from nothing else. No
secret is in them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter

from dpsync.model.frozen import Frozen
from dpsync.model.plans.journal import Outcome, Restorable
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.rehearsal import Rehearsal

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
EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
"""Reads one line."""
