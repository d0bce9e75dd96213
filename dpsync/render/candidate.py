"""Describe a live object that an entry could be (a candidate), for the questions of plans and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsync.model.text import format_count
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.model.question import Candidate


def describe_candidate(candidate: Candidate) -> str:
    """Return the title of a live object that an entry could be, with facts by which a person recognizes it.

    These are its id, the reason for the proposal, its number of pages, and where it is shown.
    """
    facts = [candidate.id, candidate.why]
    facts += [format_count(candidate.pages, "page")] if candidate.pages is not None else []
    facts += [f"last changed {candidate.changed}"] if candidate.changed else []
    facts += [f"shown in {', '.join(candidate.shown_in)}"] if candidate.shown_in else []
    return f'"{visible(candidate.title)}": ' + visible(", ".join(fact for fact in facts if fact))
