"""The report of an apply: what went wrong is listed, what was merely not tried is counted."""

from __future__ import annotations

import pytest

from dpsync.model.change import Change, Effect, PlatformTrouble, Step
from dpsync.model.journal import Outcome, Report
from dpsync.model.plan import Origin, Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_outcome, render_plan, render_report


def report(untried: int) -> Report:
    failed = Outcome(
        step="acme/teams/a create", address="acme/teams/a", verb="create", result="failed", error="no"
    )
    steps = [f"acme/teams/t{n} create" for n in range(untried)]
    rest = [Outcome(step=name, address=name.split()[0], verb="create", result="not-tried") for name in steps]
    return Report(plan="0" * 64, outcomes=(*rest, failed), interrupted=True)


@pytest.mark.parametrize("more", [0, 1, 324])
def test_apply_report_lists_ten_not_tried_steps(more: int) -> None:
    lines = render_report(Plan(), report(10 + more), Paint(False)).splitlines()
    assert sum(line.strip().startswith("not-tried") for line in lines) == 10
    assert any(f"and {more} more steps that were not tried" in line for line in lines) is (more > 0)
    assert any("failed  acme/teams/a create: no" in line for line in lines)
    assert f"1 step failed, {10 + more} not tried." in "\n".join(lines)


def test_verbose_apply_report_lists_all_steps() -> None:
    lines = render_report(Plan(), report(15), Paint(False), verbose=1).splitlines()
    assert sum(line.strip().startswith("not-tried") for line in lines) == 15


@pytest.mark.parametrize(
    ("result", "field", "lines"),
    [
        ("failed", None, ["   failed  acme/teams/a create: no", "       at  teams.yaml:7"]),
        ("stale", "title", ["    stale  acme/teams/a create: no", "       at  teams.yaml:7 (title)"]),
        ("not-tried", None, ["not-tried  acme/teams/a create: no"]),
    ],
)
def test_failed_step_shows_its_file_position(result: str, field: str | None, lines: list[str]) -> None:
    place = Origin(file="teams.yaml", line=7, column=3)
    outcome = Outcome(
        step="acme/teams/a create", address="acme/teams/a", verb="create", error="no",
        result=result, field=field, origin=place,
    )  # fmt: skip
    assert render_outcome(outcome, Paint(False)).splitlines() == lines


TEAM = {"a": "create", "b": "update", "c": "delete"}


def planned() -> Plan:
    """Return a plan that creates, updates and deletes one team each; two memberships go with the last one."""
    along = tuple(Effect(address=f"acme/teams/c/members/{name}", what="goes with it") for name in "xy")
    return Plan(
        changes=tuple(
            Change(
                address=f"acme/teams/{key}", kind="team", action=verb, effects=along if key == "c" else (),
                steps=(Step(id=key, verb=verb, method="PUT", path="/teams", repeat="safe"),),
            )
            for key, verb in TEAM.items()
        )
    )  # fmt: skip


def reported(*results: str, **more: object) -> Report:
    outcomes = tuple(
        Outcome(step=key, address=f"acme/teams/{key}", verb=verb, result=result, sent=result != "not-tried")
        for (key, verb), result in zip(TEAM.items(), results, strict=True)
    )
    return Report(plan="0" * 64, outcomes=outcomes, **more)


DONE = ("done", "done", "done")
ALL = "Applied: 1 created, 1 changed, 3 deleted"
VERIFIED = "Verified: a new plan has no changes."
LEFT = "Incomplete: a new plan still has changes."
RESULTS = {
    "everything": (DONE, 2.4, {}, f"{ALL}, in 2 s. {VERIFIED}"),
    "in no time": (DONE, 0.1, {}, f"{ALL}, in 1 s. {VERIFIED}"),
    "for minutes": (DONE, 200.0, {}, f"{ALL}, in 3 min. {VERIFIED}"),
    "not verified": (
        DONE, None, {"remaining": None, "verified": False},
        f"{ALL}. Not verified. To see the remaining changes: dpsync plan",
    ),
    "a part": (
        ("done", "failed", "not-tried"), 2.0, {"remaining": planned()},
        f"Applied: 1 created, in 2 s; 1 step failed, 1 not tried. {LEFT}",
    ),
    "nothing": (
        ("failed", "stale", "not-tried"), 2.0, {"remaining": planned()},
        f"Nothing was applied: 1 step failed, 1 stale, 1 not tried. {LEFT}",
    ),
    "only requested": (
        ("requested", "not-tried", "not-tried"), 2.0, {"remaining": planned()},
        f"Perhaps nothing was applied: 1 step requested, 2 not tried. {LEFT}",
    ),
    "nobody knows": (
        ("unknown", "not-tried", "not-tried"), 2.0, {"interrupted": True},
        "Perhaps nothing was applied: 1 step unknown, 2 not tried. "
        "Interrupted. To finish the rest: dpsync apply",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RESULTS)
def test_apply_result_is_last_line_of_report(case: str) -> None:
    results, seconds, more, line = RESULTS[case]
    report = reported(*results, **{"remaining": Plan(), "verified": True, **more})
    printed = render_report(planned(), report, Paint(False), seconds=seconds)
    assert printed.splitlines()[-1] == line


@pytest.mark.parametrize(
    ("case", "style"),
    [("everything", "32"), ("a part", "31"), ("nobody knows", "33")],
    ids=["green", "red", "yellow"],
)
def test_apply_result_color_depends_on_outcome(case: str, style: str) -> None:
    results, _, more, _ = RESULTS[case]
    report = reported(*results, **{"remaining": Plan(), "verified": True, **more})
    assert render_report(planned(), report, Paint(True)).splitlines()[-1].startswith(f"\x1b[{style}m")


def test_apply_report_does_not_repeat_plan_problems() -> None:
    """Otherwise, each apply lists the problems twice that were there before it."""
    problem = PlatformTrouble(address="acme/saml/okta", what="it is not active")
    plan = planned().model_copy(update={"trouble": (problem,)})
    report = reported(*DONE, remaining=Plan(trouble=(problem,)), verified=True)
    assert len(render_report(plan, report, Paint(False)).splitlines()) == 1


def test_moved_object_is_counted_as_in_plan() -> None:
    """Otherwise, a plan says "1 to move" and the report of its apply says "1 changed"."""
    step = Step(id="b", verb="move", method="POST", path="/move", repeat="safe")
    moved = Change(address="acme/spaces/b", kind="space", action="update", moved="after a", steps=(step,))
    plan = Plan(changes=(moved,))
    outcome = Outcome(step="b", address="acme/spaces/b", verb="move", result="done", sent=True)
    report = Report(plan="0" * 64, outcomes=(outcome,), remaining=Plan(), verified=True)
    assert "Plan: 1 to move." in render_plan(plan, Paint(False))
    assert render_report(plan, report, Paint(False)).startswith("Applied: 1 moved.")
