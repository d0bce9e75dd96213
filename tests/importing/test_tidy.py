"""A text in order: the white space changes, and nothing else. Applied twice it changes nothing more."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpsync.config.yaml_reader import read
from dpsync.importing.format_yaml import NotFormattableError, format_yaml
from dpsync.model.nodes import node_value

EXAMPLES = Path(__file__).parents[2] / "examples"
MESSY = """\


dpsync:   1
# the policy
policy: {prune: [ teams,sites ] , protect: []}   # keep


organizations:
    acme:
        # its id
        id:  acme\x20\x20
        teams:
            writers: {title: "A  b" ,members: {ada@x.y: owner}}
        text: |
            hello
              there

            end
        list:
        - a
        -   b: 1
            c:   >-
                 folded
                 text
        - - x
          -  y
        # at the end
"""
TIDY = """\
dpsync: 1
# the policy
policy: { prune: [teams, sites], protect: [] }   # keep

organizations:
  acme:
    # its id
    id: acme
    teams:
      writers: { title: "A  b", members: { ada@x.y: owner } }
    text: |
        hello
          there

        end
    list:
      - a
      - b: 1
        c: >-
             folded
             text
      - - x
        - y
      # at the end
"""


def values(text: str) -> Any:
    node, problems = read(text.encode(), "x.yaml")
    assert problems == []
    return None if node is None else node_value(node)


def test_formatter_tidies_messy_yaml() -> None:
    assert format_yaml(MESSY) == TIDY


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.y*ml")), ids=lambda path: path.name)
def test_example_files_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_yaml(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1", "a: 1\n"),
        ("a:  1\r\nb: 2\r\n", "a: 1\r\nb: 2\r\n"),
        ("a: 1\r\n\r\n\r\nb: 2", "a: 1\r\n\r\nb: 2\r\n"),
        ("a: 1\r\nb: 2\nc: 3\n", "a: 1\nb: 2\nc: 3\n"),
        ("\ufeffa: 1\n", "a: 1\n"),
        ("a:\n- 1\n- 2\n", "a:\n  - 1\n  - 2\n"),
        ("a:\n    b:\n        c: 1\n", "a:\n  b:\n    c: 1\n"),
        ("a:\n      # of b\n      b: 1\n", "a:\n  # of b\n  b: 1\n"),
        ("a: {b: 1,c: 2}\n", "a: { b: 1, c: 2 }\n"),
        ("a: [ 1 , 2 ]\n", "a: [1, 2]\n"),
        ("a: { }\nb: [ ]\n", "a: {}\nb: []\n"),
        ("a : 1\n", "a: 1\n"),
        ("a: &x  1\nb: *x\n", "a: &x 1\nb: *x\n"),
        ("a: 1\n\n\n\nb: 2\n", "a: 1\n\nb: 2\n"),
        ("a: 'one  two'   # why\n", "a: 'one  two'   # why\n"),
        ("a: >\n      x\n      y\nb: 1\n", "a: >\n      x\n      y\nb: 1\n"),
        ('a:\n    b: "one\n            two"\n', 'a:\n  b: "one\n          two"\n'),
        ("-   a: 1\n    b: 2\n", "- a: 1\n  b: 2\n"),
        ("# only a comment\n", "# only a comment\n"),
        ("", ""),
        ("a:\n    b:\n        c\n    d: 1\n", "a:\n  b:\n    c\n  d: 1\n"),
    ],
)
def test_formatter_changes_whitespace_and_is_idempotent(before: str, after: str) -> None:
    assert format_yaml(before) == after
    assert format_yaml(after) == after


@pytest.mark.parametrize(
    "text", ["a: [1\n", "a: 1\na: 2\n", "a:\n\t- 1\n", "a: |2\n    x\n   y\n b: 1\n", "a: |+\n  x\n\n\n"]
)
def test_formatter_refuses_unsupported_yaml(text: str) -> None:
    """Otherwise, white space that is a part of a value is taken out of it."""
    with pytest.raises(NotFormattableError):
        format_yaml(text)


@pytest.mark.parametrize(
    "text", ["a: |+\n  x\n\n\nb: 1\n", "a: |\n  x  \n  y\n", 'a: "x  \n\n  y"\n', 'a: "x\\ \n  y"\n']
)
def test_formatter_keeps_multiline_text_unchanged(text: str) -> None:
    assert values(format_yaml(text)) == values(text)


LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab \n#:'\"-{}[],&*|>$", max_size=14)
KEYS = st.text("abc d-", min_size=1, max_size=5)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def messed(text: str, seed: int) -> str:
    """Comments, empty lines and blanks at ends: they mean nothing, or are a part of a text."""
    chance = random.Random(seed)
    lines: list[str] = []
    for line in text.splitlines():
        if chance.random() < 0.2:
            lines.append(" " * chance.randrange(8) + "# why: {")
        if chance.random() < 0.1:
            lines += ["", ""]
        lines.append(line + " " * chance.choice([0, 0, 0, 1, 3]))
    return "\n".join(lines) + "\n"


@given(
    st.dictionaries(KEYS, TREES, min_size=1, max_size=4), st.sampled_from([2, 3, 4, 8]), st.booleans(),
    st.sampled_from([None, True, False]), st.sampled_from([20, 80, 400]), st.integers(0, 9999),
)  # fmt: skip
def test_formatter_changes_only_whitespace_of_random_yaml(
    tree: dict[str, Any], indent: int, sort: bool, flow: bool | None, width: int, seed: int
) -> None:
    dumped = yaml.safe_dump(tree, indent=indent, sort_keys=sort, default_flow_style=flow, width=width)
    for text in (dumped, messed(dumped, seed), textwrap.indent(dumped, "  ")):
        if read(text.encode(), "x.yaml")[1]:
            continue
        try:
            made = format_yaml(text)
        except NotFormattableError:
            continue
        assert values(made) == values(text)
        assert "".join(made.split()) == "".join(text.split())
        assert format_yaml(made) == made
        assert not made.startswith("\n")


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=4), st.sampled_from([2, 4]), st.booleans())
def test_formatter_keeps_values_of_pyyaml_output(tree: dict[str, Any], indent: int, flow: bool) -> None:
    text = yaml.safe_dump(tree, indent=indent, default_flow_style=None if flow else False, width=1000)
    if not read(text.encode(), "x.yaml")[1] and "|" not in text and "? " not in text:
        assert values(format_yaml(text)) == values(text)
