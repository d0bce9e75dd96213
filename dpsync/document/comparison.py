"""Compare rich-text Documents by their meaning, without keys and tokens, however a text is cut into leaves.

A paragraph without text means nothing, and so does a list without items, because Markdown cannot show either.
A node that Markdown cannot express keeps everything except keys and empty members.
"""

from __future__ import annotations

import json
from typing import Any

from dpsync.document.nodes import (
    DEFAULTS,
    HEADINGS,
    LISTS,
    is_default_color,
    malformed_nodes,
    non_default_data,
    read_plain_table,
)

Json = dict[str, Any]
_MAX_JSON_DEPTH = 100  # what stands deeper within a member is compared as it is


def have_same_meaning(a: Json, b: Json) -> bool:
    """Return whether two Documents look the same to a reader, however their JSON differs."""
    return normalize(a) == normalize(b)


def normalize(document: Json) -> list[Any]:
    """Return the canonical value of a Document: plain JSON, equal for Documents with the same meaning.

    Blocks of inline content have `content` (pieces of text with their sorted marks, and inlines), blocks of
    blocks have `blocks`, code has `lines`, images `images`, a table `columns` and `rows`. A misshapen
    Document only equals itself.
    """
    if any(malformed_nodes(document, DEFAULTS)):
        return [document]
    blocks = []
    for block in _normalize_blocks(document.get("nodes") or []):
        match block:
            case {"type": "paragraph", "content": [{"inline": "inline-image", "data": data}]} if (
                "data" not in block and data.keys() <= {"ref", "alt", "caption"}
            ):
                # A paragraph that is only an image means the same as a block of one image.
                blocks.append({"type": "images", "images": [data]})
            case _:
                blocks.append(block)
    return blocks


def _normalize_blocks(nodes: list[Any]) -> list[Any]:
    """Return the canonical values of blocks, without blocks that have no meaning."""
    blocks = [_normalize_block(node) for node in nodes]
    return [block for block in blocks if block is not None]


def _normalize_block(node: Json) -> Any:
    """Return the canonical value of a block; None for an empty paragraph or list, which has no meaning."""
    kind = node.get("type")
    children = node.get("nodes") or []
    settings = non_default_data(node)
    data = {"data": settings} if settings else {}
    if kind in (*LISTS, "list-item", "blockquote"):
        blocks = _normalize_blocks(children)
        return None if kind in LISTS and not blocks else {"type": kind, **data, "blocks": blocks}
    if kind == "divider":
        return {"type": kind}
    if kind == "code":
        return {"type": kind, **data, "lines": _code_lines(children)}
    if kind == "images":
        return {"type": kind, **data, "images": [_normalize_image(image) for image in children]}
    if kind == "table" and (table := read_plain_table(node)):
        columns = [[column.title, column.align] for column in table.columns]
        return {
            "type": kind,
            "columns": columns,
            "rows": [[_normalize_cell(cell) for cell in row] for row in table.rows],
        }
    if kind not in ("paragraph", *HEADINGS):
        return _without_keys(node)
    content = _normalize_inlines(children)
    return None if kind == "paragraph" and not content else {"type": kind, **data, "content": content}


def _code_lines(children: list[Any]) -> list[Any]:
    """Return the lines of a code block: plain lines as texts, other lines as mappings.

    A text with line breaks means the same as several lines.
    """
    lines: list[Any] = []
    for child in children:
        content = _normalize_inlines(child.get("nodes") or [])
        settings = non_default_data(child)
        if settings or any(piece.get("marks") or "text" not in piece for piece in content):
            lines.append({**settings, "content": content})
        else:
            lines += "".join(piece["text"] for piece in content).split("\n")
    return lines or [""]


