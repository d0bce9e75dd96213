"""Escape hostile characters in text from YAML, the platform or the environment.

Characters that move the cursor, color, hide, reorder or forge lines become visible escapes. Other
characters stay.
"""

from __future__ import annotations

import re
from typing import Final

from dpsync.model.text import INVISIBLE_CHARACTERS

_SHORT_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

_HOSTILE: Final = re.compile(f"[{INVISIBLE_CHARACTERS}]")
_HOSTILE_EXCEPT_NEWLINE: Final = re.compile(f"(?!\n)[{INVISIBLE_CHARACTERS}]")
_HOSTILE_EXCEPT_STYLES: Final = re.compile(rf"(?!\n|\x1b\[[0-9;]*m)[{INVISIBLE_CHARACTERS}]")


def visible(text: str) -> str:
    r"""Return a text in which each hostile character is an escape as in Python, such as `\x1b`.

    Hostile characters move the cursor, color, hide or reorder text, or forge lines. A second call changes
    nothing. Backslashes in the text stay, so the result cannot be converted back.
    """
    return _HOSTILE.sub(_escaped, text)


def visible_lines(text: str, styled: bool = False) -> str:
    """Return a text of several lines with visible hostile characters; `styled` keeps colors.

    All output passes here last. A foreign text that skipped `visible` can then only begin a new line.
    """
    return (_HOSTILE_EXCEPT_STYLES if styled else _HOSTILE_EXCEPT_NEWLINE).sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """Return the escape of a hostile character."""
    character = match.group()
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
