"""Everything that dpsync prints or saves as JSON is written here.

The result is valid JSON that parses to the same value, and no character of it can hide, reorder or control
anything where somebody looks at it: a terminal, a log of CI, a review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json

from dpsync.model.texts.characters import PRESENTATION, UNSEEN

# Controls below U+0020 are escaped inside of texts already; outside of texts, the line breaks are our own.
_ESCAPED: Final = re.compile(f"(?![\\x00-\\x1f])[{UNSEEN}{PRESENTATION}]")


def json_text(value: Any, indent: int | None = None, context: str | None = None) -> str:
    """A model or plain data as JSON text, without a line break at its end.

    `context` is what pydantic hands to the serializers of models.
    """
    try:
        text = to_json(value, indent=indent, context=context).decode()
    except PydanticSerializationError:
        # A lone surrogate: the name of a file or an argument that is not UTF-8.
        text = json.dumps(_plain(value), indent=indent, separators=None if indent else (",", ":"))
    return escaped(text)


def _plain(value: Any) -> Any:
    from pydantic import BaseModel  # no command needs it for this but one in thousands

    if isinstance(value, BaseModel):
        return {name: _plain(item) for name, item in value}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def escaped(text: str) -> str:
    """JSON text with nothing hidden in it; for what is laid out elsewhere."""
    if text.isascii() and "\x7f" not in text:  # nearly every text, and a look costs a hundredth of a search
        return text
    return _ESCAPED.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]
