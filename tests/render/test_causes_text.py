"""Labels in text: they stand where they hold, and nowhere if everything was edited here."""

from __future__ import annotations

import pytest

from dpsync.model.findings.question import Refusal
from dpsync.model.plans.cause import Cause
from dpsync.model.plans.change import Action, Change, Difference
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift, LastEvent
from dpsync.model.plans.plan import Plan
from dpsync.render.json.conversion import plan_document
from dpsync.render.layout.views import view
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from tests.render.drift_text import render_drift

PLAIN = Paint(on=False)
COMMIT = "0" * 40


def change(
    address: str, action: Action = "update", cause: Cause | None = None, moved: str | None = None,
    **fields: Cause,
) -> Change:  # fmt: skip
    found = tuple(Difference(field=name, before="a", after="b", cause=why) for name, why in fields.items())
    return Change(
        address=address, kind="team", action=action, label="L", cause=cause, moved=moved, differences=found
    )


PLAN = Plan(
    base=COMMIT,
    base_from="HEAD",
    changes=(
        change("acme/spaces/s", cause="changed outside", moved="after t", title="edited here", icon="both"),
        change("acme/teams/n", "create", "changed outside", icon="changed outside"),
        change("acme/teams/[g]", "delete", "edited here"),
    ),
)


def test_labels_stand_where_they_hold() -> None:
    assert render_plan(PLAN, PLAIN).splitlines() == [
        '+ team n "L"',
        "    icon b",
        "    deleted outside",
        "~ team s",
        '    title  "a" → "b"  (edited here)',
        "    icon   a → b  (both)",
        "    moved after t",
        "    moved outside",
        '- team [g] "L"',
        "    removed here",
        "",
        "Plan: 1 to create, 1 to change, 1 to delete.",
    ]


@pytest.mark.parametrize("cause", ["edited here", "origin unknown", "not applied yet"])
def test_label_is_absent_if_it_tells_nothing(cause: Cause) -> None:
    plan = Plan(base=COMMIT, base_from="HEAD", changes=(change("acme/teams/t", title=cause),))
    assert '    title  "a" → "b"' in render_plan(plan, PLAIN).splitlines()


def test_label_is_absent_without_a_base() -> None:
    plan = Plan(base_from="not in a git repository", changes=(change("acme/teams/t", title="both"),))
    assert '    title  "a" → "b"' in render_plan(plan, PLAIN).splitlines()
    assert "base: none (not in a git repository)" in render_plan(plan, PLAIN, verbose=1)


@pytest.mark.parametrize(("refusals", "said"), [(1, "1 reason"), (2, "2 reasons")])
def test_refused_plan_without_changes_says_why(refusals: int, said: str) -> None:
    refusal = Refusal(address="acme/teams/x", code="DP999", message="who is it", way_out="say so")
    plan = Plan(refusals=(refusal,) * refusals)
    assert view(plan_document(plan)).title == f"This plan cannot be applied, for {said}."
    assert "x acme/teams/x\n    who is it (DP999)\n    say so\n" in render_plan(plan, PLAIN)


def drift(*causes: Cause, event: LastEvent | None = None) -> list[str]:
    fields = tuple(
        FieldDrift(field=f"f{number}", live="x", file="y", cause=cause) for number, cause in enumerate(causes)
    )
    item = Drifted(address="acme/teams/t", kind="team", what="different", fields=fields, last_event=event)
    text = render_drift(Drift(base=COMMIT, base_from="HEAD", found=(item,)), PLAIN)
    return [line for line in text.splitlines()[1:] if line.startswith("    ") and "undo" not in line][:-1]


def test_drift_label_stands_once_below_the_fields() -> None:
    assert drift("changed outside") == ["    f0    y → x", "    changed outside"]
    assert drift("changed outside", "edited here")[2:] == ["    changed outside: f0", "    edited here: f1"]
    assert drift("origin unknown") == ["    f0    y → x"]


def test_drift_names_who_changed_an_object_and_when() -> None:
    event = LastEvent(action="team.update", actor="gus", at="2026-01-01T00:00:00Z")
    assert drift("changed outside", event=event)[1:] == ["    changed outside by gus, 2026-01-01T00:00:00Z"]
    assert drift("origin unknown", event=event)[1:] == ["    last changed by gus, 2026-01-01T00:00:00Z"]
    assert drift("edited here", event=event)[1:] == ["    edited here"]
