"""The last lines of a plan, and the first one of a long plan: what would be done, and whether it may be.

Reads the plan and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsync.model.plans.plan import DIGITS, Plan
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.plan import (
    PlanOrDrift,
    base,
    divided,
    effort,
    in_trouble,
    refused,
    summary,
    twice,
    unwatched,
)

SCREEN: Final = 24
"""Lines that a person sees at once. What is longer says its summary first, too."""


def with_summary_first(first: str, parts: list[str]) -> str:
    """The parts of an output as one text. Where that is longer than a screen, `first` is its first line."""
    text = "\n\n".join(part for part in parts if part)
    return f"{first}\n{text}" if text.count("\n") >= SCREEN else text


def verdict(plan: Plan, paint: Paint) -> str:
    """What would be done, in one sentence, and whether it may be."""
    said = paint(summary(plan), "green bold" if plan.empty else "bold")
    return said if plan.can_apply else f"{said} {paint(refused(plan), 'red bold')}"


def render_summary(plan: Plan, paint: Paint, verbose: int = 0) -> str:
    """The same with what it costs, and what the plan was made with."""
    lines = [f"{verdict(plan, paint)} {paint(effort(plan), 'dim')}{in_trouble(plan)}"]
    lines += [f"  {text}" for text in divided(plan)]
    if not plan.empty:
        lines.append(f"digest {plan.digest[:DIGITS]}")
    return "\n".join([*lines, *render_base(plan, paint, verbose), *render_unwatched(plan, paint)])


def render_base(plan: PlanOrDrift, paint: Paint, verbose: int = 0) -> Iterator[str]:
    """Which commit it was, and what of this change is live already."""
    if text := base(plan):
        yield paint(text, "dim")
    if text := twice(plan, None if verbose else 3):
        yield paint(text, "dim")


def render_unwatched(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    if text := unwatched(plan):
        yield paint(text, "dim")
