"""How much a plan and drift say: a line for each address, what needs a person, the summary first, too."""

from __future__ import annotations

import pytest

from dpsync.model.findings.diagnostic import Diagnostic, Exit
from dpsync.model.findings.question import Candidate, Refusal, WayOut
from dpsync.model.plans.change import Change, Difference, Effect
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Blocked, Kept, Note, PlatformTrouble, Waiting
from dpsync.render.json.conversion import findings_document
from dpsync.render.terminal.diagnostics import render_diagnostics
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.terminal.view_text import SCREEN
from dpsync.render.words.plan import SHOWN
from tests.render.drift_text import render_drift

PLAIN = Paint(on=False)
BESIDE = {
    "blocked": (Blocked(address="acme/members/b@x", reason="not invited", todo="invite b@x"),),
    "waiting": (Waiting(address="acme/openapi/w", what="is being processed"),),
    "trouble": (PlatformTrouble(address="acme/openapi/t", what="could not be parsed"),),
    "kept": (Kept(place="acme/teams", addresses=("acme/teams/[Sales]",)),),
    "notes": (
        Note(address="acme/spaces/n", text="renamed?"),
        Note(address="policy.protect", text="matches nothing", severity="warning"),
        Note(address="acme/bots/x#secret", text="it cannot be compared", permanent=True),
        Note(address="acme/bots/y#secret", text="it cannot be compared", permanent=True),
    ),
}
ASKED = Refusal(
    code="looks-alike",
    address="acme/spaces/new",
    message="it could be one of these",
    way_out="say which",
    candidates=(Candidate(address="acme/spaces/[Old]", id="space-9", title="Old"),),
    answers=(WayOut(address="acme/spaces/new", add="new: true", means="it is new"),),
)
CHANGES = (
    Change(
        address="acme/teams/w",
        kind="team",
        action="update",
        differences=(Difference(field="title", before="Writers", after="Authors"),),
    ),
    Change(address="acme/spaces/new", kind="space", action="create", label="New"),
    Change(
        address="acme/sites/[Gone]",
        kind="site",
        action="delete",
        label="Gone",
        effects=(Effect(address="acme/sites/[Gone]/structure/s", what="is in it"),),
    ),
)
PLAN = Plan(changes=CHANGES, refusals=(ASKED,), **BESIDE)
DRIFT = Drift(
    found=(
        Drifted(
            address="acme/teams/w",
            kind="team",
            what="different",
            fields=(FieldDrift(field="title", live="A"),),
        ),
        Drifted(address="acme/teams/x", kind="team", what="missing", label="X"),
    ),
    ignored=(Drifted(address="acme/teams/i", kind="team", what="missing", label="I"),),
    **BESIDE,
)


def test_a_summary_has_one_line_for_each_address() -> None:
    lines = render_plan(PLAN, PLAIN, summary=True).splitlines()
    assert "~ acme/teams/w  title" in lines
    assert '+ acme/spaces/new  new space "New"' in lines
    assert '- acme/sites/[Gone]  DELETE site "Gone", 1 more goes with it' in lines
    assert "! acme/members/b@x  blocked: not invited" in lines
    assert "x acme/openapi/t  trouble on the platform: could not be parsed" in lines
    assert "  acme/spaces/new  it could be one of these (looks-alike)" in lines
    assert not any("Authors" in line or "space-9" in line or "invite b@x" in line for line in lines)
    for address in ("acme/teams/w", "acme/sites/[Gone]", "acme/members/b@x", "acme/openapi/t"):
        assert sum(address in line for line in lines) == 1


def test_quiet_leaves_what_needs_a_person() -> None:
    text = render_plan(PLAN, PLAIN, quiet=True)
    for needed in (
        "invite b@x",
        "could not be parsed",
        "DELETES: 2 things",
        "space-9",
        "way out",
        "matches nothing",
    ):
        assert needed in text
    for other in ("acme/teams/w", "is being processed", "unmanaged, kept", "renamed?", "cannot be compared"):
        assert other not in text
    deleted = "2 TO DELETE (1, and 1 that goes with it)"
    assert f"1 to create, 1 to change, {deleted}, 1 blocked. REFUSED, for 1 reason." in text


