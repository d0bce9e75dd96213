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
from .refs import parse_target
from .slugs import make_slug

EXPRESSION_TAG = '<code class="expression">'
INCLUDE_PATTERN = re.compile(r'\{% include "([A-Za-z0-9_.-]+)" %\}')
_TASK_MARKER = re.compile(r"\[([ xX])\]\s+")
_MARK_TYPES = {"strong": "bold", "em": "italic", "s": "strikethrough"}
Marks = tuple[str, ...]


class _MarkdownParser(MarkdownIt):
    """A Markdown parser that keeps every link target as written. `parse_target` interprets the targets."""

    def validateLink(self, url: str) -> bool:
        """Accept every link target."""
        del url
        return True

    def normalizeLink(self, url: str) -> str:
        """Keep a link target as written."""
        return url

    def normalizeLinkText(self, link: str) -> str:
        """Keep the text of a link as written."""
        return link


_PARSER = _MarkdownParser("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])


def to_document(markdown: str) -> Json:
    """Return a Markdown text as a Document, without the keys that the server adds."""
    tree = SyntaxTreeNode(_PARSER.parse(markdown))
    return {"object": "document", "data": {"schemaVersion": 1}, "nodes": _blocks(tree.children)}


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> list[Json]:
    """Return the blocks of Markdown nodes."""
    return [block for node in nodes for block in _block(node)]


def _block(node: SyntaxTreeNode) -> Iterator[Json]:
    """Yield the block of one Markdown node.

    HTML and other unknown nodes become a paragraph with their source.
    """
    kind = node.type
    if kind == "heading":
        inlines = _inline(node)
        data = {"id": make_slug(plain_text(inlines), "section")}
        yield {**block_node(f"heading-{min(int(node.tag[1]), 3)}", inlines), "data": data}
    elif kind == "paragraph":
        yield from _paragraph(node)
    elif kind in ("bullet_list", "ordered_list"):
        yield _list(node)
    elif kind == "blockquote":
        yield block_node("blockquote", _blocks(node.children))
    elif kind in ("fence", "code_block"):
        yield _code(node)
    elif kind == "hr":
        yield {**void_block_node("divider"), "data": {}}
    elif kind == "table":
        yield _table(node)
    else:
        yield block_node("paragraph", text_nodes(node.content.rstrip("\n")))


def _paragraph(node: SyntaxTreeNode) -> Iterator[Json]:
    """Yield the block of a paragraph.

    An image or an include on a line of its own is a block of its own type.
    """
    inline = node.children[0]
    only_child = inline.children[0] if len(inline.children) == 1 else None
    if only_child is not None and only_child.type == "image":
        image = {**void_block_node("image"), "data": _image_data(only_child), "fragments": []}
        yield {**block_node("images", [image]), "data": {}, "isVoid": False}
    elif (include := INCLUDE_PATTERN.fullmatch(inline.content.strip())) is not None:
        ref = {"kind": "reusable-content", "reusableContent": include[1]}
        yield {**void_block_node("reusable-content"), "data": {"ref": ref}}
    else:
        yield block_node("paragraph", _inline(node))


def _image_data(node: SyntaxTreeNode) -> Json:
    """Return the data of an image: the reference to its source, and its alternative text."""
    data: Json = {"ref": parse_target(str(node.attrs["src"]))}
    if node.content:
        data["alt"] = node.content
    return data


def _list(node: SyntaxTreeNode) -> Json:
    """Return a list. It is a task list if each item starts with a task box, `[ ]` or `[x]`."""
    items = [block_node("list-item", _blocks(item.children)) for item in node.children]
    if node.type == "ordered_list":
        return {**block_node("list-ordered", items), "data": {"start": int(node.attrs.get("start", 1))}}
    checked = [_task_state(item) for item in items]
    if items and None not in checked:
        for item, done in zip(items, checked, strict=True):
            item["data"] = {"checked": done}
            leaf = item["nodes"][0]["nodes"][0]["leaves"][0]
            leaf["text"] = _TASK_MARKER.sub("", leaf["text"], count=1)
        return block_node("list-tasks", items)
    return block_node("list-unordered", items)


def _task_state(item: Json) -> bool | None:
    """Return whether the task box at the start of the item is ticked, or None without a task box."""
    first_block = item["nodes"][0] if item["nodes"] else {}
    text = first_block["nodes"][0] if first_block.get("type") == "paragraph" and first_block["nodes"] else {}
    match = _TASK_MARKER.match(text["leaves"][0]["text"]) if text.get("leaves") else None
    return match[1] != " " if match else None


def _code(node: SyntaxTreeNode) -> Json:
    """Return a code block with a node for each line. The first word after the fence is the syntax."""
    lines = node.content.removesuffix("\n").split("\n")
    data = {"syntax": node.info.split()[0]} if node.info.strip() else {}
    return {
        **block_node("code", [{**block_node("code-line", text_nodes(line)), "data": {}} for line in lines]),
        "data": data,
    }


def _table(node: SyntaxTreeNode) -> Json:
    """Return a table: its columns, a record for each row, and a fragment with the text of each cell."""
    rows = [row for part in node.children for row in part.children]
    head, *body = rows
    columns = [f"c{number}" for number, _ in enumerate(head.children)]
    definition = {
        column: {
            "id": column,
            "title": plain_text(_inline(cell)),
            "type": "text",
            "textAlignment": str(cell.attrs.get("style", "text-align:left")).partition(":")[2],
        }
        for column, cell in zip(columns, head.children, strict=True)
    }
    records: Json = {}
    fragments: list[Json] = []
    for number, row in enumerate(body):
        values = {}
        for column, cell in zip(columns, row.children, strict=False):
            values[column] = f"r{number}-{column}"
            fragments.append(fragment_node(values[column], [block_node("paragraph", _inline(cell))]))
        records[f"r{number}"] = {"orderIndex": f"{number:06}", "values": values}
    view = {"type": "grid", "columns": columns, "hideHeader": False}
    data = {"view": view, "records": records, "definition": definition}
    return {**void_block_node("table"), "data": data, "fragments": fragments}


# --- inlines --------------------------------------------------------------------------------------


def _inline(node: SyntaxTreeNode) -> list[Json]:
    """Return the texts and inline nodes in a Markdown node; never an empty list."""
    nodes = _merge_texts(_inlines(_with_expressions(node.children[0].children if node.children else []), ()))
    return nodes or text_nodes("")


def _with_expressions(
    nodes: Sequence[SyntaxTreeNode],
) -> Iterator[SyntaxTreeNode | str]:
    """Yield the nodes, joining the nodes of each expression (HTML tags around text) into one string."""
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if node.type == "html_inline" and node.content == EXPRESSION_TAG:
            end = next(
                (position for position in range(index, len(nodes)) if nodes[position].content == "</code>"),
                None,
            )
            if end is not None and all(inside.type == "text" for inside in nodes[index + 1 : end]):
                yield "".join(inside.content for inside in nodes[index + 1 : end])
                index = end + 1
                continue
        yield node
        index += 1


def _inlines(nodes: Iterable[SyntaxTreeNode | str], marks: Marks) -> Iterator[Json]:
    """Yield the texts and inline nodes of Markdown nodes. `marks` are the marks of the surrounding nodes."""
    for node in nodes:
        if isinstance(node, str):
            yield {**_void_inline_node("expression"), "data": {"expression": node}}
        elif node.type in _MARK_TYPES:
            yield from _inlines(_with_expressions(node.children), (*marks, _MARK_TYPES[node.type]))
        elif node.type == "link":
            children = _merge_texts(_inlines(_with_expressions(node.children), marks)) or text_nodes("")
            data = {"ref": parse_target(str(node.attrs["href"]))}
            yield {"object": "inline", "type": "link", "data": data, "nodes": children, "isVoid": False}
        elif node.type == "image":
            yield {**_void_inline_node("inline-image"), "data": _image_data(node)}
        elif node.type == "code_inline":
            yield text_node(node.content, (*marks, "code"))
        elif node.type in ("softbreak", "hardbreak"):
            yield text_node("\n", marks)
        else:
            yield text_node(node.content, marks)


def _merge_texts(inlines: Iterable[Json]) -> list[Json]:
    """Join adjacent texts, and adjacent leaves with the same marks."""
    merged: list[Json] = []
    for inline in inlines:
        previous = merged[-1] if merged else None
        if previous is None or inline["object"] != "text" or previous["object"] != "text":
            merged.append(inline)
            continue
        for leaf in inline["leaves"]:
            if previous["leaves"][-1]["marks"] == leaf["marks"]:
                previous["leaves"][-1]["text"] += leaf["text"]
            elif leaf["text"]:
                previous["leaves"].append(leaf)
    return merged


# --- nodes ----------------------------------------------------------------------------------------


def block_node(kind: str, nodes: list[Json]) -> Json:
    """Return a block with child nodes."""
    return {"object": "block", "type": kind, "nodes": nodes}


def void_block_node(kind: str) -> Json:
    """Return a block without child nodes."""
    return {"object": "block", "type": kind, "isVoid": True}


def _void_inline_node(kind: str) -> Json:
    """Return an inline node without child nodes."""
    return {"object": "inline", "type": kind, "isVoid": True}


def fragment_node(name: str, nodes: list[Json]) -> Json:
    """Return a named part of a block, such as the content of a table cell."""
    return {"object": "fragment", "fragment": name, "nodes": nodes}


def text_node(content: str, marks: Marks = ()) -> Json:
    """Return a text with marks, such as `bold`."""
    leaf = {"object": "leaf", "text": content, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "text", "leaves": [leaf]}


def text_nodes(content: str) -> list[Json]:
    """Return a list with one text without marks."""
    return [text_node(content)]


def node_data(node: Json) -> Json:
    """Return the data of a node, or {} if the caller sent anything but an object."""
    data = node.get("data")
    return data if isinstance(data, dict) else {}


def node_ref(node: Json, name: str = "ref") -> Json:
    """Return the content reference in the data of a node, or {}."""
    ref = node_data(node).get(name)
    return ref if isinstance(ref, dict) else {}


def plain_text(node: Any) -> str:
    """Return all text in a node, a list of nodes or a Document, without marks, one line per block.

    The text of a table begins with the titles of its columns.
    """
    if isinstance(node, list):
        return "".join(plain_text(child) for child in node)
    if not isinstance(node, dict):
        return ""
    if node.get("object") == "leaf":
        return str(node.get("text", ""))
    if node.get("type") == "expression":
        return str(node_data(node).get("expression", ""))
    text = "".join(plain_text(node.get(part)) for part in ("leaves", "nodes", "fragments"))
    if node.get("type") == "table":
        definition = node_data(node).get("definition")
        columns = definition.values() if isinstance(definition, dict) else ()
        titles = (str(column.get("title", "")) for column in columns if isinstance(column, dict))
        text = "".join(f"{title}\n" for title in titles) + text
    needs_newline = node.get("object") in ("block", "fragment") and text and not text.endswith("\n")
    return text + ("\n" if needs_newline else "")
