"""Ask the open questions of a plan at a terminal, and plan again with the answers.

`show_and_answer` prints a plan and asks; `answer_questions` asks until no question is open or the person
stops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from dpsync.cli.applying import (
    confirm_by_typing,
    confirm_deletes,
    mask_secrets,
    show_plan,
    show_plan_if_expected,
)
from dpsync.cli.output import Output, interactive
from dpsync.model.address import Address
from dpsync.render.visible import visible

if TYPE_CHECKING:
    from dpsync.api import Expected, Planned
    from dpsync.model.plan import Plan
    from dpsync.workflows.open_questions import OpenQuestion, TypedAnswers


class AnsweredPlan(Struct, frozen=True):
    """The plan after its questions, and the answers that a person typed."""

    planned: Planned
    answers: TypedAnswers
    agreed: bool = False
    """Whether the person typed the number of deletes, and so agreed to the plan."""


def can_ask(out: Output, no_input: bool) -> bool:
    """Return whether dpsync can ask the questions of a plan: in a terminal, with text output."""
    return out.is_text and interactive(no_input)


def without_questions(plan: Plan, with_entries: bool = True) -> Plan:
    """Return a plan without its refusals if the user can lift all of them by answering questions.

    The questions are printed after the plan, so that the plan need not repeat them.
    """
    from dpsync.workflows.open_questions import TypedAnswers, open_questions

    return (
        plan.model_copy(update={"refusals": ()})
        if open_questions(plan, TypedAnswers(), with_entries)
        else plan
    )


def show_and_answer(
    out: Output, planned: Planned, expect: Expected, make_plan: Callable[[TypedAnswers], Planned],
    is_interactive: bool, with_entries: bool = True,
) -> AnsweredPlan:  # fmt: skip
    """Print a plan, ask its questions if `is_interactive`, and return the plan with the answers.

    Raises the same errors as `Expected.check` if another plan was expected. For the other arguments, see
    `answer_questions`.
    """
    from dpsync.workflows.open_questions import TypedAnswers

    shown = without_questions(planned.plan, with_entries) if is_interactive else planned.plan
    show_plan_if_expected(out, shown, expect)
    if not is_interactive or planned.plan.can_apply:
        return AnsweredPlan(planned, TypedAnswers())
    return answer_questions(out, planned, make_plan, with_entries)


def answer_questions(
    out: Output, planned: Planned, make_plan: Callable[[TypedAnswers], Planned], with_entries: bool = True
) -> AnsweredPlan:
    """Ask all questions of a printed plan, and return the plan that follows from the answers.

    A new plan with other changes is printed as well. If the person does not answer a question, the returned
    plan still has refusals.

    Args:
        make_plan: Return a new plan with these answers.
        with_entries: Whether to ask about entries, too.

    Raises:
        Refused: The platform changed while the person typed the number of deletes.
    """
    from dpsync.apply.saved_plan import Expected, stale_reasons
    from dpsync.workflows.open_questions import TypedAnswers, open_questions

    answers_so_far = TypedAnswers()
    while questions := open_questions(planned.plan, answers_so_far, with_entries):
        plan = planned.plan
        other_questions = [question for question in questions if not question.numbers]
        new_answers = (
            _ask_all(out, plan, other_questions, answers_so_far)
            if other_questions
            else _ask_number(out, plan, questions)
        )
        if new_answers is None or answers_so_far.merged_with(new_answers) == answers_so_far:
            lines = [f"  {visible(refusal.address)}: {visible(refusal.way_out)}" for refusal in plan.refusals]
            out.print_problem("\n".join(["You can also decide in the files, or with flags:", *lines]))
            break
        answers_so_far = answers_so_far.merged_with(new_answers)
        planned = make_plan(answers_so_far)
        mask_secrets(out, planned.plan)
        if not other_questions:
            Expected.shown(plan).check(planned.plan)
            return AnsweredPlan(planned, answers_so_far, agreed=planned.plan.can_apply)
        open_now = open_questions(planned.plan, answers_so_far, with_entries)
        shown_plan = plan.model_copy(update={"refusals": planned.plan.refusals})
        if stale_reasons(shown_plan, planned.plan, "") or (planned.plan.refusals and not open_now):
            show_plan(out, planned.plan.model_copy(update={"refusals": ()}) if open_now else planned.plan)
    return AnsweredPlan(planned, answers_so_far)


def _ask_all(
    out: Output, plan: Plan, questions: list[OpenQuestion], answers_so_far: TypedAnswers
) -> TypedAnswers | None:
    """Return the answers to all questions, or None if the person does not answer one of them."""
    from dpsync.workflows.open_questions import TypedAnswers

    answers = TypedAnswers()
    for question in questions:
        answer = (
            _choose_object(out, plan, question, answers_so_far.merged_with(answers))
            if not question.typed
            else _ask_to_type(out, plan, question)
        )
        if answer is None:
            return None
        answers = answers.merged_with(answer)
    return answers


def _choose_object(
    out: Output, plan: Plan, question: OpenQuestion, answers_so_far: TypedAnswers
) -> TypedAnswers | None:
    """Ask which live object an entry stands for, until the person types one of the choices or nothing.

    The choices are the candidates that no earlier answer assigned to another entry, and "create a new
    object". Return None for no answer.
    """
    from dpsync.render.candidate import describe_candidate
    from dpsync.workflows.open_questions import TypedAnswers

    taken_ids = {*answers_so_far.ids.values()}
    free_objects = (candidate for candidate in question.candidates if candidate.id not in taken_ids)
    objects = {str(number): candidate for number, candidate in enumerate(free_objects, 1)}
    if not objects and not question.new:
        return None
    width = max(map(len, (*objects, *question.new)))
    lines = [_question_text(plan, question)]
    lines += [f"  {key.ljust(width)}  {describe_candidate(candidate)}" for key, candidate in objects.items()]
    for key, answer in question.new.items():
        is_single = len(question.entries) == 1 or bool(answer.new)
        text = "create a new object" if is_single else f"create {len(question.entries)} new objects"
        lines.append(f"  {key.ljust(width)}  {text}")
    out.print_problem("\n".join(lines))
    keys = [*objects, *question.new]
    while typed := out.ask(f"Type {' or '.join(filter(None, (', '.join(keys[:-1]), keys[-1])))}:"):
        if typed in question.new:
            return question.new[typed]
        if typed in objects:
            entry = _choose_entry(out, question)
            return None if entry is None else TypedAnswers(ids={entry: objects[typed].id})
    return None


def _choose_entry(out: Output, question: OpenQuestion) -> Address | None:
    """Return the entry for the object that the person chose; ask which entry if there are several.

    None if the person types nothing.
    """
    if len(question.entries) == 1:
        return question.entries[0]
    while typed := out.ask("Type the address of the entry for this object:"):
        if (address := Address.parse(typed)) in question.entries:
            return address
    return None


def _ask_to_type(out: Output, plan: Plan, question: OpenQuestion) -> TypedAnswers | None:
    """Ask the person to type the number or the address of each answer to a question.

    Return the confirmed answers; None if the person types another text.
    """
    from dpsync.workflows.open_questions import TypedAnswers

    out.print_problem(_question_text(plan, question))
    for typed_answer in question.typed:
        noun = "number" if typed_answer.subject.isdecimal() else "address"
        text = f"To {visible(typed_answer.meaning)}, type the {noun} ({visible(typed_answer.subject)}):"
        if not confirm_by_typing(out, text, typed_answer.subject):
            return None
    return TypedAnswers(frozenset(typed_answer.answer for typed_answer in question.typed))


def _ask_number(out: Output, plan: Plan, questions: list[OpenQuestion]) -> TypedAnswers | None:
    """Ask for the number of deletes once, and return the confirmation of all of these questions.

    None if the person types another number.
    """
    from dpsync.workflows.open_questions import TypedAnswers

    # A question with candidates was asked before, with the same words.
    if texts := [_question_text(plan, question) for question in questions if not question.refusal.candidates]:
        out.print_problem("\n".join(texts))
    if not confirm_deletes(out, plan):
        return None
    return TypedAnswers(frozenset[str]().union(*(question.numbers for question in questions)))


def _question_text(plan: Plan, question: OpenQuestion) -> str:
    """Return the text of a question, with the address and the location of its entry."""
    from dpsync.render.plan_words import find_origin, location_text

    address = question.refusal.address
    location_suffix = f" ({location})" if (location := location_text(find_origin(plan, address))) else ""
    return f"{visible(address)}{location_suffix}: {visible(question.refusal.message)}"
