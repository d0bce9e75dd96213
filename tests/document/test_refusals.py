"""What one side cannot hold: every problem of a text at once, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.document import DocumentError, MarkdownError, to_document, to_markdown

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
    "> ab <i>\n> <b> cd\n> e": [(1, 6, "HTML"), (2, 3, "HTML")],
    "> abc <i>\n> <b> c\n> e": [(1, 7, "HTML"), (2, 3, "HTML")],
    "> a\n> bc <i>\n> d": [(2, 6, "HTML")],
    "# a <br>": [(1, 5, "HTML")],
    "|a|\n|-|\n|<br>|": [(3, 2, "HTML")],
    "a\n\n#### b": [(3, 1, "level 4")],
    "###### b": [(1, 1, "level 6")],
    "a  \nb\\\nc": [(1, 4, "line break"), (2, 2, "line break")],
    "> a\n>\n> ```\n> b\n> ```": [(3, 3, "code in a quote")],
    ">     code": [(1, 7, "code in a quote")],
    "> |a|\n> |-|": [(1, 3, "a table in a quote")],
    '[a](b "c")': [(1, 1, "link titles")],
    '[a][b]\n\n[b]: c "d"': [(1, 1, "link titles")],
    "|**a**|\n|-|": [(1, 2, "plain text")],
    "|a|\n|-|\n|b|c|": [(3, 1, "more cells")],
    "```js title=x\n```": [(1, 1, "language")],
    "1. a\n2. [ ] b": [(2, 1, "tasks in a numbered list")],
    "- [ ] a\n- b": [(2, 1, "tasks and other items")],
    "- a\n- [ ] b": [(2, 1, "tasks and other items")],
    "a\n b\x00": [(2, 3, "U+0000")],
    "a\ud800": [(1, 2, "U+D800")],
    "#### a\n\n<x>\n": [(1, 1, "level 4"), (3, 1, "HTML")],
}


@pytest.mark.parametrize("markdown", REFUSED)
def test_unsupported_markdown_is_rejected_with_locations(markdown: str) -> None:
    with pytest.raises(MarkdownError) as raised:
        to_document(markdown)
    found = raised.value.problems
    assert [(one.line, one.column) for one in found] == [
        (line, column) for line, column, _ in REFUSED[markdown]
    ]
    assert all(part in one.message for one, (_, _, part) in zip(found, REFUSED[markdown], strict=True))
    assert all(one.hint for one in found)


@pytest.mark.parametrize("markdown", ["> " * 60 + "a", "".join("  " * n + "- a\n" for n in range(60))])
def test_too_deeply_nested_markdown_is_rejected(markdown: str) -> None:
    with pytest.raises(MarkdownError) as raised:
        to_document(markdown)
    assert "40" in raised.value.problems[0].message


def test_document_nesting_is_limited_to_40_levels() -> None:
    markdown = "> " * 40 + "a\n"
    document = to_document(markdown)
    assert to_markdown(document) == markdown
    quote = {"object": "block", "type": "blockquote", "data": {}, "nodes": document["nodes"]}
    with pytest.raises(DocumentError) as raised:
        to_markdown({"object": "document", "nodes": [quote]})
    (found,) = raised.value.problems
    assert (found.type, found.message) == ("paragraph", "is nested more than 40 levels deep")


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
    (block("hint", PARAGRAPH, style="info"), "nodes[0]", "hint", "cannot be written"),
    (block("blockquote", block("code")), "nodes[0].nodes[0]", "code", "cannot be inside a blockquote"),
    (
        block("list-unordered", block("list-item", block("images"))),
        "nodes[0].nodes[0].nodes[0]",
        "images",
        "cannot be inside a list-item",
    ),
    (block("paragraph", text("a"), align="center"), "nodes[0]", "paragraph", "`align`"),
    (block("code", title="x"), "nodes[0]", "code", "`title`"),
    (block("code", block("code-line", text("a", "bold"))), "nodes[0].nodes[0]", "code-line", "plain text"),
    (block("paragraph", text("a", "superscript")), "nodes[0].nodes[0]", "superscript", "formatting"),
    (block("paragraph", inline("emoji", code="1f600")), "nodes[0].nodes[0]", "emoji", "cannot be written"),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "page", "page": "p"})),
        "nodes[0].nodes[0]",
        "link",
        "not to a URL",
    ),
    (
        block("paragraph", inline("link", inline("link", ref=URL), ref=URL)),
        "nodes[0].nodes[0].nodes[0]",
        "link",
        "cannot be written as Markdown at this position",
    ),
    (block("images", block("image", ref=URL, width=10)), "nodes[0].nodes[0]", "image", "`width`"),
    (block("paragraph", text("a\x00")), "nodes[0].nodes[0]", "text", "character"),
    (block("paragraph", text("a\nb", "code")), "nodes[0].nodes[0]", "text", "character"),
    (
        block("list-unordered", block("list-item", checked=True)),
        "nodes[0].nodes[0]",
        "list-item",
        "is a checked task",
    ),
    (block("list-ordered", block("list-item"), start=-1), "nodes[0]", "list-ordered", "`start`"),
    (
        {**block("table", **TABLE), "fragments": [CELL]},
        "nodes[0].fragments[0]",
        "table",
        "more than one paragraph",
    ),
    (
        block("table", **{**TABLE, "view": {"type": "cards", "columns": ["c"]}}),
        "nodes[0]",
        "table",
        "text columns",
    ),
    (block("table", **{**TABLE, "cellMerges": [1]}), "nodes[0]", "table", "text columns"),
    (block("table"), "nodes[0]", "table", "text columns"),
    # A word that is not the one expected is refused, whether it stands before or behind it in the alphabet.
    *(
        (
            block("paragraph", inline("link", text("a"), ref={"kind": word, "url": "u"})),
            "nodes[0].nodes[0]",
            "link",
            "not to a URL",
        )
        for word in ("anchor", "user")
    ),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "url", "url": 1})),
        "nodes[0].nodes[0]",
        "link",
        "not to a URL",
    ),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "url", "url": "a\x00"})),
        "nodes[0].nodes[0]",
        "link",
        "URL with a character",
    ),
    (block("paragraph", inline("link", text("a"))), "nodes[0].nodes[0]", "link", "not to a URL"),
    *(
        (block("code", block(word)), "nodes[0].nodes[0]", word, "not a line of code")
        for word in ("a", "paragraph")
    ),
    *(
        (block("code", block("code-line", inline(word))), "nodes[0].nodes[0]", "code-line", "plain text")
        for word in ("link", "video")
    ),
    (block("code", block("code-line", text("a\r"))), "nodes[0].nodes[0]", "code-line", "cannot write"),
    (
        block("code", block("code-line", text("a"), highlighted=True)),
        "nodes[0].nodes[0]",
        "code-line",
        "`highlighted`",
    ),
    (block("code", syntax="a\x00"), "nodes[0]", "code", "character in `syntax`"),
    (block("images"), "nodes[0]", "images", "no image"),
    *(
        (block("images", block(word)), "nodes[0].nodes[0]", word, "is not an image")
        for word in ("file", "link-card")
    ),
    (block("images", block("image", ref={"kind": "file"})), "nodes[0].nodes[0]", "image", "not to a URL"),
    *(
        (block("list-ordered", block("list-item"), start=start), "nodes[0]", "list-ordered", "`start`")
        for start in (-1, 1_000_000_000, 1.5)
    ),
    (
        block("list-ordered", block("list-item", checked=True)),
        "nodes[0].nodes[0]",
        "list-item",
        "is a checked task",
    ),
    (block("paragraph", text("a\r", "code")), "nodes[0].nodes[0]", "text", "character"),
    (
        block("paragraph", inline("inline-image", ref=URL, size="line")),
        "nodes[0].nodes[0]",
        "inline-image",
        "`size`",
    ),
    (block("list-item"), "nodes[0]", "list-item", "cannot be inside a document"),
    *(
        (
            block("table", **{**TABLE, "view": {**TABLE["view"], name: value}}),
            "nodes[0]",
            "table",
            "text columns",
        )
        for name, value in {
            "type": "gallery",
            "columns": [],
            "columnWidths": {"c": 10},
            "hideHeader": True,
            "sticky": True,
        }.items()
    ),
    (
        block("table", **{**TABLE, "view": {"type": "list", "columns": ["c"]}}),
        "nodes[0]",
        "table",
        "text columns",
    ),
    (
        block("table", **{**TABLE, "view": {"type": "grid", "columns": ["c", "c"]}}),
        "nodes[0]",
        "table",
        "text columns",
    ),
    (
        block("table", **{**TABLE, "view": {"type": "grid", "columns": ["c", "d"]}}),
        "nodes[0]",
        "table",
        "text columns",
    ),
    (block("table", **{**TABLE, "fullWidth": True}), "nodes[0]", "table", "text columns"),
    *(
        (
            block("table", **{**TABLE, "definition": {"c": {**TABLE["definition"]["c"], **more}}}),
            "nodes[0]",
            "table",
            "text columns",
        )
        for more in ({"type": "number"}, {"type": "users"}, {"textAlignment": "justify"}, {"title": 1})
    ),
    (
        block("table", **{**TABLE, "definition": {"c": {"type": "text", "title": "a\x00"}}}),
        "nodes[0]",
        "table",
        "title with a character",
    ),
    (
        {**block("table", **TABLE), "fragments": [{**CELL, "nodes": [block("code")]}]},
        "nodes[0].fragments[0].nodes[0]",
        "code",
        "cannot be inside a cell",
    ),
]


@pytest.mark.parametrize(("node", "path", "kind", "part"), OUTSIDE)
def test_unsupported_node_error_names_path_and_type(node: Json, path: str, kind: str, part: str) -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"object": "document", "data": {}, "nodes": [node]})
    (problem,) = raised.value.problems
    assert (problem.path, problem.type) == (path, kind)
    assert part in problem.message


def test_all_unsupported_nodes_are_reported_together() -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"nodes": [block("hint"), PARAGRAPH, block("tabs")]})
    assert [problem.path for problem in raised.value.problems] == ["nodes[0]", "nodes[2]"]


def image(*captions: Any) -> Json:
    """Return a block of one image with these fragments as its captions."""
    fragments = [{"object": "fragment", "type": "caption", "nodes": list(nodes)} for nodes in captions]
    return block("images", {**block("image", ref=URL), "fragments": fragments})


ITALIC = block("paragraph", text("a", "italic"))
CAPTIONS = [
    ([PARAGRAPH, PARAGRAPH], "not one paragraph of plain text"),
    ([ITALIC], "not one paragraph of plain text"),
    ([block("heading-1", text("a"))], "not one paragraph of plain text"),
    ([block("quote", text("a"))], "not one paragraph of plain text"),
    ([block("paragraph", text("a"), align="end")], "not one paragraph of plain text"),
    ([block("paragraph", inline("emoji"))], "not one paragraph of plain text"),
    ([block("paragraph", inline("video"))], "not one paragraph of plain text"),
    ([block("paragraph", text("a\x00"))], "caption with a character"),
]


@pytest.mark.parametrize(("nodes", "part"), CAPTIONS)
def test_image_caption_with_formatting_is_rejected(nodes: list[Json], part: str) -> None:
    with pytest.raises(DocumentError) as raised:
        to_markdown({"nodes": [image(nodes)]})
    (problem,) = raised.value.problems
    assert (problem.path, problem.type) == ("nodes[0].nodes[0]", "image")
    assert part in problem.message


HELD = [
    (image([PARAGRAPH]), '![](u "a")\n'),
    (image(), "![](u)\n"),
    (image([]), "![](u)\n"),
    (image([block("paragraph", text("a"), text("b"))]), '![](u "ab")\n'),
    (block("code", block("code-line", text("a")), block("code-line", text("b"))), "```\na\nb\n```\n"),
    (block("code"), "```\n```\n"),
    (block("code", block("code-line")), "```\n```\n"),
    (block("code", block("code-line"), block("code-line")), "```\n\n\n```\n"),
    (block("code", block("code-line", text("```"))), "````\n```\n````\n"),
    (block("list-ordered", block("list-item", PARAGRAPH), start=0), "0. a\n"),
    (block("list-ordered", block("list-item", PARAGRAPH), start=999_999_999), "999999999. a\n"),
    # No number in Markdown is longer, and only the first one of a list counts.
    (
        block(
            "list-ordered", block("list-item", PARAGRAPH), block("list-item", PARAGRAPH), start=999_999_999
        ),
        "999999999. a\n999999999. a\n",
    ),
    (block("list-ordered", block("list-item", PARAGRAPH)), "1. a\n"),
    (block("list-tasks", block("list-item", PARAGRAPH, checked=True)), "- [x] a\n"),
    (block("paragraph", inline("link", text("a"), ref=URL)), "[a](u)\n"),
    (block("heading-1", text("a")), "# a\n"),
    (block("heading-3", text("a#")), "### a\\#\n"),
    (block("heading-2"), "##\n"),
    (block("divider"), "---\n"),
    ({**block("table", **TABLE), "fragments": [{**CELL, "nodes": [PARAGRAPH]}]}, "| C |\n| --- |\n| a |\n"),
    (
        {**block("table", **TABLE), "fragments": [{**CELL, "nodes": [PARAGRAPH, block("paragraph")]}]},
        "| C |\n| --- |\n| a |\n",
    ),
    (block("table", **TABLE), "| C |\n| --- |\n| |\n"),
    # What no cell of the table shows is no part of it.
    (
        {
            **block("table", **TABLE),
            "fragments": [{"object": "fragment", "fragment": "z", "nodes": [block("code")]}],
        },
        "| C |\n| --- |\n| |\n",
    ),
]


@pytest.mark.parametrize(("node", "markdown"), HELD)
def test_representable_node_is_written_as_markdown(node: Json, markdown: str) -> None:
    assert to_markdown({"nodes": [node]}) == markdown


NO_CHARACTERS = [chr(code) for plane in range(17) for code in (plane * 65536 + 65534, plane * 65536 + 65535)]


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x7f", "\x9f", "\ufdd0", *NO_CHARACTERS], ids=ascii)
def test_invalid_character_is_rejected_in_document(character: str) -> None:
    with pytest.raises(DocumentError):
        to_markdown({"nodes": [block("paragraph", text(f"a{character}"))]})


@pytest.mark.parametrize("character", ["\ufdcf", "\ufdf0", "\ufffd", "\U0001fffd", "\U00020000"], ids=ascii)
def test_valid_unicode_character_is_written(character: str) -> None:
    assert character in to_markdown({"nodes": [block("paragraph", text(f"a{character}b"))]})
