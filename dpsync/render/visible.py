"""The one escape for terminals: every text from YAML, the platform or the environment goes through here.

What would move the cursor, colour, hide, reorder or forge lines becomes a visible escape; all else
stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

from dpsync.model.text import UNSEEN

_SHORT: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

_HOSTILE: Final = re.compile(f"[{UNSEEN}]")
_IN_LINES: Final = re.compile(f"(?!\n)[{UNSEEN}]")
_UNSTYLED: Final = re.compile(rf"(?!\n|\x1b\[[0-9;]*m)[{UNSEEN}]")


def visible(text: str) -> str:
    """The text with every hostile character as `\\n`, `\\x1b`, `\\u202e` or `\\U000e0041`.

    Applying it twice changes nothing more. A backslash of the text itself stays, so there is no way back.
    """
    return _HOSTILE.sub(_escaped, text)


def visible_lines(text: str, styled: bool = False) -> str:
    """The same for a text of several lines of our own, which stay apart; `styled` keeps our own colours.

    Everything that is printed passes here last: a foreign text which nobody made visible can do no more
    harm then than to begin a line.
    """
    return (_UNSTYLED if styled else _IN_LINES).sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
