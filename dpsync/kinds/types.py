"""What a field may hold: every type, from one place. The longer texts are in texts.py."""

from dpsync.kinds.parsing import INVALID, Invalid, Parsing, Schema, TextFile, Type, expected, file_of
from dpsync.kinds.scalars import Enum, Flag, Reference, Text
from dpsync.kinds.structures import Json, Many, Object, OneOf, Table

__all__ = [
    "INVALID",
    "Enum",
    "Flag",
    "Invalid",
    "Json",
    "Many",
    "Object",
    "OneOf",
    "Parsing",
    "Reference",
    "Schema",
    "Table",
    "Text",
    "TextFile",
    "Type",
    "expected",
    "file_of",
]
