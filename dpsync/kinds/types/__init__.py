"""Define the types of field values: how to read, check, compare and send a value. Import them from here.

Input: a YAML node, or a value in an answer of the platform.
Output: a value, or findings about the node. `texts.py` has the types of longer texts.
"""

from dpsync.kinds.types.base import INVALID, Invalid, Parsing, Schema, TextFile, Type, expected, file_of
from dpsync.kinds.types.free_form import Json
from dpsync.kinds.types.scalars import Domain, Enum, Flag, Own, Page, Reference, Text, as_segment
from dpsync.kinds.types.structures import Many, Object, OneOf, ShortForm, Table

__all__ = [
    "INVALID",
    "Domain",
    "Enum",
    "Flag",
    "Invalid",
    "Json",
    "Many",
    "Object",
    "OneOf",
    "Own",
    "Page",
    "Parsing",
    "Reference",
    "Schema",
    "ShortForm",
    "Table",
    "Text",
    "TextFile",
    "Type",
    "as_segment",
    "expected",
    "file_of",
]
