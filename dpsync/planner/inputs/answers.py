"""Answers to what a plan asks: `--confirm "delete 12"`. One type, one parser, one list of what was asked.

A rule returns a *question*, which is written as the answer that would agree to it. A text that can answer no
question of any rule is refused before anything is read. When all rules have returned, an answer to a question
that none of them asked becomes a note (planner/plan.py).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.model.entries.address import FieldAddress, Pattern
from dpsync.model.findings.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.findings.question import Refusal

DELETE: Final = "delete"
DELETE_CONTENT: Final = "delete content"
DELETE_ONE: Final = "delete object"
EXPOSE: Final = "expose"
FOR_A_MOMENT: Final = "expose for a moment"
RESTRUCTURE: Final = "restructure"
SEND: Final = "send"
NOT_MY_OWN: Final = "not my own"
NEW: Final = "new"

IDLE: Final = "nothing asks for this (any more)"
_DIGITS: Final = 12
_PLAIN: Final = re.compile(r"[\w ./@+~#:,\[\]-]*")
"""What means itself in double quotes, in every shell."""

Subject = Literal["N", "ADDRESS", "ADDRESS#field"]


class Answer(Struct, frozen=True, order=True):
    """What is agreed to (`delete`) and about what: a number, an address, or an address with a field."""

    words: str
    subject: str

    def __str__(self) -> str:
        return f"{self.words} {self.subject}"

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
        Form(DELETE_CONTENT, "N"),
        Form(EXPOSE, "N"),
        Form(FOR_A_MOMENT, "N"),
        Form(DELETE_ONE, "ADDRESS", lambda kind: kind.content or kind.recorded),
        Form(NEW, "ADDRESS", lambda kind: kind.content),
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
        form = max(fitting, key=lambda one: len(one.words))
        subject = text.removeprefix(form.words).strip()
        if wrong := _wrong(form, subject, registry):
            raise ValueError(f'"{text}": {wrong}')
        return Answer(form.words, str(int(subject)) if form.subject == "N" else subject)
    listed = ", ".join(f'"{form}"' for form in known)
    raise ValueError(f'"{text}" answers nothing that dpsync ever asks. Answers are: {listed}')


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
        return None if number else f"the answer is {form}, with a number"
    address, field = FieldAddress.parse(subject)
    if (field is not None) != (form.subject == "ADDRESS#field"):
        return f"the answer is {form}"
    if "*" in str(address):
        return "an answer names one address, not a pattern"
    places = Places(registry)
    if mistake := places.mistake(Pattern(subject, address.segments, field), "objects"):
        return f"{mistake.reason}; {mistake.hint}"
    if not any(form.asked_of(kind) for kind in places.kinds(address)):
        return f"nothing at such an address is ever asked about like this: {form}"
    return None


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

    def idle(self, asked: Iterable[Answer]) -> list[Answer]:
        """The answers that answer nothing of what was asked, in their order."""
        return sorted(self.given.difference(asked))


def questions(found: Iterable[Refusal | Question]) -> frozenset[Answer]:
    """What is asked among what rules have found, each question by the answer that would agree to it."""
    return frozenset(item.answer for item in found if isinstance(item, Question))
