"""Define the nodes of a rich-text Document that Markdown can express, and find all other nodes.

`unsupported_nodes` finds every node that Markdown cannot express. `malformed_nodes` finds nodes whose JSON
has a wrong structure. parse.py and comparison.py use the same tables, so that the three cannot disagree. A
table in GitBook is a small database: definitions of columns, records in the order of their `orderIndex`, and
for a text column the name of a fragment in each record. `read_plain_table` and `table_block` convert it.
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


class UnsupportedNode(Struct, frozen=True):
    """A node of a Document that Markdown cannot hold.

    `path` leads to the node from the document (`nodes[2].nodes[0]`). `type` is the node's type, or its
    `object` if it has no type.
    """

    path: str
    type: str
    message: str


class MarkdownError(ValueError):
    """All problems of one Markdown text, in the order of their positions."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(self.problems)


class DocumentError(ValueError):
    """All nodes of one Document that Markdown cannot hold, in the order of the document."""

    def __init__(self, problems: Iterable[UnsupportedNode]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)


Json = dict[str, Any]

_MAX_JSON_DEPTH = 100  # far beyond what Markdown can hold
_CHILD_LISTS = ("nodes", "fragments", "leaves", "marks")


def malformed_nodes(document: Json, defaults: Mapping[str, Json]) -> Iterator[UnsupportedNode]:
    """Yield every node of a Document whose JSON has a wrong structure or a member of a wrong type.

    `defaults` has, by node type, a value of the right type for each member of `data`, as `DEFAULTS` does.
    """
    yield from _malformed_below(document, "", defaults, 0)


def _malformed_below(
    node: Json, path: str, defaults: Mapping[str, Json], depth: int
) -> Iterator[UnsupportedNode]:
    """Yield every malformed node inside a node of a GitBook document.

    `path` is the path of the node, such as `nodes[2].nodes[0]`, and `defaults` has the members of each type.
    """
    for name in _CHILD_LISTS:
        children = node.get(name)
        if children is None:
            continue
        list_path = f"{path}.{name}" if path else name
        if not isinstance(children, list):
            yield UnsupportedNode(list_path, type(children).__name__, "is not a list")
            continue
        for index, child in enumerate(children):
            yield from _check_node_form(child, f"{list_path}[{index}]", name, defaults, depth)


def _check_node_form(
    node: Any, path: str, list_name: str, defaults: Mapping[str, Json], depth: int
) -> Iterator[UnsupportedNode]:
    """Yield a node if its own JSON is malformed, otherwise every malformed node below the node.

    `list_name` is the list of the parent that contains the node, such as "nodes" or "marks".
    """
    if not isinstance(node, dict):
        yield UnsupportedNode(path, type(node).__name__, "is not a node")
        return
    kind = node.get("type") or node.get("object")
    if depth > _MAX_JSON_DEPTH:
        yield UnsupportedNode(path, str(kind), f"is nested more than {_MAX_JSON_DEPTH} nodes deep")
    elif not isinstance(kind, str) and list_name != "fragments":
        yield UnsupportedNode(path, type(node).__name__, 'has neither the key "type" nor the key "object"')
    elif not _fits_list(node, list_name, defaults):
        yield UnsupportedNode(path, str(kind), "is not allowed at this position")
    elif list_name == "leaves" and not isinstance(node.get("text") or "", str):
        yield UnsupportedNode(path, str(kind), "has a `text` that is not a string")
    elif wrong := _mistyped_member(node, defaults.get(str(kind), {})):
        yield UnsupportedNode(path, str(kind), f"has a value of the wrong type in `{wrong}`")
    else:
        yield from _malformed_below(node, path, defaults, depth + 1)


def _fits_list(node: Json, list_name: str, defaults: Mapping[str, Json]) -> bool:
    """Return whether the type and the `object` of a node fit together and fit the list with the node.

    For example, a link must be an "inline" and a paragraph a "block". The types in `defaults` are known.
    """
    kind, object_ = node.get("type"), node.get("object")
    if not isinstance(kind, str | None):
        return False
    if list_name == "nodes":
        if kind in ("link", "inline-image"):
            return object_ == "inline"
        return object_ == "block" if kind in defaults else object_ != "text" or kind is None
    return list_name != "marks" or isinstance(kind, str)


