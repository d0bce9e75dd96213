"""Snippets for editors: an entry of each kind with its required fields and a place to type each value."""

from __future__ import annotations

from itertools import count
from typing import Any

from dpsync.kinds.examples import bare_example, key_example
from dpsync.kinds.kind import Entries, Kind
from dpsync.kinds.registry import Registry

Snippet = dict[str, Any]


def snippet(registry: Registry, kind: Kind) -> Snippet:
    """A snippet as the language servers of JSON and YAML take it: its label, its words and its body."""
    numbers = count(1)
    body = bare_example(registry, kind)
    if isinstance(kind.shape, Entries):
        key = _stop(key_example(registry, kind), numbers)
        body = {key: _with_stops(body, numbers)}
    else:
        body = _with_stops(body, numbers)
    said = f"A new {kind.noun}, with all required fields."
    return {"label": f"new {kind.noun}", "description": said, "body": body}


def _with_stops(value: Any, numbers: count[int]) -> Any:
    """The value with a place to type in place of each text."""
    if isinstance(value, dict):
        return {key: _with_stops(item, numbers) if key != "type" else item for key, item in value.items()}
    if isinstance(value, list):
        return [_with_stops(item, numbers) for item in value]
    return _stop(value, numbers) if isinstance(value, str) else value


def _stop(text: str, numbers: count[int]) -> str:
    escaped = text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
    return f"${{{next(numbers)}:{escaped}}}"
