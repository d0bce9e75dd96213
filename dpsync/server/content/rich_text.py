"""Convert Markdown to a rich-text Document: CommonMark with tables, strikethrough and tasks.

An expression is written `<code class="expression">space.vars.name</code>`. A reusable content is written `{%
include "ID" %}` on a line of its own. HTML that no block can hold stays as text, and a heading below the
third level becomes a heading of the third level.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from .documents import Json
from .refs import from_target
from .slugs import slug

EXPRESSION = '<code class="expression">'
INCLUDE = re.compile(r'\{% include "([A-Za-z0-9_.-]+)" %\}')
_TASK = re.compile(r"\[([ xX])\]\s+")
_MARKS = {"strong": "bold", "em": "italic", "s": "strikethrough"}
Marks = tuple[str, ...]


class _MarkdownParser(MarkdownIt):
    """A Markdown parser that keeps every link target as written. `from_target` interprets the targets."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link


_PARSER = _MarkdownParser("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])


def to_document(markdown: str) -> Json:
    tree = SyntaxTreeNode(_PARSER.parse(markdown))
    return {"object": "document", "data": {"schemaVersion": 1}, "nodes": _blocks(tree.children)}


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> list[Json]:
    return [block for node in nodes for block in _block(node)]


def _block(node: SyntaxTreeNode) -> Iterator[Json]:
    kind = node.type
    if kind == "heading":
        inlines = _inline(node)
        data = {"id": slug(text_of(inlines), "section")}
        yield {**block(f"heading-{min(int(node.tag[1]), 3)}", inlines), "data": data}
    elif kind == "paragraph":
        yield from _paragraph(node)
    elif kind in ("bullet_list", "ordered_list"):
        yield _list(node)
    elif kind == "blockquote":
        yield block("blockquote", _blocks(node.children))
    elif kind in ("fence", "code_block"):
        yield _code(node)
    elif kind == "hr":
        yield {**void("divider"), "data": {}}
    elif kind == "table":
        yield _table(node)
    else:
        yield block("paragraph", texts(node.content.rstrip("\n")))


def _paragraph(node: SyntaxTreeNode) -> Iterator[Json]:
    inline = node.children[0]
    alone = inline.children[0] if len(inline.children) == 1 else None
    if alone is not None and alone.type == "image":
        yield {**block("images", [_image(alone)]), "data": {}, "isVoid": False}
    elif (included := INCLUDE.fullmatch(inline.content.strip())) is not None:
        ref = {"kind": "reusable-content", "reusableContent": included[1]}
        yield {**void("reusable-content"), "data": {"ref": ref}}
    else:
        yield block("paragraph", _inline(node))


def _image(node: SyntaxTreeNode) -> Json:
    data: Json = {"ref": from_target(str(node.attrs["src"]))}
    if node.content:
        data["alt"] = node.content
    return {**void("image"), "data": data, "fragments": []}


def _list(node: SyntaxTreeNode) -> Json:
    items = [block("list-item", _blocks(item.children)) for item in node.children]
    if node.type == "ordered_list":
        return {**block("list-ordered", items), "data": {"start": int(node.attrs.get("start", 1))}}
    checked = [_taken_task(item) for item in items]
    if items and None not in checked:
        for item, done in zip(items, checked, strict=True):
            item["data"] = {"checked": done}
            leaf = item["nodes"][0]["nodes"][0]["leaves"][0]
            leaf["text"] = _TASK.sub("", leaf["text"], count=1)
        return block("list-tasks", items)
    return block("list-unordered", items)


def _taken_task(item: Json) -> bool | None:
    """Return whether the task box at the start of the item is ticked, or None without a task box."""
    first = item["nodes"][0] if item["nodes"] else {}
    text = first["nodes"][0] if first.get("type") == "paragraph" and first["nodes"] else {}
    found = _TASK.match(text["leaves"][0]["text"]) if text.get("leaves") else None
    return found[1] != " " if found else None


def _code(node: SyntaxTreeNode) -> Json:
    lines = node.content.removesuffix("\n").split("\n")
    data = {"syntax": node.info.split()[0]} if node.info.strip() else {}
    return {
        **block("code", [{**block("code-line", texts(line)), "data": {}} for line in lines]),
        "data": data,
    }


def _table(node: SyntaxTreeNode) -> Json:
    rows = [row for part in node.children for row in part.children]
    head, *body = rows
    columns = [f"c{number}" for number, _ in enumerate(head.children)]
    definition = {
        column: {"id": column, "title": text_of(_inline(cell)), "type": "text", "textAlignment": _align(cell)}
        for column, cell in zip(columns, head.children, strict=True)
    }
    records: Json = {}
    fragments: list[Json] = []
    for number, row in enumerate(body):
        values = {}
        for column, cell in zip(columns, row.children, strict=False):
            values[column] = f"r{number}-{column}"
            fragments.append(fragment(values[column], [block("paragraph", _inline(cell))]))
        records[f"r{number}"] = {"orderIndex": f"{number:06}", "values": values}
    view = {"type": "grid", "columns": columns, "hideHeader": False}
    data = {"view": view, "records": records, "definition": definition}
    return {**void("table"), "data": data, "fragments": fragments}


def _align(cell: SyntaxTreeNode) -> str:
    return str(cell.attrs.get("style", "text-align:left")).partition(":")[2]


# --- inlines --------------------------------------------------------------------------------------


def _inline(node: SyntaxTreeNode) -> list[Json]:
    found = _joined(_inlines(_with_expressions(node.children[0].children if node.children else []), ()))
    return found or texts("")


def _with_expressions(
    nodes: Sequence[SyntaxTreeNode],
) -> Iterator[SyntaxTreeNode | str]:
    """Yield the nodes, joining the nodes of each expression (HTML tags around text) into one string."""
    at = 0
    while at < len(nodes):
        node = nodes[at]
        if node.type == "html_inline" and node.content == EXPRESSION:
            end = next((n for n in range(at, len(nodes)) if nodes[n].content == "</code>"), None)
            if end is not None and all(inside.type == "text" for inside in nodes[at + 1 : end]):
                yield "".join(inside.content for inside in nodes[at + 1 : end])
                at = end + 1
                continue
        yield node
        at += 1


def _inlines(nodes: Iterable[SyntaxTreeNode | str], marks: Marks) -> Iterator[Json]:
    for node in nodes:
        if isinstance(node, str):
            yield {**_void_inline("expression"), "data": {"expression": node}}
        elif node.type in _MARKS:
            yield from _inlines(_with_expressions(node.children), (*marks, _MARKS[node.type]))
        elif node.type == "link":
            inside = _joined(_inlines(_with_expressions(node.children), marks)) or texts("")
            data = {"ref": from_target(str(node.attrs["href"]))}
            yield {"object": "inline", "type": "link", "data": data, "nodes": inside, "isVoid": False}
        elif node.type == "image":
            yield _inline_image(node)
        elif node.type == "code_inline":
            yield text(node.content, (*marks, "code"))
        elif node.type in ("softbreak", "hardbreak"):
            yield text("\n", marks)
        else:
            yield text(node.content, marks)


def _inline_image(node: SyntaxTreeNode) -> Json:
    data: Json = {"ref": from_target(str(node.attrs["src"]))}
    if node.content:
        data["alt"] = node.content
    return {**_void_inline("inline-image"), "data": data}


def _joined(inlines: Iterable[Json]) -> list[Json]:
    """Join adjacent texts, and adjacent leaves with the same marks."""
    found: list[Json] = []
    for inline in inlines:
        last = found[-1] if found else None
        if last is None or inline["object"] != "text" or last["object"] != "text":
            found.append(inline)
            continue
        for leaf in inline["leaves"]:
            if last["leaves"][-1]["marks"] == leaf["marks"]:
                last["leaves"][-1]["text"] += leaf["text"]
            elif leaf["text"]:
                last["leaves"].append(leaf)
    return found


# --- nodes ----------------------------------------------------------------------------------------


def block(kind: str, nodes: list[Json]) -> Json:
    return {"object": "block", "type": kind, "nodes": nodes}


def void(kind: str) -> Json:
    return {"object": "block", "type": kind, "isVoid": True}


def _void_inline(kind: str) -> Json:
    return {"object": "inline", "type": kind, "isVoid": True}


def fragment(name: str, nodes: list[Json]) -> Json:
    return {"object": "fragment", "fragment": name, "nodes": nodes}


def text(content: str, marks: Marks = ()) -> Json:
    leaf = {"object": "leaf", "text": content, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "text", "leaves": [leaf]}


def texts(content: str) -> list[Json]:
    return [text(content)]


def data_of(node: Json) -> Json:
    """Return the data of a node, or {} if the caller sent anything but an object."""
    data = node.get("data")
    return data if isinstance(data, dict) else {}


def ref_of(node: Json, name: str = "ref") -> Json:
    ref = data_of(node).get(name)
    return ref if isinstance(ref, dict) else {}


def text_of(node: Any) -> str:
    """Return all text in a node, a list of nodes or a Document, without marks, one line per block."""
    if isinstance(node, list):
        return "".join(text_of(child) for child in node)
    if not isinstance(node, dict):
        return ""
    if node.get("object") == "leaf":
        return str(node.get("text", ""))
    if node.get("type") == "expression":
        return str(data_of(node).get("expression", ""))
    inside = "".join(text_of(node.get(part)) for part in ("leaves", "nodes", "fragments"))
    if node.get("type") == "table":
        inside = "".join(f"{title}\n" for title in _column_titles(node)) + inside
    ends = node.get("object") in ("block", "fragment") and inside and not inside.endswith("\n")
    return inside + ("\n" if ends else "")


def _column_titles(table: Json) -> list[str]:
    definition = data_of(table).get("definition")
    columns = definition.values() if isinstance(definition, dict) else ()
    return [str(column.get("title", "")) for column in columns if isinstance(column, dict)]