def _mistyped_member(node: Json, defaults: Json) -> str | None:
    """Return the name of the first member of a node's `data` with another type than its default, if any."""
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
_UNSUPPORTED_TABLE_MEMBERS = ("cellMerges", "fullWidth")
_UNSUPPORTED_VIEW_MEMBERS = ("columnWidths", "hideHeader", "sticky")


class Column(Struct, frozen=True):
    """A column of a table. `align` is one of `ALIGNMENTS`."""

    title: str
    align: str


class PlainTable(Struct, frozen=True):
    """A table with only text columns. `rows` has the fragment of each cell; None for a missing cell."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Json | None, ...], ...]


def read_plain_table(block: Json) -> PlainTable | None:
    """Return a table block as columns and rows; None if Markdown cannot express the table."""
    try:
        return _read_table(block)
    except (AttributeError, KeyError, TypeError):  # not the documented structure of a table
        return None


def _read_table(block: Json) -> PlainTable | None:
    """Return a table block as columns and rows; None if Markdown cannot express the table.

    The platform stores definitions of columns, records with an order index, and a text fragment per cell.
    Raises AttributeError, KeyError or TypeError for a block of another structure.
    """
    data = block["data"]
    view, definition, records = data["view"], data["definition"], data["records"]
    names = list(view["columns"])
    extras = [data.get(name) for name in _UNSUPPORTED_TABLE_MEMBERS] + [
        view.get(name) for name in _UNSUPPORTED_VIEW_MEMBERS
    ]
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

    def order_key(record: Json) -> tuple[float, str]:
        index = record["orderIndex"]  # numbers come first, by value; then texts
        return (float(index), "") if isinstance(index, int | float) else (float("inf"), str(index))

    ordered = sorted(records.values(), key=order_key)
    rows = tuple(tuple(cells.get(record["values"].get(name) or "") for name in names) for record in ordered)
    return PlainTable(columns, rows)


def table_block(columns: list[Column], rows: list[list[list[Json]]]) -> Json:
    """Return a table block in the platform's format. Each cell in `rows` is a list of inline nodes."""
    names = [f"column-{number}" for number in range(1, len(columns) + 1)]
    width = len(str(len(rows)))  # order indexes are compared as texts, so all need the same length
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


MAX_NESTING = 40
"""The maximum nesting of lists, items and quotes."""

HEADINGS = ("heading-1", "heading-2", "heading-3")
LISTS = ("list-ordered", "list-unordered", "list-tasks")
BASIC_BLOCKS = frozenset({"paragraph", *HEADINGS, *LISTS, "divider"})
CHILDREN: Mapping[str, frozenset[str]] = {
    "document": BASIC_BLOCKS | {"blockquote", "code", "images", "table"},
    "blockquote": BASIC_BLOCKS | {"blockquote"},
    "list-item": BASIC_BLOCKS | {"blockquote", "code", "table"},
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
"""The members of `data` that have a meaning, by node type, each with its default. Other members (the anchor
of a heading, unknown members) are the platform's own."""

EXPRESSIBLE_DATA: Mapping[str, frozenset[str]] = {
    "list-ordered": frozenset({"start"}),
    "list-item": frozenset({"checked"}),
    "code": frozenset({"syntax"}),
    "image": frozenset({"ref", "alt"}),
    "inline-image": frozenset({"ref", "alt", "caption"}),
    "link": frozenset({"ref"}),
}
"""The members of `data` that Markdown can express."""

_NON_CHARACTERS = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef" + _NON_CHARACTERS + "]")
"""Control characters and non-characters, which Markdown cannot express."""
_UNWRITABLE_CODE = re.compile(f"\r|{UNWRITABLE.pattern}")


def non_default_data(node: Json, default: Mapping[str, Json] = DEFAULTS) -> Json:
    """Return the members of a node's `data` that have a meaning and differ from their defaults.

    `default` has the defaults by node type.
    """
    data = node.get("data") or {}
    known = default.get(str(node.get("type")), {})
    return {name: data[name] for name in sorted(known) if data.get(name) not in (None, "", known[name])}


def unsupported_nodes(document: Json) -> Iterator[UnsupportedNode]:
    """Yield every node of the document that Markdown cannot express.

    If the JSON of nodes is malformed, yield only these nodes.
    """
    malformed = list(malformed_nodes(document, DEFAULTS))
    yield from malformed
    if malformed:
        return
    yield from _check_blocks(document.get("nodes") or [], "document", "")


