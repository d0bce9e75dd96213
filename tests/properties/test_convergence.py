"""Apply, and the platform is as configured: nothing left to do, nothing touched that was not shown."""

from __future__ import annotations

from typing import Any

from dpsync.model.plan import Plan

from .laws import discard_if, law, plan_of, said
from .organizations import Draw, Fields
from .platform import Platform, adopts, case, fulfilled
from .states import differences, ids, settled

_FOLLOWS = {"auditEvents", "default", "updatedAt", "position", "defaultContent", "createdBy"}
"""What the platform changes by itself when something else is changed."""
_INSIDE = ("teams", "collections", "spaces", "sites", "structure", "children")
_PEOPLE = ("member", "team_member")


@law(100)
def test_second_apply_sends_no_writes(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5))
    platform.start(made)
    session = platform.session(made.configuration, parallelism=draw.pick([4, 1, 16]))
    planned = plan_of(platform, session)

    report = platform.apply(session, planned)
    assert report.complete, said(report)

    platform.writes()
    again = platform.apply(session)
    assert again.complete
    assert (again.writes, platform.writes()) == (0, [])


@law(60)
def test_apply_produces_declared_platform_state(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 5), explicit=True)
    discard_if(adopts(made), "a new entry has a name that is live")
    born = ids(made.world)
    expected = settled(fulfilled(platform, made), born)
    platform.start(made)
    session = platform.session(made.configuration)

    report = platform.apply(session, plan_of(platform, session))
    assert report.complete, said(report)

    state = settled(platform.state(), born)
    for org in (*state.values(), *expected.values()):
        assert set(org.pop("deleted")) <= born
    # A new entry with the path of one that goes is that one.
    assert [found for found in differences(state, expected) if not found.endswith("!= new")] == []


@law(25)
def test_apply_sends_each_planned_step_once(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=4)
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)

    report = platform.apply(session, planned)

    steps = [step for change in planned.plan.changes for step in change.steps]
    assert sorted(method for method, _, _ in platform.writes()) == sorted(step.method for step in steps)
    assert sorted(outcome.step for outcome in report.outcomes) == sorted(step.id for step in steps)


@law(40)
def test_apply_leaves_unplanned_objects_unchanged(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=4)
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)
    before = platform.state()

    platform.apply(session, planned)

    was, now = _things(before), _things(platform.state())
    for id in _untouched(planned.plan, was):
        assert now[id][1] == was[id][1]


def _things(state: Fields) -> dict[str, tuple[list[str], Fields]]:
    """Every object by id: what it is in, and what it is, without nulls and what follows from others."""
    found: dict[str, tuple[list[str], Fields]] = {}

    def collect(value: Any, around: list[str]) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                own = {k: v for k, v in value.items() if k not in _FOLLOWS and v is not None}
                found[value["id"]] = around, own
                around = [*around, value["id"]]
            for name in _INSIDE:
                collect(value.get(name), around)
        elif isinstance(value, list):
            for item in value:
                collect(item, around)

    collect(state["organizations"], [])
    for _, thing in found.values():
        for name in (*_INSIDE, "members", "adaptiveSchema"):  # objects of their own
            thing.pop(name, None)
    return found


def _untouched(plan: Plan, things: dict[str, tuple[list[str], Fields]]) -> list[str]:
    """Return the ids that a plan neither changes nor deletes, directly or with a parent."""
    named = {change.id for change in plan.changes}
    gone = {change.id for change in plan.changes if change.action == "delete" and change.kind not in _PEOPLE}
    return [id for id, (around, _) in things.items() if id not in named and not gone & set(around)]
