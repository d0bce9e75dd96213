"""A plan lists under Access which merge rules become less strict, and omits rules that become stricter."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.planner.plan import make_plan

from .stages import Case

NONE = {"type": "none"}
INHERIT = {"type": "inherit"}
REVIEW = {"rule": "require_at_least_one_review"}
APPROVED = {"rule": "require_at_least_one_approved_review"}
SUBJECT = {"rule": "require_change_request_subject"}


def rules(*items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rules", "rules": list(items)}


def all_of(*users: str) -> dict[str, Any]:
    return {"rule": "require_specific_reviewers", "users": list(users)}


def one_of(*users: str) -> dict[str, Any]:
    return {"rule": "require_one_of_specific_reviewers", "users": list(users)}


def bypass(*users: str) -> dict[str, Any]:
    return {"rule": "allow_bypass", "users": list(users)}


def custom(expression: str, message: str) -> dict[str, Any]:
    return {"rule": "custom", "expression": expression, "message": message}


def access_lines(before: dict[str, Any], after: dict[str, Any], organization: Any = ({}, {})) -> list[str]:
    """Return the lines under Access in a plan that changes the merge rules of a space."""
    wanted, live = {"space": {"s": {"mergeRules": after}}}, {"space": {"s": {"mergeRules": before}}}
    plan = make_plan(Case(wanted, live, organization=organization).sides())
    return [item.words for item in plan.exposures if item.address == "acme/spaces/s"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(NONE, rules(SUBJECT), id="first rule"),
        pytest.param(NONE, rules(SUBJECT, bypass("ada")), id="first rule with a bypass"),
        pytest.param(rules(SUBJECT), rules(REVIEW, SUBJECT), id="one more rule"),
        pytest.param(rules(REVIEW, SUBJECT), rules(SUBJECT, REVIEW), id="another order"),
        pytest.param(rules(REVIEW), rules(APPROVED), id="approval in place of a review"),
        pytest.param(rules(REVIEW), rules(all_of("ada")), id="named reviewer in place of any reviewer"),
        pytest.param(rules(all_of("ada")), rules(all_of("bo", "ada")), id="one more reviewer needed"),
        pytest.param(rules(one_of("ada", "bo")), rules(one_of("bo")), id="fewer reviewers to choose from"),
        pytest.param(rules(one_of("ada", "bo")), rules(all_of("ada", "cy")), id="all instead of one"),
        pytest.param(rules(SUBJECT, bypass("ada", "bo")), rules(SUBJECT, bypass("bo")), id="smaller bypass"),
        pytest.param(rules(SUBJECT, bypass("ada")), rules(SUBJECT), id="nobody may bypass"),
        pytest.param(rules(bypass("ada")), NONE, id="bypass without rules"),
        pytest.param(rules(custom("x", "a")), rules(custom("x", "b")), id="another message"),
    ],
)  # fmt: skip
def test_stricter_merge_rules_list_no_exposure(before: dict[str, Any], after: dict[str, Any]) -> None:
    """A false "may restrict less" asks for a needless confirmation, and distracts from real exposures."""
    assert access_lines(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (rules(REVIEW, SUBJECT), rules(REVIEW), "require_change_request_subject removed"),
        (rules(APPROVED), rules(REVIEW), "require_at_least_one_approved_review removed"),
        (rules(APPROVED), NONE, "require_at_least_one_approved_review removed"),
        (rules(all_of("ada", "bo")), rules(all_of("bo")), "require_specific_reviewers changed"),
        (rules(one_of("ada")), rules(one_of("ada", "bo")), "require_one_of_specific_reviewers changed"),
        (rules(one_of("ada")), rules(one_of()), "require_one_of_specific_reviewers changed"),
        (rules(one_of("ada")), rules(all_of("bo")), "require_one_of_specific_reviewers removed"),
        (rules(REVIEW), rules(all_of()), "require_at_least_one_review removed"),
        (rules(custom("x", "a")), rules(custom("y", "a")), "custom changed"),
        (rules(SUBJECT), rules(SUBJECT, bypass("ada")), "allow_bypass added"),
        (rules(SUBJECT, bypass("ada")), rules(SUBJECT, bypass("bo")), "allow_bypass for more users"),
    ],
)
def test_loosened_merge_rule_is_listed_as_exposure(
    before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    assert access_lines(before, after) == [f"mergeRules: {words}"]


@pytest.mark.parametrize(
    ("organization", "before", "after", "words"),
    [
        pytest.param(NONE, INHERIT, rules(REVIEW), [], id="own rules and none inherited"),
        pytest.param(rules(REVIEW), INHERIT, rules(APPROVED), [], id="own rules bind more"),
        pytest.param(
            rules(REVIEW, SUBJECT), INHERIT, rules(REVIEW),
            ["mergeRules: require_change_request_subject removed"], id="own rules bind less",
        ),
        pytest.param(rules(REVIEW, SUBJECT), rules(REVIEW), INHERIT, [], id="inherited rules bind more"),
        pytest.param(
            NONE, rules(REVIEW), INHERIT, ["mergeRules: require_at_least_one_review removed"],
            id="inherited rules bind less",
        ),
        pytest.param(None, INHERIT, rules(REVIEW), ["mergeRules may restrict less"], id="unknown rules"),
    ],
)  # fmt: skip
def test_space_without_merge_rules_inherits_organization_rules(
    organization: dict[str, Any] | None, before: dict[str, Any], after: dict[str, Any], words: list[str]
) -> None:
    live = {"mergeRules": organization} if organization else {}
    assert access_lines(before, after, (live, {})) == words


def test_inherited_merge_rules_use_planned_organization_rules() -> None:
    organization = ({"mergeRules": NONE}, {"mergeRules": rules(REVIEW, SUBJECT)})
    assert access_lines(rules(REVIEW), INHERIT, organization) == []
