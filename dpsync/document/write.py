"""A Document as Markdown, in one style: the same text for all Documents that say the same.

Two lists that follow each other take turns at their markers, since otherwise they would be one.
"""

from __future__ import annotations

import re
from typing import Any

from dpsync.document.core import HEADINGS, outside
from dpsync.document.problems import DocumentError
from dpsync.document.same import normalised
from dpsync.document.spans import image, inline, paragraph, reference

Json = dict[str, Any]

_OTHER = {"-": "*", "*": "-", ".": ")", ")": "."}
_RULES = {"left": "---", "center": ":-:", "right": "--:"}


def to_markdown(document: Json) -> str:
    """The Document as Markdown. Raises DocumentError with every node that Markdown cannot hold."""
    problems = tuple(outside(document))
    if problems:
        raise DocumentError(problems)
    text = _blocks(normalised(document))
    return f"{text}\n" if text else ""


def _blocks(blocks: list[Json], item: str = "") -> str:
    """Blocks below each other. `item` is the marker of the list item that they are in."""
    written: list[str] = []
    last: Json = {}
    marker = item
    for index, block in enumerate(blocks):
        if block["type"].startswith("list-"):
            marker = _marker(block, marker if not index or last["type"].startswith("list-") else "")
            text = _list(block, marker)
            tight = bool(item) and last.get("type") == "paragraph" and _interrupts(text)
        else:
            text = "___" if block["type"] == "divider" and item and not index else _block(block)
            tight = False
        if index:
            written.append("\n" if tight else "\n\n")
        written.append(text)
        last = block
    return "".join(written)


def _marker(block: Json, avoid: str) -> str:
    ordinary = "." if block["type"] == "list-ordered" else "-"
    return _OTHER[ordinary] if ordinary == avoid else ordinary


def _interrupts(text: str) -> bool:
    """Whether a list may follow a paragraph without an empty line: not every list can."""
    return re.match(r"(?:[-*]|1[.)]) +\S", text) is not None


def _list(block: Json, marker: str) -> str:
    number = block.get("data", {}).get("start", 1)
    items = []
    for item in block["blocks"]:
        lead = f"{min(number, 999_999_999)}{marker}" if block["type"] == "list-ordered" else marker
        number += 1
        text = _blocks(item["blocks"], marker)
        if block["type"] == "list-tasks":
            text = _task(item, text)
        items.append(_indented(f"{lead} ", text).rstrip(" "))
    return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)


def _task(item: Json, text: str) -> str:
    box = "[x]" if item.get("data", {}).get("checked") else "[ ]"
    starts_with_text = bool(item["blocks"]) and item["blocks"][0]["type"] == "paragraph"
    return f"{box} {text}" if starts_with_text else f"{box}\n\n{text}".rstrip("\n")


def _indented(lead: str, text: str) -> str:
    return lead + re.sub(r"\n(?!\n|$)", "\n" + " " * len(lead), text)


def _block(block: Json) -> str:
    kind = block["type"]
    if kind in HEADINGS:
        return _heading(HEADINGS.index(kind) + 1, block)
    if kind == "blockquote":
        return re.sub(r"^>[ ]$", ">", re.sub(r"^", "> ", _blocks(block["blocks"]), flags=re.M), flags=re.M)
    if kind == "code":
        return _code(block)
    if kind == "images":
        return "\n".join(image(one) for one in block["images"])
    if kind == "table":
        return _table(block)
    return "---" if kind == "divider" else paragraph(block["content"])


def _heading(level: int, block: Json) -> str:
    text = inline(block["content"])
    closed = text[:-1] + "\\#" if text.endswith("#") else text  # or it would be taken for the end of the line
    return f"{'#' * level} {closed}".rstrip(" ")


def _code(block: Json) -> str:
    lines: list[str] = block["lines"]
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    said = block.get("data", {}).get("syntax", "")
    syntax = re.sub(r"[\s\ufeff`&\\]", lambda match: reference(match[0]), said)
    return "\n".join([fence + syntax, *(lines if lines != [""] else ()), fence])


def _table(block: Json) -> str:
    titles = [_cell([{"text": title, "marks": []}] if title else []) for title, _ in block["columns"]]
    rules = [_RULES[align] for _, align in block["columns"]]
    rows = [titles, rules, *([_cell(cell) for cell in row] for row in block["rows"])]
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows)


def _cell(content: list[Json]) -> str:
    return inline(content).replace("|", "\\|")
