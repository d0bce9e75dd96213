"""What a task is: files before, an edit, the question that is wanted, and what must be live after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .places import SHALLOW, Earlier, Edit, Start


@dataclass(frozen=True)
class Question:
    """A question that is wanted, and what answers it."""

    confirm: tuple[str, ...] = ()
    """Each a regular expression. The question must print an answer that matches, and these answer it."""
    edit: Edit | None = None
    """Lines in the files that answer it."""
    optional: bool = False
    """Whether it may also be planned without the question."""
    code: int = 4
    mentions: tuple[str, ...] = ()
    """Words that the question must contain."""


@dataclass(frozen=True)
class Task:
    """One piece of work. Nothing may change but what `renamed`, `new` and `gone` say."""

    name: str
    start: Start
    edit: Edit
    asks: Question | None = None
    asks_in: dict[str, Question | None] = field(default_factory=dict)
    """Where another answer is wanted, by the name of the place."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Titles by id."""
    new: tuple[str, ...] = ()
    """Titles."""
    gone: tuple[str, ...] = ()
    """Ids."""
    earlier: tuple[Earlier, ...] = ()
    terminal: bool = False
    """Whether it is also done at a terminal."""
    lines: int | None = None
    """How many lines the plan may have."""
    not_in: tuple[str, ...] = ()
    """The places in which no single result is the wanted one."""

    def question(self, place: str) -> Question | None:
        return self.asks_in.get(place, self.asks)


@dataclass(frozen=True)
class Accident:
    """An edit with damage. Without an answer nothing is written; the harm: a twin or a lost object."""

    name: str
    start: Start
    edit: Edit
    places: tuple[str, ...]
    mentions: tuple[str, ...] = ()
    earlier: tuple[Earlier, ...] = ()


DELETES = r"delete \d+"
NAMED = r"delete acme/.*"
NUMBER = Question((DELETES,))
"""A delete of content."""
CLONE = {SHALLOW.name: Question((DELETES + "|" + NAMED,), mentions=("fetch-depth: 0",))}
"""A clone of one commit cannot tell whether the entry was removed."""


def renamed(edit: Edit, optional: bool = False) -> dict[str, Any]:
    """Key and title changed at once: one question, which a line in the files answers."""
    return {"asks": Question(edit=edit, optional=optional)}
