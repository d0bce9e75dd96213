"""What Markdown becomes, case by case. Documents are shown by their canonical value, which is short."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.document import normalize, to_document

Json = dict[str, Any]


def text(said: str, *marks: str) -> Json:
    return {"text": said, "marks": sorted(marks)}


def paragraph(*content: Json) -> Json:
    return {"type": "paragraph", "content": list(content)}


def says(said: str) -> Json:
    return paragraph(text(said))


def link(url: str, *content: Json) -> Json:
    return {"inline": "link", "data": {"ref": {"kind": "url", "url": url}}, "content": list(content)}


def image(url: str, **data: str) -> Json:
    return {"ref": {"kind": "url", "url": url}, **data}


def item(*blocks: Json, **data: Any) -> Json:
    return {"type": "list-item", **({"data": data} if data else {}), "blocks": list(blocks)}


def bullets(*items: Json) -> Json:
    return {"type": "list-unordered", "blocks": list(items)}


def numbers(*items: Json, **data: int) -> Json:
    return {"type": "list-ordered", **({"data": data} if data else {}), "blocks": list(items)}


def tasks(*items: Json) -> Json:
    return {"type": "list-tasks", "blocks": list(items)}


def code(*lines: str, **data: str) -> Json:
    return {"type": "code", **({"data": data} if data else {}), "lines": list(lines)}


def quote(*blocks: Json) -> Json:
    return {"type": "blockquote", "blocks": list(blocks)}


INLINES = {
    "plain": [text("plain")],
    "one\ntwo": [text("one two")],
    "**b** *i* _i_ ~~s~~ `c`": [
        text("b", "bold"), text(" "), text("i", "italic"), text(" "), text("i", "italic"), text(" "),
        text("s", "strikethrough"), text(" "), text("c", "code"),
    ],
    "**a *b* c**": [text("a ", "bold"), text("b", "bold", "italic"), text(" c", "bold")],
    "***both***": [text("both", "bold", "italic")],
    "**`c`**": [text("c", "bold", "code")],
    "*one\ntwo*": [text("one two", "italic")],
    "`` a`b ``": [text("a`b", "code")],
    "`a\nb`": [text("a b", "code")],
    r"\*no\* \[no] 1\. &amp; &lt;b&gt; &#42;": [text("*no* [no] 1. & <b> *")],
    "snake_case 2 * 3": [text("snake_case 2 * 3")],
    "~one~": [text("~one~")],
    "[a](b)": [link("b", text("a"))],
    "[a **b**](b)": [link("b", text("a "), text("b", "bold"))],
    "**x [a](b)**": [text("x ", "bold"), link("b", text("a", "bold"))],
    "[a](<x y> )": [link("x y", text("a"))],
    "[a](http://x/ü?q=%20&r=1)": [link("http://x/ü?q=%20&r=1", text("a"))],
    "[a](javascript:x)": [link("javascript:x", text("a"))],
    "[](b)": [link("b")],
    "<https://a.b/c>": [link("https://a.b/c", text("https://a.b/c"))],
    "<me@a.b>": [link("mailto:me@a.b", text("me@a.b"))],
    "https://a.b": [text("https://a.b")],
    "[a][r]\n\n[r]: /u": [link("/u", text("a"))],
    "x ![a](b)": [text("x "), {"inline": "inline-image", "data": image("b", alt="a")}],
    'x ![a *b*](b "c")': [text("x "), {"inline": "inline-image", "data": image("b", alt="a b", caption="c")}],
    "![a](b) ![c](d)": [
        {"inline": "inline-image", "data": image("b", alt="a")}, text(" "),
        {"inline": "inline-image", "data": image("d", alt="c")},
    ],
    "[![a](b)](c)": [link("c", {"inline": "inline-image", "data": image("b", alt="a")})],
}  # fmt: skip


@pytest.mark.parametrize("markdown", INLINES)
def test_markdown_inline_converts_to_document(markdown: str) -> None:
    assert normalize(to_document(markdown)) == [paragraph(*INLINES[markdown])]


BLOCKS = {
    "": [],
    "\n\n \n": [],
    "a\n\nb": [says("a"), says("b")],
    "a\r\n\r\nb\r\n": [says("a"), says("b")],
    "# a\n## *b*\n### c #": [
        {"type": "heading-1", "content": [text("a")]},
        {"type": "heading-2", "content": [text("b", "italic")]},
        {"type": "heading-3", "content": [text("c")]},
    ],
    "a\n=\nb\n-": [
        {"type": "heading-1", "content": [text("a")]}, {"type": "heading-2", "content": [text("b")]},
    ],
    "#": [{"type": "heading-1", "content": []}],
    "---\n***\n_ _ _": [{"type": "divider"}] * 3,
    "- a\n- b": [bullets(item(says("a")), item(says("b")))],
    "- a\n* b\n+ c": [bullets(item(says(one))) for one in "abc"],
    "- a\n  - b\n\n    c\n- d": [
        bullets(item(says("a"), bullets(item(says("b"), says("c")))), item(says("d")))
    ],
    "- a\n\n- b": [bullets(item(says("a")), item(says("b")))],
    "-\n- b": [bullets(item(), item(says("b")))],
    "1. a\n2. b": [numbers(item(says("a")), item(says("b")))],
    "7) a\n1) b": [numbers(item(says("a")), item(says("b")), start=7)],
    "0. a": [numbers(item(says("a")), start=0)],
    "- [ ] a\n- [x] b\n- [X] c": [
        tasks(item(says("a")), item(says("b"), checked=True), item(says("c"), checked=True))
    ],
    "- [ ]\n- [x]\n  b": [tasks(item(), item(says("b"), checked=True))],
    "- [x] **a**\n  - b": [tasks(item(paragraph(text("a", "bold")), bullets(item(says("b"))), checked=True))],
    "- [x]a\n- \\[x] b\n- [y] c": [bullets(item(says("[x]a")), item(says("[x] b")), item(says("[y] c")))],
    "- [x] a\n\n[x]: u": [
        bullets(item(paragraph(link("u", text("x")), text(" a"))))
    ],
    "> a\n> b\n>\n> - c\nd": [quote(says("a b"), bullets(item(says("c d"))))],
    "> > a": [quote(quote(says("a")))],
    ">": [quote()],
    "```js\na\n\n  b\n```": [code("a", "", "  b", syntax="js")],
    "~~~\n```\n~~~": [code("```")],
    "```\n```": [code("")],
    "```\n\n\n```": [code("", "")],
    "```\nnot closed": [code("not closed")],
    "    a\n\n    b": [code("a", "", "b")],
    "``` c&amp;d\n```": [code("", syntax="c&d")],
    "- ```\n  a\n  ```": [bullets(item(code("a")))],
    "![a](b)": [{"type": "images", "images": [image("b", alt="a")]}],
    '![](b "c")': [{"type": "images", "images": [image("b", caption="c")]}],
    "![a](b)\n![](d)": [{"type": "images", "images": [image("b", alt="a"), image("d")]}],
    "- ![a](b)": [bullets(item(paragraph({"inline": "inline-image", "data": image("b", alt="a")})))],
    "|a|b|c|d|\n|-|:-|:-:|-:|\n|1|**2**|`3\\|`|\n||": [
        {
            "type": "table",
            "columns": [["a", "left"], ["b", "left"], ["c", "center"], ["d", "right"]],
            "rows": [[[text("1")], [text("2", "bold")], [text("3|", "code")], []], [[], [], [], []]],
        }
    ],
    "a | b\n- | -": [says("a | b"), bullets(item(says("| -")))],
}  # fmt: skip


@pytest.mark.parametrize("markdown", BLOCKS)
def test_markdown_block_converts_to_document(markdown: str) -> None:
    assert normalize(to_document(markdown)) == BLOCKS[markdown]


def test_markdown_document_has_required_node_members() -> None:
    document = to_document("a\n\n---\n\n![i](u)\n\n```\nx\n```\n\n|a|\n|-|\n|b|\n")
    assert document["object"] == "document"
    assert document["data"] == {"schemaVersion": 1}
    _, divider, images, code_block, table = document["nodes"]
    assert divider == {"object": "block", "type": "divider", "data": {}, "isVoid": True}
    assert images["nodes"][0]["isVoid"] is True
    assert [line["data"] for line in code_block["nodes"]] == [{}]
    assert table["isVoid"] is True
    assert set(table["data"]) == {"view", "records", "definition"}


@pytest.mark.parametrize("count", [9, 10, 12])
def test_table_keeps_order_of_ten_or_more_rows(count: int) -> None:
    rows = [f"row {number}" for number in range(count)]
    table = to_document("|a|\n|-|\n" + "".join(f"|{row}|\n" for row in rows))["nodes"][0]
    indexes = [record["orderIndex"] for record in table["data"]["records"].values()]
    assert indexes == sorted(indexes)
    assert [cell[0]["text"] for (cell,) in normalize({"nodes": [table]})[0]["rows"]] == rows
