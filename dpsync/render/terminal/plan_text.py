"""A plan as text, for a command that shows one before anything is printed as a document."""

from __future__ import annotations

from dpsync.model.plans.plan import Plan
from dpsync.render.layout.plan import plan_view
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.view_text import Writer


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False
) -> str:
    """The plan as text, without a trailing line break.

    `summary`: one line for each address. `quiet`: only what needs a person.
    """
    return Writer(paint, verbose, quiet, summary).view(plan_view(plan))
