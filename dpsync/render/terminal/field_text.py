"""A field with both sides, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from click import unstyle

from dpsync.model.plans.change import Difference
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.values import big, inside, show

COLUMNS: Final = 80
"""A line that is no longer is whole on any terminal."""


def render_difference(item: Difference, width: int, created: bool, paint: Paint) -> Iterator[str]:
    name = item.field.ljust(width)
    if big(item.before) or big(item.after):
        yield f"    {name}  {'' if created else 'changes:'}".rstrip()
        for line in inside(item):
            yield f"    {' ' * width}  {line}"
        return
    if created:
        yield f"    {name}  {show(item.after)}"
    else:
        arrow = paint("→", "dim")
        yield f"    {name}  {show(item.before)} {arrow} {show(item.after)}"


def with_cause(line: str, why: str, indent: int, paint: Paint) -> list[str]:
    """A line with why it differs behind it, or below it where a terminal would be too narrow."""
    if not why:
        return [line]
    cause = f"({why})"
    if len(unstyle(line)) + 2 + len(cause) <= COLUMNS:
        return [f"{line}  {paint(cause, 'dim')}"]
    return [line, f"{' ' * indent}{paint(cause, 'dim')}"]
