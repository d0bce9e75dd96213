"""Which Documents say the same, and which do not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from dpsync.document import normalised, same, to_document
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
    """A document with a paragraph that has this data."""
    document = to_document("a")
    document["nodes"][0]["data"] = data
    return document


def test_what_the_platform_makes_of_a_document_says_the_same() -> None:
    document = to_document(EVERYTHING)
    stored = stored_document(deepcopy(document))
    assert stored != document
    assert same(stored, document)


@pytest.mark.parametrize("data", [{}, {"align": None}, {"align": "start"}, {"unknown": 1}])
def test_members_that_say_nothing_change_nothing(data: Json) -> None:
    assert same(changed(**data), to_document("a"))


def test_members_that_say_something_do() -> None:
    assert not same(changed(align="end"), to_document("a"))


def test_a_document_without_anything_is_an_empty_one() -> None:
    assert normalised({}) == normalised(to_document("")) == []
    empty = to_document("- a")
    empty["nodes"][0]["nodes"] = []
    assert same(empty, {})


def test_ids_and_fragments_of_a_table_do_not_matter_but_the_order_does() -> None:
    table = to_document("|a|\n|-|\n|1|\n|2|")["nodes"][0]
    other = deepcopy(table)
    first, second = other["data"]["records"].values()
    other["data"]["records"] = {"z": {**second, "orderIndex": "b"}, "y": {**first, "orderIndex": "a"}}
    other["fragments"].reverse()
    assert same({"nodes": [table]}, {"nodes": [other]})
    other["data"]["records"]["z"]["orderIndex"] = "A"
    assert not same({"nodes": [table]}, {"nodes": [other]})


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
def test_what_a_reader_would_see_does_matter(a: str, b: str) -> None:
    assert not same(to_document(a), to_document(b))


HINT = {"object": "block", "type": "hint", "key": "k1", "data": {"style": "info", "icon": None}, "nodes": []}


def test_outside_the_core_all_but_keys_and_empty_members_counts() -> None:
    hint: Json = {"nodes": [HINT]}
    assert same(hint, {"nodes": [{"object": "block", "type": "hint", "data": {"style": "info"}}]})
    assert not same(hint, {"nodes": [{**HINT, "data": {"style": "danger"}}]})
    assert not same(hint, {})
