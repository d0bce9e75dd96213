"""Compare Documents by their meaning, without keys and tokens, and however a text is cut into leaves.

A paragraph without text means nothing, and so does a list without items, because Markdown cannot show either.
Outside the common core, a node keeps everything except keys and empty members.
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
    plain_table,
)

Json = dict[str, Any]
_MAX_JSON_DEPTH = 100  # what stands deeper within a member is compared as it is


def have_same_meaning(a: Json, b: Json) -> bool:
    """Return whether two Documents have the same meaning."""
    return normalize(a) == normalize(b)


def normalize(document: Json) -> list[Any]:
    """Return the canonical value of a Document: plain JSON, equal for Documents with the same meaning.

    Blocks of inline content have `content` (pieces of text with their sorted marks, and inlines), blocks of
    blocks have `blocks`, code has `lines`, images `images`, a table `columns` and `rows`. A misshapen
    Document only equals itself.
    """
    if any(malformed_nodes(document, DEFAULTS)):
        return [document]
    return [_image_paragraph_as_block(block) for block in _normalize_blocks(document.get("nodes") or [])]


def _image_paragraph_as_block(block: Any) -> Any:
    """Return a paragraph that is only an image as a block of one image; other blocks unchanged."""
    if block.get("type") != "paragraph" or "data" in block:
        return block
    match block["content"]:
        case [{"inline": "inline-image", "data": data}] if data.keys() <= {"ref", "alt", "caption"}:
            return {"type": "images", "images": [data]}
    return block


def _normalize_blocks(nodes: list[Any]) -> list[Any]:
    blocks = [_normalize_block(node) for node in nodes]
    return [block for block in blocks if block is not None]


def _normalize_block(node: Json) -> Any:
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
    if kind == "table" and (table := plain_table(node)):
        columns = [[column.title, column.align] for column in table.columns]
        return {
            "type": kind,
            "columns": columns,
            "rows": [[_cell_content(cell) for cell in row] for row in table.rows],
        }
    if kind not in ("paragraph", *HEADINGS):
        return _without_keys(node)
    content = _normalize_inlines(children)
    return None if kind == "paragraph" and not content else {"type": kind, **data, "content": content}


def _code_lines(children: list[Any]) -> list[Any]:
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


def _cell_content(fragment: Json | None) -> list[Any]:
    blocks = _normalize_blocks((fragment or {}).get("nodes") or [])
    match blocks:
        case [{"type": "paragraph", "content": content, **rest}] if not rest:
            return list(content)
    return blocks


def _normalize_inlines(nodes: list[Any]) -> list[Any]:
    pieces: list[Any] = []
    for node in nodes:
        if isinstance(node, dict) and node.get("object") == "text":
            for leaf in node.get("leaves") or []:
                _add_text(pieces, leaf.get("text") or "", _normalize_marks(leaf.get("marks") or []))
        else:
            pieces.append(_normalize_inline(node))
    return [
        {"text": "".join(piece["parts"]), "marks": piece["marks"]} if "parts" in piece else piece
        for piece in pieces
    ]


def _add_text(pieces: list[Any], text: str, marks: list[str]) -> None:
    if not text:
        return
    if pieces and pieces[-1].get("marks") == marks and "parts" in pieces[-1]:
        pieces[-1]["parts"].append(text)  # joined at the end: a text may have very many leaves
    else:
        pieces.append({"parts": [text], "marks": marks})


def _normalize_marks(marks: list[Json]) -> list[str]:
    return sorted({_normalize_mark(mark) for mark in marks if not is_default_color(mark)})


def _normalize_mark(mark: Json) -> str:
    data = _without_keys(mark.get("data") or {})
    return f"{mark.get('type')} {json.dumps(data, sort_keys=True)}" if data else str(mark.get("type"))


def _normalize_inline(node: Any) -> Json:
    if not isinstance(node, dict) or node.get("type") not in ("link", "inline-image"):
        return {"inline": "other", "node": _without_keys(node)}
    data = _reference_data(non_default_data(node))
    if node["type"] == "inline-image":
        return {"inline": "inline-image", "data": data}
    return {"inline": "link", "data": data, "content": _normalize_inlines(node.get("nodes") or [])}


def _without_keys(value: Any, depth: int = 0) -> Any:
    """Return any value without keys and empty members, with its texts joined."""
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
