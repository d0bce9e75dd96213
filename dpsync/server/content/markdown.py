"""Convert a rich-text Document to Markdown.

Nodes are stored as callers sent them, so the code assumes nothing about their content. A block that has no
Markdown syntax is written as its content.
"""

import re
from collections.abc import Callable
from typing import Any

from .documents import Json
from .refs import format_target
from .rich_text import EXPRESSION_TAG, node_data, node_ref, plain_text

_MARK_DELIMITERS = {"bold": "**", "italic": "*", "strikethrough": "~~"}
_SPECIAL_CHARACTERS = re.compile(r"([\\`*_\[\]<>|~])")
_LINE_START_MARKERS = re.compile(r"^(\s*)([#+-]|=+(?=\s*$)|(\d+)(?=[.)]))", re.MULTILINE)


def to_markdown(document: Json) -> str:
    """Return the text of a Document as Markdown, or "" for an empty Document."""
    return _blocks(document.get("nodes")) + "\n" if document.get("nodes") else ""


def _child_nodes(value: Any) -> list[Json]:
    """Return the objects in a list, or [] if the caller sent anything but a list."""
    return [node for node in value if isinstance(node, dict)] if isinstance(value, list) else []


def _ref_target(node: Json) -> str:
    """Return the target of the reference in a node, as a link target, or ""."""
    return format_target(node_ref(node)) if node_ref(node) else ""


def _blocks(value: Any) -> str:
    """Return blocks as Markdown, separated by empty lines."""
    return "\n\n".join(filter(None, map(_block, _child_nodes(value))))


def _block(node: Json) -> str:
    """Return one block as Markdown. A block of an unknown type is written as its content."""
    kind = str(node.get("type"))
    if kind.startswith("heading-"):
        level = kind.removeprefix("heading-")
        marks = "#" * (int(level) if level in ("1", "2", "3") else 3)
        return f"{marks} {_inlines(node.get('nodes'), heading=True)}".rstrip()
    writer = _WRITERS.get(kind)
    if writer is not None:
        return writer(node)
    text = _blocks(node.get("nodes")) if _holds_blocks(node) else _inlines(node.get("nodes"))
    return "\n\n".join(part for part in (text, _blocks(node.get("fragments"))) if part)


def _holds_blocks(node: Json) -> bool:
    """Return whether a node contains blocks instead of texts."""
    return any(child.get("object") in ("block", "fragment") for child in _child_nodes(node.get("nodes")))


def _list_writer(marker: Callable[[Json, int], str]) -> Callable[[Json], str]:
    """Return a function that writes a list. `marker` returns the marker of an item and its number from 0."""

    def write(node: Json) -> str:
        items = []
        for number, item in enumerate(_child_nodes(node.get("nodes"))):
            sign = marker(item, number) + " "
            text = _blocks(item.get("nodes")) if _holds_blocks(item) else _inlines(item.get("nodes"))
            indent = " " * (2 if sign.startswith("- ") else len(sign))  # below the text, not below `[x]`
            items.append(sign + text.replace("\n", "\n" + indent))
        return "\n".join(re.sub(r"\n +(?=\n)", "\n", item) for item in items)

    return write


def _ordered_list(node: Json) -> str:
    """Return a numbered list, starting at the number in its data."""
    declared_start = node_data(node).get("start")
    first_number = declared_start if type(declared_start) is int and 0 <= declared_start < 10**8 else 1
    return _list_writer(lambda _, number: f"{first_number + number}.")(node)


