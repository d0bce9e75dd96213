"""The one escape for terminals: every text from YAML, the platform or the environment goes through here.

What would move the cursor, colour, hide, reorder or forge lines becomes a visible escape; all else
stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

# Ranges, by what they would do. Joiners (U+200C, U+200D) are among them although emoji use them: an escape in
# the middle of a family is a smaller harm than two names that look the same.
_HOSTILE: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # controls, escape sequences
    "\u2028\u2029"  # line and paragraph separators
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u00ad\u034f\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"  # invisible
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters without a shape
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"  # annotations, non-characters, surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and variation selectors that carry hidden text
    "]"
)


def visible(text: str) -> str:
    """The text with every hostile character as `\\n`, `\\x1b`, `\\u202e` or `\\U000e0041`.

    Applying it twice changes nothing more. A backslash of the text itself stays, so there is no way back.
    """
    return _HOSTILE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
