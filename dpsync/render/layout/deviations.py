"""What happened otherwise than planned in a rehearsal: shown with the plan, and with the rehearsal."""

from __future__ import annotations

from dpsync.model.plan import Plan, Rehearsal
from dpsync.render.layout.view import Block, Blocks, ViewEntry
from dpsync.render.words import rehearsal as words
from dpsync.render.words.visible import visible


def deviations(plan: Plan, rehearsal: Rehearsal) -> list[Block]:
    """Return each deviation, with its line in the files."""
    blocks = Blocks()
    entries = (
        ViewEntry(
            visible(one.address or ""),
            visible(one.step or one.address or one.what),
            message=words.deviation(one),
            sign="x",
            where=one.origin or plan.origins.get(one.address or ""),
        )
        for one in rehearsal.deviations
    )
    blocks.add("deviation", "Problems of the rehearsal: {}", "error", entries, fails=True)
    return blocks.found
