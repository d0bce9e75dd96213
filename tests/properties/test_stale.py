"""Somebody else writes between plan and apply: nothing of theirs is overwritten, nothing at all is sent."""

from __future__ import annotations

import pytest

from dpsync.apply.run import StaleStateError
from dpsync.model.change import Change

from .laws import discard_if, law, plan_of
from .organizations import Draw
from .platform import Platform, case

_TITLED = {
    "organization": "/orgs/{id}",
    "team": "/orgs/{org}/teams/{id}",
    "collection": "/collections/{id}",
    "space": "/spaces/{id}",
    "site": "/orgs/{org}/sites/{id}",
}


@law(40)
def test_apply_refuses_plan_after_outside_change(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=3, explicit=True)
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)
    candidates = [
        change for change in planned.plan.changes if change.id and change.kind in _TITLED and change.steps
    ]
    discard_if(not candidates, "nothing that somebody else could change")
    change = draw.pick(candidates)
    elsewhere(platform, change, "By somebody else")
    platform.writes()
    before = platform.state()

    with pytest.raises(StaleStateError) as refused:
        platform.apply(session, planned)

    assert list(refused.value.stale) == [change.address]
    assert platform.writes() == []
    assert platform.state() == before


def elsewhere(platform: Platform, change: Change, title: str) -> None:
    org = "org-" + change.address.split("/")[0]
    path = _TITLED[change.kind].format(org=org, id=change.id)
    with platform.client() as client:
        client.send("PATCH", path, {"title": title}, repeatable=True)


@law(40)
def test_apply_refuses_plan_after_outside_creation(platform: Platform, draw: Draw) -> None:
    made = case(draw, size=3, explicit=True)
    made.configuration["organizations"]["acme"]["teams"]["newcomers"] = {"title": "Newcomers"}
    platform.start(made)
    session = platform.session(made.configuration)
    planned = plan_of(platform, session)
    creates = [
        (change, step)
        for change in planned.plan.changes
        for step in change.steps
        if change.action == "create" and step.verb == "create" and not step.needs and change.kind in _TITLED
    ]
    change, step = draw.pick(creates)
    with platform.client() as client:
        client.send(step.method, step.path, step.body, repeatable=False)
    platform.writes()

    with pytest.raises(StaleStateError) as refused:
        platform.apply(session, planned)

    assert list(refused.value.stale) == [change.address]
    assert platform.writes() == []
