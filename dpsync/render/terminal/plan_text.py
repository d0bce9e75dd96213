"""A plan as text, for a command that shows one before anything is printed as a document."""

from __future__ import annotations

from collections.abc import Callable

from dpsync.model.plan import Plan, Rehearsal
from dpsync.model.text import NOWHERE
from dpsync.render.layout.deviations import deviations
from dpsync.render.layout.plan import plan_view
from dpsync.render.layout.view import View, ViewLine
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.view_text import Writer
from dpsync.render.words.rehearsal import two_lines


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False,
    complete: Callable[[str], str] = NOWHERE.complete,
) -> str:  # fmt: skip
    """The plan as text, without a trailing line break.

    `summary`: objects of one kind in one line. `quiet`: only what needs a person. `complete` adds the flags
    of this run to commands.
    """
    return Writer(paint, verbose, quiet, summary, complete).view(plan_view(plan))


def render_rehearsal(plan: Plan, rehearsal: Rehearsal, paint: Paint) -> str:
    """What the rehearsal of a plan has shown, in two lines below whatever was otherwise than planned."""
    lines = tuple(map(ViewLine, two_lines(rehearsal)))
    return Writer(paint).view(View(lines, tuple(deviations(plan, rehearsal))))
