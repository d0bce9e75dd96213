"""Documents of the whole common core, as the platform may hold them: cut up, with keys, with empty parts."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from dpsync.document.nodes import MARKS, UNWRITABLE

Json = dict[str, Any]

HARD = (
    r"""*_~`[]()<>!\#+-=|&;:.'"{}^$@/0123456789 abcXYZ""" + "\t\n é漢🙂\u00a0\u200b\u2028\u2029\ufeff\r\x0c"
)
WORDS = (
    "1. ", "23) ", "1.", "- ", "+ ", "# ", "#", "> ", "---", "***", "===", "```", "~~~", "  ", " ", "![",
    "](x)", "[x] ", "[ ] ", "&amp;", "&#35;", "<b>", "<!-- ", "http://a.b", "<http://a.b>", "\\", "\\|", "|",
    "| - |", "**", "__", "_", "~~", "`", "``", "!", "snake_case", "word", "two words", "[a]: b", "^", ":-:",
    "a.", "é", "漢字",
)  # fmt: skip

characters = st.one_of(st.sampled_from(HARD), st.characters(codec="utf-8"))
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=5).map("".join), st.text(characters, max_size=8)
).filter(lambda text: not UNWRITABLE.search(text))
lines = texts.filter(lambda text: "\n" not in text and "\r" not in text)
urls = st.one_of(
    st.sampled_from(
        ["https://a.b/c?d=1&e=2#f", "", "a b", "<", "a)b(", "x&amp;y", "page.md", "javascript:x"]
    ),
    texts,
)
keys = st.one_of(st.just({}), st.builds(lambda key: {"key": key}, st.text(max_size=3)))


def data(**members: Any) -> st.SearchStrategy[Json]:
    """Generate objects with some of the members, and sometimes with an unknown member."""
    known = st.fixed_dictionaries({}, optional=members)
    return st.one_of(known, known.map(lambda told: {**told, "madeByThePlatform": 1}))


@st.composite
def texts_with_marks(draw: st.DrawFn) -> Json:
    leaves = []
    for _ in range(draw(st.integers(1, 4))):
        marks = draw(st.lists(st.sampled_from(MARKS), unique=True, max_size=3))
        text = draw(lines if "code" in marks else texts)
        leaves.append(
            {"object": "leaf", "text": text, "marks": [{"object": "mark", "type": m} for m in marks]}
        )
    return {"object": "text", "leaves": leaves, **draw(keys)}


def reference(members: Json) -> Json:
    return {**members, "ref": {"kind": "url", "url": members.pop("url")}}


inline_images = st.builds(
    lambda url, told: {
        "object": "inline", "type": "inline-image", "isVoid": True, "data": reference({**told, "url": url})
    },
    urls, data(alt=texts, caption=texts),
)  # fmt: skip
links = st.builds(
    lambda url, nodes: {"object": "inline", "type": "link", "data": reference({"url": url}), "nodes": nodes},
    urls,
    st.lists(texts_with_marks() | inline_images, max_size=3),
)
content = st.lists(st.one_of(texts_with_marks(), texts_with_marks(), links, inline_images), max_size=4)


def block(kind: str, **members: Any) -> st.SearchStrategy[Json]:
    fixed = {
        name: given if isinstance(given, st.SearchStrategy) else st.just(given)
        for name, given in members.items()
    }
    return st.builds(
        lambda key, told: {"object": "block", "type": kind, **key, **told}, keys, st.fixed_dictionaries(fixed)
    )


paragraphs = block("paragraph", nodes=content, data=data(align=st.just("start")))
headings = st.one_of(
    *(block(f"heading-{level}", nodes=content, data=data(id=st.just("x"))) for level in (1, 2, 3))
)
dividers = block("divider", data={}, isVoid=True)


def code_line(text: str) -> Json:
    return {
        "object": "block", "type": "code-line", "data": {},
        "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": text, "marks": []}]}],
    }  # fmt: skip


codes = block(
    "code",
    data=data(syntax=st.sampled_from(["", "js", "c++", "a b", "`", "&amp;", "\\*", "x\ty"])),
    nodes=st.lists((lines | st.just("") | st.just("  \tx")).map(code_line), max_size=4),
)


