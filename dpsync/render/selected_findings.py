"""Limit the number of findings that a command shows, and count the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic, Findings

MAX_FINDINGS: Final = 200
"""Maximum number of findings shown, with at most `MAX_FINDINGS_PER_CODE` of one code."""


def select_findings(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], Counter[str]]:
    """Return the findings to show, sorted by location, and the number of omitted findings by code.

    Syntax errors come first, because they can cause other errors; findings without a location come last.
    """

    def order(finding: Diagnostic) -> tuple[bool, bool, tuple[str, int, int] | tuple[()], str, str]:
        """Sort syntax errors first, findings without a location last, and others by location."""
        span = finding.span
        location = (span.file, span.line, span.column) if span is not None else ()
        is_syntax_error = codes.SYNTAX <= finding.code < codes.FORMAT_VERSION
        return (not is_syntax_error, span is None, location, finding.code, finding.message)

    findings = diagnostics if isinstance(diagnostics, Findings) else Findings(diagnostics)
    sorted_findings = sorted(findings, key=order)
    omitted_counts = Counter(findings.omitted_counts)
    omitted_counts.update(finding.code for finding in sorted_findings[MAX_FINDINGS:])
    return sorted_findings[:MAX_FINDINGS], omitted_counts