def _check_blocks(nodes: list[Any], parent: str, path: str, depth: int = 0) -> Iterator[UnsupportedNode]:
    """Yield the unsupported nodes in the blocks of a parent.

    `parent` is the type of the parent, a key of `CHILDREN`. `path` is the prefix of the paths of the blocks.
    """
    for index, node in enumerate(nodes):
        yield from _check_block(node, parent, f"{path}nodes[{index}]", depth)


def _check_block(node: Any, parent: str, path: str, depth: int) -> Iterator[UnsupportedNode]:
    """Yield a block if Markdown does not allow the block in its parent, or its unsupported parts."""
    kind = _node_type(node)
    if kind not in CHILDREN[parent]:
        known = kind in CHILDREN["document"] or kind == "list-item"
        yield UnsupportedNode(
            path,
            kind,
            f"cannot be inside a {parent} in Markdown" if known else "cannot be written as Markdown",
        )
        return
    if depth > MAX_NESTING:
        yield UnsupportedNode(path, kind, f"is nested more than {MAX_NESTING} levels deep")
        return
    yield from _check_members(node, kind, path)
    children = node.get("nodes") or []
    if kind in CHILDREN:
        yield from _check_list(node, kind, path)
        yield from _check_blocks(children, kind, f"{path}.", depth + 1)
    elif kind == "code":
        yield from _check_code(node, path)
    elif kind == "images":
        yield from _check_images(children, path)
    elif kind == "table":
        yield from _check_table(node, path)
    elif kind != "divider":
        yield from _check_inlines(children, path, within_link=False)


def _node_type(node: Json) -> str:
    """Return the type of a node, or its `object` if it has no type, such as "text"."""
    return str(node.get("type") or node.get("object"))


def _check_members(node: Json, kind: str, path: str) -> Iterator[UnsupportedNode]:
    """Yield a node once for each setting in its `data` that Markdown cannot express."""
    for name, value in non_default_data(node).items():
        if name not in EXPRESSIBLE_DATA.get(kind, ()):
            yield UnsupportedNode(path, kind, f"has the setting `{name}`, which Markdown cannot express")
        elif isinstance(value, str) and UNWRITABLE.search(value):
            yield UnsupportedNode(path, kind, f"has a character in `{name}` that Markdown cannot write")


def _check_list(node: Json, kind: str, path: str) -> Iterator[UnsupportedNode]:
    """Yield a list whose start number Markdown cannot express, and task items in a list of another type."""
    start = non_default_data(node).get("start")
    if start is not None and not 0 <= start <= 999_999_999:
        yield UnsupportedNode(path, kind, "has a `start` that is not a number from 0 to 999999999")
    if kind in LISTS and kind != "list-tasks":
        for index, list_item in enumerate(node.get("nodes") or []):
            if "checked" in non_default_data(list_item):
                yield UnsupportedNode(
                    f"{path}.nodes[{index}]",
                    "list-item",
                    f"is a checked task in a {kind}, but only a list of the type list-tasks can have tasks",
                )


def _check_code(node: Json, path: str) -> Iterator[UnsupportedNode]:
    """Yield the lines of a code block that are not plain text without control characters."""
    for index, line in enumerate(node.get("nodes") or []):
        line_path = f"{path}.nodes[{index}]"
        kind = _node_type(line)
        if kind != "code-line":
            yield UnsupportedNode(line_path, kind, "is not a line of code")
            continue
        yield from _check_members(line, kind, line_path)
        for child in line.get("nodes") or []:
            if _node_type(child) != "text" or any(leaf.get("marks") for leaf in child.get("leaves") or []):
                yield UnsupportedNode(line_path, kind, "contains more than plain text")
            elif any(_UNWRITABLE_CODE.search(leaf.get("text") or "") for leaf in child.get("leaves") or []):
                yield UnsupportedNode(line_path, kind, "contains a character that Markdown cannot write")