def image(url: str, told: Json, caption: str) -> Json:
    text = {"object": "text", "leaves": [{"object": "leaf", "text": caption, "marks": []}]}
    nodes = [{"object": "block", "type": "paragraph", "data": {}, "nodes": [text]}]
    fragment = {"object": "fragment", "type": "caption", "nodes": nodes}
    told = reference({**told, "url": url})
    return {"object": "block", "type": "image", "isVoid": True, "data": told, "fragments": [fragment]}


images = block(
    "images",
    data=data(align=st.just("center")),
    nodes=st.lists(st.builds(image, urls, data(alt=texts), texts), min_size=1, max_size=3),
)


@st.composite
def tables(draw: st.DrawFn) -> Json:
    """With whatever ids and order: numbers as well as texts, cells that are not there."""
    names = draw(st.lists(st.text("abcd", min_size=1, max_size=2), unique=True, min_size=1, max_size=3))
    definition = {
        name: {
            "id": name, "type": "text", "title": draw(texts),
            "textAlignment": draw(st.sampled_from(["left", "center", "right"])),
        }
        for name in names
    }  # fmt: skip
    indexes = draw(st.lists(st.integers(0, 30), unique=True, max_size=3))
    records, fragments = {}, []
    for index in indexes:
        values = {}
        for name in names:
            if draw(st.integers(0, 4)):
                values[name] = f"{index}/{name}"
                nodes = draw(st.lists(paragraphs, min_size=1, max_size=1))
                fragments.append({"object": "fragment", "fragment": values[name], "nodes": nodes})
        records[f"r{index}"] = {"orderIndex": index, "values": values}
    view = {"type": "grid", "columns": names, "hideHeader": False}
    told = {"view": view, "records": records, "definition": definition}
    return {"object": "block", "type": "table", "isVoid": True, "data": told, "fragments": fragments}


def listed(children: st.SearchStrategy[Json], anywhere: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Generate lists of each type, whose items contain `children` and `anywhere` blocks."""

    def items(told: st.SearchStrategy[Json]) -> st.SearchStrategy[list[Json]]:
        inside = st.lists(children | anywhere, max_size=3)
        return st.lists(block("list-item", data=told, nodes=inside), min_size=1, max_size=3)

    return st.one_of(
        block("list-unordered", nodes=items(data())),
        block(
            "list-ordered",
            nodes=items(data()),
            data=data(start=st.sampled_from([0, 1, 2, 7, 99, 999_999_999])),
        ),
        block("list-tasks", nodes=items(data(checked=st.booleans()))),
    )


essentials = paragraphs | headings | dividers
nested = st.recursive(
    essentials,
    lambda inner: block("blockquote", nodes=st.lists(inner, max_size=3)) | listed(inner, codes | tables()),
    max_leaves=8,
)
documents = st.builds(
    lambda nodes, told: {"object": "document", "data": told, "nodes": nodes},
    st.lists(st.one_of(essentials, nested, nested, codes, images, tables()), max_size=4),
    data(schemaVersion=st.integers(1, 9)),
)

LEADS = ("", "- ", "  ", "> ", "    ", "1. ")
STARTS = (
    "", "", "    ", "\t", "- ", "* ", "  - ", "1. ", "1) ", "> ", "# ", "| a | b |", "|---|:-:|", "```",
    "~~~", "[a]: b", "- [ ] x", "- [x] ", "![a](b)", '![a](b "c")', "***", "<div>",
)  # fmt: skip
markdown_lines = st.lists(
    st.one_of(
        st.sampled_from(STARTS),
        st.lists(st.sampled_from(WORDS), max_size=6).map("".join),
        st.text(HARD, max_size=10),
    ).flatmap(lambda line: st.sampled_from(LEADS).map(lambda lead: lead + line)),
    max_size=8,
).map("\n".join)


def code_that_no_file_may_hold(node: Any, in_code: bool = False) -> bool:
    """Whether code holds a character that no file may hold, and that a reference stands for elsewhere."""
    if isinstance(node, list):
        return any(code_that_no_file_may_hold(one, in_code) for one in node)
    if not isinstance(node, dict):
        return False
    in_code |= node.get("type") == "code-line" or any(
        mark["type"] == "code" for mark in node.get("marks", ())
    )
    said = str(node.get("text", "")) if in_code else ""
    return bool(re.search("[\f\u2028\u2029\ufeff]", said)) or code_that_no_file_may_hold(
        list(node.values()), in_code
    )
