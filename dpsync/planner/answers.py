"""Parse the user's confirmations, such as `--confirm "delete 12"`, and match them with a plan's questions.

`parse_answers` reads the flags. The planner's rules return `Question`s, each with the `Answer` that confirms
it. A text that no rule can ask for is refused before anything is read (DP332). An answer that this plan does
not ask for becomes a note; in an unattended run it is an error (`reject_unneeded_answers`, DP333), because it
could stay in a workflow and confirm a later plan.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, FieldAddress, Pattern
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal

DELETE: Final = "delete"
EXPOSE: Final = "expose"
EXPOSE_BRIEFLY: Final = "expose for a moment"
RESTRUCTURE: Final = "restructure"
SEND: Final = "send"
NOT_TOKEN_USER: Final = "not my own"  # noqa: S105 (a word, no secret)
NEW: Final = "new"

UNNEEDED_MESSAGE: Final = "this plan needs no such confirmation"
_MAX_DIGITS: Final = 12
_SAFE_WORD: Final = re.compile(r"[\w ./@+~#:,*\[\]-]*")
"""Texts that need no escape between double quotes in any shell."""

SubjectForm = Literal["N", "ADDRESS", "ADDRESS#field", "N PATTERN"]


class Answer(Struct, frozen=True, order=True):
    """A confirmed action (`words`, such as `delete`) and its subject.

    The subject is a number, an address, an address with a field, or a number of entries and a pattern.
    """

    words: str
    subject: str

    def __str__(self) -> str:
        return f"{self.words} {self.subject}"

    def matching_addresses(self, addresses: Iterable[Address]) -> list[Address]:
        """Return the addresses that a confirmation `new N PATTERN` covers: those that the pattern matches.

        Return [] if their number is not N, because the user confirmed another number, or if this is another
        form of confirmation.
        """
        number, _, pattern = self.subject.partition(" ")
        if self.words != NEW or not pattern:
            return []
        segments = Address.parse(pattern).segments
        matching = [address for address in addresses if Pattern(pattern, segments).matches(address)]
        return matching if len(matching) == int(number) else []

    @property
    def flag(self) -> str:
        """Return the answer as a command line flag, such as `--confirm "delete 12"`, quoted for a shell."""
        return (
            f'--confirm "{self}"'
            if _SAFE_WORD.fullmatch(str(self))
            else f"--confirm {shlex.quote(str(self))}"
        )


def answer_in_flag(flag: str) -> str | None:
    """Return the answer in a flag from `Answer.flag`, such as "delete 12"; None for another text."""
    words = shlex.split(flag) if flag.startswith("--confirm ") else []
    return words[1] if len(words) == 2 else None


class AnswerForm(Struct, frozen=True):
    """A form of answer, such as `delete N`, and the kinds of objects that the answer can confirm."""

    words: str
    subject: SubjectForm
    applies_to: Callable[[Kind], bool] = lambda _: True

    def __str__(self) -> str:
        return f"{self.words} {self.subject}"


def answer_forms(registry: Registry) -> tuple[AnswerForm, ...]:
    """Return the forms of all confirmations that a user can give with `--confirm`, such as "delete N".

    Each user action of a kind has a form, too: a call to the platform that dpsync makes only if asked to.
    """
    kinds = registry.with_all_kinds.kinds.values()
    trees = {registry.with_all_kinds.tree_owner(kind) for kind in kinds if isinstance(kind.shape, NodeShape)}
    action_words = sorted({word for kind in kinds for word in kind.platform_work.user_actions})

    def has_user_action(word: str) -> Callable[[Kind], bool]:
        return lambda kind: word in kind.platform_work.user_actions

    return (
        AnswerForm(DELETE, "N"),
        AnswerForm(EXPOSE, "N"),
        AnswerForm(EXPOSE_BRIEFLY, "N"),
        AnswerForm(DELETE, "ADDRESS", lambda kind: kind.has_content or kind.has_ids_line),
        AnswerForm(NEW, "ADDRESS", lambda kind: kind.has_content or kind.has_ids_line),
        AnswerForm(NEW, "N PATTERN"),
        AnswerForm(RESTRUCTURE, "ADDRESS", lambda kind: kind.name in trees),
        AnswerForm(SEND, "ADDRESS#field"),
        *(AnswerForm(word, "ADDRESS", has_user_action(word)) for word in action_words),
        AnswerForm(
            NOT_TOKEN_USER, "ADDRESS", lambda kind: kind.guard is not None and kind.guard.protects_token_user
        ),
    )


def parse_answer(text: str, registry: Registry) -> Answer:
    """Parse the text of a `--confirm` flag, such as "delete 12" or "new acme/spaces/docs"; normalize it.

    Several forms can begin with the same words; the subject decides between them.

    Raises:
        ValueError: If no rule asks for such an answer.
    """
    all_forms = answer_forms(registry)
    candidates = [form for form in all_forms if text.startswith(f"{form.words} ")]
    if not candidates:
        listed = ", ".join(f'"{form}"' for form in all_forms)
        raise ValueError(f'"{text}" is not a valid confirmation. Valid confirmations: {listed}')
    longest = max(len(form.words) for form in candidates)
    subject = text[longest:].strip()
    forms = [form for form in candidates if len(form.words) == longest]
    number, _, pattern = subject.partition(" ")
    subject_form: SubjectForm = "ADDRESS" if "/" in subject else "N"
    if pattern and number.isdigit():
        subject_form = "N PATTERN"
    form = next((form for form in forms if form.subject == subject_form), forms[0])
    if error := _subject_error(form, subject, registry):
        raise ValueError(f'"{text}": {error}')
    return Answer(form.words, _normalize_subject(form, subject, registry))


def _normalize_subject(form: AnswerForm, subject: str, registry: Registry) -> str:
    """Return the subject of an answer as rules write it: "012" becomes "12", for example."""
    if form.subject == "N":
        return str(int(subject))
    if form.subject == "N PATTERN":
        number, _, pattern = subject.partition(" ")
        return f"{int(number)} {'/'.join(Pattern.parse(pattern.strip(), registry.pattern_words).segments)}"
    return str(FieldAddress.parse(subject))


def parse_answers(texts: Iterable[str], registry: Registry) -> list[Answer]:
    """Parse the texts of all `--confirm` flags.

    Raises:
        DiagnosticError: With exit code 64 and a diagnostic for every text that is not an answer.
    """
    answers, diagnostics = [], []
    for text in texts:
        try:
            answers.append(parse_answer(text, registry))
        except ValueError as error:
            diagnostics.append(Diagnostic("DP332", str(error)))
    if diagnostics:
        raise DiagnosticError(diagnostics, Exit.USAGE)
    return answers


def _subject_error(form: AnswerForm, subject: str, registry: Registry) -> str | None:
    """Return an error message if the subject of an answer is not valid for the form, None if it is valid.

    Besides the notation, this checks that objects can be at the address, and that some rule asks for this
    form of answer about such objects.
    """
    if form.subject == "N":
        is_number = subject.isascii() and subject.isdigit() and len(subject) <= _MAX_DIGITS
        return None if is_number else f'write "{form}", with a number in place of N'
    places = PlaceTypes(registry)
    if form.subject == "N PATTERN":
        number, _, text = subject.partition(" ")
        try:
            pattern = Pattern.parse(text.strip(), registry.pattern_words)
        except ValueError as error:
            return str(error)
        if len(number) > _MAX_DIGITS or pattern.field is not None:
            return 'write "new N PATTERN", with a number and an address pattern'
        problem = places.find_problem(pattern, "objects")
        return f"{problem.reason}; {problem.hint}" if problem else None
    address, field = FieldAddress.parse(subject)
    if (field is not None) != (form.subject == "ADDRESS#field"):
        return f'write "{form}"'
    if "*" in str(address):
        return "this confirmation needs one address, not a pattern"
    if problem := places.find_problem(Pattern(subject, address.segments, field), "objects"):
        if address.segments[0] in registry.pattern_words:
            return f'begin the address with your organization: "ORGANIZATION/{subject}"'
        return f"{problem.reason}; {problem.hint}"
    if not any(form.applies_to(kind) for kind in places.kinds(address)):
        return f'dpsync never asks you to confirm "{form}" for this address'
    return None


class Question(Struct, frozen=True):
    """A question of a rule: the plan is refused with `refusal` until a user gives the answer.

    Without a refusal the plan continues with or without the answer, and the question only marks it as needed.
    """

    answer: Answer
    refusal: Refusal | None = None


class Answers(Struct, frozen=True):
    """The answers that the user gave."""

    confirmed: frozenset[Answer] = frozenset()

    def contains(self, answer: Answer) -> bool:
        """Return whether the user gave an answer."""
        return answer in self.confirmed

    def contains_words(self, words: str) -> bool:
        """Return whether the user gave any answer with these words."""
        return any(answer.words == words for answer in self.confirmed)

    def unanswered_refusals(self, results: Iterable[Refusal | Question]) -> Iterator[Refusal]:
        """Yield the refusals that stand: those without a question, and those of unanswered questions."""
        for result in results:
            if isinstance(result, Refusal):
                yield result
            elif result.refusal is not None and not self.contains(result.answer):
                yield result.refusal

    def needed_answers(self, requested: Iterable[Answer]) -> list[Answer]:
        """Return the user's answers that a question asks for, sorted."""
        return sorted(self.confirmed.intersection(requested))

    def unneeded_answers(self, requested: Iterable[Answer]) -> list[Answer]:
        """Return the user's answers that no question asks for, sorted."""
        return sorted(self.confirmed.difference(requested))