def _quote(node: Json) -> str:
    """Return a block with `>` before each line."""
    text = _blocks(node.get("nodes")) if _holds_blocks(node) else _inlines(node.get("nodes"))
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _code(node: Json) -> str:
    """Return a fenced code block. The fence is longer than each run of backticks in the code."""
    lines = "\n".join(plain_text(line.get("nodes")) for line in _child_nodes(node.get("nodes")))
    longest = max((len(ticks) for ticks in re.findall("`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    syntax = re.sub(r"[\s`]", "", str(node_data(node).get("syntax") or ""))
    return f"{fence}{syntax}\n{lines}\n{fence}"


def _image(node: Json) -> str:
    """Return an image with its alternative text."""
    alt = node_data(node).get("alt")
    return f"![{_escape(alt) if isinstance(alt, str) else ''}]({_link_destination(_ref_target(node))})"


def _link_block(node: Json) -> str:
    """Return a block that is only a link: to content, to a file, or to embedded content."""
    target = _ref_target(node) or str(node_data(node).get("url") or "")
    return f"[{_escape(target)}]({_link_destination(target)})" if target else ""


def _include(node: Json) -> str:
    """Return the directive that includes a reusable content."""
    id = node_ref(node).get("reusableContent")
    return f'{{% include "{id}" %}}' if id else ""


def _table(node: Json) -> str:
    """Return a table in Markdown, with the columns of its view in order.

    A cell is a value in a record, or the name of a fragment that has the text of the cell. A table without a
    definition is written as its fragments.
    """
    data = node_data(node)
    definition, view, records = (data.get(part) for part in ("definition", "view", "records"))
    if not isinstance(definition, dict) or not isinstance(records, dict):
        return _blocks(node.get("fragments"))
    column_names = view.get("columns") if isinstance(view, dict) else None
    columns = (
        [str(name) for name in column_names if str(name) in definition]
        if isinstance(column_names, list)
        else []
    )
    columns = columns or [str(name) for name in definition]
    if not columns:
        return ""
    fragments = {str(fragment.get("fragment")): fragment for fragment in _child_nodes(node.get("fragments"))}
    heads = [definition[column] if isinstance(definition[column], dict) else {} for column in columns]
    rows = [[_escape(str(head.get("title", ""))) for head in heads]]
    rows.append([_ALIGNMENTS.get(str(head.get("textAlignment")), "---") for head in heads])
    ordered = sorted(_child_nodes(list(records.values())), key=lambda record: str(record.get("orderIndex")))
    for record in ordered:
        values = record.get("values")
        values = values if isinstance(values, dict) else {}
        rows.append([_cell(values.get(column), fragments) for column in columns])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: Any, fragments: dict[str, Json]) -> str:
    """Return the text of a cell in one line. A value may be the name of one of the table's fragments."""
    fragment = fragments.get(value) if isinstance(value, str) else None
    if fragment is None:
        return "" if value is None or isinstance(value, dict | list) else _escape(str(value))
    return re.sub(r"\s*\n\s*", " ", _blocks(fragment.get("nodes")))


_ALIGNMENTS = {"left": ":--", "center": ":-:", "right": "--:"}
_WRITERS: dict[str, Callable[[Json], str]] = {
    "paragraph": lambda node: _inlines(node.get("nodes")),
    "list-ordered": _ordered_list,
    "list-unordered": _list_writer(lambda _item, _number: "-"),
    "list-tasks": _list_writer(
        lambda item, _number: "- [x]" if node_data(item).get("checked") is True else "- [ ]"
    ),
    "blockquote": _quote,
    "hint": _quote,
    "code": _code,
    "divider": lambda _node: "---",
    "images": lambda node: "\n\n".join(_image(image) for image in _child_nodes(node.get("nodes"))),
    "image": _image,
    "table": _table,
    "reusable-content": _include,
    "content-ref": _link_block,
    "file": _link_block,
    "embed": _link_block,
    "math": lambda node: f"$${node_data(node).get('formula', '')}$$",
}


# --- inlines --------------------------------------------------------------------------------------


def _inlines(value: Any, heading: bool = False) -> str:
    """Return texts and inline nodes as Markdown. A heading must be one line."""
    written = "".join(_inline(node) for node in _child_nodes(value))
    if heading:
        return written.replace("\n", " ").strip()
    return _LINE_START_MARKERS.sub(_escape_line_start, written.strip("\n"))


def _escape_line_start(start: re.Match[str]) -> str:
    """Escape a character at the start of a line that would begin a heading or a list."""
    return f"{start[1]}{start[3]}\\" if start[3] else f"{start[1]}\\{start[2]}"


def _inline(node: Json) -> str:
    """Return a text node or an inline node as Markdown. An unknown node is written as its content."""
    if node.get("object") == "text":
        return "".join(_leaf(leaf) for leaf in _child_nodes(node.get("leaves")))
    kind, data = node.get("type"), node_data(node)
    if kind == "link":
        return f"[{_inlines(node.get('nodes'))}]({_link_destination(_ref_target(node))})"
    if kind == "inline-image":
        return _image(node)
    if kind == "expression":
        return f"{EXPRESSION_TAG}{data.get('expression', '')}</code>"
    if kind == "mention":
        return f"[{_escape(_ref_target(node))}]({_link_destination(_ref_target(node))})"
    if kind == "button":
        return f"[{_escape(str(data.get('label', '')))}]({_link_destination(_ref_target(node))})"
    if kind == "inline-math":
        return f"$${data.get('formula', '')}$$"
    if kind == "emoji":  # code points in hexadecimal, joined by hyphens: `1f469-200d-1f4bb`
        code = str(data.get("code", ""))
        points = [int(point, 16) for point in code.split("-") if re.fullmatch("[0-9a-fA-F]{2,5}", point)]
        is_valid = len(points) == code.count("-") + 1 and not any(
            0xD800 <= point < 0xE000 for point in points
        )
        return "".join(map(chr, points)) if is_valid else f":{code}:"
    return _inlines(node.get("nodes"))


def _leaf(leaf: Json) -> str:
    """Return a leaf of a text with its marks. Spaces at the ends stay outside of the delimiters."""
    text = leaf.get("text")
    if not isinstance(text, str) or not text:
        return ""
    marks = [str(mark.get("type")) for mark in _child_nodes(leaf.get("marks"))]
    if "code" in marks:
        ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
        padding = " " if text.startswith("`") or text.endswith("`") else ""
        written = f"{ticks}{padding}{text}{padding}{ticks}"
        marks = [mark for mark in marks if mark != "code"]
    else:
        written = _escape(text)
    core = written.strip()
    if not core:
        return written
    before, after = written[: written.index(core)], written[written.index(core) + len(core) :]
    delimiters = [_MARK_DELIMITERS[mark] for mark in marks if mark in _MARK_DELIMITERS]
    return before + "".join(delimiters) + core + "".join(reversed(delimiters)) + after


def _escape(text: str) -> str:
    """Return a text with backslashes before the special characters of Markdown."""
    return _SPECIAL_CHARACTERS.sub(r"\\\1", text)


def _link_destination(target: str) -> str:
    """Return a link target in Markdown syntax: in angle brackets if it has a space or a bracket."""
    if re.fullmatch(r"[^\s()<>]+", target):
        return target
    return "<" + re.sub(r"[\n<>]", lambda sign: f"%{ord(sign[0]):02X}", target) + ">" if target else ""
