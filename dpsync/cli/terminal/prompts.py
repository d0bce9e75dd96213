"""Ask a person at a terminal for a decision about a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsync.cli.terminal.output import Output
from dpsync.render.names import visible

if TYPE_CHECKING:
    from dpsync.model.plan import Plan


def confirm_plan(out: Output, plan: Plan) -> bool:
    """Return whether the person agrees to a plan with y."""
    from dpsync.render.plan_words import apply_question

    return out.ask(apply_question(plan)).lower() in ("y", "yes")


def confirm_deletes(out: Output, plan: Plan) -> bool:
    """Return whether the person types the number of deletes of a plan."""
    from dpsync.render.plan_words import delete_question

    return is_typed(out, delete_question(plan), str(plan.deletes))


def is_typed(out: Output, question: str, wanted: str) -> bool:
    """Return whether the person types exactly a text; say so if it is another one."""
    typed = out.ask(question)
    if typed and typed != wanted:
        out.complain(f"You typed {visible(typed)} instead of {visible(wanted)}, so dpsync confirms nothing.")
    return typed == wanted
