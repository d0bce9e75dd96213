"""What a rehearsal has found to be otherwise than planned: told with the plan, and with the rehearsal."""

from __future__ import annotations

from dpsync.model.plans.plan import Plan
from dpsync.model.plans.rehearsal import Rehearsal
from dpsync.render.layout.view import Block, Blocks, ViewEntry
from dpsync.render.words import rehearsal as words
from dpsync.render.words.visible import visible


def deviation_blocks(plan: Plan, rehearsal: Rehearsal) -> list[Block]:
    """What went otherwise than planned, each with its line of the files."""
    blocks = Blocks()
    entries = (
        ViewEntry(
            visible(one.step or one.address or one.what),
            words.deviation(one),
            where=one.origin or plan.origins.get(one.address or ""),
        )
        for one in rehearsal.deviations
    )
    headline = "NOT AS PLANNED:"
    blocks.add("deviation", "Not as planned: {}", "error", entries, fails=True, headline=headline, tone="bad")
    return blocks.found
