"""How much may go or be seen at once: from limits, numbers and plain changes, without sides or platform."""

from __future__ import annotations

import pytest

from dpsync.model.entries.desired import Limits
from dpsync.model.plans.change import Change, Effect
from dpsync.model.plans.impact import Exposure
from dpsync.planner.inputs.answers import Answer
from dpsync.planner.questions.limits import LimitsInForce, exceeding, limited

from .stages import ACME

KEYS = "abcdefghijklmnopqrst"
"""The keys of twenty teams: enough for `percent` to apply."""


def bounds(limits: Limits, since: str = "", keys: str = KEYS) -> LimitsInForce:
    return LimitsInForce(limits, since, lambda name: frozenset(f"{name}/teams/{key}" for key in keys))


def delete(key: str, *along: str) -> Change:
    effects = tuple(Effect(address=f"acme/teams/a/members/{one}", what="goes with it") for one in along)
    return Change(
        address=f"acme/teams/{key}", kind="team", action="delete", label=key, id=key, effects=effects
    )


def asked(limits: Limits, *deletes: Change) -> list[str]:
    return [str(question.answer) for question in limited(bounds(limits), [*deletes], ())]


@pytest.mark.parametrize(
    ("limits", "questions"),
    [
        (Limits(2, 10), []),
        (Limits(1, 100), ["delete 2"]),
        (Limits(9, 9), ["delete 2"]),
    ],
)
def test_more_deletes_than_either_limit_allows_are_asked_about_by_their_number(
    limits: Limits, questions: list[str]
) -> None:
    assert asked(limits, delete("a"), delete("b")) == questions


@pytest.mark.parametrize(
    ("managed", "message"),
    [
        pytest.param(19, None, id="19 objects"),
        pytest.param(
            20, "2 things would be deleted, 10 percent of 20; allowed: 9 and 9 percent", id="20 objects"
        ),
    ],
)
def test_percent_limit_applies_from_twenty_managed_objects(managed: int, message: str | None) -> None:
    """Otherwise, deleting one of three teams is refused because it is 33 percent."""
    found = limited(bounds(Limits(9, 9), keys=KEYS[:managed]), [delete("a"), delete("b")], ())
    assert [item.refusal.message for item in found if item.refusal] == ([message] if message else [])


def test_refusal_in_small_organization_names_only_the_number() -> None:
    (question,) = limited(bounds(Limits(1, 10), keys="abc"), [delete("a"), delete("b")], ())
    assert question.refusal is not None
    assert question.refusal.message == "2 things would be deleted; allowed: 1"


def test_drift_applies_percent_from_twenty_managed_objects() -> None:
    team = delete("a")
    assert exceeding(bounds(Limits(9, 4), keys="abc"), [team]) == frozenset()
    assert exceeding(bounds(Limits(9, 4)), [team]) == {team.location}


def test_what_goes_along_counts_in_the_number_and_in_the_whole() -> None:
    assert asked(Limits(1, 100), delete("a", "x")) == ["delete 2"]
    assert asked(Limits(9, 9), delete("a", "x")) == ["delete 2"]  # two of 21
    assert asked(Limits(9, 10), delete("a", "x")) == []


def test_what_goes_with_a_rebuilt_navigation_is_in_the_number_and_not_held_against_the_limits() -> None:
    found = list(limited(bounds(Limits(1, 100)), [delete("a"), delete("b")], (), [ACME.child("teams", "a")]))
    assert found == []
    found = list(limited(bounds(Limits(0, 100)), [delete("a"), delete("b")], (), [ACME.child("teams", "a")]))
    assert [question.answer for question in found] == [Answer("delete", "2")]


@pytest.mark.parametrize(
    ("rebuilt", "words"),
    [
        ((), "2 things would be deleted, 10 percent of 20;"),
        (("a",), "2 things would be deleted; 1 of them count here, 5 percent of 20;"),
    ],
)
def test_the_question_says_how_many_of_the_number_count(rebuilt: tuple[str, ...], words: str) -> None:
    places = [ACME.child("teams", key) for key in rebuilt]
    (question,) = limited(bounds(Limits(0, 100)), [delete("a"), delete("b")], (), places)
    assert question.refusal is not None
    assert question.refusal.message.startswith(words)


def test_a_limit_that_this_change_raises_is_told_as_that_of_the_base() -> None:
    (question,) = limited(bounds(Limits(0, 100), " by HEAD: not yet"), [delete("a")], ())
    assert question.refusal is not None
    assert question.refusal.message.endswith("allowed: 0 and 100 percent by HEAD: not yet")


def test_of_several_deletes_those_are_named_that_are_too_much_by_themselves() -> None:
    changes = [delete("a", "x", "y"), delete("b")]
    assert exceeding(bounds(Limits(2, 100)), changes) == {ACME.child("teams", "a")}


def exposure(address: str, moment: bool = False) -> Exposure:
    return Exposure(address=address, field="published", words="it is seen", moment=moment)


def test_exposures_are_asked_about_beyond_their_limit_and_those_of_a_moment_always() -> None:
    found = [exposure("acme/sites/a"), exposure("acme/sites/b", moment=True)]
    few = limited(bounds(Limits(9, 100, 2)), [], tuple(found))
    many = limited(bounds(Limits(9, 100, 1)), [], tuple(found))
    assert [str(question.answer) for question in few] == ["expose for a moment 1"]
    assert [str(question.answer) for question in many] == ["expose 2", "expose for a moment 1"]


def test_exposures_are_counted_in_each_organization_and_answered_by_their_whole_number() -> None:
    found = (exposure("acme/sites/a"), exposure("acme/sites/b"), exposure("beta/sites/c"))
    (question,) = limited(bounds(Limits(9, 100, 1)), [], found)
    assert question.refusal is not None
    assert (question.refusal.address, str(question.answer)) == ("acme", "expose 3")
    assert question.refusal.message.startswith("2 changes ")
