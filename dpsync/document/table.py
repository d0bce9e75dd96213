"""The platform's table taken apart and put together: columns, rows, and the fragments that are its cells.

A table there is a small database: definitions of columns, records in the order of their `orderIndex`, and
for a column of text the name of a fragment in each record.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Json = dict[str, Any]
ALIGNMENTS = ("left", "center", "right")
_EXTRAS = ("cellMerges", "fullWidth")
_VIEW_EXTRAS = ("columnWidths", "hideHeader", "sticky")


class Column(Struct, frozen=True):
    title: str
    align: str


class PlainTable(Struct, frozen=True):
    """`rows` has the fragment of each cell, None where a cell has none."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Json | None, ...], ...]


def plain_table(block: Json) -> PlainTable | None:
    """The table as rows and columns, or None when it is more than what Markdown can draw."""
    try:
        return _taken_apart(block)
    except (AttributeError, KeyError, TypeError):  # not the published shape: then it is kept as it is
        return None


def _taken_apart(block: Json) -> PlainTable | None:
    data = block["data"]
    view, definition, records = data["view"], data["definition"], data["records"]
    names = list(view["columns"])
    extras = [data.get(name) for name in _EXTRAS] + [view.get(name) for name in _VIEW_EXTRAS]
    if view.get("type") != "grid" or any(extras) or not names or set(names) != set(definition):
        return None
    if len(set(names)) < len(names) or any(definition[name]["type"] != "text" for name in names):
        return None
    columns = tuple(
        Column(definition[name].get("title") or "", definition[name].get("textAlignment") or "left")
        for name in names
    )
    if any(column.align not in ALIGNMENTS or not isinstance(column.title, str) for column in columns):
        return None
    cells = {fragment.get("fragment"): fragment for fragment in block.get("fragments") or []}
    ordered = sorted(records.values(), key=lambda record: _order(record["orderIndex"]))
    rows = tuple(tuple(cells.get(record["values"].get(name) or "") for name in names) for record in ordered)
    return PlainTable(columns, rows)


def _order(index: Any) -> tuple[float, str]:
    """Numbers by value before texts by their letters: both are seen."""
    return (float(index), "") if isinstance(index, int | float) else (float("inf"), str(index))


def table_block(columns: list[Column], rows: list[list[list[Json]]]) -> Json:
    """The block of a table; a cell is given as its inline nodes."""
    names = [f"column-{number}" for number in range(1, len(columns) + 1)]
    width = len(str(len(rows)))  # the order of records is that of texts
    records: Json = {}
    fragments: list[Json] = []
    for number, row in enumerate(rows, 1):
        values = {}
        for name, nodes in zip(names, row, strict=True):
            values[name] = f"record-{number}-{name}"
            paragraph = {"object": "block", "type": "paragraph", "data": {}, "nodes": nodes}
            fragments.append({"object": "fragment", "fragment": values[name], "nodes": [paragraph]})
        records[f"record-{number}"] = {"orderIndex": str(number).zfill(width), "values": values}
    definition = {
        name: {"id": name, "title": column.title, "type": "text", "textAlignment": column.align}
        for name, column in zip(names, columns, strict=True)
    }
    view = {"type": "grid", "columns": names, "hideHeader": False}
    data = {"view": view, "records": records, "definition": definition}
    return {"object": "block", "type": "table", "isVoid": True, "data": data, "fragments": fragments}
