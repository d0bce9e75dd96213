"""Convert a rich-text Document to Markdown.

Nodes are stored as callers sent them, so the code assumes nothing about their content. A block that has no
Markdown syntax is written as its content.
"""

import re
from collections.abc import Callable
from typing import Any

from .documents import Json
from .refs import to_target
from .rich_text import EXPRESSION, data_of, ref_of, text_of

_FENCES = {"bold": "**", "italic": "*", "strikethrough": "~~"}
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~])")
_STARTS = re.compile(r"^(\s*)([#+-]|=+(?=\s*$)|(\d+)(?=[.)]))", re.MULTILINE)


def to_markdown(document: Json) -> str:
    return _blocks(document.get("nodes")) + "\n" if document.get("nodes") else ""


def _nodes(value: Any) -> list[Json]:
    return [node for node in value if isinstance(node, dict)] if isinstance(value, list) else []


def _ref(node: Json) -> str:
    return to_target(ref_of(node)) if ref_of(node) else ""


def _blocks(value: Any) -> str:
    return "\n\n".join(filter(None, map(_block, _nodes(value))))


def _block(node: Json) -> str:
    kind = str(node.get("type"))
    if kind.startswith("heading-"):
        level = kind.removeprefix("heading-")
        marks = "#" * (int(level) if level in ("1", "2", "3") else 3)
        return f"{marks} {_inlines(node.get('nodes'), heading=True)}".rstrip()
    written = _WRITERS.get(kind)
    if written is not None:
        return written(node)
    inside = _blocks(node.get("nodes")) if _holds_blocks(node) else _inlines(node.get("nodes"))
    return "\n\n".join(part for part in (inside, _blocks(node.get("fragments"))) if part)


def _holds_blocks(node: Json) -> bool:
    return any(child.get("object") in ("block", "fragment") for child in _nodes(node.get("nodes")))


def _list(marker: Callable[[Json, int], str]) -> Callable[[Json], str]:
    def write(node: Json) -> str:
        items = []
        for number, item in enumerate(_nodes(node.get("nodes"))):
            sign = marker(item, number) + " "
            inside = _blocks(item.get("nodes")) if _holds_blocks(item) else _inlines(item.get("nodes"))
            items.append(sign + inside.replace("\n", "\n" + " " * _indent(sign)))
        return "\n".join(re.sub(r"\n +(?=\n)", "\n", item) for item in items)

    return write


def _indent(sign: str) -> int:
    return 2 if sign.startswith("- ") else len(sign)


def _ordered(node: Json) -> str:
    start = data_of(node).get("start")
    first = start if type(start) is int and 0 <= start < 10**8 else 1
    return _list(lambda _, number: f"{first + number}.")(node)


def _quote(node: Json) -> str:
    inside = _blocks(node.get("nodes")) if _holds_blocks(node) else _inlines(node.get("nodes"))
    return "\n".join(f"> {line}".rstrip() for line in inside.split("\n"))


