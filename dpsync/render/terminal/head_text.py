"""The first lines of a plan and of drift: which platform, which organization, which part, which profile."""

from __future__ import annotations

from dpsync.render.terminal.paint import Paint
from dpsync.render.words.head import along, head
from dpsync.render.words.plan import PlanOrDrift


def render_head(plan: PlanOrDrift, paint: Paint) -> str:
    """What this is about, one line each."""
    return "\n".join([*(paint(line, "bold") for line in head(plan)), *along(plan)])
