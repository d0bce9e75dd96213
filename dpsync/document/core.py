"""What Markdown and Documents have in common: which blocks, where they may stand, what may be set on them.

`outside` finds every node of a Document that is not part of it. The reader of Markdown and the comparison
use the same tables, so that the three cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dpsync.document.problems import Outside
from dpsync.document.shape import misshapen
from dpsync.document.table import plain_table

Json = dict[str, Any]

DEEPEST = 40
"""How many lists, items and quotes may stand inside each other."""

HEADINGS = ("heading-1", "heading-2", "heading-3")
LISTS = ("list-ordered", "list-unordered", "list-tasks")
ESSENTIALS = frozenset({"paragraph", *HEADINGS, *LISTS, "divider"})
CHILDREN: Mapping[str, frozenset[str]] = {
    "document": ESSENTIALS | {"blockquote", "code", "images", "table"},
    "blockquote": ESSENTIALS | {"blockquote"},
    "list-item": ESSENTIALS | {"blockquote", "code", "table"},
    "cell": frozenset({"paragraph"}),
    **dict.fromkeys(LISTS, frozenset({"list-item"})),
}
MARKS = ("bold", "italic", "strikethrough", "code")

DEFAULTS: Mapping[str, Json] = {
    "paragraph": {"align": "start"},
    **{heading: {"align": "start"} for heading in HEADINGS},
    "list-ordered": {"start": 1},
    "list-item": {"checked": False},
    "code": {
        "syntax": "", "title": "", "overflow": "scroll", "lineNumbers": False, "fullWidth": False,
        "expandable": False,
    },
    "code-line": {"highlighted": False},
    "images": {"align": "center", "fullWidth": False, "withFrame": False},
    "image": {"ref": None, "refDark": None, "width": None, "height": None, "alt": ""},
    "inline-image": {"ref": None, "refDark": None, "caption": "", "alt": "", "size": "original"},
    "link": {"ref": None},
    **{kind: {} for kind in ("list-unordered", "list-tasks", "blockquote", "divider", "table")},
}  # fmt: skip
"""What says something about a node, with the value that is as good as none. Whatever else stands in `data`
(the anchor of a heading, members that are not known) is the platform's own."""

WRITTEN: Mapping[str, frozenset[str]] = {
    "list-ordered": frozenset({"start"}),
    "list-item": frozenset({"checked"}),
    "code": frozenset({"syntax"}),
    "image": frozenset({"ref", "alt"}),
    "inline-image": frozenset({"ref", "alt", "caption"}),
    "link": frozenset({"ref"}),
}
"""Which of them Markdown can say."""

_BEYOND = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef" + _BEYOND + "]")
"""Control characters and what is no character: Markdown has no way to write them."""
_UNWRITABLE_CODE = re.compile(f"\r|{UNWRITABLE.pattern}")


def meaning(node: Json, default: Mapping[str, Json] = DEFAULTS) -> Json:
    """The members of a node's data that say something."""
    data = node.get("data") or {}
    known = default.get(str(node.get("type")), {})
    return {name: data[name] for name in sorted(known) if data.get(name) not in (None, "", known[name])}


def outside(document: Json) -> Iterator[Outside]:
    """Every node of the document that Markdown cannot hold; of a misshapen one what is not built right."""
    wrong = list(misshapen(document, DEFAULTS))
    yield from wrong
    if wrong:
        return
    yield from _blocks(document.get("nodes") or [], "document", "")


def _blocks(nodes: list[Any], parent: str, path: str, depth: int = 0) -> Iterator[Outside]:
    for index, node in enumerate(nodes):
        yield from _block(node, parent, f"{path}nodes[{index}]", depth)


def _block(node: Any, parent: str, path: str, depth: int) -> Iterator[Outside]:
    kind = _type(node)
    if kind not in CHILDREN[parent]:
        known = kind in CHILDREN["document"] or kind == "list-item"
        yield Outside(
            path,
            kind,
            f"cannot be inside a {parent} in Markdown" if known else "cannot be written as Markdown",
        )
        return
    if depth > DEEPEST:
        yield Outside(path, kind, f"is nested more than {DEEPEST} levels deep")
        return
    yield from _members(node, kind, path)
    children = node.get("nodes") or []
    if kind in CHILDREN:
        yield from _listed(node, kind, path)
        yield from _blocks(children, kind, f"{path}.", depth + 1)
    elif kind == "code":
        yield from _code(node, path)
    elif kind == "images":
        yield from _images(children, path)
    elif kind == "table":
        yield from _table(node, path)
    elif kind != "divider":
        yield from _inlines(children, path, within_link=False)


def _type(node: Json) -> str:
    return str(node.get("type") or node.get("object"))


def _members(node: Json, kind: str, path: str) -> Iterator[Outside]:
    for name, value in meaning(node).items():
        if name not in WRITTEN.get(kind, ()):
            yield Outside(path, kind, f"has the setting `{name}`, which Markdown cannot express")
        elif isinstance(value, str) and UNWRITABLE.search(value):
            yield Outside(path, kind, f"has a character in `{name}` that Markdown cannot write")


