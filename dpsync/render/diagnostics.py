"""Render findings as text for a terminal: sorted, with the location, the source line and a hint.

`render_diagnostics` takes the texts of the files and reads no file. Every text from outside passes
`visible()`, so that it cannot control the terminal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span
from dpsync.model.text import format_count
from dpsync.model.urls import hide_credentials
from dpsync.render.candidate import describe_candidate
from dpsync.render.paint import display_width
from dpsync.render.selected_findings import select_findings
from dpsync.render.visible import visible

MAX_SOURCE_COLUMNS: Final = 100
"""The number of columns that are shown of a source line. A longer line is cut around the caret."""
CODES_ABOUT_SECRETS: Final = ("DP205", "DP236")
"""Codes of findings about a secret in a file. No finding shows a source line that contains a secret."""
_COLUMNS_BEFORE_CARET: Final = 60
_TAB: Final = "    "
_ELLIPSIS: Final = "…"
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")

_RED: Final = "1;31"
_YELLOW: Final = "1;33"
_BLUE: Final = "1;34"
_BOLD: Final = "1"


def render_diagnostics(
    diagnostics: Iterable[Diagnostic], texts: Mapping[str, str], color: bool = False
) -> str:
    """Render findings for a terminal, with the totals at the end; "" if there are none.

    Each finding is one block, sorted by file, line and column; findings without a location come last. The
    text ends with a line break.

    Args:
        texts: The file contents by file name. Without a content, the source line is left out.
    """
    findings, omitted_counts = select_findings(diagnostics)
    if not findings:
        return ""
    lines = _SourceLines(
        texts,
        {
            (finding.span.file, finding.span.line)
            for finding in findings
            if finding.code in CODES_ABOUT_SECRETS and finding.span
        },
    )
    blocks = [_render_finding(finding, lines, _Paint(color)) for finding in findings]
    if omitted_counts:
        numbers = ", ".join(f"{visible(code)}: {omitted_counts[code]}" for code in sorted(omitted_counts))
        blocks.append(f"{omitted_counts.total()} more messages are not shown ({numbers})")
    severity_counts = Counter(finding.severity for finding in findings)
    severity_counts["error"] += omitted_counts.total()  # there are never so many warnings
    totals = [
        format_count(severity_counts[severity], severity)
        for severity in ("error", "warning")
        if severity_counts[severity]
    ]
    files = {finding.span.file for finding in findings if finding.span}
    file_count = f" in {format_count(len(files), 'file')}" if files else ""
    return "\n\n".join([*blocks, ", ".join(totals) + file_count]) + "\n"


class _Paint:
    """Style texts with ANSI codes if color is on."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text


class _SourceLines:
    """Find source lines by location, with the users and passwords of URLs hidden.

    `texts` has the file contents by file name. `secret_lines` are the lines that are never shown, as (file,
    line). Each file is split once, however many findings it has.
    """

    def __init__(self, texts: Mapping[str, str], secret_lines: set[tuple[str, int]]) -> None:
        self.texts = texts
        self.secret_lines = secret_lines
        self.lines_by_file: dict[str, list[str]] = {}

    def get(self, span: Span) -> str | None:
        """Return the source line of a span; None if it is unknown or contains a secret."""
        if (span.file, span.line) in self.secret_lines:
            return None
        if span.file not in self.lines_by_file:
            text = self.texts.get(span.file)
            self.lines_by_file[span.file] = [] if text is None else _LINE_BREAK.split(hide_credentials(text))
        lines = self.lines_by_file[span.file]
        return lines[span.line - 1] if 1 <= span.line <= len(lines) else None


def _render_finding(finding: Diagnostic, lines: _SourceLines, paint: _Paint) -> str:
    """Render one finding: its message, location, source line with carets, hint and notes.

    The form is that of a compiler message: `error[DP201]: …`, ` --> dpsync.yaml:3:5`, and the source line.
    """
    style = _RED if finding.severity == "error" else _YELLOW
    head = paint(style, f"{finding.severity}[{visible(finding.code)}]")
    result = [f"{head}{paint(_BOLD, ': ' + visible(finding.message))}"]
    source = lines.get(finding.span) if finding.span else None
    margin = " " * (len(str(finding.span.line)) if finding.span and source is not None else 1)
    bar = paint(_BLUE, "|")
    if finding.span:
        result.append(f"{margin} {paint(_BLUE, '-->')} {visible(str(finding.span))}")
    if finding.span and source is not None:
        excerpt, indent, carets = _excerpt(source, finding.span)
        number = paint(_BLUE, str(finding.span.line))
        result += [
            f"{margin} {bar}",
            f"{number} {bar} {excerpt}".rstrip(),
            f"{margin} {bar} {indent}{paint(style, carets)}",
        ]
    notes = [visible(finding.hint)] if finding.hint else []
    notes += [f"{visible(label)} at {visible(str(span))}" for label, span in finding.related]
    notes += [
        describe_candidate(candidate) for candidate in finding.candidates if candidate.title != candidate.id
    ]
    notes += (
        [f"and at {format_count(finding.unlisted_related_count, 'more place')}"]
        if finding.unlisted_related_count
        else []
    )
    if finding.address:
        notes.append(f"address: {visible(finding.address)}")
    if finding.environments:
        notes.append(f"with --env {', '.join(visible(name) for name in finding.environments)}")
    if notes and finding.span:
        result.append(f"{margin} {bar}")
    result += [f"{margin} {paint(_BLUE, '=')} {note}" for note in notes]
    return "\n".join(result)


def _excerpt(source: str, span: Span) -> tuple[str, str, str]:
    """Return a source line as shown, the indent of its carets, and the carets (`^^^`) that mark a span.

    A line of more than 100 columns is cut around the span, with `…` at the cut ends.
    """
    range_start = min(span.column, len(source) + 1) - 1
    range_end = span.end_column - 1 if span.end_line == span.line else len(source.rstrip())
    excerpt_start = max(0, range_start - _COLUMNS_BEFORE_CARET) if len(source) > MAX_SOURCE_COLUMNS else 0
    shown = source[excerpt_start : excerpt_start + MAX_SOURCE_COLUMNS]
    start_mark = _ELLIPSIS if excerpt_start > 0 else ""
    end_mark = _ELLIPSIS if excerpt_start + MAX_SOURCE_COLUMNS < len(source) else ""
    before_range = start_mark + _printable(source[excerpt_start:range_start])
    in_range = _printable(source[range_start : min(range_end, excerpt_start + MAX_SOURCE_COLUMNS)])
    return (
        start_mark + _printable(shown) + end_mark,
        " " * display_width(before_range),
        "^" * max(1, display_width(in_range)),
    )


def _printable(text: str) -> str:
    """Return a text with visible control characters, and with tabs as four spaces."""
    return visible(text.replace("\t", _TAB))
