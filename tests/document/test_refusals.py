"""What one side cannot hold: every problem of a text at once, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.document import DocumentError, MarkdownError, to_document, to_markdown
from dpsync.document.core import DEEPEST

Json = dict[str, Any]

REFUSED = {
    "a <b>x</b>": [(1, 3, "HTML"), (1, 7, "HTML")],
    "a\nb <br> c": [(2, 3, "HTML")],
    "\n<div>\n": [(2, 1, "HTML")],
    "a\n\n<!-- x -->": [(3, 1, "HTML")],
    "> a\n> b <br>": [(2, 5, "HTML")],
    "- a\n\n  b [c <i>](d)": [(3, 8, "HTML")],
    "- [ ] <br>": [(1, 7, "HTML")],
    "![a <b>](c)": [(1, 1, "HTML")],
    "`<br>` \\<br> <br>": [(1, 14, "HTML")],
    "# a <br>": [(1, 5, "HTML")],
    "|a|\n|-|\n|<br>|": [(3, 2, "HTML")],
    "a\n\n#### b": [(3, 1, "level 4")],
    "###### b": [(1, 1, "level 6")],
    "a  \nb\\\nc": [(1, 4, "line break"), (2, 2, "line break")],
    "> a\n>\n> ```\n> b\n> ```": [(3, 3, "code cannot stand in a quote")],
    ">     code": [(1, 7, "code cannot stand in a quote")],
    "> |a|\n> |-|": [(1, 3, "a table cannot stand in a quote")],
    '[a](b "c")': [(1, 1, "the title of a link")],
    '[a][b]\n\n[b]: c "d"': [(1, 1, "the title of a link")],
    "|**a**|\n|-|": [(1, 2, "plain text")],
    "|a|\n|-|\n|b|c|": [(3, 1, "more cells")],
    "```js title=x\n```": [(1, 1, "language")],
    "1. a\n2. [ ] b": [(2, 1, "no tasks")],
    "- [ ] a\n- b": [(2, 1, "tasks and other items")],
    "- a\n- [ ] b": [(2, 1, "tasks and other items")],
    "a\n b\x00": [(2, 3, "U+0000")],
    "a\ud800": [(1, 2, "U+D800")],
    "#### a\n\n<x>\n": [(1, 1, "level 4"), (3, 1, "HTML")],
}


@pytest.mark.parametrize("markdown", REFUSED)
def test_markdown_is_refused_with_its_places(markdown: str) -> None:
    with pytest.raises(MarkdownError) as raised:
        to_document(markdown)
    found = raised.value.problems
    assert [(one.line, one.column) for one in found] == [
        (line, column) for line, column, _ in REFUSED[markdown]
    ]
    assert all(part in one.message for one, (_, _, part) in zip(found, REFUSED[markdown], strict=True))
    assert all(one.hint for one in found)


@pytest.mark.parametrize("markdown", ["> " * 60 + "a", "".join("  " * n + "- a\n" for n in range(60))])
def test_what_stands_too_deep_is_refused_and_not_left_out(markdown: str) -> None:
    with pytest.raises(MarkdownError) as raised:
        to_document(markdown)
    assert str(DEEPEST) in raised.value.problems[0].message


def test_forty_levels_are_read_and_written() -> None:
    markdown = "> " * DEEPEST + "a\n"
    assert to_markdown(to_document(markdown)) == markdown


def leaf(text: str, *marks: str) -> Json:
    return {"object": "leaf", "text": text, "marks": [{"object": "mark", "type": mark} for mark in marks]}


def text(said: str, *marks: str) -> Json:
    return {"object": "text", "leaves": [leaf(said, *marks)]}


def block(kind: str, *nodes: Json, **data: Any) -> Json:
    return {"object": "block", "type": kind, "data": data, "nodes": list(nodes)}


def inline(kind: str, *nodes: Json, **data: Any) -> Json:
    return {"object": "inline", "type": kind, "data": data, "nodes": list(nodes)}


URL = {"kind": "url", "url": "u"}
PARAGRAPH = block("paragraph", text("a"))
TABLE = {
    "view": {"type": "grid", "columns": ["c"], "hideHeader": False},
    "definition": {"c": {"id": "c", "title": "C", "type": "text", "textAlignment": "left"}},
    "records": {"r": {"orderIndex": "1", "values": {"c": "f"}}},
}
CELL = {"object": "fragment", "fragment": "f", "nodes": [PARAGRAPH, PARAGRAPH]}

OUTSIDE = [
    (block("hint", PARAGRAPH, style="info"), "nodes[0]", "hint", "no counterpart"),
    (block("blockquote", block("code")), "nodes[0].nodes[0]", "code", "cannot stand in a blockquote"),
    (
        block("list-unordered", block("list-item", block("images"))),
        "nodes[0].nodes[0].nodes[0]", "images", "cannot stand in a list-item",
    ),
    (block("paragraph", text("a"), align="center"), "nodes[0]", "paragraph", "`align`"),
    (block("code", title="x"), "nodes[0]", "code", "`title`"),
    (block("code", block("code-line", text("a", "bold"))), "nodes[0].nodes[0]", "code-line", "plain text"),
    (block("paragraph", text("a", "superscript")), "nodes[0].nodes[0]", "superscript", "mark"),
    (block("paragraph", inline("emoji", code="1f600")), "nodes[0].nodes[0]", "emoji", "counterpart"),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "page", "page": "p"})),
        "nodes[0].nodes[0]", "link", "not to a URL",
    ),
    (
        block("paragraph", inline("link", inline("link", ref=URL), ref=URL)),
        "nodes[0].nodes[0].nodes[0]", "link", "cannot stand here",
    ),
    (block("images", block("image", ref=URL, width=10)), "nodes[0].nodes[0]", "image", "`width`"),
    (block("paragraph", text("a\x00")), "nodes[0].nodes[0]", "text", "character"),
    (block("paragraph", text("a\nb", "code")), "nodes[0].nodes[0]", "text", "character"),
    (
        block("list-unordered", block("list-item", checked=True)),
        "nodes[0].nodes[0]", "list-item", "is checked",
    ),
    (block("list-ordered", block("list-item"), start=-1), "nodes[0]", "list-ordered", "`start`"),
    (
        {**block("table", **TABLE), "fragments": [CELL]},
        "nodes[0].fragments[0]", "table", "more than one paragraph",
    ),
    (block("table", **{**TABLE, "view": {"type": "cards", "columns": ["c"]}}), "nodes[0]", "table", "grid"),
    (block("table", **{**TABLE, "cellMerges": [1]}), "nodes[0]", "table", "grid"),
    (block("table"), "nodes[0]", "table", "grid"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "path", "kind", "part"), OUTSIDE)
def test_a_node_outside_the_core_is_named_by_path_and_type(
    node: Json, path: str, kind: str, part: str
) -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"object": "document", "data": {}, "nodes": [node]})
    (problem,) = raised.value.problems
    assert (problem.path, problem.type) == (path, kind)
    assert part in problem.message


def test_all_nodes_outside_the_core_come_at_once() -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"nodes": [block("hint"), PARAGRAPH, block("tabs")]})
    assert [problem.path for problem in raised.value.problems] == ["nodes[0]", "nodes[2]"]
