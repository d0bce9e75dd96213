"""Nothing that is shown can move the cursor, hide, reorder or forge."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsync.render.visible import visible, visible_lines

# Format characters that have a shape of their own: signs before numbers and joined signs.
VISIBLE_FORMATS = {0x0600, 0x0601, 0x0602, 0x0603, 0x0604, 0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2}
VISIBLE_FORMATS |= {0x110BD, 0x110CD, *range(0x13430, 0x13456)}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcödé, 漢字, 🎉", "plain text, ünïcödé, 漢字, 🎉"),
        ("a\\nb", "a\\nb"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x00\x07\x08\x7f\x9b", "\\x00\\x07\\x08\\x7f\\x9b"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("\u2066\u2069\u200e\u200f\u061c", "\\u2066\\u2069\\u200e\\u200f\\u061c"),
        ("a\u200bb\u200cc\u200dd\u2060e\ufefff", "a\\u200bb\\u200cc\\u200dd\\u2060e\\ufefff"),
        ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
        ("\ud800", "\\ud800"),
        ("\U000e0041\U000e01ef", "\\U000e0041\\U000e01ef"),
        ("\u00ad\u3164\uffff\ufffd", "\\xad\\u3164\\uffff\ufffd"),
    ],
)
def test_terminal_escape_function_escapes_control_characters(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_terminal_escape_function_escapes_every_invisible_character() -> None:
    hidden = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and code not in VISIBLE_FORMATS
        and visible(chr(code)) == chr(code)
    ]
    assert [hex(code) for code in hidden] == []


@given(st.text(st.characters()))
def test_terminal_escape_function_is_idempotent(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(st.text(st.characters()), st.text(st.characters()))
def test_terminal_escape_function_works_per_character(left: str, right: str) -> None:
    assert visible(left + right) == visible(left) + visible(right)


@given(st.text(st.characters()))
def test_terminal_escaped_text_is_one_encodable_line(text: str) -> None:
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    shown.encode()


def test_visible_lines_keep_only_own_colors_and_newlines() -> None:
    text = "\x1b[1;31mred\x1b[0m\n\x1b[2Jgone\u202e\u200b\r\x9b"
    assert visible_lines(text, styled=True) == "\x1b[1;31mred\x1b[0m\n\\x1b[2Jgone\\u202e\\u200b\\r\\x9b"
    assert visible_lines(text) == "\\x1b[1;31mred\\x1b[0m\n\\x1b[2Jgone\\u202e\\u200b\\r\\x9b"