def test_quiet_and_summary_together_are_a_line_for_each_address_that_needs_a_person() -> None:
    lines = render_plan(PLAN, PLAIN, quiet=True, summary=True).splitlines()
    assert '- acme/sites/[Gone]  DELETE site "Gone", 1 more goes with it' in lines
    assert "! acme/members/b@x  blocked: not invited" in lines
    assert not any("acme/teams/w" in line or "invite b@x" in line for line in lines)


def test_the_flags_mean_the_same_for_drift() -> None:
    lines = render_drift(DRIFT, PLAIN, summary=True).splitlines()
    assert {"~ acme/teams/w  title", "- acme/teams/x  not live", "  - acme/teams/i  not live"} <= {*lines}
    assert "! acme/members/b@x  blocked: not invited" in lines
    assert not any("undo:" in line for line in lines)
    quiet = render_drift(DRIFT, PLAIN, quiet=True)
    assert "undo:" in quiet
    assert "could not be parsed" in quiet
    assert "acme/teams/i" not in quiet
    assert "unmanaged, kept" not in quiet


@pytest.mark.parametrize("summary", [False, True])
def test_permanent_notes_are_one_counted_line_and_listed_with_v(summary: bool) -> None:
    for text in (render_plan(PLAN, PLAIN, summary=summary), render_drift(DRIFT, PLAIN, summary=summary)):
        assert "note: 2 fields cannot be compared with the platform (listed with -v)" in text
        assert "#secret" not in text
        assert "acme/spaces/n: renamed?" in text
    listed = render_plan(PLAN, PLAIN, verbose=1, summary=summary)
    assert "note: acme/bots/x#secret: it cannot be compared" in listed
    assert "listed with" not in listed


def test_what_an_entry_could_be_is_said_once_and_counted_where_it_is_much() -> None:
    could_be = tuple(
        Candidate(address=f"acme/spaces/[S{n}]", id=f"space-{n}", title=f"S{n}", changed="2026-01-01")
        for n in range(SHOWN + 3)
    )
    refusals = (ASKED.model_copy(update={"candidates": could_be}),)
    for text in (
        render_plan(Plan(refusals=refusals), PLAIN),
        render_drift(Drift(refusals=refusals), PLAIN),
    ):
        assert text.count("space-0") == 1
        assert '- "S0": space-0, last changed 2026-01-01' in text
        assert f"S{SHOWN}" not in text
        assert "- and 3 more (-v lists them)" in text
    assert "space-7" in render_plan(Plan(refusals=refusals), PLAIN, verbose=1)
    assert "space-7" in render_drift(Drift(refusals=refusals), PLAIN, verbose=1)


def test_a_finding_that_asks_has_its_candidates_and_answers_as_data() -> None:
    asked = Diagnostic(
        "DP302", "two have this title", candidates=ASKED.candidates, answers=ASKED.answers, repeated=2
    )
    (found,) = findings_document([asked], Exit.INVALID).findings
    assert (found.candidates, found.answers, found.repeated) == (ASKED.candidates, ASKED.answers, 2)
    assert '= "Old": space-9' in render_diagnostics([asked], {})


def team(number: int) -> Change:
    return Change(address=f"acme/teams/t{number}", kind="team", action="create", label="T")


@pytest.mark.parametrize(("teams", "twice"), [(1, False), (SCREEN, True)])
def test_the_summary_is_the_first_line_too_where_the_plan_is_longer_than_a_screen(
    teams: int, twice: bool
) -> None:
    plan = Plan(platform="http://x", changes=tuple(team(n) for n in range(teams)), refusals=(ASKED,))
    lines = render_plan(plan, PLAIN).splitlines()
    said = f"Plan: {teams} to create, 0 to change, 0 to delete. REFUSED, for 1 reason."
    assert (lines[0] == said) is twice
    assert lines[-2].startswith(said)
    assert lines[int(twice)].startswith("platform: http://x")


def test_a_long_drift_says_its_summary_first_and_last() -> None:
    found = tuple(Drifted(address=f"acme/teams/{n}", kind="team", what="missing") for n in range(SCREEN))
    lines = render_drift(Drift(found=found), PLAIN).splitlines()
    assert lines[0] == f"Drift: {SCREEN} not live."
    assert lines[-1].startswith(lines[0])
