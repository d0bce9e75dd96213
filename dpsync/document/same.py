"""One value for all Documents that say the same: without keys and tokens, however a text is cut into leaves.

A paragraph without text is nothing, and so is a list without items: no Markdown could show either. Outside
the common core a node keeps everything except keys and empty members.
"""

from __future__ import annotations

import json
from typing import Any

from dpsync.document.nodes import DEFAULTS, HEADINGS, LISTS, meaning, misshapen, plain_colour, plain_table

Json = dict[str, Any]
_DEEPEST = 100  # what stands deeper within a member is compared as it is


def same(a: Json, b: Json) -> bool:
    """Whether two Documents say the same."""
    return normalised(a) == normalised(b)


def normalised(document: Json) -> list[Any]:
    """The canonical value of a Document: plain JSON, equal for Documents that say the same.

    Blocks of inline content have `content` (pieces of text with their sorted marks, and inlines), blocks of
    blocks have `blocks`, code has `lines`, images `images`, a table `columns` and `rows`. What is not built
    as a Document is only the same as itself.
    """
    if any(misshapen(document, DEFAULTS)):
        return [document]
    return [_alone(block) for block in _blocks(document.get("nodes") or [])]


def _alone(block: Any) -> Any:
    """An image that is a whole paragraph of the document is the same as a block of one image."""
    if block.get("type") != "paragraph" or "data" in block:
        return block
    match block["content"]:
        case [{"inline": "inline-image", "data": data}] if data.keys() <= {"ref", "alt", "caption"}:
            return {"type": "images", "images": [data]}
    return block


def _blocks(nodes: list[Any]) -> list[Any]:
    found = [_block(node) for node in nodes]
    return [block for block in found if block is not None]


def _block(node: Json) -> Any:
    kind = node.get("type")
    children = node.get("nodes") or []
    meant = meaning(node)
    data = {"data": meant} if meant else {}
    if kind in (*LISTS, "list-item", "blockquote"):
        blocks = _blocks(children)
        return None if kind in LISTS and not blocks else {"type": kind, **data, "blocks": blocks}
    if kind == "divider":
        return {"type": kind}
    if kind == "code":
        return {"type": kind, **data, "lines": _lines(children)}
    if kind == "images":
        return {"type": kind, **data, "images": [_image(image) for image in children]}
    if kind == "table" and (table := plain_table(node)):
        columns = [[column.title, column.align] for column in table.columns]
        return {"type": kind, "columns": columns, "rows": [[_cell(one) for one in row] for row in table.rows]}
    if kind not in ("paragraph", *HEADINGS):
        return _bare(node)
    content = _content(children)
    return None if kind == "paragraph" and not content else {"type": kind, **data, "content": content}


def _lines(children: list[Any]) -> list[Any]:
    lines: list[Any] = []
    for child in children:
        content = _content(child.get("nodes") or [])
        meant = meaning(child)
        if meant or any(piece.get("marks") or "text" not in piece for piece in content):
            lines.append({**meant, "content": content})
        else:
            lines += "".join(piece["text"] for piece in content).split("\n")
    return lines or [""]


def _image(node: Any) -> Any:
    if node.get("type") != "image":
        return _bare(node)
    caption: list[Any] = []
    for fragment in node.get("fragments") or []:
        if fragment.get("type") == "caption":
            caption += _blocks(fragment.get("nodes") or [])
    match caption:
        case []:
            return _linked(meaning(node))
        case [{"type": "paragraph", "content": [{"text": text, "marks": []}]}]:
            return {**_linked(meaning(node)), "caption": text}
    return {**_linked(meaning(node)), "caption": caption}


def _linked(data: Json) -> Json:
    """The data of a link or an image; of a reference to a URL only the URL counts."""
    ref = data.get("ref")
    if isinstance(ref, dict) and ref.get("kind") == "url":
        return {**data, "ref": {"kind": "url", "url": ref.get("url")}}
    return data


def _cell(fragment: Json | None) -> list[Any]:
    blocks = _blocks((fragment or {}).get("nodes") or [])
    match blocks:
        case [{"type": "paragraph", "content": content, **rest}] if not rest:
            return list(content)
    return blocks


def _content(nodes: list[Any]) -> list[Any]:
    pieces: list[Any] = []
    for node in nodes:
        if isinstance(node, dict) and node.get("object") == "text":
            for leaf in node.get("leaves") or []:
                _add(pieces, leaf.get("text") or "", _marks(leaf.get("marks") or []))
        else:
            pieces.append(_inline(node))
    return [_joined(piece) if "parts" in piece else piece for piece in pieces]


def _add(pieces: list[Any], text: str, marks: list[str]) -> None:
    if not text:
        return
    if pieces and pieces[-1].get("marks") == marks and "parts" in pieces[-1]:
        pieces[-1]["parts"].append(text)  # joined at the end: a text may have very many leaves
    else:
        pieces.append({"parts": [text], "marks": marks})


def _joined(piece: Json) -> Json:
    return {"text": "".join(piece["parts"]), "marks": piece["marks"]}


def _marks(marks: list[Json]) -> list[str]:
    return sorted({_mark(mark) for mark in marks if not plain_colour(mark)})


def _mark(mark: Json) -> str:
    data = _bare(mark.get("data") or {})
    return f"{mark.get('type')} {json.dumps(data, sort_keys=True)}" if data else str(mark.get("type"))


def _inline(node: Any) -> Json:
    if not isinstance(node, dict) or node.get("type") not in ("link", "inline-image"):
        return {"inline": "other", "node": _bare(node)}
    data = _linked(meaning(node))
    if node["type"] == "inline-image":
        return {"inline": "inline-image", "data": data}
    return {"inline": "link", "data": data, "content": _content(node.get("nodes") or [])}


def _bare(value: Any, depth: int = 0) -> Any:
    """Any value without keys and empty members; texts in it are joined like everywhere else."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        if any(isinstance(one, dict) and one.get("object") == "text" for one in value):
            return _content(value)
        return [_bare(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _bare(one, depth + 1) for name, one in value.items() if name not in ("key", "meta")}
    return {name: one for name, one in kept.items() if one is not False and one not in (None, "", [], {})}
