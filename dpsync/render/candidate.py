"""The words that tell what an entry could be. Findings have them, too: it imports no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsync.model.text import counted
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.model.question import Candidate


def candidate(one: Candidate) -> str:
    """The title of a live object, and what is known of it."""
    known = [one.id, one.why]
    known += [counted(one.pages, "page")] if one.pages is not None else []
    known += [f"last changed {one.changed}"] if one.changed else []
    known += [f"shown in {', '.join(one.shown_in)}"] if one.shown_in else []
    return f'"{visible(one.title)}": ' + visible(", ".join(fact for fact in known if fact))
