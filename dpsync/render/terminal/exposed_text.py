"""What a plan makes more visible or more powerful, as a block of lines for a terminal."""

from __future__ import annotations

from dpsync.model.plans.plan import Plan
from dpsync.render.terminal.beside_text import behind
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.plan import exposed_headline
from dpsync.render.words.visible import visible


def render_exposures(plan: Plan, paint: Paint, summary: bool = False) -> str:
    """A headline with the number, and each of them; nothing where there are none."""
    if not plan.exposures:
        return ""
    lines = [paint(exposed_headline(plan), "magenta bold")]
    for item in plan.exposures:
        head, said = paint(f"  ^ {visible(item.address)}", "magenta"), visible(item.words)
        where = behind(plan, str(item.location.field(item.field)), paint)
        lines += [f"{head}  {said}"] if summary else [f"{head}{where}", f"      {said}"]
    return "\n".join(lines)
