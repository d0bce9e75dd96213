"""What is wrong, as values: collected by every layer, printed in one place (render), never formatted here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from dpsync.model.span import Span

Severity = Literal["error", "warning"]


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


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    `code` is stable and documented in docs/errors.md; `message` says what happened, `hint` what to do;
    `related` points at further places ("first given here").
    """

    code: str
    message: str
    span: Span | None = None
    address: str | None = None
    hint: str | None = None
    related: tuple[tuple[str, Span], ...] = ()
    severity: Severity = "error"


class DiagnosticError(Exception):
    """Ends a command: carries every finding and the exit code; the edge prints them.

    `texts` has the source files by name, for showing the lines.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], exit_code: Exit, texts: Mapping[str, str] | None = None
    ) -> None:
        self.diagnostics = tuple(diagnostics)
        self.exit_code = exit_code
        self.texts = dict(texts or {})
        super().__init__("; ".join(d.message for d in self.diagnostics))
