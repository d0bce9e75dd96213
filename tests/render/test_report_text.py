"""The report of an apply: what went wrong is listed, what was merely not tried is counted."""

from __future__ import annotations

import pytest

from dpsync.model.plans.journal import Outcome, Report
from dpsync.model.plans.plan import Origin, Plan
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.report_text import render_outcome, render_report


def report(untried: int) -> Report:
    failed = Outcome(
        step="acme/teams/a create", address="acme/teams/a", verb="create", result="failed", error="no"
    )
    steps = [f"acme/teams/t{n} create" for n in range(untried)]
    rest = [Outcome(step=name, address=name.split()[0], verb="create", result="not-tried") for name in steps]
    return Report(plan="0" * 64, outcomes=(*rest, failed), interrupted=True)


@pytest.mark.parametrize("more", [0, 1, 324])
def test_what_was_not_tried_is_counted_beyond_the_first_ten(more: int) -> None:
    lines = render_report(Plan(), report(10 + more), Paint(False)).splitlines()
    assert sum(line.strip().startswith("not-tried") for line in lines) == 10
    assert any(f"and {more} more that were not tried" in line for line in lines) is (more > 0)
    assert any("failed  acme/teams/a create: no" in line for line in lines)
    assert f"1 step failed, {10 + more} not tried." in "\n".join(lines)


def test_with_v_everything_is_listed() -> None:
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
def test_what_went_wrong_says_where_it_is_written(result: str, field: str | None, lines: list[str]) -> None:
    place = Origin(file="teams.yaml", line=7, column=3)
    outcome = Outcome(
        step="acme/teams/a create", address="acme/teams/a", verb="create", error="no",
        result=result, field=field, origin=place,
    )  # fmt: skip
    assert render_outcome(outcome, Paint(False)).splitlines() == lines
