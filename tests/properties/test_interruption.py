"""Stopped at any point, the next run finishes the rest, without a journal: nothing twice, the same end."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from dpsync.api import Session
from dpsync.client.transport import Transport
from dpsync.model.journal import Report
from tests.soak import slice_of

from .configurations import TOKEN
from .faults import Break, Kill, Killed, Lose, When
from .laws import law, plan_of, said
from .organizations import Draw, Fields
from .platform import Case, Platform, case
from .states import differences, ids, settled

RICH = (32, 15)
"""Seeds of organizations whose plans have every kind of step."""
PLACES = 2
"""At how many of the writes of such a plan a normal run kills or disturbs it; a soak does so at each."""


def rich(seed: int) -> Case:
    return case(Draw(random.Random(seed)), size=4, explicit=True)


def uninterrupted(platform: Platform, made: Case, session: Session) -> tuple[Fields, int]:
    """Where an apply that nothing disturbs ends, and how many writes it takes."""
    platform.start(made)
    planned = plan_of(platform, session)
    report = platform.apply(session, planned)
    assert report.complete, said(report)
    return settled(platform.state(), ids(made.world)), report.writes


def ends_the_same(platform: Platform, made: Case, session: Session, end: Fields) -> None:
    report = platform.apply(session)
    assert report.complete, said(report)
    assert differences(settled(platform.state(), ids(made.world)), end) == []


def killed(platform: Platform, made: Case, session: Session, number: int, when: When) -> None:
    platform.start(made)
    with pytest.raises(Killed):
        platform.apply(session, around=lambda inner: Kill(inner, number, when))


def disturbed(
    platform: Platform, made: Case, session: Session, around: Callable[[Transport], Transport]
) -> Report:
    platform.start(made)
    return platform.apply(session, around=around)


@law(40)
def test_apply_after_kill_reaches_uninterrupted_state(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4), explicit=True)
    session = platform.session(made.configuration, draw.pick([4, 1]))
    end, writes = uninterrupted(platform, made, session)
    if writes:
        killed(platform, made, session, draw.number(0, writes - 1), draw.pick(["before", "after"]))
        ends_the_same(platform, made, session, end)


@law(15)
def test_apply_after_several_kills_reaches_uninterrupted_state(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4), explicit=True)
    session = platform.session(made.configuration)
    end, _ = uninterrupted(platform, made, session)
    platform.start(made)
    for _ in range(20):
        at, when = draw.number(0, 3), draw.pick(["after", "before"])
        try:
            platform.apply(session, around=lambda inner, at=at, when=when: Kill(inner, at, when))
        except Killed:
            continue
        break
    ends_the_same(platform, made, session, end)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seed", RICH)
def test_kill_at_each_write_reaches_same_state(platform: Platform, seed: int, when: When) -> None:
    made = rich(seed)
    session = platform.session(made.configuration, 1)
    end, writes = uninterrupted(platform, made, session)
    for number in slice_of(range(writes), PLACES):
        killed(platform, made, session, number, when)
        ends_the_same(platform, made, session, end)


@law(40)
def test_apply_with_lost_response_converges_or_reports_failure(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=draw.number(1, 4), explicit=True)
    session = platform.session(made.configuration, draw.pick([4, 1]))
    end, writes = uninterrupted(platform, made, session)
    if writes:
        fault, number, when = (
            draw.pick([Lose, Break]),
            draw.number(0, writes - 1),
            draw.pick(["after", "before"]),
        )
        report = disturbed(platform, made, session, lambda inner: fault(inner, number, when))
        told_or_done(platform, made, report, end)
        ends_the_same(platform, made, session, end)


def told_or_done(platform: Platform, made: Case, report: Report, end: Fields) -> None:
    """Check that a complete report is true, and that any other report names what went wrong."""
    if report.complete:
        assert differences(settled(platform.state(), ids(made.world)), end) == []
    else:
        assert report.count("unknown", "failed", "not-tried"), said(report)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("fault", [Lose, Break])
def test_apply_recovers_or_reports_fault_at_any_write(
    platform: Platform, fault: type[Lose] | type[Break], when: When
) -> None:
    made = rich(RICH[0])
    session = platform.session(made.configuration, 1)
    end, writes = uninterrupted(platform, made, session)
    for number in slice_of(range(writes), PLACES):
        report = disturbed(platform, made, session, lambda inner, number=number: fault(inner, number, when))
        unknown = {item.verb for item in report.outcomes if item.result == "unknown"}
        # What was carried out is found; what was not may still come, unless sending it again does no harm.
        assert unknown <= ({"create"} if when == "before" else set()), f"write {number}: {said(report)}"
        assert report.complete != bool(unknown), f"write {number}: {said(report)}"
        if unknown:
            ends_the_same(platform, made, session, end)
        assert differences(settled(platform.state(), ids(made.world)), end) == []


def test_interrupted_site_creation_is_matched_by_title(platform: Platform) -> None:
    """A site is made by its title, and gets its basename by the next request."""
    ada = {"id": "u0", "displayName": "U0", "email": "u0@acme.example"}
    acme = {"id": "acme", "title": "Acme", "members": [{"user": "u0", "role": "admin"}]}
    world = {"users": [ada], "tokens": {TOKEN: "u0"}, "organizations": [acme]}
    sites = {"docs": {"title": "Docs", "basename": "manual", "new": True}}
    made = Case(world, {"dpsync": 1, "organizations": {"acme": {"id": "acme", "sites": sites}}})
    session = platform.session(made.configuration, 1)
    killed(platform, made, session, 0, "after")
    assert platform.apply(session).complete
    (org,) = platform.state()["organizations"]
    assert [site["basename"] for site in org["sites"]] == ["manual"]
