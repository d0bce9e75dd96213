"""Define the Document nodes that Markdown can express, and check that a Document has this form.

What has no counterpart on the other side, as values: nothing here is a sentence to be parsed.

Whether a Document is built as Documents are: everything else in this package relies on it.

The platform looks at the outermost level only and keeps whatever is inside, so anything may come back.

The platform's table taken apart and put together: columns, rows, and the fragments that are its cells.

A table there is a small database: definitions of columns, records in the order of their `orderIndex`, and
for a column of text the name of a fragment in each record.

What Markdown and Documents have in common: which blocks, where they may stand, what may be set on them.

`outside` finds every node of a Document that is not part of it. The reader of Markdown and the comparison
use the same tables, so that the three cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct


class Problem(Struct, frozen=True, order=True):
    """Markdown that no Document can hold. Lines and columns start at 1, within the Markdown text."""

    line: int
    column: int
    message: str
    hint: str


class Outside(Struct, frozen=True):
    """A node of a Document that Markdown cannot hold.

    `path` leads to it from the document (`nodes[2].nodes[0]`); `type` is its type, or its `object` when it
    has none.
    """

    path: str
    type: str
    message: str


class MarkdownError(ValueError):
    """All the problems of one Markdown text, in the order of their places."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(self.problems)


class DocumentError(ValueError):
    """All the nodes of one Document that Markdown cannot hold, in the order of the document."""

    def __init__(self, problems: Iterable[Outside]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)


Json = dict[str, Any]

_DEEPEST = 100  # far beyond what Markdown can hold
_LISTS = ("nodes", "fragments", "leaves", "marks")


def misshapen(document: Json, defaults: Mapping[str, Json]) -> Iterator[Outside]:
    """Every node that is not built as one. `defaults` has a value of the right type for members of data."""
    yield from _below(document, "", defaults, 0)


def _below(node: Json, path: str, defaults: Mapping[str, Json], depth: int) -> Iterator[Outside]:
    for name in _LISTS:
        children = node.get(name)
        if children is None:
            continue
        at = f"{path}.{name}" if path else name
        if not isinstance(children, list):
            yield Outside(at, type(children).__name__, "is not a list")
            continue
        for index, child in enumerate(children):
            yield from _node(child, f"{at}[{index}]", name, defaults, depth)


def _node(node: Any, path: str, place: str, defaults: Mapping[str, Json], depth: int) -> Iterator[Outside]:
    if not isinstance(node, dict):
        yield Outside(path, type(node).__name__, "is not a node")
        return
    kind = node.get("type") or node.get("object")
    if depth > _DEEPEST:
        yield Outside(path, str(kind), f"is nested more than {_DEEPEST} nodes deep")
    elif not isinstance(kind, str) and place != "fragments":
        yield Outside(path, type(node).__name__, 'has neither the key "type" nor the key "object"')
    elif not _belongs(node, place, defaults):
        yield Outside(path, str(kind), "is not allowed at this position")
    elif place == "leaves" and not isinstance(node.get("text") or "", str):
        yield Outside(path, str(kind), "has a `text` that is not a string")
    elif wrong := _wrong(node, defaults.get(str(kind), {})):
        yield Outside(path, str(kind), f"has a value of the wrong type in `{wrong}`")
    else:
        yield from _below(node, path, defaults, depth + 1)


def _belongs(node: Json, place: str, defaults: Mapping[str, Json]) -> bool:
    kind, expected = node.get("type"), node.get("object")
    if not isinstance(kind, str | None):
        return False
    if place == "nodes":
        if kind in ("link", "inline-image"):
            return expected == "inline"
        return expected == "block" if kind in defaults else expected != "text" or kind is None
    return place != "marks" or isinstance(kind, str)


def _wrong(node: Json, defaults: Json) -> str | None:
    """The member that is of a wrong type."""
    data = node.get("data")
    if data is not None and not isinstance(data, dict):
        return "data"
    for name, default in defaults.items():
        value = (data or {}).get(name)
        expected = dict if name == "ref" else type(default)
        if value is not None and (name == "ref" or default is not None) and type(value) is not expected:
            return name
    return None


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


DEEPEST = 40
"""How many lists, items and quotes may stand inside each other."""

HEADINGS = ("heading-1", "heading-2", "heading-3")
LISTS = ("list-ordered", "list-unordered", "list-tasks")
ESSENTIALS = frozenset({"paragraph", *HEADINGS, *LISTS, "divider"})
CHILDREN: Mapping[str, frozenset[str]] = {
    "document": ESSENTIALS | {"blockquote", "code", "images", "table"},
    "blockquote": ESSENTIALS | {"blockquote"},
    "list-item": ESSENTIALS | {"blockquote", "code", "table"},
    "cell": frozenset({"paragraph"}),
    **dict.fromkeys(LISTS, frozenset({"list-item"})),
}
MARKS = ("bold", "italic", "strikethrough", "code")