def _listed(node: Json, kind: str, path: str) -> Iterator[Outside]:
    start = meaning(node).get("start")
    if start is not None and not 0 <= start <= 999_999_999:
        yield Outside(path, kind, "has a `start` that is not a number from 0 to 999999999")
    if kind in LISTS and kind != "list-tasks":
        for index, item in enumerate(node.get("nodes") or []):
            if "checked" in meaning(item):
                yield Outside(
                    f"{path}.nodes[{index}]",
                    "list-item",
                    f"is a checked task in a {kind}, but only a list of the type list-tasks can have tasks",
                )


def _code(node: Json, path: str) -> Iterator[Outside]:
    for index, line in enumerate(node.get("nodes") or []):
        at = f"{path}.nodes[{index}]"
        kind = _type(line)
        if kind != "code-line":
            yield Outside(at, kind, "is not a line of code")
            continue
        yield from _members(line, kind, at)
        for child in line.get("nodes") or []:
            if _type(child) != "text" or any(leaf.get("marks") for leaf in child.get("leaves") or []):
                yield Outside(at, kind, "contains more than plain text")
            elif any(_UNWRITABLE_CODE.search(leaf.get("text") or "") for leaf in child.get("leaves") or []):
                yield Outside(at, kind, "contains a character that Markdown cannot write")


def _images(children: list[Any], path: str) -> Iterator[Outside]:
    if not children:
        yield Outside(path, "images", "contains no image")
    for index, image in enumerate(children):
        at = f"{path}.nodes[{index}]"
        if _type(image) != "image":
            yield Outside(at, _type(image), "is not an image")
            continue
        yield from _members(image, "image", at)
        yield from _reference(image, at)
        for fragment in image.get("fragments") or []:
            if fragment.get("type") == "caption" and _caption(fragment) is None:
                yield Outside(at, "image", "has a caption that is not one paragraph of plain text")
            elif UNWRITABLE.search(_caption(fragment) or ""):
                yield Outside(at, "image", "has a caption with a character that Markdown cannot write")


def _caption(fragment: Json) -> str | None:
    """The text of a caption, or None when it is more than plain text in one paragraph."""
    paragraphs = fragment.get("nodes") or []
    texts = [text for paragraph in paragraphs for text in paragraph.get("nodes") or []]
    if len(paragraphs) > 1 or any(_type(one) != "paragraph" or meaning(one) for one in paragraphs):
        return None
    if any(_type(text) != "text" for text in texts):
        return None
    leaves = [leaf for text in texts for leaf in text.get("leaves") or []]
    return (
        None
        if any(leaf.get("marks") for leaf in leaves)
        else "".join(leaf.get("text") or "" for leaf in leaves)
    )


def _table(node: Json, path: str) -> Iterator[Outside]:
    table = plain_table(node)
    if table is None:
        yield Outside(path, "table", "is not a plain table of text columns with a header row")
        return
    if any(UNWRITABLE.search(column.title) for column in table.columns):
        yield Outside(path, "table", "has a column title with a character that Markdown cannot write")
    fragments: list[Any] = node.get("fragments") or []
    used = {id(cell) for row in table.rows for cell in row}
    for index, fragment in enumerate(fragments):
        if id(fragment) not in used:
            continue
        at = f"{path}.fragments[{index}]"
        filled = [one for one in fragment.get("nodes") or [] if one.get("nodes")]
        if len(filled) > 1:
            yield Outside(at, "table", "has a cell with more than one paragraph")
        yield from _blocks(fragment.get("nodes") or [], "cell", f"{at}.")


def _inlines(nodes: list[Any], path: str, *, within_link: bool) -> Iterator[Outside]:
    for index, node in enumerate(nodes):
        at, kind = f"{path}.nodes[{index}]", _type(node)
        if kind == "text":
            yield from _leaves(node, at)
        elif kind == "inline-image" or (kind == "link" and not within_link):
            yield from _members(node, kind, at)
            yield from _reference(node, at)
            yield from _inlines(node.get("nodes") or [], at, within_link=True)
        else:
            yield Outside(at, kind, "cannot be written as Markdown at this position")


def _leaves(text: Json, path: str) -> Iterator[Outside]:
    for leaf in text.get("leaves") or []:
        marks = {str(mark.get("type")) for mark in leaf.get("marks") or [] if not plain_colour(mark)}
        for mark in sorted(marks - set(MARKS)):
            yield Outside(path, mark, "is formatting that Markdown cannot express")
        content = leaf.get("text") or ""
        if UNWRITABLE.search(content) or ("code" in marks and re.search("[\r\n]", content)):
            yield Outside(path, "text", "contains a character that Markdown cannot write")


def plain_colour(mark: Json) -> bool:
    """Whether a mark is the colour of all text, and so none."""
    return mark.get("type") == "color" and {"default", None}.issuperset((mark.get("data") or {}).values())


def _reference(node: Json, path: str) -> Iterator[Outside]:
    ref = (node.get("data") or {}).get("ref")
    if not isinstance(ref, dict) or ref.get("kind") != "url" or not isinstance(ref.get("url"), str):
        yield Outside(path, _type(node), "points to a GitBook object, not to a URL")
    elif UNWRITABLE.search(ref["url"]):
        yield Outside(path, _type(node), "has a URL with a character that Markdown cannot write")
