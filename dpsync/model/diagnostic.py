"""Define diagnostics: errors and warnings for the user, each with its position and a hint.

All layers collect a `Diagnostic` for each finding; only `render` formats them. `DiagnosticError` ends a
command. A `Refusal` says why a plan may not be applied, with the edits or confirmations that resolve it.
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
RELATED_LABEL: Final = "also"
"""The label of a further place where one cause shows."""
MAX_RELATED: Final = 4
"""Further places of one cause that are named; the rest is counted."""
MAX_FINDINGS_PER_CODE: Final = 50
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
    unlisted_related_count: int = 0
    """At how many further places the cause shows, beside those in `related`."""

    def with_related(self, other: Diagnostic) -> Diagnostic:
        """Return this finding with the position of another finding that has the same cause.

        Only the first few positions are kept; the others are counted.
        """
        positions = [(RELATED_LABEL, other.span)] if other.span is not None else []
        positions += [(label, span) for label, span in other.related if label == RELATED_LABEL]
        free_positions = MAX_RELATED - sum(label == RELATED_LABEL for label, _ in self.related)
        return replace(
            self,
            related=(*self.related, *positions[:free_positions]),
            unlisted_related_count=self.unlisted_related_count
            + other.unlisted_related_count
            + len(positions[free_positions:]),
        )


class Findings(list[Diagnostic]):
    """The collected findings: at most `MAX_FINDINGS_PER_CODE` of each code, and a count of the rest.

    So a mistake in every line of a large file costs little memory and time. Findings at a position in
    `reported_spans` are dropped, because `findings` already contains a finding about this position.
    """

    def __init__(
        self, findings: Iterable[Diagnostic] = (), reported_spans: Container[Span | None] = ()
    ) -> None:
        super().__init__()
        self.omitted_counts: Counter[str] = Counter()
        """How many more there were, by code."""
        self._reported: Container[Span | None] = ()
        self._counts: Counter[str] = Counter()
        self._seen: set[Diagnostic] = set()
        self._causes: dict[tuple[str, str], int] = {}
        self.extend(findings)
        self._reported = reported_spans

    def is_full(self, code: str) -> bool:
        """Return whether further findings of this code are only counted, so that their text is not needed."""
        return self._counts[code] >= MAX_FINDINGS_PER_CODE

    def append(self, finding: Diagnostic) -> None:
        """Add a finding, unless it is already there.

        A finding with the cause of an earlier one only adds its position to the earlier one. Beyond
        `MAX_FINDINGS_PER_CODE`, findings are only counted.
        """
        if finding in self._seen or (finding.span is not None and finding.span in self._reported):
            return
        if (
            finding.cause is not None
            and (first := self._causes.get((finding.code, finding.cause))) is not None
        ):
            self._seen.add(finding)
            self[first] = self[first].with_related(finding)
            return
        if self.is_full(finding.code):
            self.omitted_counts[finding.code] += 1
            return
        if finding.cause is not None:
            self._causes[finding.code, finding.cause] = len(self)
        self._counts[finding.code] += 1
        self._seen.add(finding)
        super().append(finding)

    def extend(self, findings: Iterable[Diagnostic]) -> None:
        """Add findings, and the number of findings that the other collection has omitted."""
        for finding in findings:
            self.append(finding)
        if isinstance(findings, Findings):
            self.omitted_counts.update(findings.omitted_counts)

    def __iadd__(self, findings: Iterable[Diagnostic]) -> Self:  # type: ignore[misc, override]
        self.extend(findings)
        return self

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Return the findings that are only warnings."""
        return tuple(finding for finding in self if finding.severity == "warning")

    @property
    def errors(self) -> Findings:
        """Return the findings without the warnings."""
        errors = Findings(finding for finding in self if finding.severity == "error")
        errors.omitted_counts.update(self.omitted_counts)
        return errors


class DiagnosticError(Exception):
    """Ends a command with all findings and the exit code; `cli/exit_codes.py` prints them.

    `texts` has the source files by name, to show their lines.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], exit_code: Exit, texts: Mapping[str, str] | None = None
    ) -> None:
        self.findings = Findings(diagnostics)
        self.exit_code = exit_code
        self.texts = dict(texts or {})
        super().__init__("; ".join(finding.message for finding in self.findings))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the findings as a tuple."""
        return tuple(self.findings)