def requested_answers(results: Iterable[Refusal | Question]) -> frozenset[Answer]:
    """Return the answers that questions ask for; `results` are the refusals and questions of rules."""
    return frozenset(result.answer for result in results if isinstance(result, Question))


def reject_unneeded_answers(plan: Plan) -> None:
    """Raise an error if the user gave a `--confirm` flag that a plan with changes does not ask for.

    This is used in unattended runs: otherwise the flag could stay in a workflow and confirm a later plan.

    Raises:
        DiagnosticError: With exit code 64 and a diagnostic for every such answer.
    """
    unneeded = [note.address for note in plan.notes if note.text == UNNEEDED_MESSAGE]
    if plan.empty or not unneeded:
        return
    flags = [
        resolution.add
        for refusal in plan.refusals
        for resolution in refusal.answers
        if answer_in_flag(resolution.add)
    ]
    needed_flags = " ".join(dict.fromkeys(flags))
    hint = "remove this flag. The plan needs no other confirmation"
    if needed_flags:
        hint = f"remove this flag. This plan needs {needed_flags}"
    diagnostics = [Diagnostic("DP333", f"{flag}: {UNNEEDED_MESSAGE}", hint=hint) for flag in unneeded]
    raise DiagnosticError(diagnostics, Exit.USAGE)
