"""The first lines of a plan and of drift: which platform, which organization, which part, which profile."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.render.paint import Paint
from dpsync.render.plan_words import PlanOrDrift
from dpsync.render.visible import visible

FULL = "full"
"""The profile that goes without saying."""


def render_head(plan: PlanOrDrift, paint: Paint) -> str:
    """What this is about: where it goes, then environment, profile and part, where they are not the usual."""
    about = (_platform(plan, paint), _environment(plan, paint), _profile(plan, paint), *_part(plan, paint))
    return "\n".join(line for line in about if line)


def _platform(plan: PlanOrDrift, paint: Paint) -> str:
    """The first line: nobody should apply to another platform or organization than they think."""
    if not plan.platform:
        return ""
    names = [
        visible(item.address)
        if item.id == item.address
        else f"{visible(item.address)} (id {visible(item.id)})"
        for item in plan.organizations
    ]
    named = ", ".join(names) or "none"
    whose = f"organizations: {named}" if len(names) > 1 else f"organization: {named}"
    return paint(f"platform: {visible(plan.platform)}, {whose}", "bold")


def _profile(plan: PlanOrDrift, paint: Paint) -> str:
    if plan.profile == FULL:
        return ""
    return paint(
        f"profile: {visible(plan.profile)}; the server is taken to have its operations alone", "bold"
    )


def _part(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    if plan.part is None:
        return
    for word, patterns in (("only", plan.part.select), ("without", plan.part.exclude)):
        if patterns:
            yield paint(f"{word}: {', '.join(visible(text) for text in patterns)}", "bold")
    for item in plan.part.also:
        yield f"also: {visible(item.address)}, needed by {visible(item.needed_by)}"


def _environment(plan: PlanOrDrift, paint: Paint) -> str:
    if plan.environment:
        return paint(f"environment: {visible(plan.environment)}", "bold")
    if plan.environments:
        known = ", ".join(visible(name) for name in plan.environments)
        return paint(f"environment: none; the top-level values (--env chooses one: {known})", "bold")
    return ""


# The tree.
