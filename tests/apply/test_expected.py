"""What was agreed to is an assertion about the plan of now: the same changes, and no new refusal."""

from __future__ import annotations

import pytest

from dpsync.apply.saved_plan import Expected, NotApprovedError, StaleStateError, stale_reasons
from dpsync.model.change import Blocked, Change, Difference, Effect, Kept, Note, Step
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal

STEP = Step(id="a create", verb="create", method="PUT", path="/teams", body={"title": "A"}, repeat="look_up")
CREATE = Change(address="acme/teams/a", kind="team", action="create", steps=(STEP,))
GONE = Change(address="acme/teams/[b]", kind="team", action="delete", id="b", digest="0")
PLAN = Plan(changes=(CREATE, GONE))
REFUSAL = Refusal(code="protected", address="acme/teams/[b]", message="it is protected", way_out="leave it")
OTHER = REFUSAL.model_copy(update={"code": "own-user"})


def with_(change: Change, **more: object) -> Plan:
    return PLAN.model_copy(update={"changes": (change.model_copy(update=more), GONE)})


@pytest.mark.parametrize(
    ("now", "where"),
    [
        (Plan(changes=(CREATE,)), "acme/teams/[b]"),
        (Plan(changes=(CREATE, GONE, CREATE.model_copy(update={"address": "acme/x"}))), "acme/x"),
        (with_(CREATE, steps=()), "acme/teams/a"),
        (with_(CREATE, steps=(STEP.model_copy(update={"path": "/others"}),)), "acme/teams/a"),
        (with_(CREATE, steps=(STEP.model_copy(update={"body": {"title": "B"}}),)), "acme/teams/a"),
        (with_(CREATE, id="other"), "acme/teams/a"),
        (with_(CREATE, digest="1"), "acme/teams/a"),
        (with_(CREATE, effects=(Effect(address="acme/x", what="goes with it"),)), "acme/teams/a"),
        (with_(CREATE, differences=(Difference(field="title", after="B"),)), "acme/teams/a"),
        (PLAN.model_copy(update={"refusals": (REFUSAL,)}), "acme/teams/[b]"),
        (PLAN.model_copy(update={"environment": "prod"}), "environment"),
        (PLAN.model_copy(update={"platform": "https://another.example"}), "platform"),
    ],
)
def test_apply_refuses_plan_differing_from_approved_plan(now: Plan, where: str) -> None:
    """Otherwise, what was agreed to and is not needed any more is no difference.

    Otherwise, what nobody has seen is carried out.
    Otherwise, something else is done to a thing than was agreed to.
    Otherwise, a plan of staging is carried out in production.
    Otherwise, a plan of another environment is carried out.
    """
    with pytest.raises(StaleStateError) as refused:
        Expected(PLAN).check(now)
    assert list(refused.value.stale) == [where]


@pytest.mark.parametrize(("before", "named"), [("prod", "prod"), (None, "none")])
def test_apply_refuses_plan_of_other_environment_by_name(before: str | None, named: str) -> None:
    made, now = (PLAN.model_copy(update={"environment": name}) for name in (before, "test"))
    assert stale_reasons(made, now, "it") == {
        "environment": f"the plan was made for another environment: {named}"
    }


@pytest.mark.parametrize(
    "now",
    [
        PLAN,
        PLAN.model_copy(update={"kept": (Kept(place="acme/spaces", addresses=("acme/spaces/[x]",)),)}),
        PLAN.model_copy(update={"notes": (Note(address="acme", text="by the way"),)}),
        PLAN.model_copy(update={"blocked": (Blocked(address="acme/x", reason="by hand"),)}),
        PLAN.model_copy(update={"requests": 12, "base_from": "HEAD", "base": "0" * 40}),
        with_(CREATE, cause="edited here"),
    ],
)
def test_apply_accepts_plan_differing_only_cosmetically(now: Plan) -> None:
    Expected(PLAN).check(now)


EDITED = Difference(field="title", before="A", after="B", cause="edited here")


@pytest.mark.parametrize(
    "now",
    [
        with_(CREATE, differences=(EDITED.model_copy(update={"cause": "both"}),), cause="edited here"),
        with_(CREATE, differences=(EDITED,)).model_copy(
            update={
                "base": "0" * 40,
                "base_from": "HEAD",
                "notes": (Note(address="acme", text="removed here"),),
            }
        ),
    ],
)
def test_change_cause_does_not_affect_plan_digest(now: Plan) -> None:
    shown = with_(CREATE, differences=(EDITED,))
    assert now.digest == shown.digest
    Expected(shown, shown.digest).check(now)


def test_note_about_consequences_changes_plan_digest() -> None:
    lost = Note(
        address="acme/teams/a",
        text="the space [x] is inside this object and is transferred, too",
        consequence=True,
    )
    assert PLAN.model_copy(update={"notes": (lost,)}).digest != PLAN.digest


def test_apply_refuses_plan_with_refusal_added_since_approval() -> None:
    """Otherwise, a guard that arose since does not count."""
    refused = PLAN.model_copy(update={"refusals": (REFUSAL,)})
    Expected(refused).check(refused)
    Expected(refused).check(PLAN)
    with pytest.raises(StaleStateError, match="own-user"):
        Expected(refused).check(PLAN.model_copy(update={"refusals": (REFUSAL, OTHER)}))


@pytest.mark.parametrize("digits", [32, 40, 64])
def test_approved_digest_matches_only_current_plan(digits: int) -> None:
    """Otherwise, what was approved is not asked."""
    Expected(approved=PLAN.digest[:digits].upper()).check(PLAN)
    with pytest.raises(NotApprovedError):
        Expected(approved=PLAN.digest[:digits]).check(Plan(changes=(CREATE,)))


@pytest.mark.parametrize("approved", ["", "0" * 64, PLAN.digest[:31], PLAN.digest + "0"])
def test_invalid_approved_digest_is_refused(approved: str) -> None:
    """Otherwise, a digest of a few digits, or of none, approves a plan."""
    with pytest.raises(NotApprovedError):
        Expected(approved=approved).check(PLAN)


def test_apply_without_approved_digest_accepts_any_plan() -> None:
    Expected().check(PLAN)
