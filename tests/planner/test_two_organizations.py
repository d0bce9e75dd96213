"""Two organizations in one configuration: nothing of one is ever taken for something of the other."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.api import Options, Session, load
from dpsync.client.client import WriteClient
from dpsync.model.plan import Plan
from tests.agreed import agreed

from .lab import REGISTRY, Lab, world

BOTH = """\
dpsync: 1
policy: {{ prune: [teams], limits: {{ deletes: 1, percent: 100 }} }}
organizations:
  acme:
    id: acme
    members: {{ ada@acme.example: admin, bo@acme.example: {role} }}
    teams: {{ w: {{ title: Writers, new: true, members: {{ bo@acme.example: owner }} }} }}
  globex:
    id: globex
    members: {{ ada@acme.example: admin, bo@acme.example: read }}
    teams:
      w: {{ title: Writers, new: true, members: {{ ada@acme.example: owner, bo@acme.example: member }} }}
"""


@pytest.fixture
def two(lab: Lab) -> Lab:
    lab.server.reset(two_organizations())
    return lab


def two_organizations(*readers: str) -> dict[str, Any]:
    """Return a world whose organizations have the readers as members, with ada and bo."""
    members = [{"user": "ada", "role": "admin"}, {"user": "bo", "role": "create"}]
    members += [{"user": name, "role": "read"} for name in readers]
    both = world(members=members, teams=[{"id": "a1", "title": "Old"}, {"id": "a2", "title": "Older"}])
    teams = [{"id": "g1", "title": "Old"}, {"id": "g2", "title": "Oldest"}]
    both["organizations"].append({"id": "globex", "title": "Globex", "members": members, "teams": teams})
    both["users"] += [{"id": name, "displayName": name, "email": f"{name}@acme.example"} for name in readers]
    return both


def planned(lab: Lab, text: str, *confirm: str, apply: bool = False) -> Plan:
    (lab.project / "dpsync.yaml").write_text(text)
    session, options = Session(load(lab.project / "dpsync.yaml", {}), REGISTRY), Options(confirm)
    with WriteClient(lab.server.url, "token") as client:
        first = agreed(session, client, options)
        if not apply:
            return first.plan
        report = session.apply(client, first)
        assert report.complete, report
        assert report.remaining is not None
        return report.remaining


def test_member_gets_own_role_in_each_organization(two: Lab) -> None:
    changes = {
        change.address: [(item.before, item.after) for item in change.differences]
        for change in planned(two, BOTH.format(role="review")).changes
        if change.kind == "member"
    }
    assert changes == {
        "acme/members/bo@acme.example": [("create", "review")],
        "globex/members/bo@acme.example": [("create", "read")],
    }


def test_organizations_share_confirmed_delete_count(two: Lab) -> None:
    text = BOTH.format(role="create")
    refusals = planned(two, text).refusals
    assert [item.code for item in refusals] == ["limits"]
    for name in ("acme", "globex"):
        said = f"in {name}, policy.limits allows 1 delete without confirmation, and this plan has 2"
        assert said in refusals[0].message
    assert '"delete 4"' in refusals[0].way_out
    assert not planned(two, text, "delete 2").can_apply
    assert planned(two, text, "delete 4").can_apply


def test_percent_limit_is_calculated_per_organization(two: Lab) -> None:
    two.server.reset(two_organizations(*(f"reader-{number}" for number in range(16))))
    text = BOTH.format(role="create").replace("deletes: 1, percent: 100", "deletes: 99, percent: 9")
    (found,) = planned(two, text).refusals
    assert ": in acme, policy.limits allows deletes of 9 percent of the objects" in found.message


def test_both_organizations_converge(two: Lab) -> None:
    assert planned(two, BOTH.format(role="edit"), "delete 4", apply=True).empty


def test_plan_refuses_removing_last_admin_of_any_organization(two: Lab) -> None:
    text = BOTH.replace(
        "ada@acme.example: admin, bo@acme.example: read", "ada@acme.example: read, bo@acme.example: read"
    )
    found = planned(two, text.format(role="admin"), "delete 4").refusals
    assert {(item.code, item.address) for item in found} == {
        ("last-admin", "globex/members/ada@acme.example"),
        ("own-user", "globex/members/ada@acme.example"),
    }