def _code(node: Json) -> str:
    lines = "\n".join(text_of(line.get("nodes")) for line in _nodes(node.get("nodes")))
    longest = max((len(ticks) for ticks in re.findall("`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    syntax = re.sub(r"[\s`]", "", str(data_of(node).get("syntax") or ""))
    return f"{fence}{syntax}\n{lines}\n{fence}"


def _images(node: Json) -> str:
    return "\n\n".join(_picture(image) for image in _nodes(node.get("nodes")))


def _picture(node: Json) -> str:
    alt = data_of(node).get("alt")
    return f"![{_escaped(alt) if isinstance(alt, str) else ''}]({_address(_ref(node))})"


def _linked(node: Json) -> str:
    target = _ref(node) or str(data_of(node).get("url") or "")
    return f"[{_escaped(target)}]({_address(target)})" if target else ""


def _included(node: Json) -> str:
    id = ref_of(node).get("reusableContent")
    return f'{{% include "{id}" %}}' if id else ""


def _table(node: Json) -> str:
    data = data_of(node)
    definition, view, records = (data.get(part) for part in ("definition", "view", "records"))
    if not isinstance(definition, dict) or not isinstance(records, dict):
        return _blocks(node.get("fragments"))
    named = view.get("columns") if isinstance(view, dict) else None
    columns = [str(name) for name in named if str(name) in definition] if isinstance(named, list) else []
    columns = columns or [str(name) for name in definition]
    if not columns:
        return ""
    cells = {str(found.get("fragment")): found for found in _nodes(node.get("fragments"))}
    heads = [definition[column] if isinstance(definition[column], dict) else {} for column in columns]
    rows = [[_escaped(str(head.get("title", ""))) for head in heads]]
    rows.append([_ALIGNED.get(str(head.get("textAlignment")), "---") for head in heads])
    for record in sorted(_nodes(list(records.values())), key=lambda found: str(found.get("orderIndex"))):
        values = record.get("values")
        found = values if isinstance(values, dict) else {}
        rows.append([_cell(found.get(column), cells) for column in columns])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: Any, cells: dict[str, Json]) -> str:
    fragment = cells.get(value) if isinstance(value, str) else None
    if fragment is None:
        return "" if value is None or isinstance(value, dict | list) else _escaped(str(value))
    return re.sub(r"\s*\n\s*", " ", _blocks(fragment.get("nodes")))


_ALIGNED = {"left": ":--", "center": ":-:", "right": "--:"}
_WRITERS: dict[str, Callable[[Json], str]] = {
    "paragraph": lambda node: _inlines(node.get("nodes")),
    "list-ordered": _ordered,
    "list-unordered": _list(lambda item, number: "-"),
    "list-tasks": _list(lambda item, number: "- [x]" if data_of(item).get("checked") is True else "- [ ]"),
    "blockquote": _quote,
    "hint": _quote,
    "code": _code,
    "divider": lambda node: "---",
    "images": _images,
    "image": _picture,
    "table": _table,
    "reusable-content": _included,
    "content-ref": _linked,
    "file": _linked,
    "embed": _linked,
    "math": lambda node: f"$${data_of(node).get('formula', '')}$$",
}


# --- inlines --------------------------------------------------------------------------------------


def _inlines(value: Any, heading: bool = False) -> str:
    written = "".join(_inline(node) for node in _nodes(value))
    if heading:
        return written.replace("\n", " ").strip()
    return _STARTS.sub(_as_text, written.strip("\n"))


def _as_text(start: re.Match[str]) -> str:
    """Escape a character at the start of a line that would begin a heading or a list."""
    return f"{start[1]}{start[3]}\\" if start[3] else f"{start[1]}\\{start[2]}"


def _inline(node: Json) -> str:
    if node.get("object") == "text":
        return "".join(_leaf(leaf) for leaf in _nodes(node.get("leaves")))
    kind, data = node.get("type"), data_of(node)
    if kind == "link":
        return f"[{_inlines(node.get('nodes'))}]({_address(_ref(node))})"
    if kind == "inline-image":
        return _picture(node)
    if kind == "expression":
        return f"{EXPRESSION}{data.get('expression', '')}</code>"
    if kind == "mention":
        return f"[{_escaped(_ref(node))}]({_address(_ref(node))})"
    if kind == "button":
        return f"[{_escaped(str(data.get('label', '')))}]({_address(_ref(node))})"
    if kind == "inline-math":
        return f"$${data.get('formula', '')}$$"
    if kind == "emoji":
        return _emoji(str(data.get("code", "")))
    return _inlines(node.get("nodes"))


def _emoji(code: str) -> str:
    points = [int(point, 16) for point in code.split("-") if re.fullmatch("[0-9a-fA-F]{2,5}", point)]
    known = len(points) == code.count("-") + 1 and not any(0xD800 <= point < 0xE000 for point in points)
    return "".join(map(chr, points)) if known else f":{code}:"


def _leaf(leaf: Json) -> str:
    text = leaf.get("text")
    if not isinstance(text, str) or not text:
        return ""
    marks = [str(mark.get("type")) for mark in _nodes(leaf.get("marks"))]
    if "code" in marks:
        inside = _ticked(text)
        marks = [mark for mark in marks if mark != "code"]
    else:
        inside = _escaped(text)
    core = inside.strip()
    if not core:
        return inside
    before, after = inside[: inside.index(core)], inside[inside.index(core) + len(core) :]
    fences = [_FENCES[mark] for mark in marks if mark in _FENCES]
    return before + "".join(fences) + core + "".join(reversed(fences)) + after


def _ticked(text: str) -> str:
    ticks = "`" * (max((len(found) for found in re.findall("`+", text)), default=0) + 1)
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{padding}{text}{padding}{ticks}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _address(target: str) -> str:
    """Return a link target in Markdown syntax: in angle brackets if it has a space or a bracket."""
    if re.fullmatch(r"[^\s()<>]+", target):
        return target
    return "<" + re.sub(r"[\n<>]", lambda sign: f"%{ord(sign[0]):02X}", target) + ">" if target else ""
