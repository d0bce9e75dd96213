"""Define the types of field values: how to read, check, compare and send a value. Import them from here.

Input: a YAML node, or a value in a response of the platform (GitBook or the local server).
Output: a value, or findings about the node. `texts.py` has the types of longer texts.
"""

from dpsync.kinds.types.base import (
    INVALID,
    Invalid,
    ParseContext,
    Schema,
    TextFile,
    Type,
    file_reference_path,
    report_wrong_type,
)
from dpsync.kinds.types.free_form import Json
from dpsync.kinds.types.scalars import (
    Domain,
    Enum,
    Flag,
    OwnReference,
    Page,
    Reference,
    Text,
    quote_url_segment,
)
from dpsync.kinds.types.structures import List, Object, OneOf, ShortForm, Table

__all__ = [
    "INVALID",
    "Domain",
    "Enum",
    "Flag",
    "Invalid",
    "Json",
    "List",
    "Object",
    "OneOf",
    "OwnReference",
    "Page",
    "ParseContext",
    "Reference",
    "Schema",
    "ShortForm",
    "Table",
    "Text",
    "TextFile",
    "Type",
    "file_reference_path",
    "quote_url_segment",
    "report_wrong_type",
]
