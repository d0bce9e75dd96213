"""The questions of a plan, with what may be typed to answer each."""

from __future__ import annotations

import pytest

from dpsync.model.address import Address
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.model.question import Candidate, Refusal, WayOut
from dpsync.workflows.open_questions import OpenQuestion, TypedAnswers, open_questions

A, B = Address.parse("acme/teams/a"), Address.parse("acme/teams/b")
LEGACY = Candidate(address="acme/teams/[Legacy]", id="legacy", title="Legacy")
SALES = Candidate(address="acme/teams/[Sales]", id="sales", title="Sales")


def refusal(*adds: str, candidates: tuple[Candidate, ...] = (), address: Address = A) -> Refusal:
    ways = tuple(WayOut(address=str(address), add=add, means="it is meant") for add in adds)
    return Refusal(
        code="code",
        address=str(address),
        message="message",
        way_out="way out",
        candidates=candidates,
        answers=ways,
    )


def plan(*refusals: Refusal) -> Plan:
    changes = tuple(Change(address=str(one), kind="team", action="create") for one in (A, B))
    return Plan(changes=changes, refusals=refusals)


def only(found: list[OpenQuestion]) -> OpenQuestion:
    (question,) = found
    return question


def test_question_offers_new_entry_beside_candidates() -> None:
    asked = refusal("previously: Legacy", "new: true", candidates=(LEGACY,))
    question = only(open_questions(plan(asked), TypedAnswers()))
    assert (question.candidates, question.entries) == ((LEGACY,), (A,))
    assert question.new == {"new": TypedAnswers(new=frozenset({A}))}


def test_question_offers_several_new_entries_as_one_choice() -> None:
    asked = refusal('--confirm "new 2 acme/teams/*"', '--confirm "delete 1"', candidates=(LEGACY,))
    question = only(open_questions(plan(asked), TypedAnswers()))
    assert question.entries == (A, B)
    assert question.new == {"new 2": TypedAnswers(frozenset({"new 2 acme/teams/*"}))}
    after = only(open_questions(plan(asked), question.new["new 2"]))
    assert (after.candidates, after.new, after.numbers) == ((), {}, {"delete 1"})


def test_question_about_exchanged_names_offers_no_new_entry() -> None:
    asked = [refusal("id: legacy", "id: sales", candidates=(LEGACY, SALES), address=one) for one in (A, B)]
    found = open_questions(plan(*asked), TypedAnswers())
    assert [(one.candidates, one.entries, one.new) for one in found] == [
        ((LEGACY, SALES), (A,), {}),
        ((LEGACY, SALES), (B,), {}),
    ]


def test_question_omits_object_already_chosen() -> None:
    asked = refusal("id: legacy", "id: sales", candidates=(LEGACY, SALES), address=B)
    assert only(open_questions(plan(asked), TypedAnswers(ids={A: "sales"}))).candidates == (LEGACY,)


@pytest.mark.parametrize(
    ("flag", "subject"),
    [
        ('--confirm "expose 3"', "3"),
        ('--confirm "expose for a moment 1"', "1"),
        ('--confirm "restructure acme/sites/docs"', "acme/sites/docs"),
        ('--confirm "not my own acme/members/ada@acme.example"', "acme/members/ada@acme.example"),
        ('--confirm "delete acme/spaces/[API reference]"', "acme/spaces/[API reference]"),
    ],
    ids=["exposures", "exposures for a moment", "navigation", "own user", "object by name"],
)
def test_question_requires_typing_count_or_address(flag: str, subject: str) -> None:
    question = only(open_questions(plan(refusal(flag)), TypedAnswers()))
    assert [one.subject for one in question.typed] == [subject]


@pytest.mark.parametrize("answer", ["delete 3"])
def test_delete_count_is_asked_last(answer: str) -> None:
    question = only(open_questions(plan(refusal(f'--confirm "{answer}"')), TypedAnswers()))
    assert (question.typed, question.numbers) == ((), {answer})


def test_unanswerable_refusal_leaves_no_questions() -> None:
    assert open_questions(plan(refusal("new: true", candidates=(LEGACY,)), refusal()), TypedAnswers()) == []


def test_entry_questions_are_omitted_without_entries() -> None:
    """Otherwise, a revert asks what it cannot use."""
    asked = refusal("new: true", candidates=(LEGACY,))
    assert open_questions(plan(asked), TypedAnswers(), with_entries=False) == []
