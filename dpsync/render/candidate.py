"""Describe a candidate for an entry. Apart from `plan_words`, because findings need no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsync.model.text import format_count
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.model.question import Candidate


def describe_candidate(one: Candidate) -> str:
    """Return the title of a live object with its id, the reason, its pages and where it is shown."""
    known = [one.id, one.why]
    known += [format_count(one.pages, "page")] if one.pages is not None else []
    known += [f"last changed {one.changed}"] if one.changed else []
    known += [f"shown in {', '.join(one.shown_in)}"] if one.shown_in else []
    return f'"{visible(one.title)}": ' + visible(", ".join(fact for fact in known if fact))
