"""The sentences of a document with their commands as they are to be typed (model/text.py).

Only sentences of dpsync's own are looked at: a text of the platform that looks like a command stays as it is.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dpsync.model.text import Invocation

M = TypeVar("M", bound=BaseModel)

_SENTENCES: Final = frozenset({
    "add", "by_hand", "files", "hint", "mend", "message", "platform", "reason", "text", "todo", "way_out",
    "why",
})  # fmt: skip
"""The names of fields that are sentences, whatever model they are of."""
_DATA: Final = frozenset({"changes", "bindings", "origins", "outcomes", "candidates", "edits"})
"""The names of fields that hold no sentence: most of a large document."""


def completed(document: M, invocation: Invocation) -> M:
    """The same document, to be printed by a command that was run like this."""
    changed: dict[str, Any] = {}
    for name in type(document).model_fields:
        value = getattr(document, name)
        if name in _DATA or not value:
            continue
        new = _of(name, value, invocation)
        if new is not value:
            changed[name] = new
    return document.model_copy(update=changed) if changed else document


def _of(name: str, value: Any, invocation: Invocation) -> Any:
    if isinstance(value, str):
        return invocation.complete(value) if name in _SENTENCES else value
    if isinstance(value, BaseModel):
        return completed(value, invocation)
    if isinstance(value, tuple):
        return tuple(_of(name, item, invocation) for item in value)
    if isinstance(value, dict):
        return {key: _of(name, item, invocation) for key, item in value.items()}
    return value
