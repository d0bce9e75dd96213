"""A file of rows (CSV, RFC 4180) → its cells with positions, and what is wrong with it.

The standard library's reader tells lines and no columns, and takes a quote that is never closed for a text of
half a file. Like the reader of YAML this one is bounded, and never raises.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dpsync.config import codes
from dpsync.config.reading.reader import DEFAULT_LIMITS, FileLimits
from dpsync.config.reading.scalars import LINE_BREAK
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Span

_CELL: Final = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\r|\n|\Z)')
_FORMULA: Final = re.compile(r"[=+@\t\r]|-(?![\w-]*\Z)")


class CsvCell(NamedTuple):
    """One cell: its text without quotes, and where it stands with them."""

    text: str
    span: Span


CsvRow = list[CsvCell]


def rows(text: str, file: str, limits: FileLimits = DEFAULT_LIMITS) -> tuple[list[CsvRow], Findings]:
    """The rows of a file that was decoded, without empty ones; `file` is its name in spans.

    After a quote that is out of place, and after as many cells as a file may have values, reading stops.
    """
    found: list[CsvRow] = []
    problems = Findings()
    row: CsvRow = []
    at, line, start, count = 0, 1, 0, 0
    while at < len(text) or row:
        match = _CELL.match(text, at)
        column = at - start + 1
        if match is None:
            problems.append(_wrong_quote(text, at, Span(file, line, column, line, column + 1)))
            break
        count += 1
        if count > limits.nodes:
            message = f"the file has more than {limits.nodes:,} cells"
            problems.append(Diagnostic(codes.NODES, message, Span(file, line, column, line, column + 1)))
            break
        quoted, plain, ending = match.groups()
        if quoted is None:
            row.append(CsvCell(plain, Span(file, line, column, line, column + len(plain))))
            breaks = None
        else:
            breaks = list(LINE_BREAK.finditer(text, at, match.start(3)))
            if breaks:
                last = breaks[-1].end()
                span = Span(file, line, column, line + len(breaks), match.start(3) - last + 1)
                line, start = line + len(breaks), last
            else:
                span = Span(file, line, column, line, column + len(quoted) + 2)
            row.append(CsvCell(quoted.replace('""', '"'), span))
        at = match.end()
        if ending == ",":
            continue
        if any(cell.text for cell in row):
            found.append(row)
        row, line, start = [], line + 1, at
    return found, problems


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take the text for a formula, and run it."""
    return _FORMULA.match(text) is not None


def cell_text(text: str) -> str:
    """A text as a cell is written: in quotes where it needs them."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def _wrong_quote(text: str, at: int, span: Span) -> Diagnostic:
    """What is wrong with a cell that is not one."""
    if text[at] == '"' and re.match(r'"[^"]*(?:""[^"]*)*\Z', text[at:]):
        message, hint = "the closing quote of this cell is missing", 'write " at the end of the cell'
    else:
        message = 'the cell contains a quote (") next to other text'
        hint = 'put the whole cell in quotes, and double each quote inside ("")'
    return Diagnostic(codes.ROWS, message, span, hint=hint)
