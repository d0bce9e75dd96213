"""How the columns of a terminal are filled: what fits is one line, what belongs together is aligned."""

from __future__ import annotations

import pytest

from dpsync.model.plan import Origin
from dpsync.model.urls import DOCS_URL
from dpsync.render.command_texts import render_doctor, render_list
from dpsync.render.documents import Check, DoctorDocument, ListDocument, ListedEntry
from dpsync.render.explain_text import render_code, render_explanation, render_overview
from dpsync.render.explanations import Explanation
from dpsync.render.paint import Paint
from dpsync.render.report_words import duration_text

PLAIN = Paint(on=False)


def facts(*said: str) -> list[str]:
    found = Explanation("site", "What it is.", tuple(("Value", words) for words in said))
    return render_explanation(found, PLAIN).split("\n")[3:]


def test_terminal_facts_wrap_at_80_columns_aligned() -> None:
    fits = f"{'a' * 31} {'b' * 31}"
    assert facts(fits) == [f"  Value          {fits}"]
    assert facts(f"{fits}b") == [f"  Value          {'a' * 31}", f"                 {'b' * 32}"]
    assert facts("one", "two") == ["  Value          one", "                 two"]


def test_terminal_kind_overview_is_aligned_and_wrapped() -> None:
    fits = f"{'a' * 34} {'b' * 33}"
    lines = render_overview([("site", fits), ("teammate", f"{fits}b")], PLAIN).split("\n")
    assert lines[1:4] == [f"  site      {fits}", f"  teammate  {'a' * 34}", f"            {'b' * 34}"]


def test_error_explanation_separates_paragraphs() -> None:
    section = [("It is wrong.", False), ("a: 1\nb: 2", True), ("Mend it.", False)]
    text = ["DP1", "  It is wrong.", "", "    a: 1", "    b: 2", "", "  Mend it."]
    lines = [*text, "", f"  More: {DOCS_URL}/errors.md#dp1"]
    assert render_code("DP1", section, PLAIN).split("\n") == lines


def test_error_explanation_indents_wrapped_list_items() -> None:
    item = f"- {'a' * 40} {'b' * 40}"
    lines = render_code("DP1", [("Do one:", False), (item, False)], PLAIN).split("\n")
    assert lines[1:6] == ["  Do one:", "", f"  - {'a' * 40}", f"    {'b' * 40}", ""]


def test_entry_list_is_aligned_without_trailing_spaces() -> None:
    at = Origin(file="a.yaml", line=7, column=3)
    entries = (
        ListedEntry(address="acme", kind="organization", at=at, id="o1"),
        ListedEntry(address="acme/teams/t", kind="team", at=at, why_not="no scope"),
    )
    assert render_list(ListDocument(entries=entries), PLAIN).split("\n") == [
        "ADDRESS       KIND          FILE      ID  RECOGNIZED",
        "acme          organization  a.yaml:7  o1",
        "acme/teams/t  team          a.yaml:7  -   not read: no scope",
    ]
    assert render_list(ListDocument(entries=()), PLAIN) == "ADDRESS  KIND  FILE  ID  RECOGNIZED"


def test_doctor_shows_fix_below_problem() -> None:
    checks = (
        Check(topic="configuration", level="ok", said="it is read"),
        Check(topic="token", level="problem", said="none", mend="set one"),
    )
    document = DoctorDocument.model_construct(checks=checks, access=())
    lines = render_doctor(document, PLAIN).split("\n")
    assert {lines[0].index("it is read"), lines[1].index("none"), lines[2].index("= set one")} == {24}
    assert lines[-1] == "1 problem, 0 notes."


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "1 s"), (1, "1 s"), (1.6, "2 s"), (119.4, "119 s"), (120, "2 min"),
     (3600, "60 min")],
)  # fmt: skip
def test_duration_is_shown_in_seconds_or_minutes(seconds: float, said: str) -> None:
    assert duration_text(seconds) == said
