"""How much a plan and a drift print: by default what a person acts on, the rest with -v."""

from __future__ import annotations

import pytest

from dpsync.model.change import Blocked, Change, Difference, Effect, Kept, Note, PlatformTrouble, Waiting
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.drift import Drift, Drifted, FieldDrift
from dpsync.model.plan import Organization, Plan
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.render.diagnostics import render_diagnostics
from dpsync.render.json_conversion import findings_document
from dpsync.render.paint import Paint
from dpsync.render.plan_words import MAX_CANDIDATES
from dpsync.render.view_text import render_plan
from tests.render.drift_text import render_drift

PLAIN = Paint(on=False)
BESIDE = {
    "platform": "https://x",
    "organizations": (Organization(address="acme", id="org-7"),),
    "blocked": (Blocked(address="acme/members/b@x", reason="not invited", todo="invite b@x"),),
    "waiting": (Waiting(address="acme/openapi/w", what="is being processed"),),
    "trouble": (PlatformTrouble(address="acme/openapi/t", what="could not be parsed"),),
    "accepted": (PlatformTrouble(address="acme/openapi/a", what="known to fail"),),
    "kept": (Kept(place="acme/teams", addresses=("acme/teams/[Sales]",)),),
    "notes": (
        Note(address="acme/spaces/n", text="renamed?"),
        Note(address="policy.protect", text="matches nothing", severity="warning"),
        Note(address="acme/bots/x#secret", text="it cannot be compared", permanent=True),
    ),
}
ASKED = Refusal(
    code="looks-alike",
    address="acme/spaces/new",
    message="it could be one of these",
    way_out="say which",
    candidates=(Candidate(address="acme/spaces/[Old]", id="space-9", title="Old"),),
    answers=(WayOut(address="acme/spaces/new", add="new: true", means="the entry is new"),),
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
        effects=(Effect(address="acme/sites/[Gone]/structure/s", what="is also deleted", kind="section"),),
    ),
)
PLAN = Plan(changes=CHANGES, refusals=(ASKED,), **BESIDE)
DRIFT = Drift(
    found=(
        Drifted(
            address="acme/teams/w",
            kind="team",
            what="different",
            fields=(FieldDrift(field="title", live="A", file="B"),),
        ),
        Drifted(address="acme/teams/x", kind="team", what="missing", label="X"),
    ),
    ignored=(Drifted(address="acme/teams/i", kind="team", what="missing", label="I"),),
    **BESIDE,
)
VERDICT = (
    "Plan: 1 to create, 1 to change, 2 to delete (1 site, 1 section). 1 blocked. "
    "This plan cannot be applied, for 1 reason."
)


def test_plan_prints_only_actionable_lines_by_default() -> None:
    assert render_plan(PLAN, PLAIN).splitlines() == [
        '+ space new "New"',
        "    refused: it could be one of these (looks-alike)",
        '      - "Old": space-9',
        "    say which",
        "~ team w",
        '    title  "Writers" → "Authors"',
        "- site [Gone]",
        "    also removes 1 section",
        "! acme/members/b@x",
        "    blocked: not invited",
        "    to do: invite b@x",
        "note: acme/spaces/n: renamed?",
        "warning: policy.protect: matches nothing",
        "",
        "1 object has a problem on GitBook's side: dpsync doctor",
        VERDICT,
    ]


def test_verbose_plan_prints_all_details() -> None:
    text = render_plan(PLAN, PLAIN, verbose=1)
    for told in (
        "acme/openapi/t: could not be parsed", "acme/openapi/w: is being processed", "known to fail",
        "acme/teams: 1 unmanaged, kept: [Sales]", "acme/bots/x#secret: it cannot be compared",
        "platform: https://x, organization: acme (id org-7)", f"digest {PLAN.digest[:32]}",
        "acme/sites/[Gone]/structure/s: is also deleted", "~ team acme/teams/w",
    ):  # fmt: skip
        assert told in text
    assert text.splitlines()[-1] == VERDICT


