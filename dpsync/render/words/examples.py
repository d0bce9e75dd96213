"""Write an example as the text of a file: small mappings on one line, other mappings on several lines."""

from __future__ import annotations

from typing import Any

from dpsync.importing.write_yaml import BlockMapping, document, scalar

_SHORT = 3
"""The largest number of entries of a mapping on one line, so that examples can be read on a phone."""


def example_text(value: dict[str, Any]) -> str:
    """Return a whole file with the values of an example (`dpsync.kinds.examples`)."""
    (first, version), *rest = value.items()
    return document(_block(dict(rest)), f"{first}: {scalar(version)}")


def _block(value: Any) -> Any:
    """Return the same value, in which large and nested mappings are on several lines."""
    if isinstance(value, list):
        return [_block(item) for item in value]
    if not isinstance(value, dict):
        return value
    parts = {key: _block(item) for key, item in value.items()}
    holds = any(isinstance(item, dict) or _of_mappings(item) for item in parts.values())
    return BlockMapping(parts) if holds or len(parts) > _SHORT else parts


def _of_mappings(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)