def _check_images(children: list[Any], path: str) -> Iterator[UnsupportedNode]:
    """Yield the images of an image block that Markdown cannot express, or the block if it has no image.

    `children` are the nodes of the block, and `path` is the path of the block.
    """
    if not children:
        yield UnsupportedNode(path, "images", "contains no image")
    for index, image in enumerate(children):
        image_path = f"{path}.nodes[{index}]"
        if _node_type(image) != "image":
            yield UnsupportedNode(image_path, _node_type(image), "is not an image")
            continue
        yield from _check_members(image, "image", image_path)
        yield from _check_reference(image, image_path)
        for fragment in image.get("fragments") or []:
            if fragment.get("type") == "caption" and _caption_text(fragment) is None:
                yield UnsupportedNode(
                    image_path, "image", "has a caption that is not one paragraph of plain text"
                )
            elif UNWRITABLE.search(_caption_text(fragment) or ""):
                yield UnsupportedNode(
                    image_path, "image", "has a caption with a character that Markdown cannot write"
                )


def _caption_text(fragment: Json) -> str | None:
    """Return the text of a caption; None if it is more than one paragraph of plain text."""
    paragraphs = fragment.get("nodes") or []
    texts = [text for paragraph in paragraphs for text in paragraph.get("nodes") or []]
    if len(paragraphs) > 1 or any(
        _node_type(paragraph) != "paragraph" or non_default_data(paragraph) for paragraph in paragraphs
    ):
        return None
    if any(_node_type(text) != "text" for text in texts):
        return None
    leaves = [leaf for text in texts for leaf in text.get("leaves") or []]
    return (
        None
        if any(leaf.get("marks") for leaf in leaves)
        else "".join(leaf.get("text") or "" for leaf in leaves)
    )


def _check_table(node: Json, path: str) -> Iterator[UnsupportedNode]:
    """Yield a table that is no plain text table, or the unsupported nodes in its cells."""
    table = read_plain_table(node)
    if table is None:
        yield UnsupportedNode(path, "table", "is not a plain table of text columns with a header row")
        return
    if any(UNWRITABLE.search(column.title) for column in table.columns):
        yield UnsupportedNode(path, "table", "has a column title with a character that Markdown cannot write")
    fragments: list[Any] = node.get("fragments") or []
    used = {id(cell) for row in table.rows for cell in row}
    for index, fragment in enumerate(fragments):
        if id(fragment) not in used:
            continue
        fragment_path = f"{path}.fragments[{index}]"
        filled = [block for block in fragment.get("nodes") or [] if block.get("nodes")]
        if len(filled) > 1:
            yield UnsupportedNode(fragment_path, "table", "has a cell with more than one paragraph")
        yield from _check_blocks(fragment.get("nodes") or [], "cell", f"{fragment_path}.")


def _check_inlines(nodes: list[Any], path: str, *, within_link: bool) -> Iterator[UnsupportedNode]:
    """Yield the texts, links and images in inline content that Markdown cannot express.

    A link in a link (`within_link`) is unsupported.
    """
    for index, node in enumerate(nodes):
        node_path, kind = f"{path}.nodes[{index}]", _node_type(node)
        if kind == "text":
            for leaf in node.get("leaves") or []:
                marks = {
                    str(mark.get("type")) for mark in leaf.get("marks") or [] if not is_default_color(mark)
                }
                for mark in sorted(marks - set(MARKS)):
                    yield UnsupportedNode(node_path, mark, "is formatting that Markdown cannot express")
                content = leaf.get("text") or ""
                if UNWRITABLE.search(content) or ("code" in marks and re.search("[\r\n]", content)):
                    yield UnsupportedNode(
                        node_path, "text", "contains a character that Markdown cannot write"
                    )
        elif kind == "inline-image" or (kind == "link" and not within_link):
            yield from _check_members(node, kind, node_path)
            yield from _check_reference(node, node_path)
            yield from _check_inlines(node.get("nodes") or [], node_path, within_link=True)
        else:
            yield UnsupportedNode(node_path, kind, "cannot be written as Markdown at this position")


def is_default_color(mark: Json) -> bool:
    """Return whether a mark sets the default text color, which has no effect."""
    return mark.get("type") == "color" and {"default", None}.issuperset((mark.get("data") or {}).values())


def _check_reference(node: Json, path: str) -> Iterator[UnsupportedNode]:
    """Yield a link or an image that does not point to a URL, or to a URL that Markdown cannot write."""
    ref = (node.get("data") or {}).get("ref")
    if not isinstance(ref, dict) or ref.get("kind") != "url" or not isinstance(ref.get("url"), str):
        yield UnsupportedNode(path, _node_type(node), "points to a GitBook object, not to a URL")
    elif UNWRITABLE.search(ref["url"]):
        yield UnsupportedNode(path, _node_type(node), "has a URL with a character that Markdown cannot write")
