"""The words in which every output tells what it is about: platform, organization, part, profile."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.render.words.plan import PlanOrDrift
from dpsync.render.words.visible import visible

FULL = "full"
"""The profile that goes without saying."""


def head(plan: PlanOrDrift) -> list[str]:
    """What this is about: where it goes, then environment, profile and part, where they are not the usual."""
    return [*_platform(plan), *_environment(plan), *_profile(plan), *_part(plan)]


def part_lines(plan: PlanOrDrift) -> Iterator[str]:
    """What belongs to a part although nobody named it, and what needs it."""
    if plan.part is not None:
        for item in plan.part.also:
            yield f"also planned: {visible(item.address)}, because {visible(item.needed_by)} needs it"


def _platform(plan: PlanOrDrift) -> Iterator[str]:
    """The first line: nobody should apply to another platform or organization than they think."""
    if not plan.platform:
        return
    names = [
        visible(item.address)
        if item.id == item.address
        else f"{visible(item.address)} (id {visible(item.id)})"
        for item in plan.organizations
    ]
    named = ", ".join(names) or "none"
    whose = f"organizations: {named}" if len(names) > 1 else f"organization: {named}"
    yield f"platform: {visible(plan.platform)}, {whose}"


def _profile(plan: PlanOrDrift) -> Iterator[str]:
    if plan.profile != FULL:
        yield f"API version (profile): {visible(plan.profile)}"


def _part(plan: PlanOrDrift) -> Iterator[str]:
    if plan.part is None:
        return
    for word, patterns in (("only", plan.part.select), ("without", plan.part.exclude)):
        if patterns:
            yield f"{word}: {', '.join(visible(text) for text in patterns)}"


def _environment(plan: PlanOrDrift) -> Iterator[str]:
    if plan.environment:
        yield f"environment: {visible(plan.environment)}"
    elif plan.environments:
        known = ", ".join(visible(name) for name in plan.environments)
        yield f"environment: none (to choose an environment, add --env with one of: {known})"
