"""Read CSV files as entries, each cell with its position in the file.

`split_rows` splits a file (RFC 4180) into cells with positions, within limits, and never raises. Python's csv
module has no columns, and reads a quote that is never closed as a text of half a file. `read_entries` turns
the rows into the mapping that a person would have written in YAML: each row is one entry. The kind says what
a column means. Values are checked later.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dpsync.config import codes
from dpsync.config.yaml_reader import DEFAULT_LIMITS, LINE_BREAK, FileLimits
from dpsync.kinds.kind import EntryMapping, Kind, RowFormat
from dpsync.kinds.types import Enum, Flag, Text
from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Mapping, Node, Scalar, Span
from dpsync.model.text import did_you_mean, format_count

_CELL: Final = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\r|\n|\Z)')
_FORMULA: Final = re.compile(r"[=+@\t\r]|-(?![\w-]*\Z)")


class CsvCell(NamedTuple):
    """One cell: its text without quotes, and its position including the quotes."""

    text: str
    span: Span


CsvRow = list[CsvCell]


def split_rows(text: str, file: str, limits: FileLimits = DEFAULT_LIMITS) -> tuple[list[CsvRow], Findings]:
    """Split the text of a CSV file (RFC 4180) into rows of cells with positions, without empty rows.

    `file` is its name in spans. Reading stops with a finding at a misplaced quote, and at the limit of values
    in a file.
    """
    rows: list[CsvRow] = []
    problems = Findings()
    row: CsvRow = []
    position, line, line_start, count = 0, 1, 0, 0
    while position < len(text) or row:
        match = _CELL.match(text, position)
        column = position - line_start + 1
        if match is None:
            problems.append(_quote_finding(text, position, Span(file, line, column, line, column + 1)))
            break
        count += 1
        if count > limits.nodes:
            message = f"the file has more than {limits.nodes:,} cells"
            problems.append(Diagnostic(codes.NODES, message, Span(file, line, column, line, column + 1)))
            break
        quoted, plain, ending = match.groups()
        if quoted is None:
            row.append(CsvCell(plain, Span(file, line, column, line, column + len(plain))))
            line_breaks = None
        else:  # a quoted cell may contain line breaks
            line_breaks = list(LINE_BREAK.finditer(text, position, match.start(3)))
            if line_breaks:
                last_line_start = line_breaks[-1].end()
                span = Span(file, line, column, line + len(line_breaks), match.start(3) - last_line_start + 1)
                line, line_start = line + len(line_breaks), last_line_start
            else:
                span = Span(file, line, column, line, column + len(quoted) + 2)
            row.append(CsvCell(quoted.replace('""', '"'), span))
        position = match.end()
        if ending == ",":
            continue
        # The row ends here.
        if any(cell.text for cell in row):
            rows.append(row)
        row, line, line_start = [], line + 1, position
    return rows, problems


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would run the text as a formula."""
    return _FORMULA.match(text) is not None