DEFAULTS: Mapping[str, Json] = {
    "paragraph": {"align": "start"},
    **{heading: {"align": "start"} for heading in HEADINGS},
    "list-ordered": {"start": 1},
    "list-item": {"checked": False},
    "code": {
        "syntax": "", "title": "", "overflow": "scroll", "lineNumbers": False, "fullWidth": False,
        "expandable": False,
    },
    "code-line": {"highlighted": False},
    "images": {"align": "center", "fullWidth": False, "withFrame": False},
    "image": {"ref": None, "refDark": None, "width": None, "height": None, "alt": ""},
    "inline-image": {"ref": None, "refDark": None, "caption": "", "alt": "", "size": "original"},
    "link": {"ref": None},
    **{kind: {} for kind in ("list-unordered", "list-tasks", "blockquote", "divider", "table")},
}  # fmt: skip
"""What says something about a node, with the value that is as good as none. Whatever else stands in `data`
(the anchor of a heading, members that are not known) is the platform's own."""

WRITTEN: Mapping[str, frozenset[str]] = {
    "list-ordered": frozenset({"start"}),
    "list-item": frozenset({"checked"}),
    "code": frozenset({"syntax"}),
    "image": frozenset({"ref", "alt"}),
    "inline-image": frozenset({"ref", "alt", "caption"}),
    "link": frozenset({"ref"}),
}
"""Which of them Markdown can say."""

_BEYOND = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef" + _BEYOND + "]")
"""Control characters and what is no character: Markdown has no way to write them."""
_UNWRITABLE_CODE = re.compile(f"\r|{UNWRITABLE.pattern}")


def meaning(node: Json, default: Mapping[str, Json] = DEFAULTS) -> Json:
    """The members of a node's data that say something."""
    data = node.get("data") or {}
    known = default.get(str(node.get("type")), {})
    return {name: data[name] for name in sorted(known) if data.get(name) not in (None, "", known[name])}


def outside(document: Json) -> Iterator[Outside]:
    """Every node of the document that Markdown cannot hold; of a misshapen one what is not built right."""
    wrong = list(misshapen(document, DEFAULTS))
    yield from wrong
    if wrong:
        return
    yield from _blocks(document.get("nodes") or [], "document", "")


def _blocks(nodes: list[Any], parent: str, path: str, depth: int = 0) -> Iterator[Outside]:
    for index, node in enumerate(nodes):
        yield from _block(node, parent, f"{path}nodes[{index}]", depth)


def _block(node: Any, parent: str, path: str, depth: int) -> Iterator[Outside]:
    kind = _type(node)
    if kind not in CHILDREN[parent]:
        known = kind in CHILDREN["document"] or kind == "list-item"
        yield Outside(
            path,
            kind,
            f"cannot be inside a {parent} in Markdown" if known else "cannot be written as Markdown",
        )
        return
    if depth > DEEPEST:
        yield Outside(path, kind, f"is nested more than {DEEPEST} levels deep")
        return
    yield from _members(node, kind, path)
    children = node.get("nodes") or []
    if kind in CHILDREN:
        yield from _listed(node, kind, path)
        yield from _blocks(children, kind, f"{path}.", depth + 1)
    elif kind == "code":
        yield from _code(node, path)
    elif kind == "images":
        yield from _images(children, path)
    elif kind == "table":
        yield from _table(node, path)
    elif kind != "divider":
        yield from _inlines(children, path, within_link=False)


def _type(node: Json) -> str:
    return str(node.get("type") or node.get("object"))


def _members(node: Json, kind: str, path: str) -> Iterator[Outside]:
    for name, value in meaning(node).items():
        if name not in WRITTEN.get(kind, ()):
            yield Outside(path, kind, f"has the setting `{name}`, which Markdown cannot express")
        elif isinstance(value, str) and UNWRITABLE.search(value):
            yield Outside(path, kind, f"has a character in `{name}` that Markdown cannot write")


def _listed(node: Json, kind: str, path: str) -> Iterator[Outside]:
    start = meaning(node).get("start")
    if start is not None and not 0 <= start <= 999_999_999:
        yield Outside(path, kind, "has a `start` that is not a number from 0 to 999999999")
    if kind in LISTS and kind != "list-tasks":
        for index, item in enumerate(node.get("nodes") or []):
            if "checked" in meaning(item):
                yield Outside(
                    f"{path}.nodes[{index}]",
                    "list-item",
                    f"is a checked task in a {kind}, but only a list of the type list-tasks can have tasks",
                )


