"""What an edit writes, to the character: a value in its style, an entry more, and what a person writes."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.importing.edit_yaml import (
    TextEdit,
    UneditableError,
    ValueFromVariableError,
    YamlFile,
    apply_edits,
)
from dpsync.importing.write_yaml import BlockMapping
from dpsync.model.nodes import Span

from .test_edit import edited

EDITED: list[tuple[str, Any, str]] = [
    ("key: 1\n", "a", "key: a\n"),
    ('key: "a"\n', "b", 'key: "b"\n'),
    ("key: 'a'\n", "it's", "key: 'it''s'\n"),
    ("key: 'a'\n", 'x"y: z', 'key: "x\\"y: z"\n'),
    ('key: "a"\n', "5 $ a", 'key: "5 $ a"\n'),
    ("key: a  # why\n", "b", "key: b  # why\n"),
    ("key: a\n", None, "key: null\n"),
    ("key: a\n", True, "key: true\n"),
    ("key: 1\n", True, "key: true\n"),
    ("key: true\n", 1, "key: 1\n"),
    ("key: a\n", {"b": 1}, "key: { b: 1 }\n"),
    ("key: a\n", ["b"], "key: [b]\n"),
    ("key: a\n", "one\ntwo\n", 'key: "one\\ntwo\\n"\n'),
    ("key: a\n", "one\ntwo", 'key: "one\\ntwo"\n'),
    ("key: |\n  one\n  two\n", "one\nthree\n", "key: |\n  one\n  three\n"),
    ("key: |\n  one\n  two\n", "one\nthree", "key: |-\n  one\n  three\n"),
    ("key: |\n  one\n  two\n", "flat", "key: flat\n"),
    ("key: |\n  one\n  two\n", "a\n\nb\n", "key: |\n  a\n\n  b\n"),
    ("key: |\n  one\n  two\n", "a \nb\n", 'key: "a \\nb\\n"\n'),
    ("key: |\n  one\n  two\n", " a\nb\n", 'key: " a\\nb\\n"\n'),
    ("key: |\n  one\n  two\n", "a\nb\n\n", 'key: "a\\nb\\n\\n"\n'),
    ("key: |\n  one\n  two\n", "\na\n", 'key: "\\na\\n"\n'),
    ("key: |\n  one\n  two\n", "a ${b}\nc\n", 'key: "a $${b}\\nc\\n"\n'),
    ("key: |\n  one\n  two\n", 5, "key: 5\n"),
    ("key: >-\n  one\n  two\n", "x\ny", "key: |-\n  x\n  y\n"),
    ('key: "one\n  two"\n', "x\ny", "key: |-\n  x\n  y\n"),
    ("key:\n  a\n", "b", "key:\n  b\n"),
    ("key:\n  a\n", ["b"], "key:\n  [b]\n"),
    ("key: {a: 1}\n", [1], "key: [1]\n"),
    ('key: { a: 1, b: "x" }\n', {"a": 2, "b": "x"}, 'key: { a: 2, b: "x" }\n'),
    ('key: { a: 1, b: "x" }\n', {"b": "x"}, 'key: { b: "x" }\n'),
    ('key: { a: 1, b: "x" }\n', {"c": [1], "b": "y", "a": 1}, 'key: { a: 1, b: "y", c: [1] }\n'),
    ("key: {a: 1, b: 2}\n", {"a": 1, "c": {"d": 1}}, "key: {a: 1, c: { d: 1 }}\n"),
    ("key: { a: 1 }\n", {}, "key: {}\n"),
    ("key: { a: 1 }\n", [1], "key: [1]\n"),
    ("key: { a: 1 }\n", "x", "key: x\n"),
    (
        'key: { a: { x: 1, y: "2" }, b: 1 }\n',
        {"a": {"x": 1, "y": "3", "z": 4}},
        'key: { a: { x: 1, y: "3", z: 4 } }\n',
    ),
    ('key: [a, "b", c]\n', ["c", "b"], 'key: [c, "b"]\n'),
    ('key: [a, "b", c]\n', ["a", "d", "b"], 'key: [a, "d", b]\n'),
    ('key: [a, "b"]\n', ["x", "y"], 'key: [x, "y"]\n'),
    ("key: [a]\n", [], "key: []\n"),
    ("key: []\n", ["a"], "key: [a]\n"),
    ('key: [a, [1, "2"]]\n', ["a", [1, "3"]], 'key: [a, [1, "3"]]\n'),
    ("key:\n  a: 1  # one\n  b: 2\n", {"a": 3, "b": 2}, "key:\n  a: 3  # one\n  b: 2\n"),
    ("key:\n  a: 1  # one\n  b: 2\n", {"a": 1}, "key:\n  a: 1  # one\n"),
    ("key:\n  a: 1  # one\n  b: 2\n", {"a": 1, "b": 2, "c": 3}, "key:\n  a: 1  # one\n  b: 2\n  c: 3\n"),
    ("key:\n  a: 1\n  b: 2\n", {}, "key: {}\n"),
    ("key:\n  a: 1\n  b: 2\n", "x", "key: x\n"),
    ("key:\n  a: 1\n  b: 2\n", [1], "key: [1]\n"),
    (
        "key:\n    a:\n        x: 1\n    b: 2\n",
        {"a": {"x": 1, "y": 2}, "b": 2},
        "key:\n    a:\n        x: 1\n        y: 2\n    b: 2\n",
    ),
    (
        "key:\n    a:\n        x: 1\n    b: 2\n",
        {"a": {"x": 1}, "c": {"z": {"w": 1}}},
        "key:\n    a:\n        x: 1\n    c:\n        z:\n            w: 1\n",
    ),
    ("key:\n  - a\n  - b  # two\n", ["b"], "key:\n  - b  # two\n"),
    ("key:\n  - a\n  - b  # two\n", ["a", "c", "b"], "key:\n  - a\n  - c\n  - b  # two\n"),
    ("key:\n- a\n- b\n", ["a", "b", "c"], "key:\n- a\n- b\n- c\n"),
    ("key:\n  - a\n  - b\n", [], "key: []\n"),
    ("key:\n  - a: 1\n    b: 2\n  - c\n", [{"a": 1, "b": 3}, "c"], "key:\n  - a: 1\n    b: 3\n  - c\n"),
    (
        "key:\n  - a: 1\n    b: 2\n  - c\n",
        [{"a": 1, "b": 2, "d": 4}, "c"],
        "key:\n  - a: 1\n    b: 2\n    d: 4\n  - c\n",
    ),
    ("key:\n  a:\n  - 1\n  b: 2\n", {"a": [1, 2], "c": 3}, "key:\n  a:\n  - 1\n  - 2\n  c: 3\n"),
    ("key:\n  a:\n    - 1\n  b: 2\n", {"a": [1, 2], "c": 3}, "key:\n  a:\n    - 1\n    - 2\n  c: 3\n"),
    ("key:\n  -   a\n  -   b\n", ["a", "b", ["c"]], "key:\n  -   a\n  -   b\n  -   -   c\n"),
    ("x: &a [1]\nkey: *a\n", [1], "x: &a [1]\nkey: *a\n"),
    ("x: &a [1]\nkey: *a\n", [2], "x: &a [1]\nkey: [2]\n"),
    ("x: &a { b: 1 }\nkey: *a\n", "y", 'x: &a { b: 1 }\nkey: "y"\n'),
    ("key: &b 1\ny: *b\n", 2, "key: &b 2\ny: *b\n"),
    ("key: &b { c: 1 }\ny: *b\n", {"c": 2}, "key: &b { c: 2 }\ny: *b\n"),
    ("key: a$${b}\n", "y", 'key: "y"\n'),
    ("key: a\n", "x${y}", 'key: "x$${y}"\n'),
    ("key: a\n", "x$$y", "key: x$$$$y\n"),
    ("key: { a: true }\n", {"a": 1}, "key: { a: 1 }\n"),
    ("key:\n  a: true\n  b: 0\n", {"a": 1, "c": 0}, "key:\n  a: 1\n  c: 0\n"),
    ("key:\n  a: 1.0\n  b: 0\n", {"a": 1, "c": 0}, "key: { a: 1, c: 0 }\n"),
    ("key: a\n", "x\u200by", 'key: "x\\u200by"\n'),
    ("key:\n  a: b\n", {"a": "b", "c": "x\u200by\U000e0001"}, 'key:\n  a: b\n  c: "x\\u200by\\U000e0001"\n'),
    ("key: a\n", "\ufeff", 'key: "\\ufeff"\n'),
    ("key: {}\n", {"a": 1}, "key: {a: 1}\n"),
    ("key:\n", "a", "key: a\n"),
    ("key: # why\n", "a", "key: a # why\n"),
    ("key: &x\ny: *x\n", ["a"], "key: &x [a]\ny: *x\n"),
    ("key: { a: , b: 1 }\n", {"a": 1, "b": 1}, "key: { a: 1, b: 1 }\n"),
    ("key: [a, ]\n", ["b"], "key: [b, ]\n"),
    ("key:\n  -\n  - b\n", ["a", "b"], "key:\n  - a\n  - b\n"),
    ("key:\n  a:\n  b: 1\n", {"a": {"x": 1}, "b": 1}, "key:\n  a: { x: 1 }\n  b: 1\n"),
    ("key:\n", {"a": 1}, "key: { a: 1 }\n"),
    ("key:\n", [], "key: []\n"),
    ("key: ~\n", {"a": 1}, "key: { a: 1 }\n"),
    ("key:\r\n  a: 1\r\n  b: 2\r\n", {"a": 1, "b": 2, "c": 3}, "key:\r\n  a: 1\r\n  b: 2\r\n  c: 3\r\n"),
    ("key: |\r\n  a\r\n  b\r\n", "x\ny\n", "key: |\r\n  x\r\n  y\r\n"),
    ("key:\n  a:\n    b: 1\n", {"a": {"b": 1, "c": 2}}, "key:\n  a:\n    b: 1\n    c: 2\n"),
    ("key: { a: 1,\n  b: 2 }\n", {"a": 1, "b": 3}, "key: { a: 1,\n  b: 3 }\n"),
]

REFUSED: list[tuple[str, Any, type[UneditableError], str]] = [
    (
        "key: |\n  one\n  two\n",
        {"a": 1},
        UneditableError,
        "the value begins in the line of its key. Move the value to the next line",
    ),
    (
        "key: |\n  one\n  two\n",
        {},
        UneditableError,
        "the value begins in the line of its key. Move the value to the next line",
    ),
    ("key: ${A:-x}\n", "y", ValueFromVariableError, "the value in your file comes from a variable (${A:-x})"),
    (
        'key: { a: "${A:-x}", b: 1 }\n',
        {"a": "z", "b": 1},
        ValueFromVariableError,
        "the value in your file comes from a variable (${A:-x})",
    ),
    (
        "key: { a: 1,\n  b: 2 }\n",
        {"a": 1},
        UneditableError,
        "the value begins in the line of its key. Move the value to the next line",
    ),
    (
        "key: [a,\n  b]\n",
        ["a"],
        UneditableError,
        "the value begins in the line of its key. Move the value to the next line",
    ),
]


@pytest.mark.parametrize(("text", "value", "after"), EDITED)
def test_yaml_edit_keeps_style_of_previous_value(text: str, value: Any, after: str) -> None:
    assert edited(text, value) == after


@pytest.mark.parametrize(("text", "value", "kind", "why"), REFUSED)
def test_uneditable_yaml_is_refused_with_reason(
    text: str, value: Any, kind: type[UneditableError], why: str
) -> None:
    with pytest.raises(kind) as raised:
        edited(text, value)
    assert str(raised.value) == why
    assert type(raised.value) is kind


def place(document: YamlFile, name: str) -> Span:
    """Where the first key of this name stands."""
    waiting: list[Any] = [document.root]
    while waiting:
        for key, value in getattr(waiting.pop(0), "entries", ()):
            if key.text == name:
                found: Span = key.span
                return found
            waiting.append(value)
    raise AssertionError(name)


def test_yaml_edit_indents_block_text_below_its_key() -> None:
    text = "e:\n  a: 1\n  key: |\n    one\n    two\n"
    document = YamlFile(text, "a.yaml")
    edits = document.edits(*document.value_of(place(document, "key")), "x\ny\n")
    assert apply_edits(text, edits) == "e:\n  a: 1\n  key: |\n    x\n    y\n"


SHORT = "the entry has the short form KEY: VALUE. Write the entry as KEY: { FIELD: VALUE }, and try again"
ADDED = [
    ("e: { a: 1, b: 2 }\n", {"a"}, "e: { a: 1, new name: { x: 1 }, b: 2 }\n"),
    ("e: { a: 1, b: 2 }\n", {"a", "b"}, "e: { a: 1, b: 2, new name: { x: 1 } }\n"),
    ("e: { a: 1, b: 2 }\n", {"z"}, "e: { new name: { x: 1 }, a: 1, b: 2 }\n"),
    ("e:\n  a: 1  # why\n  b: 2\n", {"a"}, "e:\n  a: 1  # why\n  new name: { x: 1 }\n  b: 2\n"),
    ("e:\n  a: 1\n  b: 2", {"a", "b"}, "e:\n  a: 1\n  b: 2\n  new name: { x: 1 }"),
    ("e:\n  a: 1\n  b: 2", {"a", "b"}, "e:\n  a: 1\n  b: 2\n  new name: { x: 1 }"),
    ("e:\n  a: 1\n  b: 2\n", {"z"}, "e:\n  new name: { x: 1 }\n  a: 1\n  b: 2\n"),
    ("e:\n  a:\n    1\n  b: 2\n", {"a"}, "e:\n  new name: { x: 1 }\n  a:\n    1\n  b: 2\n"),
    ("e:\n  a: |\n    x\n  b: 2\n", {"a"}, "e:\n  new name: { x: 1 }\n  a: |\n    x\n  b: 2\n"),
    ("x: &v 1\ne:\n  a: *v\n  b: 2\n", {"a"}, "x: &v 1\ne:\n  new name: { x: 1 }\n  a: *v\n  b: 2\n"),
    ("e:\r\n  a: 1\r\n  b: 2\r\n", {"a"}, "e:\r\n  a: 1\r\n  new name: { x: 1 }\r\n  b: 2\r\n"),
    ("e:\n  a: [1]\n  b: 2\n", {"a", "b"}, "e:\n  a: [1]\n  b: 2\n  new name: { x: 1 }\n"),
    ("e:\n  a: [1]\n", {"a"}, "e:\n  new name: { x: 1 }\n  a: [1]\n"),
]


@pytest.mark.parametrize(("text", "fields", "after"), ADDED)
def test_yaml_edit_adds_field_after_last_inline_field(text: str, fields: set[str], after: str) -> None:
    document = YamlFile(text, "made.yaml")
    edits = document.add_field_edits(place(document, "e"), "new name", {"x": 1}, fields)
    assert apply_edits(text, edits) == after


BLOCKS = [
    ("e:\n  a: 1\n", "e:\n  a: 1\n  new name:\n    x: 1\n"),
    (
        "e:\n  a:\n    b: 1  # c\n    # d\n  # e\n",
        "e:\n  a:\n    b: 1  # c\n    # d\n  new name:\n    x: 1\n  # e\n",
    ),
    ("e:\n  a: 1\n  z: 1\n", "e:\n  a: 1\n  new name:\n    x: 1\n  z: 1\n"),
    ("e:\r\n  a: 1\r\nf: 1\r\n", "e:\r\n  a: 1\r\n  new name:\r\n    x: 1\r\nf: 1\r\n"),
    ("e:\n  a: |\n    x\nf: 1\n", "e:\n  a: |\n    x\n  new name:\n    x: 1\nf: 1\n"),
    ("x: &v 1\ne:\n  a: *v  # c\n", "x: &v 1\ne:\n  a: *v  # c\n  new name:\n    x: 1\n"),
    ("e:\n  a: [\n    1]", "e:\n  a: [\n    1]\n  new name:\n    x: 1"),
    ("e:\n  a:\n", "e:\n  a:\n  new name:\n    x: 1\n"),
    ("e: { a: 1 }\n", None),
    ("e: {}\n", None),
    ("e: text\n", None),
    ("e:\n  z: 1\n", None),
]


@pytest.mark.parametrize(("text", "after"), BLOCKS)
def test_yaml_edit_adds_block_after_last_key(text: str, after: str | None) -> None:
    document = YamlFile(text, "made.yaml")
    edits = document.add_block_edits(place(document, "e"), "new name", BlockMapping({"x": 1}), ("z",))
    assert (edits and apply_edits(text, edits)) == after


NOT_FOUND = "dpsync did not find the line of the value"


@pytest.mark.parametrize(
    ("text", "shorthand", "why"),
    [
        pytest.param("e: text\n", None, SHORT, id="no main field"),
        pytest.param("e: [a]\n", "a", SHORT, id="list"),
        pytest.param("e:\n", "a", SHORT, id="no value"),
        pytest.param("e:\n  text\n", "a", SHORT, id="value below its key"),
        pytest.param("x: &v text\ne: *v\n", "a", SHORT, id="alias"),
        pytest.param("x: e\n", "a", NOT_FOUND, id="no entry"),
    ],
)
def test_yaml_edit_refuses_field_for_entry_without_mapping(
    text: str, shorthand: str | None, why: str
) -> None:
    document = YamlFile(text, "made.yaml")
    entry = place(document, "e") if "e:" in text else Span("made.yaml", 9, 1, 9, 2)
    with pytest.raises(UneditableError) as raised:
        document.add_field_edits(entry, "new", 1, {"a"}, shorthand)
    assert str(raised.value) == why


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("e: text  # why\n", "e: { a: text, new: 1 }  # why\n"),
        ("m: {e: 'text', f: 2}\n", "m: {e: { a: 'text', new: 1 }, f: 2}\n"),
        ("e: {}\n", "e: { new: 1 }\n"),
        ("e: { }  # none\n", "e: { new: 1 }  # none\n"),
    ],
    ids=["plain", "inside braces", "empty", "empty with comment"],
)
def test_yaml_edit_expands_short_form_for_new_field(text: str, after: str) -> None:
    document = YamlFile(text, "made.yaml")
    assert apply_edits(text, document.add_field_edits(place(document, "e"), "new", 1, {"a"}, "a")) == after


def test_yaml_edit_combines_short_form_with_new_field() -> None:
    document = YamlFile("e: text\n", "made.yaml")
    entry = place(document, "e")
    edits = document.add_field_edits(entry, "new", 1, {"a"}, "a")
    for order in (1, -1):
        both = [*document.edits(*document.value_of(entry), "other"), *edits][::order]
        assert apply_edits(document.text, both) == "e: { a: other, new: 1 }\n"


def test_yaml_edit_adds_field_to_list_item() -> None:
    text = "l:\n  - type: link\n    key: k\n    a: 1\n"
    document = YamlFile(text, "made.yaml")
    (item,) = document.root.get("l").items  # type: ignore[union-attr]
    edits = document.add_field_edits(item.get("key").span, "b", 2, {"a"})
    assert apply_edits(text, edits) == text + "    b: 2\n"


AFTER = [
    ("m: { e: 1, f }\n", "m: { e: 1, f , new name: [1]}\n"),
    ("m:\n  e: 1\n  f:\n", "m:\n  e: 1\n  f:\n  new name: [1]\n"),
    ("m: {e: 1, f: }\n", "m: {e: 1, f: , new name: [1]}\n"),
    ("e: { a: 1 }\n", "e: { a: 1 }\nnew name: [1]\n"),
    ("e: 1\nf: 2\n", "e: 1\nf: 2\nnew name: [1]\n"),
    ("e: 1\nf:\n  x: 1\n", "e: 1\nf:\n  x: 1\nnew name: [1]\n"),
    ("e: 1\nf:\n  x: 1", "e: 1\nf:\n  x: 1\nnew name: [1]"),
    ("e: 1  # c\n", "e: 1  # c\nnew name: [1]\n"),
    ("m: { f: 1, e: 2 }\n", "m: { f: 1, e: 2, new name: [1] }\n"),
    ("m:\n  e: 1\n  f: 2  # c\nn: 1\n", "m:\n  e: 1\n  f: 2  # c\n  new name: [1]\nn: 1\n"),
    ("e: |\n  a\n\nn: 1\n", "e: |\n  a\n\nn: 1\nnew name: [1]\n"),
    ("m:\r\n  e: 1\r\nn: 1\r\n", "m:\r\n  e: 1\r\n  new name: [1]\r\nn: 1\r\n"),
    ("m:\n  e: [1,\n   2]\nn: 1\n", "m:\n  e: [1,\n   2]\n  new name: [1]\nn: 1\n"),
]


@pytest.mark.parametrize(("text", "after"), AFTER)
def test_yaml_edit_adds_entry_after_last_sibling(text: str, after: str) -> None:
    document = YamlFile(text, "made.yaml")
    assert apply_edits(text, [document.add_sibling_edit(place(document, "e"), "new name", [1])]) == after


@pytest.mark.parametrize(
    "text", ["e: &a 1\nf: *a\n", "m: { e: &a 1, f: *a }\n", "m: &x { a: 1 }\nn:\n  e: *x\n"]
)
def test_yaml_edit_refuses_to_append_after_alias(text: str) -> None:
    document = YamlFile(text, "made.yaml")
    with pytest.raises(UneditableError, match="the last entry of the list is a YAML alias"):
        document.add_sibling_edit(place(document, "e"), "new", 1)


def test_yaml_edit_refuses_position_outside_file() -> None:
    document, elsewhere = YamlFile("e: 1\n", "made.yaml"), Span("made.yaml", 7, 1, 7, 2)
    with pytest.raises(UneditableError, match="dpsync did not find the other entries of the list"):
        document.add_sibling_edit(elsewhere, "new", 1)
    with pytest.raises(UneditableError, match="dpsync did not find the line of the value"):
        document.value_of(elsewhere)


def test_yaml_edit_refuses_invalid_file() -> None:
    with pytest.raises(UneditableError, match="dpsync cannot read the file"):
        YamlFile("a: [\n", "made.yaml")


def test_text_edits_are_applied_backwards_without_overlap() -> None:
    assert apply_edits("abcd", [TextEdit(0, 1, "xyz"), TextEdit(3, 4, ""), TextEdit(1, 3, "-")]) == "xyz-"
    with pytest.raises(UneditableError, match="two changes would edit the same text"):
        apply_edits("abcd", [TextEdit(0, 3, ""), TextEdit(2, 4, "")])
