"""Values in the patterns of `policy: watch`: `acme/openapi/[shop]#visibility=private`.

Only fields with a closed list of words have such values: no text of a person, and no secret, stands there.
"""

from __future__ import annotations

from dpsync.kinds.kind import Field
from dpsync.kinds.types import INVALID, Enum, Flag, Many, Type
from dpsync.kinds.types.parsing import Invalid
from dpsync.model.entries.values import Value

_NONE = "null"
_FLAGS = {"true": True, "false": False}


def words_of(type_: Type) -> tuple[str, ...] | None:
    """Return the words that a value of this type consists of; None if there is no closed list of them."""
    match type_:
        case Flag():
            return tuple(_FLAGS)
        case Enum(words=words):
            return words
        case Many(of=Enum(words=words)):
            return words
    return None


def value_text(field: Field, value: Value) -> str | None:
    """Return the text of a live value in a pattern; None if such a pattern cannot name the value.

    A platform may answer with words that dpsync does not know.
    """
    if words_of(field.type) is None:
        return None
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return str(value).lower()
    items = value if isinstance(value, list | tuple) else [value]
    text = ",".join(sorted(map(str, items)) if _is_set(field) else map(str, items))
    return None if read_value(field, text) is INVALID else text


def read_value(field: Field, text: str) -> Value | Invalid:
    """Return the value that a pattern names, or INVALID if the field cannot have it."""
    words = words_of(field.type) or ()
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
