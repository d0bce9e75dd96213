"""The stages of a plan only read: whoever ran before, and how often, they say the same. Plain values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from dpsync.model.desired import Limits
from dpsync.model.plan import Plan
from dpsync.planner.coverage import coverage
from dpsync.planner.decide import Decisions, decide
from dpsync.planner.delete_questions import (
    EffectiveLimits,
    delete_questions,
    effective_limits,
    undecided_deletes,
)
from dpsync.planner.deletions import decide_deletions
from dpsync.planner.drift import find_drift
from dpsync.planner.guards import find_refusals
from dpsync.planner.identity_questions import (
    exchanged_name_refusals,
    identity_questions,
    possibly_renamed_entries,
)
from dpsync.planner.plan import make_plan, with_all_differences
from dpsync.planner.rebound_ids import find_candidates
from dpsync.planner.requests import write_steps
from dpsync.planner.restructuring import decide_restructuring

from .stages import Case

SPACES = {"space": {"a": {"title": "A"}, "old": {"title": "Old"}, "lost": {"title": "Lost"}}}
TEAMS = {"team": {"one": {"title": "One"}, "two": {"title": "Two"}, "three": {"title": "Three"}}}


def case() -> Case:
    """Return a case with creates, updates, deletes and answers; the last two answers fit no question."""
    return Case(
        {"space": {"a": {"title": "New"}, "b": {"title": "B"}}, "team": {"one": {"title": "Uno"}}},
        {**SPACES, **TEAMS},
        prune=["spaces", "teams"],
        base={**SPACES, **TEAMS},
        agreed=False,
        limits=Limits(1, 100),
        confirm=["delete acme/spaces/[Lost]", "delete 4", "delete acme/teams/[Four]", "delete 99"],
    )


def idle(plan: Plan) -> list[str]:
    return [note.address for note in plan.notes if note.address.startswith("--confirm")]


def test_sample_case_has_refusal_and_unneeded_answers() -> None:
    plan = make_plan(case().sides())
    assert {item.code for item in plan.refusals} == {"unclear"}
    assert idle(plan) == ['--confirm "delete 99"', '--confirm "delete acme/teams/[Four]"']


def bounds(decided: Decisions) -> EffectiveLimits:
    return effective_limits(decided.sides.desired.policy, decided.sides.base, decided.sides.names)


STAGES: dict[str, Callable[[Decisions], Any]] = {
    "steps": lambda decided: write_steps(decided),
    "alike": lambda decided: find_candidates(decided.sides),
    "content": undecided_deletes,
    "deletes": lambda decided: delete_questions(decided, undecided_deletes(decided), bounds(decided), [], []),
    "guards": lambda decided: list(find_refusals(decided, bounds(decided))),
    "unclear": lambda decided: identity_questions(
        decided, find_candidates(decided.sides), undecided_deletes(decided)
    ),
    "exchanged": lambda decided: list(exchanged_name_refusals(decided.sides)),
    "renamed": lambda decided: possibly_renamed_entries(decided, find_candidates(decided.sides)),
    "unwatched": lambda decided: coverage(decided.sides).count_unwatched(),
    "blocked": lambda decided: decided.blocking.reported(),
    "deletions": lambda decided: decide_deletions(decided.sides, decided.restructuring),
    "restructuring": lambda decided: decide_restructuring(decided.sides),
}


def test_planner_stages_give_same_results_in_any_order() -> None:
    forward, backward = decide(case().sides()), decide(case().sides())
    first = {name: repr(stage(forward)) for name, stage in STAGES.items()}
    then = {name: repr(STAGES[name](backward)) for name in reversed(STAGES)}
    again = {name: repr(stage(forward)) for name, stage in STAGES.items()}
    assert first == then == again


@pytest.mark.parametrize("order", list(permutations(("plan", "decide", "drift"))), ids="-".join)
def test_plan_is_independent_of_earlier_planner_calls(order: tuple[str, ...]) -> None:
    sides = case().sides()
    others: dict[str, Callable[[], object]] = {
        "plan": lambda: make_plan(sides),
        "decide": lambda: {name: stage(decide(sides)) for name, stage in STAGES.items()},
        "drift": lambda: find_drift(sides, with_all_differences(sides, make_plan(sides)), with_watched=True),
    }
    for name in order:
        others[name]()
    assert make_plan(sides) == make_plan(case().sides())