def _code(node: Json, path: str) -> Iterator[Outside]:
    for index, line in enumerate(node.get("nodes") or []):
        at = f"{path}.nodes[{index}]"
        kind = _type(line)
        if kind != "code-line":
            yield Outside(at, kind, "is not a line of code")
            continue
        yield from _members(line, kind, at)
        for child in line.get("nodes") or []:
            if _type(child) != "text" or any(leaf.get("marks") for leaf in child.get("leaves") or []):
                yield Outside(at, kind, "contains more than plain text")
            elif any(_UNWRITABLE_CODE.search(leaf.get("text") or "") for leaf in child.get("leaves") or []):
                yield Outside(at, kind, "contains a character that Markdown cannot write")


def _images(children: list[Any], path: str) -> Iterator[Outside]:
    if not children:
        yield Outside(path, "images", "contains no image")
    for index, image in enumerate(children):
        at = f"{path}.nodes[{index}]"
        if _type(image) != "image":
            yield Outside(at, _type(image), "is not an image")
            continue
        yield from _members(image, "image", at)
        yield from _reference(image, at)
        for fragment in image.get("fragments") or []:
            if fragment.get("type") == "caption" and _caption(fragment) is None:
                yield Outside(at, "image", "has a caption that is not one paragraph of plain text")
            elif UNWRITABLE.search(_caption(fragment) or ""):
                yield Outside(at, "image", "has a caption with a character that Markdown cannot write")


def _caption(fragment: Json) -> str | None:
    """The text of a caption, or None when it is more than plain text in one paragraph."""
    paragraphs = fragment.get("nodes") or []
    texts = [text for paragraph in paragraphs for text in paragraph.get("nodes") or []]
    if len(paragraphs) > 1 or any(_type(one) != "paragraph" or meaning(one) for one in paragraphs):
        return None
    if any(_type(text) != "text" for text in texts):
        return None
    leaves = [leaf for text in texts for leaf in text.get("leaves") or []]
    return (
        None
        if any(leaf.get("marks") for leaf in leaves)
        else "".join(leaf.get("text") or "" for leaf in leaves)
    )


def _table(node: Json, path: str) -> Iterator[Outside]:
    table = plain_table(node)
    if table is None:
        yield Outside(path, "table", "is not a plain table of text columns with a header row")
        return
    if any(UNWRITABLE.search(column.title) for column in table.columns):
        yield Outside(path, "table", "has a column title with a character that Markdown cannot write")
    fragments: list[Any] = node.get("fragments") or []
    used = {id(cell) for row in table.rows for cell in row}
    for index, fragment in enumerate(fragments):
        if id(fragment) not in used:
            continue
        at = f"{path}.fragments[{index}]"
        filled = [one for one in fragment.get("nodes") or [] if one.get("nodes")]
        if len(filled) > 1:
            yield Outside(at, "table", "has a cell with more than one paragraph")
        yield from _blocks(fragment.get("nodes") or [], "cell", f"{at}.")


def _inlines(nodes: list[Any], path: str, *, within_link: bool) -> Iterator[Outside]:
    for index, node in enumerate(nodes):
        at, kind = f"{path}.nodes[{index}]", _type(node)
        if kind == "text":
            yield from _leaves(node, at)
        elif kind == "inline-image" or (kind == "link" and not within_link):
            yield from _members(node, kind, at)
            yield from _reference(node, at)
            yield from _inlines(node.get("nodes") or [], at, within_link=True)
        else:
            yield Outside(at, kind, "cannot be written as Markdown at this position")


def _leaves(text: Json, path: str) -> Iterator[Outside]:
    for leaf in text.get("leaves") or []:
        marks = {str(mark.get("type")) for mark in leaf.get("marks") or [] if not plain_colour(mark)}
        for mark in sorted(marks - set(MARKS)):
            yield Outside(path, mark, "is formatting that Markdown cannot express")
        content = leaf.get("text") or ""
        if UNWRITABLE.search(content) or ("code" in marks and re.search("[\r\n]", content)):
            yield Outside(path, "text", "contains a character that Markdown cannot write")


def plain_colour(mark: Json) -> bool:
    """Whether a mark is the colour of all text, and so none."""
    return mark.get("type") == "color" and {"default", None}.issuperset((mark.get("data") or {}).values())


def _reference(node: Json, path: str) -> Iterator[Outside]:
    ref = (node.get("data") or {}).get("ref")
    if not isinstance(ref, dict) or ref.get("kind") != "url" or not isinstance(ref.get("url"), str):
        yield Outside(path, _type(node), "points to a GitBook object, not to a URL")
    elif UNWRITABLE.search(ref["url"]):
        yield Outside(path, _type(node), "has a URL with a character that Markdown cannot write")
