"""Labels as text: behind the value, whole on any terminal."""

from __future__ import annotations

import re

import pytest

from dpsync.model.findings.question import Refusal
from dpsync.model.plans.cause import Cause
from dpsync.model.plans.change import Action, Change, Difference
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.plan import Plan
from dpsync.render.json.conversion import plan_document
from dpsync.render.layout.views import view
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.terminal.view_text import COLUMNS
from tests.render.drift_text import render_drift

PLAIN, COLOURED = Paint(on=False), Paint(on=True)
COMMIT = "0" * 40


def change(
    address: str,
    action: Action = "update",
    cause: Cause | None = None,
    moved: str | None = None,
    **fields: Cause,
) -> Change:
    found = tuple(Difference(field=name, before="a", after="b", cause=why) for name, why in fields.items())
    return Change(
        address=address, kind="team", action=action, label="L", cause=cause, moved=moved, differences=found
    )


REFUSED = Refusal(address="acme/teams/x", code="DP999", message="who is it", way_out="say so")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "1 reason: acme/teams/x: who is it (DP999)."),
        ((REFUSED,), "2 reasons: acme/teams/x: who is it (DP999), and 1 more."),
    ],
)
def test_a_plan_without_changes_that_is_refused_says_why_in_the_same_line(
    more: tuple[Refusal, ...], why: str
) -> None:
    plan = Plan(refusals=(REFUSED, *more))
    said = f"No changes. REFUSED, for {why}"
    assert said in render_plan(plan, PLAIN)
    assert view(plan_document(plan)).title == said


@pytest.mark.parametrize("paint", [PLAIN, COLOURED])
@pytest.mark.parametrize("length", range(20, 40))
def test_a_cause_is_never_beyond_the_edge_of_a_terminal(length: int, paint: Paint) -> None:
    item = Difference(field="title", before="a" * length, after="b" * length, cause="changed outside")
    plan = Plan(base=COMMIT, changes=(change("a").model_copy(update={"differences": (item,)}),))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", render_plan(plan, paint)).splitlines()
    (line,) = (line for line in lines if line.endswith("(changed outside)") and "~" not in line)
    assert len(line) <= COLUMNS == 80
    assert line.strip() == "(changed outside)" or line.startswith('    title  "a')
    part = FieldDrift(field="title", live="a" * length, file="b" * length, cause="changed outside")
    drift = Drift(base=COMMIT, found=(Drifted(address="a", kind="team", what="different", fields=(part,)),))
    (line,) = (
        line
        for line in re.sub(r"\x1b\[[0-9;]*m", "", render_drift(drift, paint)).splitlines()
        if line.endswith("(changed outside)")
    )
    assert len(line) <= COLUMNS
