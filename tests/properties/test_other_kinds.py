"""The laws for the kinds around spaces and sites: from any configuration to any other, and then nothing."""

from __future__ import annotations

import pytest

from dpsync.api import Planned, Session, load
from dpsync.model.journal import Report
from tests.agreed import answers

from .faults import Break, Kill, Killed, Lose
from .laws import law, said
from .organizations import Draw, Fields
from .others import document, keeping, organization, world
from .platform import REGISTRY, Platform
from .test_determinism import write_in_parts


def agreed_to(platform: Platform, session: Session) -> Planned:
    """Plan, with the answer that an installation may briefly have more than it declares."""
    planned = platform.plan(session)
    more = answers(planned.plan, "expose for a moment")
    return platform.plan(session, *more) if more else planned


def applied(platform: Platform, configuration: Fields) -> Report:
    platform.server.wait_for_jobs(include_abandoned=True)
    session = platform.session(configuration)
    report = platform.apply(session, agreed_to(platform, session))
    assert report.settled, said(report)
    assert not report.remaining or not report.remaining.blocked
    # The companion fetches nothing from elsewhere, and no new provider is active: that is not this law's.
    assert {item.address.split("/")[1] for item in report.started} <= {"openapi", "saml"}
    return report


@law(28)
def test_any_configuration_change_converges(platform: Platform, draw: Draw) -> None:
    platform.server.reset(world())
    for wanted in (organization(draw), organization(draw)):
        applied(platform, document(wanted))
        platform.server.wait_for_jobs(include_abandoned=True)
        platform.writes()
        again = applied(platform, document(wanted))
        assert (again.writes, platform.writes()) == (0, [])


@law(28)
def test_next_apply_after_kill_creates_no_duplicates(platform: Platform, draw: Draw) -> None:
    wanted = keeping(organization(draw))
    writes = writes_of(platform, wanted)
    number, when = draw.number(0, writes - 1), draw.pick(["after", "before"])
    platform.server.reset(world())
    session = platform.session(wanted)
    with pytest.raises(Killed):
        platform.apply(session, agreed_to(platform, session), lambda inner: Kill(inner, number, when))
    nothing_twice(applied(platform, wanted))


@law(28)
def test_apply_with_lost_response_creates_no_duplicates(platform: Platform, draw: Draw) -> None:
    wanted = keeping(organization(draw))
    writes = writes_of(platform, wanted)
    number, when = draw.number(0, writes - 1), draw.pick(["after", "before"])
    fault = draw.pick([Lose, Break])
    platform.server.reset(world())
    session = platform.session(wanted)
    platform.apply(session, agreed_to(platform, session), lambda inner: fault(inner, number, when))
    nothing_twice(applied(platform, wanted))


@law(20)
def test_plan_is_independent_of_files_keys_and_parallelism(platform: Platform, draw: Draw) -> None:
    platform.server.reset(world())
    applied(platform, document(organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    wanted = document(organization(draw))
    plan = platform.plan(platform.session(wanted, parallelism=1)).plan
    root = write_in_parts(draw, wanted, platform.directory / "others")
    for parallelism in (1, 16):
        again = platform.plan(Session(load(root, {}), REGISTRY, parallelism)).plan
        assert again.canonical_json() == plan.canonical_json()


def writes_of(platform: Platform, wanted: Fields) -> int:
    platform.server.reset(world())
    return applied(platform, wanted).writes


def nothing_twice(report: Report) -> None:
    """Check that no object exists twice: a duplicate is undeclared, and only memberships may be."""
    assert report.remaining is not None
    assert [kept for kept in report.remaining.kept if not kept.place.endswith("/members")] == []
