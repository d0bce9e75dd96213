"""Write entries as rows of a CSV file: a new file, or new cells in an existing one.

`csv_text` returns a new file, and `CsvFile` edits an existing file and keeps every other character. A value
that no cell can contain raises UneditableError: the row then stays as it is, and the caller reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from dpsync.config.csv_rows import cell_text, column_names, is_formula, row_format, split_rows
from dpsync.config.yaml_reader import LINE_BREAK
from dpsync.importing.edit_yaml import TextEdit, UneditableError, apply_edits
from dpsync.kinds.kind import Kind
from dpsync.kinds.watch_patterns import is_access_default
from dpsync.model.nodes import Span

Cells = dict[str, str]


def cells_of_fields(kind: Kind, fields: Mapping[str, Any]) -> Cells:
    """Return the CSV cells for these fields: texts by column.

    The values of the fields are YAML data. Some nested values have a column for each part (`format.forms`).
    Raises UneditableError if no cell can contain a value.
    """
    format = row_format(kind)
    assert format is not None
    remaining, texts_by_column = dict(fields), Cells()
    for names, form in format.forms.items():
        texts = _match_template(form, {name: remaining.get(name) for name in form})
        if texts is not None and set(texts) == set(names):
            texts_by_column |= texts
            remaining = {name: value for name, value in remaining.items() if name not in form}
    known = column_names(kind, format)
    for name, value in remaining.items():
        if isinstance(value, bool):
            texts_by_column[name] = str(value).lower()
        elif isinstance(value, str) and name in known:
            texts_by_column[name] = value
        else:
            raise UneditableError(f"no column of a CSV file can contain this value of {name}")
    for name, text in texts_by_column.items():
        if not text or text != text.strip() or is_formula(text):
            raise UneditableError(f"a cell of a CSV file cannot contain this value of {name}")
    return texts_by_column


def cells_of_entry(kind: Kind, key: str, fields: Mapping[str, Any]) -> Cells:
    """Return the CSV cells of a whole entry, including its key. Raises UneditableError."""
    if not key or is_formula(key) or key != key.strip():
        raise UneditableError("a cell of a CSV file cannot contain the key of the entry")
    return {str(kind.key_field): key, **cells_of_fields(kind, fields)}


def csv_text(kind: Kind, lines: Sequence[Cells]) -> str:
    """Return a file with these entries.

    The columns are those that the entries need, and those of the fields that `watch: access` compares:
    `import --update` writes only into existing columns.
    """
    format = row_format(kind)
    assert format is not None
    used = {name for line in lines for name in line}
    used |= {kind_field.name for kind_field in kind.fields if is_access_default(kind, kind_field)}
    names = [name for name in column_names(kind, format) if name in used]
    table = [names, *([line.get(name, "") for name in names] for line in lines)]
    return "".join(",".join(map(cell_text, line)).rstrip(",") + "\n" for line in table)


class CsvFile(Struct):
    """An existing CSV file with its pending changes."""

    kind: Kind
    text: str
    name: str
    changed: dict[Span, Cells] = field(default_factory=dict)
    """The new texts of cells, by the position of the entry; "" empties a cell."""
    added: list[Cells] = field(default_factory=list)

    @property
    def header(self) -> list[str]:
        """Return the columns of the file."""
        (header, *_), _ = split_rows(self.text, self.name)
        return [cell.text for cell in header]

    def change(self, entry: Span, name: str, value: Any) -> None:
        """Change a field of the entry at a position.

        Columns of other forms of the field are emptied. Raises UneditableError if the value needs a column
        that the file does not have.
        """
        format = row_format(self.kind)
        assert format is not None
        column_groups = [names for names, form in format.forms.items() if name in form]
        emptied_cells = {
            column: "" for names in column_groups for column in names if column in self.header
        } or {name: ""}
        cells = cells_of_fields(self.kind, {name: value})
        self._require_columns(cells)
        self.changed.setdefault(entry, {}).update({**emptied_cells, **cells})

    def add(self, key: str, fields: Mapping[str, Any]) -> None:
        """Add an entry after the last row. Default values need no column. Raises UneditableError."""
        header = self.header
        default_values = {
            kind_field.name: kind_field.value_when_absent
            for kind_field in self.kind.fields
            if kind_field.value_when_absent is not None
        }
        needed = {
            name: value
            for name, value in fields.items()
            if name in header or value != default_values.get(name)
        }
        cells = cells_of_entry(self.kind, key, needed)
        self._require_columns(cells)
        self.added.append(cells)

    def edited_text(self) -> str:
        """Return the text of the file with the changed cells, and with the new rows at the end."""
        (_, *entries), _ = split_rows(self.text, self.name)
        starts = [0, *(line_break.end() for line_break in LINE_BREAK.finditer(self.text))]
        header, edits = self.header, list[TextEdit]()
        key_column = header.index(str(self.kind.key_field))
        for cells in entries:
            changed_cells = self.changed.get(cells[key_column].span) if key_column < len(cells) else None
            if changed_cells is not None:
                texts, spans = [cell.text for cell in cells], [cell.span for cell in cells]
                edits += _row_edits(texts, spans, header, changed_cells, starts)
        text = apply_edits(self.text, edits)
        ending = "\r\n" if "\r\n" in text else "\n"
        if self.added and text and not text.endswith(("\n", "\r")):
            text += ending
        for added_cells in self.added:
            text += ",".join(cell_text(added_cells.get(name, "")) for name in header) + ending
        return text

    def _require_columns(self, cells: Cells) -> None:
        """Raise UneditableError if the file has no column for one of the cells."""
        missing = [name for name in cells if name not in self.header]
        if missing:
            raise UneditableError(f"the CSV file {self.name} has no column {missing[0]}")


def _row_edits(
    row_texts: list[str], spans: list[Span], header: list[str], changed_cells: Cells, starts: list[int]
) -> Iterator[TextEdit]:
    """Yield the edits of one CSV row.

    A row may have fewer cells than the header; missing cells that get a value are appended to the row.

    Args:
        row_texts: The present texts of the cells.
        spans: The positions of the cells in the file.
        changed_cells: The new texts by column.
        starts: The offset at which each line of the file begins.
    """
    appended_cells = [changed_cells.get(name, "") for name in header[len(spans) :]]
    while appended_cells and not appended_cells[-1]:
        appended_cells.pop()
    for number, (text, span) in enumerate(zip(row_texts, spans, strict=True)):
        start = starts[span.line - 1] + span.column - 1
        end = starts[span.end_line - 1] + span.end_column - 1
        new_text = changed_cells.get(header[number], text)
        appended = (
            "".join(f",{cell_text(cell)}" for cell in appended_cells) if number == len(spans) - 1 else ""
        )
        if new_text != text:
            yield TextEdit(start, end, cell_text(new_text) + appended)
        elif appended:
            yield TextEdit(end, end, appended)


def _match_template(template: Any, value: Any) -> Cells | None:
    """Return the texts for the placeholders "$NAME" if a value matches a template, otherwise None.

    The template `{"kind": "url", "url": "$target"}` and `{"kind": "url", "url": "/a"}` give `{"target":
    "/a"}`.
    """
    if isinstance(template, Mapping):
        if not isinstance(value, dict) or set(value) != set(template):
            return None
        parts = [_match_template(part, value[name]) for name, part in template.items()]
        if any(part is None for part in parts):
            return None
        return {name: text for part in parts if part is not None for name, text in part.items()}
    if isinstance(template, str) and template.startswith("$"):
        return {template[1:]: value} if isinstance(value, str) else None
    return {} if template == value else None
