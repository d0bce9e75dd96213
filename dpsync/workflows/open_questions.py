"""Find the questions of a plan that a person can answer by typing, in a terminal.

Everything that `--confirm` answers can be typed. A person can also type which object an entry is: dpsync uses
this object for this run, and the apply records it in the ids file. A question that only an edit of the files
can answer stays a refusal. Nothing here reads or writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.kinds.registry import build_registry
from dpsync.model.address import Address
from dpsync.model.plan import Plan
from dpsync.model.question import Candidate, Refusal
from dpsync.planner.answers import NEW, answer_in_flag, parse_answer
from dpsync.planner.sides import Options
from dpsync.workflows.session import Session

_DELETE_COUNT_ANSWER: Final = re.compile(r"delete [0-9]+")
_NEW_COUNT_ANSWER: Final = re.compile(rf"{NEW} [0-9]+(?= )")


class TypedAnswers(Struct, frozen=True):
    """The answers that a person has typed so far, applied to the next plan."""

    answers: frozenset[str] = frozenset()
    """The values for `--confirm`."""
    ids: Mapping[Address, str] = field(default_factory=dict)
    """The id of the object that each entry is."""
    new: frozenset[Address] = frozenset()
    """The entries that are new."""

    def merged_with(self, other: TypedAnswers) -> TypedAnswers:
        """Return these answers together with more answers."""
        return TypedAnswers(self.answers | other.answers, {**self.ids, **other.ids}, self.new | other.new)

    def add_to_options(self, options: Options) -> Options:
        """Return the options of a run with these answers as values of `--confirm`."""
        return replace(options, confirm=(*options.confirm, *sorted(self.answers)))

    def add_to_session(self, session: Session) -> Session:
        """Return a session whose entries have `id:` or `new: true`, as the person has answered."""
        if not self.ids and not self.new:
            return session
        entries = dict(session.desired.entries)
        for address in {*self.ids, *self.new}:
            is_new = address in self.new
            entries[address] = replace(entries[address], pin=self.ids.get(address), new=is_new)
        return replace(session, desired=replace(session.desired, entries=entries))


class TypedAnswer(Struct, frozen=True):
    """An answer that a person gives by typing its number or its address."""

    answer: str
    subject: str
    meaning: str


class OpenQuestion(Struct, frozen=True):
    """One refusal of a plan, and the answers to it that can be typed."""

    refusal: Refusal
    candidates: tuple[Candidate, ...] = ()
    """The objects to choose from, if the question is which object an entry is."""
    entries: tuple[Address, ...] = ()
    """The entries that may be one of them."""
    new: Mapping[str, TypedAnswers] = field(default_factory=dict)
    """The answers that entries are new, by the typed text."""
    typed: tuple[TypedAnswer, ...] = ()
    """The answers that are given by a number or an address."""
    numbers: frozenset[str] = frozenset()
    """The answers that are given with the number of all deletes."""


def open_questions(plan: Plan, given_answers: TypedAnswers, with_entries: bool = True) -> list[OpenQuestion]:
    """Return the questions that a person can answer in the terminal; [] if any refusal has no such answer.

    Answers that were given before are left out. With `with_entries`, a person may also choose the live object
    of an entry, or that the entry is new (see `TypedAnswers.add_to_session`).
    """
    questions = [_open_question(plan, refusal, given_answers, with_entries) for refusal in plan.refusals]
    if not all(
        question.candidates or question.new or question.typed or question.numbers for question in questions
    ):
        return []
    return questions


def _open_question(
    plan: Plan, refusal: Refusal, given_answers: TypedAnswers, with_entries: bool
) -> OpenQuestion:
    """Return one refusal of a plan with the answers that a person can still type.

    If the refusal asks which object an entry is, return only the answers to that. The next plan, made with
    the given answer, asks the rest.

    Args:
        plan: The plan with the refusal.
        refusal: Why the plan cannot be applied, with the answers that would lift the refusal.
        given_answers: The answers that the person has typed before. They are not offered again.
        with_entries: Whether the person may choose the live object of an entry, or that the entry is new.
    """
    flags = {
        text: resolution.means for resolution in refusal.answers if (text := answer_in_flag(resolution.add))
    }
    new_entry_answers = {text for text in flags if text.startswith(f"{NEW} ")}
    delete_count_answers = frozenset(text for text in flags if _DELETE_COUNT_ANSWER.fullmatch(text))
    address = Address.parse(refusal.address)
    new: dict[str, TypedAnswers] = {}
    for text in new_entry_answers:
        # "new 12 acme/teams" is about all entries of a list; the person types only "new 12".
        text_with_count = _NEW_COUNT_ANSWER.match(text)
        new[text_with_count[0] if text_with_count else NEW] = TypedAnswers(frozenset({text}))
    if with_entries and any(resolution.add == "new: true" for resolution in refusal.answers):
        new[NEW] = TypedAnswers(new=frozenset({address}))
    is_chosen = address in {*given_answers.ids, *given_answers.new} or not given_answers.answers.isdisjoint(
        new_entry_answers
    )
    chosen_ids = {*given_answers.ids.values()}
    candidates = tuple(item for item in refusal.candidates if with_entries and item.id not in chosen_ids)
    if (new or candidates) and not is_chosen:
        entries: tuple[Address, ...] = (address,)
        if new and NEW not in new:  # the answer is about all entries of a list that the plan creates
            entries = tuple(
                change.location
                for change in plan.changes
                if change.action == "create" and change.location.list_address == address.list_address
            )
        return OpenQuestion(refusal, candidates, entries, new)
    registry = build_registry(plan.profile)
    other_answers = tuple(
        TypedAnswer(text, parse_answer(text, registry).subject, means)
        for text, means in flags.items()
        if text not in new_entry_answers | delete_count_answers | given_answers.answers
    )
    return OpenQuestion(
        refusal,
        typed=other_answers,
        numbers=frozenset() if other_answers else delete_count_answers - given_answers.answers,
    )
