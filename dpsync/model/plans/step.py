"""A step of a plan: one request, what it needs, and what it may do twice."""

from __future__ import annotations

from typing import Any, Literal

from dpsync.model.frozen import Frozen
from dpsync.model.plans.addressed import Addressed

Verb = Literal["create", "restore", "transfer", "update", "move", "act", "await", "delete"]

Phase = Literal["free", "place", "link", "default", "withdraw", "expose", "clear"]
"""What a step stands where it does for. A plain one has none.

free: gives up a value that somebody else is about to take. place: brings into what it will lie in. link: a
field with a request of its own. default: an exclusive flag. withdraw, expose: less or more visible, before
and after all else. clear: deletes before what comes in its place, and not at the end.
"""

Repeat = Literal["safe", "look_up", "never"]
"""Whether a request may be sent again when nobody knows what became of it. No method says so: each call does.

safe: sent twice it does the same as sent once. look_up: sent twice it may make two; what it makes is looked
for, and it is not sent again. never: it only acts, and nothing that could be read tells whether it did.
"""


class Gives(Addressed):
    """After the step this address has the id at `pointer` in the answer (or `id`, when known before)."""

    pointer: str | None = None
    id: Any = None


class Step(Frozen):
    """A single request.

    `path` and `body` hold ids of what is live and markers for what is not made yet. `needs` must have
    succeeded, `follows` must have ended. `repeat` says whether it may be sent again when its outcome is
    unknown: `safe`, `look_up` (what it makes is looked for instead) or `never`.
    """

    id: str
    verb: Verb
    phase: Phase | None = None
    method: str
    path: str
    body: Any = None
    gives: tuple[Gives, ...] = ()
    needs: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    repeat: Repeat
    answers: str | None = None
    whole: bool = False
    summary: str = ""