def _normalize_image(node: Any) -> Any:
    """Return the canonical value of an image in an image block: its data and its caption.

    A caption of one paragraph of plain text is a text, another caption a list of blocks.
    """
    if node.get("type") != "image":
        return _without_keys(node)
    caption: list[Any] = []
    for fragment in node.get("fragments") or []:
        if fragment.get("type") == "caption":
            caption += _normalize_blocks(fragment.get("nodes") or [])
    match caption:
        case []:
            return _reference_data(non_default_data(node))
        case [{"type": "paragraph", "content": [{"text": text, "marks": []}]}]:
            return {**_reference_data(non_default_data(node)), "caption": text}
    return {**_reference_data(non_default_data(node)), "caption": caption}


def _reference_data(data: Json) -> Json:
    """Return the data of a link or an image. Of a reference to a URL, only the URL counts."""
    ref = data.get("ref")
    if isinstance(ref, dict) and ref.get("kind") == "url":
        return {**data, "ref": {"kind": "url", "url": ref.get("url")}}
    return data


def _normalize_cell(fragment: Json | None) -> list[Any]:
    """Return the canonical content of a table cell: of one plain paragraph only the inline content."""
    blocks = _normalize_blocks((fragment or {}).get("nodes") or [])
    match blocks:
        case [{"type": "paragraph", "content": content, **rest}] if not rest:
            return list(content)
    return blocks


def _normalize_inlines(nodes: list[Any]) -> list[Any]:
    """Return the canonical values of inline content; adjacent texts with equal marks are one piece."""
    pieces: list[Any] = []
    for node in nodes:
        if isinstance(node, dict) and node.get("object") == "text":
            for leaf in node.get("leaves") or []:
                text = leaf.get("text") or ""
                marks = _sorted_marks(leaf.get("marks") or [])
                if not text:
                    continue
                if pieces and pieces[-1].get("marks") == marks and "parts" in pieces[-1]:
                    # Joined once at the end, because a text may have very many leaves.
                    pieces[-1]["parts"].append(text)
                else:
                    pieces.append({"parts": [text], "marks": marks})
        else:
            pieces.append(_normalize_inline(node))
    return [
        {"text": "".join(piece["parts"]), "marks": piece["marks"]} if "parts" in piece else piece
        for piece in pieces
    ]


def _sorted_marks(marks: list[Json]) -> list[str]:
    """Return the marks of a text as sorted texts: the type, followed by the data of the mark as JSON.

    A mark with the default color has no meaning and is left out.
    """
    names = set()
    for mark in marks:
        if not is_default_color(mark):
            data = _without_keys(mark.get("data") or {})
            suffix = f" {json.dumps(data, sort_keys=True)}" if data else ""
            names.add(f"{mark.get('type')}{suffix}")
    return sorted(names)


def _normalize_inline(node: Any) -> Json:
    """Return the canonical value of a link, an inline image or another inline node."""
    if not isinstance(node, dict) or node.get("type") not in ("link", "inline-image"):
        return {"inline": "other", "node": _without_keys(node)}
    data = _reference_data(non_default_data(node))
    if node["type"] == "inline-image":
        return {"inline": "inline-image", "data": data}
    return {"inline": "link", "data": data, "content": _normalize_inlines(node.get("nodes") or [])}


def _without_keys(value: Any, depth: int = 0) -> Any:
    """Return a JSON value of a node that dpsync does not know in canonical form.

    Node keys (`key`, `meta`) and empty or false members are left out, and adjacent texts are joined. Below
    the allowed depth, the value stays the same.
    """
    if depth > _MAX_JSON_DEPTH:
        return value
    if isinstance(value, list):
        if any(isinstance(child, dict) and child.get("object") == "text" for child in value):
            return _normalize_inlines(value)
        return [_without_keys(child, depth + 1) for child in value]
    if not isinstance(value, dict):
        return value
    cleaned = {
        name: _without_keys(child, depth + 1) for name, child in value.items() if name not in ("key", "meta")
    }
    return {
        name: child
        for name, child in cleaned.items()
        if child is not False and child not in (None, "", [], {})
    }