def cell_text(text: str) -> str:
    """Return a text as a cell, in quotes if necessary."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def _quote_finding(text: str, position: int, span: Span) -> Diagnostic:
    """Return the finding that a cell has a quote next to other text, or lacks its closing quote."""
    if text[position] == '"' and re.match(r'"[^"]*(?:""[^"]*)*\Z', text[position:]):
        message, hint = "the closing quote of this cell is missing", 'write " at the end of the cell'
    else:
        message = 'the cell contains a quote (") next to other text'
        hint = 'put the whole cell in quotes, and double each quote inside ("")'
    return Diagnostic(codes.ROWS, message, span, hint=hint)


FILE_KEY = "file"
"""The key in a mapping of entries that names a CSV file with more entries."""


def row_format(kind: Kind) -> RowFormat | None:
    """Return the format of CSV files with entries of this kind; None if they are not supported."""
    return kind.shape.row_format if isinstance(kind.shape, EntryMapping) else None


def column_names(kind: Kind, format: RowFormat) -> list[str]:
    """Return the column names that a CSV file with entries of a kind may have, the key first."""
    simple = [
        field.name
        for field in kind.declarable_fields.values()
        if field.is_declarable and isinstance(field.type, Text | Flag | Enum)
    ]
    keywords = ["id", *(["previously"] if kind.can_be_renamed else [])]
    return list(dict.fromkeys([str(kind.key_field), *format.columns, *simple, *keywords]))


def read_entries(kind: Kind, text: str, file: str) -> tuple[Mapping | None, Findings]:
    """Return the mapping of entries in a CSV file, and findings about its form.

    The mapping is None if the first line does not name the columns.
    """
    rows, problems = split_rows(text, file)
    reader = _RowReader(kind, problems)
    if not rows:
        reader.add_error(
            f"the first line of the file must name the columns ({', '.join(reader.known_columns)})",
            Span.start_of(file),
        )
        return None, problems
    header, *body = rows
    if not reader.read_header(header):
        return None, problems
    row_entries = tuple(entry for row in body if (entry := reader.read_entry(row)) is not None)
    return Mapping(row_entries, header[0].span), problems


class _RowReader:
    """Turns the rows of a CSV file into entries of one kind, and collects findings."""

    def __init__(self, kind: Kind, problems: Findings) -> None:
        """Prepare to read entries of a kind that allows CSV files. Findings are added to `problems`."""
        format = row_format(kind)
        assert format is not None
        self.kind = kind
        self.format = format
        self.problems = problems
        self.known_columns = column_names(kind, format)
        self.header_names: list[str] = []

    def add_error(self, message: str, span: Span, hint: str | None = None) -> None:
        """Add a finding about the CSV file."""
        self.problems.append(Diagnostic(codes.ROWS, message, span, hint=hint))

    def read_header(self, row: CsvRow) -> bool:
        """Return whether the first line names known columns, each once, with the key. Reports problems."""
        self.header_names = [cell.text for cell in row]
        problems_before = len(self.problems)
        for number, (name, span) in enumerate(row):
            if name not in self.known_columns:
                nearest = did_you_mean(name, self.known_columns)
                hint = (
                    f'did you mean "{nearest}"?'
                    if nearest
                    else f"the columns are: {', '.join(self.known_columns)}"
                )
                separator = ";" if ";" in name else "a tab" if "\t" in name else None
                hint = f"separate the columns by commas, not by {separator}" if separator else hint
                self.add_error(f'"{name}" is not a column of {self.kind.key}', span, hint)
            elif name in self.header_names[:number]:
                self.add_error(f'the column "{name}" appears twice', span)
        key_column = str(self.kind.key_field)
        if key_column not in self.header_names and len(self.problems) == problems_before:
            hint = f"name the columns in the first line: {', '.join(self.known_columns)}"
            self.add_error(f'the column "{key_column}" is missing', row[0].span, hint)
        return len(self.problems) == problems_before

    def read_entry(self, row: CsvRow) -> tuple[Scalar, Node] | None:
        """Return one row as an entry, as if it were written in YAML; None after reporting why not."""
        if len(row) > len(self.header_names):
            hint = 'put a cell that contains a comma in quotes ("…")'
            count = (
                f"the line has {format_count(len(row), 'cell')}, but the first line "
                f"names {format_count(len(self.header_names), 'column')}"
            )
            self.add_error(count, row[len(self.header_names)].span, hint)
            return None
        cells = {name: cell for name, cell in zip(self.header_names, row, strict=False) if cell.text}
        key_column = str(self.kind.key_field)
        if key_column not in cells:
            self.add_error(
                f"the {key_column} is empty", row[min(self.header_names.index(key_column), len(row) - 1)].span
            )
            return None
        # A list, not a generator, so that the problems of all cells are reported.
        unambiguous = [self._is_unambiguous(cell) for cell in cells.values()]
        if not all(unambiguous):
            return None
        key = cells.pop(key_column)
        form_fields = self._form_fields(cells)
        if form_fields is None:
            return None
        form_columns, parts = form_fields
        fields = [self._cell_value(name, cell) for name, cell in cells.items() if name not in form_columns]
        return _scalar(key.text, key.span), Mapping((*parts, *fields), key.span)

    def _is_unambiguous(self, cell: CsvCell) -> bool:
        """Return whether a cell is plain data. Reports surrounding spaces and spreadsheet formulas."""
        if cell.text != cell.text.strip():
            self.add_error("the cell begins or ends with a space", cell.span, "delete the space")
        elif is_formula(cell.text):
            hint = 'write this entry in YAML, at the same level as the key "file"'
            self.add_error("a spreadsheet would run this cell as a formula", cell.span, hint)
        else:
            return True
        return False

    def _form_fields(
        self, cells: dict[str, CsvCell]
    ) -> tuple[tuple[str, ...], list[tuple[Scalar, Node]]] | None:
        """Return the columns of a row that set one field together, and the field that they set.

        For a redirect, the columns `space` and `page` set the field `destination`. None if no form of the
        kind has exactly these columns.
        """
        filled = tuple(name for name in self.format.columns if name in cells)
        if not filled:
            return (), []
        form = self.format.forms.get(filled)
        if form is None:
            combinations = ", or ".join(" and ".join(names) for names in self.format.forms)
            message = f"the line has values for {' and '.join(filled)}, and this combination is not valid"
            self.add_error(message, cells[filled[-1]].span, f"fill in only these columns: {combinations}")
            return None
        first = cells[filled[0]].span
        return filled, [(_scalar(name, first), _form_node(part, cells, first)) for name, part in form.items()]

    def _cell_value(self, name: str, cell: CsvCell) -> tuple[Scalar, Node]:
        """Return the field that a cell sets. "true" and "false" become booleans in a boolean field."""
        field = self.kind.declarable_fields.get(name)
        value: Any = cell.text
        if field is not None and isinstance(field.type, Flag):
            value = {"true": True, "false": False}.get(value.casefold(), value)
        return _scalar(name, cell.span), Scalar(value, cell.span, cell.text, plain=False)


def _form_node(part: Any, cells: dict[str, CsvCell], first: Span) -> Node:
    """Return the YAML node of a part of a form: the template of a value that several columns make up.

    A text "$NAME" stands for the cell in the column NAME. `first` is the position of all other nodes.
    """
    if isinstance(part, dict):
        members = ((_scalar(name, first), _form_node(value, cells, first)) for name, value in part.items())
        return Mapping(tuple(members), first)
    if isinstance(part, str) and part.startswith("$"):
        cell = cells[part[1:]]
        return _scalar(cell.text, cell.span)
    return _scalar(part, first)


def _scalar(text: str, span: Span) -> Scalar:
    """Return a quoted text as a node."""
    return Scalar(text, span, text, plain=False)
