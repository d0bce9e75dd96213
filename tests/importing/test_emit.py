"""What is written as YAML is read as the same values, whatever they are, and looks as people write it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpsync.config.composing.variables import Substitution
from dpsync.config.reading.reader import read
from dpsync.config.reading.scalars import FORBIDDEN_IN_VALUE
from dpsync.importing.values import json_text
from dpsync.importing.yaml_text.emit import BlockMapping, document
from dpsync.model.findings.nodes import plain

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
    value = plain(substitution.node(node))
    assert substitution.diagnostics == [], text
    return value


@given(st.dictionaries(TEXTS.filter(bool), VALUES, max_size=5))
@example({WIDE: {}, f"{WIDE}-": [], "a": {f"{WIDE}.": {}, "b": [{f"{WIDE}+": BlockMapping()}]}})
def test_everything_is_read_back(value: dict[str, Any]) -> None:
    assert read_back(document(BlockMapping(value), "# head")) == value if value else True


@given(VALUES)
def test_json_is_json(value: Any) -> None:
    import json

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
def test_it_looks_as_people_write_it(value: Any, line: str) -> None:
    assert document(BlockMapping({"k": value}), "# head") == f"# head\n{line}\n"
