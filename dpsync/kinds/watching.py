"""Convert values in `policy: watch` patterns, such as `private` in `acme/openapi/[shop]#visibility=private`.

Only fields with a fixed list of words are supported, so that a pattern never contains a secret or free text.
"""

from __future__ import annotations

from dpsync.kinds.kind import Field
from dpsync.kinds.types import INVALID, Enum, Flag, Many, Type
from dpsync.kinds.types.parsing import Invalid
from dpsync.model.entries.values import Value

_NONE = "null"
_FLAGS = {"true": True, "false": False}


def allowed_words(type_: Type) -> tuple[str, ...] | None:
    """Return the words that a value of this type may contain; None if the type has no fixed list of words."""
    match type_:
        case Flag():
            return tuple(_FLAGS)
        case Enum(words=words):
            return words
        case Many(of=Enum(words=words)):
            return words
    return None


def format_value(field: Field, value: Value) -> str | None:
    """Return a live value as text for a pattern; None if no pattern can contain the value.

    The platform may return words that dpsync does not know.
    """
    if allowed_words(field.type) is None:
        return None
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return str(value).lower()
    items = value if isinstance(value, list | tuple) else [value]
    text = ",".join(sorted(map(str, items)) if _is_set(field) else map(str, items))
    return None if parse_value(field, text) is INVALID else text


def parse_value(field: Field, text: str) -> Value | Invalid:
    """Return the value for the text in a pattern, or INVALID if the field cannot have the value."""
    words = allowed_words(field.type) or ()
    if text == _NONE:
        return None
    items = [part.strip() for part in text.split(",")] if text else []
    if isinstance(field.type, Many):
        return items if set(items) <= set(words) else INVALID
    if text not in words:
        return INVALID
    return _FLAGS.get(text, text) if isinstance(field.type, Flag) else text


def _is_set(field: Field) -> bool:
    return isinstance(field.type, Many) and field.type.as_set
