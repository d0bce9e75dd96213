"""What is written as YAML is read as the same values, whatever they are, and looks as people write it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpsync.config.variables import Substitution
from dpsync.config.yaml_reader import FORBIDDEN_IN_VALUE, read
from dpsync.importing.layout import NewFiles
from dpsync.importing.values import json_text
from dpsync.importing.write_yaml import BlockMapping, inline_or_none, yaml_document, yaml_scalar
from dpsync.kinds.registry import build_registry
from dpsync.model.nodes import node_value

HARD = st.text(st.sampled_from("ab01 -:#,[]{}&*!|>'\"%@`?=~$.\n\t\\/éß日\u2028😀_()+;"), max_size=12)
TEXTS = (st.text(max_size=20) | HARD).filter(lambda text: not FORBIDDEN_IN_VALUE.search(text))
SCALARS = TEXTS | st.booleans() | st.none() | st.integers(-(10**9), 10**9)
WIDE = "k" * 98
"""A key beside which no value fits into a line of the usual width."""
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS.filter(bool), inner, max_size=4),
    max_leaves=20,
)


def read_back(text: str) -> Any:
    node, problems = read(text, "made.yaml")
    assert problems == [], text
    assert node is not None
    substitution = Substitution({}, text)
    value = node_value(substitution.substitute(node))
    assert substitution.diagnostics == [], text
    return value


@given(st.dictionaries(TEXTS.filter(bool), VALUES, max_size=5))
@example({WIDE: {}, f"{WIDE}-": [], "a": {f"{WIDE}.": {}, "b": [{f"{WIDE}+": BlockMapping()}]}})
@example({"a": [{"b": 1}, "one\ntwo", "three"]})
def test_emitted_yaml_survives_reading(value: dict[str, Any]) -> None:
    assert read_back(yaml_document(BlockMapping(value), "# head")) == value if value else True


@given(VALUES)
def test_emitted_json_survives_parsing(value: Any) -> None:
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("Technical writers", "k: Technical writers"),
        ("yes", 'k: "yes"'),
        ("1", 'k: "1"'),
        ("null", 'k: "null"'),
        ("https://acme.example/a?b=c", "k: https://acme.example/a?b=c"),
        ("ada@acme.example", "k: ada@acme.example"),
        ("Ask: now", 'k: "Ask: now"'),
        ("#346DDB", 'k: "#346DDB"'),
        ("${HOME}", 'k: "$${HOME}"'),
        ("5 $ a month", "k: 5 $ a month"),
        ({"a": 1, "b": ["x", "z"]}, "k: { a: 1, b: [x, z] }"),
        ([], "k: []"),
        ({}, "k: {}"),
        ("one\ntwo\n", "k: |\n  one\n  two"),
        ([{"type": "space", "key": "en"}], "k:\n  - { type: space, key: en }"),
    ],
)
def test_emitted_yaml_uses_plain_style(value: Any, line: str) -> None:
    assert yaml_document(BlockMapping({"k": value}), "# head") == f"# head\n{line}\n"


QUOTED = """yes No y N on OFF true 1.5 0x1 ~ null a#b # - -a --- ... ...a a"b a: $ $$ *a &a !a %a @a `a [a]
    {a} a,b a|b a>b ? = \u200b a\u200bb"""
PLAIN = """a 1_000 2024-01-01 a:b a-b a'b é 日本 a$b (a) +a /a a? .a _a 1a a.b a=b a;b a/b a@b"""


IN_SPACE = ["", " a", "a ", "a #b", "a: b", "- a", "? a", "a\tb", "a\xa0b", "9" * 70]


@pytest.mark.parametrize("text", [*QUOTED.split(), *IN_SPACE])
def test_ambiguous_text_is_quoted_in_yaml(text: str) -> None:
    assert yaml_scalar(text, key=True).startswith('"')
    assert json.loads(yaml_scalar(text, key=True)) == text


@pytest.mark.parametrize("text", PLAIN.split())
def test_unambiguous_text_stays_unquoted_in_yaml(text: str) -> None:
    assert yaml_scalar(text) == yaml_scalar(text, key=True) == text


