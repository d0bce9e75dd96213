"""Which Documents say the same, and which do not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from dpsync.document import have_same_meaning, normalize, to_document
from dpsync.server.content.documents import stored_document

Json = dict[str, Any]

EVERYTHING = """\
# Title

Some **bold** and [a link](u).

- [x] done
- [ ] open

1. one
2. two

> quoted

```js
code

more
```

![i](u "caption")

| a | b |
| --- | :-: |
| 1 | **2** |
| 3 | 4 |
"""


def changed(**data: Any) -> Json:
    """Return a document with a paragraph that has this data."""
    document = to_document("a")
    document["nodes"][0]["data"] = data
    return document


def test_document_equals_version_stored_by_platform() -> None:
    document = to_document(EVERYTHING)
    stored = stored_document(deepcopy(document))
    assert stored != document
    assert have_same_meaning(stored, document)


@pytest.mark.parametrize("data", [{}, {"align": None}, {"align": "start"}, {"unknown": 1}])
def test_documents_are_equal_despite_default_members(data: Json) -> None:
    assert have_same_meaning(changed(**data), to_document("a"))


def test_documents_with_different_alignment_differ() -> None:
    assert not have_same_meaning(changed(align="end"), to_document("a"))


def test_empty_documents_are_equal() -> None:
    assert normalize({}) == normalize(to_document("")) == []
    empty = to_document("- a")
    empty["nodes"][0]["nodes"] = []
    assert have_same_meaning(empty, {})


def test_table_comparison_ignores_ids_but_not_order() -> None:
    table = to_document("|a|\n|-|\n|1|\n|2|")["nodes"][0]
    other = deepcopy(table)
    first, second = other["data"]["records"].values()
    other["data"]["records"] = {"z": {**second, "orderIndex": "b"}, "y": {**first, "orderIndex": "a"}}
    other["fragments"].reverse()
    assert have_same_meaning({"nodes": [table]}, {"nodes": [other]})
    other["data"]["records"]["z"]["orderIndex"] = "A"
    assert not have_same_meaning({"nodes": [table]}, {"nodes": [other]})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a", "b"), ("a", "**a**"), ("a b", "a  b"), ("# a", "## a"), ("- a", "1. a"), ("- a", "- [ ] a"),
        ("- [ ] a", "- [x] a"), ("- a\n- b", "- a\n\n* b"), ("1. a", "2. a"), ("[a](b)", "[a](c)"),
        ("[a](b)", "a"), ("```\na\n```", "```js\na\n```"), ("```\na\n```", "```\na\n\n```"),
        ("![a](b)", "![a](b 'c')"), ("![a](b)", "![c](b)"), ("> a", "a"), ("---", ""),
        ("|a|\n|-|", "|b|\n|-|"), ("|a|\n|-|", "|a|\n|-:|"), ("|a|\n|-|\n|b|", "|a|\n|-|\n|c|"),
    ],
)  # fmt: skip
def test_documents_with_visible_differences_differ(a: str, b: str) -> None:
    assert not have_same_meaning(to_document(a), to_document(b))


HINT = {"object": "block", "type": "hint", "key": "k1", "data": {"style": "info", "icon": None}, "nodes": []}


def test_unsupported_node_comparison_ignores_keys_and_empty_members() -> None:
    hint: Json = {"nodes": [HINT]}
    assert have_same_meaning(
        hint, {"nodes": [{"object": "block", "type": "hint", "data": {"style": "info"}}]}
    )
    assert not have_same_meaning(hint, {"nodes": [{**HINT, "data": {"style": "danger"}}]})
    assert not have_same_meaning(hint, {})


def text(*leaves: str, marks: tuple[Json, ...] = ()) -> Json:
    return {
        "object": "text",
        "leaves": [{"object": "leaf", "text": leaf, "marks": list(marks)} for leaf in leaves],
    }


def block(kind: str, *nodes: Json, **data: Any) -> Json:
    return {"object": "block", "type": kind, "data": data, "nodes": list(nodes)}


def inline(kind: str, *nodes: Json, **data: Any) -> Json:
    return {"object": "inline", "type": kind, "data": data, "nodes": list(nodes)}


A, B = block("paragraph", text("a")), block("paragraph", text("b"))
URL = {"kind": "url", "url": "u"}
ITALIC, BOLD = {"type": "italic"}, {"type": "bold"}
PLAIN = {"type": "color", "data": {"text": "default", "background": None}}
RED = {"type": "color", "data": {"text": "red"}}
INLINE_IMAGE = inline("inline-image", ref=URL)
IMAGE = block("image", ref=URL)
RECORDS = {"a": {"orderIndex": "1", "values": {"c": "f"}}, "b": {"orderIndex": "2", "values": {}}}
TABLE = {
    "view": {"type": "grid", "columns": ["c"]},
    "definition": {"c": {"title": "C", "type": "text"}},
    "records": RECORDS,
}


def caption(*nodes: Json, kind: str = "caption") -> Json:
    return block(
        "images", {**IMAGE, "fragments": [{"object": "fragment", "type": kind, "nodes": list(nodes)}]}
    )


def rows(one: Any, other: Any) -> Json:
    """Return a table whose two rows have these order indexes."""
    first, second = RECORDS.values()
    records = {"a": {**first, "orderIndex": one}, "b": {**second, "orderIndex": other}}
    fragment = {"object": "fragment", "fragment": "f", "nodes": [A]}
    return {**block("table", **{**TABLE, "records": records}), "fragments": [fragment]}


SAME = [
    (block("paragraph", text("a", "b")), block("paragraph", text("ab"))),
    (block("paragraph", text("a"), text("b")), block("paragraph", text("ab"))),
    (block("paragraph", text("a", "", "b")), block("paragraph", text("ab"))),
    (
        block("paragraph", text("a", marks=(ITALIC, BOLD))),
        block("paragraph", text("a", marks=(BOLD, ITALIC))),
    ),
    (block("paragraph", text("a", marks=(PLAIN,))), block("paragraph", text("a"))),
    (block("paragraph", text("a", marks=(BOLD, BOLD))), block("paragraph", text("a", marks=(BOLD,)))),
    (
        block("paragraph", inline("link", text("a"), ref={**URL, "title": "x"})),
        block("paragraph", inline("link", text("a"), ref=URL)),
    ),
    (block("paragraph", INLINE_IMAGE), block("images", IMAGE)),
    (caption(A), block("paragraph", inline("inline-image", ref=URL, caption="a"))),
    (
        block("images", {**IMAGE, "data": {"ref": URL, "alt": "x"}}),
        block("paragraph", inline("inline-image", ref=URL, alt="x")),
    ),
    (caption(A, kind="other"), block("images", IMAGE)),
    (caption(), block("images", IMAGE)),
    (
        block("code", block("code-line", text("a\nb"))),
        block("code", block("code-line", text("a")), block("code-line", text("b"))),
    ),
    (block("code"), block("code", block("code-line"))),
    (block("list-ordered", block("list-item", A), start=1), block("list-ordered", block("list-item", A))),
    (rows("1", "2"), rows("a", "b")),
    (rows(2, 10), rows("1", "2")),
    (rows(2, "1"), rows("1", "2")),
    (block("tabs", block("tab", text("a", "b"))), block("tabs", block("tab", text("ab")))),
    (block("tabs", key=None), block("tabs")),
    ({**block("tabs"), "key": "k", "meta": {"id": 1}}, block("tabs")),
    (block("tabs", more=[]), block("tabs", more=False)),
]

DIFFERENT = [
    (block("paragraph", text("a", marks=(BOLD,))), block("paragraph", text("a", marks=(ITALIC,)))),
    (block("paragraph", text("a", marks=(RED,))), A),
    (
        block("paragraph", text("a", marks=(RED,))),
        block("paragraph", text("a", marks=({**RED, "data": {"text": "blue"}},))),
    ),
    (block("paragraph", INLINE_IMAGE, text("a")), block("images", IMAGE)),
    (block("paragraph", INLINE_IMAGE, align="end"), block("images", IMAGE)),
    (block("paragraph", inline("inline-image", ref=URL, size="line")), block("images", IMAGE)),
    (block("blockquote", block("paragraph", INLINE_IMAGE)), block("blockquote", block("images", IMAGE))),
    (caption(A), caption(B)),
    (caption(A, B), caption(A)),
    (caption(A), block("images", IMAGE)),
    (caption(block("paragraph", text("a", marks=(BOLD,)))), caption(A)),
    (block("images", IMAGE, IMAGE), block("images", IMAGE)),
    (block("images", block("file", ref=URL)), block("images", IMAGE)),
    (
        block("code", block("code-line", text("a"), highlighted=True)),
        block("code", block("code-line", text("a"))),
    ),
    (
        block("code", block("code-line", text("a", marks=(BOLD,)))),
        block("code", block("code-line", text("a"))),
    ),
    (
        block("code", block("code-line", inline("link", text("a")))),
        block("code", block("code-line", text("a"))),
    ),
    (block("code"), block("code", block("code-line"), block("code-line"))),
    (block("heading-1"), block("heading-2")),
    (block("heading-1"), block("paragraph")),
    (block("list-ordered", block("list-item", A), start=2), block("list-ordered", block("list-item", A))),
    (
        block("list-unordered", block("list-item", A)),
        block("list-unordered", block("list-item", A), block("list-item")),
    ),
    (block("blockquote"), block("divider")),
    (block("paragraph", inline("emoji", code="1")), block("paragraph", inline("emoji", code="2"))),
    (block("paragraph", inline("emoji", code="1")), block("paragraph", inline("symbol", code="1"))),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "page", "page": "p"})),
        block("paragraph", inline("link", text("a"), ref={"kind": "page", "page": "q"})),
    ),
    (
        block("paragraph", inline("link", text("a"), ref={"kind": "wiki", "url": "u"})),
        block("paragraph", inline("link", text("a"), ref={"kind": "wiki", "url": "u", "page": "p"})),
    ),
    (rows("2", "1"), rows("1", "2")),
    (rows(10, 2), rows("1", "2")),
    (rows("1", 2), rows("1", "2")),
    (block("tabs", block("tab", title="a")), block("tabs", block("tab", title="b"))),
    (block("tabs", level=0), block("tabs")),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_equivalent_documents_are_equal(a: Json, b: Json) -> None:
    assert have_same_meaning({"nodes": [a]}, {"nodes": [b]})


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_non_equivalent_documents_differ(a: Json, b: Json) -> None:
    assert not have_same_meaning({"nodes": [a]}, {"nodes": [b]})


def nested(depth: int, value: Any, inside: type = list) -> Json:
    for _ in range(depth):
        value = [value] if inside is list else {"in": value}
    return block("tabs", more=value)


@pytest.mark.parametrize("inside", [list, dict])
def test_document_keys_are_ignored_to_limited_depth(inside: type) -> None:
    keyed, bare = {"key": "k", "a": 1}, {"a": 1}
    assert have_same_meaning({"nodes": [nested(98, keyed, inside)]}, {"nodes": [nested(98, bare, inside)]})
    assert not have_same_meaning(
        {"nodes": [nested(99, keyed, inside)]}, {"nodes": [nested(99, bare, inside)]}
    )
