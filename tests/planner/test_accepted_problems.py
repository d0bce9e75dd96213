"""`policy: accept`: a problem on the platform's side that people know of is not listed as trouble."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Unsupported
from dpsync.model.plan import Plan
from dpsync.planner.decide import decide
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Options

from .stages import SPAN, Case, Things

SAML: Things = {"saml": {"azure": {"label": "Azure"}}}
PENDING: Things = {"saml": {"azure": {"label": "Azure", "status": "pending"}}}
ACTIVE: Things = {"saml": {"azure": {"label": "Azure", "status": "active"}}}
SPEC = {"slug": "billing", "source": {"url": "https://acme.example/a.yaml"}}
WANTED: Things = {"openapi": {"billing": SPEC}}
FAILED: Things = {"openapi": {"billing": {**SPEC, "lastProcessErrorCode": "PARSE_ERROR"}}}
BUSY: Things = {"openapi": {"billing": {**SPEC, "processingState": "pending"}}}
DONE: Things = {"openapi": {"billing": {**SPEC, "processingState": "complete"}}}
GONE = "GitBook no longer reports this problem: remove this line"
NOTHING = "this pattern matches no entry and no live object"


def planned(case: Case) -> Plan:
    return make_plan(case.sides())


@pytest.mark.parametrize(
    ("wanted", "live", "accept", "accepted"),
    [
        pytest.param(SAML, PENDING, [], False, id="no line"),
        pytest.param(SAML, PENDING, ["saml/azure#status"], True, id="its address"),
        pytest.param(SAML, PENDING, ["acme/saml/azure#status"], True, id="address with organization"),
        pytest.param(SAML, PENDING, ["saml/*#status"], True, id="any key"),
        pytest.param(SAML, PENDING, ["**#status"], True, id="any depth"),
        pytest.param(SAML, PENDING, ["saml/okta#status"], False, id="another key"),
        pytest.param(SAML, PENDING, ["openapi/azure#lastProcessErrorCode"], False, id="another kind"),
        pytest.param(SAML, PENDING, ["saml/azure#label"], False, id="another field"),
        pytest.param(WANTED, FAILED, ["openapi/*#lastProcessErrorCode"], True, id="failed processing"),
        pytest.param(WANTED, FAILED, ["**#status"], False, id="another kind's field"),
    ],
)
def test_accepted_platform_problem_is_not_listed_as_problem(
    wanted: Things, live: Things, accept: list[str], accepted: bool
) -> None:
    plan = planned(Case(wanted, live, accept=accept))
    assert (len(plan.trouble), len(plan.accepted)) == ((0, 1) if accepted else (1, 0))
    assert plan.empty


def test_plan_digest_ignores_accept_patterns() -> None:
    plans = [planned(Case(SAML, PENDING, accept=accept)) for accept in ([], ["saml/azure#status"])]
    assert len({plan.digest for plan in plans}) == 1


def test_accepted_problem_suggests_confirm_send_for_failed_field() -> None:
    case = Case(WANTED, FAILED, accept=["openapi/billing#lastProcessErrorCode"])
    (item,) = planned(case).accepted
    assert item.field == "source"
    assert 'add --confirm "send acme/openapi/billing#source"' in item.what


@pytest.mark.parametrize(
    ("wanted", "live", "pattern", "note"),
    [
        pytest.param(SAML, PENDING, "saml/azure#status", None, id="problem is there"),
        pytest.param(SAML, ACTIVE, "saml/azure#status", ("note", GONE), id="problem is gone"),
        pytest.param(SAML, ACTIVE, "**#status", ("note", GONE), id="wildcard and all is fine"),
        pytest.param(SAML, {}, "saml/azure#status", None, id="object not created yet"),
        pytest.param(SAML, ACTIVE, "saml/old#status", ("warning", NOTHING), id="no such entry"),
        pytest.param({}, {}, "saml/azure#status", ("warning", NOTHING), id="no entries"),
        pytest.param(
            WANTED, BUSY, "openapi/billing#lastProcessErrorCode", None, id="platform is still at work"
        ),
        pytest.param(
            WANTED, DONE, "openapi/billing#lastProcessErrorCode", ("note", GONE), id="platform is done"
        ),
        pytest.param(
            {"saml": {**SAML["saml"], "okta": {"label": "Okta"}}},
            {"saml": {**PENDING["saml"], "okta": {"label": "Okta", "status": "active"}}},
            "saml/*#status", None, id="one of two has the problem",
        ),
    ],
)  # fmt: skip
def test_plan_notes_unneeded_accept_pattern(
    wanted: Things, live: Things, pattern: str, note: tuple[str, str] | None
) -> None:
    plan = planned(Case(wanted, live, accept=[pattern]))
    notes = [item for item in plan.notes if item.address == f'policy.accept "{pattern}"']
    assert [(item.severity, item.text) for item in notes] == ([note] if note else [])


def test_accept_pattern_of_unreadable_object_is_not_unneeded() -> None:
    """Otherwise, a token that reads less tells its user to remove lines that are needed."""
    sides = Case(SAML, ACTIVE, accept=["saml/azure#status"]).sides()
    address = Address.parse("acme/saml/azure")
    unread = replace(sides.snapshot, not_readable={address: Unsupported("not readable", SPAN)})
    plan = make_plan(replace(sides, snapshot=unread))
    assert not [item for item in plan.notes if item.address.startswith("policy.accept")]


def test_accept_pattern_outside_selection_is_not_unneeded() -> None:
    case = Case({**SAML, "team": {"one": {"title": "One"}}}, {**PENDING, "team": {"one": {"title": "One"}}})
    case.accept = ["saml/azure#status"]
    plan = make_plan(replace(case.sides(), options=Options(select=("teams/*",))))
    assert not [item for item in plan.notes if item.address.startswith("policy.accept")]
    assert (plan.trouble, plan.accepted) == ((), ())


def test_plan_records_origin_of_accept_pattern() -> None:
    sides = Case(SAML, ACTIVE).sides()
    pattern = Pattern.parse("saml/azure#status", sides.registry.pattern_words, SPAN)
    declared = replace(sides.loaded, policy=replace(sides.loaded.policy, accept=(pattern,)))
    plan = make_plan(replace(sides, loaded=declared))
    assert plan.origins['policy.accept "saml/azure#status"'].file == SPAN.file


def test_plan_separates_accepted_problems_from_other_problems() -> None:
    both: Things = {**SAML, **WANTED}
    found = decide(Case(both, {**PENDING, **FAILED}, accept=["saml/*#status"]).sides())
    assert [item.address for item in found.accepted] == ["acme/saml/azure"]
    assert [item.address for item in found.trouble] == ["acme/openapi/billing"]
