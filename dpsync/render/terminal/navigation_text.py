"""The navigation of a site before and after, as lines for a terminal."""

from __future__ import annotations

from dpsync.model.plans.plan import Plan
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.navigation import NavigationLine, merged
from dpsync.render.words.visible import visible

WIDTH = 80
_STYLES = {"+": "green", "-": "red", "~": "yellow", ">": "cyan", " ": "dim"}


def render_navigation(plan: Plan, paint: Paint) -> str:
    """A headline and a tree for each navigation that changes; nothing where none does."""
    blocks = []
    for change in plan.navigation:
        lines = [paint(f"NAVIGATION of {visible(change.address)}", "bold")]
        if not change.known:
            lines.append("  not known before: the platform decides what becomes of what is at the root now")
        lines += [_line_text(line, paint) for line in (merged(change) if change.known else ())]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _line_text(line: NavigationLine, paint: Paint) -> str:
    text = f"  {line.sign} {'  ' * line.depth}{visible(line.text)}"
    return paint(text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…", _STYLES[line.sign])
