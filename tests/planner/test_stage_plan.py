"""What a plan says besides its requests, from plain values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsync.model.address import Address
from dpsync.model.desired import Unserved
from dpsync.model.plan import Organization, Plan
from dpsync.model.snapshot import Evidence
from dpsync.model.values import Ref
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options, Sides

from .stages import ACME, SPAN, Case

ONE = {"one": {"title": "One"}}
TWO = {"two": {"title": "Two"}}


def told(plan: Plan) -> tuple[list[str], list[str]]:
    return [item.address for item in plan.changes], [item.address for item in plan.blocked]


def test_a_plan_names_organizations_and_nothing_else_as_organizations() -> None:
    plan = make_plan(Case({"team": ONE}, {"team": ONE}).sides())
    assert plan.organizations == (Organization(address="acme", id="acme"),)


def with_unread_teams(case: Case, *, delete: bool = True) -> Sides:
    """Sides on which nobody can tell what is undeclared among the teams."""
    sides = case.sides()
    unsettled = {ACME.child("teams"): Unserved("a list may not be read", SPAN)}
    return replace(
        sides, snapshot=replace(sides.snapshot, unsettled=unsettled), options=Options(delete=delete)
    )


@pytest.mark.parametrize(
    ("prune", "ignore", "delete", "blocked"),
    [
        (["teams"], [], True, ["acme/teams"]),
        ([], [], True, []),
        (["teams"], [], False, []),
        (["teams"], ["teams"], True, []),
    ],
)
def test_a_place_that_is_not_known_is_blocked_where_deletes_were_wanted(
    prune: list[str], ignore: list[str], delete: bool, blocked: list[str]
) -> None:
    case = Case({"team": {}}, {"team": TWO}, prune=prune, ignore=ignore)
    assert told(make_plan(with_unread_teams(case, delete=delete))) == ([], blocked)


def test_what_would_take_along_what_nobody_sees_is_not_deleted_and_the_rest_is() -> None:
    sides = Case({"team": {}}, {"team": {**ONE, **TWO}}, prune=["teams"]).sides()
    evidence = Evidence(unseen={("team", "team-one"): "/orgs/acme/teams/one/members"})
    plan = make_plan(replace(sides, snapshot=replace(sides.snapshot, evidence=evidence)))
    assert told(plan) == (["acme/teams/[Two]"], ["acme/teams/[One]"])
    assert "/orgs/acme/teams/one/members" in plan.blocked[0].reason


def test_a_selected_entry_brings_along_what_it_names_and_is_to_be_made() -> None:
    wanted = {
        "collection": {"c": {"title": "C"}, "other": {"title": "Other"}},
        "space": {"s": {"title": "S", "collection": Ref(Address.parse("acme/collections/c"))}},
    }
    sides = replace(Case(wanted).sides(), options=Options(select=("spaces/s",)))
    assert told(make_plan(sides))[0] == ["acme/collections/c", "acme/spaces/s"]
