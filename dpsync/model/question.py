"""Define what a plan asks: candidates (live objects that an entry could be), and possible answers.

Not in `diagnostic`, because these are pydantic models, whose import takes long.
"""

from __future__ import annotations

from dpsync.model.frozen import Frozen


class Candidate(Frozen):
    """A live object that an entry could be, and that nobody claims."""

    address: str
    id: str
    title: str
    why: str = ""
    """What speaks for it; empty where nothing does but that it is there."""
    changed: str | None = None
    """When it was last changed, as the platform says it."""
    shown_in: tuple[str, ...] = ()
    """The addresses of what shows it, as far as was read."""
    pages: int | None = None
    """How many pages it holds, where that could be read."""


class WayOut(Frozen):
    """One answer to a refusal: what to add to the entry at `address`, or to say on the command line."""

    address: str
    add: str
    means: str


class Refusal(Frozen):
    """Why the plan may not be applied, and the way out: in words, and where it is a question as data."""

    code: str
    address: str
    message: str
    way_out: str
    candidates: tuple[Candidate, ...] = ()
    answers: tuple[WayOut, ...] = ()
