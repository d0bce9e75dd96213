"""Define diagnostics and questions: what is wrong, where, and how to mend or answer it.

What is wrong, as values: collected by every layer, printed in one place (render), never formatted here.

What a plan asks: why it may not be applied, who an entry could be, and the answers that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.nodes import Span

if TYPE_CHECKING:
    from dpsync.model.question import Candidate, WayOut

Severity = Literal["error", "warning"]
ALSO: Final = "also"
"""The label of a further place where one cause shows."""
MOST_PLACES: Final = 4
"""Further places of one cause that are named; the rest is counted."""
MOST_OF_A_CODE: Final = 50
"""Findings of one code that are kept."""


class Exit(IntEnum):
    """The exit codes of every command. A code never changes its meaning."""

    DONE = 0
    FAILED = 1
    CHANGES = 2
    PARTIAL = 3
    REFUSED = 4
    INVALID = 5
    USAGE = 64
    INTERRUPTED = 130
    TERMINATED = 143


class Diagnostic(Struct, frozen=True):
    """One finding.

    `code` is stable and documented in docs/errors.md; `message` says what happened, `hint` what to do;
    `related` points at further places ("the first one").
    """

    code: str
    message: str
    span: Span | None = None
    address: str | None = None
    hint: str | None = None
    related: tuple[tuple[str, Span], ...] = ()
    severity: Severity = "error"
    environments: tuple[str, ...] = ()
    """Where it is found only with these environments: their names."""
    candidates: tuple[Candidate, ...] = ()
    """Of a question: the live objects that the entry could be."""
    answers: tuple[WayOut, ...] = ()
    """Of a question: what can be said to it."""
    cause: str | None = None
    """What findings of one code have in common that have one cause: they are one finding."""
    repeated: int = 0
    """At how many further places the cause shows, beside those in `related`."""

    def also(self, other: Diagnostic) -> Diagnostic:
        """The same finding, which shows at the places of another one, too."""
        places = [(ALSO, other.span)] if other.span is not None else []
        places += [(label, span) for label, span in other.related if label == ALSO]
        room = MOST_PLACES - sum(label == ALSO for label, _ in self.related)
        return replace(
            self,
            related=(*self.related, *places[:room]),
            repeated=self.repeated + other.repeated + len(places[room:]),
        )


class Findings(list[Diagnostic]):
    """Findings as they are collected: of one code at most `MOST_OF_A_CODE`, the rest is only counted.

    So a mistake that stands in every line of a large file costs neither memory nor time. What is found later
    at a place in `reported` is no finding: `found` has already said what is wrong there.
    """

    def __init__(self, found: Iterable[Diagnostic] = (), reported: Container[Span | None] = ()) -> None:
        super().__init__()
        self.left_out: Counter[str] = Counter()
        """How many more there were, by code."""
        self._reported: Container[Span | None] = ()
        self._counts: Counter[str] = Counter()
        self._seen: set[Diagnostic] = set()
        self._causes: dict[tuple[str, str], int] = {}
        self.extend(found)
        self._reported = reported

    def full(self, code: str) -> bool:
        """Whether further findings of this code are only counted: their words need not be made."""
        return self._counts[code] >= MOST_OF_A_CODE

    def append(self, one: Diagnostic) -> None:
        if one in self._seen or (one.span is not None and one.span in self._reported):
            return
        if one.cause is not None and (first := self._causes.get((one.code, one.cause))) is not None:
            self._seen.add(one)
            self[first] = self[first].also(one)
            return
        if self.full(one.code):
            self.left_out[one.code] += 1
            return
        if one.cause is not None:
            self._causes[one.code, one.cause] = len(self)
        self._counts[one.code] += 1
        self._seen.add(one)
        super().append(one)

    def extend(self, found: Iterable[Diagnostic]) -> None:
        for one in found:
            self.append(one)
        if isinstance(found, Findings):
            self.left_out.update(found.left_out)

    def __iadd__(self, found: Iterable[Diagnostic]) -> Self:  # type: ignore[misc, override]
        self.extend(found)
        return self

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(one for one in self if one.severity == "warning")

    @property
    def errors(self) -> Findings:
        """Without the warnings."""
        found = Findings(one for one in self if one.severity == "error")
        found.left_out.update(self.left_out)
        return found


class DiagnosticError(Exception):
    """Ends a command: carries every finding and the exit code; `cli/exit_codes.py` prints them.

    `texts` has the source files by name, for showing the lines.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], exit_code: Exit, texts: Mapping[str, str] | None = None
    ) -> None:
        self.findings = Findings(diagnostics)
        self.exit_code = exit_code
        self.texts = dict(texts or {})
        super().__init__("; ".join(one.message for one in self.findings))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(self.findings)
