"""Long lines with new keys are written in block style, as a new import writes them."""

from __future__ import annotations

import pytest

from dpsync.importing.edit_yaml import unfold_long_lines

LONG = "x" * 60
CERTIFICATE = '"-----BEGIN-----\\n-----END-----\\n"'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            "a: {}  # c\n",
            f"a: {{ b: {{ c: {LONG}, 'd': {LONG} }} }}  # c\n",
            f"a:  # c\n  b:\n    c: {LONG}\n    'd': {LONG}\n",
            id="empty mapping with a comment",
        ),
        pytest.param(
            "a:\n  - { b: 1 } # c\n",
            f"a:\n  - {{ b: 1, d: {LONG}, e: {{ f: {LONG}, g: [1, 2] }} }} # c\n",
            f"a:\n  - b: 1 # c\n    d: {LONG}\n    e: {{ f: {LONG}, g: [1, 2] }}\n",
            id="item of a list",
        ),
        pytest.param(
            "a: &x { b: 1 }\nc: *x\n",
            f"a: &x {{ b: 1, d: {LONG}, e: {LONG} }}\nc: *x\n",
            f"a: &x\n  b: 1\n  d: {LONG}\n  e: {LONG}\nc: *x\n",
            id="anchor",
        ),
        pytest.param(
            "a: { b: &x { c: 1 }, d: *x }\n",
            f"a: {{ b: &x {{ c: 1 }}, d: *x, e: {LONG}{LONG} }}\n",
            f"a:\n  b: &x {{ c: 1 }}\n  d: *x\n  e: {LONG}{LONG}\n",
            id="alias",
        ),
        pytest.param(
            "a: { b: 1 }\r\nc: 1\r\n",
            f"a: {{ b: 1, d: {LONG}, e: {LONG} }}\r\nc: 1\r\n",
            f"a:\r\n  b: 1\r\n  d: {LONG}\r\n  e: {LONG}\r\nc: 1\r\n",
            id="line ends of Windows",
        ),
        pytest.param(
            "a:\n  b: 1\n",
            f"a:\n  b: 1\n  c: {{ d: 1, e: {CERTIFICATE} }}\n",
            "a:\n  b: 1\n  c:\n    d: 1\n    e: |\n      -----BEGIN-----\n      -----END-----\n",
            id="text with several lines",
        ),
        pytest.param(
            "{ a: 1 }\n", f"{{ a: 1, b: {LONG}{LONG} }}\n", f"a: 1\nb: {LONG}{LONG}\n", id="whole file"
        ),
    ],
)
def test_long_yaml_line_with_new_key_becomes_block(before: str, after: str, expected: str) -> None:
    assert unfold_long_lines(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "a: { b: 1 }\n", "a: { b: 1, c: { d: { e: { f: 1 } } } }\n", id="short line of a person"
        ),
        pytest.param(
            f"a: {{ b: 1, c: {LONG}{LONG} }}\n", f"a: {{ b: 2, c: {LONG}{LONG} }}\n", id="new value"
        ),
        pytest.param(
            "a: { b: [&x { c: 1 }, *x] }\n",
            f"a: {{ b: [&x {{ c: 1 }}, *x], d: {LONG}{LONG} }}\n",
            id="alias in a list",
        ),
        pytest.param(
            "a: {\n  b: 1 }\n", f"a: {{\n  b: 1, c: {LONG}{LONG} }}\n", id="flow style on several lines"
        ),
    ],
)
def test_import_update_keeps_yaml_style_of_other_lines(before: str, after: str) -> None:
    assert unfold_long_lines(before, after) == after
