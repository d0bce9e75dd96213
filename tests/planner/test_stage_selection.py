"""What comes along with a selected part: what it needs, and nothing that merely goes before it."""

from __future__ import annotations

from msgspec.structs import replace

from dpsync.planner.plan import make_plan

from .stages import Case
from .test_stage_urls import case, merged, site, with_


def selected(of: Case, *patterns: str, exclude: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """By address of what is planned, the phases or verbs of its steps."""
    sides = of.sides()
    plan = make_plan(replace(sides, options=replace(sides.options, select=patterns, exclude=exclude)))
    return {change.address: [step.phase or step.verb for step in change.steps] for change in plan.changes}


def test_plan_with_selected_section_keeps_site_visible() -> None:
    """What is withdrawn goes first, which is no reason to hide a site whose section alone is selected.

    Otherwise, a selected section hides the whole site around it.
    """
    hidden = merged(with_("section", "docs/l", title="Other"), site(published=False))
    hidden["section"]["docs/l"] = {**hidden["section"]["docs/l"], "title": "Other"}
    assert selected(case(hidden), "sites/docs/structure/l") == {"acme/sites/docs/structure/l": ["update"]}
    assert "withdraw" in selected(case(hidden), "sites")["acme/sites/docs"]
