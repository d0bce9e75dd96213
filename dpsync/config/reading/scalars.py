"""What a plain (unquoted) scalar means: the core schema of YAML 1.2, and nothing of YAML 1.1.

So `no`, `on`, `12:30:45`, `1_000` and `2020-01-01` are text, `017` is the number 17 and `0o17` is 15.
"""

from __future__ import annotations

import math
import re
from typing import Final

from dpsync.model.nodes import Value
from dpsync.model.text import counted

NUMBER_LENGTH: Final = 64
"""The longest number, in characters. Checked before conversion, whose cost is quadratic in the length."""

# What no value may hold: controls but tab and line breaks, surrogates, non-characters.
CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
FORBIDDEN_IN_VALUE: Final = re.compile(f"[{CONTROLS}]")
IN_NO_TEXT: Final = re.compile("[\\x00\\ud800-\\udfff]")
"""What is no text for any platform; another control character may be in a title that somebody has pasted."""
LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")

_WORDS: Final[dict[str, Value]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class NumberError(ValueError):
    """A scalar that is a number by its form, but not one that JSON can hold. The message says why."""


def resolve(text: str) -> Value:
    """The value of a plain scalar. Raises NumberError for `.inf`, `.nan`, overflow and overlong numbers."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise NumberError(f"{text} is not a finite number")
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            _check_length(text)
            return int(text if base == 10 else text[2:], base)
    if _FLOAT.fullmatch(text):
        _check_length(text)
        number = float(text)
        if not math.isfinite(number):
            raise NumberError(f"the number {text} is too large")
        return number
    return text


def _check_length(text: str) -> None:
    if len(text) > NUMBER_LENGTH:
        raise NumberError(
            f"the number has {counted(len(text), 'character')}, but at most {NUMBER_LENGTH} are allowed"
        )
