"""Which characters are never put out as they are: they move, colour, hide, reorder or forge what is seen.

The text goes into a character class. Joiners (U+200C, U+200D) are in it although emoji
use them: an escape in the middle of a family is a smaller harm than two names that look the same.
"""

from __future__ import annotations

from typing import Final

UNSEEN: Final = (
    "\x00-\x1f\x7f-\x9f"  # controls, escape sequences
    "\u2028\u2029"  # line and paragraph separators
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u00ad\u034f\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"  # invisible
    "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and signs without a shape
    "\ufe00-\ufe0d"  # variation selectors that no emoji has, which can carry hidden text
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"  # annotations, non-characters, surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and variation selectors that carry hidden text
)
PRESENTATION: Final = "\ufe0e\ufe0f"
"""Whether a sign is text or emoji. A terminal needs them for the right width; data does not."""
