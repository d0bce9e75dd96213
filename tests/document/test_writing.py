"""The one style that Documents are written in, as pairs of what somebody wrote and what dpsync writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpsync.config.yaml_reader import decode
from dpsync.document import have_same_meaning, to_document, to_markdown

Json = dict[str, Any]

STYLE = {
    "": "",
    "# a #": "# a\n",
    "a\n===": "# a\n",
    "one\ntwo": "one two\n",
    "__b__ *i* ~~s~~ ``c``": "**b** _i_ ~~s~~ `c`\n",
    "**a *b* c**": "**a _b_ c**\n",
    "***a* b**": "**_a_ b**\n",
    "***a** b*": "_**a** b_\n",
    "~~***a** b* c~~": "~~_**a** b_ c~~\n",
    "**a *b* ~~c *d*~~**": "**a _b_ ~~c _d_~~**\n",
    "**a [b](c) d**": "**a [b](c) d**\n",
    "[*a* `b`](c)": "[_a_ `b`](c)\n",
    "a*b*c": "&#97;_&#98;_&#99;\n",  # within a word `_` needs punctuation on both sides
    "**a**b": "**a**b\n",
    "* a\n* b": "- a\n- b\n",
    "* a\n\n* b": "- a\n- b\n",
    "- a\n* b\n- c": "- a\n\n* b\n\n- c\n",
    "- a\n\n\n1. b": "- a\n\n1. b\n",
    "- a\n  - b\n\n    c": "- a\n  - b\n\n    c\n",
    "- - a": "- * a\n",
    "- ***": "- ___\n",
    "3) a\n3) b": "3. a\n4. b\n",
    "9. a\n10. b\n    - c": "9. a\n10. b\n    - c\n",
    "- a\n\n  2. b": "- a\n\n  2. b\n",
    "- a\n  1. b": "- a\n  1. b\n",
    "* [X] a\n* [ ] b": "- [x] a\n- [ ] b\n",
    "- [ ]\n\n  ```\n  a\n  ```": "- [ ]\n\n  ```\n  a\n  ```\n",
    "> a\n\n\n> b": "> a\n\n> b\n",
    "> a\n>\n> > b": "> a\n>\n> > b\n",
    "    a": "```\na\n```\n",
    "~~~ js\n```\n~~~": "````js\n```\n````\n",
    "***": "---\n",
    "|a|b|\n|:-|-:|\n|1\\|2||": "| a | b |\n| --- | --: |\n| 1\\|2 | |\n",
    "![a](<b>  'c')": '![a](b "c")\n',
    "![a](b)\n![c](d)": "![a](b)\n![c](d)\n",
    "<https://a.b>": "[https://a.b](https://a.b)\n",
    "[a](<b c>)": "[a](<b c>)\n",
    "[a](b(c))": "[a](<b(c)>)\n",
    "[a](?x=1&y=2)": "[a](?x=1&y=2)\n",
}


@pytest.mark.parametrize("markdown", STYLE)
def test_markdown_output_has_consistent_style(markdown: str) -> None:
    assert to_markdown(to_document(markdown)) == STYLE[markdown]


ESCAPED = {
    "2 * 3": "2 \\* 3",
    "snake_case and _x": "snake_case and \\_x",
    "a[0]": "a\\[0\\]",
    "a < b": "a < b",
    "<b>": "\\<b>",
    "Q&A &amp; R&D;": "Q&A \\&amp; R\\&D;",
    "C:\\dir": "C:\\\\dir",
    "# no": "\\# no",
    "#tag": "#tag",
    "> no": "\\> no",
    "- no": "\\- no",
    "-5 degrees": "-5 degrees",
    "---": "\\---",
    "+ no": "\\+ no",
    "1. no": "1\\. no",
    "1.5 yes": "1.5 yes",
    "2024) no": "2024\\) no",
    "[ ] no": "\\[ \\] no",
    "~~~": "\\~\\~\\~",
    "```": "\\`\\`\\`",
    " a ": "&#32;a&#32;",
    "\u2028a\u2029": "&#8232;a&#8233;",
    "\u00a0a\u3000": "&#160;a&#12288;",
    "a\nb": "a&#10;b",
    "a | b": "a | b",
    "Hello!": "Hello!",
}


def a_text(said: str, *marks: str) -> Json:
    leaf = {"object": "leaf", "text": said, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "text", "leaves": [leaf]}


def a_paragraph(*nodes: Json) -> Json:
    paragraph = {"object": "block", "type": "paragraph", "data": {}, "nodes": list(nodes)}
    return {"object": "document", "data": {}, "nodes": [paragraph]}


@pytest.mark.parametrize("said", ESCAPED)
def test_markdown_special_characters_are_escaped(said: str) -> None:
    document = a_paragraph(a_text(said))
    assert to_markdown(document) == ESCAPED[said] + "\n"
    assert have_same_meaning(to_document(to_markdown(document)), document)


def a_link(said: str) -> Json:
    ref = {"kind": "url", "url": "u"}
    return {"object": "inline", "type": "link", "data": {"ref": ref}, "nodes": [a_text(said)]}


IN_NO_FILE = "\f\u2028\u2029\ufeff"
"""What no file of a configuration may hold and Markdown can say."""


def a_picture(said: str) -> Json:
    return {
        **a_link(""),
        "type": "inline-image",
        "data": {**a_link("")["data"], "alt": said, "caption": said},
    }


def leading_to(url: str) -> Json:
    return {**a_link("a"), "data": {"ref": {"kind": "url", "url": url}}}


def blocks(*nodes: Json) -> Json:
    return {"object": "document", "data": {}, "nodes": list(nodes)}


def a_block(kind: str, *nodes: Json, **data: Any) -> Json:
    return {"object": "block", "type": kind, "data": data, "nodes": list(nodes)}


def a_code(syntax: str) -> Json:
    return blocks(a_block("code", a_block("code-line", a_text("x")), syntax=syntax))


PLACES: dict[str, Callable[[str], Json]] = {
    "text": lambda said: a_paragraph(a_text(said)),
    "bold text": lambda said: a_paragraph(a_text(said, "bold")),
    "heading": lambda said: blocks(a_block("heading-1", a_text(said))),
    "link": lambda said: a_paragraph(a_link(said)),
    "destination": lambda said: a_paragraph(leading_to(said)),
    "image": lambda said: a_paragraph(a_text("a "), a_picture(said)),
    "language of code": a_code,
}


@pytest.mark.parametrize("said", [*IN_NO_FILE, *(f"a{one}b" for one in IN_NO_FILE)], ids=ascii)
@pytest.mark.parametrize("place", PLACES)
def test_forbidden_characters_are_written_as_references(place: str, said: str) -> None:
    document = PLACES[place](said)
    written = to_markdown(document)
    assert decode(written.encode(), "a.md") == (written, [])
    assert have_same_meaning(to_document(written), document)


NEIGHBOURS = {
    "a bold text that ends with a space": (
        [a_text("a "), a_text("b ", "bold"), a_text("c")], "a **b&#32;**&#99;",
    ),
    "bold beside italic": ([a_text("a", "bold"), a_text("b", "italic")], "**a**_b_"),
    "marks that overlap": (
        [a_text("a", "bold"), a_text("b", "bold", "italic"), a_text("c", "italic")], "**&#97;_&#98;_**_c_",
    ),
    "an exclamation mark before a link": ([a_text("see!"), a_link("a")], "see\\![a](u)"),
    "an exclamation mark at the end": ([a_text("see!")], "see!"),
    "code with backticks and spaces": ([a_text(" `` ", "code")], "`  ``  `"),
    "a bracket in a link": ([a_link("]")], "[\\]](u)"),
}  # fmt: skip


@pytest.mark.parametrize("case", NEIGHBOURS)
def test_adjacent_inline_nodes_stay_separate(case: str) -> None:
    nodes, markdown = NEIGHBOURS[case]
    assert to_markdown(a_paragraph(*nodes)) == markdown + "\n"
    assert have_same_meaning(to_document(markdown), a_paragraph(*nodes))
