"""Findings → text for a terminal: sorted, each with its place, its source line and what to do.

Pure: it takes the texts of the files and reads
nothing. Every foreign character passes visible().
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from dpsync.model.diagnostic import Diagnostic
from dpsync.model.nodes import Span
from dpsync.model.text import counted
from dpsync.model.urls import hide_credentials
from dpsync.render.candidate import candidate
from dpsync.render.paint import columns
from dpsync.render.selected_findings import selected
from dpsync.render.visible import visible

WIDTH: Final = 100
"""Columns of a source line that are shown; a longer one is cut around the caret."""
UNSHOWN: Final = ("DP205", "DP236")
"""Findings that somebody has written a secret down: its line is not shown, by no other finding either."""
_BEFORE: Final = 60
_TAB: Final = "    "
_CUT: Final = "…"
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")

_RED: Final = "1;31"
_YELLOW: Final = "1;33"
_BLUE: Final = "1;34"
_BOLD: Final = "1"


def render_diagnostics(
    diagnostics: Iterable[Diagnostic], texts: Mapping[str, str], color: bool = False
) -> str:
    """One block per finding, by file, line and column, those without a place last, and a closing count.

    `texts` maps the file names of spans to their texts; without one the source line is left out. Ends with a
    line break, and is empty when there is nothing to say.
    """
    found, left_out = selected(diagnostics)
    if not found:
        return ""
    lines = _Lines(
        texts, {(one.span.file, one.span.line) for one in found if one.code in UNSHOWN and one.span}
    )
    blocks = [_block(one, lines, _Paint(color)) for one in found]
    more = [_more(left_out)] if left_out else []
    return "\n\n".join([*blocks, *more, _count(found, left_out)]) + "\n"


def _more(left_out: Counter[str]) -> str:
    counts = ", ".join(f"{visible(code)}: {left_out[code]}" for code in sorted(left_out))
    return f"{left_out.total()} more messages are not shown ({counts})"


class _Paint:
    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text


class _Lines:
    """The lines of the files, without users and passwords of URLs.

    Each file is split once, however many findings it has.
    """

    def __init__(self, texts: Mapping[str, str], secret: set[tuple[str, int]]) -> None:
        self.texts = texts
        self.secret = secret
        self.split: dict[str, list[str]] = {}

    def get(self, span: Span) -> str | None:
        if (span.file, span.line) in self.secret:
            return None
        if span.file not in self.split:
            text = self.texts.get(span.file)
            self.split[span.file] = [] if text is None else _LINE_BREAK.split(hide_credentials(text))
        lines = self.split[span.file]
        return lines[span.line - 1] if 1 <= span.line <= len(lines) else None


def _block(one: Diagnostic, lines: _Lines, paint: _Paint) -> str:
    style = _RED if one.severity == "error" else _YELLOW
    head = paint(style, f"{one.severity}[{visible(one.code)}]")
    result = [f"{head}{paint(_BOLD, ': ' + visible(one.message))}"]
    source = lines.get(one.span) if one.span else None
    margin = " " * (len(str(one.span.line)) if one.span and source is not None else 1)
    bar = paint(_BLUE, "|")
    if one.span:
        result.append(f"{margin} {paint(_BLUE, '-->')} {visible(str(one.span))}")
    if one.span and source is not None:
        excerpt, indent, carets = _excerpt(source, one.span)
        number = paint(_BLUE, str(one.span.line))
        result += [
            f"{margin} {bar}",
            f"{number} {bar} {excerpt}".rstrip(),
            f"{margin} {bar} {indent}{paint(style, carets)}",
        ]
    notes = [visible(one.hint)] if one.hint else []
    notes += [f"{visible(label)} at {visible(str(span))}" for label, span in one.related]
    notes += [candidate(each) for each in one.candidates if each.title != each.id]
    notes += [f"and at {counted(one.repeated, 'more place')}"] if one.repeated else []
    if one.address:
        notes.append(f"address: {visible(one.address)}")
    if one.environments:
        notes.append(f"with --env {', '.join(visible(name) for name in one.environments)}")
    if notes and one.span:
        result.append(f"{margin} {bar}")
    result += [f"{margin} {paint(_BLUE, '=')} {note}" for note in notes]
    return "\n".join(result)


def _excerpt(source: str, span: Span) -> tuple[str, str, str]:
    """The source line as shown, the indent of the carets under the range, and the carets."""
    start = min(span.column, len(source) + 1) - 1
    end = span.end_column - 1 if span.end_line == span.line else len(source.rstrip())
    first = max(0, start - _BEFORE) if len(source) > WIDTH else 0
    cut = source[first : first + WIDTH]
    left = _CUT if first > 0 else ""
    right = _CUT if first + WIDTH < len(source) else ""
    before = left + _printable(source[first:start])
    marked = _printable(source[start : min(end, first + WIDTH)])
    return left + _printable(cut) + right, " " * columns(before), "^" * max(1, columns(marked))


def _printable(text: str) -> str:
    return visible(text.replace("\t", _TAB))


def _count(found: list[Diagnostic], left_out: Counter[str]) -> str:
    severities = Counter(one.severity for one in found)
    severities["error"] += left_out.total()  # there are never so many warnings
    counts = [
        counted(severities[severity], severity) for severity in ("error", "warning") if severities[severity]
    ]
    files = {one.span.file for one in found if one.span}
    return ", ".join(counts) + (f" in {counted(len(files), 'file')}" if files else "")
