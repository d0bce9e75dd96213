"""What cannot be done is told exactly, everything else is done, and the next plan says the same."""

from __future__ import annotations

from .configurations import email
from .laws import law, plan_of, said
from .organizations import Draw, Fields
from .platform import Case, Platform, case

STRANGER = "nobody"


@law(40)
def test_missing_members_block_only_referring_entries(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=3, partly=False)
    blocked = name_a_stranger(draw, made)
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)
    assert {item.address for item in planned.plan.blocked} == blocked

    report = platform.apply(session, planned)

    assert report.converged, said(report)
    assert not report.complete
    assert report.remaining is not None
    assert report.remaining.blocked == planned.plan.blocked
    platform.writes()
    again = platform.apply(session)
    assert (again.writes, platform.writes()) == (0, [])
    assert again.remaining is not None
    assert again.remaining.blocked == planned.plan.blocked


def name_a_stranger(draw: Draw, made: Case) -> set[str]:
    """Put somebody into the configuration who has never joined; returns the addresses that this blocks."""
    key = draw.pick(list(made.configuration["organizations"]))
    org: Fields = made.configuration["organizations"][key]
    who = email(STRANGER)
    org["members"][who] = "read"
    blocked = {f"{key}/members/{who}"}
    for name, team in org["teams"].items():
        if draw.chance(0.5):
            team["members"][who] = "member"
            blocked.add(f"{key}/teams/{name}/members/{who}")
    rules = {"type": "rules", "rules": [{"rule": "require_specific_reviewers", "users": [who]}]}
    if draw.chance(0.5):
        org["mergeRules"] = rules
        blocked.add(f"{key}#mergeRules")
    for name, space in org["spaces"].items():
        if draw.chance(0.5):
            space["mergeRules"] = rules
            blocked.add(f"{key}/spaces/{name}#mergeRules")
    return blocked
