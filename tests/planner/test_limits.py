"""How much may go or be seen at once: from limits, numbers and plain changes, without sides or platform."""

from __future__ import annotations

import pytest

from dpsync.model.change import Change, Effect, Exposure
from dpsync.model.desired import Limits
from dpsync.planner.delete_questions import (
    EffectiveLimits,
    deletes_over_limits,
    exceeded_delete_limits,
    exposure_limit_questions,
)

from .stages import ACME

KEYS = "abcdefghijklmnopqrst"
"""The keys of twenty teams: enough for `percent` to apply."""


def bounds(limits: Limits, since: str = "", keys: str = KEYS) -> EffectiveLimits:
    return EffectiveLimits(limits, since, lambda name: frozenset(f"{name}/teams/{key}" for key in keys))


def delete(key: str, *along: str) -> Change:
    effects = tuple(Effect(address=f"acme/teams/a/members/{one}", what="goes with it") for one in along)
    return Change(
        address=f"acme/teams/{key}", kind="team", action="delete", label=key, id=key, effects=effects
    )


def words(found: EffectiveLimits, *deletes: Change) -> list[str]:
    return [str(one) for one in exceeded_delete_limits(found, deletes)]


def is_asked(limits: Limits, *deletes: Change) -> bool:
    return bool(words(bounds(limits), *deletes))


@pytest.mark.parametrize(
    ("limits", "asked"), [(Limits(2, 10), False), (Limits(1, 100), True), (Limits(9, 9), True)]
)
def test_deletions_above_either_limit_need_confirmation(limits: Limits, asked: bool) -> None:
    assert is_asked(limits, delete("a"), delete("b")) == asked


@pytest.mark.parametrize(
    ("managed", "message"),
    [
        pytest.param(19, None, id="19 objects"),
        pytest.param(
            20,
            "policy.limits allows deletes of 9 percent of the objects without confirmation, and this plan "
            "deletes 10 percent of 20 objects",
            id="20 objects",
        ),
    ],
)
def test_delete_percent_limit_applies_from_twenty_managed_objects(managed: int, message: str | None) -> None:
    """Otherwise, deleting one of three teams is refused because it is 33 percent."""
    found = words(bounds(Limits(9, 9), keys=KEYS[:managed]), delete("a"), delete("b"))
    assert found == ([message] if message else [])


def test_small_organization_refusal_omits_percent() -> None:
    found = words(bounds(Limits(1, 10), keys="abc"), delete("a"), delete("b"))
    assert found == ["policy.limits allows 1 delete without confirmation, and this plan has 2 deletes"]


def test_delete_limit_refusal_excludes_confirmed_addresses() -> None:
    [found] = exceeded_delete_limits(bounds(Limits(0, 100)), [delete("a")], some_named=True)
    assert str(found).endswith("this plan has 1 delete (not counting objects that you confirmed by address)")


def test_drift_percent_limit_needs_twenty_objects() -> None:
    team = delete("a")
    assert deletes_over_limits(bounds(Limits(9, 4), keys="abc"), [team]) == frozenset()
    assert deletes_over_limits(bounds(Limits(9, 4)), [team]) == {team.location}


def test_deletion_limit_counts_cascaded_objects() -> None:
    assert is_asked(Limits(1, 100), delete("a", "x"))
    assert is_asked(Limits(9, 9), delete("a", "x"))  # two of 21
    assert not is_asked(Limits(9, 10), delete("a", "x"))


def test_delete_limit_refusal_mentions_limit_of_git_base() -> None:
    (found,) = words(bounds(Limits(0, 100), " by HEAD: not yet"), delete("a"))
    assert found.endswith("this plan has 1 delete by HEAD: not yet")


def test_delete_limit_refusal_lists_large_cascades() -> None:
    changes = [delete("a", "x", "y"), delete("b")]
    assert deletes_over_limits(bounds(Limits(2, 100)), changes) == {ACME.child("teams", "a")}


def exposure(address: str, moment: bool = False) -> Exposure:
    return Exposure(address=address, field="published", words="it is seen", moment=moment)


def test_transient_exposures_always_need_confirmation() -> None:
    found = [exposure("acme/sites/a"), exposure("acme/sites/b", moment=True)]
    few = exposure_limit_questions(bounds(Limits(9, 100, 2)), tuple(found))
    many = exposure_limit_questions(bounds(Limits(9, 100, 1)), tuple(found))
    assert [str(question.answer) for question in few] == ["expose for a moment 1"]
    assert [str(question.answer) for question in many] == ["expose 2", "expose for a moment 1"]


def test_exposure_limits_apply_per_organization() -> None:
    found = (exposure("acme/sites/a"), exposure("acme/sites/b"), exposure("beta/sites/c"))
    (question,) = exposure_limit_questions(bounds(Limits(9, 100, 1)), found)
    assert question.refusal is not None
    assert (question.refusal.address, str(question.answer)) == ("acme", "expose 3")
    assert " in 2 ways, " in question.refusal.message
