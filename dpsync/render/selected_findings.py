"""Limit the number of findings to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from dpsync.config import codes
from dpsync.model.diagnostic import Diagnostic, Findings

MAX_FINDINGS: Final = 200
"""Maximum number of findings shown, with at most `MAX_FINDINGS_PER_CODE` of one code."""


def select_findings(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], Counter[str]]:
    """Return the findings to show, sorted, and the number of findings left out by code.

    Syntax errors come first, because they can cause other errors.
    """
    findings = diagnostics if isinstance(diagnostics, Findings) else Findings(diagnostics)
    found = sorted(findings, key=_sort_key)
    left_out = Counter(findings.omitted_counts)
    left_out.update(one.code for one in found[MAX_FINDINGS:])
    return found[:MAX_FINDINGS], left_out


def _sort_key(one: Diagnostic) -> tuple[bool, bool, tuple[str, int, int] | tuple[()], str, str]:
    span = one.span
    place = (span.file, span.line, span.column) if span is not None else ()
    parsed = not codes.SYNTAX <= one.code < codes.FORMAT_VERSION
    return (parsed, span is None, place, one.code, one.message)