@pytest.mark.parametrize(
    ("value", "written", "as_a_key"),
    [
        (None, "null", "null"),
        (True, "true", "true"),
        (False, "false", "false"),
        (-1.5, "-1.5", "-1.5"),
        ("${a}", '"$${a}"', '"$${a}"'),
        ("$$", '"$$$$"', '"$$"'),
        ("\uffff", '"\\uffff"', '"\\uffff"'),
        ("\U00010000\U000e0001", '"\U00010000\\U000e0001"', '"\U00010000\\U000e0001"'),
    ],
)
def test_yaml_scalar_is_written_as_value_or_key(value: Any, written: str, as_a_key: str) -> None:
    assert (yaml_scalar(value), yaml_scalar(value, key=True)) == (written, as_a_key)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({}, "{}"),
        ([], "[]"),
        (BlockMapping({}), "{}"),
        (BlockMapping({"a": 1}), None),
        (BlockMapping({}, ["c"]), None),
        ({"a": 1}, "{ a: 1 }"),
        ({"a": {"b": 1}}, "{ a: { b: 1 } }"),
        ({"a": {"b": [1]}}, None),
        ({"a": {"b": {"c": 1}}}, None),
        ({"a": [1, 2]}, "{ a: [1, 2] }"),
        ({"a": [[1]]}, None),
        ({"a": BlockMapping({})}, "{ a: {} }"),
        ({"a": BlockMapping({"b": 1})}, None),
        ([1, "a b"], "[1, a b]"),
        ([{}], None),
        ([[]], None),
        ("a\nb", None),
        ("a\n", None),
        (" a\nb", '" a\\nb"'),
        ("\na", '"\\na"'),
        ("a \nb", '"a \\nb"'),
        ("a\nb\n\n", '"a\\nb\\n\\n"'),
        ("a\nb\n", None),
        ("a\n${b}", '"a\\n$${b}"'),
        ("a\n$$", '"a\\n$$$$"'),
        ("a\n$b", None),
        ("a\n\u200b", '"a\\n\\u200b"'),
        ("\n\n", '"\\n\\n"'),
    ],
)
def test_short_yaml_values_are_written_inline(value: Any, line: str | None) -> None:
    assert inline_or_none(value) == line


LINE = "w" * 95
"""In a list of it, the longest that fits beside a key of one letter: 100 characters are too many."""


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"k": "a\nb"}, "k: |-\n  a\n  b\n"),
        ({"k": "a\nb\n"}, "k: |\n  a\n  b\n"),
        ({"k": "a\n\nb"}, "k: |-\n  a\n\n  b\n"),
        ({"k": ["a\nb"]}, 'k: ["a\\nb"]\n'),
        ({"k": [{"a": [1], "b": {"c": {"d": 1}}}, 2]}, "k:\n  - a: [1]\n    b: { c: { d: 1 } }\n  - 2\n"),
        ({"k": [[1, [2]], 3]}, "k:\n  - - 1\n    - [2]\n  - 3\n"),
        ({"k": f"{LINE} {LINE}"}, f"k: {LINE} {LINE}\n"),
        (
            {"k": BlockMapping({"a": 1}, ["one", "two\nlines  here", "hid\u200bden"])},
            "k:\n  # one\n  # two lines here\n  # hid\\u200bden\n  a: 1\n",
        ),
        ({"k": BlockMapping({"a": BlockMapping({}, ["none yet"])})}, "k:\n  a:\n    # none yet\n"),
        ({"a b": 1, "${x}": 2, "1": 3}, 'a b: 1\n"$${x}": 2\n"1": 3\n'),
        ({"k": {"l": {"m": [1]}}}, "k:\n  l: { m: [1] }\n"),
        ({"k": [{"a": 1}, {"b": {"c": 1}}]}, "k:\n  - { a: 1 }\n  - { b: { c: 1 } }\n"),
        ({"k": [[]]}, "k:\n  - []\n"),
        ({"k": [{}]}, "k:\n  - {}\n"),
        ({"k": {"a": "x\ny"}}, "k:\n  a: |-\n    x\n    y\n"),
        ({"k": [LINE]}, f"k: [{LINE}]\n"),
        ({"k": [f"{LINE}w"]}, f"k:\n  - {LINE}w\n"),
        ({"k": {"a": LINE[:-5]}}, f"k: {{ a: {LINE[:-5]} }}\n"),
        ({"k": {"a": LINE[:-4]}}, f"k:\n  a: {LINE[:-4]}\n"),
        ({"k": [{"a": LINE[:-7]}]}, f"k:\n  - {{ a: {LINE[:-7]} }}\n"),
        ({"k": [{"a": LINE[:-6]}]}, f"k:\n  - a: {LINE[:-6]}\n"),
    ],
)
def test_long_yaml_values_are_written_as_blocks(value: Any, lines: str) -> None:
    assert yaml_document(BlockMapping(value), "# head") == f"# head\n{lines}"


def test_import_file_names_are_unique_ignoring_case() -> None:
    folder = NewFiles(build_registry())
    for stem in ("acme/Guides", "acme/guides", "acme/guides"):
        folder.add(folder.unused_path(stem, ".md"), "")
    assert [path for path in folder.contents if path.endswith(".md")] == [
        "acme/Guides.md", "acme/guides-2.md", "acme/guides-3.md",
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "line"), [("dpsync.yaml", "./"), ("acme/teams.yaml", "../")])
def test_imported_files_reference_schema_by_relative_path(path: str, line: str) -> None:
    folder = NewFiles(build_registry())
    folder.add_yaml(path, BlockMapping({"a": 1}))
    first = folder.contents[path].decode().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={line}schemas/dpsync.schema.json"
