"""Labels as text: beside the value or below it, so that a terminal of 80 columns does not wrap them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from click import unstyle

from dpsync.model.change import Change, Difference
from dpsync.model.drift import LastEvent
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal
from dpsync.model.text import format_count
from dpsync.render.json_conversion import plan_document
from dpsync.render.paint import Paint
from dpsync.render.report_words import last_change_text
from dpsync.render.view_text import MAX_COLUMNS, render_plan
from dpsync.render.views import make_view

PLAIN, COLOURED = Paint(on=False), Paint(on=True)
COMMIT = "0" * 40
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
URL = "https://docs.example/" + "a" * 70


@pytest.mark.parametrize("count", [1, 2])
def test_refused_plan_counts_its_refusals(count: int) -> None:
    refused = Refusal(address="acme/teams/x", code="DP999", message="who is it", way_out="say so")
    plan = Plan(refusals=(refused,) * count)
    said = f"This plan cannot be applied, for {format_count(count, 'reason')}."
    assert render_plan(plan, PLAIN).splitlines()[-1] == said
    assert make_view(plan_document(plan)).title == said


def lines_of_title(before: str, after: str, paint: Paint) -> list[str]:
    """Return the lines of a changed title with a label, without colors."""
    item = Difference(field="title", before=before, after=after, cause="changed outside")
    found = Change(address="a", kind="team", action="update", label="L", differences=(item,))
    printed = unstyle(render_plan(Plan(base=COMMIT, changes=(found,)), paint)).splitlines()
    assert printed[-2] == ""
    return printed[1:-2]


@pytest.mark.parametrize("paint", [PLAIN, COLOURED], ids=["plain", "colored"])
@pytest.mark.parametrize("length", range(10, 100))
def test_drift_label_never_exceeds_terminal_width(length: int, paint: Paint) -> None:
    lines = lines_of_title(("a b" * length)[:length], ("c d" * length)[:length], paint)
    (label,) = (line for line in lines if "(changed outside)" in line)
    assert len(label) <= MAX_COLUMNS == 80
    beyond = [line for line in lines if len(line) > MAX_COLUMNS]
    assert not beyond or length > MAX_COLUMNS - len("      + ")  # the value alone is wider


def test_drift_label_of_long_values_has_own_line() -> None:
    """A URL in several lines cannot be copied."""
    line, label = lines_of_title(URL, f"{URL}/b", PLAIN)
    assert line == f'    title  "{URL}" → "{URL}/b"'
    assert label == "      (changed outside)"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-03-10T12:00:00Z", "just now"),
        ("2026-03-10T11:59:01Z", "just now"),
        ("2026-03-10T12:00:59Z", "just now"),
        ("2026-03-10T11:59:00Z", "1 minute ago"),
        ("2026-03-10T11:00:01Z", "59 minutes ago"),
        ("2026-03-10T11:00:00Z", "1 hour ago"),
        ("2026-03-10T10:00:00Z", "2 hours ago"),
        ("2026-03-10T12:00:00+02:00", "2 hours ago"),
        ("2026-03-10T10:00:00", "2 hours ago"),
        ("2026-03-09T12:00:00Z", "1 day ago"),
        ("2026-03-07T12:00:00.123Z", "2 days ago"),
        ("2026-03-07T12:00:00Z", "3 days ago"),
        ("2026-03-10T12:01:00Z", "2026-03-10T12:01:00Z"),
        ("2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("yesterday", "yesterday"),
        ("", ""),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_change_time_is_shown_relative_to_now(at: str, said: str) -> None:
    event = LastEvent(action="a", actor="gus@acme.example", at=at)
    assert last_change_text(event, "changed outside", NOW) == f"changed outside by gus@acme.example, {said}"


def test_change_time_without_current_time_is_absolute() -> None:
    event = LastEvent(action="a", actor="gus\x1b[31m", at="2026-03-10T10:00:00Z")
    assert last_change_text(event, "", None) == "last changed by gus\\x1b[31m, 2026-03-10T10:00:00Z"