def test_quiet_plan_prints_only_required_actions() -> None:
    text = render_plan(PLAN, PLAIN, quiet=True)
    for needed in ("invite b@x", "- site [Gone]", "space-9", "say which", "matches nothing", VERDICT):
        assert needed in text
    for other in ("team w", "renamed?"):
        assert other not in text


def test_plan_summary_has_one_line_per_object() -> None:
    assert render_plan(PLAN, PLAIN, summary=True).splitlines()[:4] == [
        '+ space new "New"', "~ team w", "- site [Gone]", "! acme/members/b@x",
    ]  # fmt: skip


def test_plan_summary_groups_objects_of_one_kind() -> None:
    teams = tuple(
        Change(address=f"acme/teams/t{n}", kind="team", action="create", label="T") for n in range(5)
    )
    assert render_plan(Plan(changes=teams), PLAIN, summary=True).splitlines() == [
        "+ 5 teams: t0, t1, t2 and 2 more", "", "Plan: 5 to create.",
    ]  # fmt: skip


def test_drift_prints_only_actionable_lines_by_default() -> None:
    assert render_drift(DRIFT, PLAIN).splitlines() == [
        "~ team w",
        '    title  "B" → "A"',
        "    undo   `dpsync apply --select acme/teams/w`",
        "    keep   `dpsync import --update 'acme/teams/w#title'`",
        '- team x "X"',
        "    missing in GitBook",
        "    undo  `dpsync apply --select acme/teams/x`",
        "    keep  delete the entry",
        "note: acme/spaces/n: renamed?",
        "warning: policy.protect: matches nothing",
        "! acme/members/b@x",
        "    blocked: not invited",
        "    to do: invite b@x",
        "",
        "1 object has a problem on GitBook's side: dpsync doctor",
        "Drift: 2 objects. 1 blocked.",
    ]
    assert "acme/teams/i" in render_drift(DRIFT, PLAIN, verbose=1)


def test_printed_candidates_are_limited_unless_verbose() -> None:
    could_be = tuple(
        Candidate(address=f"acme/spaces/[S{n}]", id=f"space-{n}", title=f"S{n}", changed="2026-01-01")
        for n in range(MAX_CANDIDATES + 3)
    )
    refusals = (ASKED.model_copy(update={"candidates": could_be}),)
    for text in (
        render_plan(Plan(refusals=refusals), PLAIN),
        render_drift(Drift(refusals=refusals), PLAIN),
    ):
        assert text.count("space-0") == 1
        assert '- "S0": space-0, last changed 2026-01-01' in text
        assert f"S{MAX_CANDIDATES}" not in text
        assert "- and 3 more (-v lists them)" in text
    assert "space-7" in render_plan(Plan(refusals=refusals), PLAIN, verbose=1)
    assert "space-7" in render_drift(Drift(refusals=refusals), PLAIN, verbose=1)


def test_findings_json_contains_candidates_and_answers() -> None:
    asked = Diagnostic(
        "DP302",
        "two have this title",
        candidates=ASKED.candidates,
        answers=ASKED.answers,
        unlisted_related_count=2,
    )
    (found,) = findings_document([asked], Exit.INVALID).findings
    assert (found.candidates, found.answers, found.repeated) == (ASKED.candidates, ASKED.answers, 2)
    assert '= "Old": space-9' in render_diagnostics([asked], {})


@pytest.mark.parametrize(
    ("organizations", "said"),
    [
        ((), "GitBook matches your files."),
        (("acme",), "acme matches your files."),
        (("acme", "beta"), "acme and beta match your files."),
    ],
)
def test_plan_without_changes_names_its_organizations(organizations: tuple[str, ...], said: str) -> None:
    found = tuple(Organization(address=name, id=name) for name in organizations)
    assert render_plan(Plan(organizations=found), PLAIN) == f"No changes. {said}"
