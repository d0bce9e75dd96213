"""Answers to what a plan asks: `--confirm "delete 12"`. One type, one parser, one list of what was asked.

A rule returns a *question*, which is written as the answer that would agree to it. A text that can answer no
question of any rule is refused before anything is read. When all rules have returned, an answer to a question
that none of them asked becomes a note (planner/plan.py). Where nobody can be asked, it is an error: otherwise
the answer could stay in a workflow, and agree to another plan later.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, FieldAddress, Pattern
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plan import Plan
from dpsync.model.question import Refusal

DELETE: Final = "delete"
EXPOSE: Final = "expose"
FOR_A_MOMENT: Final = "expose for a moment"
RESTRUCTURE: Final = "restructure"
SEND: Final = "send"
NOT_MY_OWN: Final = "not my own"
NEW: Final = "new"

UNNEEDED: Final = "this plan does not ask for this answer"
_DIGITS: Final = 12
_PLAIN: Final = re.compile(r"[\w ./@+~#:,*\[\]-]*")
"""What means itself in double quotes, in every shell."""

Subject = Literal["N", "ADDRESS", "ADDRESS#field", "N PATTERN"]


class Answer(Struct, frozen=True, order=True):
    """What is agreed to (`delete`) and about what: a number, an address, an address with a field, or a number
    of entries and a pattern.
    """

    words: str
    subject: str

    def __str__(self) -> str:
        return f"{self.words} {self.subject}"

    def covered(self, addresses: Iterable[Address]) -> list[Address]:
        """Return the addresses that a pattern behind its number names, if the number is right; else none."""
        number, _, pattern = self.subject.partition(" ")
        if self.words != NEW or not pattern:
            return []
        segments = Address.parse(pattern).segments
        found = [address for address in addresses if Pattern(pattern, segments).matches(address)]
        return found if len(found) == int(number) else []

    @property
    def flag(self) -> str:
        """How it is given on the command line."""
        return f'--confirm "{self}"' if _PLAIN.fullmatch(str(self)) else f"--confirm {shlex.quote(str(self))}"


def confirmed_by(flag: str) -> str | None:
    """The text of the answer that a flag gives: what `Answer.flag` was made of; None for another text."""
    words = shlex.split(flag) if flag.startswith("--confirm ") else []
    return words[1] if len(words) == 2 else None


class Form(Struct, frozen=True):
    """One kind of answer: its words, what stands behind them, and of which kinds of objects it is asked."""

    words: str
    subject: Subject
    asked_of: Callable[[Kind], bool] = lambda _: True

    def __str__(self) -> str:
        return f"{self.words} {self.subject}"


def forms(registry: Registry) -> tuple[Form, ...]:
    """Every answer that some rule asks for. A word that makes a kind act is one of them."""
    kinds = registry.whole.kinds.values()
    trees = {registry.whole.tree_owner(kind) for kind in kinds if isinstance(kind.shape, NodeShape)}
    acts = sorted({word for kind in kinds for word in kind.platform.acts})
    return (
        Form(DELETE, "N"),
        Form(EXPOSE, "N"),
        Form(FOR_A_MOMENT, "N"),
        Form(DELETE, "ADDRESS", lambda kind: kind.content or kind.recorded),
        Form(NEW, "ADDRESS", lambda kind: kind.content or kind.recorded),
        Form(NEW, "N PATTERN"),
        Form(RESTRUCTURE, "ADDRESS", lambda kind: kind.name in trees),
        Form(SEND, "ADDRESS#field"),
        *(Form(word, "ADDRESS", _can(word)) for word in acts),
        Form(NOT_MY_OWN, "ADDRESS", lambda kind: kind.guard is not None and kind.guard.own),
    )


def _can(word: str) -> Callable[[Kind], bool]:
    return lambda kind: word in kind.platform.acts


def parse(text: str, registry: Registry) -> Answer:
    """The answer that a text is. Raises ValueError with a sentence when no rule asks for anything like it."""
    known = forms(registry)
    fitting = [form for form in known if text.startswith(f"{form.words} ")]
    if fitting:
        longest = max(len(form.words) for form in fitting)
        subject = text[longest:].strip()
        form = _form([form for form in fitting if len(form.words) == longest], subject)
        if wrong := _wrong(form, subject, registry):
            raise ValueError(f'"{text}": {wrong}')
        return Answer(form.words, _normal(form, subject, registry))
    listed = ", ".join(f'"{form}"' for form in known)
    raise ValueError(f'"{text}" is not an answer that dpsync knows. Possible answers: {listed}')


def _form(forms: Sequence[Form], subject: str) -> Form:
    """Return the form that a subject fits: a number, an address (with a slash), or a number and a pattern."""
    number, _, pattern = subject.partition(" ")
    fitting: Subject = "ADDRESS" if "/" in subject else "N"
    if pattern and number.isdigit():
        fitting = "N PATTERN"
    return next((form for form in forms if form.subject == fitting), forms[0])


def _normal(form: Form, subject: str, registry: Registry) -> str:
    """Return a subject as rules write it."""
    if form.subject == "N":
        return str(int(subject))
    if form.subject == "N PATTERN":
        number, _, pattern = subject.partition(" ")
        return f"{int(number)} {'/'.join(Pattern.parse(pattern.strip(), registry.words).segments)}"
    return str(FieldAddress.parse(subject))


def parse_all(texts: Iterable[str], registry: Registry) -> list[Answer]:
    """Raises DiagnosticError (exit 64) with every text that is no answer."""
    found, wrong = [], []
    for text in texts:
        try:
            found.append(parse(text, registry))
        except ValueError as error:
            wrong.append(Diagnostic("DP332", str(error)))
    if wrong:
        raise DiagnosticError(wrong, Exit.USAGE)
    return found


def _wrong(form: Form, subject: str, registry: Registry) -> str | None:
    """Why this cannot stand behind the words of an answer."""
    if form.subject == "N":
        number = subject.isascii() and subject.isdigit() and len(subject) <= _DIGITS
        return None if number else f'write the answer as "{form}", with a number for N'
    if form.subject == "N PATTERN":
        return _wrong_pattern(subject, registry)
    address, field = FieldAddress.parse(subject)
    if (field is not None) != (form.subject == "ADDRESS#field"):
        return f'write the answer as "{form}"'
    if "*" in str(address):
        return "this answer needs one address, not a pattern"
    places = Places(registry)
    if mistake := places.mistake(Pattern(subject, address.segments, field), "objects"):
        if address.segments[0] in registry.words:
            return f'begin the address with your organization: "ORGANIZATION/{subject}"'
        return f"{mistake.reason}; {mistake.hint}"
    if not any(form.asked_of(kind) for kind in places.kinds(address)):
        return f'dpsync never asks for the answer "{form}" for this address'
    return None


def _wrong_pattern(subject: str, registry: Registry) -> str | None:
    number, _, text = subject.partition(" ")
    try:
        pattern = Pattern.parse(text.strip(), registry.words)
    except ValueError as wrong:
        return str(wrong)
    if len(number) > _DIGITS or pattern.field is not None:
        return 'write the answer as "new N PATTERN", with a number and an address pattern'
    mistake = Places(registry).mistake(pattern, "objects")
    return f"{mistake.reason}; {mistake.hint}" if mistake else None


class Question(Struct, frozen=True):
    """What a rule asks: the refusal that stands until somebody gives the answer.

    Without a refusal the plan goes on either way. Then the question only tells that the answer is not idle.
    """

    answer: Answer
    refusal: Refusal | None = None


class Answers(Struct, frozen=True):
    """What was answered. What was asked is not kept here: rules return it."""

    given: frozenset[Answer] = frozenset()

    def gives(self, answer: Answer) -> bool:
        """Whether this is among the answers."""
        return answer in self.given

    def any(self, words: str) -> bool:
        """Whether there is an answer with these words at all."""
        return any(answer.words == words for answer in self.given)

    def refused(self, found: Iterable[Refusal | Question]) -> Iterator[Refusal]:
        """The refusals among these, and those of the questions whose answer was not given."""
        for item in found:
            if isinstance(item, Refusal):
                yield item
            elif item.refusal is not None and not self.gives(item.answer):
                yield item.refusal

    def needed(self, asked: Iterable[Answer]) -> list[Answer]:
        """Return the answers to what was asked, in their order."""
        return sorted(self.given.intersection(asked))

    def unneeded(self, asked: Iterable[Answer]) -> list[Answer]:
        """Return the answers to nothing that was asked, in their order."""
        return sorted(self.given.difference(asked))


def questions(found: Iterable[Refusal | Question]) -> frozenset[Answer]:
    """What is asked among what rules have found, each question by the answer that would agree to it."""
    return frozenset(item.answer for item in found if isinstance(item, Question))


def check_needed(plan: Plan) -> None:
    """Raise DiagnosticError (exit 64) with every answer that answers nothing in a plan with changes."""
    unneeded = [note.address for note in plan.notes if note.text == UNNEEDED]
    if plan.empty or not unneeded:
        return
    flags = [way.add for item in plan.refusals for way in item.answers if confirmed_by(way.add)]
    open_ = " ".join(dict.fromkeys(flags))
    hint = "remove this answer, because this plan asks no question"
    if open_:
        hint = f"remove this answer. This plan asks for {open_}"
    found = [Diagnostic("DP333", f"{flag}: {UNNEEDED}", hint=hint) for flag in unneeded]
    raise DiagnosticError(found, Exit.USAGE)
